// The terminal as the player uses it: keys come one by one and are not echoed, and the cursor is hidden. Invariant:
// however the program ends or is stopped, the terminal is restored; a process in the background leaves it alone.

import GimbalProtocol
import Glibc
import Synchronization

/// The terminal's original settings and its descriptor: what a signal handler needs to restore them.
nonisolated(unsafe) private var found = termios()
private let changed = Atomic<CInt>(-1)
/// Whether ^Z was pressed.
private let isStopping = Atomic<Bool>(false)

/// The keys of the terminal that the program runs on.
final class Keyboard {
    private let descriptor: CInt
    private var decoder = KeyDecoder()
    /// Whether keys are read.
    private(set) var isOn = false
    private var isOver = false

    /// - Parameter isInputTaken: whether standard input is read for something else; keys then come from /dev/tty.
    /// - Returns: `nil` unless a person can press keys and see their effect: standard error must be a terminal, and
    ///   standard input, too, if it is not taken.
    init?(isInputTaken: Bool = false) {
        guard Terminal.canMoveCursor(STDERR_FILENO) else { return nil }
        descriptor = isInputTaken ? unsafe open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO
        guard isatty(descriptor) == 1 else { return nil }
        begin()
    }

    deinit {
        end()
        if descriptor > STDERR_FILENO { _ = close(descriptor) }
    }

    /// The descriptor that is readable when keys have arrived; `nil` while none can.
    var source: CInt? { isOn && !isOver ? descriptor : nil }

    /// Whether a key may have arrived in part, whose rest is waited for only an instant.
    var isUndecided: Bool { decoder.isUndecided }

    // MARK: Keys

    /// Returns the keys that have arrived.
    func read() -> [Key] {
        guard let source else { return [] }
        var ready = pollfd(fd: source, events: CShort(POLLIN), revents: 0)
        guard unsafe poll(&ready, 1, 0) == 1 else {
            // An escape that nothing follows does not begin a sequence.
            decoder.forget()
            return []
        }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(source, $0.baseAddress, $0.count) }
        if count == 0 { isOver = true }
        return count > 0 ? decoder.read(bytes[..<count]) : []
    }

    // MARK: The terminal

    /// Takes the terminal, unless it is another process's. Call it again whenever the program does something.
    func begin() {
        guard !isOn, tcgetpgrp(descriptor) == getpgrp() else { return }
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return }
        unsafe found = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        unsafe withUnsafeMutableBytes(of: &settings.c_cc) {
            unsafe $0[Int(VMIN)] = 1
            unsafe $0[Int(VTIME)] = 0
            // ^\ would end the process without restoring the terminal.
            unsafe $0[Int(VQUIT)] = 0
        }
        isStopping.store(false, ordering: .relaxed)
        changed.store(descriptor, ordering: .relaxed)
        guard unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0 else {
            changed.store(-1, ordering: .relaxed)
            return
        }
        isOn = true
        Interrupt.handle(SIGTSTP) { _ in isStopping.store(true, ordering: .relaxed) }
        // It ends a wait, so that the size is read again.
        Interrupt.handle(SIGWINCH) { _ in }
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

    /// Stops the process if ^Z was pressed, like any other process; returns whether it did, when it is continued.
    ///
    /// - Parameter leave: called before the process stops; removes the terminal's lines.
    @discardableResult
    func stopIfAsked(_ leave: () -> Void) -> Bool {
        guard isStopping.exchange(false, ordering: .relaxed) else { return false }
        leave()
        end()
        _ = raise(SIGTSTP)
        begin()
        return true
    }

    /// Restores the terminal's settings. Safe in a signal handler.
    private static func restore() {
        let descriptor = changed.exchange(-1, ordering: .relaxed)
        // Leave another process's terminal alone: touching it would stop this process.
        guard descriptor >= 0, tcgetpgrp(descriptor) == getpgrp() else { return }
        _ = unsafe tcsetattr(descriptor, TCSANOW, &found)
    }

    /// Restores the terminal when the process ends at once. Safe in a signal handler: it makes no objects.
    static func restoreNow() {
        guard changed.load(ordering: .relaxed) >= 0 else { return }
        restore()
        // Remove the lines, and show the cursor.
        let text: StaticString = "\r\u{1b}[J\u{1b}[?25h"
        _ = unsafe write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    }

    private static let hideCursor: PrintableText = "\u{1b}[?25l"
    private static let showCursor: PrintableText = "\u{1b}[?25h"
}
