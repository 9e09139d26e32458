// One camera of the hub: the pure camera, the gestures on it, what moves by itself, and the events that come of it.
// This file is the only one that emits events. Invariants: the stream matches (move-started camera-changed+)+ idle;
// fingers and motion never move the camera at one time; the clock that comes in is the camera's own.

import Gestures
import MapCamera
import GimbalProtocol
import Touches

final class HostedCamera {
    /// Who a camera is there for.
    enum Standing {
        /// For everybody, until it is removed.
        case permanent
        /// Only for clients that may only watch, for as long as one of them has subscribed to it.
        case ephemeral
        /// It is not there any more; some may still refer to it.
        case removed
    }

    /// What a batch or a tick has brought.
    struct Emission {
        /// Lines of events.
        var events = 0
        /// Lines that tell what the camera was sent.
        var inputs = 0

        var lines: Int { events + inputs }
    }

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
    /// The surfaces whose fingers are recognized here, in traces too: a value, so that whoever keeps a copy of the camera
    /// and its gestures keeps one of these with them.
    private(set) var surfaces: TouchSurfaces
    /// How many gestures were active when the last batch ended.
    private(set) var activeGestures = 0
    private var motion: Motion? {
        didSet { nextTick = motion?.nextFrame }
    }
    /// Why it moves by itself, if it does.
    private var motionReason = MoveReason.animation
    /// When the next step of what moves by itself is due, on the camera's clock; `nil` if nothing does.
    private(set) var nextTick: Double?

    // Events
    private let encoder: LineEncoder
    let log: EventLog
    /// What subscribers of `gesture` and `touch` read; `nil` while there are none.
    private(set) var inputLog: InputLog?
    private(set) var seq: UInt64 = 0
    /// The seq with which the epoch began: 0, but where a replay has gone elsewhere.
    private(set) var firstSeq: UInt64 = 0
    /// The time of the last event: the next is not before it.
    private var lastTime = 0.0
    /// How many `camera-changed` there have been since the camera was reset.
    private(set) var frames: UInt64 = 0
    /// The position that subscribers know.
    private(set) var published: PrintedPosition
    private var viewText = ViewText()
    /// Why the camera moves; `nil` when it is idle.
    private var reason: MoveReason?
    /// What changed the position in the batch that is being applied.
    private var batchReason: MoveReason?

    // Who has to do with it
    /// In any order.
    private(set) var subscriptions: [Subscription] = []
    /// How many of them ask for what the camera is sent, and how many to see the fingers.
    private var (recorders, onlookers) = (0, 0)
    /// Those that ask for what the camera is sent, until it rests and they can be told where that begins.
    private var waitingRecorders: [Subscription] = []
    /// Requests that wait until it rests; some may be over.
    private(set) var waits: [RestWait] = []
    private var waitsOver = 0
    /// The replay that moves this camera; while there is one, nobody else may. Only ``Replays`` changes it.
    var replay: Replay?
    /// Live: the hub's time at which the camera's clock was 0.
    var clockStart: Double

    // Where the hub has it
    /// Only ``CameraRegistry`` changes these three.
    var standing = Standing.permanent
    var slot = 0
    /// Whether it may have changed since it was saved.
    var isUnsaved = false
    var lists = CameraList.Membership()

    /// What a camera needs of its hub.
    struct Environment {
        let limits: Limits
        let memory: (any HistoryMemory)?
        let encoder: LineEncoder
    }

    init(name: String, epoch: String, at now: Double, _ environment: Environment) {
        self.name = name
        isMain = name == Self.mainName
        self.epoch = epoch
        nameBytes = Array(name.utf8)
        published = PrintedPosition(unsafe moving.camera.position)
        encoder = environment.encoder
        log = EventLog(limits: environment.limits, memory: environment.memory)
        surfaces = TouchSurfaces(limit: environment.limits.cameraSurfaces)
        clockStart = now
    }

