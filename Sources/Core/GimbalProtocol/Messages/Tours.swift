// `tour` (schema: client.tour): a camera's way through keyframes, one after the other.

import JSONLines
import MapCamera

/// A place on a tour: where the camera comes to, how, and how long it stays.
public struct TourKeyframe: Equatable, Sendable {
    /// How the camera gets to a keyframe from the one before.
    public enum Path: String, CaseIterable, Sendable, ProtocolWord {
        /// On a smooth line through this keyframe and its neighbours, which does not stop at one without a wait.
        case smooth
        /// Each value for itself, as an animation goes.
        case straight
        /// Out, over and in, as a flight goes.
        case flight
    }

    /// Where the camera comes to.
    public var position: CameraPosition
    /// How long it takes to get there, 0 to 3,600,000 ms; `nil` is as long as the flight asks for, which is for flights alone.
    public var durationMs: Double?
    /// How long it stays, 0 to 3,600,000 ms.
    public var waitMs: Double
    /// How it gets there.
    public var path: Path
    /// The pace on a straight path or a flight.
    public var easing: EasingName
    /// Full turns of the bearing on the way, beside the shortest way to the new one; clockwise where they are positive.
    public var turns: Int

    /// A keyframe; without a duration, its path is a flight.
    public init(
        _ position: CameraPosition, durationMs: Double? = nil, waitMs: Double = 0, path: Path? = nil,
        easing: EasingName = .default, turns: Int = 0
    ) {
        (self.position, self.durationMs, self.waitMs) = (position, durationMs, waitMs)
        self.path = path ?? (durationMs == nil ? .flight : .smooth)
        (self.easing, self.turns) = (easing, turns)
    }
}
