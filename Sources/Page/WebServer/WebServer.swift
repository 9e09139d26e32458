// The server: sockets, connections and their limits around Hummingbird's HTTP. The server makes the listening socket
// itself, since a service manager may pass one. Invariant: every connection has a place, and its kernel buffers are
// small, so that a page that does not read costs little here and in the kernel.

import class GimbalClient.Gimbal
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import UnixSocket

/// The options of a server.
package struct ServerOptions: Sendable {
    /// Where it listens.
    package enum Listening: Sendable {
        /// An address of this machine; port 0 means any free one.
        case address(String, port: Int)
        /// A socket that is already listening.
        case descriptor(CInt)
    }

    /// How pages draw a map, if not by themselves.
    package var map: StyledMap?
    /// Where the daemon is.
    package var daemon: DaemonSocket
    package var listening: Listening
    /// The files of a certificate chain and its key, in PEM.
    package var certificate: (chain: String, key: String)?
    /// More names of the server, without a port.
    package var hosts: [String] = []
    /// The origins of other servers' pages that may follow and feed, too.
    package var guests: Set<Origin> = []
    /// Whether other machines may connect without TLS.
    package var isOpenWithoutTLS = false
    package var tokens = Tokens()
    /// The token for metrics; `nil` if they are not served.
    package var metricsToken: String?
    package var limits = Limits()
    /// Converts recordings to traces.
    var convert: Conversions.Converter = Recording.trace

    package init(daemon: DaemonSocket, listening: Listening) {
        (self.daemon, self.listening) = (daemon, listening)
    }
}

/// Why a server cannot start.
package struct StartError: Error, CustomStringConvertible {
    package let description: String
    /// Whether the options are at fault, so that trying again does not help.
    package var isOfOptions = false

    static func ofOptions(_ description: String) -> StartError {
        StartError(description: description, isOfOptions: true)
    }
}

