// The fingers on a surface as long as the set of fingers is the same, and their movement in that time. When a finger
// lands or lifts, a new grip begins.

import MapCamera

/// The gesture that the fingers of a grip perform.
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

    /// The movement of the fingers.
    var moved = Movement()
    var fingers: [Finger]
    /// The smallest distance between the two fingers, in points.
    var smallestSpan = 0.0
    /// The time since which one finger has moved as in a tilt while the other rests, in milliseconds.
    var leadsSince: Double?

    init(_ touches: [Touch] = []) {
        fingers = touches.map { Finger(id: $0.id, start: $0.position, position: $0.position) }
        smallestSpan = span
    }

    var count: Int { fingers.count }

    func contains(_ id: Int) -> Bool { fingers.contains { $0.id == id } }

    /// Returns the touches in the order of the grip's fingers; `nil` if they are not the same fingers.
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

    /// The fingers and their positions.
    var touches: [Touch] { fingers.map { Touch(id: $0.id, position: $0.position) } }

    /// The distance from its start of the finger that has moved farthest, in points.
    var reach: Double { fingers.reduce(0) { max($0, length($1.translation)) } }

    /// The mean of the fingers' positions.
    var centroid: ScreenPoint {
        let sum = fingers.reduce(ScreenPoint(x: 0, y: 0)) { $0 + $1.position }
        let count = Double(max(fingers.count, 1))
        return ScreenPoint(x: sum.x / count, y: sum.y / count)
    }

    /// The vector from the first of two fingers to the second.
    private var between: ScreenPoint { fingers[1].position - fingers[0].position }

    /// The distance between two fingers, in points: at least 8, even where they touch.
    private var span: Double { fingers.count == 2 ? max(length(between), 8) : 0 }

    /// The direction from the first finger to the second in degrees, clockwise since y points down.
    private var angle: Double { fingers.count == 2 ? Elementary.atan2(y: between.y, x: between.x) : 0 }

    /// Moves the fingers, and adds to their movement.
    ///
    /// - Parameters:
    ///   - touches: the same fingers.
    ///   - rotates: whether the angle between two fingers can be trusted.
    /// - Returns: the longest distance that a finger moved, in points.
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

    // MARK: Meaning

    /// Returns the gesture of one finger, or of more than two; `nil` until they have moved far enough.
    ///
    /// - Parameter follows: whether the finger landed right after a tap, so that it may zoom.
    func meaning(afterTap follows: Bool, _ thresholds: Thresholds) -> Meaning? {
        guard length(moved.translation) >= thresholds.slop else { return nil }
        return follows && fingers.count == 1 && isVertical(moved.translation) ? .oneFingerZoom : .pan
    }

    /// Returns the gesture of two fingers that were never more; `nil` until they have moved far enough, or while the
    /// second may still follow the first into a tilt.
    mutating func meaningOfTwo(at time: Double, _ thresholds: Thresholds) -> Meaning? {
        let rotates = arc(of: moved) >= thresholds.arc
        if rotates || abs(moved.levels) >= thresholds.pinch { return .transform }
        guard length(moved.translation) >= thresholds.twoFingerSlop else { return nil }

        let between = fingers[1].start - fingers[0].start
        guard abs(between.x) > abs(between.y) else { return .transform }
        let (first, second) = (fingers[0].translation, fingers[1].translation)
        let (moves, follows) = (hasMoved(first, thresholds), hasMoved(second, thresholds))
        // A moving finger of a tilt has to go up or down.
        guard !moves || isVertical(first), !follows || isVertical(second) else { return .transform }
        if moves, follows { return (first.y > 0) == (second.y > 0) ? .tilt : .transform }
        let since = leadsSince ?? time
        leadsSince = since
        return time - since < thresholds.tiltGrace ? nil : .transform
    }

    /// Returns how two tilting fingers continue: as a tilt if they have gone up or down together, as pinch and rotation
    /// once they have gone as far apart, together or around each other; `nil` until they have moved far enough.
    ///
    /// - Parameter since: the movement when they last tilted.
    func meaningOfTilt(since: Movement, _ thresholds: Thresholds) -> Meaning? {
        let further = moved - since
        if abs(further.translation.y) >= thresholds.twoFingerSlop { return .tilt }
        let apart = abs(span - span / Elementary.exp2(further.levels)) / 2
        return max(apart, arc(of: further)) >= thresholds.twoFingerSlop ? .transform : nil
    }

    /// Returns the arc of each of two fingers in a rotation, on the smallest circle that they were on, in points.
    private func arc(of movement: Movement) -> Double { abs(movement.rotation) * smallestSpan / 2 }

    private func hasMoved(_ translation: ScreenPoint, _ thresholds: Thresholds) -> Bool {
        length(translation) >= thresholds.tiltMove
    }
}

private func length(_ vector: ScreenPoint) -> Double { Elementary.hypot(vector.x, vector.y) }

private func isVertical(_ vector: ScreenPoint) -> Bool { abs(vector.y) > abs(vector.x) }
