// The daemon's cameras, as all pages see them: one connection follows them all, and what it says goes to each page's outbox.
// Invariant: a page that begins gets what holds now and every line after that, in order; nothing in between is lost.

import Gestures
import GimbalClient
import GimbalProtocol
import JSONLines
import NIOCore
import Service
import Synchronization
import UnixSocket

final class Follower: Sendable {
    private let socket: DaemonSocket
    private let group: any EventLoopGroup
    private let state = Mutex(State())

    private static let reconnection = Reconnection(longestDelay: .seconds(2))
    /// What requests of this connection are called; pages number theirs.
    fileprivate static let id = RequestID.text("gimbal-web")

    /// The state of a camera for a new page.
    fileprivate struct Camera {
        /// What told the epoch last.
        var beginning: PageLine?
        var settings: PageLine?
        var position: PageLine?
        var replay: PageLine?
        /// The lease, and when the daemon told of it.
        var lease: (lease: CameraLease, told: ContinuousClock.Instant)?
        /// The types of gestures that pages received last, and when.
        var toldGestures: (types: [String], timeMs: Double) = ([], 0)
        var fingers: [Int: PageLine] = [:]
        var reporter = GestureReporter()
        var active = ActiveGestures<Void>(limit: mostGestures)

        /// The most gestures told apart: a daemon's default limit for a camera.
        static let mostGestures = 256

        /// The types of the active gestures, in the order that one frame reports them in.
        var activeTypes: [String] {
            GestureKind.allCases.filter { kind in active.all.contains { $0.key.kind == kind } }.map(\.type)
        }

        func lines(of name: String) -> [PageLine] {
            let (types, timeMs) = toldGestures
            let gestures: PageLine? = types.isEmpty ? nil : .gestures(types, camera: name, timeMs: timeMs)
            let lease = lease.map { PageLine.lease($0.lease, age: $0.told.duration(to: .now)) }
            return [beginning, settings, position, replay, lease, gestures].compactMap(\.self)
                + fingers.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// The daemon, as far as it is there.
    fileprivate enum Daemon {
        case away(reason: String)
        /// It has taken a connection, and not told of its cameras yet.
        case connected(DaemonChannel, absence: String)
        /// It has said why it does not serve this connection, which it ends: maybe before that is seen to be made.
        case refusing(reason: String)
        case here(DaemonChannel)

        var channel: DaemonChannel? {
            switch self {
            case .away, .refusing: nil
            case .connected(let channel, _), .here(let channel): channel
            }
        }

        /// Why there is no daemon; `nil` while there is one.
        var absence: String? {
            switch self {
            case .away(let reason), .connected(_, let reason), .refusing(let reason): reason
            case .here: nil
            }
        }
    }

    fileprivate struct State: ~Copyable {
        private var decoder = RequestDecoder()
        var cameras: [String: Camera] = [:]
        var outboxes: [ObjectIdentifier: PageOutbox] = [:]
        var totals = EventTotals()
        var daemon = Daemon.away(reason: "not connected yet")
        /// How many attempts have failed since a daemon was there.
        var attempts = 0
        /// Bytes of lines that may have been added to what is kept since that was measured.
        private var unmeasured = 0

        /// The most bytes of lines that are kept of a daemon's cameras.
        static let mostBytes = 64 << 20

        /// The present state, for a new page.
        var news: [PageLine] {
            [PageLine.daemon(absence: daemon.absence)]
                + cameras.sorted { $0.key < $1.key }.flatMap { name, camera in camera.lines(of: name) }
        }

        mutating func tell(_ line: PageLine) {
            totals.add(line)
            for outbox in outboxes.values { outbox.add(line, totals) }
        }
    }

    init(_ socket: DaemonSocket, on group: any EventLoopGroup) { (self.socket, self.group) = (socket, group) }

    // MARK: Pages

    /// Has the outbox's page told an introduction, what holds when its lines are first taken, and all lines after that.
    func add(_ outbox: PageOutbox, _ introduction: PageLine) {
        state.withLock { state in
            state.outboxes[ObjectIdentifier(outbox)] = outbox
            outbox.begin(with: introduction.bytes)
        }
    }

    func remove(_ outbox: PageOutbox) {
        state.withLock { _ = $0.outboxes.removeValue(forKey: ObjectIdentifier(outbox)) }
    }

    /// Takes what waits in an outbox; `nil` once its page is gone. A page that begins gets its introduction, one that was
    /// too slow how many events of each camera it missed; then both get the present state.
    func take(_ outbox: PageOutbox) -> [UInt8]? {
        state.withLock { state in
            switch outbox.take(state.totals) {
            case .over: return nil
            case .nothing: return []
            case .lines(let bytes): return bytes
            case .beginning(let bytes): return bytes + state.news.flatMap(\.bytes)
            case .missed(let counts, var bytes):
                for (camera, count) in counts.sorted(by: { $0.key < $1.key }) {
                    bytes += PageLine.lagged(camera: camera, missed: count).bytes
                }
                return bytes + state.news.flatMap(\.bytes)
            }
        }
    }

    /// Says to all pages that the server is there, so that a connection that has died unseen is noticed.
    func sayAlive() { state.withLock { $0.tell(.alive()) } }

    // MARK: The daemon

    /// Follows the daemon until the task is cancelled: whenever it goes away, it is looked for again.
    func run() async {
        while !Task.isCancelled {
            let (ends, end) = AsyncStream<Void>.makeStream()
            do {
                let channel = try await DaemonChannel(
                    socket, on: group, receive: { [weak self] line in try self?.handle(line) }, end: { end.finish() })
                state.withLock { $0.connected(channel) }
                channel.send(
                    try ClientRequest.subscribeAll(kinds: EventKind.movements.union([.replay, .marker])).line(
                        id: Self.id))
                for await _ in ends {}
                channel.close()
                state.withLock { $0.lose() }
            } catch {
                state.withLock { $0.note(.away(reason: "\(error)")) }
            }
            let delay = state.withLock { state in
                defer { state.attempts += 1 }
                return Self.reconnection.delay(before: state.attempts)
            }
            try? await Task.sleep(for: delay)
        }
        state.withLock { $0.daemon.channel?.close() }
    }

    private func handle(_ bytes: ArraySlice<UInt8>) throws {
        guard let line = try? ServerLine(line: bytes) else { return }
        try state.withLock { state in
            switch line.message {
            case .event(let event): state.handle(event, bytes, isAnswer: line.id != nil)
            case .camera(let camera):
                guard state.cameras[camera.camera] != nil else { break }
                let settings = PageLine(bytes, .settings(camera: camera.camera), of: camera.camera)
                state.cameras[camera.camera]?.settings = settings
                state.tell(settings)
                // A gap may have hidden a change.
                let switches = GestureSwitches(camera.gestures)
                _ = state.cameras[camera.camera]?.active.handle(.set(.gestures(switches)))
            case .replay(let status): state.handle(.replay(status), bytes, isAnswer: true)
            case .error(let error) where error.isOfConnection: state.refused("\(error)")
            default: break
            }
            try state.limit(bytes.count)
        }
    }
}

private struct TooManyCameras: Error {}

extension Follower.State {
    // MARK: The daemon

    fileprivate mutating func connected(_ channel: DaemonChannel) {
        if case .away(let reason) = daemon { daemon = .connected(channel, absence: reason) }
    }

    /// The daemon begins to tell of its cameras.
    private mutating func answered() {
        guard case .connected(let channel, _) = daemon else { return }
        (daemon, attempts, cameras) = (.here(channel), 0, [:])
        tell(.daemon(absence: nil))
    }

    /// The daemon does not serve this connection, and says why.
    fileprivate mutating func refused(_ reason: String) { note(.refusing(reason: reason)) }

    /// The connection has ended.
    fileprivate mutating func lose() {
        if case .refusing(let reason) = daemon {
            note(.away(reason: reason))
        } else {
            note(.away(reason: "the daemon ended the connection"))
        }
    }

    /// Tells of it where that is new.
    fileprivate mutating func note(_ daemon: Follower.Daemon) {
        let before = self.daemon.absence
        self.daemon = daemon
        if daemon.absence != before { tell(.daemon(absence: daemon.absence)) }
    }

    /// Refuses a daemon of whose cameras more has to be kept than can be.
    ///
    /// - Parameter count: bytes of a line that has been handled.
    fileprivate mutating func limit(_ count: Int) throws(TooManyCameras) {
        unmeasured += count
        guard unmeasured > Self.mostBytes else { return }
        unmeasured = news.reduce(0) { $0 + $1.bytes.count }
        // Half is left free, so that each measurement is paid for by as many bytes.
        guard unmeasured > Self.mostBytes / 2 else { return }
        refused("its \(cameras.count) cameras are more than can be followed")
        (cameras, unmeasured) = ([:], 0)
        throw TooManyCameras()
    }

    // MARK: Cameras

    /// Handles an event of a camera: it updates the state, and pages receive it.
    fileprivate mutating func handle(_ event: CameraEvent, _ bytes: ArraySlice<UInt8>, isAnswer: Bool) {
        let name = event.camera
        var line = PageLine(bytes, nil, of: name)
        switch event {
        case .subscribedToAll, .subscribed: break
        default: guard cameras[name] != nil else { return }
        }
        switch event {
        case .subscribedToAll: return answered()
        case .subscribed:
            // It first comes for all cameras, with movements, replays and markers; then subscribe to this one, with all kinds that a page shows.
            if !isAnswer {
                ask(.subscribe(kinds: Set(EventKind.allCases).subtracting([.clock, .motion])), name)
                ask(.getCamera(), name)
                ask(.getReplay, name)
            }
            if cameras[name] == nil { cameras[name] = Follower.Camera() }
            cameras[name]?.beginning = line
            cameras[name]?.position = nil
            cameras[name]?.fingers = [:]
            cameras[name]?.lease = nil
        case .moveStarted, .idle, .reset, .lagged:
            line.isBoundary = true
            line.isCounted = event.move != nil
            if event.move != nil {
                cameras[name]?.position = line
            } else {
                cameras[name]?.beginning = line
                cameras[name]?.position = nil
            }
            switch event {
            case .reset:
                cameras[name]?.fingers = [:]
                ask(.getCamera(), name)
            case .lagged: return forgetInput(of: name, behind: line)
            default: break
            }
        case .cameraChanged:
            line.subject = .position(camera: name)
            line.isCounted = true
            cameras[name]?.position = line
        case .input(let input): return follow(input, line)
        case .touch(let touch):
            line.subject = .fingers(camera: name, surface: touch.number)
            cameras[name]?.fingers[touch.number] = touch.touches.isEmpty ? nil : line
        case .replay(let status):
            line.subject = .replay(camera: name)
            cameras[name]?.replay = status.state == .ended ? nil : line
        case .marker, .clock, .motion, .present: break
        case .leaseTaken(let lease):
            line.subject = .lease(camera: name)
            cameras[name]?.lease = (lease, .now)
        case .leaseEnded:
            line.subject = .lease(camera: name)
            cameras[name]?.lease = nil
        case .removed:
            cameras[name] = nil
            totals.forget(butFor: { cameras[$0] != nil }, count: cameras.count)
        }
        tell(line)
    }

    /// Follows the lines that a camera is sent, to know its active gestures.
    private mutating func follow(_ input: InputLine, _ line: PageLine) {
        tell(line)
        guard let requests = try? decoder.decode(Array(input.line.utf8).span),
            let before = cameras[input.camera]?.activeTypes
        else { return }
        if cameras[input.camera]?.follow(requests) == true { ask(.getCamera(), input.camera) }
        guard let types = cameras[input.camera]?.activeTypes, types != before else { return }
        cameras[input.camera]?.toldGestures = (types, input.timeMs)
        tell(.gestures(types, camera: input.camera, timeMs: input.timeMs))
    }

    /// After a gap, the camera's input is unknown: the daemon sends its fingers and its lease again, this asks for its replay and
    /// settings, and gestures start over.
    private mutating func forgetInput(of name: String, behind gap: PageLine) {
        tell(gap)
        ask(.getCamera(), name)
        ask(.getReplay, name)
        guard var camera = cameras[name] else { return }
        (camera.fingers, camera.replay, camera.lease) = ([:], nil, nil)
        camera.reporter = GestureReporter()
        _ = camera.active.cancelAll()
        if !camera.toldGestures.types.isEmpty {
            camera.toldGestures.types = []
            tell(.gestures([], camera: name, timeMs: camera.toldGestures.timeMs))
        }
        cameras[name] = camera
    }

    private func ask(_ request: ClientRequest, _ camera: String) {
        guard let line = try? request.line(camera: camera, id: Follower.id, creates: false) else { return }
        daemon.channel?.send(line)
    }
}

extension Follower.Camera {
    /// Follows a line of what the camera is sent.
    ///
    /// - Returns: whether the camera's settings may have changed.
    fileprivate mutating func follow(_ requests: [Request]) -> Bool {
        let timeMs = requests.lazy.compactMap(\.timeMs).first ?? 0
        var hasSettings = false
        for request in requests {
            for report in reporter.reports(of: request, at: timeMs) { active.handle(report, ()) }
            switch request.body {
            case .trace(let header):
                (reporter, active) = (GestureReporter(), ActiveGestures(header.gestures, limit: Self.mostGestures))
                hasSettings = true
            default:
                active.handle(request.body)
                hasSettings = hasSettings || request.body.isSetting
            }
        }
        return hasSettings
    }
}

// MARK: Lines that are this server's own

extension PageLine {
    fileprivate init(_ bytes: ArraySlice<UInt8>, _ subject: Subject?, of camera: String) {
        self.init(bytes: bytes + [0x0a], camera: camera, subject: subject)
    }

    init(_ object: JSONObject) { self.init(bytes: JSONValue.object(object).bytes + [0x0a]) }

    /// Tells what the machine's clock shows, and how good it is, where that may be asked.
    fileprivate static func alive() -> PageLine {
        var object: JSONObject = [
            "type": .string("alive"), "wallTime": .number(Double(RealtimeClock.microseconds) / 1000),
        ]
        if let clock = try? ClockQuality.kernel() { object["clock"] = clock.json }
        return PageLine(object)
    }

    /// - Parameter absence: why there is no daemon; `nil` if there is one.
    static func daemon(absence: String?) -> PageLine {
        var object: JSONObject = ["type": .string("daemon"), "connected": .bool(absence == nil)]
        if let absence { object["reason"] = .string(absence) }
        return PageLine(object)
    }

    fileprivate static func lagged(camera: String, missed: Int) -> PageLine {
        PageLine(["type": .string("missed"), "camera": .string(camera), "events": .number(Double(missed))])
    }

    /// A lease, for a page that has not been told of it.
    ///
    /// - Parameter age: how long ago the daemon told of it; the camera's clock has gone on since.
    fileprivate static func lease(_ lease: CameraLease, age: Duration) -> PageLine {
        var object: JSONObject = [
            "type": .string("lease-taken"), "camera": .string(lease.camera),
            "timeMs": .number((lease.timeMs + age / .milliseconds(1)).rounded()),
            "lease": .number(Double(lease.lease)), "untilMs": .number(lease.untilMs),
        ]
        if let label = lease.label { object["label"] = .string(label) }
        return PageLine(object)
    }

    fileprivate static func gestures(_ kinds: [String], camera: String, timeMs: Double) -> PageLine {
        var line = PageLine([
            "type": .string("active-gestures"), "camera": .string(camera), "timeMs": .number(timeMs),
            "gestures": .array(kinds.map(JSONValue.string)),
        ])
        line.camera = camera
        line.subject = nil
        return line
    }
}
