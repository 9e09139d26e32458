// A camera of another machine, live in the daemon of this one. What the broker has kept of that camera is all that this needs:
// after any outage it tells the whole truth again, and the mirror brings its own camera there.
// Invariant: where the source rests, and broker and daemon can be reached, the mirror comes to rest in the same place.

import GimbalProtocol
import MapCamera
import Service

extension CameraPosition {
    /// A position that prints as this one does, and that a camera can have: zoom and viewing angle are rounded apart, and at
    /// the ceiling the zoom that is printed may not allow the angle that is.
    fileprivate var unrounded: CameraPosition {
        guard viewingAngle > CameraConstraints.viewingAngleCeiling(atZoom: zoom) else { return self }
        var position = self
        // All but half a unit of the last place.
        position.zoom = min(zoom + 0.499_999e-6, ZoomRange.limits.upperBound)
        return position
    }
}

package final class CameraMirror: DaemonReader {
    package struct Settings: Sendable {
        /// The node and the camera that are followed.
        package var node: String
        package var camera: String
        /// The camera of this daemon; `nil` where the view goes only elsewhere.
        package var local: String?
        /// Degrees that are added to the bearing, clockwise.
        package var bearingOffset = 0.0
        /// Whether this daemon's camera keeps the viewport that it has: its screen is of another size.
        package var keepsViewport = false
        /// The screen's part of a wall.
        package var tile: WallTile?
        /// After how long without news the mirror asks the broker again for retained messages, in milliseconds.
        package var refresh = 60_000.0

        package init(node: String, camera: String, local: String?) {
            (self.node, self.camera, self.local) = (node, camera, local)
        }
    }

    /// This side's daemon.
    private enum Daemon {
        /// Not needed: only outputs elsewhere show the view, or the mirror has ended.
        case none
        /// There is none; the next attempt is at this time.
        case away(nextAttempt: Double)
        case here(MirrorSession)
    }

    private unowned let outside: any Surroundings
    private let settings: Settings
    private let topics: NodeTopics
    private var source = MirrorSource()
    /// When to ask the broker again, since nothing has come for long.
    private var nextRefresh: Double?
    /// When to ask it again, since the mirror is unsure whether it has the newest message.
    private var nextDoubt: Double?
    /// How soon to ask the broker again while the camera moves: then messages keep coming, unless a finger rests.
    private var movingRefresh: Backoff
    /// Receives where the camera is, for outputs beside the daemon.
    private let show: ((CameraPosition, _ isMoving: Bool) -> Void)?

    private var daemon = Daemon.none
    private var backoff = Backoff(first: 100, longest: 5000)
    /// Why there was no daemon, as last logged.
    private var absence: String?
    /// Why the daemon did not move or set the camera, and when that is logged again.
    private var refusals: [String: Double] = [:]
    /// Milliseconds for which one reason is logged once.
    private static let refusalInterval = 600_000.0
    /// What outputs beside the daemon received last.
    private var shown: (position: CameraPosition, isMoving: Bool)?

    /// - Parameter show: receives each position of the source, with the offset.
    package init(
        _ settings: Settings, _ outside: any Surroundings,
        show: ((CameraPosition, _ isMoving: Bool) -> Void)? = nil
    ) {
        (self.settings, self.outside, self.show) = (settings, outside, show)
        topics = NodeTopics(settings.node)
        movingRefresh = Backoff(first: 2000, longest: settings.refresh)
        if settings.local != nil { daemon = .away(nextAttempt: -.infinity) }
    }

    private var goal: MirrorGoal {
        MirrorGoal(
            position: goalPosition, settings: source.settings, isMoving: source.isMoving,
            keepsViewport: settings.keepsViewport || settings.tile != nil)
    }

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

    package func received(_ delivery: Delivery, at now: Double) {
        if delivery.topic == topics.state {
            if let state = NodeState(delivery.payload) { source.saw(state, at: now) }
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

    private func handle(settings delivery: Delivery, at now: Double) {
        if delivery.payload.isEmpty {
            source.settingsRemoved()
            return askSoon(at: now)
        }
        guard let (told, stamp) = RetainedSettings.read(delivery.payload) else {
            return outside.say(.warning, "\(delivery.topic): what came is no settings of a camera")
        }
        switch source.saw(told.settings, stamp, isRetained: delivery.isRetained) {
        case .news: session?.settingsHaveChanged(at: now)
        case .nothing: break
        case .doubt: askSoon(at: now)
        }
    }

    /// Asks the broker for its retained messages if one does not show whether it is the newest: an empty one has no
    /// number. Not at once: a broker with two of them would make the mirror ask for ever.
    private func askSoon(at now: Double) { nextDoubt = nextDoubt ?? now + 1000 }

    private func handle(_ delivery: Delivery, at now: Double) {
        if delivery.payload.isEmpty {
            source.removed()
            return askSoon(at: now)
        }
        guard let (status, stamp) = CameraStatus.read(delivery.payload) else {
            return outside.say(.warning, "\(delivery.topic): what came is no state of a camera")
        }
        switch source.saw(status, stamp, isRetained: delivery.isRetained, at: now) {
        case .news: session?.goalHasChanged()
        case .nothing: break
        case .doubt: askSoon(at: now)
        }
    }

    // MARK: The daemon

    private func connect(_ name: String, at now: Double) {
        do {
            let connection = try outside.connect(self)
            daemon = .here(try MirrorSession(connection, name, viewport: settings.tile?.viewport, at: now))
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
            // Each position that comes may be refused for the same reason, and so may settings in between.
            if refusals.count > 8 { refusals = [:] }
            guard now >= refusals["\(error)"] ?? -.infinity else { break }
            refusals["\(error)"] = now + Self.refusalInterval
            outside.say(.warning, "the daemon does not let \(settings.local ?? "") follow: \(error)")
        case .failed(let error): return lost("the daemon refuses: \(error)", at: now)
        }
        bring(at: now)
    }

    /// Brings this side's camera, and what shows it elsewhere, where the source is.
    private func bring(at now: Double) {
        attempt { try session?.bring(to: goal, at: now) }
        guard let show, let position = goalPosition else { return }
        let isMoving = source.isMoving
        guard shown?.position != position || shown?.isMoving != isMoving else { return }
        shown = (position, isMoving)
        show(position, isMoving)
    }

    /// Logs what cannot be written as a line, instead of sending it.
    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            outside.say(.error, "\(error)")
        }
    }

    // MARK: Time

    package var deadline: Double? {
        switch daemon {
        case .none: .earliest(nextQuestion, source.silenceDeadline)
        case .away(let attempt): .earliest(nextQuestion, source.silenceDeadline, attempt)
        case .here(let session): .earliest(nextQuestion, source.silenceDeadline, session.deadline(goal))
        }
    }

    /// When to ask the broker again.
    private var nextQuestion: Double? { .earliest(nextRefresh, nextDoubt) }

    package func advance(to now: Double) {
        if case .away(let attempt) = daemon, attempt <= now, let name = settings.local { connect(name, at: now) }
        if let question = nextQuestion, question <= now { ask(at: now) }
        if source.noteSilence(at: now) {
            outside.say(.warning, "node \"\(settings.node)\" has said nothing for long: it is taken for lost")
            bring(at: now)
        }
        attempt { try session?.advance(to: goal, at: now) }
    }

    /// Lets go of the daemon: what holds the camera is cancelled.
    package func close() {
        session?.close()
        (daemon, nextRefresh, nextDoubt) = (.none, nil, nil)
    }
}
