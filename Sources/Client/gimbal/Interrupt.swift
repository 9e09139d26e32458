// SIGINT, SIGTERM and SIGHUP, one way for all commands: the first one ends the command in order, and what has not ended
// half a second later, or gets a second one, is ended here. Invariant: whichever way it ends, no unfinished file stays,
// and the terminal is as it was.
// A signal is never lost between a look and the next wait: it also makes a descriptor readable.

import Glibc
import Synchronization

private let arrived = Atomic<CInt>(0)
private let wakeUp = Atomic<CInt>(-1)
/// Whether the signal that has come is the end of the input, and no error.
private let endsInput = Atomic<Bool>(false)
/// The name of a file that must not stay if the process is ended; the address of a C string, 0 for none.
private let unfinished = Atomic<UInt>(0)
/// Another one.
private let otherUnfinished = Atomic<UInt>(0)

/// A signal that asks the program to end.
struct Interrupt: Error {
    let signal: CInt

    static let help = """
        ^C, SIGTERM and SIGHUP end every command within half a second, with status 130, 143 and 129 as a shell counts them. \
        A file that is not whole by then is removed. What moves a camera (replay; animate, fit and tour while they wait) stops it \
        where it is. Commands without an end of their own are ended in order, for ^C with status 0: those that follow a \
        camera (watch, record, tour --record, web, and send after a "subscribe"), and convert, inspect, plot and check of a pipe or a device, \
        which finish with what has come.
        """

    /// Readable once a signal has come; negative before `arm`.
    static var descriptor: CInt { readable.load(ordering: .relaxed) }
    private static let readable = Atomic<CInt>(-1)

    // MARK: Receiving

    /// From now on the signals do not kill; `check` throws them.
    static func arm() {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readable.store(ends[0], ordering: .relaxed)
        wakeUp.store(ends[1], ordering: .relaxed)
        // A global is made when it is first used, and no signal handler may make anything.
        arrived.store(0, ordering: .relaxed)
        unfinished.store(0, ordering: .relaxed)
        otherUnfinished.store(0, ordering: .relaxed)
        var end = sigaction()
        unsafe end.__sigaction_handler.sa_handler = { _ in Interrupt.endNow() }
        for signal in [SIGALRM, SIGPROF] { _ = unsafe sigaction(signal, &end, nil) }
        var action = sigaction()
        // No SA_RESTART: what blocks in write(2) is to come back.
        unsafe action.__sigaction_handler.sa_handler = { number in
            let (first, _) = arrived.compareExchange(expected: 0, desired: number, ordering: .relaxed)
            guard first else { Interrupt.endNow() }
            let error = errno
            var byte: UInt8 = 0
            _ = unsafe write(wakeUp.load(ordering: .relaxed), &byte, 1)
            Interrupt.startTimers()
            errno = error
        }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for signal in [SIGALRM, SIGPROF] { unsafe sigaddset(&signals, signal) }
        for signal in [SIGINT, SIGTERM, SIGHUP] where signal != SIGHUP || !isIgnored(SIGHUP) {
            _ = unsafe sigaction(signal, &action, nil)
            unsafe sigaddset(&signals, signal)
        }
        // A parent thread that leaves signals to others hands that down.
        unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
    }

