// Applies requests once their line has been admitted: moves a camera, or passes the request to the part that handles
// it. Each request is acknowledged before what it brings about.

import GimbalProtocol

final class RequestApplier {
    private let registry: CameraRegistry
    private let runner: CameraRunner
    private let playOuts: PlayOuts
    private let leases: Leases
    private let replays: Replays
    private let subscriptions: Subscriptions
    private let waits: RestWaits
    private let queries: Queries
    private let errors: ErrorReplies
    private let sender: Sender
    private let turns: Turns

    init(_ hub: HubParts, _ queries: Queries) {
        (registry, runner, leases, replays) = (hub.registry, hub.runner, hub.leases, hub.replays)
        playOuts = hub.playOuts
        (subscriptions, waits, errors, sender, turns) = (
            hub.subscriptions, hub.waits, hub.errors, hub.sender, hub.turns
        )
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
        if let camera = registry.camera(meant), let replay = camera.replay,
            request.body.takesCamera || replay.isAttract && request.body.endsIdleAction
        {
            replays.makeWay(on: camera, for: peer, at: now)
        }
        switch request.body {
        case .removeCamera:
            sender.acknowledge(id, to: peer)
            guard let camera = registry.camera(meant) else { break }
            leases.cameraWillBeRemoved(camera)
            runner.remove(camera, by: peer)
        case .gesture, .touch:
            let camera = move(request, meant, id, &line)
            if camera.replay == nil { peer.fedCameras.insert(camera) }
        case .present(let presentation):
            let camera = runner.camera(meant, for: peer, at: now)
            sender.acknowledge(id, to: peer)
            turns.add(work: 1)
            playOuts.add(presentation, to: camera, by: peer)
        case .move, .animate, .fly, .tour, .stop, .set: _ = move(request, meant, id, &line)
        case .marker(let label):
            let camera = move(request, meant, id, &line)
            peer.replay?.markers.append(ReplayMarker(timeMs: camera.time(at: now), label: label))
        case .getCamera, .cameraForBounds, .project, .unproject, .visibleRegion, .cameras, .stats, .clients, .traces,
            .ping, .getReplay:
            let camera = request.body.needsCamera ? cameraAsked(meant, request, line) : registry.camera(meant)
            queries.answer(request.body, camera, id, in: line)
        case .hello(_, let about):
            peer.about = about
            queries.greet(peer, id)
        case .subscribe(let kinds, let delivery, let since):
            subscriptions.subscribe(
                peer, to: runner.camera(meant, for: peer, at: now).publicCamera, Interest(kinds, delivery),
                since: since, id, at: now)
        case .unsubscribe:
            subscriptions.unsubscribe(peer, from: registry.camera(meant)?.publicCamera)
            sender.acknowledge(id, to: peer)
        case .subscribeAll(let kinds, let delivery, let points):
            subscriptions.subscribeAll(peer, Interest(kinds, delivery), since: points, id)
        case .unsubscribeAll:
            subscriptions.unsubscribeAll(peer)
            sender.acknowledge(id, to: peer)
        case .awaitIdle(let timeoutMs):
            waits.add(timeoutMs, for: cameraAsked(meant, request, line).publicCamera, id, of: peer, at: now)
        case .pauseReplay, .resumeReplay, .stepReplay, .seekReplay, .setReplaySpeed, .endReplay:
            guard let replay = registry.camera(meant)?.replay else { break }
            if let error = replays.objection(to: request.body, of: replay, at: now) {
                errors.refuse(error, id, about: replay.cameraName, to: peer)
            } else {
                sender.acknowledge(id, to: peer)
                replays.steer(replay, request.body, at: now)
            }
        case .trace(let header):
            let camera = runner.camera(meant, for: peer, at: now)
            replays.start(header, on: camera, from: peer, id: (0..<id.count).map { id[$0] }, at: now)
        case .traceEnd:
            sender.acknowledge(id, to: peer)
            replays.end(traceOf: peer, at: now)
        case .takeLease(let lease):
            leases.take(lease, of: runner.camera(meant, for: peer, at: now), id, by: peer, at: now)
        case .joinLease:
            if let camera = registry.camera(meant) { leases.join(camera, id, by: peer, at: now) }
        case .endLease(let number):
            sender.acknowledge(id, to: peer)
            if let camera = registry.camera(meant) { leases.end(number, of: camera.publicCamera, by: peer, at: now) }
        }
    }

    /// Applies a gesture, fingers, a command or a marker to its camera, whose batch ends with the line.
    private func move(
        _ request: Request, _ meant: MeantCamera, _ id: Span<UInt8>, _ line: inout LineContext
    ) -> HostedCamera {
        let camera = runner.camera(meant, for: line.peer, at: line.now)
        line.addChanged(camera)
        let time = prepare(camera, for: line.peer, id, at: line.now)
        let lineTime = request.timeMs ?? line.timeMs
        runner.apply(request.body, of: line.peer.number, lineTime: lineTime, to: camera, at: time)
        return camera
    }

    /// Applies a report of a gesture to a camera.
    func apply(
        _ gesture: ClientRequest.Gesture, _ id: Span<UInt8>, to camera: HostedCamera, from peer: Peer, at now: Double
    ) {
        let time = prepare(camera, for: peer, id, at: now)
        if camera.replay == nil { peer.fedCameras.insert(camera) }
        camera.apply(gesture, of: peer.number, at: time)
    }

    /// Brings a camera to the present and acknowledges a request; returns the present on the camera's clock.
    private func prepare(_ camera: HostedCamera, for peer: Peer, _ id: Span<UInt8>, at now: Double) -> Double {
        runner.catchUp(camera, at: now)
        // Each gesture is looked up among the active ones.
        turns.add(work: camera.gestures.count >> 6)
        sender.acknowledge(id, to: peer)
        return camera.time(at: now)
    }

    private func cameraAsked(_ meant: MeantCamera, _ request: Request, _ line: LineContext) -> HostedCamera {
        runner.cameraAsked(meant, creates: request.creates, by: line.peer, at: line.now)
    }

    /// Ends the batches of all cameras that a line has changed.
    func commitBatches(of line: LineContext) {
        if let first = line.first { runner.commitBatch(of: first, at: first.time(at: line.now)) }
        for camera in line.others { runner.commitBatch(of: camera, at: camera.time(at: line.now)) }
    }
}
