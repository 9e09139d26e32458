// The process: sockets, signals, the service manager, and the turn of the loop. A turn reads what has come, does what is
// due, sends everything in one go for each client, and only then frees what is over.

import Glibc
import Hub
import Libevent
import UnixSocket
import GimbalProtocol

@safe final class Daemon {
    let loop: EventLoop
    let hub: Hub
    private let options: Options
    let log: Log
    let manager: ServiceManager
    let keeper: StateKeeper?
    /// What the process before has left, until it is taken over.
    private var inheritance: Inheritance?
    /// Where long histories lie; `nil` where the system has no memory to share.
    var handoverFile: HandoverFile?
    private let memory: Memory

    private(set) var ownSockets: [(socket: ListeningSocket, socketKind: SocketKind)] = []
    /// The service manager's sockets that are listened on.
    private(set) var passedSockets: [(descriptor: CInt, socketKind: SocketKind)] = []
    private var listeners: [Listener] = []
    private var watchers: [Watcher] = []
    private var deadline: ClosureWatcher?
    /// What the loop waits for no longer than, as ``deadline`` has been set; `nil` once that has come.
    private var armedDeadline: Double?

    private(set) var connections: [Connection] = []
    private var retired: [Connection] = []
    /// Those that are read once the others have been, in the order in which they came.
    private var late: [Connection] = []
    private var connectionCounts = ConnectionCounts()
    private var clientLog: ClientLog?
    /// When it was last said that clients are refused.
    private var saidRefused = -Double.infinity
    /// How far the daemon is from its end.
    enum Phase {
        case running
        /// It makes room for the next process, and serves everybody until then; at the latest at a time.
        case departing(Departure, by: Double)
        /// It takes nothing more, and sends until a time what has not been read.
        case ending(by: Double)
        /// The next process has everything.
        case left
    }

    var phase = Phase.running
    /// As long as clients that do not read are waited for.
    static let graceMs = 2000.0

