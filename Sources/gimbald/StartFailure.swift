// A daemon that cannot start says why in one place for each who wants to know: the log, the service manager's status, and
// the clients that wait at its sockets. Without the last, who made the service manager start it would wait for ever, and
// the manager would start it again and again for a client that nobody answers.

import Glibc
import UnixSocket
import GimbalProtocol

extension ServiceManager {
    /// The most clients that can wait at a socket. Who comes after them is told by the next process.
    private static let mostClients = 4096

    /// Tells the manager, and every client that waits at its sockets, why the daemon does not start.
    func report(startFailure reason: String) {
        notify("STATUS=\(reason)")
        var line = LineWriter()
        line.error(WireError(.unavailable, "gimbald cannot start: \(reason)"), line: 0, Span())
        for (socket, _) in sockets {
            for _ in 0..<Self.mostClients {
                let flags = CInt(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
                let client = unsafe accept4(socket, __SOCKADDR_ARG(), nil, flags)
                guard client >= 0 else { break }
                line.withBytes { turnAway(client, with: $0) }
                _ = close(client)
            }
        }
    }
}
