// The last 100 ms of a gesture. Holds at most 512 samples; a finger that reports faster than that has its window shortened.

import MapCamera

/// The samples of a gesture that its velocity is measured from.
package struct SampleWindow: Sendable {
    private struct Sample {
        var time: Double
        var value: ScreenPoint
    }

    /// No velocity is greater on either axis, in units per second, however short the time was that it is measured over:
    /// the greatest that a gesture line can carry.
    private static let greatestSpeed = 1e9
    /// Milliseconds back from the end.
    private static let span = 100.0
    private static let capacity = 512

    private var samples: [Sample] = []
    private var oldest = 0
    /// Whether the samples carry the reporter's own times. One that does otherwise starts the window anew.
    private var hasOwnTimes: Bool?

    package init() {}

    package mutating func append(_ value: ScreenPoint, at own: Double?, arrival: Double) {
        if hasOwnTimes != (own != nil) {
            hasOwnTimes = own != nil
            samples.removeAll(keepingCapacity: true)
            oldest = 0
        }
        let time = own ?? arrival
        while oldest < samples.count, samples[oldest].time < time - Self.span { oldest += 1 }
        if samples.count - oldest >= Self.capacity { oldest += 1 }
        if oldest == samples.count || oldest >= Self.capacity {
            samples.removeFirst(oldest)
            oldest = 0
        }
        samples.append(Sample(time: time, value: value))
    }

    /// The change per second since the oldest sample of the last 100 ms; `nil` if there is none, or no time has passed.
    package func velocity(of value: ScreenPoint, at own: Double?, arrival: Double) -> ScreenPoint? {
        guard hasOwnTimes == (own != nil) else { return nil }
        let time = own ?? arrival
        guard let first = samples[oldest...].first(where: { $0.time >= time - Self.span }) else { return nil }
        let seconds = (time - first.time) / 1000
        guard seconds > 0 else { return nil }
        return ScreenPoint(
            x: Self.speed(of: value.x - first.value.x, in: seconds),
            y: Self.speed(of: value.y - first.value.y, in: seconds))
    }

    private static func speed(of change: Double, in seconds: Double) -> Double {
        min(max(change / seconds, -greatestSpeed), greatestSpeed)
    }
}
