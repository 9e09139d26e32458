// How far fingers move before they are recognized. Points are those of a screen with 160 to the inch, as Android's dp
// are; an iPhone's differ by a few per cent.

/// The thresholds of a ``GestureRecognizer``.
public struct Thresholds: Equatable, Codable, Sendable {
    /// How far a finger, or the mean of more than two, moves before it is a pan, in points. (UIKit's pan recognizer
    /// begins at 10; Android's `ViewConfiguration.getScaledTouchSlop` is 8.)
    public var slop = 10.0
    /// How far the mean of two fingers moves before it is a tilt, or a pan by two, in points: two resting fingers roll
    /// more than one. A tilt turns into a pinch when the fingers move this far apart, together or around each other
    /// instead. (Mapbox Gestures for Android takes 16 for a shove.)
    public var twoFingerSlop = 16.0
    /// How far two fingers zoom before it is a pinch, in levels. (MapLibre GL JS: 0.1.)
    public var pinch = 0.1
    /// How far two fingers turn before it is a rotation: the arc of each on the smallest circle that they were on, in
    /// points. (MapLibre GL JS: 25.)
    public var arc = 25.0
    /// How long one of two fingers may rest while the other moves and still make it a tilt, in milliseconds. (MapLibre
    /// GL JS: 100.)
    public var tiltGrace = 100.0
    /// How far a finger moves before it counts as moving in a tilt, in points. (MapLibre GL JS: 2.)
    public var tiltMove = 2.0
    /// How long a tap lasts at most, and how soon a second one must follow it, in milliseconds. (Android's
    /// `ViewConfiguration.getDoubleTapTimeout`: 300.)
    public var tapTime = 300.0
    /// How far apart the two taps of a double tap are at most, in points. (Android's
    /// `ViewConfiguration.getScaledDoubleTapSlop`: 100.)
    public var tapDistance = 100.0
    /// How long the map takes at most, while fingers are reported, to catch up with the movement before recognition, in
    /// milliseconds.
    public var catchUp = 150.0

    /// Creates the thresholds of the platforms and libraries that the members name.
    public init() {}
}
