// A trace's clock as far as its pace is concerned: when a time of the trace comes in the hub's time, and the other way round.
// What is played never depends on it, only when.

struct ReplayClock: Codable {
    /// How long a trace may be, in its milliseconds: 3,000 years. A camera's clock goes on from there, and what is saved
    /// of it is read like any `timeMs`.
    static let longest = 1e14

    /// A trace is not played slower than this: its end would never come.
    private static let leastSpeed = 0.001

    /// Trace milliseconds per millisecond; infinite is as fast as possible.
    private(set) var speed: Double
    /// The `timeMs` of the first line.
    private(set) var origin: Double?
    /// The hub's time at which the trace's time was 0.
    private(set) var start: Double
    /// Where the trace is while its clock is stopped.
    private(set) var held: Double?
    /// The hub's time at which a line or a frame was played last, or the clock was set.
    private var lastStep: Double
    /// How long it waits at the most between two lines or frames.
    private let longestWait: Double

    init(speed: Double, longestWait: Double?, at now: Double) {
        self.speed = max(speed, Self.leastSpeed)
        self.longestWait = longestWait ?? .infinity
        (start, lastStep) = (now, now)
    }

    /// Whether it is one that a process leaves.
    var isPossible: Bool { speed >= Self.leastSpeed && -1e15...1e15 ~= origin ?? 0 }

    // MARK: Times

    var isUnlimited: Bool { speed == .infinity }

    /// The trace's time of a line's `timeMs`.
    func time(of timeMs: Double) -> Double { origin.map { timeMs - $0 } ?? 0 }

    /// When a time of the trace comes, in the hub's time.
    func due(_ time: Double) -> Double {
        if isUnlimited { return -.infinity }
        return min(start + time / speed, lastStep + longestWait)
    }

    /// Where the trace is, between what was played last and what comes next.
    ///
    /// - Parameter next: `nil` where that is not known.
    func position(at now: Double, after last: Double, before next: Double?) -> Double {
        if let held { return held }
        if isUnlimited { return last }
        let known = max((lastStep - start) * speed, last)
        return min(max((now - start) * speed, known), next ?? known)
    }

    // MARK: It is set

    /// From now on it is played as fast as possible.
    mutating func hurry() { (speed, held) = (.infinity, nil) }

    /// From now on it is played at another speed.
    mutating func setSpeed(_ speed: Double, from position: Double, at now: Double) {
        self.speed = max(speed, Self.leastSpeed)
        set(position, at: now)
    }

    /// Stops it.
    mutating func hold(at position: Double) { held = position }

    /// Lets it go on.
    mutating func release(at now: Double) {
        guard let held else { return }
        self.held = nil
        set(held, at: now)
    }

    /// Sets it to a time of the trace.
    mutating func set(_ position: Double, at now: Double) {
        if held != nil { held = position }
        (start, lastStep) = (isUnlimited ? now : now - position / speed, now)
    }

    /// Notes a line that waits for its time or is played; one that came too late moves the pace with it.
    mutating func lineArrived(_ timeMs: Double, at now: Double, late: Bool) {
        if origin == nil {
            origin = timeMs
            set(0, at: now)
        } else if late, !isUnlimited {
            start = max(start, now - time(of: timeMs) / speed)
        }
    }

    /// Notes that a line or a frame is played. It is early only where `longestWait` has cut the wait short.
    mutating func stepped(to time: Double, at now: Double) {
        if held != nil {
            held = time
        } else if !isUnlimited, start + time / speed > now {
            start = now - time / speed
        }
        lastStep = now
    }
}
