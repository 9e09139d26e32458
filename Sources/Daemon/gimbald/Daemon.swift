// The process: sockets, signals, the service manager, and the turn of the loop. A turn reads what has arrived, does
// what is due, sends each client everything at once, and only then frees what has ended.

import GimbalProtocol
import Glibc
import Hub
import Libevent
import Service
import UnixSocket

final class Daemon {
    let loop: EventLoop
    let hub: Hub
    /// Moves bytes between the clients' sockets and the hub.
    let exchange = SocketExchange()
    let clients = Connections()
    private(set) var sockets: ListeningSockets
    let options: Options
    let log: Log
    let manager: ServiceManager
    let keeper: StateKeeper?
    /// What the process before left, until it is taken over.
    private var inheritance: Inheritance?
    /// The memory of long histories; `nil` if the system cannot share memory.
    var handoverFile: HandoverFile?
    private let memory: Memory

    private var watchers: [Watcher] = []
    private var deadline: ClosureWatcher?
    /// The deadline for which ``deadline`` is set; `nil` once it has fired.
    private var armedDeadline: Double?

    private var clientLog: ClientLog?
    /// When the log last said that clients are refused.
    private var saidRefused = -Double.infinity
    /// How close the daemon is to its end.
    enum Phase {
        case running
        /// It makes room for the next process, and serves all clients until then, at most until a time.
        case departing(Departure, by: Double)
        /// It accepts no more input, and sends what is unsent until a time.
        case ending(by: Double)
        /// The next process has everything.
        case handedOver
    }

    var phase = Phase.running
    /// How long to wait for clients that do not read.
    static let graceMs = 2000.0

    init(_ options: Options, _ log: Log, _ manager: ServiceManager) throws {
        self.options = options
        self.log = log
        self.manager = manager
        // Descriptors that are not understood are closed before any are opened.
        let inheritance = Inheritance(manager, log)
        (self.inheritance, handoverFile) = (inheritance, inheritance.file)
        loop = try EventLoop()
        memory = Memory(loop)
        sockets = ListeningSockets(loop, log)
        var generator = SystemRandomNumberGenerator()
        hub = Hub(
            limits: options.limits, server: "gimbald \(gimbalVersion)", epochSeed: generator.next(),
            memory: inheritance.file, at: MonotonicClock.now)
        if let folder = options.traceDirectory { hub.traces = TraceFolder.traces(in: folder, log) }
        let folder =
            options.stateDirectory ?? StateKeeper.standardFolder(environment: SocketPath.environmentValue)
        keeper = try folder.map { [hub, loop] in try StateKeeper($0, of: hub, loop, log) }
        clientLog = ClientLog(log)
        if clientLog != nil {
            hub.observer = { [unowned self] note, outlet in
                guard let connection = outlet as? Connection else { return }
                clientLog?.takeNote(note, of: connection, at: now())
            }
        }
    }

    // MARK: The loop

    /// Runs until a signal ends it.
    func run() throws {
        raiseDescriptorLimit()
        Handover.prepare()
        defer { sockets.remove() }
        try sockets.choose(inheritance?.handover, options, manager)
        try sockets.listen { [unowned self] in accept($0, by: $1) }
        try watchSignals()
        Signals.unblock()
        // State that ends this process must not end the next one, too.
        manager.forgetStored()
        // The socket's owner alone may take the state: another daemon's must stay untouched.
        if inheritance.map(takeOver) == true { keeper?.resume() } else { try keeper?.restore(at: now()) }
        inheritance = nil
        log(.info, .ready, "version \(gimbalVersion) is ready: libevent \(EventLoop.version) with \(loop.method)")
        manager.notify("READY=1\nSTATUS=\(status)")
        try endTurn()
        while !isOver {
            try loop.turn()
            clients.readDeferred()
            try endTurn()
        }
        for connection in clients.all { connection.close() }
        clients.releaseRetired()
        Signals.block()  // They would end its waiting early.
        try keeper?.saveLast(extendTimeout: manager.extendTimeout)
        log(.info, .ended, "ended")
    }

    /// Does what is due, sends, frees, and sets the time limit of the next turn.
    private func endTurn() throws {
        let now = present()
        hub.advance(to: now)
        hub.endTurn(at: now)
        clients.releaseRetired()
        keeper?.turn(at: now)
        if case .departing(let departure, let end) = phase, mayDepart(departure, by: end) { try leave(departure) }
        try armDeadline()
    }

    /// Returns the time of the monotonic clock in milliseconds.
    func now() -> Double { MonotonicClock.now }

    /// Returns the same, and sets the hub's wall clock to the present.
    func present() -> Double {
        let now = now()
        hub.setWallTime(RealtimeClock.microseconds, at: now)
        return now
    }

    /// Limits the loop's wait to the next deadline; a distant one is checked again every hour.
    private func armDeadline() throws {
        let earliest = min(hub.deadline ?? .infinity, phase.deadline ?? .infinity, keeper?.due ?? .infinity)
        let wanted = earliest < .infinity ? earliest : nil
        guard wanted != armedDeadline else { return }
        if let wanted {
            try deadline?.wait(for: .timeout, milliseconds: min(wanted - now(), 3_600_000))
        } else {
            deadline?.stop()
        }
        armedDeadline = wanted
    }

