// A trace being played into a camera: what is to be done with it, where it is, and what is kept of it.
// Invariant: subscribers see `run` on the camera. A seek runs on a scratch camera, and subscribers see where it ends.

import GimbalProtocol

final class Replay {
    enum Phase: Codable {
        case playing
        case paused
        /// Paused, once so many more `camera-changed` have been sent.
        case stepping(left: UInt64)
        /// All of it has been played, and it is kept until a client goes back in it, ends it, or moves the camera.
        case atEnd
        /// Ended before its own end: nothing of it is played any more but what moves.
        case cut
        /// The camera is free.
        case over
    }

    /// What the replay waits for.
    enum Wait {
        /// For its turn.
        case turn
        /// For a time of the hub's. What comes then has a time of the trace, `nil` for the end of a round.
        case time(Double, next: Double?)
        /// For a line of its peer's.
        case line
        /// For a request that steers it.
        case steering
    }

    /// The way to another time.
    struct Seek {
        let target: Double
        let printed: PrintedTime
        var run: ReplayRun
        let camera: HostedCamera

        init(to target: Double, from run: ReplayRun, on camera: HostedCamera) {
            (self.target, printed, self.run, self.camera) = (target, PrintedTime(target), run, camera)
        }
    }

    /// The camera lets go of the replay when that is over.
    let camera: HostedCamera
    let cameraName: String
    /// The peer that sends it; `nil` when that peer is gone.
    private(set) weak var peer: Peer?
    /// Tells its gestures from others'.
    let feed: Int
    /// The header's id as it was written.
    let id: [UInt8]
    let playback: TracePlayback
    /// The trace that the daemon plays by itself, as a camera's idle action: then it makes way for any client.
    let storedTrace: StoredTrace.Identity?

    var phase = Phase.playing
    var wait = Wait.line
    var clock: ReplayClock
    var run = ReplayRun()
    var seek: Seek?
    /// Which time it plays, from 1.
    var round = 1
    /// When that began, in the hub's time.
    var roundStart = -Double.infinity
    /// How many `camera-changed` there were before the step that is being taken.
    var framesBefore: UInt64 = 0

    var lines = KeptLines()
    var checkpoints = Checkpoints()
    var markers: [ReplayMarker] = []
    private(set) var rejected: UInt64 = 0

    /// Whether what the peer still sends of it is passed over, since it is beyond the end that the header set.
    private(set) var passesOver = false

    init(
        _ header: TraceHeader, of camera: HostedCamera, from peer: Peer, id: [UInt8], limits: Limits, at now: Double
    ) {
        (self.camera, cameraName, self.peer, feed, self.id) = (camera, camera.name, peer, peer.number, id)
        playback = header.playback
        storedTrace = nil
        clock = ReplayClock(speed: header.speed, longestWait: playback.idleTimeLimitMs, at: now)
        if playback.paused {
            phase = .paused
            clock.hold(at: 0)
        }
        checkpoints = Checkpoints([
            .init(run: run, moment: HostedCamera.Moment(position: header.position, header.setup, limits: limits))
        ])
    }

    /// A trace that the daemon plays by itself on a camera as that is set.
    convenience init(_ trace: StoredTrace, loops: Bool, of camera: HostedCamera, limits: Limits, at now: Double) {
        var playback = TracePlayback()
        playback.loop = loops ? .forever : .times(1)
        playback.durationMs = trace.info.durationMs
        let speed = trace.header.speed == .infinity ? 1 : trace.header.speed
        let clock = ReplayClock(speed: speed, longestWait: trace.header.playback.idleTimeLimitMs, at: now)
        self.init(
            of: camera, from: nil, feed: 0, id: [], playback, trace.identity, clock, .playing, rejected: 0,
            passesOver: false)
        (lines, markers) = (trace.lines, trace.markers)
        let moment = HostedCamera.Moment(position: trace.header.position, camera.moment.setup, limits: limits)
        checkpoints = Checkpoints([.init(run: run, moment: moment)])
    }

    /// A replay that goes on where another process left off.
    init(
        of camera: HostedCamera, from peer: Peer?, feed: Int, id: [UInt8], _ playback: TracePlayback,
        _ storedTrace: StoredTrace.Identity?, _ clock: ReplayClock, _ phase: Phase, rejected: UInt64, passesOver: Bool
    ) {
        (self.camera, cameraName, self.peer, self.feed, self.id) = (camera, camera.name, peer, feed, id)
        self.storedTrace = storedTrace
        (self.playback, self.clock, self.rejected) = (playback, clock, rejected)
        (self.phase, self.passesOver) = (phase, passesOver)
        wait = .turn
    }

    // MARK: How it stands

    /// Whether it was ended before its own end, and the camera is not free yet.
    var isCut: Bool { if case .cut = phase { true } else { false } }

    /// Whether the camera is free.
    var isOver: Bool { if case .over = phase { true } else { false } }

