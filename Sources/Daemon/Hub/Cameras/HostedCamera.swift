// One camera of the hub: the pure camera, the gestures on it, what moves it by itself, and the resulting events. Only
// this file emits events. Invariants: the stream matches (move-started camera-changed+)+ idle; fingers and motion never
// move the camera at the same time. A `time` is on the camera's own clock, a `now` on the hub's.

import Gestures
import MapCamera
import GimbalProtocol
import Touches

final class HostedCamera {
    /// Which clients a camera exists for, and how long.
    enum Lifetime {
        /// For all clients, until it is removed.
        case permanent
        /// For watch-only clients, as long as one of them is subscribed to it by its name.
        case ephemeral
        /// The camera no longer exists; references to it may remain.
        case removed
    }

    /// What a batch, a frame or a reset has produced.
    struct Effects {
        /// Lines of events.
        var events = 0
        /// Lines of what the camera was fed, and other lines without a seq.
        var inputs = 0

        var lines: Int { events + inputs }
    }

    static let mainName = "main"

    let name: String
    /// Whether requests that name no camera mean this one.
    let isMain: Bool
    private let nameBytes: [UInt8]
    private(set) var epoch: String
    /// Everything that determines what it does next and what its events say; complete between batches.
    private(set) var moment: Moment
    /// What changed the position in the current batch.
    private var batchReason: MoveReason?

    // Events
    private let encoder: LineEncoder
    let log: EventLog
    /// The log that subscribers of `gesture` and `touch` read; `nil` while there are none.
    private(set) var inputLog: InputLog?
    /// The least seq from which a subscriber can resume in this epoch: 0, unless a replay has reset the camera.
    private(set) var firstSeq: UInt64 = 0
    private var viewText = ViewText()

    // Its readers and movers
    private(set) var readers = CameraReaders()
    /// Requests that wait until it rests; some may be over.
    private(set) var waits: [RestWait] = []
    private var waitsOver = 0
    var assignment = Replays.Assignment()
    /// The replay that moves this camera; while there is one, no other client may move it.
    var replay: Replay? { assignment.replay }
    var leases = CameraLeases()
    /// The positions that a client has sent ahead of their time.
    var playOut: PlayOut?
    /// Whether positions wait for their time.
    var isPresenting: Bool { playOut?.due != nil }
    let clock: WallClock
    /// The wall clock's time at which its clock was 0, as subscribers have been told.
    var toldClockStart: WallTime?
    /// The last motion that began; `nil` if a replay began it, or a process of a version that did not hand it over.
    private var lastMotion: KnownMotion?
    /// The motion that subscribers have been told of.
    private var toldMotion: KnownMotion?
    /// The hub's time at which the camera's clock was 0, outside of a replay.
    var clockStart: Double

    // Where the hub keeps it
    var registration = CameraRegistry.Registration()
    var lists = CameraList.Membership()

    /// What a camera needs from its hub.
    struct Environment {
        let limits: Limits
        let memory: (any HistoryMemory)?
        let encoder: LineEncoder
        let clock: WallClock
    }

    /// Creates a camera at a moment; by default with an empty history that continues at its seq.
    init(
        name: String, epoch: String, _ moment: Moment, clockStart: Double, log: EventLog? = nil,
        inputLog: InputLog? = nil, firstSeq: UInt64 = 0, _ environment: Environment
    ) {
        self.name = name
        isMain = name == Self.mainName
        self.epoch = epoch
        nameBytes = Array(name.utf8)
        self.moment = moment
        (encoder, clock) = (environment.encoder, environment.clock)
        self.log =
            log
            ?? EventLog(
                limits: environment.limits, maximumBytes: environment.limits.mostHistoryBytes, from: moment.seq,
                memory: environment.memory)
        self.inputLog = inputLog
        self.firstSeq = firstSeq
        self.clockStart = clockStart
    }

    /// Creates a new camera.
    convenience init(name: String, epoch: String, at now: Double, _ environment: Environment) {
        self.init(name: name, epoch: epoch, Moment(limits: environment.limits), clockStart: now, environment)
    }

    /// Creates a saved camera, at rest.
    convenience init(_ saved: SavedCamera, at now: Double, _ environment: Environment) {
        self.init(
            name: saved.state.camera, epoch: saved.epoch, Moment(saved, limits: environment.limits),
            clockStart: now - saved.clock, environment)
    }

