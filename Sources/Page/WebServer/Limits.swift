// The limits of a server, for all clients and for each. All that can grow is limited here, or in `PageOutbox`.

import NIOCore

package struct Limits: Sendable {
    /// Simultaneous connections; see ``ConnectionPlaces``.
    package var connections = 1024
    /// Simultaneous streams, one for each page.
    package var streams = 512
    /// Bytes and fields of a request's head.
    package var headBytes = 16 << 10
    package var headFields = 64
    /// Bytes of lines in one request.
    package var lineBytes = 256 << 10
    /// Bytes of a recording.
    package var recordingBytes = 16 << 20
    /// Recordings read or played at the same time.
    package var recordings = 8
    /// Requests of a page with lines, per second and at once. Each 4 KiB of lines counts as one more.
    package var requestsPerSecond = 240.0
    package var requestsAtOnce = 480.0
    /// How long a request may take to arrive: its head, and the whole of it.
    package var headTime = TimeAmount.seconds(10)
    package var requestTime = TimeAmount.seconds(20)
    /// How long a refused client may keep sending, so that it gets to read the answer.
    package var lingerTime = TimeAmount.seconds(2)
    /// How long a connection may be idle.
    package var idleTime = TimeAmount.seconds(60)
    /// How long a stream may be unable to send anything.
    package var stallTime = TimeAmount.seconds(600)

    package init() {}
}

/// A budget that refills over time.
struct RateMeter {
    private let perSecond: Double
    private let most: Double
    private var left: Double
    private var last: ContinuousClock.Instant

    init(perSecond: Double, atOnce: Double, now: ContinuousClock.Instant = .now) {
        (self.perSecond, most, left, last) = (perSecond, atOnce, atOnce, now)
    }

    /// Takes an amount from the budget; `false` if less is left.
    mutating func take(_ count: Double = 1, now: ContinuousClock.Instant = .now) -> Bool {
        let seconds = (now - last) / .seconds(1)
        left = min(most, left + max(seconds, 0) * perSecond)
        last = now
        guard left >= count else { return false }
        left -= count
        return true
    }
}