    // Sound: both live as long as the daemon, and hold what is on its way between the kernel and the hub, no longer than
    // one call.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8 << 10, alignment: 16)
    private let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 1024)

    init(_ options: Options, _ log: Log, _ manager: ServiceManager) throws {
        self.options = options
        self.log = log
        self.manager = manager
        // What is left and cannot be understood is closed, before anything is opened.
        let inheritance = Inheritance(manager, log)
        (self.inheritance, handoverFile) = (inheritance, inheritance.file)
        loop = try EventLoop()
        memory = Memory(loop)
        var generator = SystemRandomNumberGenerator()
        hub = Hub(
            limits: options.limits, server: "gimbald \(gimbalVersion)", epochSeed: generator.next(),
            memory: inheritance.file, at: Self.monotonicMilliseconds())
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

    deinit {
        unsafe buffer.deallocate()
        unsafe vectors.deallocate()
    }

    // MARK: The loop

    /// Runs until a signal ends it.
    func run() throws {
        raiseDescriptorLimit()
        Handover.prepare()
        defer { for (socket, _) in ownSockets { socket.remove() } }
        try listen(inheritance?.handover)
        try watchSignals()
        Signals.unblock()
        // Only who has the socket takes the state: another daemon's is none of its business.
        if inheritance.map(takeOver) == true { keeper?.resume() } else { keeper?.restore(at: now()) }
        inheritance = nil
        manager.forgetStored()
        log(.info, "version \(gimbalVersion) is ready: libevent \(EventLoop.version) with \(loop.method)")
        manager.notify("READY=1\nSTATUS=\(status)")
        try endTurn()
        while !isOver {
            try loop.turn()
            readLate()
            try endTurn()
        }
        for connection in connections { connection.close() }
        releaseRetired()
        try keeper?.saveLast(needsTime: manager.needsTime)
        log(.info, "ended")
    }

    /// Does what is due, sends, frees, and says how long the next turn may wait.
    private func endTurn() throws {
        let now = now()
        hub.advance(to: now)
        hub.endTurn(at: now)
        releaseRetired()
        keeper?.turn(at: now)
        if case .departing(let departure, let end) = phase, mayDepart(departure, by: end) { try leave(departure) }
        try armDeadline()
    }

    /// Milliseconds of the monotonic clock.
    func now() -> Double { Self.monotonicMilliseconds() }

    private static func monotonicMilliseconds() -> Double {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }

    /// Lets the loop wait no longer than until the next deadline; a far one is looked at again every hour.
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

    func releaseRetired() {
        guard !retired.isEmpty else { return }
        for connection in retired { connection.release() }
        retired.removeAll(keepingCapacity: true)
    }

    // MARK: Starting

    private func listen(_ handover: Handover?) throws {
        if let handover, !handover.listeners.isEmpty || !handover.ownSockets.isEmpty {
            (ownSockets, passedSockets) = (handover.ownSockets, handover.listeners)
        } else {
            for kind in SocketKind.allCases { try chooseSocket(kind, options.file(of: kind)) }
        }
        for (descriptor, socketKind) in passedSockets { try listen(on: descriptor, socketKind) }
        for (socket, socketKind) in ownSockets { try listen(on: socket.descriptor, socketKind) }
    }

    /// Takes the socket that an option names, else those that the service manager passed, else one of a standard path.
    private func chooseSocket(_ kind: SocketKind, _ file: Options.SocketFile) throws {
        let what = kind.purpose
        let passed = manager.sockets.filter { $0.socketKind == kind }
        if file.path == nil, !passed.isEmpty {
            passedSockets += passed
            return log(.info, "listening \(what)on \(counted(passed.count, "socket")) of the service manager")
        }
        for (descriptor, _) in passed { _ = close(descriptor) }
        if !passed.isEmpty {
            log(.warning, "sockets \(what)of the service manager are closed: an option names another")
        }
        guard let path = file.path ?? kind.standardPath else { return }
        ownSockets.append((try ListeningSocket(path: path, mode: file.mode, group: file.group), kind))
        log(.info, "listening \(what)on \(path)")
    }

    private func listen(on descriptor: CInt, _ socketKind: SocketKind) throws {
        let listener = try Listener(loop, descriptor) { [unowned self] in
            accept($0, by: socketKind)
        } trouble: { [unowned self] error in
            log(.error, "cannot accept a connection: \(error); trying again in a second")
        }
        listeners.append(listener)
    }

    private func watchSignals() throws {
        for signal in Signals.ending {
            watchers.append(try ClosureWatcher.signal(loop, signal) { [unowned self] in askedToEnd() })
        }
        watchers.append(try ClosureWatcher.signal(loop, Signals.restarting) { [unowned self] in askedToRestart() })
        watchers.append(
            try ClosureWatcher.signal(loop, Signals.reloading) { [unowned self] in
                log(.info, "SIGHUP: there is nothing to reload")
            })
        // It only ends the wait: what is due is done in every turn.
        deadline = ClosureWatcher(loop) { [unowned self] in armedDeadline = nil }
        if manager.isListening || manager.watchdogInterval != nil {
            let tick = ClosureWatcher(loop) { [unowned self] in manager.notify("WATCHDOG=1\nSTATUS=\(status)") }
            try tick.wait(for: [.timeout, .persist], milliseconds: min(manager.watchdogInterval ?? 5000, 5000))
            watchers.append(tick)
        }
    }

    private var status: String {
        "\(counted(connections.count, "connection")), \(counted(hub.cameraCount, "camera"))"
    }

    /// Each client needs a descriptor: as many as are allowed.
    private func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let wanted = rlim_t(options.limits.connections + 64)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(limit.rlim_max, wanted)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    // MARK: Connections

    private func accept(_ descriptor: CInt, by socketKind: SocketKind) {
        guard let connection = connection(descriptor, by: socketKind) else { return }
        if let reason = objection(to: connection) { return refuse(connection, because: reason) }
        do {
            try connection.open(hub)
        } catch {
            log(.error, "cannot take a connection: \(error)")
            if let peer = connection.peer { hub.disconnect(peer, at: now()) }
            connection.release()
            return
        }
        append(connection)
        clientLog?.came(connection, of: connections.count, at: now())
    }

    /// The connection of a descriptor; `nil`, and the descriptor is closed, if it cannot be told whose it is.
    func connection(_ descriptor: CInt, by socketKind: SocketKind) -> Connection? {
        do throws(SystemError) {
            let client = try PeerCredentials(of: descriptor, groups: !options.access.groups.isEmpty)
            let role = options.access.role(of: client, by: socketKind)
            return Connection(descriptor, of: client, as: role, by: socketKind, at: self)
        } catch {
            log(.error, "cannot tell who a client is: \(error)")
            _ = close(descriptor)
            return nil
        }
    }

    func append(_ connection: Connection) {
        connection.index = connections.count
        connections.append(connection)
        connectionCounts.add(connection.user, connection.role)
    }

    /// Why one more connection is refused; `nil` if it is not.
    private func objection(to connection: Connection) -> String? {
        let isTrusted = options.access.isTrusted(connection.user)
        guard
            let reason = connectionCounts.objection(
                to: connection.user, connection.role, isTrusted: isTrusted, options.limits)
        else { return nil }
        // Who is refused may come again at once, and for ever.
        if now() - saidRefused >= 60_000 {
            log(.warning, "clients are refused: \(reason)")
            saidRefused = now()
        }
        return reason
    }

    /// Says why, as far as the socket takes it.
    private func refuse(_ connection: Connection, because reason: String) {
        var line = LineWriter()
        line.error(WireError(.limitReached, "\(reason), and no more are taken"), line: 0, Span())
        line.withBytes { turnAway(connection.descriptor, with: $0) }
        connection.release()
    }

    /// Forgets a connection; it is freed at the end of the turn.
    func retire(_ connection: Connection) {
        retired.append(connection)  // first: the list of connections may hold the last reference
        let last = connections.removeLast()
        if last !== connection {
            connections[connection.index] = last
            last.index = connection.index
        }
        connectionCounts.remove(connection.user, connection.role)
        memory.clientWent()
        clientLog?.went(connection, of: connections.count, at: now())
    }

    /// Reads into the shared buffer what has come. As recv(2): 0 is the end, below 0 an error.
    ///
    /// While a client goes on sending, recv(2) goes on reading, byte by byte, as long as there is room. So it has room for
    /// no more than is there.
    ///
    /// - Parameter isWithinLine: whether the client has sent a part of a line before. Others are first read as much as
    ///   most send at once: so a line that comes alone costs one call.
    func read(_ descriptor: CInt, isWithinLine: Bool, _ body: (Span<UInt8>) -> Void) -> Int {
        let first = isWithinLine ? available(descriptor, room: unsafe buffer.count) : Self.usualRead
        var count = receive(descriptor, at: 0, atMost: first)
        if !isWithinLine, count == first {
            let room = unsafe buffer.count - count
            count += max(receive(descriptor, at: count, atMost: available(descriptor, room: room)), 0)
        }
        if count > 0 {
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count]).assumingMemoryBound(to: UInt8.self)
            body(unsafe Span(_unsafeElements: bytes))
        }
        return count
    }

    private static let usualRead = 256

    /// Whether a read of so many bytes had no room for more.
    func filledBuffer(_ count: Int) -> Bool { unsafe count == buffer.count }

    /// Has a connection read when all others of the turn have been.
    func readLater(_ connection: Connection) { late.append(connection) }

    /// Reads a connection that has more to be read than fits into the buffer: one in a turn, or a few where there are many,
    /// so that whoever sends a little waits for little. The others keep their places, and what was not read is still there
    /// in the next turn.
    private func readLate() {
        guard !late.isEmpty else { return }
        let count = 1 + late.count / 16
        for connection in late.prefix(count) { connection.readLate() }
        late.removeFirst(count)
    }

    /// How many bytes are there now; 1 where there are none, or it cannot be told.
    private func available(_ descriptor: CInt, room: Int) -> Int {
        var count: CInt = 0
        guard unsafe ioctl(descriptor, UInt(FIONREAD), &count) == 0 else { return 1 }
        return min(max(Int(count), 1), room)
    }

    private func receive(_ descriptor: CInt, at offset: Int, atMost count: Int) -> Int {
        unsafe Glibc.recv(descriptor, buffer.baseAddress?.advanced(by: offset), count, CInt(MSG_DONTWAIT))
    }

    private static let sending = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)

    /// Writes one piece, as it nearly always is: the kernel has nothing to copy but the bytes. As send(2).
    func write(_ descriptor: CInt, _ piece: UnsafeRawBufferPointer) -> Int {
        unsafe Glibc.send(descriptor, piece.baseAddress, piece.count, Self.sending)
    }

    /// Writes pieces in one call. As sendmsg(2): below 0 is an error.
    func write(_ descriptor: CInt, _ pieces: [UnsafeRawBufferPointer]) -> Int {
        let count = unsafe min(pieces.count, vectors.count)
        for index in 0..<count {
            unsafe vectors[index] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: pieces[index].baseAddress), iov_len: pieces[index].count)
        }
        var message = unsafe msghdr()
        unsafe message.msg_iov = vectors.baseAddress
        unsafe message.msg_iovlen = count
        return unsafe sendmsg(descriptor, &message, Self.sending)
    }

    // MARK: Ending

    /// Ends, in a while; asked again, at once.
    private func askedToEnd() {
        switch phase {
        case .running, .departing(.restart, _): break
        case .departing(.leaveToManager, _): return phase = .departing(.leaveToManager, by: now())
        case .ending: return phase = .ending(by: now())
        case .left: return
        }
        let end = now() + Self.graceMs
        log(.info, "ending")
        manager.notify("STOPPING=1")
        // Whether it is to be started again, the manager does not say: it may.
        if manager.isListening { phase = .departing(.leaveToManager, by: end) } else { self.end(by: end) }
    }

    /// Takes nothing more; what was emitted is still sent to who reads it.
    private func end(by end: Double) {
        phase = .ending(by: end)
        hub.end(at: now())
        for connection in connections { connection.setReading(false) }
    }

    /// Whether there is more for a client than it has been sent.
    var hasAnybodyUnsent: Bool { connections.contains { $0.peer?.hasUnsent == true } }

    private var isOver: Bool {
        if case .left = phase { return true }
        guard case .ending(let end) = phase else { return false }
        if !listeners.isEmpty {
            for listener in listeners { listener.close() }
            listeners = []
        }
        return now() >= end || !hasAnybodyUnsent
    }
}

extension Daemon.Phase {
    /// When something is due at the latest.
    fileprivate var deadline: Double? {
        switch self {
        case .running, .left: nil
        case .departing(_, let end), .ending(let end): end
        }
    }
}
