// The words of JSON (RFC 8259): space, strings, numbers and literals, each read where it stands in a line.
// Every function takes the position and leaves it behind what it read. Nothing here knows what the words are part of.

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A piece of the line: byte offsets.
public struct Slice: Equatable, Sendable {
    public var start: Int32
    public var end: Int32

    init(_ start: Int, _ end: Int) {
        self.start = Int32(truncatingIfNeeded: start)
        self.end = Int32(truncatingIfNeeded: end)
    }

    public var range: Range<Int> { Int(start)..<Int(end) }
    public var count: Int { Int(end - start) }
}

/// Reads the words of a line.
enum JSONText {
    @inline(never)
    static func broken(_ message: String, at position: Int) -> WireError {
        WireError(.invalidJSON, "column \(position + 1): \(message)")
    }

    @inline(__always)
    static func skipSpace(_ line: Span<UInt8>, _ position: inout Int) {
        if position < line.count, line[position] > 0x20 { return }
        skipMoreSpace(line, &position)
    }

    private static func skipMoreSpace(_ line: Span<UInt8>, _ position: inout Int) {
        while position < line.count {
            switch line[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            default: return
            }
        }
    }

    static func literal(_ line: Span<UInt8>, _ position: inout Int, _ word: StaticString) throws(WireError) {
        for offset in 0..<word.utf8CodeUnitCount {
            let expected = unsafe word.utf8Start[offset]
            guard position + offset < line.count, line[position + offset] == expected else {
                throw broken("a JSON value was expected", at: position)
            }
        }
        position += word.utf8CodeUnitCount
    }

    // MARK: Strings

    /// Reads a string; the slice leaves its quotes out.
    @inline(__always)
    static func string(_ line: Span<UInt8>, _ position: inout Int) throws(WireError) -> (Slice, isEscaped: Bool) {
        let start = position + 1
        position = plainEnd(line, from: start)
        var isEscaped = false
        if position == line.count || line[position] != UInt8(ascii: "\"") {
            isEscaped = try restOfString(line, &position)
        }
        position += 1
        return (Slice(start, position - 1), isEscaped)
    }

    /// Reads a string on from a character that needs a look, to its closing quote; says whether there are escapes.
    private static func restOfString(_ line: Span<UInt8>, _ position: inout Int) throws(WireError) -> Bool {
        var isEscaped = false
        while true {
            guard position < line.count else { throw broken("a string is not closed", at: position) }
            let byte = line[position]
            if byte == UInt8(ascii: "\"") {
                return isEscaped
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                try escape(line, &position)
            } else if byte >= 0x80 {
                try multibyte(line, &position)
            } else {
                throw broken("a control character in a string must be escaped", at: position)
            }
            position = plainEnd(line, from: position)
        }
    }