    /// The steps in which a camera's memory is prefetched.
    enum PrefetchStep: CaseIterable {
        case camera
        /// The objects that the camera refers to.
        case parts
        /// The memory that its next line is written to.
        case lines
    }

    /// Prefetches a part of the memory that its next line needs. A step reads what the steps before it have prefetched.
    func prefetch(_ step: PrefetchStep) {
        switch step {
        case .camera: Prefetch.object(self, bytes: MemoryLayout<Moment>.size + 256)
        case .parts:
            Prefetch.object(log, bytes: 256)
            Prefetch.start(of: nameBytes)
        case .lines: log.prefetchLines()
        }
    }

    // MARK: State

    /// Whether its name has these bytes.
    func isNamed(_ name: Span<UInt8>) -> Bool {
        guard name.count == nameBytes.count else { return false }
        for index in 0..<name.count where name[index] != nameBytes[index] { return false }
        return true
    }

    /// Whether its name sorts before another by its bytes.
    func isNamed(before name: Span<UInt8>) -> Bool {
        for index in 0..<min(nameBytes.count, name.count) where nameBytes[index] != name[index] {
            return nameBytes[index] < name[index]
        }
        return nameBytes.count < name.count
    }

    /// The camera that subscribers see; another one if a replay seeks on this one.
    var publicCamera: HostedCamera { replay?.camera ?? self }
    var isPublic: Bool { publicCamera === self }
    var lifetime: Lifetime { registration.lifetime }
    var isRemoved: Bool { lifetime == .removed }
    var isEphemeral: Bool { lifetime == .ephemeral }

    var camera: Camera { moment.camera }
    var gestures: GestureTracker { moment.gestures }
    var surfaces: TouchSurfaces { moment.surfaces }
    var seq: UInt64 { moment.seq }
    var frames: UInt64 { moment.frames }
    /// The position that subscribers know.
    var published: CameraPosition { moment.published.position }
    /// When the next frame of its motion is due, on the camera's clock; `nil` without a motion.
    var nextTick: Double? { moment.nextTick }

    /// Whether nothing moves it and no gesture is active; valid between batches.
    var isAtRest: Bool { moment.isAtRest }

    /// Whether subscribers have been told that it moves, and not yet that it rests.
    var isMoving: Bool { moment.reason != nil }

    /// Returns the time of the camera's own clock.
    func time(at now: Double) -> Double { if let replay { replay.time(of: self) } else { now - clockStart } }

    /// The camera as it is saved.
    var saved: SavedCamera { SavedCamera(state: state, epoch: epoch, clock: moment.lastTime) }
    var state: CameraState {
        CameraState(camera: name, seq: Int(seq), position: camera.position, setup: moment.setup)
    }

    /// Returns a position within the camera's constraints.
    func constrained(_ position: CameraPosition) -> CameraPosition {
        var camera = camera
        camera.apply(.setCamera(position))
        return camera.position
    }

    /// How far into the future its position is predicted, in milliseconds.
    private static let foresight = 250.0

    /// Returns its position at a time of the wall clock as far as that is known, and the time of that position.
    func position(at wanted: WallTime) -> (position: CameraPosition, time: WallTime) {
        if wanted >= clock.present.wall.adding(milliseconds: -PlayOut.kept),
            let position = playOut?.position(at: wanted, seq: seq)
        {
            return (constrained(position), wanted)
        }
        guard replay == nil, wanted > clock.present.wall, nextTick != nil else {
            return (camera.position, clock.present.wall)
        }
        let end = min(wanted, clock.present.wall.adding(milliseconds: Self.foresight))
        let time = clock.time(at: end) - clockStart
        var (here, next) = (moment, moment)
        // At most the frames of that time, even if the hub has stood still.
        for _ in 0..<Int(Self.foresight / Motion.frameDuration) + 2 where next.nextTick ?? .infinity <= time {
            _ = next.step()
            here = next
        }
        let due = next.nextTick ?? .infinity
        let share = 1 - (due - time) / Motion.frameDuration
        guard share > 0, next.step() != nil else { return (here.camera.position, end) }
        return (here.camera.position.toward(next.camera.position, share), end)
    }

    // MARK: Waits for its rest

    func addWait(_ wait: RestWait) { waits.append(wait) }

    /// Notes that one of its waits is over, and now and then removes those that are.
    func noteWaitOver() {
        waitsOver += 1
        guard 2 * waitsOver > waits.count else { return }
        waits.removeAll { $0.isOver }
        waitsOver = 0
    }

    func takeWaits() -> [RestWait] {
        defer { waits = [] }
        return waits
    }

