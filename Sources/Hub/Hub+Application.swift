// An admitted line takes effect: each request in order, then the end of the frame for each camera that it touched.

import Gestures
import MapCamera
import Wire

/// The cameras that a line touches: nearly always that of its first object alone, which is held by whoever applies the line.
struct Frame {
    /// The first object's camera, once a gesture has touched it.
    var first: ObjectIdentifier?
    private(set) var others: [HostedCamera] = []

    mutating func insert(_ camera: HostedCamera) {
        if first == ObjectIdentifier(camera) || others.contains(where: { $0 === camera }) { return }
        others.append(camera)
    }
}

extension Hub {
    // MARK: Application

    /// Applies a line.
    ///
    /// - Parameter first: the camera that its first object is about, if it is there.
    func apply(
        _ requests: [Request], to first: HostedCamera?, _ bytes: Span<UInt8>, from peer: Peer, at now: Double,
        traceTime: Double?
    ) {
        if let traceTime, let replay = peer.replay {
            replay.advance(to: replay.time(of: traceTime))
            replay.summary.events += 1
        }
        var frame = Frame()
        apply(0, of: requests, to: first, bytes, from: peer, at: now, in: &frame)
        for member in 1..<requests.count {
            apply(member, of: requests, to: nil, bytes, from: peer, at: now, in: &frame)
        }
        // Sound: it has been touched. `if let` would count another reference to it.
        if frame.first != nil { unsafe endFrame(first.unsafelyUnwrapped, at: now) }
        for camera in frame.others { endFrame(camera, at: now) }
        startWaiting(at: now)
        openFeedLogs(at: now)
        removeHeldCameras()
    }

    /// Applies an object of a line.
    ///
    /// - Parameter known: the camera that it is about, if that has been found.
    private func apply(
        _ member: Int, of requests: [Request], to known: HostedCamera?, _ bytes: Span<UInt8>, from peer: Peer,
        at now: Double, in frame: inout Frame
    ) {
        let id = bytes.extracting(requests[member].id?.range ?? 0..<0)
        let name = requests[member].camera
        switch requests[member].body {
        case .gesture(let gesture):
            if known != nil {
                // Sound: it is there. `if let` would count another reference to it.
                let known = unsafe known.unsafelyUnwrapped
                release(known)
                frame.first = ObjectIdentifier(known)
                feed(gesture, id, to: known, peer, at: now)
            } else {
                feed(gesture, id, to: touched(name, peer, at: now, in: &frame), peer, at: now)
            }
        case .command(.removeCamera):
            acknowledge(peer, id)
            if let camera = existingCamera(name, peer) {
                remove(camera)
                takeNote(.removed(camera: camera.name), of: peer)
            }
        case .command(let command):
            let camera = touched(name, peer, at: now, in: &frame)
            catchUp(camera, at: now)
            acknowledge(peer, id)
            camera.apply(command, at: time(of: camera, at: now))
        case .query(let query):
            let camera = needsCamera(requests[member].body) ? cameraAsked(requests[member], peer, at: now) : nil
            answer(query, camera, id, peer, at: now)
        case .subscribe(let subscribe):
            self.subscribe(subscribe, peer, to: camera(name, peer, at: now), id, bytes)
        case .unsubscribe:
            let camera = existingCamera(name, peer)
            for subscription in peer.subscriptions where subscription.camera === camera {
                // What was emitted before goes out before the answer.
                catchUp(subscription)
                unsubscribe(subscription)
            }
            acknowledge(peer, id)
        case .subscribeAll(let subscribe, let points):
            subscribeAll(subscribe, since: points, peer, id, bytes)
        case .unsubscribeAll:
            unsubscribeAll(peer)
            acknowledge(peer, id)
        case .awaitIdle(let timeoutMs):
            awaitRest(of: cameraAsked(requests[member], peer, at: now), timeoutMs, id, peer, at: now)
        case .endReplay:
            acknowledge(peer, id)
            if let replay = existingCamera(name, peer)?.replay { cut(replay, at: now) }
        case .hello:
            prepareReply(to: peer)
            line.hello(server: server, id)
            sendReply(to: peer)
        case .trace(let header):
            start(header, on: camera(name, peer, at: now), from: peer, id: (0..<id.count).map { id[$0] }, at: now)
        case .traceEnd:
            acknowledge(peer, id)
            guard let replay = peer.replay else { break }
            end(replay)
            rest(replay, at: now)
        }
    }

