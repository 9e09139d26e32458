// A program on its own terminal: what a person would see of it, and the keys that the person presses.

import Foundation

/// A program that runs on a pseudo-terminal in its own session.
public final class PseudoTerminal {
    private let terminal: CInt
    private let process = Process()
    /// All bytes written to the terminal.
    public private(set) var bytes: [UInt8] = []
    /// How much of the output has been waited for.
    private var seen = 0

    private static var noTerminal: TestFailure {
        TestFailure(description: "no terminal: \(String(cString: strerror(errno)))")
    }

    /// TIOCSPTLCK and TIOCGPTPEER, whose macros Swift does not see.
    private static let (lock, openOtherEnd): (UInt, UInt) = (0x4004_5431, 0x5441)

    /// Starts a program on a terminal with this many columns.
    public init(_ program: URL, _ arguments: [String], columns: Int = 80, environment: [String: String] = [:]) throws {
        terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var isLocked: CInt = 0
        guard terminal >= 0, ioctl(terminal, Self.lock, &isLocked) == 0 else { throw Self.noTerminal }
        let end = ioctl(terminal, Self.openOtherEnd, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard end >= 0 else { throw Self.noTerminal }
        let handle = FileHandle(fileDescriptor: end, closeOnDealloc: true)
        resize(columns: columns)
        // A new session that has this terminal.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = ["--ctty", "--wait", program.path] + arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(["TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"]) { $1 }.merging(environment) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (handle, handle, handle)
        try process.run()
        // The terminal closes when the program closes its end.
        try handle.close()
    }

    deinit {
        if process.isRunning { signal(SIGKILL) }
        close(terminal)
        if process.isRunning { process.terminate() }
    }

    // MARK: Input

    public func press(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = bytes.withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
    }

    public func resize(columns: Int, rows: Int = 24) {
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
    }

    /// Sends a signal to the program in the foreground.
    public func signal(_ number: CInt) {
        let group = tcgetpgrp(terminal)
        if group > 1 { kill(-group, number) }
    }

    /// Whether keys arrive one by one.
    public var isRaw: Bool {
        var settings = termios()
        return tcgetattr(terminal, &settings) == 0 && settings.c_lflag & tcflag_t(ICANON) == 0
    }

    // MARK: Output

    /// Reads what comes; returns `false` once the program has closed the terminal, or if nothing comes for long.
    private func read() -> Bool {
        guard isReadable(terminal) else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(terminal, &buffer, buffer.count)
        guard count > 0 else { return false }
        bytes += buffer[..<count]
        return true
    }

    /// The output as text.
    public var output: String { String(decoding: bytes, as: UTF8.self) }

    /// Waits until a text is written after everything found before.
    public func wait(for text: String) throws {
        var start = seen
        while true {
            if let found = bytes[start...].firstRange(of: Array(text.utf8)) {
                seen = found.upperBound
                return
            }
            // Part of it may be there already.
            start = max(seen, bytes.count - text.utf8.count)
            guard read() else {
                throw TestFailure(description: "no \"\(text)\" in \(output.suffix(600).debugDescription)")
            }
        }
    }

    /// Waits until the program has ended; returns its exit status, or the negative signal.
    public func end() throws -> CInt {
        while read() {}
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// The lines that were drawn over one another, without cursor movements.
    public var drawn: [String] {
        output.split(whereSeparator: { $0 == "\r" || $0 == "\n" || $0 == "\r\n" }).map {
            String($0.replacing(#/\u{1b}\[[0-9;?]*[A-Za-z]/#, with: ""))
        }
    }
}