    // MARK: A batch of requests

    /// Applies a report of a gesture. In a trace the report has no time of its own: the camera's is the trace's.
    func apply(_ gesture: ClientRequest.Gesture, of feed: Int, at time: Double) {
        var event = gesture.event
        if replay != nil { event.time = nil }
        let key = GestureKey(feed: feed, kind: event.kind, label: gesture.label)
        inputLog?.add(event, of: key)
        follow(event, of: key, at: time)
    }

    private func follow(_ event: GestureEvent, of key: GestureKey, at time: Double) {
        let update = moment.gestures.handle(event, of: key, at: time, viewport: camera.viewport)
        if nextTick != nil, gestures.isActive { moment.motion = nil }
        if let update { move(.gesture) { $0.camera.apply(update) } }
    }

    /// Moves it to a position whose time has come, by the gesture with which a map reports its own position.
    func apply(_ presentation: Presentation, of feed: Int, at time: Double) {
        apply(.init(GestureEvent(.position, .changed, .position(presentation.position))), of: feed, at: time)
        if !presentation.isMoving { apply(.init(GestureEvent(.position, .ended)), of: feed, at: time) }
    }

    /// Follows the fingers of one of a feed's surfaces: gestures recognized from them move the camera like any others.
    ///
    /// - Parameter lineTime: the line's own time, in milliseconds. Live that is the surface's clock, unless the fingers
    ///   have their own time; in a trace it is the camera's.
    func apply(_ fingers: Fingers, of feed: Int, lineTime: Double?, at time: Double) {
        let told = fingers.surfaceTimeMs ?? (replay == nil ? lineTime : nil)
        let outcome = moment.surfaces.handle(
            fingers.touches, of: SurfaceKey(feed: feed, label: fingers.surface), at: told ?? time,
            isCancelled: fingers.isCancelled, tellsAngles: fingers.tellsAngles)
        if let outcome { follow(outcome, fingers, at: time) }
    }

    private func follow(_ outcome: TouchSurfaces.Outcome, _ fingers: Fingers, at time: Double) {
        inputLog?.add(fingers, outcome, at: time)
        for var event in outcome.events {
            event.time = outcome.timeMs
            follow(event, of: GestureKey(feed: outcome.surface.gestureFeed, kind: event.kind), at: time)
        }
    }

    /// Applies a command. The hub handles `remove-camera`: a camera does not know where it is stored.
    func apply(_ command: ClientRequest, at time: Double) {
        inputLog?.add(command)
        switch command {
        case .move(let update):
            stop()
            move(.command) { $0.camera.apply(update) }
        case .animate, .fly, .tour:
            stop()
            begin(.request(command), by: .animation, at: time)
        case .stop:
            stop()
        case .set(let change):
            let (old, new) = (moment.setup, moment.setup.with(change))
            // What moves now may go elsewhere: frames computed from the motion would be wrong.
            if (old.viewport, old.zoomRange, old.targetBounds) != (new.viewport, new.zoomRange, new.targetBounds) {
                lastMotion = nil
            }
            move(.command) { $0.set(new) }
        default: break
        }
    }

    /// Frees what a removed camera no longer needs, and stops what would fill it again.
    func freeMemory() {
        log.freeMemory()
        moment.motion = nil
        moment.gestures = GestureTracker(moment.setup.gestures)
        moment.surfaces = TouchSurfaces(limit: moment.surfaces.limit)
    }

    /// Ends gestures and motion where they are.
    private func stop() {
        moment.gestures.cancelAll()
        moment.motion = nil
    }

    /// Begins a motion at a time, or moves at once if the motion takes no time.
    private func begin(_ cause: MotionCause, by reason: MoveReason, at time: Double) {
        let motion = cause.motion(of: camera, at: time)
        if let update = cause.update, motion?.duration == 0 { return move(reason) { $0.camera.apply(update) } }
        moment.motion = motion.map { CausedMotion(motion: $0, reason: reason) }
        lastMotion = nil
        guard motion != nil, replay == nil else { return }
        let start = MotionStart(at: clock.wallTime(at: clockStart + time), camera.position, moment.setup, cause)
        lastMotion = KnownMotion(start, at: time)
    }

    private func move(_ reason: MoveReason, _ change: (inout Moment) -> Void) {
        let before = camera.position
        change(&moment)
        if camera.position != before { batchReason = reason }
    }

