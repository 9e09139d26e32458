// Starts the daemon. An error is one line on standard error and an exit code of sysexits.h.

import GimbalProtocol
import Glibc
import Libevent
import Service
import UnixSocket

@main
struct Main {
    private static let name = "gimbald"
    // sysexits.h
    private static let usage: CInt = 64
    private static let unavailable: CInt = 69
    private static let osError: CInt = 71
    private static let cannotCreate: CInt = 73
    private static let ioError: CInt = 74

    static func main() {
        signal(SIGPIPE, SIG_IGN)  // Writing to a client that is gone fails with EPIPE instead,
        signal(SIGXFSZ, SIG_IGN)  // and writing beyond the limit of file sizes fails with EFBIG.
        Signals.block()
        var level = LogLevel.info
        let log = Log(of: name, level: level)
        let manager = ServiceManager(log)
        do {
            let options = try Options(arguments: CommandLine.arguments.dropFirst())
            level = options.logLevel
            if let only = options.only {
                let text = only.text
                PrintableText(lines: text).write(to: STDOUT_FILENO)
                if case .check = only, !text.isEmpty { exit(1) }
            } else {
                try run(options, manager)
            }
        } catch {
            let (status, message) = explain(error)
            // A failure at the end is not a failure to start.
            let hasStarted = status == ioError
            Log(of: name, level: level)(.error, hasStarted ? nil : .notStarted, message)
            if !hasStarted { manager.report(startFailure: message) }
            exit(status)
        }
    }

    private static func run(_ options: Options, _ manager: ServiceManager) throws {
        Memory.prepare()
        let log = Log(of: name, level: options.logLevel)
        try Daemon(options, log, manager).run()
    }

    /// Returns the exit status and the message for an error.
    private static func explain(_ error: any Error) -> (status: CInt, message: PrintableText) {
        switch error {
        case let error as Options.UsageError: (usage, "\(error.message); see gimbald --help")
        case let error as StateKeeper.Loss: (ioError, "\(error)")
        case let error as SystemError: (error.code == EADDRINUSE ? unavailable : cannotCreate, "\(error)")
        default: (osError, "\(error)")
        }
    }
}
