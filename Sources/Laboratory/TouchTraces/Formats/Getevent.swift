// Parses Android's getevent: `[   1411.748191] /dev/input/event2: 0003 0035 00000273`, or with -l in words. The output
// of `getevent -p` about the devices may precede the events, or come in between when a device is added.

import JSONLines

struct GeteventParser: EventLineParser {
    static func isHead(_ line: Span<UInt8>) -> Bool {
        var index = 0
        return Scan.word("add device ", line, &index) && Scan.find(": /dev/input/", line, &index)
    }

    mutating func parse(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine {
        guard line.count > 0 else { return .nothing }
        switch line[0] {
        case UInt8(ascii: "["): return event(line)
        case 0x30...0x39:
            let event = oldEvent(line)
            return event == .damaged ? bareEvent(line) : event
        case 0x20, 0x09: return indented(line, &heads)
        default: return message(line, &heads)
        }
    }

    /// Parses a line about a device, or an event that was pasted with an indent.
    private func indented(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine {
        var index = 0
        Scan.space(line, &index)
        guard Scan.begins(line, with: "[") else { return about(line, index, &heads) }
        return event(line.extracting(index...))
    }

    // MARK: Events

    @inline(__always)
    private func event(_ line: Span<UInt8>) -> RecordedLine {
        var index = 1
        Scan.space(line, &index)
        guard let time = Scan.time(line, &index), Scan.byte(UInt8(ascii: "]"), line, &index) else { return .damaged }
        return event(line, &index, at: time)
    }

    /// Parses `6183-583832: /dev/input/event2: 0003 0035 00000273` of the first Androids: microseconds are not padded.
    private func oldEvent(_ line: Span<UInt8>) -> RecordedLine {
        var index = 0
        guard let seconds = Scan.decimal(line, &index), seconds < 1_000_000_000_000,
            Scan.byte(UInt8(ascii: "-"), line, &index),
            let microseconds = Scan.decimal(line, &index), 0..<1_000_000 ~= microseconds,
            Scan.byte(UInt8(ascii: ":"), line, &index)
        else { return .damaged }
        return event(line, &index, at: seconds * 1_000_000 + microseconds)
    }

    /// Parses `0003 0035 00000273`: an event of a single device, without -t and -l.
    private func bareEvent(_ line: Span<UInt8>) -> RecordedLine {
        var index = 0
        guard line.count >= 18, line[4] == 0x20, line[9] == 0x20, Scan.isAtEnd(line, 18) else { return .damaged }
        return timeless(event(line, &index, at: 0))
    }

    private func timeless(_ line: RecordedLine) -> RecordedLine {
        if case .event(let event) = line { .timeless(event) } else { .damaged }
    }

    @inline(__always)
    private func event(_ line: Span<UInt8>, _ index: inout Int, at time: Int) -> RecordedLine {
        Scan.space(line, &index)
        var device = InputEvent.onlyDevice
        if index < line.count, line[index] == UInt8(ascii: "/") {
            device = Self.device(line, &index)
            Scan.space(line, &index)
        }
        guard let type = Self.type(line, &index), let code = Self.code(line, &index),
            let value = Self.value(line, &index), Self.isEnd(line, index)
        else { return .damaged }
        return .event(InputEvent(time: time, type: type, code: code, value: value, device: device))
    }

    /// Returns a number for a device's path, never 0; the path ends at a colon, a space or the end of the line.
    @inline(__always)
    static func device(_ line: Span<UInt8>, _ index: inout Int) -> Int {
        var number: UInt32 = 0x811c_9dc5
        while index < line.count, !Scan.isSpace(line[index]) {
            let byte = line[index]
            index += 1
            if byte == UInt8(ascii: ":") { break }
            // FNV-1a.
            number = (number ^ UInt32(byte)) &* 0x0100_0193
        }
        return Int(number) + 1
    }

    private static func wordEnd(_ line: Span<UInt8>, _ start: Int) -> Int {
        var end = start
        while end < line.count, !Scan.isSpace(line[end]) { end += 1 }
        return end
    }

    /// The words of types and codes that matter for touches, and their numbers.
    private static let numbers: KeyValuePairs = [
        "EV_SYN": EventType.synchronization, "EV_KEY": EventType.key, "EV_ABS": EventType.absolute,
        "SYN_REPORT": SynchronizationCode.report, "SYN_MT_REPORT": SynchronizationCode.contact,
        "SYN_DROPPED": SynchronizationCode.dropped, "BTN_TOUCH": KeyCode.touch, "ABS_X": AxisCode.x,
        "ABS_Y": AxisCode.y, "ABS_PRESSURE": AxisCode.pressure, "ABS_MT_SLOT": AxisCode.slot,
        "ABS_MT_TOUCH_MAJOR": AxisCode.touchMajor, "ABS_MT_POSITION_X": AxisCode.contactX,
        "ABS_MT_POSITION_Y": AxisCode.contactY, "ABS_MT_TOOL_TYPE": AxisCode.toolType,
        "ABS_MT_TRACKING_ID": AxisCode.trackingID, "ABS_MT_DISTANCE": AxisCode.distance,
    ]
    private static let words = WordTable(numbers.map(\.key))

    /// Returns the number of a type or a code that is written as a word; 0xffff if it does not matter for touches.
    static func number(_ line: Span<UInt8>, _ word: Range<Int>) -> Int {
        words.index(of: line, word.lowerBound, word.upperBound).map { numbers[$0].value } ?? 0xffff
    }

    @inline(__always)
    private static func type(_ line: Span<UInt8>, _ index: inout Int) -> Int? {
        let start = index
        guard Scan.word("EV_", line, &index) else { return Scan.hex(line, &index) }
        index = wordEnd(line, index)
        // The types that matter have three letters.
        return number(line, start..<min(start + 6, index))
    }

    @inline(__always)
    private static func code(_ line: Span<UInt8>, _ index: inout Int) -> Int? {
        Scan.space(line, &index)
        let end = wordEnd(line, index)
        // Every word has an underscore, so none is a hexadecimal number.
        if end - index == 4, let code = Scan.hex(line, &index) { return code }
        guard end > index else { return nil }
        defer { index = end }
        return number(line, index..<end)
    }

    /// Reads eight hexadecimal digits of a signed number, or a word.
    @inline(__always)
    private static func value(_ line: Span<UInt8>, _ index: inout Int) -> Int? {
        Scan.space(line, &index)
        let end = wordEnd(line, index)
        let start = index
        if let bits = Scan.hex(line, &index), index == end { return Int(Int32(truncatingIfNeeded: bits)) }
        index = end
        switch Scan.text(line, start..<end) {
        case "DOWN", "MT_TOOL_PEN": return 1
        case "MT_TOOL_PALM": return 2
        case let word: return word == "UP" || word == "REPEAT" || word.hasPrefix("MT_TOOL_") ? 0 : nil
        }
    }

    /// Returns whether nothing follows except the rate that `getevent -r` writes.
    @inline(__always)
    private static func isEnd(_ line: Span<UInt8>, _ index: Int) -> Bool {
        if Scan.isAtEnd(line, index) { return true }
        var index = index
        Scan.space(line, &index)
        return Scan.word("rate ", line, &index)
    }

    // MARK: Devices

    private func message(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine {
        var index = 0
        if Scan.word("add device ", line, &index) {
            guard Scan.find(": ", line, &index) else { return .damaged }
            heads.begin(Self.device(line, &index))
            return .nothing
        }
        if Scan.begins(line, with: "/dev/") || Scan.begins(line, with: "EV_") {
            let event = timeless(event(line, &index, at: 0))
            if event != .damaged { return event }
        }
        let isKnown =
            Scan.begins(line, with: "remove device ") || Scan.begins(line, with: "could not ")
            || Scan.begins(line, with: "#")
        return isKnown ? .nothing : .damaged
    }

    /// Parses an indented line about the device named last.
    private func about(_ line: Span<UInt8>, _ start: Int, _ heads: inout DeviceHeads) -> RecordedLine {
        var index = start
        if Scan.word("name:", line, &index) {
            heads.set(name: Scan.name(line, from: index))
        } else if Scan.begins(line, with: "INPUT_PROP_SEMI_MT") {
            heads.setSemiMT()
        } else if let (code, axis) = Self.axis(line, start) {
            heads.set(axis, code)
        }
        return .nothing
    }

    /// Reads `ABS (0003): 0035  : value 0, min 0, max 1079, fuzz 0, flat 0, resolution 0`; only the first has `ABS`.
    private static func axis(_ line: Span<UInt8>, _ start: Int) -> (code: Int, DeviceAxis)? {
        var index = start
        if Scan.word("ABS (0003):", line, &index) { Scan.space(line, &index) }
        guard let code = code(line, &index), let minimum = number(after: "min ", line, &index),
            let maximum = number(after: "max ", line, &index)
        else { return nil }
        let resolution = number(after: "resolution ", line, &index) ?? 0
        return (code, DeviceAxis(minimum: minimum, maximum: maximum, resolution: resolution))
    }

    private static func number(after word: StaticString, _ line: Span<UInt8>, _ index: inout Int) -> Double? {
        guard Scan.find(word, line, &index) else { return nil }
        return Scan.decimal(line, &index).map(Double.init)
    }
}
