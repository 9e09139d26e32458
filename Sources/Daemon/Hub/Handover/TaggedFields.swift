// Self-describing fields: each has a tag, a type and a length, and a record is a field made of fields. So a reader
// skips fields that it does not know, and does without missing ones. HandoverLayout.swift says what the tags mean.
//
// A field is a head of eight bytes, the lowest first, and its content: the tag in bits 0 to 15 of the head, the type in
// bits 16 to 23 (``FieldType``), and in bits 24 to 63 how many bytes of content follow.

/// The tags of a record's fields.
package protocol FieldTag: RawRepresentable where RawValue == UInt16 {}

/// What the content of a field is.
package enum FieldType: UInt8 {
    /// Eight bytes, the lowest first: an integer, the bits of a double, or 0 or 1.
    case number
    case bytes
    /// Fields, one behind the other.
    case record
}

package struct FieldWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func put(_ tag: some FieldTag, _ number: UInt64) {
        putHead(tag.rawValue, .number, count: 8)
        put(word: number)
    }

    /// Writes a number that is not negative.
    package mutating func put(_ tag: some FieldTag, _ number: Int) { put(tag, UInt64(number)) }

    package mutating func put(_ tag: some FieldTag, _ number: Double) { put(tag, number.bitPattern) }

    package mutating func put(_ tag: some FieldTag, _ flag: Bool) { put(tag, flag ? 1 : 0 as UInt64) }

    package mutating func put(_ tag: some FieldTag, _ text: String) { put(tag, text.utf8) }

    package mutating func put(_ tag: some FieldTag, _ content: some Collection<UInt8>) {
        putHead(tag.rawValue, .bytes, count: content.count)
        bytes.append(contentsOf: content)
    }

    /// Writes doubles, eight bytes each, the lowest first.
    package mutating func put(_ tag: some FieldTag, doubles: some Collection<Double>) {
        putHead(tag.rawValue, .bytes, count: doubles.count * 8)
        for double in doubles { put(word: double.bitPattern) }
    }

    /// Writes bytes that stand in several pieces.
    package mutating func put(_ tag: some FieldTag, pieces: [UnsafeRawBufferPointer]) {
        unsafe putHead(tag.rawValue, .bytes, count: pieces.reduce(0) { $0 + $1.count })
        for index in unsafe pieces.indices { unsafe bytes.append(contentsOf: pieces[index]) }
    }

    /// Writes a record, whose fields `body` writes.
    package mutating func put(_ tag: some FieldTag, record body: (inout FieldWriter) -> Void) {
        let head = bytes.count
        putHead(tag.rawValue, .record, count: 0)
        body(&self)
        let word = Self.head(tag.rawValue, .record, count: bytes.count - head - FieldReader.headSize)
        unsafe withUnsafeBytes(of: word) { unsafe bytes.replaceSubrange(head..<(head + $0.count), with: $0) }
    }

    private mutating func putHead(_ tag: UInt16, _ type: FieldType, count: Int) {
        put(word: Self.head(tag, type, count: count))
    }

    private static func head(_ tag: UInt16, _ type: FieldType, count: Int) -> UInt64 {
        precondition(count < 1 << 40)
        return UInt64(tag) | UInt64(type.rawValue) << 16 | UInt64(count) << 24
    }

    private mutating func put(word: UInt64) {
        unsafe withUnsafeBytes(of: word.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }
}

/// Reads the fields of one record, in the order in which they stand.
package struct FieldReader {
    /// The bytes are cut, or a field that is needed is not there or holds what it cannot hold.
    package struct Damage: Error {
        package init() {}
    }

    package struct Field {
        package let tag: UInt16
        package let type: FieldType
        private let content: ArraySlice<UInt8>

        fileprivate init(_ tag: UInt16, _ type: FieldType, _ content: ArraySlice<UInt8>) {
            (self.tag, self.type, self.content) = (tag, type, content)
        }

        package func number() throws(Damage) -> UInt64 {
            guard type == .number, content.count == 8 else { throw Damage() }
            return FieldReader.word(of: content)
        }

        /// A number that is counted on from: it lies far from where that would overflow.
        package func count() throws(Damage) -> UInt64 {
            let number = try number()
            guard number < 1 << 53 else { throw Damage() }
            return number
        }

        /// As ``count()``.
        package func integer() throws(Damage) -> Int { Int(try count()) }

        package func double() throws(Damage) -> Double { Double(bitPattern: try number()) }

        /// Milliseconds of a clock, as far as any goes.
        package func time() throws(Damage) -> Double {
            let time = try double()
            guard -1e15...1e15 ~= time else { throw Damage() }
            return time
        }

        package func flag() throws(Damage) -> Bool { try number() != 0 }

        /// The content, not copied.
        package func bytes() throws(Damage) -> ArraySlice<UInt8> {
            guard type == .bytes else { throw Damage() }
            return content
        }

        package func doubles() throws(Damage) -> [Double] {
            let bytes = try bytes()
            return stride(from: bytes.startIndex, to: bytes.endIndex - bytes.count % 8, by: 8).map {
                Double(bitPattern: FieldReader.word(of: bytes[$0..<($0 + 8)]))
            }
        }

        package func text() throws(Damage) -> String { String(decoding: try bytes(), as: UTF8.self) }

        package func record() throws(Damage) -> FieldReader {
            guard type == .record else { throw Damage() }
            return FieldReader(content)
        }
    }

    fileprivate static let headSize = 8

    private var rest: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// The next field, whatever it is; `nil` at the end of the record.
    package mutating func next() throws(Damage) -> Field? {
        while !rest.isEmpty {
            guard rest.count >= Self.headSize else { throw Damage() }
            let head = Self.word(of: rest.prefix(Self.headSize))
            let (start, count) = (rest.startIndex + Self.headSize, Int(head >> 24))
            guard count <= rest.endIndex - start else { throw Damage() }
            let content = rest[start..<(start + count)]
            rest = rest[(start + count)...]
            guard let type = FieldType(rawValue: UInt8(truncatingIfNeeded: head >> 16)) else { continue }
            return Field(UInt16(truncatingIfNeeded: head), type, content)
        }
        return nil
    }

    /// The next field that has one of a record's tags; others are skipped.
    package mutating func next<Tag: FieldTag>(_ tags: Tag.Type) throws(Damage) -> (tag: Tag, field: Field)? {
        while let field = try next() {
            if let tag = Tag(rawValue: field.tag) { return (tag, field) }
        }
        return nil
    }

    private static func word(of bytes: ArraySlice<UInt8>) -> UInt64 {
        unsafe bytes.withUnsafeBytes { UInt64(littleEndian: unsafe $0.loadUnaligned(as: UInt64.self)) }
    }
}