    /// Ends a batch: what it changed becomes one `camera-changed`, and what it released comes to rest or continues.
    func endBatch(at time: Double) -> Effects {
        // In a recording the idle flight is a client's command, which not every request would end.
        if moment.wasUsed(at: time) { inputLog?.addFirst(.stop) }
        return commitBatch(at: time)
    }

    private func commitBatch(at time: Double) -> Effects {
        let before = log.end
        let release = moment.gestures.takeRelease()
        inputLog?.writeBatch(at: time, velocity: velocity(of: release), gestures)
        if let batchReason { publish(batchReason, at: time) }
        batchReason = nil
        switch release {
        case .glide(let momentum):
            begin(.glide(momentum), by: .gesture, at: time)
        case .tap(let update):
            let tap = ClientRequest.animate(update, durationMs: GestureTracker.tapDuration, easing: .default)
            begin(.request(tap), by: .gesture, at: time)
        case nil: break
        }
        rest(at: time)
        return effects(since: before)
    }

    /// Returns the velocity with which a pan that ended in this batch continues; `nil` if that does not matter.
    private func velocity(of release: GestureTracker.Release?) -> ScreenPoint? {
        guard !gestures.isActive, gestures.settings.scroll, gestures.settings.fling else { return nil }
        switch release {
        case .glide(let momentum): return momentum.pan
        case .tap: return nil
        case nil: return ScreenPoint(x: 0, y: 0)
        }
    }

    /// Cancels the gestures of a peer that is gone, and those of its fingers. Call ``endBatch(at:)`` afterwards.
    func cancelGestures(of peer: Int, at time: Double) {
        loseFingers(at: time) { $0.feed == peer }
        inputLog?.cancel(gestures.keys(of: peer))
        moment.gestures.cancel(feed: peer)
    }

    /// Cancels every gesture, as the end of a trace does. Call ``endBatch(at:)`` afterwards.
    func cancelGestures(at time: Double) {
        loseFingers(at: time) { _ in true }
        inputLog?.cancel(gestures.reports.map(\.key))
        moment.gestures.cancelAll()
    }

    private func loseFingers(at time: Double, of surface: (SurfaceKey) -> Bool) {
        for key in surfaces.all.map(\.key) where surface(key) {
            guard let outcome = moment.surfaces.remove(key) else { continue }
            follow(outcome, Fingers([], surface: key.label, isCancelled: true), at: time)
        }
    }

    // MARK: Motion

    /// Advances its motion by one frame.
    func tick() -> Effects {
        let before = log.end
        guard let due = nextTick, let reason = moment.step() else { return Effects() }
        inputLog?.passed(due)
        publish(reason, at: due)
        rest(at: due)
        return effects(since: before)
    }

    // MARK: Idle action

    var hasIdleAction: Bool { moment.idleAfterMs != nil }

    /// When its idle action is due, on the camera's clock, unless something else happens first; `nil` if it is not.
    var idleDue: Double? { replay == nil && leases.current == nil && !isRemoved ? moment.idleDue : nil }

    /// Whether it has arrived where a trace begins, which is now to be played.
    var hasApproachedTrace: Bool { if case .approachingTrace = moment.idling { idleDue != nil } else { false } }

    /// Flies to where its idle action begins or ends. Recorders are sent the flight, since a trace has no idle action.
    ///
    /// - Parameter time: when the action is due, on the camera's clock.
    func beginIdleFlight(to position: CameraPosition, duration: Double?, _ reason: MoveReason, at time: Double)
        -> Effects
    {
        let flight = ClientRequest.fly(.setCamera(position), durationMs: duration)
        inputLog?.add(flight)
        begin(.request(flight), by: reason, at: time)
        moment.idling = reason == .attract ? .approachingTrace : nil
        return commitBatch(at: time)
    }

    /// Skips its idle action.
    func passOverIdleAction() { moment.idling = nil }

    /// Starts its idle time.
    func restartIdleTime(at time: Double) { moment.idling = .since(time) }

    // MARK: Events

    private func effects(since entry: UInt64) -> Effects {
        Effects(events: Int(log.end - entry), inputs: inputLog?.takeLineCount() ?? 0)
    }

    private func publish(_ newReason: MoveReason, at time: Double) {
        let position = PrintedPosition(camera.position)
        guard position != moment.published else { return }
        let newReason = replay?.isAttract == true ? .attract : newReason
        if moment.reason != newReason { emit(.moveStarted, newReason, at: time) }
        moment.reason = newReason
        moment.published = position
        emit(.cameraChanged, newReason, at: time)
        moment.frames += 1
    }

