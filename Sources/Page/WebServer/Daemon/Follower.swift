// The daemon's cameras, as all pages see them: one connection follows them all, and its lines go to each page's outbox.
// Invariant: a new page gets the current state and every line after that, in order; nothing in between is lost.

import GimbalClient
import NIOCore
import Service
import Synchronization
import UnixSocket

final class Follower: Sendable {
    private let socket: DaemonSocket
    private let group: any EventLoopGroup
    private let state = Mutex(State())

    private static let reconnection = Reconnection(longestDelay: .seconds(2))
    /// The id of this connection's requests; those of pages are numbers.
    fileprivate static let id = RequestID.text("gimbal-web")

    /// The state of a camera for a new page.
    fileprivate struct Camera {
        /// The line that last told the epoch.
        var beginning: PageLine?
        var settings: PageLine?
        var position: PageLine?
        var replay: PageLine?
        /// The lease, and when the daemon reported it.
        var lease: (lease: CameraLease, told: ContinuousClock.Instant)?
        /// The types of gestures that pages received last, and when.
        var toldGestures: (types: [String], timeMs: Double) = ([], 0)
        var fingers: [Int: PageLine] = [:]
        var reporter = GestureReporter()
        var active = ActiveGestures<Void>(limit: mostGestures)
        /// Positions ahead of their time, by that time, and the one before them.
        var ahead: [(at: WallTime, line: PageLine)] = []

        /// The most gestures that are told apart: a daemon's default limit for a camera.
        static let mostGestures = 256

        /// The types of the active gestures, in the order in which a batch reports them.
        var activeTypes: [String] {
            GestureKind.allCases.filter { kind in active.all.contains { $0.key.kind == kind } }.map(\.type)
        }

        func lines(of name: String) -> [PageLine] {
            let (types, timeMs) = toldGestures
            let gestures: PageLine? = types.isEmpty ? nil : .gestures(types, camera: name, timeMs: timeMs)
            let lease = lease.map { PageLine.lease($0.lease, age: $0.told.duration(to: .now)) }
            return [beginning, settings, position, replay, lease, gestures].compactMap(\.self)
                + fingers.sorted { $0.key < $1.key }.map(\.value) + linesAhead(of: .now)
        }

        /// Returns the positions ahead that are still valid; none once the last one's time has come.
        private func linesAhead(of now: WallTime) -> [PageLine] {
            ahead.last.map { $0.at > now } == true ? ahead.map(\.line) : []
        }

        /// Begins with a line that tells the epoch: what was known of where the camera and its fingers are is outdated.
        mutating func begin(with line: PageLine) { (beginning, position, fingers, ahead) = (line, nil, [:], []) }

        /// Keeps a position ahead of its time, which replaces those due at its time or later; `nil` revokes all.
        mutating func keep(_ presentation: Presentation?, _ line: PageLine) {
            guard let time = presentation?.presentAt else { return ahead = [] }
            ahead.removeAll { $0.at >= time }
            ahead.append((time, line))
            let now = WallTime.now
            if let current = ahead.lastIndex(where: { $0.at <= now }) { ahead.removeFirst(current) }
        }
    }

    /// The state of the connection to the daemon.
    fileprivate enum Daemon {
        case away(reason: String)
        /// Connected; the daemon has not announced its cameras yet.
        case connected(DaemonChannel, absence: String)
        /// The daemon has said why it refuses this connection, perhaps before this side notes that it was made.
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
        /// How many attempts have failed since the daemon was there.
        var attempts = 0
        /// The screens of a wall that pages have been told of, and what has been read of the next list; `nil` if none is
        /// being read.
        private var screens: (told: ScreenList, read: ScreenList?) = (.blank, nil)
        /// Bytes by which the kept lines may have grown since they were measured.
        private var unmeasured = 0

        /// The most bytes of lines kept about a daemon's cameras.
        static let mostBytes = 64 << 20

        /// The current state, for a new page.
        var news: [PageLine] {
            [PageLine.daemon(absence: daemon.absence)] + (screens.told.screens.isEmpty ? [] : [.screens(screens.told)])
                + cameras.sorted { $0.key < $1.key }.flatMap { name, camera in camera.lines(of: name) }
        }

        mutating func tell(_ line: PageLine) {
            totals.add(line)
            for outbox in outboxes.values { outbox.add(line, totals) }
        }
    }

