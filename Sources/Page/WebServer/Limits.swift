// What a server takes from all who ask, and from each. Everything that can grow is here, or in `PageOutbox`.

import NIOCore

package struct Limits: Sendable {
    /// Connections at one time; see ``ConnectionPlaces``.
    package var connections = 1024
    /// Streams at one time, one for each page.
    package var streams = 512
    /// Bytes of a request's head, and its fields.
    package var headBytes = 16 << 10
    package var headFields = 64
    /// Bytes of lines in one request.
    package var lineBytes = 256 << 10
    /// Bytes of a recording.
    package var recordingBytes = 16 << 20
    /// Recordings that are read or played at one time.
    package var recordings = 8
    /// Requests of a page with lines: so many a second, and so many at once. Each 4 KiB of lines are one more.
    package var requestsPerSecond = 240.0
    package var requestsAtOnce = 480.0
    /// How long a request may take to arrive: its head, and all of it.
    package var headTime = TimeAmount.seconds(10)
    package var requestTime = TimeAmount.seconds(20)
    /// How long a client may go on sending what is not wanted any more, so that it gets to read the answer.
    package var lingerTime = TimeAmount.seconds(2)
    /// How long a connection may have nothing to ask.
    package var idleTime = TimeAmount.seconds(60)
    /// How long a stream may be unable to send anything.
    package var stallTime = Duration.seconds(600)

    package init() {}
}

/// A budget that fills up with time.
struct RateMeter {
    private let perSecond: Double
    private let most: Double
    private var left: Double
    private var last: ContinuousClock.Instant

    init(perSecond: Double, atOnce: Double, now: ContinuousClock.Instant = .now) {
        (self.perSecond, most, left, last) = (perSecond, atOnce, atOnce, now)
    }

    /// Takes so many from the budget; `false` if there are not as many left.
    mutating func take(_ count: Double = 1, now: ContinuousClock.Instant = .now) -> Bool {
        let seconds = (now - last) / .seconds(1)
        left = min(most, left + max(seconds, 0) * perSecond)
        last = now
        guard left >= count else { return false }
        left -= count
        return true
    }
}
