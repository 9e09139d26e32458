// `error` (client.* → server.error): what a peer did wrong, in the protocol's own codes. It is written in one place,
// `LineWriter.error`, and read in one, `GimbalError`.

import JSONLines

/// What kind of error it is. A code that this version does not know is kept by its name.
public struct ErrorCode: RawRepresentable, Hashable, Sendable {
    /// The code as the protocol writes it.
    public let rawValue: String

    /// A code as the protocol writes it.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The line is not strict JSON.
    public static let invalidJSON = ErrorCode(rawValue: "invalid-json")
    /// The line is longer than the daemon takes: 65,536 bytes, unless its options say otherwise.
    public static let lineTooLong = ErrorCode(rawValue: "line-too-long")
    /// The daemon does not know this type of request.
    public static let unknownType = ErrorCode(rawValue: "unknown-type")
    /// A required field is not there.
    public static let missingField = ErrorCode(rawValue: "missing-field")
    /// A value is outside its range or of a wrong type, or the question has no answer.
    public static let invalidValue = ErrorCode(rawValue: "invalid-value")
    /// The daemon speaks another version of the protocol.
    public static let unsupportedVersion = ErrorCode(rawValue: "unsupported-version")
    /// In a replay, time went back.
    public static let timeReversed = ErrorCode(rawValue: "time-reversed")
    /// There is no such camera, and the request said that it is to make none.
    public static let unknownCamera = ErrorCode(rawValue: "unknown-camera")
    /// A replay runs on this camera.
    public static let busy = ErrorCode(rawValue: "busy")
    /// The daemon does not accept this request from this connection.
    public static let denied = ErrorCode(rawValue: "denied")
    /// A limit was reached; the message names it.
    public static let limitReached = ErrorCode(rawValue: "limit-reached")
    /// No replay runs on this camera.
    public static let noReplay = ErrorCode(rawValue: "no-replay")
    /// Another client has leased the camera; the message names it, and the time left.
    public static let leased = ErrorCode(rawValue: "leased")
    /// The camera has no lease of that number, or this connection has no part in it.
    public static let noLease = ErrorCode(rawValue: "no-lease")
    /// What was waited for did not come in time.
    public static let timeout = ErrorCode(rawValue: "timeout")
    /// The camera that was waited for was removed.
    public static let removed = ErrorCode(rawValue: "removed")
    /// The daemon could not start; the message says why.
    public static let unavailable = ErrorCode(rawValue: "unavailable")

    /// Every code of this version. Tests hold it against the table of the protocol and against the schema.
    package static let known: [ErrorCode] = [
        .invalidJSON, .lineTooLong, .unknownType, .missingField, .invalidValue, .unsupportedVersion, .timeReversed,
        .unknownCamera, .busy, .denied, .limitReached, .noReplay, .leased, .noLease, .timeout, .removed, .unavailable,
    ]
}

/// What was wrong with a request, where, and what would be right. On its way to the peer it gets the number of the line.
package struct WireError: Error, Equatable, Sendable {
    package var code: ErrorCode
    /// The field as a dotted path, where one is to blame.
    package var field: String?
    package var message: String

    package init(_ code: ErrorCode, field: String? = nil, _ message: String) {
        self.code = code
        self.field = field
        self.message = message
    }

    /// The error for a request that was right, in an array with one that was not.
    package var ofOtherRequest: WireError { WireError(code, "the array was rejected as a whole: \(message)") }

    static func wrong(_ path: FieldPath, _ message: String) -> WireError {
        WireError(.invalidValue, field: path.description, "\(path) \(message)")
    }

    static func missing(_ path: FieldPath, _ message: String) -> WireError {
        WireError(.missingField, field: path.description, "\(path) is missing: \(message)")
    }

    /// The protocol's error for a line that the JSON reader does not take.
    package init(_ error: JSONError) {
        let code: ErrorCode =
            switch error.kind {
            case .malformed: .invalidJSON
            case .limitReached: .limitReached
            }
        self.init(code, error.message)
    }

    /// The daemon's error without the number of the line, for passing it on.
    package init(_ error: GimbalError) { self.init(error.code, field: error.field, error.message) }
}

/// A request that the daemon refused. The camera is exactly what it was.
public struct GimbalError: Error, Equatable, Sendable {
    /// What kind of error it is.
    public typealias Code = ErrorCode

    /// Counts the lines of the connection from 1; 0 is the connection itself.
    public package(set) var line: Int
    /// What kind of error it is.
    public package(set) var code: Code
    /// The field that is wrong as a dotted path, such as `update.zoom`, where one is to blame.
    public package(set) var field: String?
    /// What was wrong and what would be right, for people; it may change.
    public package(set) var message: String

    /// Whether the daemon refuses the connection, which it then ends, and not a line.
    public var isOfConnection: Bool { line == 0 }
}

extension GimbalError: CustomStringConvertible {
    /// The message, and the field where there is one that the message does not begin with.
    public var description: String {
        guard let field, !message.hasPrefix(field) else { return message }
        return "\(message) (\(field))"
    }
}

extension GimbalError: Described {
    package static let blank = GimbalError(WireError(.unavailable, ""), line: nil)

    /// Where lines have no numbers.
    private static let noLine = -1

    /// - Parameter line: the number of the line; `nil` where lines have none.
    package init(_ error: WireError, line: UInt64?) {
        self.line = line.map { Int(clamping: $0) } ?? Self.noLine
        (code, field, message) = (error.code, error.field, error.message)
    }

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
