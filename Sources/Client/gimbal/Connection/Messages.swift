// The daemon's messages, as the program reads and words them. A line that is no message is another program's.

import GimbalClient
import GimbalProtocol

extension ReceivedLine {
    /// Reads a line of the daemon, for which another program may have been taken.
    ///
    /// - Throws: a `Failure` if it is no message.
    convenience init(fromDaemon bytes: ArraySlice<UInt8>) throws(Failure) {
        self.init(bytes)
        if type == nil, line == nil { throw Failure(.unavailable, "\(GimbalConnectionError.unexpected(bytes))") }
    }
}

// MARK: Text for people

extension Lagged {
    var text: PrintableText { "missed \(counted(missed, "event")) of camera \(camera)" }
}
