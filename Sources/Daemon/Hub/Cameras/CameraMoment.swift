// All that determines what a camera does next and what its events say, as a value: a camera restored from a moment
// sends the same bytes as one that never stopped. A camera of the hub has one; replays keep copies of it, and land on
// them.
// Invariant: a copy is taken between batches, so nothing is pending in it.

import Gestures
import MapCamera
import GimbalProtocol
import Touches

/// What goes on by itself, and why.
struct CausedMotion: Codable {
    var motion: Motion
    let reason: MoveReason

    init(_ motion: Motion, by reason: MoveReason) { (self.motion, self.reason) = (motion, reason) }
}

extension HostedCamera {
    /// How far a camera's idle action has come.
    enum Idling: Codable {
        /// It is awaited: nothing has been asked of the camera since that time.
        case since(Double)
        /// The camera is on its way to where a trace begins.
        case approachingTrace

        /// Whether it is one that a process leaves.
        var isPossible: Bool { if case .since(let time) = self { -1e15...1e15 ~= time } else { true } }
    }

    struct Moment: Codable {
        /// What the camera and its gestures are set to: they have it from here.
        private(set) var setup: CameraSetup {
            didSet { idleAfterMs = setup.idleAction?.afterMs }
        }
        /// How long it rests before its idle action; `nil` where it has none. Each line asks, and asking the setup, which has
        /// texts, took 160 instructions more.
        private(set) var idleAfterMs: Double?
        var camera: Camera
        var gestures = GestureTracker()
        /// The surfaces whose fingers are recognized here, in traces too.
        var surfaces: TouchSurfaces
        /// What moves the camera by itself, if anything does.
        var motion: CausedMotion? {
            didSet { nextTick = motion?.motion.nextFrame }
        }
        /// When its next step is due, on the camera's clock.
        private(set) var nextTick: Double?
        /// The position that subscribers know.
        var published: PrintedPosition
        /// Why the camera moves; `nil` when it is idle.
        var reason: MoveReason?
        var seq: UInt64 = 0
        /// The time of the last event: the next is not before it.
        var lastTime = 0.0
        /// How many `camera-changed` there have been since the camera was reset.
        var frames: UInt64 = 0
        /// How far its idle action has come; `nil` once that has begun, until something else is asked of the camera.
        var idling: Idling? = .since(0)

        /// A camera at rest, which subscribers see where it is.
        init(position: CameraPosition = .initial, _ setup: CameraSetup = CameraSetup(), limits: Limits) {
            let camera = Camera(position: position, setup)
            self.init(setup, camera, GestureTracker(setup.gestures), TouchSurfaces(limit: limits.cameraSurfaces))
        }

        init(
            _ setup: CameraSetup, _ camera: Camera, _ gestures: GestureTracker, _ surfaces: TouchSurfaces,
            motion: CausedMotion? = nil
        ) {
            (self.setup, self.camera, self.gestures, self.surfaces) = (setup, camera, gestures, surfaces)
            idleAfterMs = setup.idleAction?.afterMs
            (self.motion, nextTick) = (motion, motion?.motion.nextFrame)
            published = PrintedPosition(camera.position)
        }

        /// A camera as it was saved.
        init(_ saved: SavedCamera, limits: Limits) {
            self.init(position: saved.state.position, saved.state.setup, limits: limits)
            (seq, lastTime) = (UInt64(saved.state.seq), saved.clock)
        }

        /// Goes on in this process, with its limits; throws if no process leaves such a moment.
        mutating func adopt(_ limits: Limits) throws(StateDecoder.Damage) {
            guard setup.viewport.isPossible, surfaces.isPossible, -1e15...1e15 ~= lastTime,
                nextTick == motion?.motion.nextFrame, idleAfterMs == setup.idleAction?.afterMs,
                setup.idleAction?.isPossible ?? true, idling?.isPossible ?? true
            else { throw StateDecoder.Damage() }
            surfaces.limit = limits.cameraSurfaces
        }

        /// Sets the camera; it moves inside of new constraints at once.
        mutating func set(_ setup: CameraSetup) {
            self.setup = setup
            camera.set(setup)
            if gestures.settings != setup.gestures { gestures.set(setup.gestures) }
        }

        /// Whether nothing moves the camera and no gesture is active.
        var isAtRest: Bool { nextTick == nil && !gestures.isActive }

        /// When its idle action goes on, on the camera's clock, if nothing comes before; `nil` if it does not.
        var idleDue: Double? {
            guard let idleAfterMs, isAtRest, !surfaces.all.contains(where: \.isTouched) else {
                return nil
            }
            return switch idling {
            case .since(let time): max(time, lastTime) + idleAfterMs
            case .approachingTrace: lastTime
            case nil: nil
            }
        }

        /// Something is asked of the camera: what its idle action has moved stops there, and its idle time begins anew.
        ///
        /// - Returns: whether something was stopped.
        @inline(__always)
        mutating func wasUsed(at time: Double) -> Bool {
            idling = .since(time)
            guard nextTick != nil, let reason = motion?.reason, reason == .home || reason == .attract else {
                return false
            }
            motion = nil
            return true
        }

        /// Takes the next step of what moves by itself; says why that moves. `nil` if nothing does.
        mutating func step() -> MoveReason? {
            guard var next = motion else { return nil }
            motion = next.motion.step(&camera) ? next : nil
            return next.reason
        }

        /// The event that comes next.
        mutating func nextEvent(_ kind: Event.Kind, _ reason: MoveReason, at time: Double) -> Event {
            seq += 1
            lastTime = max(lastTime, time)
            return Event(kind: kind, seq: seq, timeMs: lastTime, reason: reason, position: published)
        }

        /// How many bytes it takes, roughly.
        var byteCount: Int {
            MemoryLayout<Self>.size + gestures.byteCount + surfaces.byteCount + (motion?.motion.byteCount ?? 0)
        }
    }
}
