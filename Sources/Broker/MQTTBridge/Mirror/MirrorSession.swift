// A mirror's connection to its daemon, from the first line to the last: the local camera, and the requests that bring
// it to its goal. Invariant: one request is under way at a time, so the mirror always sends the newest goal.

import Gestures
import GimbalProtocol
import MapCamera

/// The position and settings that a camera should have; `nil` while they are unknown.
struct MirrorGoal {
    var position: CameraPosition?
    var settings: CameraSetup?
    /// Whether the source moves.
    var isMoving: Bool
    /// Whether the local camera keeps its own viewport.
    var keepsViewport: Bool

    /// Returns the settings wanted for a camera that now has `local`.
    func settings(beside local: CameraSetup) -> CameraSetup? {
        guard var goal = settings else { return nil }
        if keepsViewport { goal.viewport = local.viewport }
        // Not mirrored: the mirror follows wherever the source's idle action moves it.
        goal.idleAction = local.idleAction
        return goal
    }
}

final class MirrorSession {
    /// What a line from the daemon means for the connection.
    enum Outcome {
        case goesOn
        /// The subscription has begun: the daemon is there.
        case subscribed
        /// The camera was removed. The next connection makes it again.
        case removed
        /// The daemon refuses to move or set the camera.
        case refused(GimbalError)
        /// The daemon refuses the connection.
        case failed(GimbalError)
    }

    /// The local camera, as the daemon last reported it.
    private struct Local: Equatable { let position: PrintedPosition, isMoving: Bool }

    /// When the next request to move or set the camera may be sent.
    private enum Sending {
        case free
        /// After the answer to this request, and not before a time.
        case waitingForAnswer(Int, then: Double?)
        /// Not before this time: the camera did not reach its goal.
        case waiting(until: Double)
        /// Not before this time: the daemon refused to move the camera, and a new goal does not change that.
        case refused(until: Double)
    }

    private let connection: any DaemonConnection
    private let name: String
    private var lastID = 0
    private var sending = Sending.free
    /// `nil` until the daemon reports it.
    private var local: Local?
    /// The epoch of the local camera; `nil` until the daemon reports it.
    private(set) var epoch: String?
    /// Whether the mirror's gesture holds the camera.
    private var isHolding = false
    private var lastSent: CameraPosition?
    /// The settings of the local camera; `nil` until the daemon answers.
    private var settings: CameraSetup?
    /// When to ask the daemon for the settings next.
    private var nextLook: Double
    /// When the settings may be sent again, if the daemon has not taken them.
    private var nextSetting = -Double.infinity
    /// How long to wait before a camera that did not reach its goal is sent there again.
    private var retryDelay = Backoff(first: 200, longest: longestRetryDelay)
    private var refusalDelay = Backoff(first: 200, longest: 2000)
    private var lastTry = -Double.infinity
    /// A viewport other than the source's, and when to send it again after it was refused because of a lease.
    private let viewport: Viewport?
    private var nextViewport: Double?
    /// Positions ahead of their time that the daemon has not answered yet.
    private var unanswered = 0
    /// Other requests count from 1.
    private static let (viewportID, aboutID) = (RequestID.number(0), RequestID.number(-1))
    private static let presentationID = RequestID.number(-2)
    /// While the daemon has this many bytes left to take, positions of a moving camera are skipped.
    private static let mostUnsent = 64 << 10
    private static let longestRetryDelay = 10_000.0

    /// Subscribes to the camera, and sets its viewport.
    ///
    /// - Parameter viewport: the camera's own, if it is not the source's.
    init(_ connection: any DaemonConnection, _ name: String, viewport: Viewport?, at now: Double) throws {
        (self.connection, self.name, self.viewport, nextLook) = (connection, name, viewport, now)
        var lines = try ClientRequest.subscribe(delivery: .latest).line(camera: name)
        if let viewport { lines += try ClientRequest.set(.viewport(viewport)).line(camera: name, id: Self.viewportID) }
        connection.send(lines)
    }

    /// Tells the daemon's other clients what the camera should follow.
    func tell(_ chain: [FollowedCamera]) throws {
        let about = MirroredCamera(name, follows: chain).about
        connection.send(try ClientRequest.hello(about: about).line(id: Self.aboutID))
    }

    func close() { connection.close() }

    /// Whether the daemon keeps answering: a second has fewer positions, and those of a motion come by half seconds.
    var isHeeded: Bool { unanswered < 256 }

    /// Whether the camera has reached its goal, at rest, with the right settings.
    func isThere(_ goal: MirrorGoal) -> Bool {
        guard let position = goal.position, isSetRight(goal), !goal.isMoving, !isHolding else { return false }
        if case .waitingForAnswer = sending { return false }
        return local == Local(position: PrintedPosition(position), isMoving: false)
    }

    private func isSetRight(_ goal: MirrorGoal) -> Bool {
        guard goal.settings != nil else { return true }
        guard let settings else { return false }
        return goal.settings(beside: settings) == settings
    }

    // MARK: Lines of the daemon

