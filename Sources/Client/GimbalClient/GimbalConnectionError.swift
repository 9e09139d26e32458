// Errors between this process and the daemon. Refusals by the daemon are `GimbalError`s.

import GimbalProtocol

/// A connection that could not be made, or did not last.
public enum GimbalConnectionError: Error, Equatable, Sendable {
    /// No daemon can be reached at the socket's path.
    case unreachable(path: String, reason: String)
    /// The daemon ended the connection. What it has not answered it may have done or not; nothing is sent again.
    case ended
    /// The daemon has not answered in the time that ``Gimbal/timeout`` gives it. The connection goes on.
    case noAnswer(within: Duration)
    /// The request is longer than a line may be: 65,536 bytes.
    case requestTooLong
    /// More than 1,024 requests wait for their answers.
    case tooManyRequests
    /// The daemon sent a line of more than 1 MiB.
    case lineTooLong
    /// The daemon sent something that is no message, or answers no request: the beginning of it.
    case unexpectedAnswer(String)

    /// The error for a line of the daemon's that is not to be: its first 200 bytes, fit to be shown.
    package static func unexpected(_ line: ArraySlice<UInt8>) -> Self {
        .unexpectedAnswer(PrintableText(bytes: line.prefix(200)).description + (line.count > 200 ? "..." : ""))
    }
}

extension ServerLine {
    /// Reads a line that has come from a daemon, without its LF.
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
        case .noAnswer(let time): "the daemon has not answered within \(time)"
        case .requestTooLong: "the request is longer than 65,536 bytes"
        case .tooManyRequests: "more than 1,024 requests wait for their answers"
        case .lineTooLong: "the daemon sent a line of more than 1 MiB"
        case .unexpectedAnswer(let line): "the daemon answered with \(line)"
        }
    }
}
