// The daemon's command line: one table of options defines parsing, settings, help, man page and completions. Swift's
// argument parser would bring Foundation, and C's keeps its state in globals, which Swift 6 rightly refuses.

import Glibc
import Hub
import Service
import UnixSocket

/// The options of the command line.
struct Options {
    /// A text to print instead of running.
    enum Only {
        case help, version, toolInfo
        case completions(Shell)
        /// A file of settings before the administrator has changed it.
        case settings
        /// The problems of the settings file with this name.
        case check(String)
    }

    struct UsageError: Error {
        let message: String
    }

    /// One of the daemon's own socket files.
    struct SocketFile {
        /// `nil` if no option names it.
        var path: String?
        var mode: mode_t
        /// `nil` for the daemon's own.
        var group: gid_t?
        /// The options that have set the mode or the group.
        var setBy: Set<String> = []
    }

    var socket = SocketFile(mode: 0o660)
    var watchSocket = SocketFile(mode: 0o666)

    func file(of kind: SocketKind) -> SocketFile {
        switch kind {
        case .main: socket
        case .watch: watchSocket
        }
    }

    var access = Access()
    var stateDirectory: String?
    var traceDirectory: String?
    var limits = Limits()
    var logLevel = LogLevel.info
    var only: Only?

    private static let standard = Options()

    init() {}

    /// Reads the arguments without the program's name: `--name value` or `--name=value`.
    init(arguments: some Sequence<String>) throws(UsageError) {
        var rest = arguments.makeIterator()
        while let word = rest.next() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let name = parts.first, let option = Self.option(name) else {
                throw UsageError(message: "unknown argument \"\(word)\"")
            }
            guard option.value != nil else {
                guard parts.count == 1 else { throw UsageError(message: "\(name) takes no value") }
                try option.apply(&self, "")
                continue
            }
            guard let value = parts.count > 1 ? parts[1] : rest.next() ?? option.usual else {
                throw UsageError(message: "\(name) needs a value")
            }
            try option.apply(&self, value)
        }
        try check()
    }

    /// Checks conditions on several options.
    func check() throws(UsageError) {
        guard socket.path == nil || socket.path != watchSocket.path else {
            throw UsageError(message: "--socket and --watch-socket must not be the same")
        }
    }
}

/// One option: its names, its help, and its effect.
struct Option: Sendable {
    /// A kind of value that a shell can complete.
    enum Value: Sendable {
        case text(String)
        case path(String)
        case words(String, [String])

        /// The value's name in the help.
        var name: String {
            switch self {
            case .text(let name), .path(let name), .words(let name, _): name
            }
        }
    }

    /// The long name last.
    var names: [String]
    /// `nil` if the option takes no value.
    var value: Value?
    /// The value if none follows the name.
    var usual: String?
    /// Whether every occurrence counts; otherwise the last one does.
    var isRepeating = false
    /// The lines in the help; empty for an option that is for tools only.
    var help = ""
    var apply: @Sendable (inout Options, String) throws(Options.UsageError) -> Void
}

/// A limit on something that can grow.
struct LimitOption: Sendable {
    let name: String
    private let limit: WritableKeyPath<Limits, Int> & Sendable
    private let range: ClosedRange<Int>
    /// The description of N, and the text after the default.
    private let what, note: String

    init(
        _ name: String, _ limit: WritableKeyPath<Limits, Int> & Sendable, _ range: ClosedRange<Int>, _ what: String,
        note: String = ""
    ) {
        (self.name, self.limit, self.range, self.what, self.note) = (name, limit, range, what, note)
    }

    var standard: Int { Limits()[keyPath: limit] }
    private var bounds: String { "\(range.lowerBound) to \(range.upperBound)" }

    /// The lines in the help.
    var help: String {
        let gap = what.count + note.count < 30 ? " " : "\n"
        return "\(what)\(gap)(\(bounds); default: \(standard)\(note))"
    }

    func set(_ value: String, as option: String, in options: inout Options) throws(Options.UsageError) {
        guard let number = Int(value), range.contains(number) else {
            throw Options.UsageError(message: "\(option) \"\(value)\" must be \(bounds)")
        }
        options.limits[keyPath: limit] = number
    }
}

