// The daemon's command line. Swift's argument parser would bring Foundation, and C's keeps its state in globals that
// Swift 6 rightly refuses.

import Glibc

/// What the command line asks for.
struct Options {
    /// What else than running was asked for.
    enum Only {
        case help, version
    }

    struct UsageError: Error {
        let message: String
    }

    var socket: String?
    var mode: mode_t = 0o660
    var maxCameras = 256
    var maxConnections = 1024
    var logLevel = LogLevel.info
    var only: Only?

    static let help = """
        Usage: gimbald [options]

        Owns map cameras: takes gestures and commands on a Unix socket, one JSON object per line,
        and tells subscribers what the cameras do.

        Options:
          --socket PATH          listen on PATH (default: the socket that the service manager passes,
                                 else $RUNTIME_DIRECTORY/gimbal.sock, else $XDG_RUNTIME_DIR/gimbal.sock,
                                 else /tmp/gimbal-UID/gimbal.sock)
          --mode MODE            permissions of the socket file, octal (default: 0660)
          --max-cameras N        at most N cameras, 1 to 65536 (default: 256)
          --max-connections N    at most N clients at a time, 1 to 1000000 (default: 1024)
          --log-level LEVEL      error, warning, info or debug, to standard error (default: info)
          --version              print the version and exit
          -h, --help             print this and exit

        Signals: SIGTERM and SIGINT end it in order; SIGHUP does nothing.

        """

    /// Reads the arguments, the program's name left out: `--name value` or `--name=value`.
    init(arguments: some Sequence<String>) throws(UsageError) {
        var rest = arguments.makeIterator()
        while let word = rest.next() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts.first ?? "")
            switch name {
            case "--help", "-h", "--version":
                guard parts.count == 1 else { throw UsageError(message: "\(name) takes no value") }
                only = only ?? (name == "--version" ? .version : .help)
            case "--socket", "--mode", "--max-cameras", "--max-connections", "--log-level":
                guard let value = parts.count > 1 ? String(parts[1]) : rest.next() else {
                    throw UsageError(message: "\(name) needs a value")
                }
                try set(name, value)
            default:
                throw UsageError(message: "unknown argument \"\(word)\"")
            }
        }
    }

    private mutating func set(_ name: String, _ value: String) throws(UsageError) {
        switch name {
        case "--socket":
            guard !value.isEmpty else { throw UsageError(message: "--socket needs a path") }
            socket = value
        case "--mode":
            guard let mode = mode_t(value, radix: 8), mode <= 0o777 else {
                throw UsageError(message: "--mode \"\(value)\" must be octal, 0 to 0777")
            }
            self.mode = mode
        case "--max-cameras": maxCameras = try Self.count(name, value, 1...65536)
        case "--max-connections": maxConnections = try Self.count(name, value, 1...1_000_000)
        default:
            guard let level = LogLevel(name: value) else {
                throw UsageError(message: "--log-level \"\(value)\" must be error, warning, info or debug")
            }
            logLevel = level
        }
    }

    private static func count(_ name: String, _ value: String, _ range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let count = Int(value), range.contains(count) else {
            throw UsageError(message: "\(name) \"\(value)\" must be \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }
}
