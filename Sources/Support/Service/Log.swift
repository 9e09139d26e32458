// Logs to standard error, or to the journal if that reads standard error. Every message is one line: a path, a file's
// content or a client's input cannot pass for another line. Logging never blocks: a line that finds no room is dropped,
// and the number of dropped lines is logged when there is room again.

import GimbalProtocol
import Glibc
import Synchronization
import UnixSocket

/// How important a line of a log is.
package enum LogLevel: String, CaseIterable, Comparable, Sendable {
    // From the most important to the least.
    case error, warning, info, debug

    /// syslog's number, which the journal accepts as "<N>" at the beginning of a line.
    fileprivate var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }

    package static func < (a: LogLevel, b: LogLevel) -> Bool { a.priority < b.priority }
}

/// The number of lines that standard error had no room for.
private let leftOut = Atomic<Int>(0)

/// Messages of a service for its administrators.
package struct Log: Sendable {
    private let name: String
    package let level: LogLevel
    /// Whether lines begin with their priority.
    private let isJournal: Bool
    private let journal = Journal()

    /// - Parameters:
    ///   - name: the program's name, which precedes each line, unless the journal reads them, which knows it.
    ///   - level: the least important level that is logged.
    package init(of name: String, level: LogLevel) {
        (self.name, self.level) = (name, level)
        isJournal = SocketPath.environmentValue("JOURNAL_STREAM") != nil
    }

    package func callAsFunction(_ level: LogLevel, _ message: @autoclosure () -> PrintableText) {
        self(level, nil, message())
    }

    /// - Parameters:
    ///   - event: the event of the message, if it is one.
    ///   - fields: more fields for the journal; empty ones are omitted.
    package func callAsFunction(
        _ level: LogLevel, _ event: LogEvent?, _ message: @autoclosure () -> PrintableText,
        _ fields: KeyValuePairs<LogField, String> = [:]
    ) {
        guard level <= self.level else { return }
        let message = message()
        if let journal {
            var entry = [("MESSAGE", "\(message)"), ("PRIORITY", "\(level.priority)"), ("SYSLOG_IDENTIFIER", name)]
            if let event { entry.append(("MESSAGE_ID", event.rawValue)) }
            entry += fields.filter { !$1.isEmpty }.map { ($0.rawValue, $1) }
            if journal.send(entry) { return }
        }
        guard Self.hasRoom else {
            leftOut.add(1, ordering: .relaxed)
            return
        }
        let missing = leftOut.exchange(0, ordering: .relaxed)
        if missing > 0 { write(.warning, "dropped \(counted(missing, "line")) of this log: standard error was full") }
        write(level, message)
    }

    private func write(_ level: LogLevel, _ message: PrintableText) {
        ((isJournal ? "<\(level.priority)>" : "\(name): ") + message + "\n").write(to: STDERR_FILENO)
    }

    /// Whether standard error accepts a line at once.
    private static var hasRoom: Bool {
        var status = pollfd(fd: STDERR_FILENO, events: CShort(POLLOUT), revents: 0)
        return unsafe poll(&status, 1, 0) != 0
    }
}

/// Returns a number with its noun, such as "1 client" and "2 clients".
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
