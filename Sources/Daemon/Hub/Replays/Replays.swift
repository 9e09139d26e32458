// The replays that run. A header makes the camera anew, the lines after it run on the trace's clock, and its end brings all
// to rest. Lines that have been played are kept, so that the replay can go elsewhere and play once more.
// Invariant: a camera has at most one replay, and a peer sends at most one; both know it until it has ended.

import Gestures
import GimbalProtocol

final class Replays {
    /// The replay that moves a camera. It is kept there, and only ``Replays`` changes it.
    struct Assignment {
        fileprivate(set) var replay: Replay?
    }

    /// What the lines of a peer belong to. It is kept there, and only ``Replays`` changes it.
    struct SentTrace {
        enum State {
            /// To no trace.
            case none
            case playing(Replay)
            /// To a trace that has ended before its `trace-end` came.
            case passedOver(EndedTrace)
        }

        fileprivate(set) var state = State.none

        /// The name of the trace's camera.
        var camera: String? {
            switch state {
            case .none: nil
            case .playing(let replay): replay.cameraName
            case .passedOver(let trace): trace.camera
            }
        }
    }

    /// A trace that has ended, as long as its lines still come. Its camera may have been removed meanwhile.
    final class EndedTrace {
        /// The camera's name.
        let camera: String

        init(camera: String) { self.camera = camera }
    }

    /// What is to be done with a line of a replay.
    enum Arrival {
        /// It waits for its time.
        case later
        case now
        /// It lies behind the end of the replay, and moves nothing.
        case passedOver
    }

    let limits: Limits
    private let registry: CameraRegistry
    private let clients: ClientRegistry
    private let runner: CameraRunner
    private let leases: Leases
    private let sender: Sender
    private let turns: Turns
    private(set) var running: [Replay] = []
    /// Reads lines that have been kept.
    private var decoder: RequestDecoder

    init(
        limits: Limits, _ registry: CameraRegistry, _ clients: ClientRegistry, _ runner: CameraRunner,
        _ leases: Leases, _ sender: Sender, _ turns: Turns
    ) {
        (self.limits, self.registry, self.clients, self.runner) = (limits, registry, clients, runner)
        (self.leases, self.sender, self.turns) = (leases, sender, turns)
        // What has been accepted once is, also by a process with other limits.
        decoder = RequestDecoder(longestLine: .max, largestFrame: .max)
    }

    var count: Int { running.count }

    // MARK: Beginning

    func start(_ header: TraceHeader, on camera: HostedCamera, from peer: Peer, id: [UInt8], at now: Double) {
        let replay = Replay(header, of: camera, from: peer, id: id, limits: limits, at: now)
        assign(replay, to: peer)
        addRunning(replay)
        begin(replay, at: now)
    }

    /// Plays a trace that the daemon has, as a camera's idle action.
    func play(_ trace: StoredTrace, loops: Bool, on camera: HostedCamera, at now: Double) {
        let replay = Replay(trace, loops: loops, of: camera, limits: limits, at: now)
        addRunning(replay)
        begin(replay, at: now)
    }

    /// From now on what a peer sends is of a replay.
    func assign(_ replay: Replay, to peer: Peer) { peer.sentTrace.state = .playing(replay) }

    /// From now on a replay alone moves its camera.
    func addRunning(_ replay: Replay) {
        replay.camera.assignment.replay = replay
        running.append(replay)
    }

    /// Begins to play a trace, or to play it once more.
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

    /// Brings a replay to a line's time, as far as its pace allows.
    func schedule(_ timeMs: Double, in replay: Replay, at now: Double) -> Arrival {
        if replay.passesOver { return .passedOver }
        replay.lineArrived(timeMs, at: now)
        let time = replay.clock.time(of: timeMs)
        if replay.endsBefore(time) {
            replay.complete(passingOver: true)
            return .passedOver
        }
        return play(replay, new: time, at: now) ? .now : .later
    }

    /// Keeps a line that has been applied.
    func didApply(_ text: Span<UInt8>, _ requests: [Request] = [], in replay: Replay, at now: Double) {
        if replay.lines.beginsPart { makeRoom(in: replay) }
        turns.add(bytes: text.count)
        replay.lines.append(text, at: replay.playbackRun.time)
        lineWasPlayed(requests, in: replay, at: now)
    }

    /// Goes on with what is kept of a replay, as far as it is due.
    func advance(_ replay: Replay, to now: Double) { _ = play(replay, new: nil, at: now) }

    /// Goes on with a replay whose peer is gone: it has its part of the turn.
    func advanceAlone(_ replay: Replay, to now: Double) {
        turns.grantPart(of: count)
        advance(replay, to: now)
    }

    /// When the next replay goes on, in the hub's time; infinite if none does.
    var deadline: Double { running.isEmpty ? .infinity : running.reduce(.infinity) { min($0, $1.deadline) } }

