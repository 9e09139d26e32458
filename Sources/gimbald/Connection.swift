// One client's socket: reads into the loop's shared buffer, writes what the hub gathers, waits for room only when there
// is none. What the bytes mean is the hub's business.

import Glibc
import Hub
import Libevent

final class Connection: Watcher, Outlet {
    private let descriptor: CInt
    private unowned let daemon: Daemon
    private(set) var peer: Peer?
    /// Where the connection stands among the daemon's.
    var index = 0

    private var isReading = true
    private var isWriting = false
    private var hasEnded = false

    init(_ descriptor: CInt, of daemon: Daemon) {
        self.descriptor = descriptor
        self.daemon = daemon
        super.init(daemon.loop, descriptor)
    }

    func open(_ hub: Hub) throws {
        peer = hub.connect(self)
        try wait(for: [.read, .persist])
    }

    // MARK: From the loop

    override func ready(_ what: Readiness) {
        guard let peer else { return }
        if what.contains(.write) {
            isWriting = false
            update()
            daemon.hub.writable(peer)
        }
        if what.contains(.read) {
            if hasEnded { checkHangUp() } else { read(peer) }
        }
    }

    private func read(_ peer: Peer) {
        let count = daemon.read(descriptor) { daemon.hub.receive($0, from: peer, at: daemon.now()) }
        if count > 0 { return }
        if count == 0 {
            hasEnded = true
            // Who closed without a word is gone; who only stopped sending goes on reading.
            if isHungUp { return vanish() }
            update()
            daemon.hub.endOfInput(peer, at: daemon.now())
        } else if errno != EAGAIN && errno != EINTR {
            vanish()
        }
    }

    private var isHungUp: Bool {
        var status = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&status, 1, 0) > 0 && status.revents & CShort(POLLHUP | POLLERR) != 0
    }

    private func checkHangUp() {
        if isHungUp { vanish() }
    }

    private func vanish() {
        guard let peer else { return }
        daemon.hub.disconnect(peer, at: daemon.now())
        close()
    }

    /// Waits for what is wanted now. After the end of input only a change is of interest: the client's closing.
    private func update() {
        var wanted: Readiness = .persist
        if hasEnded { wanted.formUnion([.read, .edge]) } else if isReading { wanted.insert(.read) }
        if isWriting { wanted.insert(.write) }
        if wanted == .persist { stop() } else { try? wait(for: wanted) }
    }

    // MARK: From the hub

    func send(_ pieces: [UnsafeRawBufferPointer]) -> Int {
        let count = unsafe daemon.write(descriptor, pieces)
        let total = unsafe pieces.reduce(0) { $0 + $1.count }
        if count < 0 && errno != EAGAIN { return -1 }
        if count < total {
            isWriting = true
            update()
        }
        return max(count, 0)
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

    /// Closes the descriptor: at the end of a turn, when no callback can be on its way.
    func release() { _ = Glibc.close(descriptor) }
}