    private func feed(
        _ gesture: Request.Gesture, _ id: Span<UInt8>, to camera: HostedCamera, _ peer: Peer, at now: Double
    ) {
        catchUp(camera, at: now)
        work.add(camera.fingers >> 6)
        // In a trace the camera's clock is the trace's, also where an array names the time once for all its objects.
        var event = gesture.event
        if camera.replay != nil { event.time = nil }
        peer.takeNote(ofFeeding: camera)
        acknowledge(peer, id)
        let key = GestureKey(feed: peer.number, kind: event.kind, label: gesture.label)
        camera.apply(event, of: key, at: time(of: camera, at: now))
    }

    /// The camera of a gesture or a command; its frame ends with the line.
    private func touched(_ name: String?, _ peer: Peer, at now: Double, in frame: inout Frame) -> HostedCamera {
        let camera = camera(name, peer, at: now)
        frame.insert(camera)
        return camera
    }

    /// The camera's own clock.
    func time(of camera: HostedCamera, at now: Double) -> Double {
        camera.replay.map(\.clock) ?? now - camera.clockStart
    }

    private func endFrame(_ camera: HostedCamera, at now: Double) {
        if !camera.isRemoved { endFrame(camera, until: time(of: camera, at: now)) }
    }

    /// Ends a frame at a time of the camera's clock.
    func endFrame(_ camera: HostedCamera, until time: Double) {
        let before = camera.log.end
        camera.endFrame(at: time, &line)
        noteChange(camera)
        emitted(camera, since: before)
        if camera.nextFrame != nil, camera.replay == nil { watch(camera) }
        if !camera.waits.isEmpty { noteRest(of: camera) }
    }

    func watch(_ camera: HostedCamera) {
        guard !camera.isWatched else { return }
        camera.isWatched = true
        watched.append(camera)
    }

    /// Brings a camera to the present, unless its time is a trace's. Due is what the deadline said, so both are reckoned in
    /// the hub's time.
    func catchUp(_ camera: HostedCamera, at now: Double) {
        guard camera.replay == nil else { return }
        while let next = camera.nextFrame, camera.clockStart + next <= now { step(camera) }
    }

    /// Takes a camera's next frame.
    func step(_ camera: HostedCamera) {
        let before = camera.log.end
        camera.step(&line)
        noteChange(camera)
        emitted(camera, since: before)
        if !camera.waits.isEmpty { noteRest(of: camera) }
    }

    func emitted(_ camera: HostedCamera, since entry: UInt64) {
        noteRecorders(of: camera)
        guard camera.hasNews else { return }
        emissions += 1
        let count = camera.log.end - entry
        let lines = Int(count) + (camera.feedLog?.takeTold() ?? 0)
        turnEvents += lines
        work.add(lines)
        counters.events += count
        if !camera.isListed {
            camera.isListed = true
            news.append(camera)
        }
        camera.hasNews = false
    }

    func remove(_ camera: HostedCamera) {
        work.add(Self.workOfCamera + camera.subscriptions.count)
        for subscription in camera.subscriptions {
            catchUp(subscription)
            line.clear()
            line.removed(camera: camera.name)
            sendReply(to: subscription.peer)
            unsubscribe(subscription)
        }
        camera.isRemoved = true
        endWaiting(for: camera, .removed)
        camera.log.letGo()  // Peers that fed it may know it for long.
        release(camera)
        camera.isUnsaved = false
        noteChange(camera)
        cameras[camera.name] = nil
        cameraNames.remove(camera.name)
    }

    // MARK: Cameras

    /// One that comes or goes, its history included.
    private static let workOfCamera = 12

    func existingCamera(_ name: String?, _ peer: Peer) -> HostedCamera? {
        if let replay = peer.replay { return replay.camera }
        if let last = peer.lastCamera, !last.isRemoved, name.map({ $0 == last.name }) ?? last.isMain { return last }
        peer.lastCamera = cameras[name ?? HostedCamera.mainName]
        return peer.lastCamera
    }

