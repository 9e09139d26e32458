// A daemon as other programs see it. Requests of all its cameras share one connection, which is made when it is needed;
// each sequence of events has one of its own, so that a slow reader of events delays no answer.

import Synchronization
import UnixSocket

/// A daemon, `gimbald`, that owns map cameras.
///
/// It may be used from many tasks at once. Queries wait for their answer as long as ``timeout`` says; gestures,
/// commands and waits do until their task is cancelled. A request that fails because the connection ended is not sent
/// again, since the daemon may or may not have done it; the next one reconnects. ``connectionStates`` reports when the
/// daemon goes away, and when it is back.
///
/// Gestures belong to the connection that they came on: when it ends, the daemon cancels those that are active.
///
/// Every request throws ``GimbalConnectionError`` if there is no daemon, or none that answers; ``/GimbalProtocol/GimbalError``
/// if the daemon refuses the request, or the connection since there are too many; and `CancellationError` if the task is
/// cancelled. Where a request is refused for a reason of its own, its documentation names the code.
public final class Gimbal: Sendable {
    let socket: DaemonSocket
    /// The path of the daemon's socket: where it was reached last, before that the first place that is looked at.
    public var path: String { socket.path }
    /// How long the daemon may take to answer what only asks; `nil` is for ever.
    public let timeout: Duration?
    private let connection = Mutex<RequestConnection?>(nil)
    let monitor = ConnectionMonitor()

    /// A daemon at a socket; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - path: the socket's path; `nil` is `$GIMBAL_SOCKET`, else the first of these that is there and may be used:
    ///     gimbal.sock in `$RUNTIME_DIRECTORY`, in `$XDG_RUNTIME_DIR` and in /tmp/gimbal-UID, and the system's
    ///     /run/gimbal/gimbal.sock and /run/gimbal/watch.sock.
    ///   - timeout: how long the daemon may take to answer what only asks, as ``stats()`` and ``RemoteCamera/state(at:)`` do,
    ///     before they throw ``GimbalConnectionError/noAnswer(within:)``; `nil` is for ever.
    public convenience init(path: String? = nil, timeout: Duration? = .seconds(30)) {
        self.init(DaemonSocket(candidates: SocketPath.candidates(path)), timeout: timeout)
    }

    package init(_ socket: DaemonSocket, timeout: Duration?) { (self.socket, self.timeout) = (socket, timeout) }

    deinit { close() }

    /// Connects, and checks that the daemon speaks this version of the protocol. Without it, the first request
    /// connects.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `unsupportedVersion`.
    @discardableResult
    public func connect() async throws -> DaemonHello { try await ask(.hello()) }

    /// Ends the connection of the requests; those that wait for an answer fail. The daemon cancels their gestures.
    public func close() {
        let connection = connection.withLock { connection in
            defer { connection = nil }
            return connection
        }
        connection?.close()
    }

    /// The camera of a name: 1 to 64 of `A-Z a-z 0-9 . _ -`. The daemon makes it with the first request for it.
    public func camera(_ name: String = "main") -> RemoteCamera { RemoteCamera(name: name, gimbal: self) }

    /// The names of all cameras, sorted by their bytes.
    public func cameras() async throws -> [String] { try await ask(.cameras) }

    /// What all cameras do, those that are made later included, from now on or from where a reader stopped.
    ///
    /// - Parameters:
    ///   - kinds: the kinds wanted, except ``/GimbalProtocol/EventKind/gesture``; subscriptions, gaps, resets always
    ///     come.
    ///   - delivery: what is to be skipped while the reader is slow.
    ///   - since: where to go on, by the cameras' names; see ``CameraEvents/AsyncIterator/resumePoints``.
    ///   - reconnecting: what happens when the daemon goes away.
    public func events(
        _ kinds: Set<EventKind> = EventKind.movements, delivery: EventDelivery = .every,
        since: [String: ResumePoint] = [:], reconnecting: Reconnection = Reconnection()
    ) -> CameraEvents {
        CameraEvents(
            socket: socket, monitor: monitor, camera: nil, kinds: kinds, delivery: delivery, since: since,
            reconnection: reconnecting)
    }

    /// The daemon's counters.
    public func stats() async throws -> DaemonStats { try await ask(.stats) }

    /// The traces that the daemon can play by itself, sorted by their names.
    public func traces() async throws -> [StoredTraceInfo] { try await ask(.traces) }

    /// Who is connected to the daemon, sorted by ``/GimbalProtocol/Client/number``: this connection, too.
    public func clients() async throws -> [Client] {
        var clients: [Client] = []
        while true {
            let page: ClientPage = try await ask(.clients(after: clients.last?.number ?? 0))
            let isProgress = (page.clients.first?.number ?? .max) > (clients.last?.number ?? 0)
            guard isProgress else { throw GimbalConnectionError.unexpectedAnswer("clients that it had told before") }
            clients += page.clients
            guard page.hasMore, !page.clients.isEmpty else { return clients }
        }
    }

    /// Returns when the daemon has answered this and everything sent before it.
    public func ping() async throws { try await ask(.ping) as Void }

    /// What the daemon tells of its work, as a monitoring system reads it.
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

    /// Sends a request; returns what its answer holds.
    func ask<Answer: Sendable>(
        _ request: ClientRequest, camera: String? = nil, creates: Bool = true
    ) async throws -> Answer {
        let answers = try await openConnection().answers(
            to: [request], camera: camera, within: request.isQuestion ? timeout : nil, creates: creates)
        if case .error(let error)? = answers.first { throw error }
        return try Self.last(of: answers)
    }

    /// Sends requests that are applied together or not at all.
    func send(_ frame: [ClientRequest], camera: String) async throws {
        guard !frame.isEmpty else { return }
        _ = try await answers(to: frame, camera: camera)
    }

    /// Sends requests that are applied together or not at all; returns what the last answer holds.
    func ask<Answer: Sendable>(_ frame: [ClientRequest], camera: String) async throws -> Answer {
        try Self.last(of: try await answers(to: frame, camera: camera))
    }

    private static func last<Answer>(of answers: [ServerMessage]) throws -> Answer {
        guard let answer = answers.last?.answer(as: Answer.self) else {
            throw GimbalConnectionError.unexpectedAnswer("\(answers)")
        }
        return answer
    }

    private func answers(to frame: [ClientRequest], camera: String) async throws -> [ServerMessage] {
        let answers = try await openConnection().answers(to: frame, camera: camera)
        let errors = answers.compactMap { if case .error(let error) = $0 { error } else { nil } }
        // All members of a rejected frame are answered by an error. The one at fault names its field.
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
        case .getCamera, .cameraForBounds, .project, .unproject, .visibleRegion, .cameras, .stats, .clients, .traces,
            .ping,
            .getReplay, .hello:
            true
        default: false
        }
    }
}
