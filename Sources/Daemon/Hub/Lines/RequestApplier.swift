// Applies requests once their line has been admitted: moves a camera, or passes the request to the part that handles
// it. Each request is acknowledged before what it brings about.

import GimbalProtocol

final class RequestApplier {
    let parts: HubParts
    /// When the first process of this hub started.
    var started: Double

    init(_ parts: HubParts, started: Double) { (self.parts, self.started) = (parts, started) }

    // MARK: An object of a line

    /// Applies an object of a line.
    func apply(_ request: Request, _ meant: MeantCamera, _ text: Span<UInt8>, _ line: inout LineContext) {
        let id = text.extracting(request.id?.range ?? 0..<0)
        let (peer, now) = (line.peer, line.now)
        if peer.sendsBehindTheEnd, request.body.isOfTraces {
            return parts.sender.acknowledge(id, to: peer)
        }
        if let camera = parts.registry.camera(meant), let replay = camera.replay,
            request.body.takesCamera || replay.isAttract && request.body.endsIdleAction
        {
            parts.replays.makeWay(on: camera, for: peer, at: now)
        }
        switch request.body {
        case .removeCamera:
            parts.sender.acknowledge(id, to: peer)
            guard let camera = parts.registry.camera(meant) else { break }
            parts.leases.cameraWillBeRemoved(camera)
            parts.runner.remove(camera, by: peer)
        case .gesture, .touch:
            let camera = move(request, meant, id, &line)
            if camera.replay == nil { peer.fedCameras.insert(camera) }
        case .present(let presentation):
            let camera = parts.runner.camera(meant, for: peer, at: now)
            parts.sender.acknowledge(id, to: peer)
            parts.turns.add(work: 1)
            parts.playOuts.add(presentation, to: camera, by: peer)
        case .move, .animate, .fly, .tour, .stop, .set: _ = move(request, meant, id, &line)
        case .marker(let label):
            let camera = move(request, meant, id, &line)
            peer.replay?.markers.append(ReplayMarker(timeMs: camera.time(at: now), label: label))
        case .getCamera, .cameraForBounds, .project, .unproject, .visibleRegion, .cameras, .stats, .clients, .traces,
            .ping, .getReplay:
            let camera = request.body.needsCamera ? cameraAsked(meant, request, line) : parts.registry.camera(meant)
            answer(request.body, camera, id, in: line)
        case .hello(_, let about):
            parts.clients.abouts[peer.number] = about
            parts.sender.reply(.hello(DaemonHello(server: parts.server)), id, to: peer)
        case .subscribe(let kinds, let delivery, let since):
            parts.subscriptions.subscribe(
                peer, to: parts.runner.camera(meant, for: peer, at: now).publicCamera, Interest(kinds, delivery),
                since: since, id, at: now)
        case .unsubscribe:
            parts.subscriptions.unsubscribe(peer, from: parts.registry.camera(meant)?.publicCamera)
            parts.sender.acknowledge(id, to: peer)
        case .subscribeAll(let kinds, let delivery, let points):
            parts.subscriptions.subscribeAll(peer, Interest(kinds, delivery), since: points, id)
        case .unsubscribeAll:
            parts.subscriptions.unsubscribeAll(peer)
            parts.sender.acknowledge(id, to: peer)
        case .awaitIdle(let timeoutMs):
            parts.waits.add(timeoutMs, for: cameraAsked(meant, request, line).publicCamera, id, of: peer, at: now)
        case .pauseReplay, .resumeReplay, .stepReplay, .seekReplay, .setReplaySpeed, .endReplay:
            guard let replay = parts.registry.camera(meant)?.replay else { break }
            if let error = parts.replays.objection(to: request.body, of: replay, at: now) {
                parts.sender.refuse(error, id, about: replay.cameraName, to: peer)
            } else {
                parts.sender.acknowledge(id, to: peer)
                parts.replays.steer(replay, request.body, at: now)
            }
        case .trace(let header):
            let camera = parts.runner.camera(meant, for: peer, at: now)
            let id = (0..<id.count).map { id[$0] }
            parts.replays.start(Replay(header, of: camera, from: peer, id: id, limits: parts.limits, at: now), at: now)
        case .traceEnd:
            parts.sender.acknowledge(id, to: peer)
            parts.replays.end(traceOf: peer, at: now)
        case .takeLease(let lease):
            parts.leases.take(lease, of: parts.runner.camera(meant, for: peer, at: now), id, by: peer, at: now)
        case .joinLease:
            if let camera = parts.registry.camera(meant) { parts.leases.join(camera, id, by: peer, at: now) }
        case .endLease(let number):
            parts.sender.acknowledge(id, to: peer)
            guard let camera = parts.registry.camera(meant) else { break }
            parts.leases.end(number, of: camera.publicCamera, by: peer, at: now)
        }
    }

    /// Applies a gesture, fingers, a command or a marker to its camera, whose batch ends with the line.
    private func move(
        _ request: Request, _ meant: MeantCamera, _ id: Span<UInt8>, _ line: inout LineContext
    ) -> HostedCamera {
        let camera = parts.runner.camera(meant, for: line.peer, at: line.now)
        line.addChanged(camera)
        let time = prepare(camera, for: line.peer, id, at: line.now)
        let lineTime = request.timeMs ?? line.timeMs
        parts.runner.apply(request.body, of: line.peer.number, lineTime: lineTime, to: camera, at: time)
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
        parts.runner.catchUp(camera, at: now)
        // Each gesture is looked up among the active ones.
        parts.turns.add(work: camera.gestures.count >> 6)
        parts.sender.acknowledge(id, to: peer)
        return camera.time(at: now)
    }

    private func cameraAsked(_ meant: MeantCamera, _ request: Request, _ line: LineContext) -> HostedCamera {
        parts.runner.cameraAsked(meant, creates: request.creates, by: line.peer, at: line.now)
    }

    /// Ends the batches of all cameras that a line has changed.
    func commitBatches(of line: LineContext) {
        if let first = line.first { parts.runner.commitBatch(of: first, at: first.time(at: line.now)) }
        for camera in line.others { parts.runner.commitBatch(of: camera, at: camera.time(at: line.now)) }
    }
}
