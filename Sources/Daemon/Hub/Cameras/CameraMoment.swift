// All that determines what a camera does next and what its events say, as a value: a camera restored from a moment
// sends the same bytes as one that never stopped. A camera of the hub has one; replays keep copies of it, and land on
// them.
// Invariant: a copy is taken between batches, so nothing is pending in it.

import Gestures
import MapCamera
import GimbalProtocol
import Touches

/// What goes on by itself, and why.
struct CausedMotion {
    var motion: Motion
    let reason: MoveReason

    init(_ motion: Motion, by reason: MoveReason) { (self.motion, self.reason) = (motion, reason) }
}

extension HostedCamera {
    struct Moment {
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

        /// A camera at rest, which subscribers see where it is.
        init(_ camera: Camera, limits: Limits) {
            self.init(camera, GestureTracker(), TouchSurfaces(limit: limits.cameraSurfaces))
        }

        init(
            _ camera: Camera, _ gestures: GestureTracker, _ surfaces: TouchSurfaces, motion: CausedMotion? = nil
        ) {
            (self.camera, self.gestures, self.surfaces) = (camera, gestures, surfaces)
            (self.motion, nextTick) = (motion, motion?.motion.nextFrame)
            published = PrintedPosition(camera.position)
        }

        /// The camera that a trace begins with.
        init(_ header: TraceHeader, limits: Limits) {
            let camera = Camera(position: header.position, viewport: header.viewport, constraints: header.constraints)
            self.init(camera, limits: limits)
            gestures.set(header.gestures.applied(to: GestureSettings()))
        }

        /// A camera as it was saved.
        init(_ saved: SavedCamera, limits: Limits) {
            self.init(saved.state.camera, limits: limits)
            gestures.set(saved.state.gestures)
            (seq, lastTime) = (saved.state.seq, saved.clock)
        }

        /// Whether nothing moves the camera and no gesture is active.
        var isAtRest: Bool { nextTick == nil && !gestures.isActive }

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
        var byteCount: Int { MemoryLayout<Self>.size + gestures.byteCount + surfaces.byteCount }
    }
}
