// Messages from the daemon in. Members that are not known are passed over, so that a newer daemon breaks no older client,
// and numbers may be outside of the ranges that are asked of clients, but for those that a camera is to be fed.

import JSONLines

/// Reads the members of an object that a daemon has written.
struct AnswerReader: MemberVisitor {
    private let json: JSONObject
    /// Whether values must be such as a client may send.
    private let isStrict: Bool

    /// - Throws: `DecodingError` for what is no object.
    init(_ json: JSONValue, isStrict: Bool = false) throws(DecodingError) {
        guard case .object(let object) = json else { throw .wrong("an object was expected") }
        (self.json, self.isStrict) = (object, isStrict)
    }

    /// Reads a value from an object.
    static func read<Value: Described>(
        _ json: JSONValue, _ blank: Value = .blank, isStrict: Bool = false
    ) throws(DecodingError) -> Value {
        var (reader, value) = (try Self(json, isStrict: isStrict || Value.isInput), blank)
        try value.describe(&reader)
        // A request may have values that a camera takes otherwise: a bearing of 400°.
        guard isStrict || value.isPossible else { throw .wrong("no camera can be so") }
        return value
    }

    func scalar<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value?, _ rule: Rule, _ presence: Presence
    ) throws(DecodingError) {
        value = nil
        guard let json = try member(field, presence) else { return }
        value = rule.read(JSONScalar(json))
        if value.map({ isStrict && !rule.allows($0) }) ?? true { throw .wrong("\(field.name) \(rule.wanted)") }
    }

    func object<Value: Described>(
        _ field: Field, _ value: inout Value?, blank: Value, _ presence: Presence
    ) throws(DecodingError) {
        value = nil
        guard let json = try member(field, presence) else { return }
        value = try within(field) { () throws(DecodingError) in try Self.read(json, blank, isStrict: isStrict) }
    }

    func list<Value: Described>(
        _ field: Field, _ values: inout [Value]?, _ rule: ListRule, _ presence: Presence
    ) throws(DecodingError) {
        values = nil
        guard let json = try member(field, presence) else { return }
        guard case .array(let elements) = json, !isStrict || elements.count <= rule.limit?.most ?? .max else {
            throw .wrong("\(field.name) \(rule.wanted)")
        }
        values = try within(field) { () throws(DecodingError) in
            var read: [Value] = []
            for element in elements { read.append(try Self.read(element, isStrict: isStrict)) }
            return read
        }
    }

    func check(_ isRight: Bool, _ error: (FieldPath) -> WireError) throws(DecodingError) {
        if !isRight { throw .wrong(error(FieldPath()).message) }
    }

    /// A member; `nil` where it is `null`, or is left out and may be.
    private func member(_ field: Field, _ presence: Presence) throws(DecodingError) -> JSONValue? {
        if let member = json[field.name], member != .null { return member }
        switch presence {
        case .required: throw .wrong("\(field.name) is missing")
        case .optional, .optionalOrNull, .nullable: return nil
        }
    }

    private func within<Value>(_ field: Field, _ read: () throws(DecodingError) -> Value) throws(DecodingError) -> Value
    {
        do throws(DecodingError) {
            return try read()
        } catch {
            guard case .dataCorrupted(let context) = error else { throw error }
            throw .wrong("\(field.name): \(context.debugDescription)")
        }
    }
}

extension Described {
    /// Reads what a daemon has written of it.
    package init(_ json: JSONValue) throws(DecodingError) { self = try AnswerReader.read(json) }
}

extension JSONScalar {
    fileprivate init(_ json: JSONValue) {
        self =
            switch json {
            case .null: .null
            case .bool(let flag): .bool(flag)
            case .number(let number): .number(number, isInteger: number == number.rounded())
            case .string(let text): .string(text)
            case .array(let values):
                values.allSatisfy { $0.string != nil } ? .strings(values.compactMap(\.string)) : .other
            case .object: .other
            }
    }
}

extension DecodingError {
    /// The error for a message that is not what it should be.
    static func wrong(_ what: String) -> DecodingError {
        .dataCorrupted(Context(codingPath: [], debugDescription: what))
    }
}
