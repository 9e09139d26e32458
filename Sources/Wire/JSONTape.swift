// Strict JSON (RFC 8259) of one line, read once into a flat list of nodes that is kept from line to line: no allocation.
// Stricter than most readers: duplicate keys, lone surrogates and bad UTF-8 are errors. It knows no request.

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

/// The values of one line.
struct JSONTape: ~Copyable {
    enum Kind: UInt8 {
        case null, `false`, `true`, number, string, object, array
    }

    struct Node {
        var kind: Kind
        /// The number of a known ``Field``, or `Field.unknown`.
        var field = Field.unknown
        /// Whether a string's text has escapes.
        var isEscaped = false
        /// The member's name, without quotes.
        var key: Slice
        /// The value as it is written; a string without its quotes.
        var text: Slice
        /// The node after this one and all that is inside of it.
        var next: Int32 = 0
        /// A number's value, or the bits of an object's known fields.
        var payload: UInt64 = 0

        var number: Double { Double(bitPattern: payload) }
    }

    static let deepest = 32
    static let mostMembers = 4096
    static let mostUnknown = 256

    private(set) var nodes: [Node] = []
    private var position = 0
    private let fields = WordTable(Field.allCases.map(\.name))
    private let powersOfTen: [Double] = (0...22).map { pow(10, Double($0)) }

    init() { nodes.reserveCapacity(256) }

    /// Reads a line; its value is then node 0.
    mutating func read(_ line: Span<UInt8>) throws(WireError) {
        nodes.removeAll(keepingCapacity: true)
        position = 0
        skipSpace(line)
        try value(line, key: Slice(0, 0), field: Field.unknown, isRecorded: true, depth: 0)
        skipSpace(line)
        if position < line.count { throw broken("nothing may follow the value") }
    }

    private func broken(_ message: String, at position: Int? = nil) -> WireError {
        WireError(.invalidJSON, "column \((position ?? self.position) + 1): \(message)")
    }

    @inline(__always) private mutating func skipSpace(_ line: Span<UInt8>) {
        if position < line.count, line[position] > 0x20 { return }
        skipMoreSpace(line)
    }

    private mutating func skipMoreSpace(_ line: Span<UInt8>) {
        while position < line.count {
            switch line[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            default: return
            }
        }
    }

    // MARK: Values

    private mutating func value(
        _ line: Span<UInt8>, key: Slice, field: UInt8, isRecorded: Bool, depth: Int
    ) throws(WireError) {
        guard position < line.count else { throw broken("a value is missing") }
        var node = Node(kind: .null, field: field, key: key, text: Slice(position, position))
        switch line[position] {
        case UInt8(ascii: "{"):
            return try object(line, node, depth: depth)
        case UInt8(ascii: "["):
            return try array(line, node, depth: depth)
        case UInt8(ascii: "\""):
            node.kind = .string
            (node.text, node.isEscaped) = try string(line)
        case UInt8(ascii: "t"):
            node.kind = .true
            try literal(line, "true")
        case UInt8(ascii: "f"):
            node.kind = .false
            try literal(line, "false")
        case UInt8(ascii: "n"):
            try literal(line, "null")
        default:
            node.kind = .number
            node.payload = try number(line).bitPattern
        }
        guard isRecorded else { return }
        if node.kind != .string { node.text.end = Int32(truncatingIfNeeded: position) }
        node.next = Int32(truncatingIfNeeded: nodes.count + 1)
        try append(node)
    }

    private mutating func append(_ node: Node) throws(WireError) {
        guard nodes.count < Self.mostMembers else {
            throw WireError(.limitReached, "a line may have at most \(Self.mostMembers) members")
        }
        nodes.append(node)
    }

    private mutating func open(_ node: Node, _ kind: Kind, depth: Int) throws(WireError) -> Int {
        guard depth < Self.deepest else {
            throw WireError(.limitReached, "values may be nested at most \(Self.deepest) deep")
        }
        var node = node
        node.kind = kind
        try append(node)
        position += 1
        return nodes.count - 1
    }

    private mutating func close(_ index: Int) {
        position += 1
        nodes[index].text.end = Int32(truncatingIfNeeded: position)
        nodes[index].next = Int32(truncatingIfNeeded: nodes.count)
    }

