// Accepts connections, a few in each turn of the loop, so that a client that connects and closes in a tight loop does
// not delay others for longer. Out of descriptors, it accepts and closes one with a spare descriptor, so that the
// client is not left hanging, and pauses for a second instead of spinning.

import CLibevent
import Glibc

/// A listening socket in a loop.
///
/// libevent's own `evconnlistener` accepts until no client is waiting, which may be never.
@safe public final class Listener: Watcher {
    private let descriptor: CInt
    private let accept: (CInt) -> Void
    private let trouble: (LibeventError) -> Void
    private var spare: CInt
    private var pause: ClosureWatcher?
    private var isOpen = true

    /// The number of connections accepted in one turn of the loop.
    private static let perTurn = 8

    /// Accepts from a descriptor that is bound, non-blocking and listening. The listener owns it from now on.
    ///
    /// - Parameters:
    ///   - accept: takes a connected descriptor, non-blocking and closed on exec.
    ///   - trouble: receives errors; the listener continues after a second.
    public init(
        _ loop: EventLoop, _ descriptor: CInt, accept: @escaping (CInt) -> Void,
        trouble: @escaping (LibeventError) -> Void
    ) throws(LibeventError) {
        self.descriptor = descriptor
        self.accept = accept
        self.trouble = trouble
        spare = Self.openSpare()
        super.init(loop, descriptor)
        pause = ClosureWatcher(loop) { [unowned self] in resume() }
        let flags = fcntl(descriptor, F_GETFD)
        _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC)
        try wait(for: [.read, .persist])
    }

    deinit { close() }

    private static func openSpare() -> CInt { unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }

    public override func ready(_ what: Readiness) {
        for _ in 0..<Self.perTurn {
            let flags = CInt(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            let accepted = unsafe accept4(descriptor, __SOCKADDR_ARG(), nil, flags)
            guard accepted >= 0 else {
                // A client that has already gone, as accept(2) may report, is not a failure.
                if ![EAGAIN, EINTR, ECONNABORTED].contains(errno) { failed() }
                return
            }
            accept(accepted)
        }
    }

    private func failed() {
        let error = LibeventError("accept4")
        if error.code == EMFILE || error.code == ENFILE, spare >= 0 {
            _ = Glibc.close(spare)
            let refused = unsafe Glibc.accept4(descriptor, __SOCKADDR_ARG(), nil, 0)
            if refused >= 0 { _ = Glibc.close(refused) }
            spare = Self.openSpare()
        }
        stop()
        try? pause?.wait(for: .timeout, milliseconds: 1000)
        trouble(error)
    }

    private func resume() {
        if spare < 0 { spare = Self.openSpare() }
        do {
            try wait(for: [.read, .persist])
        } catch {
            trouble(error)
            try? pause?.wait(for: .timeout, milliseconds: 1000)
        }
    }

    /// Stops listening and closes the descriptor. Must not be called from `accept` or `trouble`.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        pause?.stop()
        stop()
        _ = Glibc.close(descriptor)
        if spare >= 0 { _ = Glibc.close(spare) }
        spare = -1
    }
}
