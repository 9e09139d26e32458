// Compares two streams: where they first differ, where most, and for how much of the time. It compares them at every
// line of either, so it misses nothing between two frames.

import MapCamera

/// How two streams differ.
package struct Comparison: Sendable {
    /// Both cameras at one time.
    package struct Moment: Equatable, Sendable {
        /// Milliseconds since the streams began.
        package let timeMs: Double
        package let expected: CameraSample
        package let found: CameraSample
        package let difference: Difference
    }

    package let expected: CameraStream
    package let found: CameraStream
    /// Where the streams first diverge; `nil` if they do not.
    package private(set) var first: Moment?
    /// Where they are farthest apart, relative to the tolerance.
    package private(set) var worst: Moment?
    /// Where both end; `nil` if one of them is empty.
    package private(set) var end: Moment?
    /// How long they are apart, in milliseconds.
    package private(set) var apartMs = 0.0
    /// The length of the longer one, in milliseconds.
    package let lengthMs: Double
    package let tolerance: Tolerance

    /// Whether they are within the tolerance all the time.
    package var isSame: Bool { first == nil }

    /// Compares streams; distances are measured on the screen of the expected one.
    package init(expected: CameraStream, found: CameraStream, tolerance: Tolerance) {
        (self.expected, self.found, self.tolerance) = (expected, found, tolerance)
        lengthMs = max(expected.endMs, found.endMs)
        var worstExcess = 0.0
        var apartSince: Double?
        for time in times {
            guard let moment = nearest(at: time, tolerance) else { return }
            let excess = tolerance.excess(moment.difference)
            if let since = apartSince { apartMs += time - since }
            apartSince = excess > 1 ? time : nil
            end = moment
            guard excess > 1 else { continue }
            if first == nil { first = moment }
            if worst == nil || excess > worstExcess
                || excess == worstExcess && moment.difference.points > worst?.difference.points ?? 0
            {
                (worst, worstExcess) = (moment, excess)
            }
        }
        if let since = apartSince { apartMs += lengthMs - since }
    }

    /// The distance between the streams over time, in points of the screen.
    package var distances: [(timeMs: Double, points: Double)] {
        times.compactMap { time in nearest(at: time, .none).map { (time, $0.difference.points) } }
    }

    /// The times of the samples of either stream, each once.
    private var times: [Double] { Set((expected.samples + found.samples).map(\.timeMs)).sorted() }

    /// Returns both cameras at a time; if the tolerance allows them to be earlier or later, where they are closest.
    private func nearest(at time: Double, _ tolerance: Tolerance) -> Moment? {
        var best: (moment: Moment, excess: Double)?
        func consider(_ wanted: CameraSample, _ there: CameraSample) -> Bool {
            let difference = Difference(from: wanted.position, to: there.position, viewport: expected.viewport)
            let excess = tolerance.excess(difference)
            if best.map({ excess < $0.excess }) ?? true {
                best = (Moment(timeMs: time, expected: wanted, found: there, difference: difference), excess)
            }
            return excess <= 1
        }
        for wanted in expected.ways(at: time) {
            for there in found.ways(at: time) where consider(wanted, there) { return best?.moment }
        }
        guard tolerance.timeMs > 0, let wanted = expected.sample(at: time), let there = found.sample(at: time) else {
            return best?.moment
        }
        for other in found.around(time, tolerance.timeMs) where consider(wanted, other) { return best?.moment }
        for other in expected.around(time, tolerance.timeMs) where consider(other, there) { return best?.moment }
        return best?.moment
    }
}

extension CameraStream {
    /// Returns where the camera is around a time, up to a margin in milliseconds.
    fileprivate func around(_ time: Double, _ margin: Double) -> [CameraSample] {
        let start = (index(at: time - margin) ?? -1) + 1
        let within = samples[min(start, samples.count)...].prefix { $0.timeMs <= time + margin }
        return ways(at: time - margin) + within + ways(at: time + margin)
    }
}
