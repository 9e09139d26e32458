// What a peer did wrong, in the contract's own codes. It becomes an `error` line in one place: `LineWriter.error`.

import JSONLines

/// The codes of an `error` line.
package enum ErrorCode: String, Sendable, CaseIterable {
    case invalidJSON = "invalid-json"
    case lineTooLong = "line-too-long"
    case unknownType = "unknown-type"
    case missingField = "missing-field"
    case invalidValue = "invalid-value"
    case unsupportedVersion = "unsupported-version"
    case timeReversed = "time-reversed"
    case unknownCamera = "unknown-camera"
    case busy = "busy"
    case denied = "denied"
    case limitReached = "limit-reached"
    case noReplay = "no-replay"
    case timeout = "timeout"
    case removed = "removed"
    case unavailable = "unavailable"
}

/// A peer's error: what was wrong, where, and what would be right.
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

    static func wrong(_ path: FieldPath, _ message: String) -> WireError {
        WireError(.invalidValue, field: path.description, "\(path) \(message)")
    }

    static func missing(_ path: FieldPath, _ message: String) -> WireError {
        WireError(.missingField, field: path.description, "\(path) is missing: \(message)")
    }
}

extension WireError {
    /// The protocol's error for a line that the JSON reader does not take.
    init(_ error: JSONError) {
        let code: ErrorCode =
            switch error.kind {
            case .malformed: .invalidJSON
            case .limitReached: .limitReached
            }
        self.init(code, error.message)
    }
}
