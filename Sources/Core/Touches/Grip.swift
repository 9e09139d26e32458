// The fingers on a surface, as long as they are the same ones, and their movement since then. When a finger lands or
// lifts, another grip begins.

import MapCamera

/// What the fingers of a grip do.
enum Meaning: Int, Codable, Sendable {
    case pan
    case transform
    case tilt
    case oneFingerZoom
}

/// The fingers that are down.
struct Grip: Codable, Sendable {
    struct Finger: Codable, Sendable {
        let id: Int
        let start: ScreenPoint
        var position: ScreenPoint

        var translation: ScreenPoint { position - start }
    }

    /// What the fingers have moved.
    var moved = Movement()
    var fingers: [Finger]
    /// The shortest distance that two fingers had, in points.
    var smallestSpan = 0.0
    /// Since when one finger moves as in a tilt while the other rests; milliseconds.
    var leadsSince: Double?

    init(_ touches: [Touch] = []) {
        fingers = touches.map { Finger(id: $0.id, start: $0.position, position: $0.position) }
        smallestSpan = span
    }

    var count: Int { fingers.count }

    func contains(_ id: Int) -> Bool { fingers.contains { $0.id == id } }

    /// Touches in the order of the grip's fingers, if these are the same fingers, wherever they are; otherwise `nil`.
    func order(_ touches: [Touch]) -> [Touch]? {
        guard touches.count == fingers.count else { return nil }
        if zip(touches, fingers).allSatisfy({ $0.id == $1.id }) { return touches }
        var ordered: [Touch] = []
        for finger in fingers {
            guard let touch = touches.first(where: { $0.id == finger.id }) else { return nil }
            ordered.append(touch)
        }
        return ordered
    }

    /// Where the fingers are.
    var touches: [Touch] { fingers.map { Touch(id: $0.id, position: $0.position) } }

    /// How far the finger is from where it landed that is farthest, in points.
    var reach: Double { fingers.reduce(0) { max($0, length($1.translation)) } }

    /// The mean of the fingers.
    var centroid: ScreenPoint {
        let sum = fingers.reduce(ScreenPoint(x: 0, y: 0)) { $0 + $1.position }
        let count = Double(max(fingers.count, 1))
        return ScreenPoint(x: sum.x / count, y: sum.y / count)
    }

    /// From the first of two fingers to the second.
    private var between: ScreenPoint { fingers[1].position - fingers[0].position }

    /// The distance of two fingers in points; where they touch each other, they have one of 8.
    private var span: Double { fingers.count == 2 ? max(length(between), 8) : 0 }

    /// The direction from one finger to the other in degrees, clockwise since y points down.
    private var angle: Double { fingers.count == 2 ? Elementary.atan2(y: between.y, x: between.x) : 0 }

    /// Moves the fingers, and adds up what that is.
    ///
    /// - Parameters:
    ///   - touches: the same fingers.
    ///   - rotates: whether the angle between two fingers can be trusted.
    /// - Returns: how far the finger went that went farthest, in points.
    mutating func move(to touches: [Touch], rotates: Bool) -> Double {
        let (centroid, span, angle) = (self.centroid, self.span, self.angle)
        var farthest = 0.0
        for index in fingers.indices {
            farthest = max(farthest, length(touches[index].position - fingers[index].position))
            fingers[index].position = touches[index].position
        }
        moved.translation = moved.translation + (self.centroid - centroid)
        guard fingers.count == 2 else { return farthest }
        smallestSpan = min(smallestSpan, self.span)
        moved.levels += Elementary.log2(self.span / span)
        if rotates { moved.rotation += wrap180(self.angle - angle) * (.pi / 180) }
        return farthest
    }

    // MARK: What it means

    /// What one finger or many do; `nil` until they have moved far enough.
    ///
    /// - Parameter follows: whether a tap went right before, so that the finger may zoom.
    func meaning(afterTap follows: Bool, _ thresholds: Thresholds) -> Meaning? {
        guard length(moved.translation) >= thresholds.slop else { return nil }
        return follows && fingers.count == 1 && isVertical(moved.translation) ? .oneFingerZoom : .pan
    }

    /// What two fingers do that were never more; `nil` until they have moved far enough, or while the second may still
    /// follow the first into a tilt.
    mutating func meaningOfTwo(at time: Double, _ thresholds: Thresholds) -> Meaning? {
        let rotates = arc(of: moved) >= thresholds.arc
        if rotates || abs(moved.levels) >= thresholds.pinch { return .transform }
        guard length(moved.translation) >= thresholds.twoFingerSlop else { return nil }

        let between = fingers[1].start - fingers[0].start
        guard abs(between.x) > abs(between.y) else { return .transform }
        let (first, second) = (fingers[0].translation, fingers[1].translation)
        let (moves, follows) = (hasMoved(first, thresholds), hasMoved(second, thresholds))
        // A moving finger has to go up or down.
        guard !moves || isVertical(first), !follows || isVertical(second) else { return .transform }
        if moves, follows { return (first.y > 0) == (second.y > 0) ? .tilt : .transform }
        let since = leadsSince ?? time
        leadsSince = since
        return time - since < thresholds.tiltGrace ? nil : .transform
    }

    /// What two fingers that tilt do further: still the same, if they have gone up or down together, but pinch and rotate
    /// once they have gone as far apart, towards or around each other; `nil` until they have moved far enough.
    ///
    /// - Parameter since: what had been moved when they last tilted.
    func meaningOfTilt(since: Movement, _ thresholds: Thresholds) -> Meaning? {
        let further = moved - since
        if abs(further.translation.y) >= thresholds.twoFingerSlop { return .tilt }
        let apart = abs(span - span / Elementary.exp2(further.levels)) / 2
        return max(apart, arc(of: further)) >= thresholds.twoFingerSlop ? .transform : nil
    }

    /// The arc that each of two fingers goes in a rotation, on the smallest circle that they were on, in points.
    private func arc(of movement: Movement) -> Double { abs(movement.rotation) * smallestSpan / 2 }

    private func hasMoved(_ translation: ScreenPoint, _ thresholds: Thresholds) -> Bool {
        length(translation) >= thresholds.tiltMove
    }
}

private func length(_ vector: ScreenPoint) -> Double { Elementary.hypot(vector.x, vector.y) }

private func isVertical(_ vector: ScreenPoint) -> Bool { abs(vector.y) > abs(vector.x) }
