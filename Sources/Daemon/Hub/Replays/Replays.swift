// The running replays. A header resets the camera, the lines after it run on the trace's clock, and its end brings
// everything to rest. Lines that have been played are kept, so that the replay can seek and play again.
// Invariant: a camera has at most one replay, and a peer sends at most one; both refer to it until it has ended.

import Gestures
import GimbalProtocol

final class Replays {
    /// The replay that moves a camera. It is stored in the camera; only ``Replays`` changes it.
    struct Assignment {
        fileprivate(set) var replay: Replay?
    }

    /// The trace that a peer's lines belong to. It is stored in the peer; only ``Replays`` changes it.
    struct SentTrace {
        enum State {
            /// No trace.
            case none
            case playing(Replay)
            /// A trace that has ended while its lines still arrive. Its camera may have been removed since.
            indirect case passedOver(camera: String)
        }

        fileprivate(set) var state = State.none

        /// The name of the trace's camera.
        var camera: String? {
            switch state {
            case .none: nil
            case .playing(let replay): replay.cameraName
            case .passedOver(let camera): camera
            }
        }
    }

    let limits: Limits
    private let registry: CameraRegistry
    private let clients: ClientRegistry
    private let runner: CameraRunner
    private let leases: Leases
    private let sender: Sender
    private let turns: Turns
    private(set) var running: [Replay] = []
    /// Decodes kept lines.
    private var decoder: RequestDecoder

    init(
        limits: Limits, _ registry: CameraRegistry, _ clients: ClientRegistry, _ runner: CameraRunner,
        _ leases: Leases, _ sender: Sender, _ turns: Turns
    ) {
        (self.limits, self.registry, self.clients, self.runner) = (limits, registry, clients, runner)
        (self.leases, self.sender, self.turns) = (leases, sender, turns)
        // A line that was accepted once stays accepted, even after a restart with other limits.
        decoder = RequestDecoder(longestLine: .max, largestBatch: .max)
    }

    var count: Int { running.count }

    // MARK: Starting

    func start(_ replay: Replay, at now: Double) {
        addRunning(replay)
        begin(replay, at: now)
    }

    /// Gives a replay exclusive control of its camera, and what its peer sends from now on.
    func addRunning(_ replay: Replay) {
        replay.peer?.sentTrace.state = .playing(replay)
        replay.camera.assignment.replay = replay
        running.append(replay)
    }

    /// Starts a round of a trace.
    private func begin(_ replay: Replay, at now: Double) {
        guard let first = replay.checkpoints.all.first, first.run.steps == 0 else { return }
        replay.roundStart = now
        if let from = replay.playback.fromMs {
            seek(replay, to: from, at: now)
        } else {
            reset(replay, to: first.run, first.moment, time: 0, at: now)
        }
    }

    // MARK: Playing

    /// Advances a replay to a line's time, as far as its clock allows; a line beyond the replay's end completes it.
    ///
    /// - Returns: whether the line is to be handled now. If the replay then passes over it, it moves nothing.
    func schedule(_ timeMs: Double, in replay: Replay, at now: Double) -> Bool {
        if replay.passesOver { return true }
        replay.lineArrived(timeMs, at: now)
        let time = replay.clock.time(of: timeMs)
        guard replay.endsBefore(time) else { return play(replay, new: time, at: now) }
        replay.complete(passingOver: true)
        return true
    }

    /// Keeps a line that has been applied.
    func didApply(_ text: Span<UInt8>, _ requests: [Request] = [], in replay: Replay, at now: Double) {
        if replay.lines.beginsPart { makeRoom(in: replay) }
        turns.add(bytes: text.count)
        replay.lines.append(text, at: replay.playbackRun.time)
        lineWasPlayed(requests, in: replay, at: now)
    }

    /// Plays what is kept of a replay, as far as it is due.
    func advance(_ replay: Replay, to now: Double) { _ = play(replay, new: nil, at: now) }

    /// Continues a replay whose peer is gone, within its own share of the turn's budget.
    func advanceAlone(_ replay: Replay, to now: Double) {
        turns.grantPart(of: count)
        advance(replay, to: now)
    }

    /// When the next replay is due, in the hub's time; infinite if none is.
    var deadline: Double { running.isEmpty ? .infinity : running.reduce(.infinity) { min($0, $1.deadline) } }

