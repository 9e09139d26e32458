// Cameras in time: makes and removes them, ends batches of requests, and continues motions. `commit` passes on the
// results to subscribers, recorders, requests that wait for a rest, and the saved state.

import GimbalProtocol
import MapCamera

final class CameraRunner {
    private let registry: CameraRegistry
    private let subscriptions: Subscriptions
    private let waits: RestWaits
    private let sender: Sender
    private let turns: Turns
    private let observer: ClientObserver
    /// Live cameras that move by themselves.
    private var animating = CameraList(.animating)
    /// Cameras that may have an idle action.
    private(set) var idling = CameraList(.idling)
    /// The hub's time before which none of their idle actions is due.
    private(set) var idleDeadline = Double.infinity

    /// The work of making or removing a camera, including its history.
    private static let workOfCamera = 12
    /// The work of reading a keyframe of a tour and preparing the way to it.
    private static let workOfKeyframe = 8

    init(
        _ registry: CameraRegistry, _ subscriptions: Subscriptions, _ waits: RestWaits, _ sender: Sender,
        _ turns: Turns, _ observer: ClientObserver
    ) {
        (self.registry, self.subscriptions, self.waits) = (registry, subscriptions, waits)
        (self.sender, self.turns, self.observer) = (sender, turns, observer)
    }

    // MARK: Making and removing

    /// Returns the camera that a peer's request is about, and makes it if it does not exist.
    func camera(_ meant: MeantCamera, for peer: Peer, at now: Double) -> HostedCamera {
        if let camera = registry.camera(meant) {
            if !peer.isWatchOnly { registry.makePermanent(camera) }
            return camera
        }
        let camera = registry.make(meant.name, peer.isWatchOnly ? .ephemeral : .permanent, at: now)
        turns.add(work: Self.workOfCamera)
        peer.lastCamera = camera
        subscriptions.cameraWasMade(camera)
        observer.report(.made(camera: meant.name), of: peer)
        return camera
    }

    /// Returns the camera that a question is about. Makes a missing one, unless the client is watch-only or the
    /// question asks not to: then the answer is that of a new camera.
    func cameraAsked(_ meant: MeantCamera, creates: Bool, by peer: Peer, at now: Double) -> HostedCamera {
        if creates, !peer.isWatchOnly { return camera(meant, for: peer, at: now) }
        return registry.camera(meant) ?? registry.scratchCamera(meant.name, at: now)
    }

    /// Removes a camera.
    ///
    /// - Parameter peer: the peer that removes it; `nil` if it is no longer watched.
    func remove(_ camera: HostedCamera, by peer: Peer? = nil) {
        turns.add(work: Self.workOfCamera + camera.readers.subscriptions.count)
        subscriptions.cameraWillBeRemoved(camera)
        registry.remove(camera)
        waits.end(for: camera)
        if let peer { observer.report(.removed(camera: camera.name), of: peer) }
    }

    /// Resets a camera to a replay's moment.
    func reset(_ camera: HostedCamera, to moment: HostedCamera.Moment, at time: Double) {
        if moment.motion != nil {
            // Flush what recorders have been sent before they wait again.
            let recorders = camera.readers.startedRecorders
            sender.flushAll(recorders)
            for recorder in recorders {
                recorder.stopInput()
                camera.addWaitingRecorder(recorder)
            }
        }
        commit(camera.reset(to: moment, at: time, epoch: registry.newEpoch()), of: camera)
    }

    /// Sends a line without a seq to the subscribers that asked for its kind.
    func send(_ kind: EventKinds, of camera: HostedCamera, _ write: (inout LineWriter) -> Void) {
        send(camera.append(kind, write), of: camera)
    }

    private func send(_ effects: HostedCamera.Effects, of camera: HostedCamera) {
        if effects.lines > 0 { sender.send(effects, of: camera) }
    }

    // MARK: Batches

