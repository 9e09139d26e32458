// Encodes any Codable value as bytes for the next process, by the names of its members. StateDecoder.swift reads them.
//
// A value is a byte for its kind (``StateKind``), and its content, if it has any. Integers and doubles have eight
// bytes, least significant first; a double's are its bits. All other content begins with eight bytes that say how many
// follow: text, arrays of numbers, a list's values, or a record's members, each a byte with the length of its name, the
// name, and the value.

/// The kind of a value.
enum StateKind: UInt8 {
    case none, no, yes, integer, double, bytes, list, record

    /// The size of its content in bytes; `nil` if the content's first eight bytes give it.
    var size: Int? {
        switch self {
        case .none, .no, .yes: 0
        case .integer, .double: 8
        case .bytes, .list, .record: nil
        }
    }
}

package enum StateEncoder {
    /// Encodes a value as bytes.
    ///
    /// - Throws: what the value's own `encode(to:)` throws: nothing if that is synthesized.
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let out = Output()
        try out.put(value)
        return out.bytes
    }

    /// The bytes written so far.
    private final class Output {
        private(set) var bytes: [UInt8] = []
        /// The positions of the counts of lists and records that have not ended, the outermost first.
        private var open: [Int] = []

        func put<Content: Encodable>(_ value: Content) throws {
            if Content.self == [UInt8].self, let bytes = value as? [UInt8] { return put(elements: bytes) }
            if Content.self == [UInt32].self, let numbers = value as? [UInt32] { return put(elements: numbers) }
            if Content.self == [Double].self, let numbers = value as? [Double] { return put(elements: numbers) }
            let depth = open.count
            try value.encode(to: Value(out: self))
            end(downTo: depth)
        }

        func put(_ kind: StateKind) { bytes.append(kind.rawValue) }

        func put(integer: some FixedWidthInteger) {
            put(.integer)
            put(word: UInt64(truncatingIfNeeded: integer))
        }

        func put(_ double: Double) {
            put(.double)
            put(word: double.bitPattern)
        }

        func put(text: some Collection<UInt8>) {
            put(.bytes)
            put(word: UInt64(text.count))
            bytes.append(contentsOf: text)
        }

        /// Puts numbers as they are in memory.
        private func put(elements: [some BitwiseCopyable]) {
            unsafe elements.withUnsafeBytes { unsafe put(text: $0) }
        }

        private func put(word: UInt64) {
            unsafe withUnsafeBytes(of: word.littleEndian) { unsafe bytes.append(contentsOf: $0) }
        }

        func put(name: String) {
            precondition(name.utf8.count < 256)
            bytes.append(UInt8(name.utf8.count))
            bytes.append(contentsOf: name.utf8)
        }

        /// Begins a list or a record; returns its depth.
        func begin(_ kind: StateKind) -> Int {
            put(kind)
            open.append(bytes.count)
            put(word: 0)
            return open.count
        }

        /// Ends all lists and records that are deeper.
        func end(downTo depth: Int) {
            while open.count > depth {
                let start = open.removeLast()
                let count = UInt64(bytes.count - start - 8)
                for index in 0..<8 { bytes[start + index] = UInt8(truncatingIfNeeded: count >> (8 * UInt64(index))) }
            }
        }
    }

    private struct Value: Encoder, SingleValueEncodingContainer {
        let out: Output
        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
            KeyedEncodingContainer(Record(out: out))
        }

        func unkeyedContainer() -> any UnkeyedEncodingContainer { List(out: out) }
        func singleValueContainer() -> any SingleValueEncodingContainer { self }

        func encodeNil() { out.put(.none) }
        func encode(_ value: Bool) { out.put(value ? .yes : .no) }
        func encode(_ value: Double) { out.put(value) }
        func encode(_ value: Float) { out.put(Double(value)) }
        func encode(_ value: String) { out.put(text: value.utf8) }
        func encode(_ value: some FixedWidthInteger & Encodable) { out.put(integer: value) }
        func encode(_ value: some Encodable) throws { try out.put(value) }
    }

    private struct Record<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let out: Output
        private let depth: Int
        var codingPath: [any CodingKey] { [] }

        init(out: Output) { (self.out, depth) = (out, out.begin(.record)) }

        /// Begins a member; returns where its value is written.
        private func member(_ key: some CodingKey) -> Value {
            out.end(downTo: depth)
            out.put(name: key.stringValue)
            return Value(out: out)
        }

        func encodeNil(forKey key: Key) { member(key).encodeNil() }
        func encode(_ value: some Encodable, forKey key: Key) throws { try member(key).encode(value) }

        func nestedContainer<Inner: CodingKey>(
            keyedBy: Inner.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Inner> { member(key).container(keyedBy: Inner.self) }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { member(key).unkeyedContainer() }
        func superEncoder(forKey key: Key) -> any Encoder { member(key) }
        func superEncoder() -> any Encoder { member(StateSuperKey.super) }
    }

    private struct List: UnkeyedEncodingContainer {
        let out: Output
        private let depth: Int
        private(set) var count = 0
        var codingPath: [any CodingKey] { [] }

        init(out: Output) { (self.out, depth) = (out, out.begin(.list)) }

        /// Begins a value; returns where it is written.
        private mutating func next() -> Value {
            out.end(downTo: depth)
            count += 1
            return Value(out: out)
        }

        mutating func encodeNil() { next().encodeNil() }
        mutating func encode(_ value: some Encodable) throws { try next().encode(value) }

        mutating func nestedContainer<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
            next().container(keyedBy: Key.self)
        }

        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
        mutating func superEncoder() -> any Encoder { next() }
    }
}

/// The key under which a class writes its superclass's members.
enum StateSuperKey: CodingKey { case `super` }
