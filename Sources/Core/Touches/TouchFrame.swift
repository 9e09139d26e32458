// Fingers on a surface at one instant, in points of the viewport that the map is shown in.

import MapCamera

/// One finger on the surface.
public struct Touch: Equatable, Sendable {
    /// Tells fingers apart from landing to lifting. A number may be used again later by another finger.
    public var id: Int
    /// Where it is, in points from the top-left corner of the viewport.
    public var position: ScreenPoint

    /// A finger and where it is.
    public init(id: Int, position: ScreenPoint) {
        self.id = id
        self.position = position
    }
}

/// All fingers on the surface at one instant.
public struct TouchFrame: Equatable, Sendable {
    /// Milliseconds of the recorder's clock; never less than the frame's before.
    public var timeMs: Double
    /// The fingers that are down. One that was there in the frame before and is not now has lifted.
    public var touches: [Touch]
    /// Whether the fingers that were down before are lost and not lifted: what they did is cancelled.
    public var isCancelled: Bool

    /// A frame of fingers.
    public init(timeMs: Double, touches: [Touch], isCancelled: Bool = false) {
        self.timeMs = timeMs
        self.touches = touches
        self.isCancelled = isCancelled
    }
}
