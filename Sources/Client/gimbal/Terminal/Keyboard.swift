// The terminal as the player has it: keys come one by one and are not shown, and the cursor is hidden. Invariant: whichever
// way the program ends or is stopped, the terminal is as it was found; a process in the background leaves it alone.

import GimbalProtocol
import Glibc
import Synchronization

/// The settings that the terminal had, and where it is: what a signal handler needs to bring them back.
nonisolated(unsafe) private var found = termios()
private let changed = Atomic<CInt>(-1)
/// Whether ^Z has come.
private let isStopping = Atomic<Bool>(false)

/// The keys of the terminal that the program runs on.
final class Keyboard {
    private let descriptor: CInt
    /// Whether the descriptor is to be closed.
    private let isOwn: Bool
    private var decoder = KeyDecoder()
    /// Whether keys come.
    private(set) var isOn = false
    private var isOver = false

    /// - Parameter isInputTaken: whether standard input is read for something else; keys then come from the terminal
    ///   behind it.
    /// - Returns: `nil` where keys cannot be pressed and their effect seen: standard error must be a terminal, and so must
    ///   be standard input if it is not taken.
    init?(isInputTaken: Bool = false) {
        guard Terminal.canMoveCursor(STDERR_FILENO) else { return nil }
        if isInputTaken {
            let terminal = unsafe open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)
            guard terminal >= 0 else { return nil }
            (descriptor, isOwn) = (terminal, true)
        } else {
            guard isatty(STDIN_FILENO) == 1 else { return nil }
            (descriptor, isOwn) = (STDIN_FILENO, false)
        }
        begin()
    }

    deinit {
        end()
        if isOwn { _ = close(descriptor) }
    }

    /// What is readable when keys have come; `nil` while none can.
    var source: CInt? { isOn && !isOver ? descriptor : nil }

    /// Whether a key may have come in part, so that its end is not waited for longer than an instant.
    var isUndecided: Bool { decoder.isUndecided }

    // MARK: Keys

    /// The keys that have come.
    func read() -> [Key] {
        guard let source else { return [] }
        var ready = pollfd(fd: source, events: CShort(POLLIN), revents: 0)
        guard unsafe poll(&ready, 1, 0) == 1 else {
            // An escape that nothing follows is no sequence.
            decoder.forget()
            return []
        }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(source, $0.baseAddress, $0.count) }
        if count == 0 { isOver = true }
        return count > 0 ? decoder.read(bytes[..<count]) : []
    }

    // MARK: The terminal

    /// Whether the terminal is this process's at the moment.
    private var isInForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

    /// Takes the terminal, unless it is another process's; to be tried again whenever the program does something.
    func begin() {
        guard !isOn, isInForeground else { return }
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return }
        unsafe found = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        unsafe withUnsafeMutableBytes(of: &settings.c_cc) {
            unsafe $0[Int(VMIN)] = 1
            unsafe $0[Int(VTIME)] = 0
            // ^\ would leave the terminal as it is.
            unsafe $0[Int(VQUIT)] = 0
        }
        isStopping.store(false, ordering: .relaxed)
        changed.store(descriptor, ordering: .relaxed)
        guard unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0 else {
            changed.store(-1, ordering: .relaxed)
            return
        }
        isOn = true
        var action = sigaction()
        // No SA_RESTART: what waits is to come back, and look at the size.
        unsafe action.__sigaction_handler.sa_handler = { number in
            if number == SIGTSTP { isStopping.store(true, ordering: .relaxed) }
        }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for signal in [SIGTSTP, SIGWINCH] {
            _ = unsafe sigaction(signal, &action, nil)
            unsafe sigaddset(&signals, signal)
        }
        // A parent thread that leaves signals to others hands that down.
        unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
        writeError(Self.hideCursor)
    }

    /// Restores the terminal. Remove the player's lines first.
    func end() {
        guard isOn else { return }
        isOn = false
        for signal in [SIGTSTP, SIGWINCH] { _ = Glibc.signal(signal, SIG_DFL) }
        writeError(Self.showCursor)
        Self.restore()
    }

    /// Stops the process if ^Z has come, as any other would be, and goes on when it is continued.
    ///
    /// - Parameters:
    ///   - leave: what is to be done before it stops, the terminal's line removed.
    ///   - resume: what is to be done when it goes on.
    func stopIfAsked(_ leave: () -> Void, _ resume: () -> Void) {
        guard isStopping.exchange(false, ordering: .relaxed) else { return }
        leave()
        end()
        _ = raise(SIGTSTP)
        begin()
        resume()
    }

    /// Brings the terminal's settings back. Safe in a signal handler.
    private static func restore() {
        let descriptor = changed.exchange(-1, ordering: .relaxed)
        // Another process's terminal is its own matter, and to touch it would stop this one.
        guard descriptor >= 0, tcgetpgrp(descriptor) == getpgrp() else { return }
        _ = unsafe tcsetattr(descriptor, TCSANOW, &found)
    }

    /// Brings the terminal back where the process ends at once. Safe in a signal handler: it makes no objects.
    static func restoreNow() {
        guard changed.load(ordering: .relaxed) >= 0 else { return }
        restore()
        // The line is removed, and the cursor is there again.
        let text: StaticString = "\r\u{1b}[J\u{1b}[?25h"
        _ = unsafe write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    }

    private static let hideCursor: PrintableText = "\u{1b}[?25l"
    private static let showCursor: PrintableText = "\u{1b}[?25h"
}
