// The replays that run. A header makes the camera anew, the lines after it run on the trace's clock, and its end brings all
// to rest. Invariant: a camera has at most one replay, and a peer sends at most one; both know it until it has ended.

import GimbalProtocol

final class Replays {
    private let registry: CameraRegistry
    private let clients: ClientRegistry
    private let runner: CameraRunner
    private let sender: Sender
    private let turns: Turns
    private var running: [Replay] = []

    init(
        _ registry: CameraRegistry, _ clients: ClientRegistry, _ runner: CameraRunner, _ sender: Sender, _ turns: Turns
    ) {
        (self.registry, self.clients, self.runner) = (registry, clients, runner)
        (self.sender, self.turns) = (sender, turns)
    }

    var count: Int { running.count }

    // MARK: Playing

    func start(_ header: TraceHeader, on camera: HostedCamera, from peer: Peer, id: [UInt8]) {
        let replay = Replay(header, of: camera, from: peer, id: id)
        peer.replay = replay
        camera.replay = replay
        running.append(replay)
        let epoch = registry.newEpoch()
        runner.reset(camera) { $0.reset(header, epoch: epoch) }
    }

    /// Brings a replay to a line's time, as far as its pace allows; `false` if the line has to wait.
    func reach(_ timeMs: Double, in replay: Replay, at now: Double) -> Bool {
        replay.clock.lineArrived(timeMs, at: now, late: replay.isWaitingForLine)
        let time = replay.clock.time(of: timeMs)
        guard play(replay, upTo: time, at: now) else { return false }
        let due = replay.clock.due(time)
        replay.wait(until: due)
        return due <= now
    }

    /// Moves on all that is due, up to a time of the trace; `false` if the pace or the end of the turn comes first.
    private func play(_ replay: Replay, upTo time: Double, at now: Double) -> Bool {
        while let next = replay.camera.nextTick, next <= time {
            let due = replay.clock.due(next)
            replay.wait(until: due)
            guard due <= now, !turns.isUsedUp else { return false }
            runner.tick(replay.camera)
            replay.clock.advance(to: next)
        }
        return true
    }

    // MARK: Ending

    /// Ends a replay with its trace: what moves comes to rest on the trace's clock.
    func end(_ replay: Replay, at now: Double) {
        beginDraining(replay)
        drain(replay, at: now)
    }

    /// Ends a replay before its own end, on behalf of another client, and plays at once what moves.
    func cut(_ replay: Replay, at now: Double) {
        replay.clock.hurry()
        if replay.isPlaying {
            replay.summary.isCut = true
            beginDraining(replay)
        }
        drain(replay, at: now)
    }

    /// The peer of a replay is gone: what moves is played in the next turns, as fast as possible.
    func abandon(_ replay: Replay) {
        replay.abandon()
        if replay.isPlaying { beginDraining(replay) } else { replay.wait(until: -.infinity) }
    }

    private func beginDraining(_ replay: Replay) {
        replay.drain()
        replay.camera.cancelGestures(at: replay.clock.time)
        runner.endBatch(of: replay.camera, at: replay.clock.time)
    }

    /// Plays what still moves, as far as it is due; then the replay has ended.
    func drain(_ replay: Replay, at now: Double) {
        if play(replay, upTo: .infinity, at: now) { finish(replay, at: now) }
    }

    private func finish(_ replay: Replay, at now: Double) {
        let camera = replay.camera
        replay.end()
        camera.replay = nil
        camera.clockStart = now - replay.clock.time
        running.removeAll { $0 === replay }
        replay.summary.durationMs = replay.clock.time
        guard let peer = replay.peer else { return }
        peer.replay = nil
        let id = replay.id
        sender.reply(to: peer) {
            $0.traceEnded(replay.summary, position: camera.published, id.span)
        }
        // Nothing of a trace is ever taken for live input.
        if replay.summary.isCut { discardInput(of: peer) }
        if peer.input.isUnfinished { turns.join(peer) }
    }

    private func discardInput(of peer: Peer) {
        if peer.input.isOpen { clients.linger(peer) } else { peer.input.clear() }
    }

    /// Ends every replay where it is, and handles nothing more of its peer.
    func interruptAll(at now: Double) {
        for replay in running {
            let peer = replay.peer
            if replay.isPlaying {
                replay.summary.isCut = true
                beginDraining(replay)
            }
            finish(replay, at: now)
            if let peer { discardInput(of: peer) }
        }
    }

    // MARK: Time

    /// When the next replay goes on, in the hub's time; infinite if none does.
    var deadline: Double { running.isEmpty ? .infinity : running.reduce(.infinity) { min($0, $1.deadline) } }

    /// Goes on with every replay whose time has come.
    ///
    /// - Parameter serve: serves the peer that sends one; nobody waits for one whose peer is gone.
    func advance(to now: Double, serve: (Peer) -> Void) {
        guard !running.isEmpty else { return }
        for replay in running where replay.deadline <= now {
            if let peer = replay.peer {
                serve(peer)
            } else {
                turns.grantPart(of: count)
                drain(replay, at: now)
            }
        }
    }
}
