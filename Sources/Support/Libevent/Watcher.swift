// One event: a descriptor becomes ready, a signal arrives, or a time is reached.

import CLibevent
import Glibc

/// The conditions that an event waits for, or that have occurred.
public struct Readiness: OptionSet, Sendable {
    public let rawValue: CShort
    public init(rawValue: CShort) { self.rawValue = rawValue }

    public static let timeout = Readiness(rawValue: CShort(EV_TIMEOUT))
    public static let read = Readiness(rawValue: CShort(EV_READ))
    public static let write = Readiness(rawValue: CShort(EV_WRITE))
    public static let signal = Readiness(rawValue: CShort(EV_SIGNAL))
    /// Stays until it is removed.
    public static let persist = Readiness(rawValue: CShort(EV_PERSIST))
    /// Reports changes only.
    public static let edge = Readiness(rawValue: CShort(EV_ET))
}

/// An event of a loop; subclasses handle it. The corresponding C type is `event`.
///
/// It must stay alive while it waits: `stop()` it before releasing the last reference.
@safe open class Watcher {
    private let loop: EventLoop
    private var event: OpaquePointer?
    /// The descriptor or the signal's number; -1 for a timer.
    public final let number: CInt
    private var waitingFor: Readiness = []

    /// - Parameter number: a descriptor, a signal's number, or -1 for a timer.
    public init(_ loop: EventLoop, _ number: CInt) {
        self.loop = loop
        self.number = number
    }

    deinit {
        if let event = unsafe event { unsafe event_free(event) }
    }

    /// Handles the event.
    open func ready(_ what: Readiness) {}

    /// Waits for a condition from now on, instead of the one before. The corresponding C functions are `event_assign`
    /// and `event_add`.
    public func wait(for what: Readiness, milliseconds: Double? = nil) throws(LibeventError) {
        let isNew = unsafe event == nil
        if isNew || what != waitingFor { try assign(what) }
        guard let event = unsafe event else { return }
        guard let milliseconds else {
            guard unsafe event_add(event, nil) == 0 else { throw LibeventError("event_add") }
            return
        }
        let microseconds = Int((max(milliseconds, 0) * 1000).rounded(.up))
        var time = timeval(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
        guard unsafe event_add(event, &time) == 0 else { throw LibeventError("event_add") }
    }

    private func assign(_ what: Readiness) throws(LibeventError) {
        // Sound: the event is freed with this object or before it, so the pointer never outlives the object.
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        let callback: event_callback_fn = { _, what, context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<Watcher>.fromOpaque(context).takeUnretainedValue().ready(Readiness(rawValue: what))
        }
        if let event = unsafe event {
            _ = unsafe event_del(event)
            guard unsafe event_assign(event, loop.base, number, what.rawValue, callback, this) == 0 else {
                throw LibeventError("event_assign")
            }
        } else {
            guard let made = unsafe event_new(loop.base, number, what.rawValue, callback, this) else {
                throw LibeventError("event_new")
            }
            unsafe event = made
        }
        waitingFor = what
    }

    /// Stops waiting. The corresponding C function is `event_del`.
    public func stop() {
        if let event = unsafe event { _ = unsafe event_del(event) }
    }
}

/// A watcher that calls a closure, for what is made once, such as signals and timers.
public final class ClosureWatcher: Watcher {
    private let body: () -> Void

    public init(_ loop: EventLoop, _ number: CInt = -1, _ body: @escaping () -> Void) {
        self.body = body
        super.init(loop, number)
    }

    public override func ready(_ what: Readiness) { body() }

    /// Calls the closure whenever a signal of a number arrives.
    public static func signal(_ loop: EventLoop, _ number: CInt, _ body: @escaping () -> Void) throws(LibeventError)
        -> ClosureWatcher
    {
        let watcher = ClosureWatcher(loop, number, body)
        try watcher.wait(for: [.signal, .persist])
        return watcher
    }
}
