// `error` (client.* → server.error): what was wrong with a request, in the protocol's own codes. `GimbalError`
// describes its members.

/// The kind of an error. A code unknown to this version keeps its name.
public struct ErrorCode: RawRepresentable, Hashable, Sendable {
    /// The code in the protocol.
    public let rawValue: String

    /// Creates a code from its name in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The line is not strict JSON.
    public static let invalidJSON = ErrorCode(rawValue: "invalid-json")
    /// The line is longer than the daemon accepts: by default, 65,536 bytes.
    public static let lineTooLong = ErrorCode(rawValue: "line-too-long")
    /// The daemon does not know this type of request.
    public static let unknownType = ErrorCode(rawValue: "unknown-type")
    /// A required field is missing.
    public static let missingField = ErrorCode(rawValue: "missing-field")
    /// A value is outside its range or of the wrong type, or the question has no answer.
    public static let invalidValue = ErrorCode(rawValue: "invalid-value")
    /// The daemon speaks a different version of the protocol.
    public static let unsupportedVersion = ErrorCode(rawValue: "unsupported-version")
    /// Time went backwards in a replay.
    public static let timeReversed = ErrorCode(rawValue: "time-reversed")
    /// There is no such camera, and the request said not to create one.
    public static let unknownCamera = ErrorCode(rawValue: "unknown-camera")
    /// A replay is running on this camera.
    public static let busy = ErrorCode(rawValue: "busy")
    /// The daemon does not accept this request from this connection.
    public static let denied = ErrorCode(rawValue: "denied")
    /// A limit was reached; the message names it.
    public static let limitReached = ErrorCode(rawValue: "limit-reached")
    /// No replay is running on this camera.
    public static let noReplay = ErrorCode(rawValue: "no-replay")
    /// Another client has leased the camera; the message names it and the time left.
    public static let leased = ErrorCode(rawValue: "leased")
    /// The camera has no lease of that number, or this connection is not part of it.
    public static let noLease = ErrorCode(rawValue: "no-lease")
    /// The wait timed out.
    public static let timeout = ErrorCode(rawValue: "timeout")
    /// The camera was removed while the request waited for its rest or its lease.
    public static let removed = ErrorCode(rawValue: "removed")
    /// The daemon could not start; the message says why.
    public static let unavailable = ErrorCode(rawValue: "unavailable")

    /// All codes of this version. Tests compare them with the table in the protocol and with the schema.
    package static let known: [ErrorCode] = [
        .invalidJSON, .lineTooLong, .unknownType, .missingField, .invalidValue, .unsupportedVersion, .timeReversed,
        .unknownCamera, .busy, .denied, .limitReached, .noReplay, .leased, .noLease, .timeout, .removed, .unavailable,
    ]
}

/// A request that the daemon refused, which left the camera unchanged.
public struct GimbalError: Error, Equatable, Sendable {
    /// The kind of an error.
    public typealias Code = ErrorCode

    /// The number of the line on the connection, from 1; 0 for an error of the connection itself.
    public package(set) var line: Int
    /// The kind of the error.
    public package(set) var code: Code
    /// The dotted path of the field at fault, if any, such as `update.zoom`.
    public package(set) var field: String?
    /// What was wrong and what would be right, for people; the wording may change.
    public package(set) var message: String

    /// Whether the daemon refuses the connection, which it then closes, instead of a line.
    public var isOfConnection: Bool { line == 0 }
}

extension GimbalError: CustomStringConvertible {
    /// The message, with the field unless the message mentions it.
    public var description: String {
        let words = message.split { " ,:;()\"".contains($0) }
        guard let field, !words.contains(where: { $0 == field }) else { return message }
        return "\(message) (\(field))"
    }
}

extension GimbalError {
    /// Stands for a missing line number.
    private static let noLine = -1

    /// An error without the number of its line, which is added when the error is sent.
    package init(_ code: Code, field: String? = nil, _ message: String) {
        self.init(line: Self.noLine, code: code, field: field, message: message)
    }

    /// Converts an error of the JSON reader to the protocol's error.
    package init(_ error: JSONError) {
        let code: Code =
            switch error.kind {
            case .malformed: .invalidJSON
            case .limitReached: .limitReached
            }
        self.init(code, error.message)
    }

    /// The error for a valid request in an array with an invalid one.
    package var ofOtherRequest: GimbalError { GimbalError(code, "the array was rejected as a whole: \(message)") }

    /// The error with a message that begins with the object of an array that is at fault.
    func of(object index: Int, in array: String) -> GimbalError {
        GimbalError(code, field: field, "object \(index + 1) of \(array): \(message)")
    }

    static func wrong(_ path: FieldPath, _ message: String) -> GimbalError {
        GimbalError(.invalidValue, field: path.description, "\(path) \(message)")
    }

    static func missing(_ path: FieldPath, _ message: String) -> GimbalError {
        GimbalError(.missingField, field: path.description, "\(path) is missing: \(message)")
    }

    /// Returns the error with the number of its line; `nil` if lines are not numbered.
    package func at(line: UInt64?) -> GimbalError {
        var error = self
        error.line = line.map { Int(clamping: $0) } ?? Self.noLine
        return error
    }
}

extension GimbalError: Described {
    package static let blank = GimbalError(.unavailable, "")

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        var word = code.rawValue
        var told = line == Self.noLine ? nil : line
        try visitor.scalar(.line, &told, .count, .required(nil))
        line = told ?? Self.noLine
        try visitor.member(.code, &word, .text())
        try visitor.member(.field, &field, .text())
        try visitor.member(.message, &message, .text())
        code = ErrorCode(rawValue: word)
    }
}