    func camera(_ name: String?, _ peer: Peer, at now: Double) -> HostedCamera {
        if let camera = existingCamera(name, peer) {
            if !peer.isWatchOnly { release(camera) }
            return camera
        }
        let name = name ?? HostedCamera.mainName
        let camera = HostedCamera(name: name, epoch: newEpoch(), at: now, limits: limits, memory: memory)
        if peer.isWatchOnly { hold(camera) }
        cameras[name] = camera
        noteChange(camera)
        cameraNames.insert(name)
        work.add(Self.workOfCamera)
        peer.lastCamera = camera
        tellFollowers(of: camera)
        takeNote(.made(camera: name), of: peer)
        return camera
    }

    func newEpoch() -> String {
        epochs += 1
        return "\(String(epochSeed, radix: 16))-\(epochs)"
    }

    // MARK: Subscriptions

    static let workOfSubscription = 4

    func subscribe(
        _ subscribe: Subscribe, _ peer: Peer, to camera: HostedCamera, _ id: Span<UInt8>, _ bytes: Span<UInt8>
    ) {
        work.add(Self.workOfSubscription)
        prepareReply(to: peer)
        for old in peer.subscriptions where old.camera === camera { unsubscribe(old) }
        guard !peer.isDeaf else { return }
        let subscription = Subscription(subscribe, of: peer, to: camera, limits: limits)
        begin(subscription, id)
        if let since = subscribe.since { resume(subscription, since.seq, bytes.extracting(since.epoch.range)) }
        sendReply(to: peer)
    }

    /// Begins a subscription, and writes the line that says so.
    func begin(_ subscription: Subscription, _ id: Span<UInt8>) {
        let (peer, camera) = (subscription.peer, subscription.camera)
        if subscription.delivery == .latest { peer.outlet.keepQueueShort() }
        peer.subscriptions.append(subscription)
        camera.attach(subscription)
        if subscription.isRecorder {
            camera.waitingRecorders.append(subscription)
            noteRecorders(of: camera)
        }
        counters.subscriptions += 1
        line.subscribed(camera: camera.name, epoch: camera.epoch, seq: camera.seq, position: camera.printed, id)
    }

    /// Goes on after an event that the peer has read, or tells it what it missed.
    func resume(_ subscription: Subscription, _ seq: UInt64, _ epoch: Span<UInt8>) {
        let camera = subscription.camera
        let isSameEpoch =
            epoch.count == camera.epoch.utf8.count
            && zip(0..<epoch.count, camera.epoch.utf8).allSatisfy { epoch[$0] == $1 }
        let entry = camera.firstEntry + seq
        // What a camera was fed is kept for nobody who was not there.
        if isSameEpoch, seq <= camera.seq, entry >= camera.log.first, !subscription.isRecorder {
            subscription.resume(from: entry)
            subscription.peer.caughtUpAt = .max
        } else {
            let missed = isSameEpoch && seq <= camera.seq ? camera.seq - seq : camera.seq
            // A camera that has emitted nothing since leaves no gap: `subscribed` tells its epoch.
            if missed > 0 { camera.tellGap(of: missed, &line) }
        }
    }

    func unsubscribe(_ subscription: Subscription) {
        subscription.camera.detach(subscription)
        subscription.peer.subscriptions.removeAll { $0 === subscription }
        if subscription.camera.isHeld, subscription.camera.isUnwanted { mayHoldInVain = true }
        counters.subscriptions -= 1
    }

    // MARK: What a camera is fed

    /// Tells subscriptions to what a camera is fed where that begins, as soon as a line of a trace can: when nothing moves
    /// by itself. To be called between frames.
    func openFeedLogs(at now: Double) {
        guard !restingCameras.isEmpty else { return }
        var cameras: [HostedCamera] = []
        swap(&cameras, &restingCameras)
        for camera in cameras {
            camera.isResting = false
            guard camera.nextFrame == nil else { continue }
            for subscription in camera.takeWaitingRecorders() {
                prepareReply(to: subscription.peer)
                subscription.open()
                camera.describe(at: time(of: camera, at: now), &line)
                sendReply(to: subscription.peer)
            }
        }
    }

    /// Takes note of a camera that recorders wait for, each time that it may have come to rest.
    private func noteRecorders(of camera: HostedCamera) {
        guard !camera.waitingRecorders.isEmpty, !camera.isResting else { return }
        camera.isResting = true
        restingCameras.append(camera)
    }
}
