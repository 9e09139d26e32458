// The progress of an animation: a cubic Bézier curve from (0, 0) to (1, 1), as in CSS.

/// The pace of an animation. (Core Animation: `CAMediaTimingFunction`; CSS: `cubic-bezier`.)
public struct Easing: Equatable, Codable, Sendable {
    private let x1, y1, x2, y2: Double

    /// Creates a curve with two control points, whose x is clamped to [0, 1].
    public init(x1: Double, y1: Double, x2: Double, y2: Double) {
        (self.x1, self.y1, self.x2, self.y2) = (x1.clamped(to: 0...1), y1, x2.clamped(to: 0...1), y2)
    }

    /// Fast at the start: cubic-bezier(.25, .1, .25, 1).
    public static let `default` = Easing(x1: 0.25, y1: 0.1, x2: 0.25, y2: 1)
    /// Constant speed.
    public static let linear = Easing(x1: 0, y1: 0, x2: 1, y2: 1)
    /// Slow at the start: cubic-bezier(.42, 0, 1, 1).
    public static let easeIn = Easing(x1: 0.42, y1: 0, x2: 1, y2: 1)
    /// Slow at the end: cubic-bezier(0, 0, .58, 1).
    public static let easeOut = Easing(x1: 0, y1: 0, x2: 0.58, y2: 1)
    /// Slow at both ends: cubic-bezier(.42, 0, .58, 1).
    public static let easeInOut = Easing(x1: 0.42, y1: 0, x2: 0.58, y2: 1)

    /// Returns the eased progress at a fraction of the time, both in [0, 1].
    public func progress(at time: Double) -> Double {
        if time <= 0 { return 0 }
        if time >= 1 { return 1 }
        if self == .linear { return time }
        return Self.bezier(parameter(at: time), y1, y2)
    }

    /// Returns the curve's parameter where its x is `time`. x grows with the parameter, so bisection finds it.
    private func parameter(at time: Double) -> Double {
        var (low, high) = (0.0, 1.0)
        for _ in 0..<54 {
            let middle = (low + high) / 2
            if Self.bezier(middle, x1, x2) < time { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    private static func bezier(_ t: Double, _ a: Double, _ b: Double) -> Double {
        let s = 1 - t
        return 3 * s * s * t * a + 3 * s * t * t * b + t * t * t
    }
}