    /// Applies a gesture, fingers, a command or a marker to a camera, as part of a batch.
    ///
    /// - Parameters:
    ///   - lineTime: the line's own time, in milliseconds.
    ///   - time: the present on the camera's clock.
    func apply(
        _ request: ClientRequest, of feed: Int, lineTime: Double? = nil, to camera: HostedCamera, at time: Double
    ) {
        switch request {
        case .gesture(let gesture): camera.apply(gesture, of: feed, at: time)
        case .touch(let fingers):
            // Each finger is looked up among the others.
            turns.add(work: (fingers.touches.count * fingers.touches.count) >> 10)
            camera.apply(fingers, of: feed, lineTime: lineTime, at: time)
        case .marker(let label): send(camera.mark(label, at: time), of: camera)
        case .move, .animate, .fly, .stop, .set, .removeCamera: camera.apply(request, at: time)
        case .tour(let keyframes):
            turns.add(work: keyframes.count * Self.workOfKeyframe)
            camera.apply(request, at: time)
        default: break  // It does not move a camera (`isOfTraces`).
        }
    }

    /// Ends a batch of requests.
    ///
    /// - Parameter time: the present on the camera's clock.
    func commitBatch(of camera: HostedCamera, at time: Double) { commit(camera.endBatch(at: time), of: camera) }

    /// Passes on what a batch, a frame or a reset has produced.
    private func commit(_ effects: HostedCamera.Effects, of camera: HostedCamera) {
        guard camera.isPublic else { return turns.add(work: 1) }
        registry.markUnsaved(camera)
        if camera.nextTick != nil, camera.replay == nil { animating.insert(camera) }
        if camera.hasIdleAction { scheduleIdleAction(of: camera) }
        if camera.readers.wantMore { serveReaders(of: camera) }
        // A change too small to be printed has a cost, too.
        if effects.lines == 0 { turns.add(work: 1) }
        send(effects, of: camera)
        if !camera.waits.isEmpty { waits.end(for: camera) }
    }

    /// Serves readers that want more than events.
    private func serveReaders(of camera: HostedCamera) {
        if camera.readers.hasWaiting { subscriptions.scheduleRecorders(of: camera) }
        if camera.readers.readClock, let news = camera.clockNews() {
            send(.clock, of: camera) { $0.answer(.event(.clock(news)), Span()) }
        }
        if camera.readers.readMotion, let news = camera.motionNews() {
            send(.motion, of: camera) { $0.answer(.event(.motion(news)), Span()) }
        }
    }

    /// Does what waits for the end of a line or turn: starts rest waits and recorders, removes unwatched cameras.
    func settle(at now: Double) {
        if waits.hasNew { startWaits(at: now) }
        subscriptions.startRecorders(at: now)
        if registry.mayHaveUnwanted { removeUnwanted() }
    }

    private func startWaits(at now: Double) {
        for wait in waits.takeNew() where !wait.isOver {
            catchUp(wait.camera, at: now)
            waits.start(wait)
        }
        waits.advance(to: now)
    }

    /// Removes cameras that existed only to be watched and are no longer watched.
    private func removeUnwanted() { for camera in registry.takeUnwanted() { remove(camera) } }

    // MARK: Time

    /// Brings a camera to the present, unless its time is a trace's. Compares in the hub's time, as the deadline does,
    /// so that what the deadline announced is due.
    func catchUp(_ camera: HostedCamera, at now: Double) {
        guard camera.replay == nil else { return }
        while isDue(camera, at: now) { tick(camera) }
    }

    private func isDue(_ camera: HostedCamera, at now: Double) -> Bool {
        camera.nextTick.map { camera.clockStart + $0 <= now } ?? false
    }

    /// Advances a camera by one frame.
    func tick(_ camera: HostedCamera) { commit(camera.tick(), of: camera) }

    /// Cancels the gestures of a peer, and the positions that it has sent ahead.
    func cancelGestures(of peer: Peer, at now: Double) {
        for camera in peer.fedCameras.cameras {
            if camera.playOut?.peer === peer { endPlayOut(of: camera) }
            cancelGestures(on: camera, at: now) { $0 == peer.number }
        }
        peer.fedCameras.removeAll()
        peer.lastCamera = nil
    }

    /// Drops the positions that were sent ahead for a camera.
    func endPlayOut(of camera: HostedCamera) {
        camera.playOut = nil
        tell(nil, of: camera)
    }

    /// Tells subscribers where a camera will be at a time; `nil` revokes the positions told before.
    func tell(_ presentation: Presentation?, of camera: HostedCamera) {
        send(.present, of: camera) { $0.answer(.event(.present(camera.told(presentation))), Span()) }
    }

