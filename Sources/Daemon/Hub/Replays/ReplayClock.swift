// A trace's clock, which sets the pace: it converts times of the trace to times of the hub and back. It decides when
// something is played, never what.

struct ReplayClock: Codable {
    /// The maximum length of a trace, in its milliseconds: 3,000 years. A camera's clock continues from there, and its
    /// saved value is read like any `timeMs`.
    static let longest = 1e14

    /// The lowest speed: a trace that is slower would never end.
    private static let leastSpeed = 0.001

    /// Trace milliseconds per millisecond; infinite means as fast as possible.
    private(set) var speed: Double
    /// The `timeMs` of the first line.
    private(set) var origin: Double?
    /// The hub's time at which the trace's time was 0.
    private(set) var start: Double
    /// The position in the trace while the clock is stopped; otherwise `nil`.
    private(set) var held: Double?
    /// The hub's time when a line or frame was last played, or the clock was last set.
    private var lastStep: Double
    /// The longest wait between two lines or frames.
    private let longestWait: Double

    init(speed: Double, longestWait: Double?, at now: Double) {
        self.speed = max(speed, Self.leastSpeed)
        self.longestWait = longestWait ?? .infinity
        (start, lastStep) = (now, now)
    }

    /// Whether the value is valid; it may come from another process.
    var isPossible: Bool { speed >= Self.leastSpeed && -1e15...1e15 ~= origin ?? 0 }

    // MARK: Times

    var isUnlimited: Bool { speed == .infinity }

    /// Returns the time in the trace of a line's `timeMs`.
    func time(of timeMs: Double) -> Double { origin.map { timeMs - $0 } ?? 0 }

    /// Returns when a time of the trace is due, in the hub's time.
    func due(_ time: Double) -> Double {
        if isUnlimited { return -.infinity }
        return min(start + time / speed, lastStep + longestWait)
    }

    /// Returns the position in the trace, between what was played last and what comes next.
    ///
    /// - Parameter next: the time of what comes next; `nil` if unknown.
    func position(at now: Double, after last: Double, before next: Double?) -> Double {
        if let held { return held }
        if isUnlimited { return last }
        let known = max((lastStep - start) * speed, last)
        return min(max((now - start) * speed, known), next ?? known)
    }

    // MARK: Setting

    /// Plays as fast as possible from now on.
    mutating func hurry() { (speed, held) = (.infinity, nil) }

    /// Plays at another speed from now on.
    mutating func setSpeed(_ speed: Double, from position: Double, at now: Double) {
        self.speed = max(speed, Self.leastSpeed)
        set(position, at: now)
    }

    /// Stops the clock.
    mutating func hold(at position: Double) { held = position }

    /// Restarts the clock.
    mutating func release(at now: Double) {
        guard let held else { return }
        self.held = nil
        set(held, at: now)
    }

    /// Sets the clock to a time of the trace.
    mutating func set(_ position: Double, at now: Double) {
        if held != nil { held = position }
        (start, lastStep) = (isUnlimited ? now : now - position / speed, now)
    }

    /// Notes a line that waits for its time or is played; one that arrives late shifts the clock.
    mutating func lineArrived(_ timeMs: Double, at now: Double, late: Bool) {
        if origin == nil {
            origin = timeMs
            set(0, at: now)
        } else if late, !isUnlimited {
            start = max(start, now - time(of: timeMs) / speed)
        }
    }

    /// Notes that a line or frame is played. It is early only if `longestWait` has shortened the wait.
    mutating func stepped(to time: Double, at now: Double) {
        if held != nil {
            held = time
        } else if !isUnlimited, start + time / speed > now {
            start = now - time / speed
        }
        lastStep = now
    }
}
