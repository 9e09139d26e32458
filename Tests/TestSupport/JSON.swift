// JSON as a value that can be compared, and the two ways in which a conformance case compares it.

import Foundation

public enum JSON: Equatable, Sendable, Decodable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // The most frequent first: what a value is not is told by an error, which is slow.
        if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([String: JSON].self) {
            self = .object(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if container.decodeNil() {
            self = .null
        } else {
            self = .array(try container.decode([JSON].self))
        }
    }

    public init(_ text: some StringProtocol) throws {
        self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    }

    public subscript(_ key: String) -> JSON? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var number: Double? { if case .number(let value) = self { value } else { nil } }
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }

    /// Whether this has at least what a pattern has; the string "*" stands for anything.
    public func matches(_ pattern: JSON) -> Bool {
        switch (self, pattern) {
        case (_, .string("*")): true
        case (.object(let members), .object(let wanted)):
            wanted.allSatisfy { key, value in members[key]?.matches(value) ?? false }
        case (.array(let items), .array(let wanted)):
            items.count == wanted.count && zip(items, wanted).allSatisfy { $0.matches($1) }
        default: self == pattern
        }
    }

    /// Compact JSON; members in the order of their names.
    public var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let value): value == value.rounded() && abs(value) < 0x1p53 ? String(Int64(value)) : "\(value)"
        case .string(let value): Self.quoted(value)
        case .array(let items): "[" + items.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }.map { Self.quoted($0.key) + ":" + $0.value.text }
                .joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case _ where scalar.value < 0x20: quoted += "\\u" + String(format: "%04x", scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
