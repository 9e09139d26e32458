// The joint movement of fingers, in the three parts that a map can follow: translation, distance and rotation.

import MapCamera

/// The movement of a grip, or a part of it.
struct Movement: Codable, Sendable {
    /// The movement of the fingers' mean, in points.
    var translation = ScreenPoint(x: 0, y: 0)
    /// Zoom levels: how many times the distance between two fingers has doubled.
    var levels = 0.0
    /// Radians, clockwise.
    var rotation = 0.0

    static func - (a: Movement, b: Movement) -> Movement {
        Movement(
            translation: a.translation - b.translation, levels: a.levels - b.levels, rotation: a.rotation - b.rotation)
    }

    static func * (a: Movement, factor: Double) -> Movement {
        Movement(
            translation: ScreenPoint(x: a.translation.x * factor, y: a.translation.y * factor),
            levels: a.levels * factor, rotation: a.rotation * factor)
    }
}

/// The movement of fingers before they were recognized. The map catches up with it as they move on.
struct Slack: Codable, Sendable {
    /// The movement that the map has yet to catch up with.
    private(set) var remaining = Movement()
    /// How far the fingers had moved, in points.
    let reach: Double
    let whole: Movement
    /// The part of ``whole`` that remains, from 1 to 0.
    private(set) var share: Double {
        didSet { remaining = whole * share }
    }

    /// Creates an empty slack.
    init() { self.init(Movement(), reach: 0) }

    /// Creates the slack for a movement; the reach is the distance of the finger that has moved farthest.
    init(_ movement: Movement, reach: Double) {
        whole = movement
        self.reach = reach
        share = reach > 0 ? 1 : 0
        remaining = whole * share
    }

    var isEmpty: Bool { share == 0 }

    /// Lets the map catch up as fast as the fingers move, and within a time at most. A pause counts as a frame of 20
    /// ms, so that it causes no jump.
    ///
    /// - Parameters:
    ///   - step: the longest distance that a finger moved, in points.
    ///   - elapsed: milliseconds since the frame before.
    ///   - longest: how long catching up takes at most, in milliseconds.
    mutating func catchUp(step: Double, elapsed: Double, longest: Double) {
        guard !isEmpty else { return }
        share = max(0, share - max(step / reach, min(max(elapsed, 0), 20) / longest))
    }
}