    // MARK: Starting

    private func watchSignals() throws {
        for signal in Signals.ending {
            watchers.append(try ClosureWatcher.signal(loop, signal) { [unowned self] in askedToEnd() })
        }
        watchers.append(try ClosureWatcher.signal(loop, Signals.restarting) { [unowned self] in askedToRestart() })
        watchers.append(
            try ClosureWatcher.signal(loop, Signals.hangUp) { [unowned self] in
                log(.info, "SIGHUP: nothing is reloaded; SIGUSR2 restarts in place, with the current settings")
            })
        // It only ends the wait: every turn does what is due.
        deadline = ClosureWatcher(loop) { [unowned self] in armedDeadline = nil }
        if manager.hasNotifySocket || manager.watchdogInterval != nil {
            let tick = ClosureWatcher(loop) { [unowned self] in manager.keepAlive(status) }
            try tick.wait(for: [.timeout, .persist], milliseconds: min(manager.watchdogInterval ?? 5000, 5000))
            watchers.append(tick)
        }
    }

    private var status: String {
        "\(counted(clients.all.count, "connection")), \(counted(hub.cameraCount, "camera"))"
    }

    /// Raises the descriptor limit: each allowed client needs a descriptor.
    private func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let wanted = rlim_t(options.limits.connections + 64)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(limit.rlim_max, wanted)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        if limit.rlim_cur < wanted {
            let connections = "--limit connections=\(options.limits.connections)"
            log(.warning, "\(connections) needs \(wanted) descriptors, but the system allows \(limit.rlim_cur)")
        }
    }

    // MARK: Connections

    private func accept(_ descriptor: CInt, by socketKind: SocketKind) {
        guard let connection = connection(descriptor, by: socketKind) else { return }
        if let reason = objection(to: connection) {
            turnAway(descriptor, GimbalError(.limitReached, "\(reason), and no more are accepted"))
            return connection.release()
        }
        do {
            try connection.open(hub)
        } catch {
            log(.error, "cannot serve a new connection: \(error)")
            if let peer = connection.peer { hub.disconnect(peer, at: now()) }
            connection.release()
            return
        }
        clients.append(connection)
        clientLog?.came(connection, of: clients.all.count, at: now())
    }

    /// Returns the connection of a descriptor; `nil`, with the descriptor closed, if its user is unknown.
    func connection(_ descriptor: CInt, by socketKind: SocketKind) -> Connection? {
        do throws(SystemError) {
            let client = try PeerCredentials(of: descriptor, groups: !options.access.groups.isEmpty)
            let role = options.access.role(of: client, by: socketKind)
            return Connection(descriptor, of: client, as: role, by: socketKind, at: self)
        } catch {
            log(.error, "cannot identify a client: \(error)")
            _ = close(descriptor)
            return nil
        }
    }

    /// Returns why one more connection is refused; `nil` if it is not.
    private func objection(to connection: Connection) -> String? {
        let isTrusted = options.access.isTrusted(connection.user)
        guard
            let reason = clients.counts.objection(
                to: connection.user, connection.role, isTrusted: isTrusted, options.limits)
        else { return nil }
        // A refused client may reconnect at once, and for ever.
        if now() - saidRefused >= 60_000 {
            log(.warning, .clientsRefused, "clients are refused: \(reason)", [.clientUser: "\(connection.user)"])
            saidRefused = now()
        }
        return reason
    }

    /// Removes a connection; it is freed at the end of the turn.
    func retire(_ connection: Connection) {
        clients.retire(connection)
        memory.clientWent()
        clientLog?.went(connection, of: clients.all.count, at: now())
    }

    // MARK: Ending

    /// Ends after a grace period; a second request ends at once.
    private func askedToEnd() {
        switch phase {
        case .running, .departing(.restart, _): break
        case .departing(.leaveToManager, _): return phase = .departing(.leaveToManager, by: now())
        case .ending: return phase = .ending(by: now())
        case .handedOver: return
        }
        let end = now() + Self.graceMs
        log(.info, "ending")
        manager.notify("STOPPING=1")
        // The manager does not say whether it starts the daemon again, so it may.
        if manager.hasNotifySocket { phase = .departing(.leaveToManager, by: end) } else { self.end(by: end) }
    }

    /// Accepts no more input; clients that read still get what was emitted.
    private func end(by end: Double) {
        phase = .ending(by: end)
        sockets.stopListening()
        hub.end(at: now())
        for connection in clients.all { connection.setReading(false) }
    }

    /// Whether there is unsent output for a client.
    var hasUnsentOutput: Bool { clients.all.contains { $0.peer?.hasUnsent == true } }

    private var isOver: Bool {
        if case .handedOver = phase { return true }
        guard case .ending(let end) = phase else { return false }
        return now() >= end || !hasUnsentOutput
    }
}

extension Daemon.Phase {
    /// The latest time of the phase's next step.
    fileprivate var deadline: Double? {
        switch self {
        case .running, .handedOver: nil
        case .departing(_, let end), .ending(let end): end
        }
    }
}
