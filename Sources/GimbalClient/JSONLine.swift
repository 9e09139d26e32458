// JSON in and out: Foundation's, of which nothing else is used. It brings doubles through unharmed: it writes the
// shortest digits that read back as the same number.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

package enum JSONLine {
    /// The longest line that is taken from the daemon, in bytes; far longer than any that it writes.
    package static let longest = 1 << 20

    /// Decodes a line without its LF.
    package static func decode<Value: Decodable>(_ type: Value.Type, _ line: some Collection<UInt8>) throws -> Value {
        try JSONDecoder().decode(type, from: Data(line))
    }

    /// Encodes without an LF in it or behind it, the same value always in the same bytes.
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}

/// A member's name, written where it is used: an object of the protocol is read and written in one place each.
struct Member: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringLiteral name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    func members() throws -> KeyedDecodingContainer<Member> { try container(keyedBy: Member.self) }
}

extension Encoder {
    func members() -> KeyedEncodingContainer<Member> { container(keyedBy: Member.self) }

    /// The error for what the protocol has no words for.
    func inexpressible(_ value: Any, _ why: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: codingPath, debugDescription: why))
    }
}

extension KeyedDecodingContainer<Member> {
    func get<Value: Decodable>(_ member: Member) throws -> Value { try decode(Value.self, forKey: member) }

    /// A member that may be left out, or be `null`.
    func get<Value: Decodable>(ifPresent member: Member) throws -> Value? {
        try decodeIfPresent(Value.self, forKey: member)
    }
}

extension KeyedEncodingContainer<Member> {
    /// Writes a member; what is `nil` is left out.
    mutating func put(_ member: Member, _ value: (some Encodable)?) throws {
        try encodeIfPresent(value, forKey: member)
    }
}