extension Options {
    /// The limits of everything that can grow. The protocol promises minimal histories, so they can only be longer.
    static let limits = [
        LimitOption("connections", \.connections, 1...1_000_000, "at most N connections"),
        LimitOption(
            "connections-per-user", \.connectionsPerUser, 1...1_000_000, "at most N connections per user",
            note: ", half of all connections;\nno limit for root and the daemon's own user"),
        LimitOption("cameras", \.cameras, 1...65536, "at most N cameras"),
        LimitOption("subscriptions", \.subscriptions, 1...65536, "at most N subscriptions per connection"),
        LimitOption("waits", \.waits, 1...65536, "at most N requests per connection waiting for a camera"),
        LimitOption("gestures", \.gestures, 1...1024, "at most N active gestures per connection and camera"),
        LimitOption(
            "camera-gestures", \.cameraGestures, 1...4096, "at most N active gestures per camera, of all connections"),
        LimitOption("surfaces", \.surfaces, 1...1024, "at most N touched surfaces per connection and camera"),
        LimitOption(
            "camera-surfaces", \.cameraSurfaces, 1...1024, "at most N touched surfaces per camera, of all connections"),
        LimitOption("line", \.line, 1024...1_048_576, "at most N bytes per line"),
        LimitOption("batch", \.batch, 1...1024, "at most N objects per array"),
        LimitOption(
            "requests", \.requestsPerTurn, 1...65536,
            "N requests per client per turn; up to 4 N with many subscribers"),
        LimitOption(
            "unread", \.unreadReplies, 4096...(1 << 30), "at most N bytes of unread answers; then requests wait"),
        LimitOption(
            "read-ahead", \.readAhead, 4096...(1 << 24), "at most N bytes of waiting lines; then reading stops"),
        LimitOption("history-events", \.historyEvents, 4096...(1 << 20), "keep at least N events of each camera"),
        LimitOption(
            "history-bytes", \.historyBytes, (1 << 20)...(1 << 30), "keep at least N bytes of each camera's events"),
        LimitOption(
            "replay-bytes", \.replayBytes, (1 << 16)...(1 << 30),
            "keep at most N bytes per replay, for seeking back"),
        LimitOption("all-replay-bytes", \.allReplayBytes, (1 << 16)...(1 << 30), "keep at most N bytes of all replays"),
        LimitOption("markers", \.markers, 1...65536, "at most N markers per replay"),
    ]

    private static let limit = Option(
        names: ["--limit"], value: .words("NAME=N", limits.map { $0.name + "=" }), isRepeating: true,
        help: "set a limit (repeatable; the names are listed below)"
    ) { options, value throws(UsageError) in
        let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let limit = limits.first(where: { $0.name == parts[0] }) else {
            throw UsageError(message: "--limit \"\(value)\" must be a limit's name and a number, such as cameras=300")
        }
        try limit.set(parts[1], as: "--limit \(limit.name)", in: &options)
    }

    static func option(_ name: String, in table: [Option] = table) -> Option? {
        if let option = table.first(where: { $0.names.contains(name) }) { return option }
        // Each limit is also an option of its own, as before --limit existed.
        return limits.first { ["--max-\($0.name)", "--\($0.name)"].contains(name) }.map { limit in
            Option(names: [name], value: .text("N")) { options, value throws(UsageError) in
                try limit.set(value, as: name, in: &options)
            }
        }
    }

    static let table = settings + files + others
    /// The options that a file may have.
    static let settings = sockets + [limit, logLevel]

    private static let sockets = [
        path(
            "--socket", "PATH", "a path", \.socket.path,
            help: """
                listen on PATH (default: the socket passed by the service manager,
                else $RUNTIME_DIRECTORY/gimbal.sock, else $XDG_RUNTIME_DIR/gimbal.sock,
                else /tmp/gimbal-UID/gimbal.sock)
                """),
        mode("--mode", "the socket file", \.socket),
        group("--socket-group", "the socket file", \.socket),
        path(
            "--watch-socket", "PATH", "a path", \.watchSocket.path,
            help: """
                also listen on PATH, for clients that may only subscribe and query
                (default: the socket named "watch" passed by the service manager)
                """),
        mode("--watch-mode", "the watch socket file", \.watchSocket),
        group("--watch-group", "the watch socket file", \.watchSocket),
        Option(
            names: ["--allow-user"], value: .text("USER"), isRepeating: true,
            help: """
                let USER, a name or number, feed and command cameras (repeatable; others
                may only subscribe and query, except root and the daemon's own user;
                default: all users who can connect, unless --allow-group is given)
                """
        ) { options, value throws(UsageError) in
            guard let user = Account.user(value) else {
                throw UsageError(message: "--allow-user: there is no user \"\(value)\"")
            }
            options.access.users.insert(user)
        },
        Option(
            names: ["--allow-group"], value: .text("GROUP"), isRepeating: true,
            help: "let members of GROUP feed and command cameras (repeatable)"
        ) { options, value throws(UsageError) in
            options.access.groups.insert(try knownGroup("--allow-group", value))
        },
        path(
            "--state-dir", "DIR", "a folder", \.stateDirectory,
            help: """
                save the cameras in DIR from one run to the next (default:
                $STATE_DIRECTORY; without either, cameras are not saved)
                """),
        path(
            "--trace-dir", "DIR", "a folder", \.traceDirectory,
            help: """
                read traces from DIR for cameras to play when nothing moves them
                (set-idle-action; a restart in place reads them again)
                """),
    ]

