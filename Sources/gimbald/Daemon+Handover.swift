// A restart that nobody notices: the process leaves its cameras and its connections to the one after it. It waits a little
// for what moves to come to rest, and serves everybody meanwhile; then it stops between two turns.

import Glibc
import Hub
import UnixSocket

/// How the daemon makes room for the process after it.
enum Departure {
    /// This process begins anew.
    case beginAnew
    /// It ends, and the service manager keeps what it leaves as long as another is to come.
    case leaveToManager
}

extension Daemon {
    // MARK: Leaving

    func askedToBeginAnew() {
        guard endsBy == nil else { return }
        log(.info, "restarting in place")
        manager.notifyReloading(at: now())
        endsBy = now() + Self.graceMs
        departure = .beginAnew
    }

    /// Whether the cameras are at rest, or have been waited for long enough. Where it is not sure that there is a next
    /// process, clients are given the time to read what they have not.
    func mayDepart(_ departure: Departure) -> Bool {
        now() >= endsBy ?? 0 || hub.isAtRest && (departure == .beginAnew || !isAnybodyBlocked)
    }

    /// Leaves, unless a signal says otherwise at the last moment; says whether it has.
    func leave(_ departure: Departure) throws -> Bool {
        // From now on signals wait for the next process; what was caught before is looked at, or it would be lost.
        Signals.hold()
        try loop.turn(waits: false)
        if self.departure == departure, depart(departure) { return true }
        Signals.release()
        return false
    }

    /// Leaves everything to the next process; `false` if that cannot be, and this one goes on.
    private func depart(_ departure: Departure) -> Bool {
        hub.pause(at: now())
        hub.endTurn(at: now())
        releaseRetired()
        do throws(SystemError) {
            switch departure {
            case .beginAnew: try beginAnew()
            case .leaveToManager: try leaveToManager()
            }
            return true
        } catch {
            log(.error, "nothing can be left to the next process: \(error)")
            if departure == .leaveToManager { return true }
        }
        self.departure = nil
        endsBy = nil
        manager.notify("READY=1")
        hub.resume()
        keeper?.goOn()
        return false
    }

    /// Returns only by its error.
    private func beginAnew() throws(SystemError) {
        var handover = Handover()
        (handover.ownSockets, handover.listeners) = (ownSockets, passedSockets)
        handover.clients = clients
        let file = try Handover.memory(bytes(handover))
        defer { _ = close(file) }
        keeper?.saveLast()
        manager.passOn()
        throw Handover.beginAnew(file, leaving: handover.descriptors)
    }

    private func leaveToManager() throws(SystemError) {
        var handover = Handover()
        handover.clients = clients
        let file = try Handover.memory(bytes(handover))
        defer { _ = close(file) }
        manager.store([file], as: .state)
        manager.store(handover.clients.values.map(\.descriptor), as: .client)
        manager.settle()
    }

    private var clients: [UInt64: Handover.Client] {
        var clients: [UInt64: Handover.Client] = [:]
        for connection in connections where connection.peer != nil {
            clients[connection.inode] = Handover.Client(
                descriptor: connection.descriptor, entrance: connection.entrance, hasEnded: connection.hasEnded,
                saidItsEnd: connection.saidItsEnd)
        }
        return clients
    }

    private func bytes(_ handover: Handover) -> [UInt8] {
        var out = ByteWriter()
        handover.write(to: &out)
        hub.handOver(connections.compactMap { connection in connection.peer.map { (connection.inode, $0) } }, to: &out)
        return out.bytes
    }

    // MARK: Taking over

    /// What the process before has left.
    func inheritance() -> [UInt8] {
        let stored = manager.stored.last { $0.name == .state }?.descriptor
        guard let file = Handover.inherited(environment: SocketPath.environmentValue) ?? stored else { return [] }
        return Handover.take(file)
    }

    func inherited(from row: inout ByteReader) -> Handover? {
        guard !row.isAtEnd else { return nil }
        do throws(ByteReader.Damage) {
            var handover = try Handover(from: &row)
            let stored = manager.stored.filter { $0.name == .client }.map(\.descriptor)
            if !manager.stored.isEmpty { handover.renumber(stored) }
            for descriptor in handover.descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
            return handover
        } catch {
            log(.warning, "what the process before left cannot be understood")
            return nil
        }
    }

    /// Goes on where the process before left off; `false` if there is nothing to go on with.
    func takeOver(_ handover: Handover?, _ row: inout ByteReader) -> Bool {
        guard let handover else {
            for (name, descriptor) in manager.stored where name == .client { _ = close(descriptor) }
            return false
        }
        let connections = handover.clients.compactMapValues { connection($0.descriptor, by: $0.entrance) }
        do {
            // What they may do follows from who they are, now as when they came: the options may be others.
            let peers = try hub.takeOver(&row) { key in connections[key].map { ($0.outlet, $0.role) } }
            for (key, peer) in peers {
                guard let client = handover.clients[key], let connection = connections[key]?.outlet else { continue }
                append(connection)
                connection.open(peer, hasEnded: client.hasEnded, saidItsEnd: client.saidItsEnd)
            }
        } catch {
            log(.warning, "what the process before left cannot be taken: \(error)")
            for (connection, _) in connections.values { connection.release() }
            return false
        }
        log(.info, "\(counted(self.connections.count, "client")) and \(counted(hub.cameraCount, "camera")) continue")
        return true
    }
}
