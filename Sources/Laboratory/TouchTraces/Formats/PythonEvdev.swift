// Parses events printed by programs with python-evdev: by its own evtest, by `print(event)`, and by name.
//
//     time 1337197425.477827 type 3 (EV_ABS), code 53   (ABS_MT_POSITION_X), value 977
//     time 1337197425.477835 ------------- SYN_REPORT ------------
//     event at 1337197425.477827, code 53, type 03, val 977
//     1778068265.097641 - EV_ABS ABS_MT_POSITION_X 977

struct PythonEvdevParser: EventLineParser {
    private var evtest = EvtestParser()

    init() {}

    static func isHead(_ line: Span<UInt8>) -> Bool { false }

    mutating func parse(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine {
        var index = 0
        Scan.space(line, &index)
        if Scan.word("time ", line, &index) { return evtest.event(line, &index) }
        if Scan.word("event at ", line, &index) { return printed(line, &index) ?? .damaged }
        guard let time = Scan.time(line, &index), Scan.word(" - EV_", line, &index) else { return .nothing }
        index -= 3
        return named(line, &index, at: time) ?? .damaged
    }

    private func printed(_ line: Span<UInt8>, _ index: inout Int) -> RecordedLine? {
        guard let time = Scan.time(line, &index), Scan.word(", code ", line, &index),
            let code = Scan.decimal(line, &index), Scan.word(", type ", line, &index),
            let type = Scan.decimal(line, &index), Scan.word(", val ", line, &index),
            let value = Scan.decimal(line, &index), Scan.isAtEnd(line, index)
        else { return nil }
        return .event(InputEvent(time: time, type: type, code: code, value: value))
    }

    /// Reads the names of a type and a code, and the value anywhere after them.
    private func named(_ line: Span<UInt8>, _ index: inout Int, at time: Int) -> RecordedLine? {
        func skip() {
            while index < line.count, !Self.isOfWord(line[index]) { index += 1 }
        }
        func word() -> Range<Int> {
            skip()
            let start = index
            while index < line.count, Self.isOfWord(line[index]) { index += 1 }
            return start..<index
        }
        let (type, code) = (GeteventParser.number(line, word()), GeteventParser.number(line, word()))
        var value: Int?
        while index < line.count {
            let word = word()
            var start = word.lowerBound
            if let number = Scan.decimal(line, &start), start == word.upperBound { value = number }
        }
        guard let value = value ?? (type == EventType.synchronization ? 0 : nil) else { return nil }
        return .event(InputEvent(time: time, type: type, code: code, value: value))
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || 0x30...0x39 ~= byte || 0x41...0x5a ~= byte & 0xdf
    }
}