    private mutating func object(_ line: Span<UInt8>, _ node: Node, depth: Int) throws(WireError) {
        let index = try open(node, .object, depth: depth)
        var known: UInt64 = 0
        var unknown = 0
        skipSpace(line)
        if position < line.count, line[position] == UInt8(ascii: "}") { return close(index) }
        while true {
            guard position < line.count, line[position] == UInt8(ascii: "\"") else {
                throw broken("a member's name in double quotes was expected")
            }
            let start = position
            let (key, isEscaped) = try string(line)
            let field = number(of: key, isEscaped: isEscaped, line)
            if field == Field.unknown {
                unknown += 1
                try checkUnknown(key, isEscaped: isEscaped, count: unknown, of: index, line, at: start)
            } else if known & (1 << UInt64(field)) != 0 {
                throw duplicate(key, line, at: start)
            } else {
                known |= 1 << UInt64(field)
            }
            skipSpace(line)
            guard position < line.count, line[position] == UInt8(ascii: ":") else {
                throw broken("':' was expected after a member's name")
            }
            position += 1
            skipSpace(line)
            try value(line, key: key, field: field, isRecorded: true, depth: depth + 1)
            skipSpace(line)
            guard position < line.count else { throw broken("'}' is missing") }
            switch line[position] {
            case UInt8(ascii: ","):
                position += 1
                skipSpace(line)
            case UInt8(ascii: "}"):
                nodes[index].payload = known
                return close(index)
            default:
                throw broken("',' or '}' was expected")
            }
        }
    }

    private mutating func array(_ line: Span<UInt8>, _ node: Node, depth: Int) throws(WireError) {
        let index = try open(node, .array, depth: depth)
        // Scalars in arrays that nobody reads are checked, not kept.
        let isRead = node.field != Field.unknown || depth == 0
        skipSpace(line)
        if position < line.count, line[position] == UInt8(ascii: "]") { return close(index) }
        while true {
            try value(line, key: Slice(0, 0), field: Field.unknown, isRecorded: isRead, depth: depth + 1)
            skipSpace(line)
            guard position < line.count else { throw broken("']' is missing") }
            switch line[position] {
            case UInt8(ascii: ","):
                position += 1
                skipSpace(line)
            case UInt8(ascii: "]"):
                return close(index)
            default:
                throw broken("',' or ']' was expected")
            }
        }
    }

    private mutating func literal(_ line: Span<UInt8>, _ word: StaticString) throws(WireError) {
        for offset in 0..<word.utf8CodeUnitCount {
            let expected = unsafe word.utf8Start[offset]
            guard position + offset < line.count, line[position + offset] == expected else {
                throw broken("a JSON value was expected")
            }
        }
        position += word.utf8CodeUnitCount
    }

    // MARK: Names

    private func number(of key: Slice, isEscaped: Bool, _ line: Span<UInt8>) -> UInt8 {
        if isEscaped {
            let plain = Self.unescape(line, key)
            return fields.index(of: plain.span, 0, plain.count).map { UInt8($0) } ?? Field.unknown
        }
        return fields.index(of: line, Int(key.start), Int(key.end)).map { UInt8($0) } ?? Field.unknown
    }

    private func duplicate(_ key: Slice, _ line: Span<UInt8>, at start: Int) -> WireError {
        broken("the name \"\(Self.text(line, key))\" stands twice in one object", at: start)
    }

    private func checkUnknown(
        _ key: Slice, isEscaped: Bool, count: Int, of object: Int, _ line: Span<UInt8>, at start: Int
    ) throws(WireError) {
        guard count <= Self.mostUnknown else {
            throw WireError(.limitReached, "an object may have at most \(Self.mostUnknown) unknown members")
        }
        var index = object + 1
        while index < nodes.count {
            let other = nodes[index]
            if other.field == Field.unknown, isEqual(key, other.key, line, mayBeEscaped: isEscaped) {
                throw duplicate(key, line, at: start)
            }
            index = Int(other.next)
        }
    }

    private func isEqual(_ a: Slice, _ b: Slice, _ line: Span<UInt8>, mayBeEscaped: Bool) -> Bool {
        if !mayBeEscaped && a.count == b.count {
            var offset = 0
            while offset < a.count, line[Int(a.start) + offset] == line[Int(b.start) + offset] { offset += 1 }
            return offset == a.count
        }
        // A name with an escape is longer as written than as meant.
        guard mayBeEscaped || b.count > a.count else { return false }
        return Self.unescape(line, a) == Self.unescape(line, b)
    }

