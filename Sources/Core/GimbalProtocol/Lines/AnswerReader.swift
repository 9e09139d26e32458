// Reads messages from the daemon. Unknown members are skipped, so a newer daemon does not break an older client.
// Numbers may be outside the ranges required of clients, except in messages that feed a camera.

/// Reads the members of an object from a daemon.
struct AnswerReader: MemberVisitor {
    private let json: JSONObject
    /// Whether values must be valid in a client's request, too.
    private let isStrict: Bool

    /// - Throws: `DecodingError` if the value is not an object.
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
        // Requests may have values that a camera adjusts, such as a bearing of 400°.
        guard isStrict || value.isPossible else { throw .wrong("no camera can have these values") }
        return value
    }

    func scalar<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value?, _ rule: Rule, _ presence: Presence
    ) throws(DecodingError) {
        value = nil
        guard let json = try member(field, presence) else { return }
        let isFraction = json.number.map { $0 != $0.rounded() } ?? false
        guard !(isFraction && Rule.asksForIntegers), let read = rule.read(json), !isStrict || rule.allows(read) else {
            throw .wrong("\(field.name) \(rule.wanted)")
        }
        value = read
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
            try elements.map { element throws(DecodingError) -> Value in try Self.read(element, isStrict: isStrict) }
        }
    }

    func check(_ isRight: Bool, _ error: (FieldPath) -> GimbalError) throws(DecodingError) {
        if !isRight { throw .wrong(error(FieldPath()).message) }
    }

    /// Returns a member; `nil` if it is `null`, or optional and missing.
    private func member(_ field: Field, _ presence: Presence) throws(DecodingError) -> JSONValue? {
        if let member = json[field.name], member != .null { return member }
        if case .required = presence { throw .wrong("\(field.name) is missing") }
        return nil
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
    /// Reads a value from a daemon's JSON.
    package init(_ json: JSONValue) throws(DecodingError) { self = try AnswerReader.read(json) }
}

extension DecodingError {
    /// Returns the error for an invalid message.
    static func wrong(_ what: String) -> DecodingError {
        .dataCorrupted(Context(codingPath: [], debugDescription: what))
    }
}
