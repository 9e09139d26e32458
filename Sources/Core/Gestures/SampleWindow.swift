// The last 100 ms of a gesture. Holds at most 512 samples; if a finger reports faster than that, the window is
// shorter. Only the first of several samples with one time is kept.

import MapCamera

/// The samples from which a gesture's velocity is measured.
package struct SampleWindow: Codable, Sendable {
    private struct Sample {
        var time: Double
        var value: ScreenPoint
    }

    /// The greatest velocity on either axis, in units per second, however short the measured time: the most that a
    /// gesture line can carry.
    private static let greatestSpeed = 1e9
    /// The length of the window, in milliseconds.
    private static let span = 100.0
    static let capacity = 512

    /// A ring of `count` samples, starting at `oldest`.
    private var ring: [Sample] = []
    private var oldest = 0
    private(set) var count = 0
    /// Whether the samples carry the reporter's own times. A sample that differs in this restarts the window.
    private var hasOwnTimes: Bool?

    package init() {}

    package var byteCount: Int { ring.count * MemoryLayout<Sample>.stride }

    private enum CodingKeys: CodingKey { case hasOwnTimes, samples }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(hasOwnTimes == true, forKey: .hasOwnTimes)
        let numbers = (0..<count).map(sample).flatMap { [$0.time, $0.value.x, $0.value.y] }
        try members.encode(numbers, forKey: .samples)
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let hasOwnTimes = try members.decode(Bool.self, forKey: .hasOwnTimes)
        let numbers = try members.decode([Double].self, forKey: .samples)
        for index in stride(from: 0, to: numbers.count - 2, by: 3) {
            let value = ScreenPoint(x: numbers[index + 1], y: numbers[index + 2])
            append(value, at: hasOwnTimes ? numbers[index] : nil, arrival: numbers[index])
        }
    }

    package mutating func append(_ value: ScreenPoint, at own: Double?, arrival: Double) {
        if hasOwnTimes != (own != nil) {
            hasOwnTimes = own != nil
            (oldest, count) = (0, 0)
        }
        let time = own ?? arrival
        while count > 0, sample(0).time < time - Self.span { dropOldest() }
        if count > 0, sample(count - 1).time == time { return }
        if count == Self.capacity { dropOldest() }
        let sample = Sample(time: time, value: value)
        // Allocates the full capacity: the count depends on the reporter, and later lines must not allocate.
        if ring.isEmpty { ring = Array(repeating: sample, count: Self.capacity) }
        ring[slot(count)] = sample
        count += 1
    }

    /// Returns the slot of a sample in the ring; samples are counted from the oldest.
    private func slot(_ index: Int) -> Int {
        let slot = oldest + index
        return slot < ring.count ? slot : slot - ring.count
    }

    private func sample(_ index: Int) -> Sample { ring[slot(index)] }

    private mutating func dropOldest() {
        oldest = slot(1)
        count -= 1
    }

    /// Returns the change per second since the oldest sample of the last 100 ms; `nil` if there is no earlier sample.
    package func velocity(of value: ScreenPoint, at own: Double?, arrival: Double) -> ScreenPoint? {
        guard hasOwnTimes == (own != nil) else { return nil }
        let time = own ?? arrival
        guard let first = (0..<count).lazy.map(sample).first(where: { $0.time >= time - Self.span }) else { return nil }
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
