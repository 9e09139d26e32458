// Errors between this process and the daemon. Refusals by the daemon are `GimbalError`s.

/// A connection that could not be made, or did not last.
public enum GimbalConnectionError: Error, Equatable, Sendable {
    /// No daemon can be reached at the socket's path.
    case unreachable(path: String, reason: String)
    /// The daemon ended the connection. Unanswered requests may or may not have been applied; none is sent again.
    case ended
    /// The daemon has not answered within ``Gimbal/timeout``. The connection stays open.
    case noAnswer(within: Duration)
    /// The request is longer than a line may be: 65,536 bytes.
    case requestTooLong
    /// More than 1,024 requests (a frame counts as one) wait for their answers.
    case tooManyRequests
    /// The daemon sent a line of more than 1 MiB.
    case lineTooLong
    /// The daemon sent something that is not a message, or that answers no request; this is the beginning of it.
    case unexpectedAnswer(String)

    /// Returns the error for an unexpected line from the daemon: its first 200 bytes, made printable.
    package static func unexpected(_ line: ArraySlice<UInt8>) -> Self {
        .unexpectedAnswer(PrintableText(bytes: line.prefix(200)).description + (line.count > 200 ? "..." : ""))
    }
}

extension ServerLine {
    /// Reads a line from a daemon, without its LF.
    init(fromDaemon line: ArraySlice<UInt8>) throws(GimbalConnectionError) {
        do {
            try self.init(line: line)
        } catch {
            throw .unexpected(line)
        }
    }
}

extension GimbalConnectionError: CustomStringConvertible {
    /// One line for people.
    public var description: String {
        switch self {
        case .unreachable(_, let reason): "no daemon: \(reason)"
        case .ended: "the daemon ended the connection"
        case .noAnswer(let time): "the daemon did not answer within \(time)"
        case .requestTooLong: "the request is longer than 65,536 bytes"
        case .tooManyRequests: "more than 1,024 requests are waiting for answers"
        case .lineTooLong: "the daemon sent a line of more than 1 MiB"
        case .unexpectedAnswer(let line): "the daemon answered with \(line)"
        }
    }
}
