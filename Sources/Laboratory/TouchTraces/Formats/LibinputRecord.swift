// Parses the subset of YAML that `libinput record` writes, line by line. An event is a sequence of five numbers, `- [
// 0, 12345, 3, 53, 977]`; everything needed about a device is on lines of its own, too.

struct LibinputRecordParser: EventLineParser {
    /// Whether the next lines are about axes.
    private var isInAxes = false
    /// The current device; devices are numbered in order, from 1.
    private var device = 0

    static func isHead(_ line: Span<UInt8>) -> Bool {
        Scan.begins(line, with: "# libinput record") || Scan.begins(line, with: "- node: /dev/input/")
            || Scan.begins(line, with: "- evdev:")
    }

    mutating func parse(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine {
        var index = 0
        Scan.space(line, &index)
        guard index < line.count else { return .nothing }
        if Scan.begins(line, with: "# libinput record") { return .beginning }
        if line[index] == UInt8(ascii: "-") {
            index += 1
            Scan.space(line, &index)
            if Scan.byte(UInt8(ascii: "["), line, &index) { return event(line, &index) }
            if Scan.word("node:", line, &index) {
                device += 1
                isInAxes = false
                heads.begin(device)
            }
            return .nothing
        }
        about(line, &index, &heads)
        return .nothing
    }

    @inline(__always)
    private func event(_ line: Span<UInt8>, _ index: inout Int) -> RecordedLine {
        guard let seconds = Self.number(line, &index), 0..<1_000_000_000_000 ~= seconds,
            let microseconds = Self.number(line, &index), 0..<1_000_000 ~= microseconds,
            let type = Self.number(line, &index), let code = Self.number(line, &index),
            let value = Self.number(line, &index, isLast: true)
        else { return .damaged }
        return .event(
            InputEvent(
                time: seconds * 1_000_000 + microseconds, type: type, code: code, value: value, device: device))
    }

    /// Reads a number of a sequence, and the comma or bracket after it.
    @inline(__always)
    private static func number(_ line: Span<UInt8>, _ index: inout Int, isLast: Bool = false) -> Int? {
        Scan.space(line, &index)
        guard let value = Scan.decimal(line, &index) else { return nil }
        Scan.space(line, &index)
        return Scan.byte(UInt8(ascii: isLast ? "]" : ","), line, &index) ? value : nil
    }

    private mutating func about(_ line: Span<UInt8>, _ index: inout Int, _ heads: inout DeviceHeads) {
        let start = index
        if isInAxes, let code = Scan.decimal(line, &index), let axis = Self.axis(line, &index) {
            heads.set(axis, code)
            return
        }
        index = start
        // A comment does not end the axes.
        isInAxes = Scan.word("absinfo:", line, &index) || isInAxes && line[start] == UInt8(ascii: "#")
        index = start
        if Scan.word("name:", line, &index), device > 0 {
            heads.set(name: Scan.name(line, from: index))
        } else if Scan.word("properties: [", line, &index), Self.isSemiMT(line, &index) {
            heads.setSemiMT()
        }
    }

    /// Reads `: [minimum, maximum, fuzz, flat, resolution]`.
    private static func axis(_ line: Span<UInt8>, _ index: inout Int) -> DeviceAxis? {
        guard Scan.byte(UInt8(ascii: ":"), line, &index) else { return nil }
        Scan.space(line, &index)
        guard Scan.byte(UInt8(ascii: "["), line, &index), let minimum = number(line, &index),
            let maximum = number(line, &index), number(line, &index) != nil, number(line, &index) != nil,
            let resolution = number(line, &index, isLast: true)
        else { return nil }
        return DeviceAxis(minimum: Double(minimum), maximum: Double(maximum), resolution: Double(resolution))
    }

    private static func isSemiMT(_ line: Span<UInt8>, _ index: inout Int) -> Bool {
        let semiMT = 3
        repeat {
            Scan.space(line, &index)
            guard let property = Scan.decimal(line, &index) else { return false }
            if property == semiMT { return true }
        } while Scan.byte(UInt8(ascii: ","), line, &index)
        return false
    }
}
