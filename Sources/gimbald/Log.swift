// Lines to standard error, with the journal's priorities where the journal reads them. Nothing that a client sends is
// ever logged.

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

/// Writes one line to standard error.
func writeError(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