    /// Plays what is due; returns whether it has reached the line that was just read, and that line is due, too.
    ///
    /// - Parameter new: the time of that line, if any.
    private func play(_ replay: Replay, new: Double?, at now: Double) -> Bool {
        while !replay.isOver {
            if replay.isPaused, replay.seek == nil {
                replay.wait = .steering
                return false
            }
            let camera = replay.playbackCamera
            let step = replay.playbackRun.next(on: camera, replay.lines, new: new, goal: replay.seek?.printed)
            if case .unknown = step { return false }
            let due = due(step, in: replay)
            replay.wait = .time(due, next: step.time)
            guard due <= now else { return false }
            replay.framesBefore = replay.camera.frames
            if case .new(let time) = step {
                replay.playbackRun.time = time
                return true
            }
            guard !turns.isUsedUp else { return false }
            take(step, in: replay, on: camera, at: now)
        }
        return false
    }

    /// Takes a step: on the camera that subscribers see or, during a seek, on the scratch camera.
    private func take(_ step: ReplayRun.Step, in replay: Replay, on camera: HostedCamera, at now: Double) {
        switch step {
        case .frame(let time):
            runner.tick(camera)
            replay.playbackRun.time = max(replay.playbackRun.time, time)
            replay.playbackRun.steps += 1
            didStep(replay, at: now)
        case .kept(let time):
            replay.playbackRun.time = time
            let (requests, byteCount) = replay.lines.requests(of: replay.playbackRun.line, &decoder)
            turns.add(work: requests.count)
            turns.add(bytes: byteCount)
            for request in requests {
                // A stored trace plays with the camera's own settings.
                if replay.isAttract, case .set = request.body { continue }
                runner.apply(request.body, of: replay.feed, to: camera, at: time)
            }
            runner.commitBatch(of: camera, at: time)
            lineWasPlayed(requests, in: replay, at: now)
        case .end: endTrace(of: replay)
        case .goal: finishSeek(of: replay, at: now)
        case .finished:
            finishSeek(of: replay, at: now)
            endRound(replay, at: now)
        case .new, .unknown: break
        }
    }

    /// Returns when a step is due, in the hub's time.
    private func due(_ step: ReplayRun.Step, in replay: Replay) -> Double {
        // A round may take no time at all; an endless loop of such rounds would starve everything else.
        if case .finished = step, replay.hasAnotherRound, replay.playback.loop == .forever {
            return replay.roundStart + (replay.isAttract ? 1000 : 1) * Self.shortestRound
        }
        guard replay.seek == nil, replay.isPlaying, let time = step.time else { return -.infinity }
        return replay.clock.due(time)
    }

    /// The minimum duration of a round of an endless loop, in milliseconds; of a stored trace, a thousand times that.
    private static let shortestRound = 1.0

    private func lineWasPlayed(_ requests: [Request], in replay: Replay, at now: Double) {
        replay.playbackRun.lineWasPlayed()
        didStep(replay, at: now)
        guard replay.playback.pauseOnMarkers, replay.isPlaying, replay.seek == nil else { return }
        if requests.contains(where: { if case .marker = $0.body { true } else { false } }) { pause(replay, at: now) }
    }

    /// Adds a checkpoint now and then. After a step that subscribers have seen, updates the clock and the steps left.
    private func didStep(_ replay: Replay, at now: Double) {
        // While it plays what was kept, no checkpoint is added: the last one is later.
        let share = min(limits.replayBytes, limits.allReplayBytes / max(running.count, 1))
        replay.checkpoints.add(replay.playbackRun, on: replay.playbackCamera, limit: share / 8)
        guard replay.seek == nil else { return }
        replay.clock.stepped(to: replay.run.time, at: now)
        guard case .stepping(let left) = replay.phase else { return }
        let sent = replay.camera.frames - replay.framesBefore
        replay.phase = sent < left ? .stepping(left: left - sent) : .paused
        if replay.isPaused { sendStatus(of: replay, at: now) }
    }

    /// Drops the oldest lines of a replay until it is within its limit, and all replays are within theirs.
    private func makeRoom(in replay: Replay) {
        let others = running.reduce(0) { $0 + ($1 === replay ? 0 : $1.keptBytes) }
        let limit = min(limits.replayBytes, limits.allReplayBytes - others)
        while replay.keptBytes > limit, replay.lines.dropOldest() {
            replay.checkpoints.drop(before: replay.lines.first)
        }
    }

    // MARK: Seeking

    /// Returns why a replay cannot be steered this way; `nil` if it can.
    func objection(to request: ClientRequest, of replay: Replay, at now: Double) -> GimbalError? {
        let target: ReplayTarget
        switch request {
        case .seekReplay(let goal): target = goal
        case .resumeReplay where replay.isAtEnd: target = .time(0)
        default: return nil
        }
        guard let time = time(of: target, in: replay, at: now) else {
            return GimbalError(.invalidValue, field: "marker", "no marker with that label has been read")
        }
        guard start(for: time, in: replay) == nil else { return nil }
        let first = replay.checkpoints.all.first.map { plain(($0.run.time * 1000).rounded() / 1000) }
        return GimbalError(
            .limitReached,
            "at most \(limits.replayBytes) bytes of a replay are kept, \(limits.allReplayBytes) of all: "
                + (first.map { "this one goes back to \($0) ms" } ?? "this one cannot go back"))
    }

