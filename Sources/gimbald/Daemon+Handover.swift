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
        now() >= endsBy ?? 0 || hub.isAtRest && (departure == .beginAnew || !hasAnybodyUnsent)
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
            try leaveFile()
            switch departure {
            case .beginAnew: throw beginAnew()
            case .leaveToManager: leaveToManager()
            }
            return true
        } catch {
            log(.error, "nothing can be left to the next process: \(error)")
            if departure == .leaveToManager { return true }
        }
        self.departure = nil
        endsBy = nil
        manager.notify("READY=1")
        handoverFile?.forgetTheRest()
        hub.resume()
        keeper?.goOn()
        return false
    }

    /// Puts all that the next process goes on with into the file.
    private func leaveFile() throws(SystemError) {
        let file: HandoverFile
        if let handoverFile { file = handoverFile } else { file = try HandoverFile() }
        handoverFile = file
        manager.needsTime()
        let peers = connections.compactMap { connection in connection.peer.map { (connection.inode, $0) } }
        var out = FieldWriter()
        out.put(HandoverField.revision, HandoverLayout.revision)
        out.put(HandoverField.server, hub.server)
        out.put(HandoverField.process) { handover.write(to: &$0) }
        out.put(HandoverField.hub) { hub.handOver(peers, to: &$0) }
        try file.leave(out.bytes)
    }

    /// Returns only by its error.
    private func beginAnew() -> SystemError {
        // The next process has all that is saved from this one: what cannot be saved is not lost yet.
        do throws(StateKeeper.Loss) { try keeper?.saveLast(needsTime: manager.needsTime) } catch {
            log(.error, "\(error)")
        }
        manager.passOn()
        guard let handoverFile else { return SystemError("memfd_create") }
        return Handover.beginAnew(handoverFile.descriptor, leaving: handover.descriptors)
    }

    private func leaveToManager() {
        let clients = clients.values.map(\.descriptor)
        let lost =
            manager.store(handoverFile.map { [$0.descriptor] } ?? [], as: .state)
            + manager.store(clients, as: .client)
        if lost > 0 { log(.error, "the service manager does not keep \(lost) of \(clients.count) connections") }
        manager.settle()
    }

    /// Who begins anew keeps where it listens; otherwise that is the service manager's.
    private var handover: Handover {
        var handover = Handover()
        if departure == .beginAnew {
            (handover.ownSockets, handover.listeners) = (ownSockets, passedSockets)
        }
        handover.clients = clients
        return handover
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

    // MARK: Taking over

    /// Goes on where the process before left off; `false` if there is nothing to go on with.
    func takeOver(_ inheritance: Inheritance) -> Bool {
        defer { handoverFile?.forgetTheRest() }
        guard let handover = inheritance.handover else { return false }
        manager.needsTime()
        guard let hubPart = inheritance.hub else {
            for client in handover.clients.values { _ = close(client.descriptor) }
            guard let cameras = inheritance.cameras else { return false }
            let count = hub.restore(cameras, keepsEpochs: true, at: now())
            log(.info, "\(count) cameras of version 0.1 go on; who was connected has to come again")
            return true
        }
        let connections = handover.clients.compactMapValues { connection($0.descriptor, by: $0.entrance) }
        do {
            // What they may do follows from who they are, now as when they came: the options may be others.
            let peers = try hub.takeOver(hubPart, at: now()) { key in connections[key].map { ($0, $0.role) } }
            for (key, peer) in peers {
                guard let client = handover.clients[key], let connection = connections[key] else { continue }
                append(connection)
                connection.open(peer, hasEnded: client.hasEnded, saidItsEnd: client.saidItsEnd)
            }
        } catch {
            log(.warning, "what the process before left cannot be taken: \(error)")
            for connection in connections.values { connection.release() }
            return false
        }
        log(.info, "\(counted(self.connections.count, "client")) and \(counted(hub.cameraCount, "camera")) continue")
        return true
    }
}
