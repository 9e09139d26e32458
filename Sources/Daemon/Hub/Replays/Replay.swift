// A trace that is played into a camera: its phase, its position, and what is kept of it.
// Invariant: subscribers see `run` on the camera. A seek runs on a scratch camera; subscribers see where it ends.

import GimbalProtocol

final class Replay {
    enum Phase: Codable {
        case playing
        case paused
        /// Pauses after this many more `camera-changed` events.
        case stepping(left: UInt64)
        /// Played to the end, and kept until a client seeks back, ends it, or moves the camera.
        case atEnd
        /// Ended before its own end: only motions that are still running are played.
        case cut
        /// Finished; the camera is free.
        case over
    }

    /// What the replay waits for.
    enum Wait {
        /// Its turn.
        case turn
        /// A time of the hub. `next` is the time of the next step in the trace, `nil` at the end of a round.
        case time(Double, next: Double?)
        /// A line from its peer.
        case line
        /// A request that steers it.
        case steering
    }

    /// A seek to another time of the trace.
    struct Seek {
        let target: Double
        let printed: PrintedTime
        var run: ReplayRun
        let camera: HostedCamera

        init(to target: Double, from run: ReplayRun, on camera: HostedCamera) {
            (self.target, printed, self.run, self.camera) = (target, PrintedTime(target), run, camera)
        }
    }

    /// The camera that it moves, which releases the replay when that is over.
    let camera: HostedCamera
    let cameraName: String
    /// The peer that sends it; `nil` for a stored trace, or once that peer is gone.
    weak var peer: Peer?
    /// Distinguishes its gestures from those of other feeds.
    let feed: Int
    /// The header's id as it was written.
    let id: [UInt8]
    let playback: TracePlayback
    /// The stored trace that the daemon plays as a camera's idle action; such a replay makes way for any client.
    let storedTrace: StoredTrace.Identity?

    var phase = Phase.playing
    var wait = Wait.turn
    var clock: ReplayClock
    var run = ReplayRun()
    var seek: Seek?
    /// The current round, from 1.
    var round = 1
    /// When the round began, in the hub's time.
    var roundStart = -Double.infinity
    /// The number of `camera-changed` events before the current step.
    var framesBefore: UInt64 = 0

    var lines = KeptLines()
    var checkpoints = Checkpoints()
    var markers: [ReplayMarker] = []
    private(set) var rejected: UInt64 = 0

    /// Whether further lines from the peer are skipped because they are beyond the end that the header set.
    var passesOver = false

    init(
        of camera: HostedCamera, from peer: Peer?, feed: Int, id: [UInt8], _ playback: TracePlayback,
        _ clock: ReplayClock, _ storedTrace: StoredTrace.Identity? = nil, rejected: UInt64 = 0, passesOver: Bool = false
    ) {
        (self.camera, cameraName, self.peer, self.feed, self.id) = (camera, camera.name, peer, feed, id)
        (self.playback, self.clock, self.storedTrace) = (playback, clock, storedTrace)
        (self.rejected, self.passesOver) = (rejected, passesOver)
    }

    /// Creates a replay of a trace whose lines a peer sends.
    convenience init(
        _ header: TraceHeader, of camera: HostedCamera, from peer: Peer, id: [UInt8], limits: Limits, at now: Double
    ) {
        let clock = ReplayClock(speed: header.speed, longestWait: header.playback.idleTimeLimitMs, at: now)
        self.init(of: camera, from: peer, feed: peer.number, id: id, header.playback, clock)
        if playback.paused {
            phase = .paused
            self.clock.hold(at: 0)
        }
        let moment = HostedCamera.Moment(position: header.position, header.setup, limits: limits)
        checkpoints = Checkpoints([.init(run: run, moment: moment)])
    }

    /// Creates a replay of a stored trace, which plays with the camera's own settings.
    convenience init(_ trace: StoredTrace, loops: Bool, of camera: HostedCamera, limits: Limits, at now: Double) {
        var playback = TracePlayback()
        playback.loop = loops ? .forever : .times(1)
        playback.durationMs = trace.info.durationMs
        let speed = trace.header.speed == .infinity ? 1 : trace.header.speed
        let clock = ReplayClock(speed: speed, longestWait: trace.header.playback.idleTimeLimitMs, at: now)
        self.init(of: camera, from: nil, feed: 0, id: [], playback, clock, trace.identity)
        (lines, markers) = (trace.lines, trace.markers)
        let moment = HostedCamera.Moment(position: trace.header.position, camera.moment.setup, limits: limits)
        checkpoints = Checkpoints([.init(run: run, moment: moment)])
    }