    /// Where the first character from `start` on is that needs a look: a quote, a backslash, a control character or one
    /// beyond ASCII. Looks at eight bytes at a time.
    @inline(__always)
    private static func plainEnd(_ line: Span<UInt8>, from start: Int) -> Int {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var index = start
        while index + 8 <= line.count {
            // Sound: all eight bytes are the line's.
            let bytes = unsafe UInt64(
                littleEndian: line.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quote = bytes ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let backslash = bytes ^ (ones &* UInt64(UInt8(ascii: "\\")))
            // The top bit of each such byte is set. A borrow may set that of a byte behind one, too, but not of one before.
            let special =
                ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((bytes &- (ones &* 0x20)) & ~bytes)
                | bytes
            if special & tops != 0 { return index + (special & tops).trailingZeroBitCount / 8 }
            index += 8
        }
        while index < line.count {
            let byte = line[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 || byte >= 0x80 { break }
            index += 1
        }
        return index
    }

    private static func escape(_ line: Span<UInt8>, _ position: inout Int) throws(WireError) {
        guard position + 1 < line.count else { throw broken("a string is not closed", at: position) }
        switch line[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            guard let unit = codeUnit(line, position) else {
                throw broken("\\u needs four hexadecimal digits", at: position)
            }
            if unit & 0xfc00 == 0xd800, let low = codeUnit(line, position + 6), low & 0xfc00 == 0xdc00 {
                position += 12
            } else if unit & 0xf800 == 0xd800 {
                throw broken("a lone surrogate is not a character", at: position)
            } else {
                position += 6
            }
        default:
            throw broken("an unknown escape in a string", at: position)
        }
    }

    /// The code unit of `\uXXXX` at a position.
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

    /// One character of two to four bytes, by the table of well-formed UTF-8 (Unicode, table 3-7).
    private static func multibyte(_ line: Span<UInt8>, _ position: inout Int) throws(WireError) {
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
        position += count
    }

    /// The text of a string as it is meant.
    static func text(_ line: Span<UInt8>, _ slice: Slice) -> String {
        String(decoding: unescape(line, slice), as: UTF8.self)
    }

    /// The bytes of a string as they are meant. The string has been read and is well-formed.
    static func unescape(_ line: Span<UInt8>, _ slice: Slice) -> [UInt8] {
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

    /// The powers of ten that a double holds exactly.
    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20,
        1e21, 1e22,
    ]

    /// Reads a number, correctly rounded. One too large for a double is infinite.
    @inline(__always)
    static func number(_ line: Span<UInt8>, _ position: inout Int) throws(WireError) -> Double {
        let start = position
        let isNegative = line[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let whole = position
        var mantissa: Int64 = 0
        digits(line, &position, &mantissa)
        guard position > whole else {
            throw broken(isNegative ? "a digit was expected" : "a JSON value was expected", at: start)
        }
        if position > whole + 1, line[whole] == UInt8(ascii: "0") {
            throw broken("a number may not begin with 0", at: whole)
        }
        var count = position - whole
        var exponent = 0
        if position < line.count, line[position] == UInt8(ascii: ".") {
            position += 1
            let fraction = position
            digits(line, &position, &mantissa)
            guard position > fraction else { throw broken("a digit was expected after '.'", at: position) }
            exponent = fraction - position
            count -= exponent
        }
        if position < line.count, line[position] | 0x20 == UInt8(ascii: "e") {
            exponent += try self.exponent(line, &position)
        }
        // Up to 18 digits cannot overflow; below 2^53 with a small power of ten the arithmetic is exact (Clinger 1990).
        if count <= 18, mantissa < 1 << 53, -22...22 ~= exponent {
            let value = Double(mantissa)
            let scaled = exponent < 0 ? value / powersOfTen[-exponent] : value * powersOfTen[exponent]
            return isNegative ? -scaled : scaled
        }
        // A number that ends the line stands alone, outside of any object: nobody reads its value.
        guard position < line.count else { return .infinity }
        return double(line, start)
    }

    /// Reads on over digits. More than 18 overflow.
    @inline(__always)
    private static func digits(_ line: Span<UInt8>, _ position: inout Int, _ mantissa: inout Int64) {
        var end = position
        while end < line.count {
            let digit = line[end] &- 0x30
            guard digit <= 9 else { break }
            mantissa = mantissa &* 10 &+ Int64(digit)
            end += 1
        }
        position = end
    }

    private static func exponent(_ line: Span<UInt8>, _ position: inout Int) throws(WireError) -> Int {
        position += 1
        var isNegative = false
        if position < line.count, line[position] == UInt8(ascii: "+") || line[position] == UInt8(ascii: "-") {
            isNegative = line[position] == UInt8(ascii: "-")
            position += 1
        }
        let start = position
        var value: Int64 = 0
        digits(line, &position, &value)
        guard position > start else { throw broken("a digit was expected in the exponent", at: position) }
        // Nineteen digits and more may have overflowed; they are beyond any double all the same.
        let size = position - start > 18 ? 1_000_000 : Int(min(value, 1_000_000))
        return isNegative ? -size : size
    }

    /// The C library's reading of a number that is known to be well-formed.
    private static func double(_ line: Span<UInt8>, _ start: Int) -> Double {
        unsafe line.withUnsafeBufferPointer { buffer in
            // Sound: the number's grammar has been checked, and a byte that is no part of it follows within the line.
            guard let base = buffer.baseAddress else { return 0 }
            return unsafe base.withMemoryRebound(to: CChar.self, capacity: buffer.count) { text in
                unsafe strtod(text + start, nil)
            }
        }
    }
}