    /// Plays what is due; says whether it has come to a line that has just been read, and that is due as well.
    ///
    /// - Parameter new: the time of that line, if there is one.
    private func play(_ replay: Replay, new: Double?, at now: Double) -> Bool {
        while !replay.isOver {
            switch takeStep(in: replay, new: new, at: now) {
            case .taken: continue
            case .atNewLine: return true
            case .waiting: return false
            }
        }
        return false
    }

    /// What becomes of the next step.
    private enum Outcome {
        /// It has been taken, and there may be another one.
        case taken
        /// It is the line that has just been read, which is due.
        case atNewLine
        /// The replay waits before it.
        case waiting
    }

    /// Takes the next step, if it is due: on the camera that subscribers see or, in a seek, on the scratch camera.
    private func takeStep(in replay: Replay, new: Double?, at now: Double) -> Outcome {
        if replay.isPaused, replay.seek == nil {
            replay.wait = .steering
            return .waiting
        }
        let camera = replay.playbackCamera
        let step = replay.playbackRun.next(on: camera, replay.lines, new: new, goal: replay.seek?.printed)
        if case .unknown = step { return .waiting }
        let due = due(step, in: replay)
        replay.wait = .time(due, next: step.time)
        guard due <= now else { return .waiting }
        replay.framesBefore = replay.camera.frames
        if case .new(let time) = step {
            replay.playbackRun.time = time
            return .atNewLine
        }
        guard !turns.isUsedUp else { return .waiting }
        switch step {
        case .frame(let time):
            runner.tick(camera)
            replay.playbackRun.time = max(replay.playbackRun.time, time)
            replay.playbackRun.steps += 1
            didStep(replay, at: now)
        case .kept(let time):
            replay.playbackRun.time = time
            let requests = replay.lines.requests(of: replay.playbackRun.line, &decoder)
            turns.add(work: requests.count)
            for request in requests {
                // A stored trace plays on a camera as that is set.
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
        return .taken
    }

    /// When a step is taken, in the hub's time.
    private func due(_ step: ReplayRun.Step, in replay: Replay) -> Double {
        // A round may take no time at all: for ever, such ones would leave none to anything else.
        if case .finished = step, replay.hasAnotherRound, replay.playback.loop == .forever {
            return replay.roundStart + (replay.isAttract ? 1000 : 1) * Self.shortestRound
        }
        guard replay.seek == nil, replay.isPlaying, let time = step.time else { return -.infinity }
        return replay.clock.due(time)
    }

    /// A round of a trace that is played for ever takes so many milliseconds at least.
    private static let shortestRound = 1.0

    private func lineWasPlayed(_ requests: [Request], in replay: Replay, at now: Double) {
        replay.playbackRun.lineWasPlayed()
        didStep(replay, at: now)
        guard replay.playback.pauseOnMarkers, replay.isPlaying, replay.seek == nil else { return }
        if requests.contains(where: { if case .marker = $0.body { true } else { false } }) { pause(replay, at: now) }
    }

    /// Keeps a checkpoint now and then; where subscribers have seen the step, the clock and the steps left follow it.
    private func didStep(_ replay: Replay, at now: Double) {
        // On its way through what was kept, it keeps nothing anew.
        let share = min(limits.replayBytes, limits.allReplayBytes / max(running.count, 1))
        replay.checkpoints.add(replay.playbackRun, on: replay.playbackCamera, limit: share / 8)
        guard replay.seek == nil else { return }
        replay.clock.stepped(to: replay.run.time, at: now)
        guard case .stepping(let left) = replay.phase else { return }
        let sent = replay.camera.frames - replay.framesBefore
        replay.phase = sent < left ? .stepping(left: left - sent) : .paused
        if replay.isPaused { sendStatus(of: replay, at: now) }
    }

    /// Keeps a replay within its limit, and all of them within theirs.
    private func makeRoom(in replay: Replay) {
        let others = running.reduce(0) { $0 + ($1 === replay ? 0 : $1.keptBytes) }
        let limit = min(limits.replayBytes, limits.allReplayBytes - others)
        while replay.keptBytes > limit, replay.lines.dropOldest() {
            replay.checkpoints.drop(before: replay.lines.first)
        }
    }

    // MARK: Seeking

    /// Why a replay cannot be steered so; `nil` if it can.
    func objection(to request: ClientRequest, of replay: Replay, at now: Double) -> WireError? {
        let target: ReplayTarget
        switch request {
        case .seekReplay(let goal): target = goal
        case .resumeReplay where replay.isAtEnd: target = .time(0)
        default: return nil
        }
        guard let time = time(of: target, in: replay, at: now) else {
            return WireError(.invalidValue, field: "marker", "no marker of that label has been read")
        }
        guard start(for: time, in: replay) == nil else { return nil }
        let first = replay.checkpoints.all.first.map { plain(($0.run.time * 1000).rounded() / 1000) }
        return WireError(
            .limitReached,
            "of a replay \(limits.replayBytes) bytes are kept, of all \(limits.allReplayBytes): "
                + (first.map { "this one goes back to \($0) ms" } ?? "this one cannot go back"))
    }

    private func time(of target: ReplayTarget, in replay: Replay, at now: Double) -> Double? {
        switch target {
        case .time(let time): max(time, 0)
        case .offset(let offset): max(replay.position(at: now) + offset, 0)
        case .marker(let label): replay.markers.first { $0.label == label }?.timeMs
        }
    }

    /// Where to begin on the way to a time: at the last moment known that is not after it.
    private func start(for time: Double, in replay: Replay) -> (run: ReplayRun, moment: HostedCamera.Moment)? {
        let time = PrintedTime(time)
        var best = replay.checkpoints.last(notAfter: time).map { ($0.run, $0.moment) }
        for (run, camera) in [(replay.run, replay.camera)] + (replay.seek.map { [($0.run, $0.camera)] } ?? []) {
            let isThere = run.line >= replay.lines.first && PrintedTime(run.time) <= time
            if isThere, run.steps > best?.0.steps ?? 0 || best == nil { best = (run, camera.moment) }
        }
        return best
    }

    /// Goes to a time of the trace, for which there is a start.
    private func seek(_ replay: Replay, to time: Double, at now: Double) {
        guard let (run, moment) = start(for: time, in: replay) else { return }
        replay.seek = Replay.Seek(to: time, from: run, on: scratchCamera(for: replay.camera, from: moment))
        replay.wait = .turn
        sendStatus(of: replay, at: now)
    }

    /// Shows subscribers where a seek has come, if there is one.
    private func finishSeek(of replay: Replay, at now: Double) {
        guard let seek = replay.seek else { return }
        reset(replay, to: seek.run, seek.camera.moment, time: seek.target, at: now)
    }

    /// Has the replay go on from a moment, and shows that to subscribers.
    ///
    /// - Parameter time: the trace's time that was asked for.
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
        case .stepReplay(let count):
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
        case .endReplay: cut(replay, at: now)
        default: break
        }
    }