    /// A camera as it was saved: at rest, with a history; by default with one that is empty up to its seq.
    init(
        _ saved: SavedCamera, clockStart: Double, log: EventLog? = nil, firstSeq: UInt64 = 0,
        _ environment: Environment
    ) {
        name = saved.state.name
        isMain = name == Self.mainName
        epoch = saved.epoch
        nameBytes = Array(name.utf8)
        published = PrintedPosition(saved.state.camera.position)
        seq = saved.state.seq
        encoder = environment.encoder
        self.log = log ?? EventLog(limits: environment.limits, from: saved.state.seq, memory: environment.memory)
        self.firstSeq = firstSeq
        lastTime = saved.clock
        surfaces = TouchSurfaces(limit: environment.limits.cameraSurfaces)
        self.clockStart = clockStart
        camera = saved.state.camera
        gestures.set(saved.state.gestures)
    }

    // MARK: From process to process

    func write(to out: inout FieldWriter) {
        out.put(CameraField.state, saved.lines)
        out.put(CameraField.isEphemeral, isEphemeral)
        out.put(CameraField.clockStart, clockStart)
        out.put(CameraField.firstEntry, log.end &- seq)
        out.put(CameraField.firstSeq, firstSeq)
        out.put(CameraField.log) { log.write(to: &$0) }
        if let inputLog { out.put(CameraField.inputLog) { inputLog.write(to: &$0) } }
        out.put(CameraField.moment) { moment.write(to: &$0) }
    }

    /// A camera that goes on where ``write(to:)`` left off.
    convenience init(
        _ row: FieldReader, _ reader: inout SavedCamera.Reader, _ environment: Environment, at now: Double
    ) throws {
        let (limits, memory) = (environment.limits, environment.memory)
        var row = row
        var saved: SavedCamera?
        var isEphemeral = false
        var clockStart: Double?
        var firstSeq: UInt64 = 0
        var (log, inputLog): (EventLog?, FieldReader?)
        var moment: Moment?
        while let (tag, field) = try row.next(CameraField.self) {
            switch tag {
            case .state: saved = try reader.camera(Array(field.bytes()))
            case .isEphemeral: isEphemeral = try field.flag()
            case .clockStart: clockStart = try field.double()
            case .firstEntry: break
            case .firstSeq: firstSeq = try field.number()
            case .log: log = try EventLog.read(field.record(), limits: limits, memory: memory)
            case .inputLog: inputLog = try field.record()
            case .moment: moment = try Moment(field.record(), limits: limits)
            }
        }
        guard let saved else { throw FieldReader.Damage() }
        self.init(
            saved, clockStart: clockStart ?? now - saved.clock, log: log, firstSeq: firstSeq, environment)
        if isEphemeral { standing = .ephemeral }
        if let moment { restore(from: moment) }
        self.inputLog = try inputLog.map {
            try InputLog($0, of: name, encoder: encoder, limits: limits, memory: memory)
        }
    }

    // MARK: How it stands

    /// Whether this is its name, in bytes.
    func isNamed(_ name: Span<UInt8>) -> Bool {
        guard name.count == nameBytes.count else { return false }
        for index in 0..<name.count where name[index] != nameBytes[index] { return false }
        return true
    }

    /// The camera that everybody sees: another one, where a replay goes elsewhere on this one.
    var seen: HostedCamera { replay?.camera ?? self }
    var isRemoved: Bool { standing == .removed }
    var isEphemeral: Bool { standing == .ephemeral }

    /// Whether nothing moves it and no gesture is active. Between batches.
    var isAtRest: Bool { nextTick == nil && activeGestures == 0 }

    /// The camera's own clock.
    func time(at now: Double) -> Double { if let replay { replay.time(of: self) } else { now - clockStart } }

    /// What is to be kept of it.
    var saved: SavedCamera { SavedCamera(state: state, epoch: epoch, clock: lastTime) }
    var state: CameraSnapshot { CameraSnapshot(name: name, seq: seq, camera: camera, gestures: gestures.settings) }

