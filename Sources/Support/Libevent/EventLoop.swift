// libevent's loop, one turn at a time. This module does not depend on what it is used for. Rule throughout: nothing is
// freed inside a callback; the owner of an event frees it between turns.

import CLibevent
import Glibc

/// A call to libevent or the system that failed.
public struct LibeventError: Error, CustomStringConvertible {
    public let call: StaticString
    /// The error number at the time.
    public let code: CInt

    init(_ call: StaticString) {
        self.call = call
        code = errno
    }

    public var description: String { unsafe "\(call): \(String(cString: strerror(code)))" }
}

/// A loop of events. The corresponding C type is `event_base`.
@safe public final class EventLoop {
    let base: OpaquePointer

    /// Creates a loop for one thread. The corresponding C function is `event_base_new_with_config`.
    public init() throws(LibeventError) {
        guard let config = unsafe event_config_new() else { throw LibeventError("event_config_new") }
        defer { unsafe event_config_free(config) }
        // Without a precise timer, waits are rounded up to a millisecond, and screens of a wall are that much apart.
        let flags = EVENT_BASE_FLAG_NOLOCK.rawValue | EVENT_BASE_FLAG_PRECISE_TIMER.rawValue
        _ = unsafe event_config_set_flag(config, CInt(flags))
        guard let base = unsafe event_base_new_with_config(config) else { throw LibeventError("event_base_new") }
        unsafe self.base = base
    }

    deinit { unsafe event_base_free(base) }

    /// Waits until something is ready, and runs all ready callbacks. The corresponding C function is `event_base_loop`.
    ///
    /// - Parameter waits: whether to wait; otherwise only events that are ready now are handled.
    public func turn(waits: Bool = true) throws(LibeventError) {
        // Without EVLOOP_ONCE the loop runs as long as anything is ready, and so for ever if something is not read.
        let flags = EVLOOP_ONCE | (waits ? 0 : EVLOOP_NONBLOCK)
        guard unsafe event_base_loop(base, flags) >= 0 else {
            throw LibeventError("event_base_loop")
        }
    }

    /// The loop's mechanism, such as "epoll". The corresponding C function is `event_base_get_method`.
    public var method: String { unsafe String(cString: event_base_get_method(base)) }

    /// libevent's version. The corresponding C function is `event_get_version`.
    public static var version: String { unsafe String(cString: event_get_version()) }
}
