// Makes times for frames that have none, at a given rate per second.

/// The times of frames at an even rate.
struct FrameSteps {
    /// Frames per second.
    private let rate: Double?
    private var count = 0

    /// - Parameter rate: frames per second; `nil` makes no times.
    init(rate: Double?) { self.rate = rate }

    /// The time of the current frame, in microseconds from the first.
    var now: Int? { rate.map { Int((Double(count) * 1_000_000 / $0).rounded()) } }

    /// Returns the time of the current frame, and advances to the next one.
    mutating func next() -> Int? {
        defer { count += 1 }
        return now
    }
}
