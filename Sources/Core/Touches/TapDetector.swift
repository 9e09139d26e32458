// Taps: fingers that land, rest and lift, from the first that lands to the last that lifts. One finger that taps twice and
// two that tap once are gestures; what comes right after one tap may be the second.

import Gestures
import MapCamera

/// Follows the fingers of a surface, and tells which have tapped.
struct TapDetector: Codable, Sendable {
    struct Session: Codable, Sendable {
        let start: Double
        /// Where the first finger landed, or the middle of the first two.
        var position: ScreenPoint
        var mostFingers = 0
        var isTap = true
        /// Where the first of two taps was, if this may be the second.
        var firstTap: ScreenPoint?
    }

    struct Tap: Codable, Sendable {
        let time: Double
        let position: ScreenPoint
    }

    private let thresholds: Thresholds
    /// From the first finger that lands to the last that lifts.
    private var session: Session?
    private(set) var lastTap: Tap?

    init(_ thresholds: Thresholds) { self.thresholds = thresholds }

    /// How many fingers have been down at one time since the first of them landed.
    var mostFingers: Int { session?.mostFingers ?? 0 }
    /// Where a finger tapped right before these landed.
    var firstTap: ScreenPoint? { session?.firstTap }

    /// Whether a tap before matters to fingers that land at a time.
    func remembers(at time: Double) -> Bool {
        lastTap.map { time - $0.time <= thresholds.tapTime } ?? false
    }

    /// Fingers are down that were not, or fewer than before.
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

    /// The fingers have moved too far for a tap.
    mutating func exclude() { session?.isTap = false }

    /// The last finger has lifted.
    ///
    /// - Returns: the gesture that this makes, if any.
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

    /// The fingers are lost.
    mutating func cancel() {
        session = nil
        lastTap = nil
    }
}
