// Fingers on a surface at one instant, in points of the viewport in which the map is shown.

import MapCamera

/// One finger on the surface.
public struct Touch: Equatable, Sendable {
    /// Identifies the finger from landing to lifting. A later finger may have the same number.
    public var id: Int
    /// The position, in points from the top-left corner of the viewport.
    public var position: ScreenPoint

    /// Creates a finger at a position.
    public init(id: Int, position: ScreenPoint) {
        self.id = id
        self.position = position
    }
}

/// All fingers on the surface at one instant.
public struct TouchFrame: Equatable, Sendable {
    /// Milliseconds of the recorder's clock, which never decrease from frame to frame.
    public var timeMs: Double
    /// The fingers that are down. A finger of the frame before that is missing here has lifted.
    public var touches: [Touch]
    /// Whether the fingers that were down before are lost rather than lifted: their gestures are cancelled.
    public var isCancelled: Bool

    /// Creates a frame of fingers.
    public init(timeMs: Double, touches: [Touch], isCancelled: Bool = false) {
        self.timeMs = timeMs
        self.touches = touches
        self.isCancelled = isCancelled
    }
}
