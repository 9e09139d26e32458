// Times of frames without recorded times: at a given rate per second.

/// Makes times of frames that come at an even rate.
struct FrameSteps {
    /// Frames a second.
    private let rate: Double?
    private var count = 0

    /// - Parameter rate: frames a second; `nil` makes no times.
    init(rate: Double?) { self.rate = rate }

    /// The time of the frame that is being told, in microseconds from the first.
    var now: Int? { rate.map { Int((Double(count) * 1_000_000 / $0).rounded()) } }

    /// The time of the frame that is being told; the next one comes a step later.
    mutating func next() -> Int? {
        defer { count += 1 }
        return now
    }
}
