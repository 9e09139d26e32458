// Traces: a header makes the camera anew, the lines after it run on the trace's clock, and its end brings all to rest.

import Wire

extension Hub {
    // MARK: Replays

    func start(_ header: TraceHeader, on camera: HostedCamera, from peer: Peer, id: [UInt8], at now: Double) {
        let replay = Replay(header, of: camera, from: peer, id: id)
        peer.replay = replay
        camera.replay = replay
        replays.append(replay)
        let before = camera.log.end
        camera.reset(header, epoch: newEpoch(), &line)
        noteChange(camera)
        emitted(camera, since: before)
        if !camera.waits.isEmpty { noteRest(of: camera) }
    }

    /// Ends a replay before its own end, on behalf of another client, and plays at once what moves.
    func cut(_ replay: Replay, at now: Double) {
        replay.hurry()
        guard !replay.isEnding else { return rest(replay, at: now) }
        replay.summary.isCut = true
        end(replay)
        rest(replay, at: now)
    }

    /// Ends a replay: its gestures are cancelled, and what moves is to come to ``rest(_:at:)`` on the trace's clock.
    func end(_ replay: Replay) {
        replay.isEnding = true
        replay.camera.cancelGestures()
        endFrame(replay.camera, until: replay.clock)
    }

    func rest(_ replay: Replay, at now: Double) {
        guard play(replay, upTo: .infinity, at: now) else { return }
        finish(replay, at: now)
    }

    /// Takes the frames that are due, up to a time of the trace; `false` if the pace or the end of the turn comes first.
    func play(_ replay: Replay, upTo time: Double, at now: Double) -> Bool {
        while let next = replay.camera.nextFrame, next <= time {
            replay.wake = replay.due(next)
            guard replay.due(next) <= now, !hasUsedUpItsTurn else { return false }
            step(replay.camera)
            replay.advance(to: next)
        }
        return true
    }

    func finish(_ replay: Replay, at now: Double) {
        let camera = replay.camera
        camera.replay = nil
        camera.clockStart = now - replay.clock
        replays.removeAll { $0 === replay }
        replay.summary.durationMs = replay.clock
        guard let peer = replay.peer else { return }
        peer.replay = nil
        let id = replay.id
        prepareReply(to: peer)
        line.traceEnded(replay.summary, position: camera.printed, id.span)
        sendReply(to: peer)
        if replay.summary.isCut {
            // Nothing of a trace is ever taken for live input.
            if !peer.hasEnded { linger(peer) }
            peer.input = []
        }
        if !peer.input.isEmpty || peer.hasEnded && !peer.isInputOver { queue.join(peer) }
    }
}
