// One camera of the hub: the pure camera, the gestures on it, what moves by itself, and the events that come of it.
// This file is the only one that emits events. Invariants: the stream matches (move-started camera-changed+)+ idle;
// fingers and motion never move the camera at one time; the clock that comes in is the camera's own.

import Gestures
import MapCamera
import Wire

final class HostedCamera {
    static let mainName = "main"

    let name: String
    /// Whether it is the camera of requests that name none.
    let isMain: Bool
    private let nameBytes: [UInt8]
    private(set) var epoch: String
    private(set) var camera: Camera {
        get { unsafe moving.camera }
        _modify { yield unsafe &moving.camera }
    }
    private(set) var gestures: GestureTracker {
        get { unsafe moving.gestures }
        _modify { yield unsafe &moving.gestures }
    }
    // Sound: each is changed only by functions of its own, which know nothing of this class, so no two changes can overlap.
    // Checking that as the program runs is 3 % of a line.
    @exclusivity(unchecked) private var moving = (camera: Camera(), gestures: GestureTracker())
    /// How many gestures were active when the last frame ended.
    private(set) var fingers = 0
    private var motion: Motion? {
        didSet { nextFrame = motion?.nextFrame }
    }
    /// Why it moves by itself, if it does.
    private var motionReason = MoveReason.animation
    /// When the next frame of what moves by itself is due, on the camera's clock; `nil` if nothing does.
    private(set) var nextFrame: Double?

    let log: EventLog
    /// What subscribers of `gesture` read; `nil` while there are none.
    private(set) var feedLog: FeedLog?
    /// In any order.
    private(set) var subscriptions: [Subscription] = []
    /// How many of them ask for what the camera is fed.
    private var recorders = 0
    /// Those that ask for what the camera is fed, until it rests and they can be told where that begins.
    var waitingRecorders: [Subscription] = []
    /// Whether the hub is to look whether it rests.
    var isResting = false
    /// Requests that wait until it rests; some may be over.
    var waits: [RestWait] = []
    private var waitsOver = 0
    /// The replay that feeds this camera; while there is one, nobody else may.
    var replay: Replay?
    /// Live: the hub's time at which the camera's clock was 0.
    var clockStart: Double
    /// Whether events have been emitted that the hub has not taken note of.
    var hasNews = false
    /// Whether the hub has its subscribers on the list of this turn's end.
    var isListed = false
    var isRemoved = false
    /// Whether it may have changed since it was saved.
    var isUnsaved = false
    /// Whether it is there only for who may only watch.
    var isHeld = false
    /// Whether the hub watches it for frames that come due.
    var isWatched = false

    private(set) var seq: UInt64 = 0
    /// The time of the last event: the next is not before it.
    private var lastTime = 0.0
    /// The entry of the log that has seq 1.
    private(set) var firstEntry: UInt64 = 0
    /// The position that subscribers know.
    private(set) var printed: PrintedPosition
    /// Why the camera moves; `nil` when it is idle.
    private var reason: MoveReason?
    /// What changed the position in the frame that is being applied.
    private var frameReason: MoveReason?

    init(name: String, epoch: String, at now: Double, limits: Limits, memory: (any HistoryMemory)?) {
        self.name = name
        isMain = name == Self.mainName
        self.epoch = epoch
        nameBytes = Array(name.utf8)
        printed = PrintedPosition(unsafe moving.camera.position)
        log = EventLog(limits: limits, memory: memory)
        clockStart = now
    }

    /// A camera as it was kept: at rest, with a history, or with one that is empty up to its seq.
    init(_ saved: SavedCamera, clockStart: Double, log: EventLog, firstEntry: UInt64 = 0) {
        name = saved.state.name
        isMain = name == Self.mainName
        epoch = saved.epoch
        nameBytes = Array(name.utf8)
        printed = PrintedPosition(saved.state.camera.position)
        seq = saved.state.seq
        self.log = log
        self.firstEntry = firstEntry
        lastTime = saved.clock
        self.clockStart = clockStart
        camera = saved.state.camera
        gestures.set(saved.state.gestures)
    }

    convenience init(_ saved: SavedCamera, clockStart: Double, limits: Limits, memory: (any HistoryMemory)?) {
        let log = EventLog(limits: limits, from: saved.state.seq, memory: memory)
        self.init(saved, clockStart: clockStart, log: log)
    }

    func write(to out: inout FieldWriter) {
        out.put(CameraField.state, saved.lines)
        out.put(CameraField.isHeld, isHeld)
        out.put(CameraField.clockStart, clockStart)
        out.put(CameraField.firstEntry, firstEntry)
        out.put(CameraField.log) { log.write(to: &$0) }
        if let feedLog { out.put(CameraField.feedLog) { feedLog.write(to: &$0) } }
    }