    private static let logLevel = choice(
        "--log-level", "LEVEL",
        help: { "log at this level to standard error: \($0)\n(default: \(standard.logLevel))" }
    ) { (options: inout Options, level: LogLevel) in options.logLevel = level }

    private static let files = [
        Option(
            names: ["--config"], value: .path("FILE"),
            help: """
                read options from FILE, if it exists: lines of NAME = VALUE, limits by name;
                FILE overrides options before --config, and options after it override FILE
                """
        ) { options, value throws(UsageError) in
            if let problem = options.takeSettings(from: value).first { throw UsageError(message: problem) }
        },
        Option(
            names: ["--check-config"], value: .path("FILE"), usual: settingsFile,
            help: "print the problems in FILE and exit\n(default: \(settingsFile))"
        ) { options, value in options.only = options.only ?? .check(value) },
    ]

    private static let others = [
        only("--version", help: "print the version and exit", .version),
        only("-h", "--help", help: "print this help and exit", .help),
        only("--generate-config", help: "", .settings),
        only("--experimental-dump-help", help: "", .toolInfo),
        choice("--generate-completion-script", "SHELL", help: { _ in "" }) { (options: inout Options, shell: Shell) in
            options.only = options.only ?? .completions(shell)
        },
    ]

    /// Returns an option for a path that must not be empty.
    private static func path(
        _ name: String, _ value: String, _ need: String, _ path: WritableKeyPath<Options, String?> & Sendable,
        help: String
    ) -> Option {
        Option(names: [name], value: .path(value), help: help) { options, value throws(UsageError) in
            guard !value.isEmpty else { throw UsageError(message: "\(name) needs \(need)") }
            options[keyPath: path] = value
        }
    }

    /// Returns an option for the permissions of a socket file.
    private static func mode(
        _ name: String, _ file: String, _ socket: WritableKeyPath<Options, SocketFile> & Sendable
    ) -> Option {
        let standard = "0" + String(standard[keyPath: socket].mode, radix: 8)
        let help = "permissions of \(file), octal (default: \(standard))"
        return Option(names: [name], value: .text("MODE"), help: help) { options, value throws(UsageError) in
            guard let mode = mode_t(value, radix: 8), mode <= 0o777 else {
                throw UsageError(message: "\(name) \"\(value)\" must be octal, 0 to 0777")
            }
            options[keyPath: socket].mode = mode
            options[keyPath: socket].setBy.insert(name)
        }
    }

    /// Returns an option for the group of a socket file.
    private static func group(
        _ name: String, _ file: String, _ socket: WritableKeyPath<Options, SocketFile> & Sendable
    ) -> Option {
        let help = "group of \(file), by name or number (default: the daemon's)"
        return Option(names: [name], value: .text("GROUP"), help: help) { options, value throws(UsageError) in
            options[keyPath: socket].group = try knownGroup(name, value)
            options[keyPath: socket].setBy.insert(name)
        }
    }

    private static func knownGroup(_ option: String, _ value: String) throws(UsageError) -> gid_t {
        guard let group = Account.group(value) else {
            throw UsageError(message: "\(option): there is no group \"\(value)\"")
        }
        return group
    }

    /// Returns an option whose value is one of several words.
    ///
    /// - Parameters:
    ///   - help: makes the help from the list of words.
    ///   - set: applies a word.
    private static func choice<Word: CaseIterable & RawRepresentable<String> & Sendable>(
        _ name: String, _ value: String, help: (String) -> String,
        set: @escaping @Sendable (inout Options, Word) -> Void
    ) -> Option {
        let words = Word.allCases.map(\.rawValue)
        let all = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        return Option(names: [name], value: .words(value, words), help: help(all)) { options, text throws(UsageError) in
            guard let word = Word(rawValue: text) else {
                throw UsageError(message: "\(name) \"\(text)\" must be \(all)")
            }
            set(&options, word)
        }
    }

    /// Returns an option for a text to print instead of running the daemon. The first of several wins.
    private static func only(_ names: String..., help: String, _ only: Only) -> Option {
        Option(names: names, help: help) { options, _ in options.only = options.only ?? only }
    }
}