    /// Whether it stands still until a client steers it.
    var isPaused: Bool {
        switch phase {
        case .paused, .atEnd: true
        case .playing, .stepping, .cut, .over: false
        }
    }

    /// Whether all of it has been played, and it is only kept.
    var isAtEnd: Bool { if case .atEnd = phase { true } else { false } }

    var isAttract: Bool { storedTrace != nil }

    /// Whether it ends for whatever else is to move its camera.
    var makesWay: Bool { isAtEnd || isAttract }

    var isPlaying: Bool { if case .playing = phase { true } else { false } }

    /// When it goes on by itself, in the hub's time; infinite if it does not.
    var deadline: Double {
        switch wait {
        case .turn: -.infinity
        case .time(let time, _): time
        case .line, .steering: .infinity
        }
    }

    /// The camera that its lines move: while it seeks, a scratch camera.
    var playbackCamera: HostedCamera { seek?.camera ?? camera }

    /// The clock of a camera that it moves.
    func time(of camera: HostedCamera) -> Double {
        if let seek, camera === seek.camera { return seek.run.time }
        return run.time
    }

    /// Where it is on that camera.
    var playbackRun: ReplayRun {
        get { seek?.run ?? run }
        set { if seek != nil { seek?.run = newValue } else { run = newValue } }
    }

    /// Whether the next thing that it needs may be a line of its peer's.
    var takesLines: Bool {
        if passesOver { return true }
        if isCut || lines.isComplete { return false }
        return playbackRun.line == lines.end && (seek != nil || !isPaused)
    }

    /// Whether the next line may have a `timeMs`: not one before that of the line before it, nor one over 1e14 ms.
    func mayGoOn(at timeMs: Double) -> Bool {
        let time = clock.time(of: timeMs)
        return !passesOver && time >= playbackRun.time && time <= ReplayClock.longest
    }

    /// Whether the header's end lies before a time.
    func endsBefore(_ time: Double) -> Bool {
        playback.untilMs.map { PrintedTime(time) > PrintedTime($0) } ?? false
    }

    /// Whether it plays once more when it has ended.
    var hasAnotherRound: Bool {
        guard !isCut else { return false }
        return switch playback.loop {
        case .times(let times): round < times
        case .forever: true
        }
    }

    /// Where it is in the trace; while it seeks, where it goes.
    func position(at now: Double) -> Double {
        if let seek { return seek.target }
        let next: Double? = if case .time(_, let next) = wait { next } else { nil }
        return clock.position(at: now, after: run.time, before: next)
    }

    func status(at now: Double, withMarkers: Bool) -> ReplayStatus {
        let state: ReplayState =
            isOver ? .ended : seek != nil ? .seeking : isAtEnd ? .atEnd : isPaused ? .paused : .playing
        return ReplayStatus(
            camera: cameraName, state: state, timeMs: position(at: now), durationMs: playback.durationMs,
            speed: clock.speed, round: round,
            trace: storedTrace?.info.trace, markers: withMarkers ? markers : nil)
    }

    /// How it went, for its owner.
    var summary: TraceEnded {
        TraceEnded(
            events: Int(clamping: run.events), rejected: Int(clamping: rejected), frames: Int(clamping: camera.frames),
            durationMs: run.time, position: camera.published, cut: isCut ? true : nil)
    }

    /// How many bytes are kept of it alone.
    var keptBytes: Int { (isAttract ? 0 : lines.byteCount) + checkpoints.byteCount }

    // MARK: Lines

    /// No line of its peer's is there: it waits for the next one, if that is what comes next.
    func waitForLine() { if takesLines, !lines.isComplete { wait = .line } }

    /// A line of the trace was wrong.
    func lineWasRejected() { if !passesOver { rejected += 1 } }

    /// A line has come, or its time has.
    func lineArrived(_ timeMs: Double, at now: Double) {
        let isLate = if case .line = wait { seek == nil } else { false }
        clock.lineArrived(timeMs, at: now, late: isLate)
    }

    // MARK: It ends

    /// No line follows those that it has; what its peer still sends is passed over, if that is so.
    func complete(passingOver: Bool) {
        lines.complete()
        passesOver = passingOver
        wait = .turn
    }

    /// The peer has sent all of it.
    func traceEndWasRead() { passesOver = false }

    /// Nothing of it is played any more but what moves, and that as fast as possible.
    func cut() {
        (phase, wait, seek) = (.cut, .turn, nil)
        clock.hurry()
        run.hasEnded = true
    }

    /// All of it has been played, and it is kept.
    func stayAtEnd() {
        (phase, wait) = (.atEnd, .steering)
        clock.hold(at: run.time)
    }

    /// The peer is gone.
    func forgetPeer() { peer = nil }

    /// Its camera is free.
    func end() {
        (phase, wait) = (.over, .steering)
        (lines, checkpoints, markers) = (KeptLines(), Checkpoints(), [])
    }
}
