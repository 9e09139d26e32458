// Decodes values from the bytes that StateEncoder.swift writes. Members that a type does not have are skipped, and a
// missing one is `nil` where that is allowed.
// Invariant: whatever the bytes are, they are read within their bounds and a depth limit, and nothing is allocated in
// advance of what they hold. No number that is read is NaN, or beyond what is counted exactly.

package enum StateDecoder {
    /// The error for bytes that are truncated, altered, or something else.
    package struct Damage: Error, CustomStringConvertible {
        package init() {}

        package var description: String { "it is truncated, altered, or something else" }
    }

    /// Decodes the value that bytes hold; they must hold nothing else.
    package static func decode<Content: Decodable>(_ type: Content.Type, from bytes: [UInt8]) throws -> Content {
        let input = Input(bytes)
        guard try input.end(of: 0, in: 0..<bytes.count) == bytes.count else { throw Damage() }
        return try input.value(0..<bytes.count)
    }

    private final class Input {
        private let bytes: [UInt8]
        private var depth = 0
        private static let deepest = 64

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        // MARK: Structure

        func kind(_ value: Range<Int>) -> StateKind? { StateKind(rawValue: bytes[value.lowerBound]) }

        /// Returns the end of a value that begins within a range.
        func end(of start: Int, in range: Range<Int>) throws -> Int {
            guard range.contains(start), let kind = StateKind(rawValue: bytes[start]) else { throw Damage() }
            let left = range.upperBound - start - 1
            if let size = kind.size {
                guard size <= left else { throw Damage() }
                return start + 1 + size
            }
            guard left >= 8, let count = Int(exactly: word(start + 1)), count <= left - 8 else { throw Damage() }
            return start + 9 + count
        }

        /// Returns the content of a value, which must be of the wanted kind.
        func content(_ value: Range<Int>, _ wanted: StateKind) throws -> Range<Int> {
            guard kind(value) == wanted else { throw Damage() }
            return (value.lowerBound + (wanted.size == nil ? 9 : 1))..<value.upperBound
        }

        /// Returns the members of a record: each begins where the previous one ends, and the last ends with the record.
        func members(_ record: Range<Int>) throws -> [(name: ArraySlice<UInt8>, value: Range<Int>)] {
            var (members, rest) = ([(name: ArraySlice<UInt8>, value: Range<Int>)](), try content(record, .record))
            while let length = rest.first.map({ Int(bytes[$0]) }) {
                let name = (rest.lowerBound + 1)..<(rest.lowerBound + 1 + length)
                let value = name.upperBound..<(try end(of: name.upperBound, in: rest))
                members.append((bytes[name], value))
                rest = value.upperBound..<rest.upperBound
            }
            return members
        }

        // MARK: Content

        func word(_ start: Int) -> UInt64 {
            unsafe bytes.withUnsafeBytes {
                unsafe UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: UInt64.self))
            }
        }

        func flag(_ value: Range<Int>) throws -> Bool {
            switch kind(value) {
            case .yes: return true
            case .no: return false
            default: throw Damage()
            }
        }

        /// Reads a number that may be incremented later: it is far from overflowing.
        func integer<Number: FixedWidthInteger>(_ value: Range<Int>) throws -> Number {
            let number = Int64(truncatingIfNeeded: word(try content(value, .integer).lowerBound))
            guard number.magnitude < 1 << 53, let number = Number(exactly: number) else { throw Damage() }
            return number
        }

        func double(_ value: Range<Int>) throws -> Double {
            let double = Double(bitPattern: word(try content(value, .double).lowerBound))
            guard !double.isNaN else { throw Damage() }
            return double
        }

        func text(_ value: Range<Int>) throws -> String {
            String(decoding: bytes[try content(value, .bytes)], as: UTF8.self)
        }

        private func elements<Number: BitwiseCopyable>(_ value: Range<Int>) throws -> [Number] {
            let content = try content(value, .bytes)
            let size = MemoryLayout<Number>.size
            guard content.count.isMultiple(of: size) else { throw Damage() }
            return unsafe [Number](unsafeUninitializedCapacity: content.count / size) { numbers, count in
                unsafe bytes[content].withUnsafeBytes {
                    unsafe UnsafeMutableRawBufferPointer(numbers).copyMemory(from: $0)
                }
                count = content.count / size
            }
        }

        func value<Content: Decodable>(_ value: Range<Int>) throws -> Content {
            // The requested type is known when this is specialized, so the comparisons cost nothing.
            if Content.self == [UInt8].self, let bytes = try elements(value) as [UInt8] as? Content { return bytes }
            if Content.self == [UInt32].self, let numbers = try elements(value) as [UInt32] as? Content {
                return numbers
            }
            if Content.self == [Double].self {
                let numbers: [Double] = try elements(value)
                guard !numbers.contains(where: \.isNaN), let numbers = numbers as? Content else { throw Damage() }
                return numbers
            }
            guard depth < Self.deepest else { throw Damage() }
            depth += 1
            defer { depth -= 1 }
            return try Content(from: Value(input: self, place: value))
        }
    }

    private struct Value: Decoder, SingleValueDecodingContainer {
        let input: Input
        let place: Range<Int>
        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy: Key.Type) throws -> KeyedDecodingContainer<Key> {
            KeyedDecodingContainer(try Record(input, place))
        }

        func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try List(input, place) }
        func singleValueContainer() -> any SingleValueDecodingContainer { self }

        func decodeNil() -> Bool { input.kind(place) == StateKind.none }
        func decode(_: Bool.Type) throws -> Bool { try input.flag(place) }
        func decode(_: Double.Type) throws -> Double { try input.double(place) }
        func decode(_: Float.Type) throws -> Float { Float(try input.double(place)) }
        func decode(_: String.Type) throws -> String { try input.text(place) }

        func decode<Number: FixedWidthInteger & Decodable>(_: Number.Type) throws -> Number {
            try input.integer(place)
        }

        func decode<Content: Decodable>(_: Content.Type) throws -> Content { try input.value(place) }
    }

    private struct Record<Key: CodingKey>: KeyedDecodingContainerProtocol {
        private let input: Input
        private let members: [(name: ArraySlice<UInt8>, value: Range<Int>)]
        var codingPath: [any CodingKey] { [] }

        init(_ input: Input, _ place: Range<Int>) throws { (self.input, members) = (input, try input.members(place)) }

        private func find(_ key: some CodingKey) -> Range<Int>? {
            members.first { $0.name.elementsEqual(key.stringValue.utf8) }?.value
        }

        private func member(_ key: some CodingKey) throws -> Value {
            guard let place = find(key) else { throw Damage() }
            return Value(input: input, place: place)
        }

        var allKeys: [Key] { members.compactMap { Key(stringValue: String(decoding: $0.name, as: UTF8.self)) } }

        func contains(_ key: Key) -> Bool { find(key) != nil }
        func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }
        func decode<Content: Decodable>(_: Content.Type, forKey key: Key) throws -> Content {
            try member(key).decode(Content.self)
        }

        func nestedContainer<Inner: CodingKey>(
            keyedBy: Inner.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Inner> { try member(key).container(keyedBy: Inner.self) }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try member(key).unkeyedContainer()
        }

        func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
        func superDecoder() throws -> any Decoder { try member(StateSuperKey.super) }
    }

    private struct List: UnkeyedDecodingContainer {
        private let input: Input
        /// The values that are still to be read.
        private var rest: Range<Int>
        private(set) var currentIndex = 0
        /// Always `nil`: an array grows as its values are read.
        var count: Int? { nil }
        var codingPath: [any CodingKey] { [] }

        init(_ input: Input, _ place: Range<Int>) throws {
            (self.input, rest) = (input, try input.content(place, .list))
        }

        var isAtEnd: Bool { rest.isEmpty }

        private func peek() throws -> Value {
            guard !isAtEnd else { throw Damage() }
            return Value(input: input, place: rest.lowerBound..<(try input.end(of: rest.lowerBound, in: rest)))
        }

        private mutating func next() throws -> Value {
            let value = try peek()
            rest = value.place.upperBound..<rest.upperBound
            currentIndex += 1
            return value
        }

        mutating func decodeNil() throws -> Bool {
            guard try peek().decodeNil() else { return false }
            _ = try next()
            return true
        }

        mutating func decode<Content: Decodable>(_: Content.Type) throws -> Content { try next().decode(Content.self) }

        mutating func nestedContainer<Key: CodingKey>(keyedBy: Key.Type) throws -> KeyedDecodingContainer<Key> {
            try next().container(keyedBy: Key.self)
        }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
        mutating func superDecoder() throws -> any Decoder { try next() }
    }
}
