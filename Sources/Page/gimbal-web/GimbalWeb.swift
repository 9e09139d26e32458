// The program: options, sockets passed by a service manager, signals, and output. The link is the only line on standard
// output; explanations go to standard error, if a person is there to read them.

import ArgumentParser
import Dispatch
import GimbalProtocol
import Glibc
import ProgramOptions
import Service
import Synchronization
import UnixSocket
import WebServer

@main
struct GimbalWeb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gimbal-web",
        abstract: "Serves a web page that shows and moves a daemon's map cameras.",
        discussion: """
            Prints the link of the page as the only line on standard output, and serves until ^C or SIGTERM. "gimbal web" \
            starts it, with a daemon if none is running, and opens the page.

            The link contains a token, after the #. A browser with this token may move cameras; a second token, whose link the \
            page shows, only lets it watch. Only this machine can connect unless --listen names another address. Then the link \
            works for others in the network, too, and --tls-cert and --tls-key encrypt all traffic. --insecure-lan does \
            without TLS: every machine in the network can read the traffic, including the token, and the browser of a phone \
            gives the page no wake lock, and only one position per finger and frame instead of all of them.

            The map shows coastlines and borders, drawn by the page. With --map-style and --map-engine, MapLibre GL JS draws \
            it in a style of your own. The page may then also send requests to the origin of the style and to those given with \
            --map-origin, but to no others.

            A service manager may pass the listening socket (systemd.socket(5)), as gimbal-web.socket does.

            Limits: \(Limits().connections) connections, \(Limits().streams) pages, requests of \(Limits().lineBytes >> 10) KiB \
            (a recording: \(Limits().recordingBytes >> 20) MiB), \(Int(Limits().requestsPerSecond)) of them per second and page. \
            A page that does not read fast enough is told what it missed.

            Examples:
              gimbal-web --port 8080
              gimbal-web --listen 0.0.0.0 --tls-cert chain.pem --tls-key key.pem
              gimbal-web --listen 0.0.0.0 --insecure-lan
              gimbal-web --port 8117 --allow-origin https://map.example
              gimbal-web --map-style https://map.example/s.json --map-engine maplibre-gl.js

            Exit status:
              0    stopped by ^C or SIGTERM
              64   usage error
              69   cannot listen
              78   cannot use the tokens, the certificate or the map engine; a restart does not help
            """,
        version: "gimbal-web \(gimbalVersion)")

    @Option("The daemon's socket (default: where gimbal looks for it).", "path")
    var socket: String?

    @Option("The port, 0 to 65535; 0 picks a free one.", "number")
    var port = 0

    @Option(
        "The address to listen on; beyond this machine, needs --tls-cert and --tls-key or --insecure-lan.", "address")
    var listen = "127.0.0.1"

    @Option("The certificate and its chain, in PEM.", "file", name: .customLong("tls-cert"), completion: .file())
    var tlsCertificate: String?

    @Option("The certificate's key, in PEM.", "file", completion: .file())
    var tlsKey: String?

    @Flag(help: "Listen beyond this machine without TLS: every machine in the network can read the traffic.")
    var insecureLan = false

    @Option(
        "Another name of the server, such as the one in its certificate; may be repeated.", "name")
    var host: [String] = []

    @Option(
        "The origin of pages of your own that may follow and feed cameras, with a token, such as https://map.example; "
            + "may be repeated.", "origin")
    var allowOrigin: [String] = []

    @Option("The address of a style for MapLibre GL JS to draw the map in; needs --map-engine.", "url")
    var mapStyle: String?

    @Option("Your maplibre-gl.js, 5.24 or later, for --map-style.", "file", completion: .file(extensions: ["js"]))
    var mapEngine: String?

    @Option(
        "Another origin of the style's tiles, glyphs or sprites, besides its own; may be repeated.",
        "origin")
    var mapOrigin: [String] = []

    @Option(
        "Keep the tokens in a file, so that links stay valid; the file is created if missing.", "file",
        completion: .file())
    var tokens: String?

    @Option(
        "Serve /metrics, for Prometheus, to clients that present the token in a file, which is created if missing.",
        "file",
        completion: .file())
    var metricsToken: String?

    @Flag(help: "Also open the page in the browser.")
    var open = false

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port must be from 0 to 65535.") }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-cert and --tls-key go together.")
        }
        for (name, values) in [("--allow-origin", allowOrigin), ("--map-origin", mapOrigin)] {
            guard let wrong = values.first(where: { Origin($0) == nil }) else { continue }
            throw ValidationError(
                "\(name) \(wrong): an origin is a scheme, host and port, such as https://map.example or "
                    + "http://localhost:5173, and nothing else. Allowing all origins is not possible.")
        }
        if let wrong = host.first(where: { !Addresses.isHost($0) }) {
            throw ValidationError("--host \(wrong): must be a name or address of the server, without a port.")
        }
        guard (mapStyle == nil) == (mapEngine == nil), mapStyle != nil || mapOrigin.isEmpty else {
            throw ValidationError("--map-style and --map-engine go together, and --map-origin needs both.")
        }
        if let mapStyle, StyledMap.origin(of: mapStyle) == nil {
            throw ValidationError(
                "--map-style \(mapStyle): must be an http or https URL, such as https://map.example/style.json.")
        }
        if insecureLan, tlsCertificate != nil {
            throw ValidationError("--insecure-lan and --tls-cert cannot be combined.")
        }
        if !Addresses.isLoopback(listen), tlsCertificate == nil, !insecureLan {
            throw ValidationError(
                "Others can connect to \(listen). Give --tls-cert and --tls-key, or --insecure-lan: then every machine "
                    + "in the network can read the traffic, including the token.")
        }
    }

    /// Replaces the parser's `main`, which would print errors unescaped.
    static func main() async {
        do {
            let command = try parse()
            try await command.run()
        } catch {
            end(with: error)
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        Self.raiseDescriptorLimit()
        do {
            try await serve(try options())
        } catch let error as StartError {
            Self.end(error.isOfOptions ? 78 : 69, "\(error)")
        }
    }

    /// Raises the descriptor limit: a connection takes one, a page that feeds two more; running out makes others wait.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, 4096))
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private static func end(_ status: CInt, _ message: PrintableText) -> Never {
        say("gimbal-web: \(message)\n")
        Glibc.exit(status)
    }

    private func options() throws -> ServerOptions {
        let passed = Self.passedSocket()
        var options = ServerOptions(
            daemon: DaemonSocket(candidates: SocketPath.candidates(socket)),
            listening: passed.map { .descriptor($0) }
                ?? .address(listen == "localhost" ? "127.0.0.1" : listen, port: port))
        if let tlsCertificate, let tlsKey { options.certificate = (tlsCertificate, tlsKey) }
        options.hosts = host
        options.guests = Set(allowOrigin.compactMap(Origin.init))
        options.isOpenWithoutTLS = insecureLan
        if let mapStyle, let mapEngine {
            options.map = try StyledMap(
                style: mapStyle, engine: mapEngine, others: mapOrigin.compactMap(Origin.init))
        }
        if let tokens { options.tokens = try Tokens(file: tokens) }
        if let metricsToken { options.metricsToken = try Tokens.forMetrics(file: metricsToken) }
        return options
    }

    /// Returns the listening socket that a service manager has passed.
    private static func passedSocket() -> CInt? {
        let log = Log(of: "gimbal-web", level: .warning)
        let passed = ManagerVariables(log).takeDescriptors().map(\.descriptor)
        guard let socket = passed.first else { return nil }
        if passed.count > 1 {
            log(.warning, "\(passed.count) sockets were passed; only the first is served")
            for descriptor in passed.dropFirst() { _ = close(descriptor) }
        }
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        return socket
    }

    private func serve(_ options: ServerOptions) async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let sources = [SIGINT, SIGTERM].map { DispatchSource.makeSignalSource(signal: $0, queue: .global()) }
        // Once the link is told, a signal must end the server in order.
        for source in sources {
            source.setEventHandler { end.yield() }
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.resume()
            }
        }
        defer {
            for source in sources { source.cancel() }
            Browser.forget()
        }
        let server = Task {
            try await WebServer.run(options) { links in Self.tell(links, opens: open) }
        }
        Task { for await _ in ends { server.cancel() } }
        do {
            try await server.value
        } catch is CancellationError {}
    }

    private static func tell(_ links: Links, opens: Bool) {
        PrintableText("\(links.feed)\n").write(to: STDOUT_FILENO)
        if isatty(STDERR_FILENO) == 1 {
            if let phone = links.phone, let code = QRCode(phone) {
                say("\nFor a phone on the same network: \(phone)\n\n\(PrintableText(lines: code.terminalText))")
            }
            say("To watch only: \(links.watch)\nPress ^C to stop.\n")
        }
        if opens { Browser.open(links.feed) }
    }

    private static func say(_ text: PrintableText) { text.write(to: STDERR_FILENO) }
}

