// Reports in one place why the daemon cannot start: to the log, the service manager's status, and the clients that wait
// at its sockets. Otherwise those clients would wait for ever, and the service manager would start the daemon again and
// again for a client that gets no answer.

import GimbalProtocol
import Glibc

extension ServiceManager {
    /// The most clients that can wait at a socket. The next process answers later ones.
    private static let mostClients = 4096

    /// Reports to the manager, and to every client that waits at its sockets, why the daemon does not start.
    func report(startFailure reason: PrintableText) {
        notify("STATUS=\(reason)")
        for (socket, _) in sockets {
            for _ in 0..<Self.mostClients {
                let flags = CInt(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
                let client = unsafe accept4(socket, __SOCKADDR_ARG(), nil, flags)
                guard client >= 0 else { break }
                turnAway(client, GimbalError(.unavailable, "gimbald cannot start: \(reason)"))
                _ = close(client)
            }
        }
    }
}