    private func time(of target: ReplayTarget, in replay: Replay, at now: Double) -> Double? {
        switch target {
        case .time(let time): max(time, 0)
        case .offset(let offset): max(replay.position(at: now) + offset, 0)
        case .marker(let label): replay.markers.first { $0.label == label }?.timeMs
        }
    }

    /// Returns where to start a seek to a time: at the last known moment that is not after it.
    private func start(for time: Double, in replay: Replay) -> (run: ReplayRun, moment: HostedCamera.Moment)? {
        let time = PrintedTime(time)
        var best = replay.checkpoints.last(notAfter: time).map { ($0.run, $0.moment) }
        for (run, camera) in [(replay.run, replay.camera)] + (replay.seek.map { [($0.run, $0.camera)] } ?? []) {
            let isThere = run.line >= replay.lines.first && PrintedTime(run.time) <= time
            if isThere, run.steps > best?.0.steps ?? 0 || best == nil { best = (run, camera.moment) }
        }
        return best
    }

    /// Seeks to a time of the trace for which a start exists.
    private func seek(_ replay: Replay, to time: Double, at now: Double) {
        guard let (run, moment) = start(for: time, in: replay) else { return }
        replay.seek = Replay.Seek(to: time, from: run, on: scratchCamera(for: replay.camera, from: moment))
        replay.wait = .turn
        sendStatus(of: replay, at: now)
    }

    /// Shows subscribers where a seek has ended, if there is one.
    private func finishSeek(of replay: Replay, at now: Double) {
        guard let seek = replay.seek else { return }
        reset(replay, to: seek.run, seek.camera.moment, time: seek.target, at: now)
    }

    /// Resumes the replay from a moment, and shows that to subscribers.
    ///
    /// - Parameter time: the requested time of the trace.
    private func reset(
        _ replay: Replay, to run: ReplayRun, _ moment: HostedCamera.Moment, time: Double, at now: Double
    ) {
        (replay.seek, replay.run, replay.wait) = (nil, run, .turn)
        replay.clock.set(run.hasEnded && moment.motion == nil ? run.time : max(time, run.time), at: now)
        turns.add(work: Self.workOfReset)
        runner.reset(replay.camera, to: moment, at: run.time)
        sendStatus(of: replay, at: now)
    }

    private static let workOfReset = 8

    // MARK: Steering

    /// Steers a replay; there must be no objection.
    func steer(_ replay: Replay, _ request: ClientRequest, at now: Double) {
        switch request {
        case .pauseReplay: pause(replay, at: now)
        case .resumeReplay:
            guard !replay.isPlaying else { return }
            let isAgain = replay.isAtEnd
            (replay.phase, replay.wait) = (.playing, .turn)
            replay.clock.release(at: now)
            guard isAgain else { return sendStatus(of: replay, at: now) }
            replay.round = 1
            begin(replay, at: now)
        case .stepReplay(let count) where !replay.isAtEnd:
            replay.clock.hold(at: replay.position(at: now))
            (replay.phase, replay.wait) = (.stepping(left: UInt64(count)), .turn)
        case .seekReplay(let target):
            guard let time = time(of: target, in: replay, at: now) else { return }
            if !replay.isPlaying { replay.phase = .paused }
            seek(replay, to: time, at: now)
        case .setReplaySpeed(let speed):
            replay.clock.setSpeed(speed, from: replay.position(at: now), at: now)
            replay.wait = .turn
            sendStatus(of: replay, at: now)
        case .endReplay where replay.isAtEnd: finish(replay, at: now)
        case .endReplay:
            cutShort(replay)
            advance(replay, to: now)
        default: break
        }
    }

    /// Ends a replay that is at its end or plays a stored trace, before something else moves its camera. The camera
    /// stays where it is.
    func makeWay(on camera: HostedCamera, for peer: Peer, at now: Double) {
        guard let replay = camera.replay, replay.makesWay, replay !== peer.replay else { return }
        if replay.isAttract {
            replay.cut()
            replay.camera.apply(.stop, at: replay.run.time)
            runner.commitBatch(of: replay.camera, at: replay.run.time)
        }
        finish(replay, at: now)
    }

