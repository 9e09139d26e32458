// A trace's clock and its pace: where the trace is, and when a time of it comes in the hub's time.
// Invariant: the clock never passes the last line read, so that the events do not depend on when lines arrive.

struct ReplayClock {
    private enum Pace {
        /// Trace milliseconds per millisecond.
        case timed(speed: Double)
        /// As fast as possible.
        case unlimited
    }

    /// How long a trace may be, in its milliseconds: 3,000 years. A camera's clock goes on from there, and what is saved
    /// of it is read like any `timeMs`.
    static let longest = 1e14

    /// A trace is not played slower than this: its end would never come.
    private static let leastSpeed = 0.001

    /// Where the trace is: milliseconds since its first line.
    private(set) var time = 0.0
    private var pace: Pace
    /// The `timeMs` of the first line.
    private var origin: Double?
    /// The hub's time at which the trace's clock was 0, as far as its pace is concerned.
    private var start = 0.0

    init(speed: Double) { pace = speed == .infinity ? .unlimited : .timed(speed: max(speed, Self.leastSpeed)) }

    /// The trace's time of a line's `timeMs`.
    func time(of timeMs: Double) -> Double { origin.map { timeMs - $0 } ?? 0 }

    /// When a time of the trace comes, in the hub's time.
    func due(_ time: Double) -> Double {
        switch pace {
        case .timed(let speed): start + time / speed
        case .unlimited: -.infinity
        }
    }

    /// From now on it is played as fast as possible.
    mutating func hurry() { pace = .unlimited }

    /// Notes a line that waits for its time or is handled; one that came too late moves the pace with it.
    mutating func lineArrived(_ timeMs: Double, at now: Double, late: Bool) {
        if origin == nil {
            origin = timeMs
            start = now
        } else if late, case .timed(let speed) = pace {
            start = max(start, now - time(of: timeMs) / speed)
        }
    }

    /// Sets the clock forward.
    mutating func advance(to time: Double) { self.time = max(self.time, time) }
}