    func handle(_ line: ArraySlice<UInt8>, at now: Double) -> Outcome {
        guard let read = try? ServerLine(line: line) else { return .goesOn }
        if read.id == Self.presentationID { unanswered -= 1 }
        switch read.message {
        case .event(let event): return note(event)
        case .camera(let state): settings = state.setup
        case .error(let error) where read.id == Self.aboutID || read.id == Self.presentationID: return .refused(error)
        case .error(let error) where read.id == Self.viewportID && error.code == .leased:
            nextViewport = now + refusalDelay.next()
            return .refused(error)
        case .error(let error):
            guard answers(read.id) else {
                // A refused batch has an error for each member that could be at fault.
                let isOfBeginning = local == nil || read.id == Self.viewportID
                return error.isOfConnection || isOfBeginning ? .failed(error) : .goesOn
            }
            (isHolding, lastSent) = (false, nil)
            sending = .refused(until: now + refusalDelay.next())
            return .refused(error)
        default: if answers(read.id) { refusalDelay.reset() }
        }
        return .goesOn
    }

    /// Whether a line with this id answers the pending request, which is then done.
    private func answers(_ id: RequestID?) -> Bool {
        guard case .waitingForAnswer(let number, let time) = sending, id == .number(number) else { return false }
        sending = time.map { .waiting(until: $0) } ?? .free
        return true
    }

    private func note(_ event: CameraEvent) -> Outcome {
        if case .removed = event { return .removed }
        guard let position = event.position.map(PrintedPosition.init) else { return .goesOn }
        local = Local(position: position, isMoving: event.isMoving ?? isMoving)
        switch event {
        case .subscribed(let present):
            (epoch, local) = (present.epoch, Local(position: position, isMoving: false))
            return .subscribed
        case .reset(let reset): epoch = reset.epoch ?? epoch
        case .lagged(let lagged): epoch = lagged.epoch ?? epoch
        default: break
        }
        return .goesOn
    }

    // MARK: Moving the camera

    /// Ends a wait for the old goal, but not one after a refusal.
    func goalHasChanged() {
        retryDelay.reset()
        switch sending {
        case .free, .refused: break
        case .waiting: sending = .free
        case .waitingForAnswer(let number, _): sending = .waitingForAnswer(number, then: nil)
        }
    }

    /// Makes new settings of the goal due at once.
    func settingsHaveChanged(at now: Double) {
        nextSetting = -.infinity
        if settings == nil { nextLook = now }
    }

    /// Brings the camera to its goal, if a request may be sent now.
    func bring(to goal: MirrorGoal, at now: Double) throws {
        guard let here = local?.position, isFree(at: now) else { return }
        sending = .free
        if let local = settings, let wanted = goal.settings(beside: local), wanted != local,
            nextSetting <= now
        {
            nextSetting = now + Self.longestRetryDelay
            settings = nil
            // The last answer has the resulting settings, which may have moved the camera.
            return try send(wanted.changes.map(ClientRequest.set) + [.getCamera()], nil)
        }
        if goal.isMoving, let position = goal.position {
            guard !isHolding || lastSent != position else { return }
            isHolding = true
            try send([.gesture(GestureEvent(.position, .changed, .position(position)))], position)
        } else if isHolding {
            isHolding = false
            try send([.gesture(GestureEvent(.position, .ended, goal.position.map { .position($0) }))], goal.position)
        } else if let position = goal.position, here != PrintedPosition(position), !isMoving || lastSent != position {
            // The source has jumped, or a client here has moved the camera.
            if now - lastTry > 2 * Self.longestRetryDelay { retryDelay.reset() }
            let retry = lastSent == position ? now + retryDelay.next() : nil
            lastTry = now
            try send(
                [
                    .gesture(GestureEvent(.position, .changed, .position(position))),
                    .gesture(GestureEvent(.position, .ended, nil)),
                ], position, retry: retry)
        }
    }

    /// Sends a position with its time; `false` if the daemon does not know the camera yet, or does not read.
    func present(_ presentation: Presentation) throws -> Bool {
        guard local != nil, !presentation.isMoving || connection.unsentBytes < Self.mostUnsent else { return false }
        connection.send(try ClientRequest.present(presentation).line(camera: name, id: Self.presentationID))
        unanswered += 1
        return true
    }

    private var isMoving: Bool { local?.isMoving ?? false }

    private func isFree(at now: Double) -> Bool {
        if case .waitingForAnswer = sending { false } else { endOfWaiting ?? now <= now }
    }

    private func send(_ requests: [ClientRequest], _ goal: CameraPosition?, retry: Double? = nil) throws {
        lastID += 1
        lastSent = goal
        // The first answer stands for all: a batch is applied as a whole.
        let line =
            requests.count == 1
            ? try requests[0].line(camera: name, id: .number(lastID))
            : try ClientRequest.line(batch: requests, camera: name, ids: [.number(lastID)])
        sending = .waitingForAnswer(lastID, then: retry)
        connection.send(line)
    }

    // MARK: Time

    /// - Parameter goal: the daemon is asked for settings only if the goal has some.
    func deadline(_ goal: MirrorGoal) -> Double? {
        .earliest(endOfWaiting, goal.settings == nil ? nil : nextLook, nextViewport)
    }

    func advance(to goal: MirrorGoal, at now: Double) throws {
        if let next = nextViewport, next <= now, let viewport {
            nextViewport = nil
            connection.send(try ClientRequest.set(.viewport(viewport)).line(camera: name, id: Self.viewportID))
        }
        if goal.settings != nil, nextLook <= now {
            nextLook = now + NodeSettings.interval
            // A daemon that does not read gets no more queries.
            if connection.unsentBytes == 0 {
                connection.send(try ClientRequest.getCamera().line(camera: name, creates: false))
            }
        }
        if let end = endOfWaiting, end <= now { try bring(to: goal, at: now) }
    }

    private var endOfWaiting: Double? {
        switch sending {
        case .waiting(let end), .refused(let end): end
        case .free, .waitingForAnswer: nil
        }
    }
}
