// What a log may tell of clients. Nothing of it is on the path of a line that is right and about a camera that exists, and
// nothing is made of it without an observer.

import GimbalProtocol

extension Hub {
    /// Something that a client did.
    package enum Note {
        /// A line was answered with an error.
        ///
        /// The camera is that of the line, or the last one that the client named where the line could not be read; `nil`
        /// if there is none of that name.
        case refused(WireError, line: UInt64, camera: String?)
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
