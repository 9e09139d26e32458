// Cameras in time: they come and go, batches of requests end, motions go on, and what that brings goes to subscribers,
// recorders, requests that wait for a rest, and the saved state.

import GimbalProtocol

final class CameraRunner {
    private let registry: CameraRegistry
    private let subscriptions: Subscriptions
    private let waits: RestWaits
    private let sender: Sender
    private let turns: Turns
    private let observer: ClientObserver
    /// Live cameras that move by themselves.
    private var animating = CameraList(.animating)

    /// The work of making or removing a camera, its history included.
    private static let workOfCamera = 12

    init(
        _ registry: CameraRegistry, _ subscriptions: Subscriptions, _ waits: RestWaits, _ sender: Sender,
        _ turns: Turns, _ observer: ClientObserver
    ) {
        (self.registry, self.subscriptions, self.waits) = (registry, subscriptions, waits)
        (self.sender, self.turns, self.observer) = (sender, turns, observer)
    }

    // MARK: They come and go

    /// The camera that a request of a peer's is about; made if it is not there.
    func camera(_ meant: MeantCamera, for peer: Peer, at now: Double) -> HostedCamera {
        if let camera = registry.camera(meant) {
            if !peer.isWatchOnly { registry.makePermanent(camera) }
            return camera
        }
        let camera = registry.make(meant.name, peer.isWatchOnly ? .ephemeral : .permanent, at: now)
        turns.add(work: Self.workOfCamera)
        peer.lastCamera = camera
        subscriptions.cameraWasMade(camera)
        observer.note(.made(camera: meant.name), of: peer)
        return camera
    }

    /// The camera that a question is about. A watch-only client makes none by asking, nor does one that asks not to: if
    /// there is none, the answer is that of a new one.
    func cameraAsked(_ meant: MeantCamera, creates: Bool, by peer: Peer, at now: Double) -> HostedCamera {
        if creates, !peer.isWatchOnly { return camera(meant, for: peer, at: now) }
        return registry.camera(meant) ?? registry.unregistered(meant.name, at: now)
    }

    /// Removes a camera.
    ///
    /// - Parameter peer: the peer that removes it; `nil` if nobody watches it any more.
    func remove(_ camera: HostedCamera, by peer: Peer? = nil) {
        turns.add(work: Self.workOfCamera + camera.readers.subscriptions.count)
        subscriptions.cameraWillBeRemoved(camera)
        registry.remove(camera)
        waits.end(for: camera, .removed)
        if let peer { observer.note(.removed(camera: camera.name), of: peer) }
    }

    /// Removes cameras that were there to be watched and are not watched any more. To be called between batches.
    func removeUnwanted() {
        guard registry.mayHaveUnwanted else { return }
        for camera in registry.takeUnwanted() { remove(camera) }
    }

    /// Makes a camera anew, as a replay has it at a moment.
    func reset(_ camera: HostedCamera, to moment: HostedCamera.Moment, at time: Double) {
        if moment.motion != nil {
            // Flush what recorders have been sent before they wait again.
            for recorder in camera.readers.toldRecorders {
                sender.flush(recorder)
                recorder.stopInput()
                camera.addWaitingRecorder(recorder)
            }
        }
        note(camera.reset(to: moment, at: time, epoch: registry.newEpoch()), of: camera)
    }

    /// Sends a line that has no seq to the subscribers that asked for its kind.
    func tell(_ kind: EventKinds, of camera: HostedCamera, _ write: (inout LineWriter) -> Void) {
        pass(camera.tell(kind, write), of: camera)
    }

    /// Names the present of a camera. To be followed by the end of its batch.
    func mark(_ camera: HostedCamera, _ label: String, at time: Double) {
        pass(camera.mark(label, at: time), of: camera)
    }

    private func pass(_ emission: HostedCamera.Emission, of camera: HostedCamera) {
        if emission.lines > 0 { sender.note(emission, of: camera) }
    }