    /// A camera that goes on where ``write(to:)`` left off.
    convenience init(
        _ row: FieldReader, _ reader: inout SavedCamera.Reader, limits: Limits, memory: (any HistoryMemory)?,
        at now: Double
    ) throws {
        var row = row
        var saved: SavedCamera?
        var isHeld = false
        var clockStart: Double?
        var firstEntry: UInt64 = 0
        var (log, feedLog): (EventLog?, FieldReader?)
        while let (tag, field) = try row.next(CameraField.self) {
            switch tag {
            case .state: saved = try reader.camera(Array(field.bytes()))
            case .isHeld: isHeld = try field.flag()
            case .clockStart: clockStart = try field.double()
            case .firstEntry: firstEntry = try field.number()
            case .log: log = try EventLog.read(field.record(), limits: limits, memory: memory)
            case .feedLog: feedLog = try field.record()
            }
        }
        guard let saved else { throw FieldReader.Damage() }
        self.init(
            saved, clockStart: clockStart ?? now - saved.clock,
            log: log ?? EventLog(limits: limits, from: saved.state.seq, memory: memory), firstEntry: firstEntry)
        self.isHeld = isHeld
        self.feedLog = try feedLog.map { try FeedLog($0, of: name, limits: limits, memory: memory) }
    }

    var isMoving: Bool { reason != nil }
    /// Whether nothing moves it and no gesture is active. Between frames.
    var isAtRest: Bool { nextFrame == nil && fingers == 0 }

    /// Takes note that one of its waits is over, and lets go of such now and then.
    func noteWaitOver() {
        waitsOver += 1
        guard 2 * waitsOver > waits.count else { return }
        waits.removeAll { $0.isOver }
        waitsOver = 0
    }

    /// What is to be kept of it.
    var saved: SavedCamera { SavedCamera(state: state, epoch: epoch, clock: lastTime) }
    var state: CameraState { CameraState(name: name, seq: seq, camera: camera, gestures: gestures.settings) }

    // MARK: A frame of requests

    func apply(_ event: GestureEvent, of key: GestureKey, at time: Double) {
        feedLog?.take(event, of: key)
        let update = gestures.handle(event, of: key, at: time, viewport: camera.viewport)
        if nextFrame != nil, gestures.isActive { motion = nil }
        if let update { move(.gesture) { $0.apply(update) } }
    }

    func apply(_ command: Request.Command, at time: Double) {
        feedLog?.take(command)
        switch command {
        case .move(let update):
            stop()
            move(.command) { $0.apply(update) }
        case .animate(let update, let duration, let easing):
            stop()
            if duration > 0 {
                animate(update, duration: duration, easing: easing, at: time, .animation)
            } else {
                move(.animation) { $0.apply(update) }
            }
        case .stop:
            stop()
        case .setGestures(let change):
            gestures.set(change.applied(to: gestures.settings))
        case .setZoomRange(let min, let max):
            let old = camera.constraints.zoomRange
            guard let range = ZoomRange(min: min ?? old.min, max: max ?? old.max) else {
                preconditionFailure("a zoom range that was not admitted")
            }
            move(.command) { $0.setZoomRange(range) }
        case .setTargetBounds(let bounds):
            move(.command) { $0.setTargetBounds(bounds) }
        case .setViewport(let viewport):
            move(.command) { $0.viewport = viewport }
        case .removeCamera:
            break  // The hub's part: a camera does not know where it is kept.
        }
    }

    /// Ends gestures and motion where they are.
    private func stop() {
        gestures.cancelAll()
        motion = nil
    }

    private func animate(
        _ update: CameraUpdate, duration: Double, easing: Easing, at time: Double, _ reason: MoveReason
    ) {
        motion = CameraAnimation(update, of: camera, duration: duration, easing: easing).map { Motion($0, at: time) }
        motionReason = reason
    }

    private func move(_ reason: MoveReason, _ change: (inout Camera) -> Void) {
        let before = camera.position
        change(&camera)
        if camera.position != before { frameReason = reason }
    }

    /// Ends a frame: what it changed is one event, and what it set free comes to rest or flies on.
    func endFrame(at time: Double, _ line: inout LineWriter) {
        let release = releaseFingers()
        record(release, at: time, &line)
        if let frameReason { publish(frameReason, at: time, &line) }
        frameReason = nil
        switch release {
        case .glide(let momentum):
            motion = Glide(momentum, of: camera).map { Motion($0, at: time) }
            motionReason = .gesture
        case .tap(let update):
            animate(update, duration: GestureTracker.tapDuration, easing: .default, at: time, .gesture)
        case nil: break
        }
        rest(at: time, &line)
    }

    /// What goes on since this frame, and takes note of who does not.
    private func releaseFingers() -> GestureTracker.Release? {
        fingers = gestures.count
        return gestures.takeRelease()
    }

    /// Cancels the gestures of a feed that is gone. To be followed by ``endFrame(at:_:)``.
    func cancelGestures(of feed: Int) {
        feedLog?.cancel(gestures.keys(of: feed))
        gestures.cancel(feed: feed)
    }

    // MARK: Motion

    /// Takes the next frame of what moves by itself.
    func step(_ line: inout LineWriter) {
        guard let due = nextFrame, var motion else { return }
        self.motion = motion.step(&camera) ? motion : nil
        feedLog?.passed(due)
        publish(motionReason, at: due, &line)
        rest(at: due, &line)
    }

