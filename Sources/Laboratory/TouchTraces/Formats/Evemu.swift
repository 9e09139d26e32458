// Parses evemu's recordings: `E: 1435283227.797422 0003 0035 977`, after an optional head of one-letter lines.

struct EvemuParser: EventLineParser {
    /// Whether the first line of properties was read. Each line has eight bytes; only the first one matters.
    private var hasProperties = false

    static func isHead(_ line: Span<UInt8>) -> Bool {
        var index = 0
        if Scan.word("# EVEMU", line, &index) { return true }
        return Scan.begins(line, with: "A: ") && axis(line) != nil
    }

    mutating func parse(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine {
        guard line.count >= 3, line[1] == UInt8(ascii: ":") else {
            if line.count > 0, Scan.isSpace(line[0]) { return indented(line, &heads) }
            guard line.count > 0, line[0] == UInt8(ascii: "#") else { return line.count == 0 ? .nothing : .damaged }
            return comment(line, &heads)
        }
        switch line[0] {
        case UInt8(ascii: "E"): return event(line)
        case UInt8(ascii: "N"): heads.set(name: Scan.name(line, from: 2))
        case UInt8(ascii: "P"): properties(line, &heads)
        case UInt8(ascii: "A"):
            guard let (code, axis) = Self.axis(line) else { return .damaged }
            heads.set(axis, code)
        case UInt8(ascii: "I"), UInt8(ascii: "B"), UInt8(ascii: "L"), UInt8(ascii: "S"): break
        case UInt8(ascii: "#"): break
        default: return .damaged
        }
        return .nothing
    }

    private mutating func comment(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine {
        guard Scan.begins(line, with: "# EVEMU") else {
            if let header = ToldHeader(comment: line) { heads.set(header) }
            return .nothing
        }
        hasProperties = false
        return .beginning
    }

    /// Parses a line that was pasted with an indent.
    private mutating func indented(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine {
        var index = 0
        Scan.space(line, &index)
        return parse(line.extracting(index...), &heads)
    }

    @inline(__always)
    private func event(_ line: Span<UInt8>) -> RecordedLine {
        var index = 2
        Scan.space(line, &index)
        guard let time = Scan.time(line, &index), Scan.byte(0x20, line, &index),
            let type = Scan.hex(line, &index), Scan.byte(0x20, line, &index),
            let code = Scan.hex(line, &index), Scan.byte(0x20, line, &index),
            let value = Scan.decimal(line, &index)
        else { return .damaged }
        Scan.space(line, &index)
        guard index == line.count || line[index] == UInt8(ascii: "#") else { return .damaged }
        return .event(InputEvent(time: time, type: type, code: code, value: value))
    }

    /// Reads `A: 35 0 4096 4 0 0`: code, minimum, maximum, fuzz, flat, and in newer versions the resolution.
    private static func axis(_ line: Span<UInt8>) -> (code: Int, DeviceAxis)? {
        var index = 2
        Scan.space(line, &index)
        guard let code = Scan.hex(line, &index) else { return nil }
        var numbers = InlineArray<5, Int>(repeating: 0)
        var count = 0
        while !Scan.isAtEnd(line, index), count < 5 {
            Scan.space(line, &index)
            guard let number = Scan.decimal(line, &index) else { return nil }
            numbers[count] = number
            count += 1
        }
        guard count >= 4, Scan.isAtEnd(line, index) else { return nil }
        return (
            code,
            DeviceAxis(minimum: Double(numbers[0]), maximum: Double(numbers[1]), resolution: Double(numbers[4]))
        )
    }

    private mutating func properties(_ line: Span<UInt8>, _ heads: inout DeviceHeads) {
        guard !hasProperties else { return }
        hasProperties = true
        var index = 2
        Scan.space(line, &index)
        let semiMT = 1 << 3
        if let first = Scan.hex(line, &index), first & semiMT != 0 { heads.setSemiMT() }
    }
}
