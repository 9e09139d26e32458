// What the daemon says, as the program reads and words it: a line that is no message is another program's.

import GimbalClient
import GimbalProtocol

extension ReceivedLine {
    /// A line from a daemon, which other programs may be taken for.
    ///
    /// - Throws: a `Failure` if it is no message.
    convenience init(fromDaemon bytes: ArraySlice<UInt8>) throws(Failure) {
        self.init(bytes)
        if type == nil, line == nil { throw Failure(.unavailable, "\(GimbalConnectionError.unexpected(bytes))") }
    }
}

// MARK: As people read it

extension Lagged {
    var text: PrintableText { "\(counted(missed, "event")) of camera \(camera) missed" }
}