    // MARK: Strings

    /// Reads a string; the slice leaves its quotes out.
    private mutating func string(_ line: Span<UInt8>) throws(WireError) -> (Slice, isEscaped: Bool) {
        position += 1
        let start = position
        var isEscaped = false
        while true {
            position = Self.plainEnd(line, from: position)
            guard position < line.count else { throw broken("a string is not closed") }
            let byte = line[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return (Slice(start, position - 1), isEscaped)
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                try escape(line)
            } else if byte >= 0x80 {
                try multibyte(line)
            } else {
                throw broken("a control character in a string must be escaped")
            }
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

    private mutating func escape(_ line: Span<UInt8>) throws(WireError) {
        guard position + 1 < line.count else { throw broken("a string is not closed") }
        switch line[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            guard let unit = Self.codeUnit(line, position) else {
                throw broken("\\u needs four hexadecimal digits")
            }
            if unit & 0xfc00 == 0xd800, let low = Self.codeUnit(line, position + 6), low & 0xfc00 == 0xdc00 {
                position += 12
            } else if unit & 0xf800 == 0xd800 {
                throw broken("a lone surrogate is not a character")
            } else {
                position += 6
            }
        default:
            throw broken("an unknown escape in a string")
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
    private mutating func multibyte(_ line: Span<UInt8>) throws(WireError) {
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
        default: throw broken("not UTF-8")
        }
        guard position + count <= line.count, second.contains(line[position + 1]) else { throw broken("not UTF-8") }
        for offset in 2..<max(count, 2) where line[position + offset] & 0xc0 != 0x80 { throw broken("not UTF-8") }
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

    /// Reads a number, correctly rounded. One too large for a double is infinite.
    private mutating func number(_ line: Span<UInt8>) throws(WireError) -> Double {
        let start = position
        let isNegative = line[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let whole = position
        var mantissa: UInt64 = 0
        position = Self.digits(line, from: position, &mantissa)
        guard position > whole else {
            throw broken(isNegative ? "a digit was expected" : "a JSON value was expected", at: start)
        }
        if position > whole + 1, line[whole] == UInt8(ascii: "0") {
            throw broken("a number may not begin with 0", at: whole)
        }
        var digits = position - whole
        var exponent = 0
        if position < line.count, line[position] == UInt8(ascii: ".") {
            let fraction = position + 1
            position = Self.digits(line, from: fraction, &mantissa)
            guard position > fraction else { throw broken("a digit was expected after '.'") }
            exponent = fraction - position
            digits -= exponent
        }
        if position < line.count, line[position] | 0x20 == UInt8(ascii: "e") {
            exponent += try self.exponent(line)
        }
        // Up to 18 digits cannot overflow; below 2^53 with a small power of ten the arithmetic is exact (Clinger 1990).
        if digits <= 18 && mantissa < 1 << 53 && abs(exponent) <= 22 {
            let value = Double(mantissa)
            let scaled = exponent < 0 ? value / powersOfTen[-exponent] : value * powersOfTen[exponent]
            return isNegative ? -scaled : scaled
        }
        // A number that ends the line stands alone, outside of any object: nobody reads its value.
        guard position < line.count else { return .infinity }
        return Self.double(line, start)
    }

    /// Reads on over digits; says where they end.
    @inline(__always)
    private static func digits(_ line: Span<UInt8>, from start: Int, _ mantissa: inout UInt64) -> Int {
        var index = start
        while index < line.count {
            let digit = line[index] &- 0x30
            guard digit <= 9 else { break }
            mantissa = mantissa &* 10 &+ UInt64(digit)
            index += 1
        }
        return index
    }

    private mutating func exponent(_ line: Span<UInt8>) throws(WireError) -> Int {
        position += 1
        var isNegative = false
        if position < line.count, line[position] == UInt8(ascii: "+") || line[position] == UInt8(ascii: "-") {
            isNegative = line[position] == UInt8(ascii: "-")
            position += 1
        }
        var value: UInt64 = 0
        let end = Self.digits(line, from: position, &value)
        guard end > position else { throw broken("a digit was expected in the exponent") }
        // Nineteen digits and more may have overflowed; they are beyond any double all the same.
        let size = end - position > 18 ? 1_000_000 : Int(min(value, 1_000_000))
        position = end
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