    // MARK: State

    /// Whether it was ended before its own end and the camera is not free yet.
    var isCut: Bool { if case .cut = phase { true } else { false } }

    /// Whether the camera is free.
    var isOver: Bool { if case .over = phase { true } else { false } }

    /// Whether it is stopped until a client steers it.
    var isPaused: Bool { if case .paused = phase { true } else { isAtEnd } }

    /// Whether it has been played to the end and is only kept.
    var isAtEnd: Bool { if case .atEnd = phase { true } else { false } }

    var isAttract: Bool { storedTrace != nil }

    /// Whether it ends when something else is about to move its camera.
    var makesWay: Bool { isAtEnd || isAttract }

    var isPlaying: Bool { if case .playing = phase { true } else { false } }

    /// When it continues by itself, in the hub's time; infinite if it does not.
    var deadline: Double {
        switch wait {
        case .turn: -.infinity
        case .time(let time, _): time
        case .line, .steering: .infinity
        }
    }

    /// The camera that its lines move; during a seek, a scratch camera.
    var playbackCamera: HostedCamera { seek?.camera ?? camera }

    /// Returns the time in the trace of a camera that it moves.
    func time(of camera: HostedCamera) -> Double {
        if let seek, camera === seek.camera { return seek.run.time }
        return run.time
    }

    /// Its position on ``playbackCamera``.
    var playbackRun: ReplayRun {
        get { seek?.run ?? run }
        set { if seek != nil { seek?.run = newValue } else { run = newValue } }
    }

    /// Whether its next step may be a line from its peer.
    var takesLines: Bool {
        if passesOver { return true }
        if isCut || lines.isComplete { return false }
        return playbackRun.line == lines.end && (seek != nil || !isPaused)
    }

    /// Whether the next line may have this `timeMs`: not before the previous line, and at most 1e14 ms into the trace.
    func mayGoOn(at timeMs: Double) -> Bool {
        let time = clock.time(of: timeMs)
        return !passesOver && time >= playbackRun.time && time <= ReplayClock.longest
    }

    /// Whether the end that the header set is before a time.
    func endsBefore(_ time: Double) -> Bool {
        playback.untilMs.map { PrintedTime(time) > PrintedTime($0) } ?? false
    }

    /// Whether another round follows this one.
    var hasAnotherRound: Bool {
        guard !isCut else { return false }
        return switch playback.loop {
        case .times(let times): round < times
        case .forever: true
        }
    }

    /// Returns its position in the trace; during a seek, the target.
    func position(at now: Double) -> Double {
        if let seek { return seek.target }
        let next: Double? = if case .time(_, let next) = wait { next ?? run.time } else { nil }
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

    /// The summary for its owner.
    var summary: TraceEnded {
        TraceEnded(
            events: Int(clamping: run.events), rejected: Int(clamping: rejected), frames: Int(clamping: camera.frames),
            durationMs: run.time, position: camera.published, cut: isCut ? true : nil)
    }

    /// The number of bytes kept for this replay alone.
    var keptBytes: Int { (isAttract ? 0 : lines.byteCount) + checkpoints.byteCount }

    // MARK: Lines

    /// Waits for the next line from its peer, if a line is what comes next.
    func waitForLine() { if takesLines, !lines.isComplete { wait = .line } }

    /// Counts a line of the trace that was rejected.
    func lineWasRejected() { if !passesOver { rejected += 1 } }

    /// Notes that a line has arrived, or that it is due.
    func lineArrived(_ timeMs: Double, at now: Double) {
        let isLate = if case .line = wait { seek == nil } else { false }
        clock.lineArrived(timeMs, at: now, late: isLate)
    }

    // MARK: Ending

    /// Marks the trace as complete; with `passingOver`, what its peer still sends is skipped.
    func complete(passingOver: Bool) {
        lines.isComplete = true
        passesOver = passingOver
        wait = .turn
    }

    /// Ends it before its own end: only running motions are still played, as fast as possible.
    func cut() {
        (phase, wait, seek) = (.cut, .turn, nil)
        clock.hurry()
        run.hasEnded = true
    }

    /// Keeps it, stopped at its end.
    func stayAtEnd() {
        (phase, wait) = (.atEnd, .steering)
        clock.hold(at: run.time)
    }

    /// Marks it as over and drops everything that was kept of it.
    func end() {
        (phase, wait) = (.over, .steering)
        (lines, checkpoints, markers) = (KeptLines(), Checkpoints(), [])
    }
}
