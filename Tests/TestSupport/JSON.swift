// JSON as a comparable value, and the two ways in which a conformance case compares it.

import Foundation
import JSONLines

public enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    public init(_ text: some StringProtocol) throws { try self.init(Data(text.utf8)) }

    /// Uses JSONSerialization: JSONDecoder throws to find a value's type, and test runs capture a backtrace for each
    /// error, which took three quarters of the simulations' time.
    public init(_ data: Data) throws {
        self.init(try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed))
    }

    /// Takes what the project's own parser has read: of the simulations' time, Foundation's takes a third.
    package init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .array(let items): self = .array(items.map(JSON.init))
        case .object(let object):
            self = .object([String: JSON](uniqueKeysWithValues: object.members.map { ($0.name, JSON($0.value)) }))
        }
    }

    private init(_ value: Any) {
        // Swift's own types first: checking for a number would convert each to one of Foundation's.
        switch value {
        case let value as [String: Any]: self = .object(value.mapValues(JSON.init))
        case let value as String: self = .string(value)
        case let value as [Any]: self = .array(value.map(JSON.init))
        // Its `doubleValue` is not exact.
        case let value as NSDecimalNumber: self = .number(Double(value.stringValue) ?? .nan)
        case let value as NSNumber where value === Self.yes || value === Self.no: self = .bool(value.boolValue)
        case let value as NSNumber: self = .number(value.doubleValue)
        default: self = .null
        }
    }

    private static let (yes, no) = (NSNumber(value: true), NSNumber(value: false))

    public subscript(_ key: String) -> JSON? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var number: Double? { if case .number(let value) = self { value } else { nil } }
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }

    /// Returns whether this has at least the contents of a pattern; the string "*" matches anything.
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

    /// Compact JSON, with members sorted by name.
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
