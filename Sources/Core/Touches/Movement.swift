// What fingers do together, as the three things that a map can follow: they move on, go apart, and turn around each other.

import MapCamera

/// What a grip has moved, or a part of it.
struct Movement: Codable, Sendable {
    /// Points, of the mean of its fingers.
    var translation = ScreenPoint(x: 0, y: 0)
    /// Zoom levels: how often the distance of two fingers has doubled.
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

/// What fingers had moved before they were recognized. The map follows later, as they move on.
struct Slack: Codable, Sendable {
    /// What the map is still behind by.
    private(set) var remaining = Movement()
    /// How far the fingers had come, in points.
    let reach: Double
    let whole: Movement
    /// The part of ``whole`` that remains, from 1 to 0.
    private(set) var share: Double {
        didSet { remaining = whole * share }
    }

    /// No slack.
    init() { self.init(Movement(), reach: 0) }

    /// What fingers had moved, and how far the one had come that went farthest.
    init(_ movement: Movement, reach: Double) {
        whole = movement
        self.reach = reach
        share = reach > 0 ? 1 : 0
        remaining = whole * share
    }

    var isEmpty: Bool { share == 0 }

    /// Lets the map catch up: as fast as the fingers move, or else within a time. A pause counts as a frame of 20 ms, so
    /// that it does not become a leap.
    ///
    /// - Parameters:
    ///   - step: how far the finger went that went farthest, in points.
    ///   - elapsed: milliseconds since the frame before.
    ///   - longest: how long it takes at the most, in milliseconds.
    mutating func catchUp(step: Double, elapsed: Double, longest: Double) {
        guard !isEmpty else { return }
        share = max(0, share - max(step / reach, min(max(elapsed, 0), 20) / longest))
    }
}
