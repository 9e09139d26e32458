// A daemon as other programs see it. Requests for all its cameras share one connection, which is made when needed; each
// sequence of events has its own, so that a slow reader of events delays no answer.

import Synchronization
import UnixSocket

/// A daemon, `gimbald`, that owns map cameras.
///
/// It may be used from many tasks at once. Queries wait for their answer as long as ``timeout`` says; gestures,
/// commands and waits until their task is cancelled. A request that fails because the connection ended is not sent
/// again, since the daemon may or may not have applied it; the next one reconnects. ``connectionStates`` reports when
/// the daemon goes away, and when it is back.
///
/// Gestures belong to the connection on which they were sent: when it ends, the daemon cancels those that are active.
///
/// Every request throws ``GimbalConnectionError`` if no daemon answers; ``/GimbalProtocol/GimbalError`` if the daemon
/// refuses the request, or has too many connections; and `CancellationError` if the task is cancelled. If a request can
/// be refused for a reason of its own, its documentation names the code.
public final class Gimbal: Sendable {
    let socket: DaemonSocket
    /// The path of the daemon's socket: where it was last reached; before that, the first candidate.
    public var path: String { socket.path }
    /// How long the daemon may take to answer a query; `nil` is for ever.
    public let timeout: Duration?
    private let connection = Mutex<RequestConnection?>(nil)
    let monitor = ConnectionMonitor()

    /// Creates a client for the daemon at a socket; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - path: the socket's path; `nil` is `$GIMBAL_SOCKET`, else the first of these that exists and may be used:
    ///     gimbal.sock in `$RUNTIME_DIRECTORY`, in `$XDG_RUNTIME_DIR` and in /tmp/gimbal-UID, and the system's
    ///     /run/gimbal/gimbal.sock and /run/gimbal/watch.sock.
    ///   - timeout: how long the daemon may take to answer a query, such as ``stats()`` or ``RemoteCamera/state(at:)``,
    ///     before it throws ``GimbalConnectionError/noAnswer(within:)``; `nil` is for ever.
    public convenience init(path: String? = nil, timeout: Duration? = .seconds(30)) {
        self.init(DaemonSocket(candidates: SocketPath.candidates(path)), timeout: timeout)
    }

    package init(_ socket: DaemonSocket, timeout: Duration?) { (self.socket, self.timeout) = (socket, timeout) }

    deinit { close() }

    /// Connects, and checks that the daemon speaks this version of the protocol. Otherwise the first request connects.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `unsupportedVersion`.
    @discardableResult
    public func connect() async throws -> DaemonHello { try await ask(.hello()) }

    /// Ends the connection of the requests; those that wait for an answer fail. The daemon cancels their gestures.
    public func close() { connection.withLock { $0.take() }?.close() }

    /// Returns the camera of a name: 1 to 64 of `A-Z a-z 0-9 . _ -`. The daemon makes it with the first request for it.
    public func camera(_ name: String = "main") -> RemoteCamera { RemoteCamera(name: name, gimbal: self) }

    /// Returns the names of all cameras, sorted by their bytes.
    public func cameras() async throws -> [String] { try await ask(.cameras) }

    /// Returns the events of all cameras, including later ones, from now on or from where a reader stopped.
    ///
    /// - Parameters:
    ///   - kinds: the kinds wanted, except ``/GimbalProtocol/EventKind/gesture`` and
    ///     ``/GimbalProtocol/EventKind/touch``; subscriptions, gaps, resets and removals always come.
    ///   - delivery: what to skip while the reader is slow.
    ///   - since: where to resume, by the cameras' names; see ``CameraEvents/AsyncIterator/resumePoints``.
    ///   - reconnecting: how to reconnect when the daemon goes away.
    public func events(
        _ kinds: Set<EventKind> = EventKind.movements, delivery: EventDelivery = .every,
        since: [String: ResumePoint] = [:], reconnecting: Reconnection = Reconnection()
    ) -> CameraEvents {
        CameraEvents(
            socket: socket, monitor: monitor, camera: nil, kinds: kinds, delivery: delivery, since: since,
            reconnection: reconnecting)
    }

    /// Returns the daemon's counters.
    public func stats() async throws -> DaemonStats { try await ask(.stats) }

    /// Returns the traces that the daemon can play by itself, sorted by their names.
    public func traces() async throws -> [StoredTraceInfo] { try await ask(.traces) }

    /// Returns the daemon's clients, sorted by ``/GimbalProtocol/Client/number``, including this connection.
    public func clients() async throws -> [Client] {
        var clients: [Client] = []
        while true {
            let page: ClientPage = try await ask(.clients(after: clients.last?.number ?? 0))
            let isProgress = (page.clients.first?.number ?? .max) > (clients.last?.number ?? 0)
            guard isProgress else { throw GimbalConnectionError.unexpectedAnswer("clients that it had listed before") }
            clients += page.clients
            guard page.hasMore, !page.clients.isEmpty else { return clients }
        }
    }

    /// Returns when the daemon has answered this and everything sent before it.
    public func ping() async throws { try await ask(.ping) as Void }

    /// Returns the daemon's metrics for a monitoring system.
    package func metrics() async throws -> OpenMetrics {
        var metrics = OpenMetrics(try await stats())
        metrics.add(try await clients())
        for camera in try await cameras().prefix(OpenMetrics.mostCameras) {
            do {
                metrics.add(try await ask(.getCamera(), camera: camera, creates: false) as CameraState)
            } catch let error as GimbalError where error.code == .unknownCamera {}
        }
        return metrics
    }

    // MARK: Asking

    /// Sends a request; returns the payload of its answer.
    func ask<Answer: Sendable>(
        _ request: ClientRequest, camera: String? = nil, creates: Bool = true
    ) async throws -> Answer {
        try await ask([request], camera: camera, within: request.isQuestion ? timeout : nil, creates: creates)
    }

    /// Sends requests that are applied together or not at all; returns the payload of the last answer.
    func ask<Answer: Sendable>(
        _ batch: [ClientRequest], camera: String?, within limit: Duration? = nil, creates: Bool = true
    ) async throws -> Answer {
        let answers = try await answers(to: batch, camera: camera, within: limit, creates: creates)
        guard let answer = answers.last?.answer(as: Answer.self) else {
            throw GimbalConnectionError.unexpectedAnswer("\(answers)")
        }
        return answer
    }

    /// Sends requests that are applied together or not at all; returns their answers.
    func answers(
        to batch: [ClientRequest], camera: String?, within limit: Duration? = nil, creates: Bool = true
    ) async throws -> [ServerMessage] {
        let answers = try await openConnection().answers(to: batch, camera: camera, within: limit, creates: creates)
        let errors = answers.compactMap { if case .error(let error) = $0 { error } else { nil } }
        // Every member of a rejected batch is answered by an error. The one at fault names its field.
        if let error = errors.first(where: { $0.field != nil }) ?? errors.first { throw error }
        return answers
    }

    private func openConnection() throws -> RequestConnection {
        try connection.withLock { connection in
            if let connection, connection.isAlive { return connection }
            let new = try RequestConnection(socket, monitor: monitor)
            connection = new
            return new
        }
    }
}

extension ClientRequest {
    /// Whether it changes nothing, and is answered at once.
    fileprivate var isQuestion: Bool {
        switch self {
        case .awaitIdle: false
        case .clients: true
        default: family == .query
        }
    }
}
