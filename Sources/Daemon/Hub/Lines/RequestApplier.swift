// What a request does, once its line has been admitted: it moves a camera, or is passed to the part that it concerns. Each is
// acknowledged before what it brings about.

import GimbalProtocol

final class RequestApplier {
    private let registry: CameraRegistry
    private let runner: CameraRunner
    private let replays: Replays
    private let subscriptions: Subscriptions
    private let waits: RestWaits
    private let queries: Queries
    private let errors: ErrorReplies
    private let sender: Sender
    private let turns: Turns

    init(_ hub: HubParts, _ queries: Queries) {
        (registry, runner, replays, subscriptions) = (hub.registry, hub.runner, hub.replays, hub.subscriptions)
        (waits, errors, sender, turns) = (hub.waits, hub.errors, hub.sender, hub.turns)
        self.queries = queries
    }

    // MARK: An object of a line

    /// Applies an object of a line.
    func apply(_ request: Request, _ meant: MeantCamera, _ text: Span<UInt8>, _ line: inout LineContext) {
        let id = text.extracting(request.id?.range ?? 0..<0)
        let (peer, now) = (line.peer, line.now)
        if peer.sendsBehindTheEnd, request.body.isOfTraces {
            return sender.acknowledge(id, to: peer)
        }
        switch request.body {
        case .gesture(let gesture):
            apply(gesture, id, to: cameraToChange(meant, &line), from: peer, at: now)
        case .touch(let fingers):
            let camera = cameraToChange(meant, &line)
            // Fingers are looked up among each other.
            turns.add(work: (fingers.touches.count * fingers.touches.count) >> 10)
            let time = prepare(camera, for: peer, id, at: now)
            camera.apply(fingers, of: peer.number, lineTime: request.timeMs ?? line.timeMs, at: time)
        case .command(.removeCamera):
            sender.acknowledge(id, to: peer)
            if let camera = registry.camera(meant) { runner.remove(camera, by: peer) }
        case .command(let command):
            let camera = cameraToChange(meant, &line)
            runner.catchUp(camera, at: now)
            sender.acknowledge(id, to: peer)
            camera.apply(command, at: camera.time(at: now))
        case .marker(let label):
            let camera = cameraToChange(meant, &line)
            runner.catchUp(camera, at: now)
            sender.acknowledge(id, to: peer)
            let time = camera.time(at: now)
            if let replay = peer.replay {
                replays.mark(replay, label, at: time)
            } else {
                replays.mark(camera, label, at: time)
            }
        case .query(let query):
            let camera = request.body.needsCamera ? cameraAsked(meant, request, line) : registry.camera(meant)
            queries.answer(query, camera, id, in: line)
        case .hello: queries.greet(peer, id)
        case .subscribe(let subscribe):
            subscriptions.subscribe(
                peer, to: runner.camera(meant, for: peer, at: now).seen, subscribe, id, at: now)
        case .unsubscribe:
            subscriptions.unsubscribe(peer, from: registry.camera(meant)?.seen)
            sender.acknowledge(id, to: peer)
        case .subscribeAll(let subscribe, let points):
            subscriptions.subscribeAll(peer, subscribe, since: points, id)
        case .unsubscribeAll:
            subscriptions.unsubscribeAll(peer)
            sender.acknowledge(id, to: peer)
        case .awaitIdle(let timeoutMs):
            waits.add(timeoutMs, for: cameraAsked(meant, request, line).seen, id, of: peer, at: now)
        case .steerReplay(let steering):
            guard let replay = registry.camera(meant)?.replay else { break }
            if let error = replays.objection(to: steering, of: replay, at: now) {
                errors.refuse(error, id, about: replay.cameraName, to: peer)
            } else {
                sender.acknowledge(id, to: peer)
                replays.steer(replay, steering, at: now)
            }
        case .trace(let header):
            let camera = runner.camera(meant, for: peer, at: now)
            replays.start(header, on: camera, from: peer, id: (0..<id.count).map { id[$0] }, at: now)
        case .traceEnd:
            sender.acknowledge(id, to: peer)
            replays.end(traceOf: peer, at: now)
        }
    }

    /// Applies a report of a gesture to a camera.
    func apply(
        _ gesture: Request.Gesture, _ id: Span<UInt8>, to camera: HostedCamera, from peer: Peer, at now: Double
    ) {
        let time = prepare(camera, for: peer, id, at: now)
        camera.apply(gesture, of: peer.number, at: time)
    }

    /// Prepares a camera for gestures and fingers of a peer's: says what time it is there.
    private func prepare(_ camera: HostedCamera, for peer: Peer, _ id: Span<UInt8>, at now: Double) -> Double {
        runner.catchUp(camera, at: now)
        // Each gesture is looked up among those that are active.
        turns.add(work: camera.gestures.count >> 6)
        if camera.replay == nil { peer.fedCameras.insert(camera) }
        sender.acknowledge(id, to: peer)
        return camera.time(at: now)
    }

    /// The camera of a gesture, fingers or a command; its batch ends with the line.
    private func cameraToChange(_ meant: MeantCamera, _ line: inout LineContext) -> HostedCamera {
        let camera = runner.camera(meant, for: line.peer, at: line.now)
        line.noteChange(of: camera)
        return camera
    }

    private func cameraAsked(_ meant: MeantCamera, _ request: Request, _ line: LineContext) -> HostedCamera {
        runner.cameraAsked(meant, creates: request.creates, by: line.peer, at: line.now)
    }

    // MARK: The end of a line

    /// Ends the batches of all cameras that a line has changed.
    func endBatches(of line: LineContext) {
        if let first = line.first { endBatch(of: first, at: line.now) }
        for camera in line.others { endBatch(of: camera, at: line.now) }
    }

    func endBatch(of camera: HostedCamera, at now: Double) {
        if !camera.isRemoved { replays.endBatch(of: camera, at: camera.time(at: now)) }
    }

    /// Does what waits for the end of a line.
    func endLine(at now: Double) {
        waits.start(at: now) { runner.catchUp($0, at: now) }
        subscriptions.startRecorders(at: now)
        runner.removeUnwanted()
    }
}