    // MARK: Who waits for its rest

    func addWait(_ wait: RestWait) { waits.append(wait) }

    /// Notes that one of its waits is over, and removes such now and then.
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

    func apply(_ event: GestureEvent, of key: GestureKey, at time: Double) {
        inputLog?.add(event, of: key)
        follow(event, of: key, at: time)
    }

    private func follow(_ event: GestureEvent, of key: GestureKey, at time: Double) {
        let update = gestures.handle(event, of: key, at: time, viewport: camera.viewport)
        if nextTick != nil, gestures.isActive { motion = nil }
        if let update { move(.gesture) { $0.apply(update) } }
    }

    /// Follows the fingers of one of a peer's surfaces: what is recognized of them moves the camera as any gesture does.
    ///
    /// - Parameter told: the surface's own time, in milliseconds; without one it is the camera's.
    func apply(_ fingers: Request.Fingers, of peer: Int, told: Double?, at time: Double) {
        let outcome = surfaces.handle(
            fingers.touches, of: SurfaceKey(feed: peer, label: fingers.surface), at: told ?? time,
            isCancelled: fingers.isCancelled, tellsAngles: fingers.tellsAngles)
        if let outcome { follow(outcome, fingers, at: time) }
    }

    private func follow(_ outcome: TouchSurfaces.Outcome, _ fingers: Request.Fingers, at time: Double) {
        inputLog?.add(fingers, outcome, at: time)
        for var event in outcome.events {
            event.time = outcome.timeMs
            follow(event, of: GestureKey(feed: outcome.surface.gestureFeed, kind: event.kind), at: time)
        }
    }

    func apply(_ command: Request.Command, at time: Double) {
        inputLog?.add(command)
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
        if camera.position != before { batchReason = reason }
    }

    /// Ends a batch: what it changed is one event, and what it set free comes to rest or flies on.
    func endBatch(at time: Double) -> Emission {
        let before = log.end
        activeGestures = gestures.count
        let release = gestures.takeRelease()
        inputLog?.endBatch(at: time, velocity: velocity(of: release), gestures)
        if let batchReason { publish(batchReason, at: time) }
        batchReason = nil
        switch release {
        case .glide(let momentum):
            motion = Glide(momentum, of: camera).map { Motion($0, at: time) }
            motionReason = .gesture
        case .tap(let update):
            animate(update, duration: GestureTracker.tapDuration, easing: .default, at: time, .gesture)
        case nil: break
        }
        rest(at: time)
        return emission(since: before)
    }

    /// The velocity with which a pan that ended in this batch goes on; `nil` if that does not matter.
    private func velocity(of release: GestureTracker.Release?) -> ScreenPoint? {
        guard activeGestures == 0, gestures.settings.scroll, gestures.settings.fling else { return nil }
        switch release {
        case .glide(let momentum): return momentum.pan
        case .tap: return nil
        case nil: return ScreenPoint(x: 0, y: 0)
        }
    }

    /// Cancels the gestures of a peer that is gone, and those of its fingers. To be followed by ``endBatch(at:)``.
    func cancelGestures(of peer: Int, at time: Double) {
        loseFingers(at: time) { $0.feed == peer }
        inputLog?.cancel(gestures.keys(of: peer))
        gestures.cancel(feed: peer)
    }

    /// Cancels every gesture, as the end of a trace does. To be followed by ``endBatch(at:)``.
    func cancelGestures(at time: Double) {
        loseFingers(at: time) { _ in true }
        inputLog?.cancel(gestures.reports.map(\.key))
        gestures.cancelAll()
    }

    private func loseFingers(at time: Double, of surface: (SurfaceKey) -> Bool) {
        for key in surfaces.all.map(\.key) where surface(key) {
            guard let outcome = surfaces.remove(key) else { continue }
            follow(outcome, Request.Fingers([], isCancelled: true, surface: key.label), at: time)
        }
    }

    // MARK: Motion

