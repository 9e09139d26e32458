// Seamless restarts: the process leaves its cameras and connections to the next one, and stops between two turns, in
// the middle of gestures, flings and replays. The next process continues them.

import Glibc
import Hub
import Service
import UnixSocket

/// How the daemon makes room for the next process.
enum Departure {
    /// It restarts in place: the same process runs the program that is installed now.
    case restart
    /// It ends, and the service manager keeps what it leaves for as long as another process is to come.
    case leaveToManager
}

extension Daemon {
    // MARK: Leaving

    func askedToRestart() {
        guard case .running = phase else { return }
        manager.notifyReloading(at: now())
        // The next process reads the settings again: with wrong ones it would end, and every client with it. In another
        // state folder, it would write over the cameras that are there.
        do throws(Options.UsageError) {
            let next = try Options(arguments: CommandLine.arguments.dropFirst())
            if next.stateDirectory != options.stateDirectory {
                throw Options.UsageError(message: "state-dir has changed, which takes a stop and a start")
            }
        } catch {
            log(.error, .notRestarted, "not restarting in place: \(error.message)")
            manager.notify("READY=1")
            return
        }
        log(.info, .restarting, "restarting in place")
        phase = .departing(.restart, by: now() + Self.graceMs)
    }

    /// Whether the daemon may leave now. If a next process is not certain, clients get time to read what is unsent.
    func mayDepart(_ departure: Departure, by end: Double) -> Bool {
        departure == .restart || !hasUnsentOutput || now() >= end
    }

    /// Leaves, unless a signal at the last moment changes the plan.
    func leave(_ departure: Departure) throws {
        // From now on signals wait for the next process; those caught before are handled here, or they would be lost.
        Signals.block()
        try loop.turn(waits: false)
        if case .departing(departure, _) = phase { phase = leaveEverything(departure) ? .handedOver : .running }
        if case .handedOver = phase { return }
        Signals.unblock()
    }

    /// Leaves everything to the next process; `false` if that fails, and this one continues.
    private func leaveEverything(_ departure: Departure) -> Bool {
        hub.pause()
        hub.endTurn(at: now())
        clients.releaseRetired()
        do {
            let handover = try leaveFile(departure)
            switch departure {
            case .restart: try restart(handover)
            case .leaveToManager: leaveToManager(handover)
            }
            return true
        } catch {
            log(.error, .clientsLost, "cannot hand over the state to the next process: \(error)")
            if departure == .leaveToManager { return true }
        }
        manager.notify("READY=1")
        handoverFile?.reclaimUnusedSpace()
        hub.resume()
        keeper?.resume()
        return false
    }

    /// Writes everything that the next process needs into the file.
    private func leaveFile(_ departure: Departure) throws -> Handover {
        let file: HandoverFile
        if let handoverFile { file = handoverFile } else { file = try HandoverFile() }
        handoverFile = file
        manager.extendTimeout()
        let peers = clients.all.compactMap { connection in connection.peer.map { (connection.inode, $0) } }
        // A restart in place keeps the listening sockets; otherwise they belong to the service manager.
        let handover = Handover(
            hub.server, departure == .restart ? sockets : nil, clientsToLeave, hub.handOver(peers))
        try file.leave(try StateEncoder.encode(handover))
        return handover
    }

    /// Replaces this process by the program that is installed now.
    private func restart(_ handover: Handover) throws(SystemError) -> Never {
        // The next process gets everything from this one, so failing to save loses nothing yet.
        do throws(StateKeeper.Loss) { try keeper?.saveLast(extendTimeout: manager.extendTimeout) } catch {
            log(.error, "\(error)")
        }
        manager.passOn()
        guard let handoverFile else { throw SystemError("memfd_create") }
        throw Handover.exec(handoverFile.descriptor, leaving: handover.descriptors)
    }

    private func leaveToManager(_ handover: Handover) {
        let descriptors = handover.clients.values.map(\.descriptor)
        let lost =
            manager.store(handoverFile.map { [$0.descriptor] } ?? [], as: .state)
            + manager.store(descriptors, as: .client)
        if lost > 0 {
            log(.error, .clientsLost, "the service manager did not keep \(lost) of \(descriptors.count) connections")
        }
        manager.waitForBarrier()
    }

    private var clientsToLeave: [UInt64: Handover.Client] {
        var left: [UInt64: Handover.Client] = [:]
        for connection in clients.all where connection.peer != nil {
            // The next process will notice again which clients are gone.
            left[connection.inode] = Handover.Client(
                descriptor: connection.descriptor, socketKind: connection.socketKind,
                input: connection.input == .hungUp ? .open : connection.input)
        }
        return left
    }

    // MARK: Taking over

    /// Continues where the process before stopped; returns `false` if there is nothing to continue.
    func takeOver(_ inheritance: Inheritance) -> Bool {
        defer { handoverFile?.reclaimUnusedSpace() }
        guard let handover = inheritance.handover else { return false }
        manager.extendTimeout()
        let connections = handover.clients.compactMapValues { connection($0.descriptor, by: $0.socketKind) }
        do {
            // The roles follow from the users, as when they connected: the options may have changed.
            let peers = try hub.takeOver(handover.hub, at: now()) { key in connections[key].map { ($0, $0.role) } }
            for (key, peer) in peers {
                guard let client = handover.clients[key], let connection = connections[key] else { continue }
                clients.append(connection)
                connection.open(peer, client.input)
            }
        } catch {
            log(.warning, .clientsLost, "the state handed over by the previous process cannot be used: \(error)")
            for connection in connections.values { connection.release() }
            return false
        }
        log(.info, "\(counted(clients.all.count, "client")) and \(counted(hub.cameraCount, "camera")) continue")
        return true
    }
}
