// Starts the daemon. An error is one line on standard error and an exit code of sysexits.h.

import Glibc
import Libevent
import UnixSocket

@main
struct Main {
    // sysexits.h
    private static let usage: CInt = 64
    private static let unavailable: CInt = 69
    private static let osError: CInt = 71
    private static let cannotCreate: CInt = 73

    static func main() {
        signal(SIGPIPE, SIG_IGN)  // A client that is gone is no signal,
        signal(SIGXFSZ, SIG_IGN)  // nor is a limit of files' sizes: what is saved fails with a word.
        Signals.hold()
        do {
            let options = try Options(arguments: CommandLine.arguments.dropFirst())
            if let only = options.only {
                print(only.text, terminator: "")
            } else {
                try run(options)
            }
        } catch let error as Options.UsageError {
            fail(usage, "\(error.message); see gimbald --help")
        } catch let error as SystemError {
            fail(error.code == EADDRINUSE ? unavailable : cannotCreate, "\(error)")
        } catch {
            fail(osError, "\(error)")
        }
    }

    private static func run(_ options: Options) throws {
        Memory.prepare()
        let log = Log(level: options.logLevel, environment: SocketPath.environmentValue)
        try Daemon(options, log).run()
    }

    private static func fail(_ code: CInt, _ message: String) {
        writeError("gimbald: \(message)")
        exit(code)
    }
}
