// A clock for tests that never wait.

import Synchronization

/// A clock on which every sleep ends at once and is recorded.
final class PatientClock: Clock {
    struct Instant: InstantProtocol {
        var sinceStart = Swift.Duration.zero

        func advanced(by duration: Swift.Duration) -> Instant { Instant(sinceStart: sinceStart + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.sinceStart - sinceStart }
        static func < (a: Instant, b: Instant) -> Bool { a.sinceStart < b.sinceStart }
    }

    private let sleeps = Mutex<[Swift.Duration]>([])

    var now: Instant { Instant(sinceStart: slept.reduce(.zero, +)) }
    let minimumResolution = Swift.Duration.zero
    /// The durations of all sleeps.
    var slept: [Swift.Duration] { sleeps.withLock { $0 } }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        try Task.checkCancellation()
        let start = now
        sleeps.withLock { $0.append(start.duration(to: deadline)) }
        await Task.yield()
    }
}
