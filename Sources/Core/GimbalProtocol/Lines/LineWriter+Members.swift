// Writes messages: the members of a value, separated by commas.

extension LineWriter: MemberVisitor {
    package mutating func scalar<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value?, _ rule: Rule, _ presence: Presence
    ) {
        guard let value else { return missing(field, presence) }
        member(field)
        rule.write(value, to: &self)
    }

    package mutating func object<Value: Described>(
        _ field: Field, _ value: inout Value?, blank: Value, _ presence: Presence
    ) {
        guard let value else { return missing(field, presence) }
        member(field)
        write(value)
    }

    package mutating func list<Value: Described>(
        _ field: Field, _ values: inout [Value]?, _ rule: ListRule, _ presence: Presence
    ) {
        guard let values else { return missing(field, presence) }
        member(field)
        write("[")
        for value in values {
            separate()
            write(value)
        }
        write("]")
    }

    package mutating func check(_ isRight: Bool, _ error: (FieldPath) -> GimbalError) {}

    private mutating func missing(_ field: Field, _ presence: Presence) {
        guard case .nullable = presence else { return }
        member(field)
        write("null")
    }

    /// Begins a member with its name.
    mutating func member(_ field: Field) {
        separate()
        write(field.opening.span)
    }

    /// Writes a value as an object.
    package mutating func write<Value: Described>(_ value: Value) {
        let wasRounded = isRounded
        if Value.isInput { isRounded = false }
        defer { isRounded = wasRounded }
        if isRounded, value.writeRounded(to: &self) { return }
        write("{")
        members(of: value)
        write("}")
    }

    /// Writes the members of a value without braces.
    package mutating func members(of value: some Described) {
        var value = value
        value.describe(&self)
    }
}