    /// Ends a replay that has been played to its end, or that the daemon plays by itself, for what is to move its camera, which
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

    /// The peer has sent all of its trace, if it sends one: what moves comes to rest on the trace's clock.
    func end(traceOf peer: Peer, at now: Double) {
        switch peer.sentTrace.state {
        case .none: break
        case .passedOver: peer.sentTrace.state = .none
        case .playing(let replay) where replay.passesOver || replay.lines.isComplete: replay.traceEndWasRead()
        case .playing(let replay):
            replay.complete(passingOver: false)
            advance(replay, to: now)
        }
    }

    /// Ends a replay before its own end, on behalf of another client, and plays at once what moves.
    func cut(_ replay: Replay, at now: Double) {
        cutShort(replay)
        advance(replay, to: now)
    }

    /// The peer of a replay is gone: what moves is played in the next turns, as fast as possible.
    func abandon(_ replay: Replay) {
        replay.forgetPeer()
        if !replay.isOver { cutShort(replay) }
    }

    /// Ends a replay in the next turns, as fast as possible.
    func cutShort(_ replay: Replay) {
        replay.seek = nil
        if !replay.run.hasEnded { endTrace(of: replay) }
        replay.cut()
    }

    /// Plays the end of a trace: its gestures are cancelled.
    private func endTrace(of replay: Replay) {
        let (camera, time) = (replay.playbackCamera, replay.playbackRun.time)
        camera.cancelGestures(at: time)
        replay.playbackRun.hasEnded = true
        replay.playbackRun.steps += 1
        runner.commitBatch(of: camera, at: time)
    }

    /// Plays the trace once more, or frees its camera.
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
                let error = WireError(
                    .limitReached, field: "loop",
                    "the beginning is not kept any more: of a replay \(limits.replayBytes) bytes are kept, of all "
                        + "\(limits.allReplayBytes)")
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
        // What is passed over goes on until its end has been read.
        peer.sentTrace.state = replay.passesOver ? .passedOver(EndedTrace(camera: replay.cameraName)) : .none
        let id = replay.id
        sender.reply(.traceEnded(summary), id.span, to: peer)
        // One that reads no more is not told, and may have nothing left to do.
        sender.enqueue(peer)
        // Nothing of a trace is ever taken for live input.
        if summary.cut == true {
            discardInput(of: peer)
            leases.release(peer, at: now)
        }
        if peer.input.isUnfinished { turns.join(peer) }
    }

    /// Handles nothing more of what a peer sends.
    func discardInput(of peer: Peer) {
        peer.sentTrace.state = .none
        if peer.input.isOpen { clients.linger(peer) } else { peer.input.clear() }
    }

    // MARK: From process to process

    /// The lines of a peer still belong to a trace that has ended in another process.
    func assign(_ trace: EndedTrace, to peer: Peer) { peer.sentTrace.state = .passedOver(trace) }

    func camera(named name: String) -> HostedCamera? { registry.camera(named: name) }

    func scratchCamera(for camera: HostedCamera, from moment: HostedCamera.Moment) -> HostedCamera {
        let scratch = registry.scratchCamera(for: camera, from: moment)
        scratch.assignment = camera.assignment
        return scratch
    }
}
