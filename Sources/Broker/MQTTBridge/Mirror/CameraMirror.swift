// Mirrors a camera of another node into this machine's daemon. The broker's retained messages are all that it needs:
// after any outage they have the full state, and the mirror brings its own camera there.
// Invariants: while the source rests, and broker and daemon can be reached, the mirror comes to rest in the same place.
// A camera that would follow itself, directly or through others, follows none.

import GimbalProtocol
import MapCamera
import Service

extension CameraPosition {
    /// A position that prints the same and is valid for a camera. Zoom and viewing angle are rounded separately, so at
    /// the ceiling the printed zoom may not allow the printed angle.
    fileprivate var unrounded: CameraPosition {
        guard viewingAngle > CameraConstraints.viewingAngleCeiling(atZoom: zoom) else { return self }
        var position = self
        // Just under half a unit in the last place.
        position.zoom = min(zoom + 0.499_999e-6, ZoomRange.limits.upperBound)
        return position
    }
}

package final class CameraMirror: DaemonReader {
    package struct Settings: Sendable {
        /// The node and the camera to follow.
        package var node: String
        package var camera: String
        /// The camera of this daemon; `nil` if only other outputs show the view.
        package var local: String?
        /// Degrees that are added to the bearing, clockwise.
        package var bearingOffset = 0.0
        /// Whether this daemon's camera keeps its own viewport, for a screen of another size.
        package var keepsViewport = false
        /// The screen's part of a wall.
        package var tile: WallTile?
        /// How far the camera is behind its source, in milliseconds, whatever the network does; `nil` follows at once.
        package var playOut: Double?
        /// How long the mirror waits for news before it asks the broker for retained messages again, in milliseconds.
        package var refresh = 60_000.0

        package init(node: String, camera: String, local: String?) {
            (self.node, self.camera, self.local) = (node, camera, local)
        }
    }

    /// The daemon of the local camera.
    private enum Daemon {
        /// Not needed: only other outputs show the view, or the mirror has ended.
        case none
        /// Not connected; the next attempt is at this time.
        case away(nextAttempt: Double)
        case here(MirrorSession)
    }

    /// What keeps the camera from following its source.
    private enum Obstacle: Equatable {
        /// Each of these follows the next one; the last is the local camera, which follows the first.
        case circle([String])
        /// The chain has more cameras than readers know of.
        case tooLong
    }

    private unowned let outside: any Surroundings
    private let settings: Settings
    private let topics: NodeTopics
    /// The node that publishes the local camera, if it is in this process.
    private let node: Node?
    private var source = MirrorSource()
    /// What the local camera should follow, as last published, and why it does not.
    private var chain: [FollowedCamera] = []
    private var obstacle: Obstacle?
    /// The obstacle that was logged last, and when the next one may be logged.
    private var loggedObstacle: Obstacle?
    private var nextLine = -Double.infinity
    /// When the next invalid message may be logged.
    private var nextGarbageLine = -Double.infinity
    /// The epoch of the local camera.
    private var epoch: String?
    /// The shortest time between two log lines of a kind about what others publish, in milliseconds.
    private static let lineInterval = 10_000.0
    /// When to ask the broker again because nothing has come for long.
    private var nextRefresh: Double?
    /// When to ask the broker again because the mirror may not have the newest message.
    private var nextDoubt: Double?
    /// When to ask the broker while the camera moves: messages keep coming then, unless a finger rests.
    private var movingRefresh: Backoff
    /// Receives the camera's position, for outputs other than the daemon.
    private let show: ((CameraPosition, _ isMoving: Bool) -> Void)?

    /// Sends the daemon positions ahead of their time; `nil` if the camera follows as soon as possible.
    private var presenter: Presenter?
    /// Whether the source's machine says that its clock is synchronized, if known.
    private var isSourceSynchronized: Bool?
    /// Which clocks were logged as not synchronized, and when to look at them again.
    private var wrongClocks = (own: false, source: false)
    private var nextLookAtClocks = -Double.infinity

    private var daemon = Daemon.none
    private var backoff = Backoff(first: 100, longest: 5000)
    /// Why there was no daemon, as last logged.
    private var absence: String?
    /// When each reason why the daemon did not move or set the camera is logged again.
    private var refusals: [String: Double] = [:]
    /// The shortest time between two log lines with the same reason, in milliseconds.
    private static let refusalInterval = 600_000.0
    /// What other outputs are to receive when it is due.
    private var upcoming = Upcoming()
    /// What they received last.
    private var shown: (position: CameraPosition, isMoving: Bool)?

    /// - Parameters:
    ///   - node: publishes the local camera.
    ///   - show: receives each position of the source, with the offset.
    package init(
        _ settings: Settings, _ outside: any Surroundings, node: Node? = nil,
        show: ((CameraPosition, _ isMoving: Bool) -> Void)? = nil
    ) {
        (self.settings, self.outside, self.node, self.show) = (settings, outside, node, show)
        topics = NodeTopics(settings.node)
        movingRefresh = Backoff(first: 2000, longest: settings.refresh)
        presenter = settings.playOut.map { Presenter(playOut: $0, bearingOffset: settings.bearingOffset) }
        if settings.local != nil { daemon = .away(nextAttempt: -.infinity) }
    }

    private var goal: MirrorGoal {
        let keepsViewport = settings.keepsViewport || settings.tile != nil
        guard obstacle == nil else {
            return MirrorGoal(position: nil, settings: nil, isMoving: false, keepsViewport: keepsViewport)
        }
        return MirrorGoal(
            position: isShown ? goalPosition : nil, settings: source.settings, isMoving: source.isMoving,
            keepsViewport: keepsViewport)
    }

    /// Whether the camera should be at its goal by now.
    private var isShown: Bool { presenter?.hasEnded ?? true }

    private var goalPosition: CameraPosition? {
        guard var position = source.status?.position else { return nil }
        if settings.bearingOffset != 0 { position.bearing = wrap360(position.bearing + settings.bearingOffset) }
        return position.unrounded
    }

    private var session: MirrorSession? { if case .here(let session) = daemon { session } else { nil } }

    /// Whether the camera has reached its goal, at rest, with the right settings.
    package var isThere: Bool { session?.isThere(goal) ?? false }

    // MARK: The broker

    package func connected(at now: Double) {
        source.connected(at: now)
        noteChain(at: now)
        outside.subscribe(topics.state)
        ask(at: now)
    }

    package func disconnected(at now: Double) {
        source.disconnected()
        (nextRefresh, nextDoubt) = (nil, nil)
        bring(at: now)
    }

    private func ask(at now: Double) {
        if settings.local != nil { outside.subscribe(topics.settings(settings.camera)) }
        outside.subscribe(topics.camera(settings.camera))
        nextDoubt = nil
        setRefresh(at: now)
    }

    private func setRefresh(at now: Double) {
        nextRefresh = now + (source.isMoving ? movingRefresh.next() : settings.refresh)
    }

    package func received(_ delivery: Publication, at now: Double) {
        if delivery.topic == topics.state {
            if let state = NodeState(delivery.payload) {
                source.saw(state, at: now)
                isSourceSynchronized = state.clock?.isSynchronized
            }
        } else if delivery.topic == topics.camera(settings.camera) {
            handle(delivery, at: now)
            if !delivery.isRetained {
                movingRefresh.reset()
                setRefresh(at: now)
            }
        } else if delivery.topic == topics.settings(settings.camera) {
            handle(settings: delivery, at: now)
        }
        bring(at: now)
    }

    private func handle(settings delivery: Publication, at now: Double) {
        if delivery.payload.isEmpty {
            source.settingsRemoved()
            return askSoon(at: now)
        }
        guard let (told, stamp) = RetainedSettings.read(delivery.payload) else {
            return logGarbage("\(delivery.topic): the payload is not a camera's settings", at: now)
        }
        switch source.saw(told.settings, stamp, isRetained: delivery.isRetained) {
        case .news: session?.settingsHaveChanged(at: now)
        case .nothing: break
        case .doubt: askSoon(at: now)
        }
    }

    private func logGarbage(_ text: @autoclosure () -> PrintableText, at now: Double) {
        guard nextGarbageLine <= now else { return }
        nextGarbageLine = now + Self.lineInterval
        outside.say(.warning, text())
    }

    /// Schedules a request for the retained messages when a message does not show whether it is the newest: an empty
    /// one has no number. Not at once, or a broker with two of them would make the mirror ask forever.
    private func askSoon(at now: Double) { nextDoubt = nextDoubt ?? now + 1000 }

    private func handle(_ delivery: Publication, at now: Double) {
        if delivery.payload.isEmpty {
            source.removed()
            return askSoon(at: now)
        }
        guard let (status, stamp) = CameraStatus.read(delivery.payload) else {
            return logGarbage("\(delivery.topic): the payload is not a camera's state", at: now)
        }
        let before = source.status
        switch source.saw(status, stamp, isRetained: delivery.isRetained, at: now) {
        case .news:
            session?.goalHasChanged()
            // Motions are shown by their times, even without a play-out delay.
            if status.motion != nil, presenter == nil {
                presenter = Presenter(playOut: 0, bearingOffset: settings.bearingOffset)
            }
            // A node also republishes resting cameras, and late if it has just become the node.
            let isOnTheWay = !delivery.isRetained && before.map { $0.isMoving || status.isMoving } ?? false
            presenter?.note(status, isOnTheWay: isOnTheWay, at: outside.wallTime, now)
        case .nothing: break
        case .doubt: askSoon(at: now)
        }
    }

    // MARK: The chain

    /// Updates what the local camera should follow, publishes it, and determines whether it may.
    private func noteChain(at now: Double) {
        guard let local = settings.local else { return }
        let first = FollowedCamera(node: settings.node, camera: settings.camera, epoch: source.status?.epoch)
        let told = FollowedCamera.chain(first, source.status?.follows ?? [])
        let localEpoch = session?.epoch ?? epoch
        guard told != chain || localEpoch != epoch else { return }
        if told != chain {
            node?.tell(local, follows: told, at: now)
            attempt { try session?.tell(told) }
        }
        (chain, epoch) = (told, localEpoch)
        if let end = chain.firstIndex(where: { isLocal($0, local) }) {
            obstacle = .circle(chain[...end].map(\.name))
        } else {
            obstacle = chain.count > FollowedCamera.most ? .tooLong : nil
        }
    }

    /// Whether a camera is the local one: by its name, or by its epoch if another process or node publishes it.
    private func isLocal(_ link: FollowedCamera, _ local: String) -> Bool {
        link.camera == local && (link.node == node?.topics.node || link.epoch != nil && link.epoch == epoch)
    }

    /// Logs that the camera may not follow its source, or that it may again.
    private func logObstacle(at now: Double) {
        guard let local = settings.local, obstacle != loggedObstacle, nextLine <= now else { return }
        (loggedObstacle, nextLine) = (obstacle, now + Self.lineInterval)
        let source = "\(settings.node)/\(settings.camera)"
        switch obstacle {
        case .circle(let names):
            let circle = "\(names.last ?? "") follows \(names.joined(separator: ", which follows "))"
            outside.say(.error, "\(local) does not follow \(source) because that would be a circle: \(circle)")
        case .tooLong:
            outside.say(
                .error, "\(local) does not follow \(source): more than \(FollowedCamera.most) follow one another")
        case nil: outside.say(.info, "\(local) follows \(source) now")
        }
    }

    // MARK: The daemon

    private func connect(_ name: String, at now: Double) {
        do {
            let connection = try outside.connect(self)
            let session = try MirrorSession(connection, name, viewport: settings.tile?.viewport, at: now)
            try session.tell(chain)
            daemon = .here(session)
            presenter?.restart()
        } catch {
            lost("\(error)", at: now)
        }
    }

    private func lost(_ reason: String, at now: Double) {
        if absence != reason { outside.say(.warning, "no daemon: \(reason)") }
        absence = reason
        session?.close()
        daemon = .away(nextAttempt: now + backoff.next())
    }

    package func ended(_ reason: String, at now: Double) { lost(reason, at: now) }

    package func received(_ line: ArraySlice<UInt8>, at now: Double) {
        guard let session else { return }
        switch session.handle(line, at: now) {
        case .goesOn: break
        case .subscribed:
            absence = nil
            backoff.reset()
        case .removed:
            session.close()
            daemon = .away(nextAttempt: -.infinity)
        case .refused(let error):
            presenter?.lateness.isWhole = false
            // Every position may be refused for the same reason, with refused settings in between.
            if refusals.count > 8 { refusals = [:] }
            // The message of `leased` has the time left, so it differs each time.
            let reason = error.code == .leased ? error.code.rawValue : "\(error)"
            guard now >= refusals[reason] ?? -.infinity else { break }
            refusals[reason] = now + Self.refusalInterval
            outside.say(.warning, "the daemon does not let \(settings.local ?? "") follow: \(error)")
        case .failed(let error): return lost("the daemon refuses: \(error)", at: now)
        }
        bring(at: now)
    }

    /// Brings the local camera and other outputs to where the source is.
    private func bring(at now: Double) {
        noteChain(at: now)
        attempt {
            try present(at: now)
            try session?.bring(to: goal, at: now)
        }
        showElsewhere(at: now)
    }

    private func present(at now: Double) throws {
        guard session != nil || show != nil else { return presenter?.restart() ?? () }
        let (wall, position) = (outside.wallTime, obstacle == nil ? goalPosition : nil)
        try presenter?.present(position, isMoving: source.isMoving, at: wall, now) { presentation in
            if show != nil { upcoming.insert(presentation) }
            return try session?.present(presentation) ?? true
        }
    }

    /// Shows other outputs where the source is, or was one play-out delay ago.
    private func showElsewhere(at now: Double) {
        guard let show else { return }
        var next = goalPosition.map { (position: $0, isMoving: source.isMoving) }
        if presenter != nil { next = upcoming.take(at: outside.wallTime, now).map { ($0.position, $0.isMoving) } }
        guard let next, shown?.position != next.position || shown?.isMoving != next.isMoving else { return }
        shown = next
        show(next.position, next.isMoving)
    }

    /// Runs `body`, and logs the error if a line cannot be written.
    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            outside.say(.error, "\(error)")
        }
    }

    // MARK: Time

    package var deadline: Double? {
        let ofDaemon: Double? =
            switch daemon {
            case .none: nil
            case .away(let attempt): attempt
            case .here(let session): session.deadline(goal)
            }
        let line = obstacle == loggedObstacle ? nil : nextLine
        return .earliest(nextQuery, source.silenceDeadline, line, ofDaemon, presenter?.deadline, upcoming.deadline)
    }

    /// When to ask the broker again.
    private var nextQuery: Double? { .earliest(nextRefresh, nextDoubt) }

    package func advance(to now: Double) {
        if case .away(let attempt) = daemon, attempt <= now, let name = settings.local { connect(name, at: now) }
        if let query = nextQuery, query <= now { ask(at: now) }
        if source.noteSilence(at: now) {
            outside.say(.warning, "node \"\(settings.node)\" has been silent for too long: it is considered lost")
            bring(at: now)
        }
        if let next = Double.earliest(presenter?.deadline, upcoming.deadline), next <= now { bring(at: now) }
        if let lateness = presenter?.lateness.take(at: now) { tell(lateness, at: now) }
        attempt { try session?.advance(to: goal, at: now) }
        logObstacle(at: now)
        logWrongClocks(at: now)
    }

    /// Logs positions that came late, and has the node tell how well the camera keeps in step. If it does not follow,
    /// nothing is told, and others see that it is silent.
    private func tell(_ lateness: Lateness, at now: Double) {
        guard let local = settings.local else { return }
        if let text = lateness.text { outside.say(.warning, "\(local): \(text)") }
        guard obstacle == nil, lateness.isWhole, session?.isHeeded == true else { return }
        node?.tell(local, lateness, following: FollowedCamera(node: settings.node, camera: settings.camera))
    }

    /// Logs once, where times count, that a clock is not synchronized. That is no reason to wake up.
    private func logWrongClocks(at now: Double) {
        guard presenter != nil, nextLookAtClocks <= now else { return }
        nextLookAtClocks = now + 1000
        let (own, other) = (outside.clockQuality?.isSynchronized == false, isSourceSynchronized == false)
        if own, !wrongClocks.own {
            outside.say(.warning, "this machine's clock is not synchronized, so it is not in step with others")
        }
        if other, !wrongClocks.source {
            outside.say(
                .warning,
                "the clock of node \"\(settings.node)\" is not synchronized: its positions come at the wrong time")
        }
        wrongClocks = (own, other)
    }

    /// Closes the connection to the daemon, which cancels the gesture that holds the camera.
    package func close() {
        session?.close()
        (daemon, nextRefresh, nextDoubt) = (.none, nil, nil)
    }
}
