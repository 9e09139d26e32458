// Lines to standard error, with the journal's priorities where the journal reads them. What is logged is one line each: a
// path, a file's content or what a client sent cannot pass for another one. Only at the level debug is anything logged that
// a client sent.

import GimbalProtocol
import Glibc

enum LogLevel: Int, Comparable {
    // syslog's numbers, which the journal takes as "<N>" in front of a line.
    case error = 3
    case warning = 4
    case info = 6
    case debug = 7

    init?(name: String) {
        switch name {
        case "error": self = .error
        case "warning": self = .warning
        case "info": self = .info
        case "debug": self = .debug
        default: return nil
        }
    }

    static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

struct Log {
    let level: LogLevel
    private let isJournal: Bool

    init(level: LogLevel, environment: (String) -> String?) {
        self.level = level
        isJournal = environment("JOURNAL_STREAM") != nil
    }

    func callAsFunction(_ level: LogLevel, _ message: @autoclosure () -> String) {
        guard level <= self.level else { return }
        writeError(isJournal ? "<\(level.rawValue)>\(message())" : "gimbald: \(message())")
    }
}

/// Such as "1 client" and "2 clients".
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// Writes one line to standard error.
func writeError(_ line: String) {
    let bytes = Array((line.printable + "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
