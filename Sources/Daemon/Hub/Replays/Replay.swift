// A trace being played into a camera: what is to be done with it, where it is, and what is kept of it.
// Invariant: what subscribers see is `run` on the camera. A seek runs on a shadow of its own, and is seen when it has landed.

import GimbalProtocol

final class Replay {
    enum Mode {
        case playing
        case paused
        /// Paused, once so many more `camera-changed` have been sent.
        case stepping(left: UInt64)
    }

    enum Life {
        case running
        /// Ended before its own end: nothing of it is played any more but what moves.
        case cut
        /// The camera is free.
        case over
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

    var mode = Mode.playing
    var clock: ReplayClock
    var run = ReplayRun()
    var seek: Seek?
    /// Which time it plays, from 1.
    var round = 1
    /// When that began, in the hub's time.
    var roundStart = -Double.infinity
    /// When it goes on, in the hub's time; infinite if that depends on others.
    var wake = Double.infinity
    /// Whether it waits for a line of its peer's.
    private(set) var isWaitingForLine = true
    /// The time of what it waits for.
    var awaited: Double?

    /// How many `camera-changed` there were before the line that is being applied.
    var framesBefore: UInt64 = 0

    var lines = KeptLines()
    var checkpoints = Checkpoints()
    var markers: [ReplayMarker] = []
    /// Whether a marker is on the line that is being played.
    var isAtMarker = false
    private(set) var rejected: UInt64 = 0

    private var life = Life.running
    /// Whether what the peer still sends of it is passed over, since it is beyond the end that the header set.
    private(set) var passesOver = false

    init(
        _ header: TraceHeader, of camera: HostedCamera, from peer: Peer, id: [UInt8], limits: Limits, at now: Double
    ) {
        (self.camera, cameraName, self.peer, feed, self.id) = (camera, camera.name, peer, peer.number, id)
        playback = header.playback
        clock = ReplayClock(speed: header.speed, longestWait: playback.idleTimeLimitMs, at: now)
        if playback.paused {
            mode = .paused
            clock.hold(at: 0)
        }
        checkpoints = Checkpoints([.init(run: run, moment: HostedCamera.Moment(position: header.position, header.setup, limits: limits))])
    }

    /// A replay that goes on where another process left off.
    init(
        of camera: HostedCamera, from peer: Peer?, feed: Int, id: [UInt8], _ playback: TracePlayback,
        _ clock: ReplayClock, _ life: Life, rejected: UInt64, passesOver: Bool
    ) {
        (self.camera, cameraName, self.peer, self.feed, self.id) = (camera, camera.name, peer, feed, id)
        (self.playback, self.clock, self.rejected) = (playback, clock, rejected)
        (self.life, self.passesOver) = (life, passesOver)
        wake = -.infinity
    }

    // MARK: How it stands

    /// Whether it was ended before its own end, and the camera is not free yet.
    var isCut: Bool { life == .cut }

    /// Whether the camera is free.
    var isOver: Bool { life == .over }

    var isPaused: Bool { if case .paused = mode { true } else { false } }

    var isPlaying: Bool { if case .playing = mode { true } else { false } }

    /// The camera that its lines move: while it seeks, a shadow.
    var stage: HostedCamera { seek?.camera ?? camera }

    /// The clock of a camera that it moves.
    func time(of camera: HostedCamera) -> Double {
        if let seek, camera === seek.camera { return seek.run.time }
        return run.time
    }

    /// Where it is on the stage.
    var stageRun: ReplayRun {
        get { seek?.run ?? run }
        set { if seek != nil { seek?.run = newValue } else { run = newValue } }
    }

    /// A line of the stage's has been played.
    func lineWasPlayed() { if seek != nil { seek?.run.lineWasPlayed() } else { run.lineWasPlayed() } }

    /// Whether the next thing that it needs may be a line of its peer's.
    var takesLines: Bool {
        if passesOver { return true }
        if isCut || lines.isComplete { return false }
        return stageRun.line == lines.end && (seek != nil || !isPaused)
    }

    /// Whether the next line may have a `timeMs`: none does that lies before the line before it, or is beyond all measure.
    func mayGoOn(at timeMs: Double) -> Bool {
        let time = clock.time(of: timeMs)
        return !passesOver && time >= stageRun.time && time <= ReplayClock.longest
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
        return clock.position(at: now, after: run.time, before: awaited)
    }

    func status(at now: Double, withMarkers: Bool) -> ReplayStatus {
        let state: ReplayState = isOver ? .ended : seek != nil ? .seeking : isPaused ? .paused : .playing
        return ReplayStatus(
            camera: cameraName, state: state, timeMs: position(at: now), durationMs: playback.durationMs,
            speed: clock.speed, round: round, markers: withMarkers ? markers : nil)
    }

    /// How it went, for its owner.
    var summary: TraceSummary {
        var summary = TraceSummary()
        (summary.events, summary.rejected, summary.frames) = (run.events, rejected, camera.frames)
        (summary.durationMs, summary.isCut) = (run.time, isCut)
        return summary
    }

    /// How many bytes are kept of it.
    var keptBytes: Int { lines.byteCount + checkpoints.byteCount }

    // MARK: It goes on

    /// It goes on at a time of the hub's, with what comes at a time of the trace.
    func wait(until time: Double, for awaited: Double?) { (wake, self.awaited) = (time, awaited) }

    /// It has nothing to wait for but the next line of its peer's, if that is what comes next.
    func waitForLine() {
        guard takesLines else { return }
        isWaitingForLine = true
        if !lines.isComplete { wait(until: .infinity, for: nil) }
    }

    /// A line of the trace was wrong.
    func lineWasRejected() { if !passesOver { rejected += 1 } }

    /// A line has come.
    func lineArrived(_ timeMs: Double, at now: Double) {
        clock.lineArrived(timeMs, at: now, late: isWaitingForLine && seek == nil)
        isWaitingForLine = false
    }

    // MARK: It ends

    /// No line follows those that it has; what its peer still sends is passed over, if that is so.
    func complete(passingOver: Bool) {
        lines.complete()
        passesOver = passingOver
        wake = -.infinity
    }

    /// The peer has sent all of it.
    func traceEndWasRead() { passesOver = false }

    /// Nothing of it is played any more but what moves, and that as fast as possible.
    func cut() {
        (life, seek, mode) = (.cut, nil, .playing)
        clock.hurry()
        run.hasEnded = true
        wake = -.infinity
    }

    /// The peer is gone.
    func forgetPeer() { peer = nil }

    /// Its camera is free.
    func end() {
        (life, wake, awaited) = (.over, .infinity, nil)
        (lines, checkpoints, markers) = (KeptLines(), Checkpoints(), [])
    }
}