    private func rest(at time: Double) {
        guard let reason = moment.reason, isAtRest else { return }
        emit(.idle, reason, at: time)
        moment.reason = nil
    }

    private func emit(_ kind: Event.Kind, _ reason: MoveReason, at time: Double) {
        let event = moment.nextEvent(kind, reason, at: time)
        let name = nameBytes
        log.append(kind: kind.mask, longest: Event.longest + name.count) {
            $0.event(event, camera: name.span, &viewText)
        }
        inputLog?.log.appendLast(of: log)
    }

    /// Emits a line without a seq, if a subscriber asked for its kind.
    func append(_ kind: EventKinds, _ write: (inout LineWriter) -> Void) -> Effects {
        guard readers.wants(kind) else { return Effects() }
        encoder.encode(write) { line in
            log.append(unnumbered: line, kind: kind)
            inputLog?.log.append(unnumbered: line, kind: kind)
        }
        return Effects(inputs: 1)
    }

    /// Puts a label on the present, for subscribers and recorders. Call ``endBatch(at:)`` afterwards.
    func mark(_ label: String, at time: Double) -> Effects {
        inputLog?.add(.marker(label: label))
        let marker = CameraMarker(camera: name, timeMs: time, label: label)
        return append(.marker) { $0.answer(.event(.marker(marker)), Span()) }
    }

    // MARK: The wall clock

    /// Returns what to tell subscribers of its clock; `nil` if they know it, to the millisecond.
    func clockNews() -> CameraClock? {
        let message = clockMessage
        let start = message.wallTime(of: 0)
        if let told = toldClockStart, abs(start.milliseconds(since: told)) < 1 { return nil }
        toldClockStart = start
        return message
    }

    private var clockMessage: CameraClock {
        CameraClock(camera: name, timeMs: time(at: clock.present.hub), wallTime: clock.present.wall)
    }

    // MARK: Known motion

    /// Its motion, if subscribers are told of it.
    private var motion: KnownMotion? { nextTick != nil && replay == nil ? lastMotion : nil }

    /// Returns what to tell subscribers of its motion; `nil` if they know.
    func motionNews() -> CameraMotion? {
        let motion = motion
        guard motion !== toldMotion else { return nil }
        toldMotion = motion
        return motionMessage
    }

    var motionRecord: KnownMotion.Record? { motion.map { KnownMotion.Record($0, isTold: $0 === toldMotion) } }

    /// Restores what was known of its motion in another process.
    func resume(_ record: KnownMotion.Record?) throws(StateDecoder.Damage) {
        lastMotion = try record.map { record throws(StateDecoder.Damage) in try KnownMotion(record) }
        toldMotion = record?.isTold == true ? lastMotion : nil
    }

    private var motionMessage: CameraMotion {
        CameraMotion(camera: name, timeMs: motion?.timeMs ?? moment.lastTime, motion: motion?.start)
    }

    // MARK: Moments

    /// Resets the camera to a replay's moment, and tells every subscriber.
    ///
    /// - Parameter time: the time on the replay's clock.
    func reset(to moment: Moment, at time: Double, epoch: String) -> Effects {
        let before = log.end
        (self.moment, lastMotion, batchReason) = (moment, nil, nil)
        (self.epoch, firstSeq) = (epoch, seq)
        let reset = CameraReset(
            camera: name, seq: seq, timeMs: moment.lastTime, position: published, moving: moment.reason, epoch: epoch)
        encoder.encode({ $0.answer(.event(.reset(reset)), Span()) }, then: { log.append($0, kind: .reset) })
        inputLog?.log.appendLast(of: log)
        // Recorders cannot be sent a motion: they wait until it ends, and receive nothing of it.
        inputLog?.begin(nextTick == nil ? header : nil, gestures.reports, at: time)
        for surface in surfaces.all where surface.isTouched { inputLog?.show(surface, at: time) }
        return effects(since: before)
    }

    // MARK: Readers

    func attach(_ subscription: Subscription) {
        readers.attach(subscription)
        if subscription.readsInputs { noteReaders() }
    }

    func detach(_ subscription: Subscription) {
        guard readers.detach(subscription), subscription.readsInputs else { return }
        noteReaders()
        if !readers.readInputs { stopInputLog() }
    }

    private func noteReaders() {
        inputLog?.showsTouches = readers.showTouches
        inputLog?.setRecording(readers.record, active: gestures)
    }