    /// Moves on to the next tick of what moves by itself.
    func tick() -> Emission {
        let before = log.end
        guard let due = nextTick, var motion else { return Emission() }
        self.motion = motion.step(&camera) ? motion : nil
        inputLog?.passed(due)
        publish(motionReason, at: due)
        rest(at: due)
        return emission(since: before)
    }

    // MARK: Events

    private func emission(since entry: UInt64) -> Emission {
        Emission(events: Int(log.end - entry), inputs: inputLog?.takeLineCount() ?? 0)
    }

    private func publish(_ newReason: MoveReason, at time: Double) {
        let position = PrintedPosition(camera.position)
        guard position != published else { return }
        if reason != newReason { emit(.moveStarted, newReason, at: time) }
        reason = newReason
        published = position
        emit(.cameraChanged, newReason, at: time)
        frames += 1
    }

    private func rest(at time: Double) {
        guard let reason, nextTick == nil, activeGestures == 0 else { return }
        emit(.idle, reason, at: time)
        self.reason = nil
    }

    private func emit(_ kind: Event.Kind, _ reason: MoveReason, at time: Double) {
        seq += 1
        lastTime = max(lastTime, time)
        let event = Event(kind: kind, seq: seq, timeMs: lastTime, reason: reason, position: published)
        let name = nameBytes
        log.append(kind: kind.mask, longest: Event.longest + name.count) {
            $0.event(event, camera: name.span, &viewText)
        }
        inputLog?.log.appendLast(of: log)
    }

    /// Tells a line that has no seq to those who have asked for its kind.
    func tell(_ kind: EventKinds, _ write: (inout LineWriter) -> Void) -> Emission {
        guard subscriptions.contains(where: { $0.kinds.contains(kind) }) else { return Emission() }
        encoder.encode(write) { line in
            log.append(unnumbered: line, kind: kind)
            inputLog?.log.append(unnumbered: line, kind: kind)
        }
        return Emission(inputs: 1)
    }

    /// Names the present, for those who follow or record the camera. To be followed by ``endBatch(at:)``.
    func mark(_ label: String, at time: Double) -> Emission {
        inputLog?.add(marker: label)
        return tell(.marker) { $0.marker(label, camera: name, timeMs: time) }
    }

    // MARK: Moments

    /// What determines all that follows. Between batches.
    var moment: Moment {
        Moment(
            camera, gestures, activeGestures, surfaces, motion, motionReason, published, reason, seq, lastTime, frames)
    }

    /// Goes on from a moment.
    func restore(from moment: Moment) {
        (camera, gestures, activeGestures) = (moment.camera, moment.gestures, moment.activeGestures)
        surfaces = moment.surfaces
        (motion, motionReason) = (moment.motion, moment.motionReason)
        (published, reason, batchReason) = (moment.published, moment.reason, nil)
        (seq, lastTime, frames) = (moment.seq, moment.lastTime, moment.frames)
    }

    /// Makes the camera anew, as a replay has it at a moment, and tells every subscriber.
    ///
    /// - Parameter time: the replay's clock.
    func reset(to moment: Moment, at time: Double, epoch: String) -> Emission {
        let before = log.end
        restore(from: moment)
        (self.epoch, firstSeq) = (epoch, seq)
        encoder.encode(
            {
                $0.reset(
                    camera: name, seq: seq, timeMs: lastTime, position: published, moving: reason, epoch: epoch)
            }, then: { log.append($0, kind: .reset) })
        inputLog?.log.appendLast(of: log)
        // What moves by itself cannot be told to who records: they wait, and nothing of it is theirs.
        inputLog?.begin(nextTick == nil ? header : nil, gestures.reports, at: time)
        for surface in surfaces.all where surface.isTouched { inputLog?.show(surface, at: time) }
        return emission(since: before)
    }

    // MARK: Who reads it

