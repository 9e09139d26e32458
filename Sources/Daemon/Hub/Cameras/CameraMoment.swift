// Everything that determines what a camera does next and what its events say, as a value: a camera restored from a
// moment sends the same bytes as one that never stopped. Each camera has one; replays keep copies to return to.
// Invariant: a copy is taken between batches, so nothing is pending in it.

import Gestures
import MapCamera
import GimbalProtocol
import Touches

/// A motion, and why it runs.
struct CausedMotion: Codable {
    var motion: Motion
    let reason: MoveReason
}

extension HostedCamera {
    /// The progress of a camera's idle action.
    enum Idling: Codable {
        /// The action is awaited: nothing has been asked of the camera since that time.
        case since(Double)
        /// The camera is on its way to where a trace begins.
        case approachingTrace

        /// Whether the value is valid; values from another process are checked.
        var isPossible: Bool { if case .since(let time) = self { -1e15...1e15 ~= time } else { true } }
    }

    struct Moment: Codable {
        /// The setup of the camera and its gestures, which take it from here.
        private(set) var setup: CameraSetup {
            didSet { idleAfterMs = setup.idleAction?.afterMs }
        }
        /// How long it rests before its idle action; `nil` without one. Each line reads this; reading the setup
        /// instead, which contains strings, took 160 instructions more.
        private(set) var idleAfterMs: Double?
        var camera: Camera
        var gestures: GestureTracker
        /// The surfaces whose fingers are recognized here, also in traces.
        var surfaces: TouchSurfaces
        /// What moves the camera by itself, if anything does.
        var motion: CausedMotion? {
            didSet { nextTick = motion?.motion.nextFrame }
        }
        /// When the motion's next frame is due, on the camera's clock.
        private(set) var nextTick: Double?
        /// The position that subscribers know.
        var published: PrintedPosition
        /// Why the camera moves; `nil` when it is idle.
        var reason: MoveReason?
        var seq: UInt64 = 0
        /// The time of the last event; the next event is not earlier.
        var lastTime = 0.0
        /// The number of `camera-changed` events since the camera was made, or since its last replay began a round. A
        /// seek sets it to what an unbroken replay would have.
        var frames: UInt64 = 0
        /// The progress of its idle action; `nil` once that has begun, until something else is asked of the camera.
        var idling: Idling? = .since(0)

        /// Creates the moment of a camera at rest, whose position subscribers know.
        init(position: CameraPosition = .initial, _ setup: CameraSetup = CameraSetup(), limits: Limits) {
            (self.setup, idleAfterMs) = (setup, setup.idleAction?.afterMs)
            camera = Camera(position: position, setup)
            (gestures, surfaces) = (GestureTracker(setup.gestures), TouchSurfaces(limit: limits.cameraSurfaces))
            published = PrintedPosition(camera.position)
        }

        /// Creates the moment of a saved camera.
        init(_ saved: SavedCamera, limits: Limits) {
            self.init(position: saved.state.position, saved.state.setup, limits: limits)
            (seq, lastTime) = (UInt64(saved.state.seq), saved.clock)
        }

        /// Adopts the limits of this process; throws if the moment is invalid.
        mutating func adopt(_ limits: Limits) throws(StateDecoder.Damage) {
            guard setup.isPossible, surfaces.isPossible, -1e15...1e15 ~= lastTime,
                nextTick == motion?.motion.nextFrame, idleAfterMs == setup.idleAction?.afterMs,
                idling?.isPossible ?? true
            else { throw StateDecoder.Damage() }
            surfaces.limit = limits.cameraSurfaces
        }

        /// Changes the setup; the camera moves into new constraints at once.
        mutating func set(_ setup: CameraSetup) {
            self.setup = setup
            camera.set(setup)
            if gestures.settings != setup.gestures { gestures.set(setup.gestures) }
        }

        /// Whether nothing moves the camera and no gesture is active.
        var isAtRest: Bool { nextTick == nil && !gestures.isActive }

        /// When its idle action is due, on the camera's clock, unless something else happens first; `nil` if it is not.
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

        /// Notes that something is asked of the camera: stops a motion of its idle action, and restarts its idle time.
        ///
        /// - Returns: whether a motion was stopped.
        @inline(__always)
        mutating func wasUsed(at time: Double) -> Bool {
            idling = .since(time)
            guard nextTick != nil, let reason = motion?.reason, reason == .home || reason == .attract else {
                return false
            }
            motion = nil
            return true
        }

        /// Takes the next step of its motion, and returns the motion's reason; `nil` without a motion.
        mutating func step() -> MoveReason? {
            guard var next = motion else { return nil }
            motion = next.motion.step(&camera) ? next : nil
            return next.reason
        }

        /// Numbers and returns the next event.
        mutating func nextEvent(_ kind: Event.Kind, _ reason: MoveReason, at time: Double) -> Event {
            seq += 1
            lastTime = max(lastTime, time)
            return Event(kind: kind, seq: seq, timeMs: lastTime, reason: reason, position: published)
        }

        /// Its approximate size in bytes.
        var byteCount: Int {
            MemoryLayout<Self>.size + gestures.byteCount + surfaces.byteCount + (motion?.motion.byteCount ?? 0)
        }
    }
}