    /// Returns the log's entry after an event of this epoch; `nil` if the log does not hold what follows the event.
    ///
    /// - Parameter turns: counts the work of finding it.
    func entry(after seq: UInt64, countedBy turns: Turns) -> UInt64? {
        guard seq >= firstSeq, seq <= self.seq else { return nil }
        var (entry, left) = (log.end, self.seq - seq)
        var steps = 0
        defer { turns.add(work: steps >> 6) }
        while left > 0, entry > log.first {
            // From `numberedFrom` on, all entries are events.
            if entry >= log.numberedFrom, left <= entry - log.numberedFrom {
                entry -= left
                left = 0
            } else {
                entry -= 1
                // One step here, and one when the cursor, set to this entry, counts the lines after it.
                steps += 2
                if EventKinds.unnumbered.isDisjoint(with: log.kind(of: entry)) { left -= 1 }
            }
        }
        return left == 0 && entry >= log.first ? entry : nil
    }

    /// Writes what subscribers of some kinds have to know before the next event: the lease, the clock, the motion, and
    /// the positions sent ahead.
    ///
    /// - Parameter now: the hub's time; `nil` stands for that of the last event.
    func writeState(of kinds: EventKinds, at now: Double?, to line: inout LineWriter) {
        if kinds.contains(.lease) { writeLease(at: now, to: &line) }
        if kinds.contains(.clock) {
            // Others learn of a change with the next event.
            if readers.clockReaderIsAlone { _ = clockNews() }
            line.answer(.event(.clock(clockMessage)), Span())
        }
        if kinds.contains(.motion) { line.answer(.event(.motion(motionMessage)), Span()) }
        if kinds.contains(.present) {
            for presentation in toldAhead { line.answer(.event(.present(told(presentation))), Span()) }
        }
    }

    /// The positions sent ahead of their time that still count.
    var toldAhead: ArraySlice<Presentation> { playOut?.counting(seq: seq) ?? [] }

    /// Returns what to tell subscribers of a position ahead of its time; `nil` revokes the positions told before.
    func told(_ presentation: Presentation?) -> CameraPresentation {
        var told = presentation
        if let position = presentation?.position { told?.position = constrained(position) }
        return CameraPresentation(camera: name, presentation: told)
    }

    /// Writes how many lines a reader has missed, and where the camera is now.
    func writeGap(of missed: UInt64, to line: inout LineWriter) {
        let gap = Lagged(
            camera: name, missed: Int(clamping: missed), position: published, seq: Int(clamping: seq), epoch: epoch)
        line.answer(.event(.lagged(gap)), Span())
    }

    // MARK: Input, as recorders are told

    /// Returns the log of what the camera is fed, and starts one if there is none.
    func startInputLog(limits: Limits) -> EventLog {
        let inputLog = inputLog ?? InputLog(of: name, encoder: encoder, limits: limits, memory: log.memory)
        self.inputLog = inputLog
        return inputLog.log
    }

    func stopInputLog() { inputLog = nil }

    /// Makes a recorder wait until a trace can begin; see ``canBeginTrace``.
    func addWaitingRecorder(_ recorder: Subscription) { readers.wait(recorder) }

    /// Returns the recorders that wait until a trace can begin, and ends their wait.
    func takeWaitingRecorders() -> [Subscription] { readers.takeWaiting() }

    /// Whether a trace can begin: no motion is running, and no fingers are down that another recorder records.
    var canBeginTrace: Bool { nextTick == nil && inputLog?.isFollowing(surfaces) != true }

    /// Records fingers as gestures until they land again.
    func forgetRecordedFingers() { inputLog?.forgetSurfaces() }

    /// Writes the fingers that are down, for a subscriber that has not seen them land.
    func writeTouches(at time: Double?, to line: inout LineWriter) {
        for surface in surfaces.all where surface.isTouched {
            let touches = SurfaceTouches(
                Fingers(surface.touches, surface: surface.key.label), number: surface.number, camera: name,
                timeMs: time ?? inputLog?.lastTouchTime ?? moment.lastTime)
            line.answer(.event(.touch(touches)), Span())
        }
    }

    /// Writes the beginning of a trace that starts midway: a header, and the active gestures.
    ///
    /// A trace cannot express a motion, so none may be running.
    func writeBeginning(at time: Double, to line: inout LineWriter) {
        inputLog?.writeBeginning(header, gestures.reports, at: time, to: &line)
    }

    /// The header of a trace that begins with this camera.
    private var header: TraceHeader { TraceHeader(position: camera.position, setup: moment.setup) }
}
