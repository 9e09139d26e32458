// The sockets on which the daemon listens: its own, those that the service manager passed, or those that the process
// before left.

import Glibc
import Libevent
import Service
import UnixSocket

struct ListeningSockets {
    /// One of the daemon's own sockets.
    struct Own: Codable {
        let socket: ListeningSocket
        let socketKind: SocketKind
    }

    /// One of the service manager's sockets.
    struct Passed: Codable {
        let descriptor: CInt
        let socketKind: SocketKind
    }

    private let loop: EventLoop
    private let log: Log
    private(set) var own: [Own] = []
    private(set) var passed: [Passed] = []
    private var listeners: [Listener] = []

    init(_ loop: EventLoop, _ log: Log) { (self.loop, self.log) = (loop, log) }

    /// Takes the sockets of the process before, if it has left any; otherwise those of each kind, by the options and
    /// the service manager.
    mutating func choose(_ handover: Handover?, _ options: Options, _ manager: ServiceManager) throws {
        if let handover, !handover.own.isEmpty || !handover.passed.isEmpty {
            (own, passed) = (handover.own, handover.passed)
        } else {
            for kind in SocketKind.allCases { try choose(kind, options.file(of: kind), manager) }
        }
    }

    /// Takes the socket that an option names, else those that the service manager passed, else the standard path's.
    private mutating func choose(_ kind: SocketKind, _ file: Options.SocketFile, _ manager: ServiceManager) throws {
        let what = kind.purpose
        let offered = manager.sockets.filter { $0.socketKind == kind }
        if file.path == nil, !offered.isEmpty {
            for (descriptor, _) in offered where !ListeningSocket.isListening(descriptor) {
                throw SystemError(
                    "descriptor \(descriptor) from the service manager: ListenStream= must name a path", code: ENOTSOCK)
            }
            passed += offered.map { Passed(descriptor: $0.descriptor, socketKind: $0.socketKind) }
            if !file.setBy.isEmpty {
                let names = file.setBy.sorted().joined(separator: ", ")
                log(.warning, "ignored: \(names). A socket from the service manager has SocketMode= and SocketGroup=")
            }
            return log(.info, "listening \(what)on \(counted(offered.count, "socket")) from the service manager")
        }
        for (descriptor, _) in offered { _ = close(descriptor) }
        if !offered.isEmpty {
            log(.warning, "sockets \(what)from the service manager are closed: an option names another")
        }
        guard let path = file.path ?? kind.standardPath else { return }
        let socket = try ListeningSocket(path: path, mode: file.mode, group: file.group)
        own.append(Own(socket: socket, socketKind: kind))
        log(.info, "listening \(what)on \(path)")
    }

    /// Starts to accept connections, each of which is passed to `accept`.
    mutating func listen(_ accept: @escaping (CInt, SocketKind) -> Void) throws {
        let all = passed.map { ($0.descriptor, $0.socketKind) } + own.map { ($0.socket.descriptor, $0.socketKind) }
        for (descriptor, socketKind) in all {
            let listener = try Listener(loop, descriptor) {
                accept($0, socketKind)
            } trouble: { [log] error in
                log(.error, "cannot accept a connection: \(error); trying again in a second")
            }
            listeners.append(listener)
        }
    }

    /// Stops accepting connections.
    mutating func stopListening() {
        for listener in listeners { listener.close() }
        listeners = []
    }

    /// Removes the files of the daemon's own sockets.
    func remove() { for own in own { own.socket.remove() } }
}
