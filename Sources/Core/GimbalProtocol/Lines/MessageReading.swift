// How a message from the daemon becomes a value: each type in it knows how to read itself, and looks up members by
// name. It ignores unknown members, so that a newer daemon breaks no older client.

import JSONLines

/// What is read of a message.
protocol MessageReadable {
    /// - Throws: `DecodingError` for what it is not.
    init(_ json: JSONValue) throws(DecodingError)
}

extension DecodingError {
    /// The error for a message that is not what it should be.
    static func wrong(_ what: String) -> DecodingError {
        .dataCorrupted(Context(codingPath: [], debugDescription: what))
    }
}

extension JSONValue {
    func members() throws(DecodingError) -> JSONObject {
        guard case .object(let object) = self else { throw .wrong("an object was expected") }
        return object
    }
}

extension JSONObject {
    func get<Value: MessageReadable>(_ name: String) throws(DecodingError) -> Value {
        guard let json = self[name] else { throw .wrong("\(name) is missing") }
        return try read(name, json)
    }

    /// A member that may be left out, or be `null`.
    func get<Value: MessageReadable>(ifPresent name: String) throws(DecodingError) -> Value? {
        guard let json = self[name], json != .null else { return nil }
        return try read(name, json) as Value
    }

    private func read<Value: MessageReadable>(_ name: String, _ json: JSONValue) throws(DecodingError) -> Value {
        do throws(DecodingError) {
            return try Value(json)
        } catch {
            guard case .dataCorrupted(let context) = error else { throw error }
            throw .wrong("\(name): \(context.debugDescription)")
        }
    }
}

extension String: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        guard case .string(let string) = json else { throw .wrong("a string was expected") }
        self = string
    }
}

extension Double: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        guard case .number(let number) = json else { throw .wrong("a number was expected") }
        self = number
    }
}

extension Int: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        guard case .number(let number) = json, number == number.rounded() else {
            throw .wrong("an integer was expected")
        }
        // Beyond 2^53 nothing counts one by one, so the largest integer is as good as any.
        self = Int(exactly: number) ?? (number < 0 ? .min : .max)
    }
}

extension Bool: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        guard case .bool(let bool) = json else { throw .wrong("true or false was expected") }
        self = bool
    }
}

extension Array: MessageReadable where Element: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        guard case .array(let values) = json else { throw .wrong("an array was expected") }
        self = []
        for value in values { append(try Element(value)) }
    }
}

/// A word of the protocol: an enum by its raw value.
extension MessageReadable where Self: RawRepresentable<String> {
    init(_ json: JSONValue) throws(DecodingError) {
        let word = try String(json)
        guard let value = Self(rawValue: word) else { throw .wrong("\"\(word)\" is not known") }
        self = value
    }
}
