// SIGINT, SIGTERM and SIGHUP, handled in the same way for all commands: the first one ends the command in order; a
// command that takes too long to end (see `startTimers`), or gets a second one, is ended here. Invariant: whichever way
// it ends, no unfinished file stays, and the terminal is restored. A signal is never lost between a check and the next
// wait: it also makes a descriptor readable.

import Glibc
import Synchronization

private let arrived = Atomic<CInt>(0)
private let wakeUp = Atomic<CInt>(-1)
/// Whether a signal marks the end of the input, and is not an error.
private let endsInput = Atomic<Bool>(false)
/// The name of a file to remove if the process is ended: the address of a C string, 0 for none.
private let unfinished = Atomic<UInt>(0)
/// A second such file.
private let otherUnfinished = Atomic<UInt>(0)

/// A signal that asks the program to end.
struct Interrupt: Error {
    let signal: CInt

    /// Readable once a signal has arrived; negative before `arm`.
    static var descriptor: CInt { readable.load(ordering: .relaxed) }
    private static let readable = Atomic<CInt>(-1)

    // MARK: Receiving

    /// Installs the handlers: from now on the signals do not kill, and `check` throws them.
    static func arm() {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readable.store(ends[0], ordering: .relaxed)
        wakeUp.store(ends[1], ordering: .relaxed)
        // Globals are created on first use, and a signal handler may not create anything.
        arrived.store(0, ordering: .relaxed)
        unfinished.store(0, ordering: .relaxed)
        otherUnfinished.store(0, ordering: .relaxed)
        for signal in [SIGALRM, SIGPROF] { handle(signal) { _ in Interrupt.endNow() } }
        for signal in [SIGINT, SIGTERM, SIGHUP] where signal != SIGHUP || !isIgnored(SIGHUP) {
            handle(signal) { number in
                let (first, _) = arrived.compareExchange(expected: 0, desired: number, ordering: .relaxed)
                guard first else { Interrupt.endNow() }
                let error = errno
                var byte: UInt8 = 0
                _ = unsafe write(wakeUp.load(ordering: .relaxed), &byte, 1)
                Interrupt.startTimers()
                errno = error
            }
        }
    }

    /// Installs the handler of a signal, and unblocks it. There is no SA_RESTART: a blocking call must return.
    static func handle(_ signal: CInt, _ handler: @escaping @convention(c) (CInt) -> Void) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = handler
        _ = unsafe sigaction(signal, &action, nil)
        unblock(signal)
    }

    /// Unblocks a signal: masks are inherited, and the parent's thread may have blocked it. Safe in a signal handler.
    private static func unblock(_ signal: CInt) {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, signal)
        unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Returns whether a signal is ignored: nohup(1), and sometimes a service manager, has a program ignore SIGHUP.
    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0, let handler = unsafe action.__sigaction_handler.sa_handler
        else { return false }
        return unsafe unsafeBitCast(handler, to: Int.self) == 1  // SIG_IGN, which Swift does not see.
    }

    /// Has SIGPROF or SIGALRM end the process when an orderly end takes too long: after 350 ms of computing, whatever
    /// other processes compute, or 2 s of waiting. Safe in a signal handler: it makes no objects.
    private static func startTimers() {
        var end = itimerval()
        end.it_value.tv_usec = 350_000
        _ = unsafe setitimer(CInt(ITIMER_PROF.rawValue), &end, nil)
        _ = alarm(2)
    }

    /// Ends the process by the signal that has arrived. Safe in a signal handler.
    private static func endNow() -> Never {
        removeFile(unfinished.load(ordering: .relaxed))
        removeFile(otherUnfinished.load(ordering: .relaxed))
        Keyboard.restoreNow()
        die(arrived.load(ordering: .relaxed))
    }

    /// Ends the process by a signal, so that a shell sees what happened.
    private static func die(_ number: CInt) -> Never {
        _ = Glibc.signal(number, SIG_DFL)
        unblock(number)
        _ = raise(number)
        _exit(128 + number)
    }

    // MARK: Ending

    /// Waits for a time, unless a signal arrives.
    static func wait(milliseconds: Int) throws(Interrupt) {
        var ready = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
        _ = unsafe poll(&ready, 1, CInt(milliseconds))
        try check()
    }

    /// Waits until a descriptor that does not block can be written to, unless a signal arrives.
    static func waitForRoom(in output: CInt) throws(Interrupt) {
        // A signal that marks the end of the input may leave its descriptor readable.
        var ready = [
            pollfd(fd: output, events: CShort(POLLOUT), revents: 0),
            pollfd(fd: last == nil ? descriptor : -1, events: CShort(POLLIN), revents: 0),
        ]
        _ = unsafe poll(&ready, nfds_t(ready.count), -1)
        try check()
    }

    /// Throws the signal that has arrived, unless it marks the end of the input.
    static func check() throws(Interrupt) {
        if let interrupt = last, !endsInput.load(ordering: .relaxed) { throw interrupt }
    }

    /// The signal that has arrived, whether or not it marks the end of the input.
    static var last: Interrupt? {
        let signal = arrived.load(ordering: .relaxed)
        return signal == 0 ? nil : Interrupt(signal: signal)
    }

    /// Makes a signal mark the end of the input: `check` no longer throws it.
    static func endInput() { endsInput.store(true, ordering: .relaxed) }

    /// Accepts the signal, so that the command can do what is left and end in order.
    func accept() {
        Self.endInput()
        var byte: UInt8 = 0
        _ = unsafe read(Self.descriptor, &byte, 1)
    }

    /// Ends the process by the accepted signal, if there was one; returns for ^C, which is not an error then.
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

    /// Gives the prompt a line of its own after the "^C" that a terminal shows.
    private static func endLine() {
        if isatty(STDERR_FILENO) == 1 { writeError("\n") }
    }

    // MARK: Files

    /// Removes the file whose name is at an address. Safe in a signal handler.
    private static func removeFile(_ address: UInt) {
        let name = unsafe UnsafePointer<CChar>(bitPattern: address)
        if let name = unsafe name { _ = unsafe unlink(name) }
    }
}

/// A file that is not complete yet: it is removed with this object, or before that by a signal that ends the process.
/// The signal handlers know two of them at a time.
final class UnfinishedFile {
    let name: String
    /// The address of the name as a C string for the signal handlers; 0 if they do not know it.
    private let address: UInt

    init(_ name: String) {
        self.name = name
        let copy = unsafe UInt(bitPattern: strdup(name))
        address = Self.replace(0, by: copy) ? copy : 0
        if address == 0 { unsafe free(UnsafeMutableRawPointer(bitPattern: copy)) }
    }

    deinit {
        _ = unsafe unlink(name)
        if Self.replace(address, by: 0) { unsafe free(UnsafeMutableRawPointer(bitPattern: address)) }
    }

    private static func replace(_ old: UInt, by new: UInt) -> Bool {
        unfinished.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
            || otherUnfinished.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
    }
}
