// What the daemon says, as the program reads and words it: a line that is no message is another program's.

import GimbalClient
import GimbalProtocol

extension Message {
    /// A line from a daemon, which other programs may be taken for.
    ///
    /// - Throws: a `Failure` if it is no message.
    init(fromDaemon bytes: ArraySlice<UInt8>) throws(Failure) {
        self.init(bytes)
        if type == nil, line == nil { throw Failure(.unavailable, "\(GimbalConnectionError.unexpected(bytes))") }
    }
}

extension Message {
    /// This `subscribed` as the line that tells of a gap before it.
    func told(as gap: Lagged) -> ArraySlice<UInt8> {
        guard case .object(var members)? = try? JSONValue(bytes) else { return [] }
        members["type"] = .string(MessageType.lagged.rawValue)
        members["missed"] = .number(Double(gap.missed))
        return JSONValue.object(members).bytes[...]
    }
}

// MARK: As people read it

extension Lagged {
    var text: String { "\(counted(missed, "event")) of camera \(camera) missed" }
}
