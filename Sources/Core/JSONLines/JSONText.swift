// The tokens of JSON (RFC 8259): space, strings, numbers and literals, each read in place. Every function takes a
// position and returns the end of the token: reading is fast because the position stays in a register. Nothing here
// knows what the tokens are part of.

/// A range of byte offsets in a line.
@usableFromInline package struct ByteRange: Equatable, Sendable {
    @usableFromInline package var start: Int32
    @usableFromInline package var end: Int32

    @inlinable
    package init(_ start: Int, _ end: Int) {
        self.start = Int32(truncatingIfNeeded: start)
        self.end = Int32(truncatingIfNeeded: end)
    }

    @inlinable package var range: Range<Int> { Int(start)..<Int(end) }
    @inlinable package var count: Int { Int(end - start) }
}

/// Reads the tokens of a line.
package enum JSONText {
    @inline(never)
    static func broken(_ message: String, at position: Int) -> JSONError {
        JSONError(.malformed, "column \(position + 1): \(message)")
    }

    @inline(__always)
    static func skipSpace(_ line: Span<UInt8>, _ position: Int) -> Int {
        if position < line.count, line[position] > 0x20 { return position }
        return skipMoreSpace(line, position)
    }

    private static func skipMoreSpace(_ line: Span<UInt8>, _ start: Int) -> Int {
        var position = start
        while position < line.count {
            switch line[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            default: return position
            }
        }
        return position
    }

    @inline(__always)
    static func literal(_ line: Span<UInt8>, _ start: Int, _ word: StaticString) throws(JSONError) -> Int {
        for offset in 0..<word.utf8CodeUnitCount {
            let expected = unsafe word.utf8Start[offset]
            guard start + offset < line.count, line[start + offset] == expected else {
                throw broken("a JSON value was expected", at: start)
            }
        }
        return start + word.utf8CodeUnitCount
    }

    // MARK: Strings

    /// Reads a string; the range excludes the quotes.
    @inline(__always)
    static func string(
        _ line: Span<UInt8>, _ start: Int
    ) throws(JSONError) -> (text: ByteRange, isEscaped: Bool, end: Int) {
        var end = plainEnd(line, from: start &+ 1)
        var isEscaped = false
        if end == line.count || line[end] != UInt8(ascii: "\"") {
            (isEscaped, end) = try restOfString(line, end)
        }
        return (ByteRange(start &+ 1, end), isEscaped, end &+ 1)
    }

    /// Reads the rest of a string from a special character to the closing quote; returns whether it has escapes.
    @inline(never)
    private static func restOfString(
        _ line: Span<UInt8>, _ start: Int
    ) throws(JSONError) -> (isEscaped: Bool, end: Int) {
        var (isEscaped, position) = (false, start)
        while true {
            guard position < line.count else { throw broken("a string is not closed", at: position) }
            let byte = line[position]
            if byte == UInt8(ascii: "\"") {
                return (isEscaped, position)
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                position = try escape(line, position)
            } else if byte >= 0x80 {
                position = try multibyte(line, position)
            } else {
                throw broken("a control character in a string must be escaped", at: position)
            }
            position = plainEnd(line, from: position)
        }
    }

    /// Returns the position of the first special character from `start` on: a quote, a backslash, a control character
    /// or a byte beyond ASCII; or the end of the line.
    @inline(__always)
    package static func plainEnd(_ line: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while true {
            let count = EightBytes(line, at: index).plainCount
            index &+= count
            if count < 8 { return index }
        }
    }

    private static func escape(_ line: Span<UInt8>, _ position: Int) throws(JSONError) -> Int {
        guard position + 1 < line.count else { throw broken("a string is not closed", at: position) }
        switch line[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return position + 2
        case UInt8(ascii: "u"):
            guard let unit = codeUnit(line, position) else {
                throw broken("\\u needs four hexadecimal digits", at: position)
            }
            if unit & 0xfc00 == 0xd800, let low = codeUnit(line, position + 6), low & 0xfc00 == 0xdc00 {
                return position + 12
            }
            if unit & 0xf800 == 0xd800 { throw broken("a lone surrogate is not a character", at: position) }
            return position + 6
        default:
            throw broken("an unknown escape in a string", at: position)
        }
    }

    /// Returns the code unit of an escape: `\u` and four hexadecimal digits.
    private static func codeUnit(_ line: Span<UInt8>, _ position: Int) -> UInt16? {
        guard position + 6 <= line.count, line[position] == UInt8(ascii: "\\"), line[position + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt16 = 0
        for offset in 2..<6 {
            let byte = line[position + offset]
            switch byte {
            case 0x30...0x39: unit = unit << 4 | UInt16(byte - 0x30)
            case 0x41...0x46: unit = unit << 4 | UInt16(byte - 0x41 + 10)
            case 0x61...0x66: unit = unit << 4 | UInt16(byte - 0x61 + 10)
            default: return nil
            }
        }
        return unit
    }

    /// Reads a character of two to four bytes, by the table of well-formed UTF-8 (Unicode, table 3-7).
    private static func multibyte(_ line: Span<UInt8>, _ position: Int) throws(JSONError) -> Int {
        let count: Int
        var second: ClosedRange<UInt8> = 0x80...0xbf
        switch line[position] {
        case 0xc2...0xdf: count = 2
        case 0xe0: (count, second) = (3, 0xa0...0xbf)
        case 0xed: (count, second) = (3, 0x80...0x9f)
        case 0xe1...0xef: count = 3
        case 0xf0: (count, second) = (4, 0x90...0xbf)
        case 0xf4: (count, second) = (4, 0x80...0x8f)
        case 0xf1...0xf3: count = 4
        default: throw broken("not UTF-8", at: position)
        }
        guard position + count <= line.count, second.contains(line[position + 1]) else {
            throw broken("not UTF-8", at: position)
        }
        for offset in 2..<max(count, 2) where line[position + offset] & 0xc0 != 0x80 {
            throw broken("not UTF-8", at: position)
        }
        return position + count
    }

    /// Returns the unescaped text of a string.
    package static func text(_ line: Span<UInt8>, _ slice: ByteRange) -> String {
        String(decoding: unescape(line, slice), as: UTF8.self)
    }

    /// Returns the unescaped bytes of a string that has been read before and is well-formed.
    package static func unescape(_ line: Span<UInt8>, _ slice: ByteRange) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(slice.count)
        var position = Int(slice.start)
        while position < Int(slice.end) {
            guard line[position] == UInt8(ascii: "\\") else {
                plain.append(line[position])
                position += 1
                continue
            }
            switch line[position + 1] {
            case UInt8(ascii: "u"):
                var units = [codeUnit(line, position) ?? 0]
                if units[0] & 0xfc00 == 0xd800 { units.append(codeUnit(line, position + 6) ?? 0) }
                plain += Array(String(decoding: units, as: UTF16.self).utf8)
                position += 6 * units.count
                continue
            case UInt8(ascii: "b"): plain.append(0x08)
            case UInt8(ascii: "f"): plain.append(0x0c)
            case UInt8(ascii: "n"): plain.append(0x0a)
            case UInt8(ascii: "r"): plain.append(0x0d)
            case UInt8(ascii: "t"): plain.append(0x09)
            case let byte: plain.append(byte)
            }
            position += 2
        }
        return plain
    }

    // MARK: Numbers

    /// The powers of ten that a double represents exactly.
    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20,
        1e21, 1e22,
    ]

    /// Reads a number that starts within the line, correctly rounded; infinite if it is too large for a double.
    package static func number(_ line: Span<UInt8>, _ start: Int) throws(JSONError) -> (value: Double, end: Int) {
        let isNegative = line[start] == UInt8(ascii: "-")
        let whole = isNegative ? start &+ 1 : start
        guard let short = EightBytes(line, at: whole).decimal else {
            return try longNumber(line, start, whole, isNegative)
        }
        let value = Double(Int64(truncatingIfNeeded: short.digits)) / powersOfTen[short.places]
        return (isNegative ? -value : value, whole &+ short.count)
    }

    /// Reads any number whose digits start at `whole`.
    @inline(never)
    private static func longNumber(
        _ line: Span<UInt8>, _ start: Int, _ whole: Int, _ isNegative: Bool
    ) throws(JSONError) -> (value: Double, end: Int) {
        var (mantissa, end) = digits(line, whole)
        guard end > whole else {
            throw broken(isNegative ? "a digit was expected" : "a JSON value was expected", at: start)
        }
        if end > whole &+ 1, line[whole] == UInt8(ascii: "0") {
            throw broken("a number may not begin with 0", at: whole)
        }
        var count = end &- whole
        var exponent = 0
        if end < line.count, line[end] == UInt8(ascii: ".") {
            let fraction = end &+ 1
            (mantissa, end) = digits(line, fraction, after: mantissa)
            guard end > fraction else { throw broken("a digit was expected after '.'", at: end) }
            exponent = fraction &- end
            count &-= exponent
        }
        if end < line.count, line[end] | 0x20 == UInt8(ascii: "e") {
            let shift: Int
            (shift, end) = try self.exponent(line, end)
            exponent += shift
        }
        // Up to 19 digits cannot overflow; below 2^53 with a small power of ten the arithmetic is exact (Clinger 1990).
        if count <= 19, mantissa < 1 << 53, -22...22 ~= exponent {
            let value = Double(Int64(truncatingIfNeeded: mantissa))
            let scaled = exponent < 0 ? value / powersOfTen[-exponent] : value * powersOfTen[exponent]
            return (isNegative ? -scaled : scaled, end)
        }
        if count <= 19, -19..<0 ~= exponent {
            let value = quotient(mantissa, FixedDecimal.tens[-exponent])
            return (isNegative ? -value : value, end)
        }
        // The standard library rounds a decimal of any length correctly, in every locale.
        let value = Double(text(line, ByteRange(whole, end))) ?? 0
        return (isNegative ? -value : value, end)
    }

    /// Divides one number above 0 by another, correctly rounded.
    @inline(never)
    private static func quotient(_ dividend: UInt64, _ divisor: UInt64) -> Double {
        // With the top bit of both set, the quotient has 63 or 64 bits; a double keeps 53. The remainder matters only
        // as one bit far below these.
        let (up, down) = (dividend.leadingZeroBitCount, divisor.leadingZeroBitCount)
        let high = dividend << up
        let (quotient, rest) = (divisor << down).dividingFullWidth((high >> 1, high << 63))
        return Double(sign: .plus, exponent: down - up - 63, significand: Double(quotient | (rest == 0 ? 0 : 1)))
    }

    /// Reads digits that follow others, eight at a time. More than 19 overflow.
    @inline(__always)
    package static func digits(
        _ line: Span<UInt8>, _ start: Int, after mantissa: UInt64 = 0
    ) -> (mantissa: UInt64, end: Int) {
        var (mantissa, end) = (mantissa, start)
        while true {
            let (count, value) = EightBytes(line, at: end).digits
            mantissa = mantissa &* FixedDecimal.tens[count] &+ value
            end &+= count
            if count < 8 { return (mantissa, end) }
        }
    }

    /// Reads a non-negative integer of at most fifteen digits; `nil` if there is none.
    package static func count(_ line: Span<UInt8>, _ start: Int) -> (value: Int64, end: Int)? {
        let (value, end) = digits(line, start)
        guard 1...15 ~= end - start, end == start + 1 || line[start] != UInt8(ascii: "0") else { return nil }
        return (Int64(value), end)
    }

    @inline(never)
    private static func exponent(_ line: Span<UInt8>, _ letter: Int) throws(JSONError) -> (value: Int, end: Int) {
        var start = letter + 1
        var isNegative = false
        if start < line.count, line[start] == UInt8(ascii: "+") || line[start] == UInt8(ascii: "-") {
            isNegative = line[start] == UInt8(ascii: "-")
            start += 1
        }
        let end = digits(line, start).end
        guard end > start else { throw broken("a digit was expected in the exponent", at: end) }
        while start < end, line[start] == UInt8(ascii: "0") { start += 1 }
        // More digits than a line has bytes put the exponent beyond any double.
        let size = end - start > 12 ? 1 << 40 : Int(digits(line, start).mantissa)
        return (isNegative ? -size : size, end)
    }
}
