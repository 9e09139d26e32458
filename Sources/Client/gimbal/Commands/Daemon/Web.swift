// `gimbal web`: opens a page of the cameras in one command. The page's server is a separate program, gimbal-web; this
// command finds it, starts a daemon if none answers, and ends what it has started.

import ArgumentParser
import Glibc
import UnixSocket

struct Web: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Open a page that shows and moves the cameras.",
        """
        Starts gimbal-web, and opens its page in the browser. If no daemon answers, it starts one, too, which ends \
        with the page's server; other commands find it where they look for a daemon.

        The page shows what each camera sees, all cameras on a map, events and a timeline, and moves cameras by touch, \
        mouse and keys. It plays a recording that is dropped onto it. Anyone with its link may move the cameras. \
        gimbal-web(8) says who can connect, and how phones can.

        Examples:
          gimbal web
          gimbal web --no-open --port 8080 >link
          gimbal web --listen 0.0.0.0 --insecure-lan
        """)

    @Option("The daemon's socket.", "path", completion: .file(extensions: ["sock"]))
    var socket: String?

    @Flag(inversion: .prefixedNo, help: "Open the page in the browser.")
    var open = true

    @Argument(
        parsing: .allUnrecognized, help: "Options of gimbal-web, such as --port; \"gimbal-web --help\" lists them.")
    var options: [String] = []

    private static let server = "gimbal-web"
    /// How long a daemon may take to start, in milliseconds.
    private static let timeoutMs = 5000.0

    func run() throws {
        guard let server = Program.beside(Self.server) ?? Program.find(Self.server) else {
            throw Failure(
                .unavailable,
                "gimbal-web is not installed; in Gimbal's sources, \"make web install-web\" builds and installs it")
        }
        var started: [pid_t] = []
        defer { Self.end(started) }
        if let path = try pathOfNoDaemon() { try Self.startDaemon(path, &started) }
        do {
            let process = try Program.start(server, arguments, input: STDIN_FILENO)
            started.append(process)
            let status = try Program.status(of: process)
            started.removeLast()
            if status != 0 { throw ExitCode(status) }
        } catch let interrupt as Interrupt {
            // ^C is the normal end.
            interrupt.accept()
        }
    }

    /// The server's options.
    private var arguments: [String] {
        (socket.map { ["--socket", $0] } ?? []) + (open ? ["--open"] : []) + options.map(NegativeNumbers.unshieldedWord)
    }

    /// Returns the path at which to start a daemon; `nil` if one answers.
    private func pathOfNoDaemon() throws -> String? {
        var options = try SocketOptions.parse([])
        options.socket = socket
        do {
            _ = try DaemonConnection(options)
            return nil
        } catch let failure as Failure {
            // A daemon that refuses the connection, or does not answer, still owns the socket.
            let candidates = options.candidates
            guard failure.status == .unavailable, candidates.allSatisfy(Self.isFree) else { throw failure }
            return candidates.first
        }
    }

    private static func isFree(_ path: String) -> Bool {
        do throws(SystemError) {
            _ = close(try UnixSocket.connect(path, blocks: false))
            return false
        } catch {
            return [ENOENT, ECONNREFUSED, ENOTDIR].contains(error.code)
        }
    }

    /// Starts a daemon, and waits until it listens.
    private static func startDaemon(_ path: String, _ started: inout [pid_t]) throws {
        guard let program = Program.beside("gimbald") ?? Program.find("gimbald") else {
            throw Failure(.unavailable, "no daemon answers, and gimbald is not installed")
        }
        let daemon = try Program.start(program, ["--socket", path, "--log-level", "warning"], input: STDIN_FILENO)
        started.append(daemon)
        let limit = TimeLimit(milliseconds: timeoutMs)
        while isFree(path) {
            guard waitpid(daemon, nil, WNOHANG) == 0 else {
                started.removeLast()
                throw Failure(.unavailable, "no daemon answers, and gimbald did not start")
            }
            guard limit.left > 0 else {
                throw Failure(.unavailable, "no daemon answers, and gimbald took too long to start")
            }
            try Interrupt.wait(milliseconds: 10)
        }
    }

    /// Ends programs. All are signaled before any is waited for, so that none survives if this one is killed meanwhile.
    private static func end(_ processes: [pid_t]) {
        for process in processes.reversed() { _ = kill(process, SIGTERM) }
        for process in processes.reversed() { while waitpid(process, nil, 0) < 0, errno == EINTR {} }
    }
}

extension Program {
    /// Returns the path of a program in this program's folder.
    static func beside(_ name: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
        guard count > 0 else { return nil }
        let program = String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let slash = program.lastIndex(of: "/") else { return nil }
        let path = program[...slash] + name
        return unsafe access(String(path), X_OK) == 0 ? String(path) : nil
    }
}
