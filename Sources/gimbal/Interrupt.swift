// ^C and a polite kill, as an error that is thrown where the program waits. A second one ends it at once, in the kernel's
// way. A signal is never lost between a look and the next wait: it also makes a descriptor readable.

import Glibc
import Synchronization

private let arrived = Atomic<CInt>(0)
private let wakeUp = Atomic<CInt>(-1)

/// A signal that asks the program to end.
struct Interrupt: Error {
    let signal: CInt

    /// Readable once a signal has come; negative before `arm`.
    static var descriptor: CInt { readable.load(ordering: .relaxed) }
    private static let readable = Atomic<CInt>(-1)

    /// From now on the signals do not kill; `check` throws them.
    static func arm() {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return }
        readable.store(ends[0], ordering: .relaxed)
        wakeUp.store(ends[1], ordering: .relaxed)
        var action = sigaction()
        // No SA_RESTART: what blocks in write(2) is to come back.
        action.sa_flags = CInt(truncatingIfNeeded: SA_RESETHAND)
        unsafe action.__sigaction_handler.sa_handler = { number in
            let error = errno
            arrived.store(number, ordering: .relaxed)
            var byte: UInt8 = 0
            _ = unsafe write(wakeUp.load(ordering: .relaxed), &byte, 1)
            errno = error
        }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM] {
            _ = unsafe sigaction(signal, &action, nil)
            unsafe sigaddset(&signals, signal)
        }
        // Who starts the program from a thread that leaves signals to others hands that down.
        unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Waits for a time, unless a signal comes.
    static func wait(milliseconds: Int) throws(Interrupt) {
        var ready = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
        _ = unsafe poll(&ready, 1, CInt(milliseconds))
        try check()
    }

    /// Throws the signal that has come, if one has.
    static func check() throws(Interrupt) {
        let signal = arrived.load(ordering: .relaxed)
        if signal != 0 { throw Interrupt(signal: signal) }
    }

    /// Whether it is the ^C by which one ends what goes on for ever. The prompt then gets a line of its own.
    func isOrderly() -> Bool {
        if signal == SIGINT, isatty(STDERR_FILENO) == 1 { writeError("\n") }
        return signal == SIGINT
    }

    /// Goes on for what is left to do. The next signal kills.
    func settle() {
        var byte: UInt8 = 0
        _ = unsafe read(Self.descriptor, &byte, 1)
        arrived.store(0, ordering: .relaxed)
    }

    /// Ends the process by the signal, so that a shell sees what happened.
    func end() -> Never {
        _ = Glibc.signal(signal, SIG_DFL)
        _ = raise(signal)
        exit(128 + signal)
    }
}
