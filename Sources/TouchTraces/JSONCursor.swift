// JSON that is walked through once and not kept: whoever walks takes what it knows and skips the rest, so nothing is
// allocated. The wire's reader of requests keeps only members that requests have. Names with escapes are not recognized.

/// A place in a line of JSON. What returns `nil` or `false` has found no JSON, and the walk is over.
struct JSONCursor {
    private(set) var index = 0

    private static let deepest = 32
    private static let powersOfTen: [Double] = (0...18).map { (0..<$0).reduce(1) { power, _ in power * 10 } }

    private mutating func space(_ line: Span<UInt8>) {
        while index < line.count, Scan.isSpace(line[index]) || line[index] == 0x0a || line[index] == 0x0d { index += 1 }
    }

    /// Skips a character and spaces around it, if it stands here.
    private mutating func skip(_ character: UInt8, _ line: Span<UInt8>) -> Bool {
        space(line)
        guard Scan.byte(character, line, &index) else { return false }
        space(line)
        return true
    }

    /// Whether nothing but spaces follows.
    func isAtEnd(_ line: Span<UInt8>) -> Bool {
        var rest = self
        rest.space(line)
        return rest.index == line.count
    }

    // MARK: Objects and arrays

    /// Walks through an object. The body is told where each name is, and must walk through its value.
    mutating func members(_ line: Span<UInt8>, _ body: (inout JSONCursor, Range<Int>) -> Bool) -> Bool {
        guard skip(UInt8(ascii: "{"), line) else { return false }
        if skip(UInt8(ascii: "}"), line) { return true }
        repeat {
            guard let name = string(line), skip(UInt8(ascii: ":"), line), body(&self, name) else { return false }
        } while skip(UInt8(ascii: ","), line)
        return skip(UInt8(ascii: "}"), line)
    }

    /// Walks through an array. The body must walk through each element.
    mutating func elements(_ line: Span<UInt8>, _ body: (inout JSONCursor) -> Bool) -> Bool {
        guard skip(UInt8(ascii: "["), line) else { return false }
        if skip(UInt8(ascii: "]"), line) { return true }
        repeat {
            guard body(&self) else { return false }
        } while skip(UInt8(ascii: ","), line)
        return skip(UInt8(ascii: "]"), line)
    }

    /// Walks through any value that nobody wants to know.
    mutating func value(_ line: Span<UInt8>, depth: Int = 0) -> Bool {
        guard depth < Self.deepest else { return false }
        space(line)
        guard index < line.count else { return false }
        switch line[index] {
        case UInt8(ascii: "{"): return members(line) { cursor, _ in cursor.value(line, depth: depth + 1) }
        case UInt8(ascii: "["): return elements(line) { cursor in cursor.value(line, depth: depth + 1) }
        case UInt8(ascii: "\""): return string(line) != nil
        case UInt8(ascii: "t"): return Scan.word("true", line, &index)
        case UInt8(ascii: "f"): return Scan.word("false", line, &index)
        case UInt8(ascii: "n"): return Scan.word("null", line, &index)
        default: return number(line) != nil
        }
    }

    // MARK: Strings and numbers

    /// Where a string is, without its quotes; escapes stay as they are.
    mutating func string(_ line: Span<UInt8>) -> Range<Int>? {
        space(line)
        guard Scan.byte(UInt8(ascii: "\""), line, &index) else { return nil }
        let start = index
        while index < line.count, line[index] >= 0x20 {
            if line[index] == UInt8(ascii: "\"") {
                index += 1
                return start..<(index - 1)
            }
            index += line[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    /// A number, to within the last bit or two; digits beyond the eighteenth do not count.
    mutating func number(_ line: Span<UInt8>) -> Double? {
        space(line)
        let isNegative = Scan.byte(UInt8(ascii: "-"), line, &index)
        var mantissa: UInt64 = 0
        var exponent = 0
        let start = index
        guard let whole = digits(line, &mantissa) else { return nil }
        if index - start > 1, line[start] == UInt8(ascii: "0") { return nil }
        exponent = whole.dropped
        if Scan.byte(UInt8(ascii: "."), line, &index) {
            guard let fraction = digits(line, &mantissa) else { return nil }
            exponent -= fraction.taken
        }
        if index < line.count, line[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            let hasPlus = Scan.byte(UInt8(ascii: "+"), line, &index)
            if hasPlus, index < line.count, line[index] == UInt8(ascii: "-") { return nil }
            guard let given = Scan.decimal(line, &index) else { return nil }
            exponent += min(max(given, -1000), 1000)
        }
        let value = Self.scaled(Double(mantissa), exponent)
        return isNegative ? -value : value
    }

    /// Reads on over digits; says how many were taken into the mantissa and how many were not.
    private mutating func digits(_ line: Span<UInt8>, _ mantissa: inout UInt64) -> (taken: Int, dropped: Int)? {
        var (taken, dropped) = (0, 0)
        let full: UInt64 = 100_000_000_000_000_000
        while index < line.count {
            let digit = line[index] &- 0x30
            guard digit <= 9 else { break }
            if mantissa < full {
                mantissa = mantissa * 10 + UInt64(digit)
                taken += 1
            } else {
                dropped += 1
            }
            index += 1
        }
        return taken + dropped > 0 ? (taken, dropped) : nil
    }

    private static func scaled(_ mantissa: Double, _ exponent: Int) -> Double {
        var (value, rest) = (mantissa, exponent)
        while rest < 0, value != 0 {
            value /= powersOfTen[min(-rest, 18)]
            rest += min(-rest, 18)
        }
        while rest > 0, value.isFinite, value != 0 {
            value *= powersOfTen[min(rest, 18)]
            rest -= min(rest, 18)
        }
        return value
    }
}