    /// nohup(1) has a program ignore SIGHUP, and so does a service manager at times.
    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0, let handler = unsafe action.__sigaction_handler.sa_handler
        else { return false }
        return unsafe unsafeBitCast(handler, to: Int.self) == 1  // SIG_IGN, which Swift does not see.
    }

    /// Has SIGPROF or SIGALRM come when an end in order takes too long: what computes for 350 ms, or waits for 2 s. A busy
    /// machine, where others compute, takes nothing away. Safe in a signal handler: it makes no objects.
    private static func startTimers() {
        start(CInt(ITIMER_PROF.rawValue), seconds: 0, microseconds: 350_000)
        start(CInt(ITIMER_REAL.rawValue), seconds: 2, microseconds: 0)
    }

    private static func start(_ timer: CInt, seconds: Int, microseconds: Int) {
        var end = itimerval()
        end.it_value.tv_sec = seconds
        end.it_value.tv_usec = microseconds
        _ = unsafe setitimer(timer, &end, nil)
    }

    /// Ends the process by the signal that has come. Safe in a signal handler.
    private static func endNow() -> Never {
        removeFile(unfinished.load(ordering: .relaxed))
        removeFile(otherUnfinished.load(ordering: .relaxed))
        Keyboard.restoreNow()
        die(arrived.load(ordering: .relaxed))
    }

    /// Ends the process by a signal, so that a shell sees what happened.
    private static func die(_ number: CInt) -> Never {
        _ = Glibc.signal(number, SIG_DFL)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, number)
        unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
        _ = raise(number)
        _exit(128 + number)
    }

    // MARK: Ending

    /// Waits for a time, unless a signal comes.
    static func wait(milliseconds: Int) throws(Interrupt) {
        var ready = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
        _ = unsafe poll(&ready, 1, CInt(milliseconds))
        try check()
    }

    /// Throws the signal that has come, unless it is the end of the input.
    static func check() throws(Interrupt) {
        if let interrupt = last, !endsInput.load(ordering: .relaxed) { throw interrupt }
    }

    /// The signal that has come, the end of the input or not.
    static var last: Interrupt? {
        let signal = arrived.load(ordering: .relaxed)
        return signal == 0 ? nil : Interrupt(signal: signal)
    }

    /// Whether a signal has come.
    static var hasCome: Bool { last != nil }

    /// From now on a signal is the end of the input that is read, and `check` does not throw it.
    static func endInput() { endsInput.store(true, ordering: .relaxed) }

    /// Continues with what is left to do until the command ends in order.
    func accept() {
        Self.endInput()
        var byte: UInt8 = 0
        _ = unsafe read(Self.descriptor, &byte, 1)
    }

    /// Ends the process as the signal says that has come and was accepted, if one was: ^C is no error then.
    static func conclude() {
        guard let interrupt = last else { return }
        guard interrupt.signal == SIGINT else { die(interrupt.signal) }
        endLine()
    }

    /// Ends the process by the signal.
    func end() -> Never {
        if signal == SIGINT { Self.endLine() }
        Self.endNow()
    }

    /// A terminal shows "^C"; the prompt gets a line of its own.
    private static func endLine() {
        if isatty(STDERR_FILENO) == 1 { writeError("\n") }
    }

    // MARK: Files

    /// A file that is removed if the process is ended.
    enum Removal { case first, second }

    /// Has a file removed if the process is ended before it is whole.
    ///
    /// - Returns: what ends that, see ``keep(_:)``; `nil` where two files wait for it already.
    static func removeAtEnd(_ name: String) -> Removal? {
        guard let copy = unsafe strdup(name) else { return nil }
        let address = UInt(bitPattern: copy)
        if unfinished.compareExchange(expected: 0, desired: address, ordering: .relaxed).exchanged { return .first }
        if otherUnfinished.compareExchange(expected: 0, desired: address, ordering: .relaxed).exchanged {
            return .second
        }
        unsafe free(copy)
        return nil
    }

    /// Has the file stay.
    static func keep(_ removal: Removal) {
        let old =
            switch removal {
            case .first: unfinished.exchange(0, ordering: .relaxed)
            case .second: otherUnfinished.exchange(0, ordering: .relaxed)
            }
        unsafe free(UnsafeMutableRawPointer(bitPattern: old))
    }

    /// Safe in a signal handler.
    private static func removeFile(_ address: UInt) {
        let name = unsafe UnsafePointer<CChar>(bitPattern: address)
        if let name = unsafe name { _ = unsafe unlink(name) }
    }
}