    private func pause(_ replay: Replay, at now: Double) {
        guard !replay.isPaused else { return }
        replay.clock.hold(at: replay.position(at: now))
        replay.phase = .paused
        if replay.seek == nil { replay.wait = .steering }
        sendStatus(of: replay, at: now)
    }

    /// Sends the state of a replay to the subscribers that asked for it.
    private func sendStatus(of replay: Replay, at now: Double) {
        let status = replay.status(at: now, withMarkers: false)
        runner.send(.replay, of: replay.camera) { $0.answer(.event(.replay(status)), Span()) }
    }

    // MARK: Ending

    /// Ends the trace that a peer has sent completely, if any: motions come to rest on the trace's clock.
    func end(traceOf peer: Peer, at now: Double) {
        switch peer.sentTrace.state {
        case .none: break
        case .passedOver: peer.sentTrace.state = .none
        case .playing(let replay) where replay.passesOver || replay.lines.isComplete: replay.passesOver = false
        case .playing(let replay):
            replay.complete(passingOver: false)
            advance(replay, to: now)
        }
    }

    /// Ends a replay whose peer is gone: the remaining motions are played in the next turns, as fast as possible.
    func abandon(_ replay: Replay) {
        replay.peer = nil
        if !replay.isOver { cutShort(replay) }
    }

    /// Ends a replay in the next turns, as fast as possible.
    func cutShort(_ replay: Replay) {
        replay.seek = nil
        if !replay.run.hasEnded { endTrace(of: replay) }
        replay.cut()
    }

    /// Plays the end of a trace, which cancels its gestures.
    private func endTrace(of replay: Replay) {
        let (camera, time) = (replay.playbackCamera, replay.playbackRun.time)
        camera.cancelGestures(at: time)
        replay.playbackRun.hasEnded = true
        replay.playbackRun.steps += 1
        runner.commitBatch(of: camera, at: time)
    }

    /// Starts the next round, keeps the replay at its end, or frees its camera.
    private func endRound(_ replay: Replay, at now: Double) {
        guard replay.hasAnotherRound else {
            guard replay.playback.pauseAtEnd, !replay.isCut else { return finish(replay, at: now) }
            replay.stayAtEnd()
            sendStatus(of: replay, at: now)
            return leases.update(replay.camera, at: now)
        }
        turns.add(work: Self.workOfReset)
        guard let first = replay.checkpoints.all.first, first.run.steps == 0 else {
            if let peer = replay.peer {
                let error = GimbalError(
                    .limitReached, field: "loop",
                    "the beginning is no longer kept: at most \(limits.replayBytes) bytes of a replay are kept, "
                        + "\(limits.allReplayBytes) of all")
                sender.refuse(error, Span(), to: peer)
            }
            return finish(replay, at: now)
        }
        replay.round += 1
        begin(replay, at: now)
    }

    private func finish(_ replay: Replay, at now: Double) {
        let camera = replay.camera
        let summary = replay.summary
        let time = replay.run.time
        replay.end()
        sendStatus(of: replay, at: now)
        camera.assignment.replay = nil
        camera.clockStart = now - time
        running.removeAll { $0 === replay }
        defer { leases.update(camera, at: now) }
        runner.restartIdleTime(of: camera, at: now)
        registry.markUnsaved(camera)
        guard let peer = replay.peer else { return }
        // Lines are skipped until the trace's end has been read.
        peer.sentTrace.state = replay.passesOver ? .passedOver(camera: replay.cameraName) : .none
        let id = replay.id
        sender.reply(.traceEnded(summary), id.span, to: peer)
        // A peer that reads no more gets no reply, but may have nothing left to do and be closed.
        sender.enqueue(peer)
        // Lines of a trace are never taken for live input.
        if summary.cut == true {
            discardInput(of: peer)
            leases.release(peer, at: now)
        }
        if peer.input.isUnfinished { turns.join(peer) }
    }

    /// Ignores everything that a peer still sends.
    func discardInput(of peer: Peer) {
        peer.sentTrace.state = .none
        if peer.input.isOpen { clients.linger(peer) } else { peer.input.clear() }
    }

    // MARK: Handover

    /// Assigns a peer's lines to a trace that has ended in another process.
    func assign(endedTraceOf camera: String, to peer: Peer) { peer.sentTrace.state = .passedOver(camera: camera) }

    func camera(named name: String) -> HostedCamera? { registry.camera(named: name) }

    func scratchCamera(for camera: HostedCamera, from moment: HostedCamera.Moment) -> HostedCamera {
        let scratch = registry.scratchCamera(camera.name, from: moment)
        scratch.assignment = camera.assignment
        return scratch
    }
}
