// Parses evtest's text: `Event: time 271.039092, type 3 (EV_ABS), code 57 (ABS_MT_TRACKING_ID), value 22`, after a
// block that describes the device.

struct EvtestParser: EventLineParser {
    /// The code whose range the next lines give.
    private var code: Int?

    static func isHead(_ line: Span<UInt8>) -> Bool {
        Scan.begins(line, with: "Input driver version is ") || Scan.begins(line, with: "Input device ID: bus ")
            || Scan.begins(line, with: "Input device name: \"")
    }

    mutating func parse(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine {
        var index = 0
        Scan.space(line, &index)
        if Scan.word("Event: time ", line, &index) { return event(line, &index) }
        if Scan.word("Input driver version is ", line, &index) { return .beginning }
        // All other lines are for humans, and errors in them do no harm.
        about(line, index, &heads)
        return .nothing
    }

    /// Reads the rest of a line after the word `time`. Python's evtest writes a space after the time, and no comma.
    @inline(__always)
    func event(_ line: Span<UInt8>, _ index: inout Int) -> RecordedLine {
        guard let time = Scan.time(line, &index) else { return .damaged }
        _ = Scan.byte(UInt8(ascii: ","), line, &index)
        Scan.space(line, &index)
        guard Scan.word("type ", line, &index) else {
            guard let code = Self.mark(line, index) else { return .damaged }
            return .event(InputEvent(time: time, type: EventType.synchronization, code: code, value: 0))
        }
        guard let type = Scan.decimal(line, &index), Scan.find(", code ", line, &index),
            let code = Scan.decimal(line, &index), Scan.find(", value ", line, &index)
        else { return .damaged }
        guard let value = Scan.decimal(line, &index), Scan.isAtEnd(line, index) else {
            // Scan codes of keys are hexadecimal.
            return type == EventType.absolute || type == EventType.key ? .damaged : .nothing
        }
        return .event(InputEvent(time: time, type: type, code: code, value: value))
    }

    /// Returns the code of a line between dashes, pluses or arrows, of any version: 1.32 names the code as if it were a
    /// type, and up to 1.26 everything but SYN_REPORT is "Config Sync", which in practice is SYN_MT_REPORT.
    private static func mark(_ line: Span<UInt8>, _ start: Int) -> Int? {
        guard start < line.count, "-+>".utf8.contains(line[start]) else { return nil }
        func stands(_ word: StaticString) -> Bool {
            var index = start
            return Scan.find(word, line, &index)
        }
        if stands(" SYN_REPORT ") || stands(" Report Sync ") || stands(" EV_SYN ") { return SynchronizationCode.report }
        if stands(" SYN_MT_REPORT ") || stands(" Config Sync ") || stands(" EV_REL ") {
            return SynchronizationCode.contact
        }
        if stands(" SYN_DROPPED ") || stands(" EV_ABS ") { return SynchronizationCode.dropped }
        return stands(" SYN_CONFIG ") || stands(" EV_KEY ") ? SynchronizationCode.configuration : nil
    }

    private mutating func about(_ line: Span<UInt8>, _ start: Int, _ heads: inout DeviceHeads) {
        var index = start
        func value(_ word: StaticString) -> Double? {
            var index = start
            guard Scan.word(word, line, &index) else { return nil }
            Scan.space(line, &index)
            return Scan.decimal(line, &index).map(Double.init)
        }
        if Scan.word("Event code ", line, &index) {
            code = Scan.decimal(line, &index)
        } else if Scan.begins(line, with: "Input device name:") {
            heads.set(name: Scan.name(line, from: start + 18))
        } else if Scan.find("INPUT_PROP_SEMI_MT", line, &index) {
            heads.setSemiMT()
        } else if let code {
            if let minimum = value("Min ") { heads.set(code) { $0.minimum = minimum } }
            if let maximum = value("Max ") { heads.set(code) { $0.maximum = maximum } }
            if let resolution = value("Resolution ") { heads.set(code) { $0.resolution = resolution } }
        }
    }
}