/// The user's browser.
private enum Browser {
    /// The file with the link.
    private static let file = Mutex<String?>(nil)

    /// Removes the file made to open the page.
    static func forget() {
        if let name = file.withLock({ $0.take() }) { _ = unsafe unlink(name) }
    }

    /// Opens a link. Every user of the machine can see a program's arguments, so the link is passed in a file of this
    /// user's own.
    static func open(_ link: String) {
        let folder = SocketPath.environmentValue("XDG_RUNTIME_DIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        guard
            let (name, descriptor) = try? TemporaryFile.make(in: folder, named: "gimbal-web", ending: ".html")
        else { return }
        let page = "<!doctype html><meta http-equiv=refresh content=\"0; url=\(link)\"><a href=\"\(link)\">Gimbal</a>\n"
        _ = unsafe write(descriptor, page, page.utf8.count)
        _ = close(descriptor)
        for program in ["/usr/bin/xdg-open", "/usr/local/bin/xdg-open", "/usr/bin/open"]
        where unsafe access(program, X_OK) == 0 {
            file.withLock { $0 = name }
            return start(program, name)
        }
        _ = unsafe unlink(name)
    }

    private static func start(_ program: String, _ argument: String) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // The browser's output is not for the reader of the link.
        unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        // The browser inherits no ignored or blocked signals from this program, and ^C does not reach it.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, CShort(flags))
        let words = unsafe [strdup(program), strdup(argument), nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process: pid_t = 0
        _ = unsafe posix_spawn(&process, program, &actions, &attributes, words, environ)
    }
}