    func attach(_ subscription: Subscription) {
        subscription.place = subscriptions.count
        subscriptions.append(subscription)
        if subscription.showsTouches { onlookers += 1 }
        if subscription.isRecorder { recorders += 1 }
        if subscription.readsInputs { noteReaders() }
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
        guard subscription.readsInputs else { return }
        if subscription.showsTouches { onlookers -= 1 }
        if subscription.isRecorder { recorders -= 1 }
        waitingRecorders.removeAll { $0 === subscription }
        noteReaders()
        if recorders + onlookers == 0 { stopInputLog() }
    }

    private func noteReaders() {
        inputLog?.showsTouches = onlookers > 0
        inputLog?.setRecording(recorders > 0, active: gestures)
    }

    /// The entry of the log behind an event of this epoch; `nil` if the log does not hold what follows it.
    ///
    /// - Parameter turns: is told how much work it was to find it.
    func entry(after seq: UInt64, countedBy turns: Turns) -> UInt64? {
        guard seq >= firstSeq, seq <= self.seq else { return nil }
        var (entry, left) = (log.end, self.seq - seq)
        var steps = 0
        defer { turns.add(work: steps >> 6) }
        while left > 0, entry > log.first {
            // Behind that entry all are events.
            if entry >= log.numberedFrom, left <= entry - log.numberedFrom {
                entry -= left
                left = 0
            } else {
                entry -= 1
                // Once here, and once more for those that are behind it.
                steps += 2
                if EventKinds.unnumbered.isDisjoint(with: log.kind(of: entry)) { left -= 1 }
            }
        }
        return left == 0 && entry >= log.first ? entry : nil
    }

    /// Those that record it and have been told how their trace begins.
    var recorderSubscriptions: [Subscription] { subscriptions.filter(\.isTold) }

    /// Whether nobody has subscribed to it by its name.
    var isUnwanted: Bool { subscriptions.allSatisfy(\.isOfAll) }

    /// Writes how many lines a reader has missed, and where the camera stands now.
    func writeGap(of missed: UInt64, to line: inout LineWriter) {
        line.lagged(camera: name, missed: missed, position: published, seq: seq, epoch: epoch)
    }

    // MARK: What it is sent, as recorders are told

    /// The log of what the camera is sent; from now on it is kept, if it was not.
    func startInputLog(limits: Limits) -> EventLog {
        let inputLog = inputLog ?? InputLog(of: name, encoder: encoder, limits: limits, memory: log.memory)
        self.inputLog = inputLog
        return inputLog.log
    }

    func stopInputLog() { inputLog = nil }

    var hasWaitingRecorders: Bool { !waitingRecorders.isEmpty }

    /// Has a recorder wait until the camera rests.
    func addWaitingRecorder(_ recorder: Subscription) { waitingRecorders.append(recorder) }

    func takeWaitingRecorders() -> [Subscription] {
        defer { waitingRecorders = [] }
        return waitingRecorders
    }

    /// Whether a trace can begin: nothing moves by itself, and no fingers are down that another recorder is told of.
    var canBeginTrace: Bool { nextTick == nil && inputLog?.isFollowing(surfaces) != true }

    /// Has what is recorded of fingers begin anew where they land.
    func forgetRecordedFingers() { inputLog?.forgetSurfaces() }

    /// Writes the fingers that are down, for who has not seen them land.
    func writeTouches(at time: Double?, to line: inout LineWriter) {
        for surface in surfaces.all where surface.isTouched {
            line.touch(
                Request.Fingers(surface.touches, surface: surface.key.label), number: surface.number, camera: name,
                timeMs: time ?? inputLog?.lastTouchTime ?? lastTime)
        }
    }

    /// Writes what begins a trace in the middle of things: a header, and the gestures that are active.
    ///
    /// What moves by itself cannot be told so: nothing does.
    func writeBeginning(at time: Double, to line: inout LineWriter) {
        inputLog?.writeBeginning(header, gestures.reports, at: time, to: &line)
    }

    /// The header of a trace that begins with this camera.
    private var header: TraceHeader { TraceHeader(camera, gestures.settings) }
}
