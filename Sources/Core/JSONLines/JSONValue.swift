// JSON as a value, for code where speed does not matter: answers in a client, changing one member of a header, the
// output of a command. Invariants: parsing is as strict as the tape's, members keep their order, and the nesting depth
// is limited.

/// A JSON value.
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

/// An object whose members keep the order in which they are written.
package struct JSONObject: Equatable, Sendable, ExpressibleByDictionaryLiteral {
    package struct Member: Sendable {
        package let name: String
        package var value: JSONValue
        /// The range of the value in the parsed text; empty if it was not parsed.
        package fileprivate(set) var text: Range<Int>
    }

    package private(set) var members: [Member] = []

    package init() {}

    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

    package init(_ elements: some Sequence<(String, JSONValue)>) {
        for (name, value) in elements { self[name] = value }
    }

    fileprivate init(read members: [Member]) { self.members = members }

    /// The value of a member. A new member is appended; `nil` removes a member.
    package subscript(name: String) -> JSONValue? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): (members[index].value, members[index].text) = (value, 0..<0)
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name: name, value: value, text: 0..<0))
            case (nil, nil): break
            }
        }
    }

    /// Returns the range of a member's value in the parsed text.
    package func text(of name: String) -> Range<Int>? { members.first { $0.name == name }?.text }

    package static func == (a: JSONObject, b: JSONObject) -> Bool {
        a.members.count == b.members.count
            && zip(a.members, b.members).allSatisfy { $0.name == $1.name && $0.value == $1.value }
    }
}

extension JSONValue {
    package var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    package var number: Double? { if case .number(let number) = self { number } else { nil } }
    package var string: String? { if case .string(let string) = self { string } else { nil } }
    package var array: [JSONValue]? { if case .array(let array) = self { array } else { nil } }
    package var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

    /// The value of an object's member.
    package subscript(name: String) -> JSONValue? { object?[name] }

    // MARK: Reading

    /// Parses a text that is a single value.
    package init(_ text: some Collection<UInt8>) throws(JSONError) {
        let bytes = Array(text)
        try self.init(reading: bytes.span)
    }

    package init(reading text: Span<UInt8>) throws(JSONError) {
        var position = JSONText.skipSpace(text, 0)
        self = try Self.value(text, &position, depth: 0)
        position = JSONText.skipSpace(text, position)
        guard position == text.count else { throw JSONText.broken("nothing may follow the value", at: position) }
    }

    /// The maximum nesting depth: twice what a client's line may have.
    private static let deepest = 2 * JSONTape.deepest

    private static func value(_ text: Span<UInt8>, _ position: inout Int, depth: Int) throws(JSONError) -> JSONValue {
        guard position < text.count else { throw JSONText.broken("a value is missing", at: position) }
        let isNested = text[position] == UInt8(ascii: "{") || text[position] == UInt8(ascii: "[")
        guard depth < deepest || !isNested else {
            throw JSONError(.limitReached, "values may be nested at most \(deepest) levels deep")
        }
        switch text[position] {
        case UInt8(ascii: "{"): return .object(try object(text, &position, depth))
        case UInt8(ascii: "["): return .array(try array(text, &position, depth))
        case UInt8(ascii: "\""): return .string(try string(text, &position))
        case UInt8(ascii: "t"):
            position = try JSONText.literal(text, position, "true")
            return .bool(true)
        case UInt8(ascii: "f"):
            position = try JSONText.literal(text, position, "false")
            return .bool(false)
        case UInt8(ascii: "n"):
            position = try JSONText.literal(text, position, "null")
            return .null
        default:
            let (number, end) = try JSONText.number(text, position)
            guard number.isFinite else { throw JSONText.broken("the number is too large", at: position) }
            position = end
            return .number(number)
        }
    }

    private static func object(
        _ text: Span<UInt8>, _ position: inout Int, _ depth: Int
    ) throws(JSONError) -> JSONObject {
        var members: [JSONObject.Member] = []
        var names: Set<String> = []
        try list(text, &position, closedBy: UInt8(ascii: "}")) { text, position throws(JSONError) in
            let start = position
            guard text[position] == UInt8(ascii: "\"") else {
                throw JSONText.broken("a member's name in double quotes was expected", at: position)
            }
            let name = try string(text, &position)
            guard names.insert(name).inserted else {
                throw JSONText.broken("the name \"\(name)\" appears twice in one object", at: start)
            }
            position = JSONText.skipSpace(text, position)
            guard position < text.count, text[position] == UInt8(ascii: ":") else {
                throw JSONText.broken("':' was expected after a member's name", at: position)
            }
            position = JSONText.skipSpace(text, position + 1)
            let begin = position
            let value = try value(text, &position, depth: depth + 1)
            members.append(JSONObject.Member(name: name, value: value, text: begin..<position))
        }
        return JSONObject(read: members)
    }

    private static func array(
        _ text: Span<UInt8>, _ position: inout Int, _ depth: Int
    ) throws(JSONError) -> [JSONValue] {
        var values: [JSONValue] = []
        try list(text, &position, closedBy: UInt8(ascii: "]")) { text, position throws(JSONError) in
            values.append(try value(text, &position, depth: depth + 1))
        }
        return values
    }

    /// Reads a comma-separated list between brackets.
    private static func list(
        _ text: Span<UInt8>, _ position: inout Int, closedBy bracket: UInt8,
        _ item: (Span<UInt8>, inout Int) throws(JSONError) -> Void
    ) throws(JSONError) {
        position = JSONText.skipSpace(text, position + 1)
        if position < text.count, text[position] == bracket {
            position += 1
            return
        }
        while true {
            guard position < text.count else { throw JSONText.broken("a value is missing", at: position) }
            try item(text, &position)
            position = JSONText.skipSpace(text, position)
            guard position < text.count, text[position] == UInt8(ascii: ",") || text[position] == bracket else {
                throw JSONText.broken("',' or '\(Character(Unicode.Scalar(bracket)))' was expected", at: position)
            }
            position += 1
            if text[position - 1] == bracket { return }
            position = JSONText.skipSpace(text, position)
        }
    }

    private static func string(_ text: Span<UInt8>, _ position: inout Int) throws(JSONError) -> String {
        let (range, isEscaped, end) = try JSONText.string(text, position)
        position = end
        if isEscaped { return JSONText.text(text, range) }
        let plain = text.extracting(range.range)
        return unsafe plain.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

extension LineWriter {
    /// Writes a value; numbers with only as many digits as it takes to read them back exactly.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: write("null")
        case .bool(let bool): write(bool)
        case .number(let number): write(exact: number)
        case .string(let string): write(string: string)
        case .array(let values):
            write("[")
            for (index, value) in values.enumerated() {
                if index > 0 { write(",") }
                write(value)
            }
            write("]")
        case .object(let object):
            write("{")
            for (index, member) in object.members.enumerated() {
                if index > 0 { write(",") }
                write(string: member.name)
                write(":")
                write(member.value)
            }
            write("}")
        }
    }

    /// The written bytes as an array.
    package var bytes: [UInt8] { withBytes { span in unsafe span.withUnsafeBufferPointer { unsafe Array($0) } } }
}

extension JSONValue {
    /// The value as text, without a line feed.
    package var bytes: [UInt8] {
        var line = LineWriter()
        line.write(self)
        return line.bytes
    }
}