    // MARK: Time

    /// Brings a camera to the present, unless its time is a trace's. What is due is what the deadline said, so both are
    /// reckoned in the hub's time.
    func catchUp(_ camera: HostedCamera, at now: Double) {
        guard camera.replay == nil else { return }
        while isDue(camera, at: now) { tick(camera) }
    }

    private func isDue(_ camera: HostedCamera, at now: Double) -> Bool {
        camera.nextTick.map { camera.clockStart + $0 <= now } ?? false
    }

    /// Moves a camera on to its next tick.
    func tick(_ camera: HostedCamera) { note(camera.tick(), of: camera) }

    /// Ends a batch of requests.
    ///
    /// - Parameter time: the present on the camera's clock.
    func endBatch(of camera: HostedCamera, at time: Double) {
        let emission = camera.endBatch(at: time)
        if camera.nextTick != nil, camera.replay == nil { animating.insert(camera) }
        note(emission, of: camera)
    }

    /// Passes on what a batch or a tick has brought.
    private func note(_ emission: HostedCamera.Emission, of camera: HostedCamera) {
        registry.noteChange(camera)
        if camera.readers.hasWaiting { subscriptions.noteRecorders(of: camera) }
        if emission.lines > 0 { sender.note(emission, of: camera) }
        if !camera.waits.isEmpty { waits.noteBatch(of: camera) }
    }

    /// Cancels the gestures of a peer.
    func cancelGestures(of peer: Peer, at now: Double) {
        for camera in peer.fedCameras.cameras where camera.replay == nil {
            catchUp(camera, at: now)
            let time = now - camera.clockStart
            camera.cancelGestures(of: peer.number, at: time)
            endBatch(of: camera, at: time)
        }
        peer.fedCameras.removeAll()
        peer.lastCamera = nil
    }

    /// Goes on with cameras of another process: what moves by itself moves on, and gestures of clients that are gone are
    /// cancelled.
    func restore(_ cameras: some Sequence<HostedCamera>, at now: Double, isThere: (Int) -> Bool) {
        for camera in cameras where camera.replay == nil {
            // Gestures of fingers are their surfaces' own.
            let feeds = camera.gestures.reports.map(\.key.feed).filter { $0 > 0 } + camera.surfaces.all.map(\.key.feed)
            let gone = Set(feeds.filter { !isThere($0) })
            if camera.nextTick != nil { animating.insert(camera) }
            guard !gone.isEmpty else { continue }
            catchUp(camera, at: now)
            let time = now - camera.clockStart
            for feed in gone.sorted() { camera.cancelGestures(of: feed, at: time) }
            endBatch(of: camera, at: time)
        }
    }

    /// Whether no live camera moves by itself.
    var isAtRest: Bool { animating.isEmpty }

    /// When the next camera is to move on, in the hub's time; infinite if none is.
    var deadline: Double {
        var earliest = Double.infinity
        guard !animating.isEmpty else { return earliest }
        for camera in animating.cameras {
            if let tick = camera.nextTick { earliest = min(earliest, camera.clockStart + tick) }
        }
        return earliest
    }

    /// Moves on what is due, as far as the turn has room for its events: after a standstill of the process that may be much.
    func advance(to now: Double) {
        guard !animating.isEmpty else { return }
        for camera in animating.cameras where camera.replay == nil {
            while turns.hasRoomForEvents, isDue(camera, at: now) { tick(camera) }
        }
        animating.removeAll { $0.nextTick == nil || $0.replay != nil || $0.isRemoved }
    }

    /// Brings every camera to rest where it is.
    func stopAll(at now: Double) {
        for camera in registry.sorted {
            catchUp(camera, at: now)
            guard camera.nextTick != nil || camera.gestures.isActive else { continue }
            let time = camera.time(at: now)
            camera.apply(.stop, at: time)
            endBatch(of: camera, at: time)
        }
    }
}
