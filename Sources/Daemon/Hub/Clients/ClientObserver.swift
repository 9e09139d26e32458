// What a log may report about clients. A valid line about an existing camera reports nothing, and without an observer
// no note is made.

import GimbalProtocol

extension Hub {
    /// Something that a client did.
    package enum Note {
        /// A line was answered with an error.
        ///
        /// The camera is that of the line, or the last one that the client named if the line could not be read; `nil`
        /// if no camera has that name.
        case refused(GimbalError, line: UInt64, camera: String?)
        case made(camera: String)
        case removed(camera: String)
    }
}

/// Calls the observer of what clients do, if there is one.
final class ClientObserver {
    var receive: ((Hub.Note, any Outlet) -> Void)?

    func report(_ note: @autoclosure () -> Hub.Note, of peer: Peer) {
        if let receive { receive(note(), peer.outlet) }
    }
}
