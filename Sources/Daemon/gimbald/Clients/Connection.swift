// One client's socket: reads into a shared buffer, writes what the hub gathers, and waits for room only when there is
// none. The hub interprets the bytes.

import Glibc
import Hub
import Libevent
import Service
import UnixSocket

final class Connection: Watcher, Outlet {
    // Small properties come first: they fit behind those of the watcher.
    let socketKind: SocketKind
    let user: uid_t
    /// The client's process at the time of connection.
    let process: pid_t
    let role: Role
    var descriptor: CInt { number }
    /// The connection's key in a handover.
    var inode: UInt64 { Handover.inode(of: descriptor) ?? 0 }
    // Connection and peer refer to each other until the connection is retired.
    private let daemon: Daemon
    private(set) var peer: Peer?
    /// The index in the daemon's list; set by ``Connections``.
    var index = 0

    /// What the client may still send.
    enum Input: Int, Codable {
        case open
        /// The client has closed its sending side, and not all that it has sent has been read. It may still read; if it
        /// goes later, the trace that it has sent continues.
        case halfClosed
        /// The last byte has been read.
        case ended
        /// The client is gone.
        case hungUp
    }

    private(set) var input = Input.open
    /// Whether the hub wants to read.
    private var isReading = true
    /// Whether the socket had no room for all of the hub's output.
    private var isBlocked = false

    /// How much the client sends, as far as the order of reading depends on it.
    private enum Pace {
        case usual
        /// The last read was long, as ``SocketExchange/isMuch(_:)`` says.
        case fast
        /// Another read is due once other connections have been read.
        case waiting
    }

    private var pace = Pace.usual

    init(
        _ descriptor: CInt, of client: PeerCredentials, as role: Role, by socketKind: SocketKind, at daemon: Daemon
    ) {
        (self.role, self.socketKind) = (role, socketKind)
        (user, process) = (client.user, client.process)
        self.daemon = daemon
        super.init(daemon.loop, descriptor)
    }

    func open(_ hub: Hub) throws {
        peer = hub.connect(self, role: role)
        try wait(for: [.read, .persist])
    }

    /// Continues where the process before stopped.
    func open(_ peer: Peer, _ input: Input) {
        (self.peer, self.input) = (peer, input)
        isBlocked = peer.isBlocked
        update()
    }

    var identity: (user: UInt32, process: UInt32)? { (user, UInt32(bitPattern: process)) }

    // MARK: Calls from the loop

    override func ready(_ what: Readiness) {
        guard let peer else { return }
        if what.contains(.write) {
            isBlocked = false
            update()
            daemon.hub.writable(peer)
        }
        if what.contains(.read) {
            if !isReading || input == .ended {
                lookForHangUp()
            } else if daemon.hub.wantsBytes(of: peer) {
                readInTurn(peer)
            }
        }
    }

    private func readInTurn(_ peer: Peer) {
        switch pace {
        case .usual: read(peer)
        case .fast:
            pace = .waiting
            daemon.clients.deferReading(self)
        case .waiting: break
        }
    }

    /// Does the read that was deferred until others had been read, if there is still a reason to.
    func readDeferred() {
        pace = .usual
        guard let peer, isReading, input == .open || input == .halfClosed, daemon.hub.wantsBytes(of: peer) else {
            return
        }
        read(peer)
    }

    private func read(_ peer: Peer) {
        let count = receive(for: peer)
        pace = SocketExchange.isMuch(count) ? .fast : .usual
        if count > 0 { return }
        // A half-closed client that closes the rest, and leaves answers unread, resets the connection.
        if count == 0 || errno == ECONNRESET && input == .halfClosed {
            let mayGo = input == .halfClosed
            input = .ended
            if isHungUp(), !mayGo || !peer.isPlaying { endAsHungUp() }
            guard self.peer != nil else { return }
            update()
            daemon.hub.endOfInput(peer, at: daemon.now())
        } else if errno != EAGAIN && errno != EINTR {
            endAsHungUp()
        }
    }

