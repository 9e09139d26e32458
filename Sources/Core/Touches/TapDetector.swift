// Detects taps: fingers that land, rest and lift, from the first that lands to the last that lifts. A double tap by one
// finger and a tap by two are gestures; a tap right after a tap may be the second of a double tap.

import Gestures
import MapCamera

/// Follows the fingers of a surface, and detects taps.
struct TapDetector: Codable, Sendable {
    struct Session: Codable, Sendable {
        let start: Double
        /// Where the first finger landed, or the middle of the first two.
        var position: ScreenPoint
        var mostFingers = 0
        var isTap = true
        /// The position of a tap right before, if this may be the second one.
        var firstTap: ScreenPoint?
    }

    struct Tap: Codable, Sendable {
        let time: Double
        let position: ScreenPoint
    }

    private let thresholds: Thresholds
    /// Lasts from the first finger that lands to the last that lifts.
    private var session: Session?
    private(set) var lastTap: Tap?

    init(_ thresholds: Thresholds) { self.thresholds = thresholds }

    /// The most fingers that have been down at one time since the first of them landed.
    var mostFingers: Int { session?.mostFingers ?? 0 }
    /// The position of a tap right before these fingers landed.
    var firstTap: ScreenPoint? { session?.firstTap }

    /// Whether an earlier tap matters to fingers that land at a time.
    func remembers(at time: Double) -> Bool {
        lastTap.map { time - $0.time <= thresholds.tapTime } ?? false
    }

    /// Handles a changed set of fingers, which is not empty.
    mutating func change(_ touches: [Touch], centroid: ScreenPoint, at time: Double) {
        var session = self.session ?? begin(touches[0].position, at: time)
        session.mostFingers = max(session.mostFingers, touches.count)
        if touches.count == 2, session.mostFingers == 2 { session.position = centroid }
        self.session = session
    }

    private mutating func begin(_ position: ScreenPoint, at time: Double) -> Session {
        var session = Session(start: time, position: position)
        guard let lastTap else { return session }
        let distance = Elementary.hypot(position.x - lastTap.position.x, position.y - lastTap.position.y)
        if time - lastTap.time <= thresholds.tapTime, distance <= thresholds.tapDistance {
            session.firstTap = lastTap.position
        }
        self.lastTap = nil
        return session
    }

    /// Notes that the fingers have moved too far for a tap.
    mutating func exclude() { session?.isTap = false }

    /// Handles the lifting of the last finger.
    ///
    /// - Returns: the gesture that this completes, if any.
    mutating func lift(at time: Double) -> GestureEvent? {
        defer { session = nil }
        guard let session, session.isTap, time - session.start <= thresholds.tapTime else { return nil }
        switch (session.mostFingers, session.firstTap) {
        case (1, let position?): return GestureEvent(.doubleTap, .ended, focus: position)
        case (1, nil): lastTap = Tap(time: time, position: session.position)
        case (2, _): return GestureEvent(.twoFingerTap, .ended, focus: session.position)
        default: break
        }
        return nil
    }

    /// Forgets the fingers, which are lost, and the tap before.
    mutating func cancel() {
        session = nil
        lastTap = nil
    }
}