    init(_ socket: DaemonSocket, on group: any EventLoopGroup) { (self.socket, self.group) = (socket, group) }

    // MARK: Pages

    /// Adds a page's outbox: it gets an introduction, the state when its lines are first taken, and all later lines.
    func add(_ outbox: PageOutbox, _ introduction: PageLine) {
        state.withLock { state in
            state.outboxes[ObjectIdentifier(outbox)] = outbox
            outbox.begin(with: introduction.bytes)
        }
    }

    func remove(_ outbox: PageOutbox) {
        state.withLock { _ = $0.outboxes.removeValue(forKey: ObjectIdentifier(outbox)) }
    }

    /// Takes what waits in an outbox; `nil` once its page is gone. A new page gets its introduction, a slow one how
    /// many events of each camera it missed; then both get the current state.
    func take(_ outbox: PageOutbox) -> [UInt8]? {
        state.withLock { state in
            guard let batch = outbox.take(state.totals) else { return nil }
            guard let missed = batch.missed else { return batch.bytes }
            let gaps = missed.sorted { $0.key < $1.key }.map { PageLine.lagged(camera: $0, missed: $1) }
            return batch.bytes + (gaps + state.news).flatMap(\.bytes)
        }
    }

    /// Sends all pages a sign of life, so that a connection that has died unseen is noticed; and soon what the daemon's
    /// clients say of a wall's screens.
    func sayAlive() {
        state.withLock { state in
            state.tell(.alive())
            if state.outboxes.isEmpty { state.forgetScreens() } else { state.readScreens() }
        }
    }

    // MARK: The daemon

    /// Follows the daemon until the task is cancelled, and reconnects whenever it goes away.
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
            case .clients(let page): state.note(page)
            case .replay(let status): state.handle(.replay(status), bytes, isAnswer: true)
            case .error(let error) where error.isOfConnection: state.note(.refusing(reason: "\(error)"))
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

    /// Notes that the daemon begins to announce its cameras.
    private mutating func answered() {
        guard case .connected(let channel, _) = daemon else { return }
        (daemon, attempts, cameras, screens) = (.here(channel), 0, [:], (.blank, nil))
        tell(.daemon(absence: nil))
    }

    /// Notes the end of the connection.
    fileprivate mutating func lose() {
        let reason = if case .refusing(let reason) = daemon { reason } else { "the daemon ended the connection" }
        note(.away(reason: reason))
        screens = (.blank, nil)
    }

    /// Sets the daemon's state, and tells pages if it is another.
    fileprivate mutating func note(_ daemon: Follower.Daemon) {
        let before = self.daemon.absence
        self.daemon = daemon
        if daemon.absence != before { tell(.daemon(absence: daemon.absence)) }
    }

    /// Refuses a daemon whose cameras would need too many bytes here.
    ///
    /// - Parameter count: the bytes of the line just handled.
    fileprivate mutating func limit(_ count: Int) throws(TooManyCameras) {
        unmeasured += count
        guard unmeasured > Self.mostBytes else { return }
        unmeasured = (news + cameras.values.flatMap { $0.ahead.map(\.line) }).reduce(0) { $0 + $1.bytes.count }
        // With half of it free, the next measurement comes only after as many bytes.
        guard unmeasured > Self.mostBytes / 2 else { return }
        note(.refusing(reason: "its \(cameras.count) cameras are too many to follow"))
        (cameras, unmeasured) = ([:], 0)
        throw TooManyCameras()
    }

    // MARK: Screens

    /// Forgets the screens while no page sees them.
    fileprivate mutating func forgetScreens() { screens.told = .blank }

    /// Asks what the daemon's clients say of themselves; one may be a bridge that knows a wall's screens.
    fileprivate mutating func readScreens() {
        guard screens.read == nil, case .here = daemon else { return }
        screens.read = .blank
        ask(.clients())
    }