package enum WebServer {
    /// Threads that read and write. One keeps up with hundreds of pages; the other keeps TLS from delaying them.
    private static let threads = 2
    /// The bytes that the kernel keeps for a page that does not read.
    private static let kernelBuffer = 64 << 10
    /// How often a stream sends a sign of life.
    private static let aliveInterval = Duration.seconds(10)
    /// How long the daemon may take to answer a request for metrics.
    private static let patience = Duration.seconds(5)

    /// Serves until its task is cancelled.
    ///
    /// - Parameter ready: receives the links once the server accepts connections.
    /// - Throws: ``StartError``.
    package static func run(
        _ options: ServerOptions, ready: @escaping @Sendable (Links) throws -> Void
    ) async throws {
        try await MultiThreadedEventLoopGroup.withEventLoopGroup(numberOfThreads: threads) { group in
            try await run(options, on: group, ready: ready)
        }
    }

    private static func run(
        _ options: ServerOptions, on group: MultiThreadedEventLoopGroup,
        ready: @escaping @Sendable (Links) throws -> Void
    ) async throws {
        let limits = options.limits
        let (follower, pages) = (Follower(options.daemon, on: group), Pages(limits))
        let (places, conversions) = (ConnectionPlaces(limit: limits.connections), Conversions(options.convert))
        let handler = Mutex<Responder?>(nil)
        let respond: HTTPChannelHandler.Responder = { request, writer, channel in
            // It is set before the first connection is accepted.
            guard let responder = handler.withLock(\.self) else { return }
            try await responder.respond(request, writer, channel)
        }
        let http = HTTP1Channel(
            responder: respond,
            configuration: .init(
                additionalChannelHandlers: [RequestDeadline(limits)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.headBytes, maxHeaderListSize: limits.headBytes,
                    maxHeaderFieldCount: limits.headFields)))
        let begin: (Links, Access) throws -> Void = { links, access in
            handler.withLock {
                $0 = Responder(
                    access: access, limits: limits, pages: pages, places: places, conversions: conversions,
                    follower: follower, socket: options.daemon, group: group, links: links, map: options.map,
                    metered: options.metricsToken.map { _ in Gimbal(options.daemon, timeout: patience) })
            }
            try ready(links)
        }
        if let certificate = options.certificate {
            let channel = try TLSChannel(http, tlsConfiguration: try configuration(certificate))
            try await serve(channel, options, on: group, follower, pages, places, begin: begin)
        } else {
            try await serve(http, options, on: group, follower, pages, places, begin: begin)
        }
    }

    private static func configuration(_ certificate: (chain: String, key: String)) throws -> TLSConfiguration {
        do {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificate.chain).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: certificate.key, format: .pem)))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return configuration
        } catch {
            throw StartError.ofOptions(
                "the certificate \(certificate.chain) with the key \(certificate.key) cannot be used: \(error)")
        }
    }

    private static func serve<Child: ServerChildChannel>(
        _ child: Child, _ options: ServerOptions, on group: MultiThreadedEventLoopGroup, _ follower: Follower,
        _ pages: Pages, _ places: ConnectionPlaces, begin: (Links, Access) throws -> Void
    ) async throws {
        let connections = Connections()
        let server = try await listen(child, options.listening, on: group, places, connections)
        guard let address = server.localAddress, address.port != nil else {
            throw StartError(description: "the passed socket is not a TCP socket")
        }
        let (links, access) = try names(options, address)
        try begin(links, access)

        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await follower.run() }
            tasks.addTask {
                while !Task.isCancelled {
                    try await Task.sleep(for: aliveInterval)
                    follower.sayAlive()
                }
            }
            tasks.addTask {
                try await withTaskCancellationHandler {
                    try await server.closeFuture.get()
                } onCancel: {
                    server.close(promise: nil)
                    pages.finishAll()
                }
                guard Task.isCancelled else { throw StartError(description: "the system closed the listening socket") }
                // What it has accepted before may begin only now.
                for loop in group.makeIterator() { try await loop.submit {}.get() }
                await connections.end()
            }
            try await tasks.next()
            tasks.cancelAll()
        }
    }

    private static func listen<Child: ServerChildChannel>(
        _ child: Child, _ listening: ServerOptions.Listening, on group: MultiThreadedEventLoopGroup,
        _ places: ConnectionPlaces, _ connections: Connections
    ) async throws -> any Channel {
        // Events of single connections do not belong in a log.
        let logger = Logger(label: "gimbal-web") { _ in SwiftLogNoOpLogHandler() }
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { server in
                // Without descriptors, it tries again after a second.
                server.eventLoop.makeCompletedFuture {
                    try server.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_sndbuf), value: kernelBuffer)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 16 << 10, high: 64 << 10))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectionPlaces.Door(places))
                }
                .flatMap { child.setup(channel: channel, logger: logger) }
                .map { value in connections.begin(channel) { await child.handle(value: value, logger: logger) } }
            }
        do {
            switch listening {
            case .address(let host, let port): return try await bootstrap.bind(host: host, port: port).get()
            case .descriptor(let descriptor): return try await bootstrap.withBoundSocket(descriptor).get()
            }
        } catch {
            let name = if case .address(let host, let port) = listening { "\(host) port \(port)" } else { "the socket" }
            let reason = (error as? IOError).map { unsafe String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw StartError(description: "cannot listen on \(name): \(reason)")
        }
    }

    /// Returns the links to the server, and its access rules.
    private static func names(_ options: ServerOptions, _ address: SocketAddress) throws -> (Links, Access) {
        let port = address.port ?? 0
        let host = address.ipAddress ?? "127.0.0.1"
        let isOpen = host == "0.0.0.0" || host == "::"
        let isLocal = Addresses.isLoopback(host)
        guard isLocal || options.certificate != nil || options.isOpenWithoutTLS else {
            throw StartError(
                description: "others can connect to \(host): give --tls-cert and --tls-key, or --insecure-lan")
        }
        var names = options.hosts
        if isLocal || isOpen { names += ["127.0.0.1", "localhost", "::1"] }
        let outside = isOpen ? Addresses.ofNetworks() : isLocal ? [] : [host]
        names += outside
        let scheme = options.certificate == nil ? "http" : "https"
        let isUsual = port == (options.certificate == nil ? 80 : 443)
        let suffix = ":\(port)"
        let hosts = names.flatMap { name in
            [Addresses.inLink(name) + suffix] + (isUsual ? [Addresses.inLink(name)] : [])
        }
        func origin(_ name: String) -> String {
            "\(scheme)://\(Addresses.inLink(name))\(isUsual ? "" : suffix)"
        }
        let own = options.hosts.first
        let local = isLocal ? host : isOpen ? "127.0.0.1" : host
        let links = Links(
            local: origin(options.certificate == nil ? local : own ?? local),
            network: (isLocal ? nil : own ?? outside.first).map(origin), tokens: options.tokens)
        let access = Access(
            hosts: hosts, guests: options.guests, scheme: scheme, tokens: options.tokens,
            metricsToken: options.metricsToken)
        return (links, access)
    }
}

/// The connections that are handled, each in its own task: not in a child of a task that may have been cancelled when one
/// of them begins, because NIO ends the process if a connection is not handled.
private final class Connections: Sendable {
    private let handled = Mutex<[ObjectIdentifier: (channel: any Channel, task: Task<Void, Never>)]>([:])

    func begin(_ channel: any Channel, handle: @escaping @Sendable () async -> Void) {
        handled.withLock { handled in
            let task = Task {
                await handle()
                _ = self.handled.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }
            }
            handled[ObjectIdentifier(channel)] = (channel, task)
        }
    }

    /// Ends all, and waits for that: streams tell their end first. A client with TLS that does not answer that its
    /// connection ends, and what takes long, have a second.
    func end() async {
        let ending = Task {
            try await Task.sleep(for: .milliseconds(100))
            for (channel, _) in all { channel.close(promise: nil) }
            try await Task.sleep(for: .seconds(1))
            for (channel, task) in all {
                ConnectionPlaces.Door.close(channel)
                task.cancel()
            }
        }
        while let (_, task) = all.first { await task.value }
        ending.cancel()
    }

    private var all: [(channel: any Channel, task: Task<Void, Never>)] { handled.withLock { Array($0.values) } }
}
