// Accepts connections. Out of descriptors, it accepts and closes one with a spare descriptor, so that the client is not
// left hanging, and pauses for a second instead of spinning.

import CLibevent
import Glibc

/// A listening socket in a loop. The corresponding C type is `evconnlistener`.
@safe public final class Listener {
    private var listener: OpaquePointer?
    private let descriptor: CInt
    private let accept: (CInt) -> Void
    private let trouble: (LibeventError) -> Void
    private var spare: CInt
    private var pause: ClosureWatcher?

    /// Accepts from a descriptor that is bound, non-blocking, and listens. The listener owns it from now on.
    ///
    /// - Parameters:
    ///   - accept: takes a connected descriptor, non-blocking and closed on exec.
    ///   - trouble: is told of errors; the listener goes on after a second.
    public init(
        _ loop: EventLoop, _ descriptor: CInt, accept: @escaping (CInt) -> Void,
        trouble: @escaping (LibeventError) -> Void
    ) throws(LibeventError) {
        self.descriptor = descriptor
        self.accept = accept
        self.trouble = trouble
        spare = Self.openSpare()
        // Sound: the listener is freed in `close`, at the latest when this object goes.
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        let flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC
        let accepted: evconnlistener_cb = { _, descriptor, _, _, context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue().accept(descriptor)
        }
        guard let made = unsafe evconnlistener_new(loop.base, accepted, this, flags, 0, descriptor) else {
            throw LibeventError("evconnlistener_new")
        }
        unsafe listener = made
        unsafe evconnlistener_set_error_cb(made) { _, context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue().failed()
        }
        pause = ClosureWatcher(loop) { [unowned self] in resume() }
    }

    deinit { close() }

    private static func openSpare() -> CInt { unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }

    private func failed() {
        let error = LibeventError("accept4")
        if error.code == EMFILE || error.code == ENFILE, spare >= 0 {
            _ = Glibc.close(spare)
            let refused = unsafe Glibc.accept4(descriptor, __SOCKADDR_ARG(), nil, 0)
            if refused >= 0 { _ = Glibc.close(refused) }
            spare = Self.openSpare()
        }
        if let listener = unsafe listener { _ = unsafe evconnlistener_disable(listener) }
        try? pause?.wait(for: .timeout, milliseconds: 1000)
        trouble(error)
    }

    private func resume() {
        if spare < 0 { spare = Self.openSpare() }
        if let listener = unsafe listener { _ = unsafe evconnlistener_enable(listener) }
    }

    /// Stops listening and closes the descriptor. Not to be called from `accept` or `trouble`.
    public func close() {
        guard let listener = unsafe listener else { return }
        pause?.stop()
        unsafe evconnlistener_free(listener)
        unsafe self.listener = nil
        if spare >= 0 { _ = Glibc.close(spare) }
        spare = -1
    }
}