    /// Reads some of the clients; after the last, tells pages of the screens.
    fileprivate mutating func note(_ page: ClientPage) {
        // A client that may only watch knows no screens, whatever it says.
        let told = page.clients.filter { $0.role == .everything }.compactMap {
            $0.about.flatMap(ScreenList.init(about:))
        }
        guard var list = screens.read else { return }
        list.screens = Array((list.screens + told.flatMap(\.screens)).prefix(ScreenList.most))
        if page.hasMore, let last = page.clients.last {
            screens.read = list
            return ask(.clients(after: last.number))
        }
        if !(list.screens + screens.told.screens).isEmpty { tell(.screens(list)) }
        screens = (list, nil)
    }

    // MARK: Cameras

    /// Handles an event of a camera: updates the state, and sends it to pages.
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
            // First for all cameras, with movements, replays and markers; then asks for all that pages show of this.
            if !isAnswer {
                ask(.subscribe(kinds: Set(EventKind.allCases).subtracting([.clock, .motion])), name)
                ask(.getCamera(), name)
                ask(.getReplay, name)
            }
            cameras[name, default: Follower.Camera()].begin(with: line)
            cameras[name]?.lease = nil
        case .reset:
            line.isBoundary = true
            cameras[name]?.begin(with: line)
            ask(.getCamera(), name)
        case .lagged:
            line.isBoundary = true
            cameras[name]?.begin(with: line)
            return forgetInput(of: name, behind: line)
        case .moveStarted, .cameraChanged, .idle:
            if case .cameraChanged = event { line.subject = .position(camera: name) } else { line.isBoundary = true }
            line.isCounted = true
            cameras[name]?.position = line
        case .input(let input): return follow(input, line)
        case .touch(let touch):
            line.subject = .fingers(camera: name, surface: touch.number)
            cameras[name]?.fingers[touch.number] = touch.touches.isEmpty ? nil : line
        case .replay(let status):
            line.subject = .replay(camera: name)
            cameras[name]?.replay = status.state == .ended ? nil : line
        case .present(let present): cameras[name]?.keep(present.presentation, line)
        case .marker, .clock, .motion: break
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

    /// Tracks a camera's active gestures by its input lines.
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

    /// Forgets a camera's input after a gap. The daemon sends its fingers and lease again; its replay and settings are
    /// asked for, and gestures start over.
    private mutating func forgetInput(of name: String, behind gap: PageLine) {
        tell(gap)
        ask(.getCamera(), name)
        ask(.getReplay, name)
        guard var camera = cameras[name] else { return }
        (camera.replay, camera.lease) = (nil, nil)
        camera.reporter = GestureReporter()
        _ = camera.active.cancelAll()
        if !camera.toldGestures.types.isEmpty {
            camera.toldGestures.types = []
            tell(.gestures([], camera: name, timeMs: camera.toldGestures.timeMs))
        }
        cameras[name] = camera
    }

    private func ask(_ request: ClientRequest, _ camera: String? = nil) {
        guard let line = try? request.line(camera: camera, id: Follower.id, creates: false) else { return }
        daemon.channel?.send(line)
    }
}

extension Follower.Camera {
    /// Handles a line of the camera's input.
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

extension WallTime {
    fileprivate static var now: WallTime { WallTime(microseconds: RealtimeClock.microseconds) }
}

// MARK: Lines of this server's own

extension PageLine {
    fileprivate init(_ bytes: ArraySlice<UInt8>, _ subject: Subject?, of camera: String) {
        self.init(bytes: bytes + [0x0a], camera: camera, subject: subject)
    }

    init(_ object: JSONObject) { self.init(bytes: JSONValue.object(object).bytes + [0x0a]) }

    /// Returns a sign of life with the machine's time, and how good its clock is if the system says so.
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

    fileprivate static func screens(_ list: ScreenList) -> PageLine {
        PageLine(bytes: list.line + [0x0a])
    }

    fileprivate static func lagged(camera: String, missed: Int) -> PageLine {
        PageLine(["type": .string("missed"), "camera": .string(camera), "events": .number(Double(missed))])
    }

    /// Returns a lease, for a page that does not know it yet.
    ///
    /// - Parameter age: how long ago the daemon reported it; the camera's clock has advanced by that.
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
        return line
    }
}