    // MARK: Events

    private func publish(_ newReason: MoveReason, at time: Double, _ line: inout LineWriter) {
        let position = PrintedPosition(camera.position)
        guard position != printed else { return }
        if reason != newReason { emit(.moveStarted, newReason, at: time, &line) }
        reason = newReason
        printed = position
        emit(.cameraChanged, newReason, at: time, &line)
        replay?.summary.frames += 1
    }

    private func rest(at time: Double, _ line: inout LineWriter) {
        guard let reason, nextFrame == nil, fingers == 0 else { return }
        emit(.idle, reason, at: time, &line)
        self.reason = nil
    }

    private func emit(_ kind: Event.Kind, _ reason: MoveReason, at time: Double, _ line: inout LineWriter) {
        seq += 1
        lastTime = max(lastTime, time)
        line.clear()
        let name = nameBytes
        line.event(Event(kind: kind, seq: seq, timeMs: lastTime, reason: reason, position: printed), camera: name.span)
        append(line, kind.mask)
    }

    private func append(_ line: borrowing LineWriter, _ kind: EventKinds) {
        line.withBytes { bytes in
            log.append(bytes, kind: kind)
            feedLog?.log.append(bytes, kind: kind)
        }
        hasNews = true
    }

    /// Tells a reader how many lines it has missed, and where the camera stands now.
    func tellGap(of missed: UInt64, _ line: inout LineWriter) {
        line.lagged(camera: name, missed: missed, position: printed, seq: seq, epoch: epoch)
    }

    // MARK: What it is fed

    /// From now on what it is fed is told, if it is not yet. Says what tells it.
    func startFeedLog(limits: Limits) -> EventLog {
        let feedLog =
            feedLog
            ?? FeedLog(
                of: name, active: gestures.reports.map(\.key), limits: limits, memory: log.memory)
        self.feedLog = feedLog
        return feedLog.log
    }

    func stopFeedLog() { feedLog = nil }

    // MARK: Who reads it

    func attach(_ subscription: Subscription) {
        subscription.place = subscriptions.count
        subscriptions.append(subscription)
        if subscription.isRecorder { recorders += 1 }
    }

    func detach(_ subscription: Subscription) {
        guard subscription.place < subscriptions.count, subscriptions[subscription.place] === subscription else {
            return
        }
        let last = subscriptions.removeLast()
        if last !== subscription {
            subscriptions[subscription.place] = last
            last.place = subscription.place
        }
        guard subscription.isRecorder else { return }
        recorders -= 1
        waitingRecorders.removeAll { $0 === subscription }
        if recorders == 0 { stopFeedLog() }
    }

    func takeWaitingRecorders() -> [Subscription] {
        defer { waitingRecorders = [] }
        return waitingRecorders
    }

    /// Tells the frame that ends, before the events that come of it.
    private func record(_ release: GestureTracker.Release?, at time: Double, _ line: inout LineWriter) {
        guard let feedLog else { return }
        let velocity = velocity(of: release)
        if feedLog.endFrame(at: time, velocity: velocity, gestures, &line) {
            hasNews = true
        }
    }

    /// The velocity with which a pan that ended in this frame goes on; `nil` if that does not matter.
    private func velocity(of release: GestureTracker.Release?) -> ScreenPoint? {
        guard fingers == 0, gestures.settings.scroll, gestures.settings.fling else { return nil }
        switch release {
        case .glide(let momentum): return momentum.pan
        case .tap: return nil
        case nil: return ScreenPoint(x: 0, y: 0)
        }
    }

    /// Writes what begins a trace in the middle of things: a header, and the gestures that are active.
    ///
    /// What moves by itself cannot be told so: nothing does.
    func describe(at time: Double, _ line: inout LineWriter) {
        feedLog?.describe(header, gestures.reports, at: time, &line)
    }

    /// The header of a trace that begins with this camera.
    private var header: TraceHeader { TraceHeader(camera, gestures.settings) }

    // MARK: Replays

    /// Makes the camera anew, as a trace's header says, and tells every subscriber.
    func reset(_ header: TraceHeader, epoch: String, _ line: inout LineWriter) {
        self.epoch = epoch
        camera = Camera(position: header.position, viewport: header.viewport, constraints: header.constraints)
        (gestures, fingers) = (GestureTracker(), 0)
        gestures.set(header.gestures.applied(to: GestureSettings()))
        motion = nil
        reason = nil
        frameReason = nil
        printed = PrintedPosition(camera.position)
        seq = 0
        lastTime = 0
        line.clear()
        line.reset(camera: name, position: printed, epoch: epoch)
        append(line, .reset)
        feedLog?.begin(self.header, &line)
        firstEntry = log.end
    }

    /// Cancels every gesture, as the end of a trace does.
    func cancelGestures() {
        feedLog?.cancel(gestures.reports.map(\.key))
        gestures.cancelAll()
    }
}