    private func receive(for peer: Peer) -> Int {
        daemon.exchange.read(descriptor, hasWaitingInput: peer.hasWaitingInput) { [daemon] bytes in
            daemon.hub.receive(bytes, from: peer, at: daemon.present())
        }
    }

    /// Handles the client's closing. A client that closes its socket is gone, and so is its replay. One that has shut
    /// down its sending side before may close the socket, and its replay continues.
    private func lookForHangUp() {
        let isHungUp = isHungUp()
        switch input {
        case .open where isHungUp: endAsHungUp()
        case .ended where isHungUp && peer?.isPlaying == false: endAsHungUp()
        case .open, .halfClosed, .ended, .hungUp: break
        }
    }

    /// Whether the client has closed both sides; notes if it has closed only its sending side.
    private func isHungUp() -> Bool {
        let readEnd: CShort = 0x2000  // POLLRDHUP of poll(2), a macro that Swift does not see
        var status = pollfd(fd: descriptor, events: readEnd, revents: 0)
        guard unsafe poll(&status, 1, 0) > 0 else { return false }
        if status.revents & CShort(POLLHUP | POLLERR) != 0 { return true }
        if status.revents & readEnd != 0, input == .open { input = .halfClosed }
        return false
    }

    /// Reads what the client wrote before it went, which is still there, and then ends the connection.
    private func endAsHungUp() {
        guard let peer, input != .hungUp else { return }
        let mayHaveMore = input != .ended
        input = .hungUp
        stop()
        if mayHaveMore { while receive(for: peer) > 0 {} }
        daemon.hub.hangUp(peer, at: daemon.now())
    }

    /// Waits for the events wanted now. When not reading, only changes matter: the client's closing.
    private func update() {
        guard input != .hungUp else { return }
        var wanted: Readiness = [.persist, .read]
        if input == .ended || !isReading { wanted.insert(.edge) }
        if isBlocked { wanted.insert(.write) }
        do {
            try wait(for: wanted)
        } catch {
            daemon.log(.error, "cannot watch a client's socket: \(error)")
        }
    }

    // MARK: Calls from the hub

    func send(_ pieces: [UnsafeRawBufferPointer]) -> Int {
        // Added up first, since `errno` must come from the call.
        let total = unsafe pieces.reduce(0) { $0 + $1.count }
        return unsafe sendResult(daemon.exchange.write(descriptor, pieces), of: total)
    }

    func send(_ piece: UnsafeRawBufferPointer, isRepeated: Bool) -> Int {
        unsafe sendResult(daemon.exchange.write(descriptor, piece, isRepeated: isRepeated), of: piece.count)
    }

    /// Returns the hub's result for a send that took this many bytes, or failed.
    private func sendResult(_ count: Int, of total: Int) -> Int {
        // If the kernel is short of memory, it may have some later.
        if count < 0 && ![EAGAIN, ENOBUFS, ENOMEM].contains(errno) { return -1 }
        if count < total {
            isBlocked = true
            update()
        }
        return max(count, 0)
    }

    /// Sets the smallest size that the kernel accepts: some five lines. (socket(7): `SO_SNDBUF`.)
    func keepQueueShort() {
        var size: CInt = 1
        let length = socklen_t(MemoryLayout<CInt>.size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, length)
    }

    func setReading(_ isReading: Bool) {
        self.isReading = isReading
        update()
    }

    func finishSending() { _ = shutdown(descriptor, CInt(SHUT_WR)) }

    func close() {
        guard peer != nil else { return }
        peer = nil
        stop()
        daemon.retire(self)
    }

    /// Closes the descriptor, at the end of a turn, when no callback can be pending.
    func release() {
        peer = nil  // It holds the connection.
        _ = Glibc.close(descriptor)
    }
}
