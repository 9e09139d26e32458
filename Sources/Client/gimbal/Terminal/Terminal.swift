// Standard output and standard error: what a terminal gets beyond a pipe, and what a line may contain. Invariant: text
// from the daemon or a file reaches a terminal only as printable text; in a pipe, lines of JSON are unchanged.

import GimbalProtocol
import Glibc
import Service
import UnixSocket

enum Terminal {
    /// Returns whether a descriptor is a terminal that can move its cursor.
    static func canMoveCursor(_ descriptor: CInt) -> Bool {
        isatty(descriptor) == 1 && SocketPath.environmentValue("TERM") != "dumb"
    }

    /// Returns how many columns a terminal has; 80 if it does not say.
    static func columns(_ descriptor: CInt) -> Int { side(\.ws_col, of: descriptor) ?? 80 }

    /// Returns how many rows a terminal has; 24 if it does not say.
    static func rows(_ descriptor: CInt) -> Int { side(\.ws_row, of: descriptor) ?? 24 }

    private static func side(_ side: KeyPath<winsize, UInt16>, of descriptor: CInt) -> Int? {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size[keyPath: side] > 0 else { return nil }
        return Int(size[keyPath: side])
    }

    /// Whether text may contain more than ASCII.
    static let isUTF8: Bool = {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap(SocketPath.environmentValue).first { !$0.isEmpty } ?? ""
        return locale.lowercased().contains("utf-8") || locale.lowercased().contains("utf8")
    }()
}

/// Colours, or none.
struct Style {
    let isOn: Bool

    init(isOn: Bool) { self.isOn = isOn }

    init(_ descriptor: CInt) {
        let noColor = SocketPath.environmentValue("NO_COLOR") ?? ""
        isOn = noColor.isEmpty && Terminal.canMoveCursor(descriptor)
    }

    func bold(_ text: PrintableText) -> PrintableText { paint(text, 1) }
    func dim(_ text: PrintableText) -> PrintableText { paint(text, 2) }
    func green(_ text: PrintableText) -> PrintableText { paint(text, 32) }
    func yellow(_ text: PrintableText) -> PrintableText { paint(text, 33) }

    private func paint(_ text: PrintableText, _ code: Int) -> PrintableText {
        isOn ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }
}

// MARK: Standard error

/// Writes one line to standard error.
func say(_ line: PrintableText) { writeError(line + "\n") }

/// Writes text to standard error.
func writeError(_ text: PrintableText) { text.write(to: STDERR_FILENO) }

// MARK: Widths

/// Returns how many columns of a terminal a text takes: East Asian scripts and emoji take two for each character.
func width(_ text: PrintableText) -> Int { text.description.reduce(0) { $0 + width($1) } }

private func width(_ character: Character) -> Int {
    let isWide = character.unicodeScalars.contains { scalar in
        switch scalar.value {
        case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
            0xffe0...0xffe6, 0x1f000...0x1faff, 0x20000...0x3fffd:
            true
        default: false
        }
    }
    return isWide ? 2 : 1
}

/// Returns the beginning of a text that fits into `columns`.
func fitting(_ text: PrintableText, _ columns: Int) -> PrintableText {
    var left = columns
    return text.prefix {
        left -= width($0)
        return left >= 0
    }
}

/// Returns text at the right end of `columns`.
func padded(_ text: PrintableText, _ columns: Int) -> PrintableText {
    PrintableText(repeating: " ", count: columns - width(text)) + text
}

/// Returns text at the left end of `columns`.
func filled(_ text: PrintableText, _ columns: Int) -> PrintableText {
    text + PrintableText(repeating: " ", count: columns - width(text))
}

// MARK: Standard output

/// The reader of standard output is gone.
struct ClosedOutput: Error {}

/// Lines for standard output, which are written together when they are flushed.
final class Output {
    let isTerminal = isatty(STDOUT_FILENO) == 1
    private var table: EventTable?
    /// Whether events are shown as rows instead of lines.
    var hasRows: Bool { table != nil }
    private var bytes: [UInt8] = []

    /// Whether there is nothing to flush.
    var isEmpty: Bool { bytes.isEmpty }

    /// Adds a line for programs, such as the daemon's: unchanged, except on a terminal.
    func add(_ line: ArraySlice<UInt8>) {
        if isTerminal { return add(PrintableText(bytes: line)) }
        bytes += line
        bytes.append(0x0a)
    }

    /// Adds a line of text.
    func add(_ line: PrintableText) {
        bytes += line.description.utf8
        bytes.append(0x0a)
    }

    /// Shows events as rows from now on, if standard output is a terminal.
    ///
    /// - Parameter cameras: the names of the cameras that will appear; `nil` if they are not known.
    func showRows(of cameras: [String]?) { if isTerminal { table = EventTable(cameras: cameras) } }

    /// Adds an event: its rows for people, or the line.
    ///
    /// - Parameter line: what programs get instead of the daemon's own bytes.
    func show(_ message: ReceivedLine, as line: ArraySlice<UInt8>? = nil) {
        guard hasRows else { return add(line ?? message.bytes) }
        for row in table?.lines(message) ?? [] { add(row) }
    }

    /// Writes what was added, if it is enough to be worth a call.
    ///
    /// - Throws: as ``flush()`` does.
    func flushIfLarge() throws { if bytes.count >= 64 << 10 { try flush() } }

    /// Writes what was added.
    ///
    /// - Throws: `ClosedOutput`, `Interrupt`, or a `Failure`.
    func flush() throws {
        var rest = bytes[...]
        bytes = []
        try writeOut(&rest, to: STDOUT_FILENO, named: "standard output")
    }
}

/// Writes all bytes; those that were written are removed from `bytes`, whatever happens to the rest.
///
/// - Throws: `ClosedOutput`, `Interrupt`, or a `Failure`.
func writeOut(_ bytes: inout ArraySlice<UInt8>, to descriptor: CInt, named name: String) throws {
    while !bytes.isEmpty {
        let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
            bytes = bytes.dropFirst(count)
            continue
        }
        let error = SystemError(name)
        try Interrupt.check()
        switch error.code {
        case EINTR: break
        // Another program that shares the pipe or the terminal has made it non-blocking.
        case EAGAIN: try Interrupt.waitForRoom(in: descriptor)
        case EPIPE: throw ClosedOutput()
        default: throw Failure(.ioError, "\(error)")
        }
    }
}
