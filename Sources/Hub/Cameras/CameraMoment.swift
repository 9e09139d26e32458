// All that determines what a camera does next and what its events say, as a value: who goes on from a moment sends the same
// bytes as who never stopped. Replays keep such moments, and land on them.
// Invariant: it is taken between batches, so nothing is pending in it.

import Gestures
import MapCamera
import GimbalProtocol
import Touches

extension HostedCamera {
    struct Moment {
        var camera = Camera()
        var gestures = GestureTracker()
        var activeGestures = 0
        var surfaces: TouchSurfaces
        var motion: Motion?
        var motionReason = MoveReason.animation
        /// The position that subscribers know.
        var published: PrintedPosition
        /// Why the camera moves; `nil` when it is idle.
        var reason: MoveReason?
        var seq: UInt64 = 0
        /// The time of the last event.
        var lastTime = 0.0
        /// How many `camera-changed` there have been since the camera was reset.
        var frames: UInt64 = 0

        /// The camera that a trace begins with.
        init(_ header: TraceHeader, limits: Limits) {
            surfaces = TouchSurfaces(limit: limits.cameraSurfaces)
            camera = Camera(position: header.position, viewport: header.viewport, constraints: header.constraints)
            gestures.set(header.gestures.applied(to: GestureSettings()))
            published = PrintedPosition(camera.position)
        }

        init(
            _ camera: Camera, _ gestures: GestureTracker, _ activeGestures: Int, _ surfaces: TouchSurfaces,
            _ motion: Motion?, _ motionReason: MoveReason, _ published: PrintedPosition, _ reason: MoveReason?,
            _ seq: UInt64, _ lastTime: Double, _ frames: UInt64
        ) {
            (self.camera, self.gestures, self.activeGestures) = (camera, gestures, activeGestures)
            self.surfaces = surfaces
            (self.motion, self.motionReason, self.published) = (motion, motionReason, published)
            (self.reason, self.seq, self.lastTime, self.frames) = (reason, seq, lastTime, frames)
        }

        /// How many bytes it takes, roughly.
        var byteCount: Int { MemoryLayout<Self>.size + gestures.byteCount + surfaces.byteCount }
    }
}
