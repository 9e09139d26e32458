// Reads the members of a request from the tape. Invalid ones throw errors that say what would be right.

extension RequestDecoder: MemberVisitor {
    package mutating func scalar<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value?, _ rule: Rule, _ presence: Presence
    ) throws(GimbalError) {
        value = nil
        guard let node = try member(field, presence, rule.hint) else { return }
        let isRight = !Rule.asksForIntegers || tape[node].kind != .number || isInteger(node)
        guard isRight, let read = rule.read(json(node)), rule.allows(read) else {
            throw .wrong(path / field, rule.wanted)
        }
        value = read
    }

    package mutating func object<Value: Described>(
        _ field: Field, _ value: inout Value?, blank: Value, _ presence: Presence
    ) throws(GimbalError) {
        value = nil
        let wanted = if case .nullable = presence { "must be an object or null" } else { "must be an object" }
        guard let node = try member(field, presence, "it \(wanted)") else { return }
        guard tape[node].kind == .object else { throw .wrong(path / field, wanted) }
        value = try read(blank, from: node, path / field)
    }

    package mutating func list<Value: Described>(
        _ field: Field, _ values: inout [Value]?, _ rule: ListRule, _ presence: Presence
    ) throws(GimbalError) {
        values = nil
        guard let array = try member(field, presence, "it \(rule.wanted)") else { return }
        guard tape[array].kind == .array else { throw .wrong(path / field, rule.wanted) }
        var read: [Value] = []
        var node = array + 1
        while node < Int(tape[array].next) {
            guard tape[node].kind == .object else { throw .wrong(path / field, rule.wanted) }
            if let limit = rule.limit, read.count >= limit.most { throw limit.error }
            do {
                read.append(try self.read(.blank, from: node, rule.isNamedWithin ? path / field : path))
            } catch {
                throw error.of(object: read.count, in: field.name)
            }
            node = Int(tape[node].next)
        }
        values = read
    }

    package mutating func check(_ isRight: Bool, _ error: (FieldPath) -> GimbalError) throws(GimbalError) {
        if !isRight { throw error(path) }
    }

    /// Reads a value from an object at any depth.
    private mutating func read<Value: Described>(
        _ blank: Value, from node: Int, _ path: FieldPath
    ) throws(GimbalError) -> Value {
        let (outer, outerPath) = (object, self.path)
        (object, self.path) = (node, path)
        defer { (object, self.path) = (outer, outerPath) }
        var value = blank
        try value.describe(&self)
        return value
    }

    /// Returns the node of a member; `nil` if it is optional and missing.
    @inline(__always)
    private func member(_ field: Field, _ presence: Presence, _ hint: @autoclosure () -> String) throws(GimbalError)
        -> Int?
    {
        guard let node = child(object, field) else {
            switch presence {
            case .required(let special): throw .missing(path / field, special ?? hint())
            case .nullable: throw .missing(path / field, hint())
            case .optional, .optionalOrNull: return nil
            }
        }
        guard tape[node].kind == .null else { return node }
        switch presence {
        case .required, .optional: return node
        case .nullable, .optionalOrNull: return nil
        }
    }

    /// Returns the node of an object's member.
    @inline(__always)
    func child(_ object: Int, _ field: Field) -> Int? { tape.child(of: object, name: field.rawValue) }

    // MARK: Scalars

    /// Returns a node as a value; an object without its members, which no rule reads.
    @inline(__always)
    private func json(_ node: Int) -> JSONValue {
        switch tape[node].kind {
        case .null: .null
        case .false: .bool(false)
        case .true: .bool(true)
        case .number: .number(tape[node].number)
        case .string: .string(text(node))
        case .array: .array(elements(node))
        case .object: .object(JSONObject())
        }
    }

    /// Returns the strings of an array up to the first value that is none, which no rule accepts.
    private func elements(_ array: Int) -> [JSONValue] {
        var (values, node) = ([JSONValue](), array + 1)
        while node < Int(tape[array].next) {
            guard tape[node].kind == .string else { return values + [.null] }
            values.append(.string(text(node)))
            node = Int(tape[node].next)
        }
        return values
    }

    func text(_ node: Int) -> String { text(tape[node].text, isEscaped: tape[node].isEscaped) }

    private func text(_ slice: ByteRange, isEscaped: Bool) -> String {
        let line = unsafe Span(_unsafeElements: bytes)
        if isEscaped { return JSONText.text(line, slice) }
        return unsafe String(decoding: UnsafeBufferPointer(rebasing: bytes[slice.range]), as: UTF8.self)
    }

    /// Whether a number is written as an integer that a double represents exactly.
    private func isInteger(_ node: Int) -> Bool {
        let (slice, number) = (tape[node].text, tape[node].number)
        guard slice.count <= 17, abs(number) < 0x1p53, number == Double(Int64(number)) else { return false }
        return slice.range.allSatisfy { index in
            let byte = unsafe bytes[index]
            return byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte)
        }
    }

    func id(_ node: Int) throws(GimbalError) -> ByteRange {
        let slice = tape[node].text
        if tape[node].kind == .string, slice.count <= Self.longestID {
            return ByteRange(Int(slice.start) - 1, Int(slice.end) + 1)
        }
        if tape[node].kind == .number, isInteger(node) { return slice }
        throw .wrong(FieldPath(.id), "must be an integer, or a string of at most \(Self.longestID) bytes")
    }

    // MARK: Words and names

    /// Returns the index of a string in a list of words.
    @inline(__always)
    func word(_ node: Int, of words: WordTable) -> Int? {
        guard tape[node].kind == .string else { return nil }
        let line = unsafe Span(_unsafeElements: bytes)
        let slice = tape[node].text
        guard tape[node].isEscaped else {
            return words.quoted(in: line, at: Int(slice.start) - 1)?.index
                ?? words.index(of: line, Int(slice.start), Int(slice.end))
        }
        let plain = JSONText.unescape(line, slice)
        return words.index(of: plain.span, 0, plain.count)
    }

    /// Returns the camera name of a request. Repeating a long name costs no new string.
    mutating func cameraName() throws(GimbalError) -> String? {
        guard let node = child(object, .camera) else { return nil }
        guard tape[node].kind == .string, let name = cameraName(tape[node].text, isEscaped: tape[node].isEscaped)
        else { throw .wrong(FieldPath(.camera), CameraNameRule().wanted) }
        return name
    }

    /// Returns the camera name in a string; `nil` if it is invalid.
    mutating func cameraName(_ slice: ByteRange, isEscaped: Bool) -> String? {
        let isLast =
            slice.count == lastName.utf8.count && slice.count > 0
            && zip(slice.range, lastName.utf8).allSatisfy { unsafe bytes[$0] == $1 }
        if !isLast {
            let name = text(slice, isEscaped: isEscaped)
            guard Request.isCameraName(name.utf8) else { return nil }
            lastName = name
        }
        return lastName
    }

    /// Whether `camera` is `"*"`.
    var namesAllCameras: Bool {
        // With escapes it has up to six bytes.
        guard let node = child(object, .camera), tape[node].kind == .string, tape[node].text.count <= 6 else {
            return false
        }
        return text(node) == Request.allCameras
    }
}