    /// Cancels the gestures on a camera of peers with certain numbers, unless a replay moves the camera.
    func cancelGestures(on camera: HostedCamera, at now: Double, of isMeant: (Int) -> Bool) {
        guard camera.replay == nil else { return }
        // Gestures of fingers have negative feeds, and end with their surfaces.
        let feeds = camera.gestures.reports.map(\.key.feed).filter { $0 > 0 } + camera.surfaces.all.map(\.key.feed)
        let meant = Set(feeds.filter(isMeant))
        guard !meant.isEmpty else { return }
        catchUp(camera, at: now)
        let time = now - camera.clockStart
        let isActive =
            camera.gestures.reports.contains { meant.contains($0.key.feed) }
            || camera.surfaces.all.contains { $0.isTouched && meant.contains($0.key.feed) }
        for feed in meant.sorted() { camera.cancelGestures(of: feed, at: time) }
        // Surfaces without fingers end unseen, and disturb no flight.
        if isActive { commitBatch(of: camera, at: time) }
    }

    /// Resumes cameras of another process: motions continue, and gestures of clients that are gone are cancelled.
    func restore(_ cameras: some Sequence<HostedCamera>, at now: Double, isThere: (Int) -> Bool) {
        scheduleIdleActions()
        for camera in cameras where camera.replay == nil {
            if camera.nextTick != nil { animating.insert(camera) }
            cancelGestures(on: camera, at: now) { !isThere($0) }
        }
    }

    /// Whether a live camera moves by itself.
    var hasMotion: Bool { !animating.isEmpty }

    /// When the next camera is due to move, in the hub's time; infinite if none is.
    var deadline: Double {
        guard !animating.isEmpty else { return .infinity }
        return animating.cameras.reduce(.infinity) { min($0, $1.clockStart + ($1.nextTick ?? .infinity)) }
    }

    /// Advances what is due, as far as the turn has room for its events: after a standstill much may be due.
    func advance(to now: Double) {
        guard !animating.isEmpty else { return }
        for camera in animating.cameras where camera.replay == nil {
            while turns.hasRoomForEvents, isDue(camera, at: now) { tick(camera) }
        }
        animating.removeAll { $0.nextTick == nil || $0.replay != nil || $0.isRemoved }
    }

    // MARK: Idle actions

    /// Begins a camera's flight home, or to where a trace begins, at the time at which it is due.
    func beginIdleFlight(
        of camera: HostedCamera, to position: CameraPosition, duration: Double?, _ reason: MoveReason, at time: Double
    ) {
        commit(camera.beginIdleFlight(to: position, duration: duration, reason, at: time), of: camera)
    }

    /// Starts a camera's idle time anew, when what kept it from its idle action is over.
    func restartIdleTime(of camera: HostedCamera, at now: Double) {
        camera.restartIdleTime(at: camera.time(at: now))
        scheduleIdleAction(of: camera)
    }

    /// Schedules the idle actions of restored cameras.
    func scheduleIdleActions() { for camera in registry.sorted { scheduleIdleAction(of: camera) } }

    private func scheduleIdleAction(of camera: HostedCamera) {
        guard camera.hasIdleAction, !camera.isRemoved else { return }
        if idling.insert(camera), idling.cameras.count > 2 * registry.count + 64 { dropIdling() }
        if let due = camera.idleDue { idleDeadline = min(idleDeadline, camera.clockStart + due) }
    }

    /// Drops cameras that were removed or have no idle action any more.
    private func dropIdling() { idling.removeAll { !$0.hasIdleAction || $0.isRemoved } }

    /// Determines anew which idle action is due first.
    ///
    /// - Parameter earliest: the hub's time before which this is not done again: each time, all cameras are checked.
    func rescheduleIdleActions(notBefore earliest: Double) {
        idleDeadline = .infinity
        dropIdling()
        for camera in idling.cameras { scheduleIdleAction(of: camera) }
        idleDeadline = max(idleDeadline, earliest)
    }

    /// Brings every camera to rest where it is.
    func stopAll(at now: Double) {
        for camera in registry.sorted {
            catchUp(camera, at: now)
            guard camera.nextTick != nil || camera.gestures.isActive else { continue }
            let time = camera.time(at: now)
            camera.apply(.stop, at: time)
            commitBatch(of: camera, at: time)
        }
    }
}
