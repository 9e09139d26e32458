// A trace being played into a camera: its clock, its pace, its count.
// Invariant: the clock never passes the last line read, so that the events do not depend on when lines arrive.

import Wire

final class Replay {
    unowned let camera: HostedCamera
    /// Who feeds it; `nil` when that peer is gone.
    private(set) weak var peer: Peer?
    /// What is left of it is played at once: nobody waits for it any more, or it is to end.
    private var isHurried = false
    /// The header's id as it was written.
    let id: [UInt8]
    /// Trace milliseconds per millisecond; infinite is as fast as possible.
    let speed: Double
    var summary = TraceSummary()
    /// Where the trace is: milliseconds since its first line.
    private(set) var clock = 0.0
    /// Whether its end is known, and only what moves is waited for.
    var isEnding = false
    /// The hub's time at which it goes on; `nil` while it waits for lines.
    var wake: Double?

    /// The `timeMs` of the first line.
    private var origin: Double?
    /// The hub's time at which the trace's clock was 0, as far as its pace is concerned.
    private var start = 0.0

    init(_ header: TraceHeader, of camera: HostedCamera, from peer: Peer, id: [UInt8]) {
        self.camera = camera
        self.peer = peer
        self.id = id
        speed = max(header.speed, Self.leastSpeed)
    }

    /// How long a trace may be, in its milliseconds: 3,000 years. A camera's clock goes on from there, and what is saved
    /// of it is read like any `timeMs`.
    static let longest = 1e14

    /// A trace is not played slower than this: its end would never come.
    static let leastSpeed = 0.001

    /// The trace's time of a line's `timeMs`.
    func time(of timeMs: Double) -> Double { origin.map { timeMs - $0 } ?? 0 }

    /// When a time of the trace comes, in the hub's time.
    func due(_ time: Double) -> Double { speed == .infinity || isHurried ? -.infinity : start + time / speed }

    /// The peer is gone: what is left is played at once.
    func abandon() {
        peer = nil
        hurry()
    }

    /// From now on its pace does not matter.
    func hurry() { isHurried = true }

    /// Takes note of a line that waits for its time or is taken; one that came too late moves the pace with it.
    func arrived(_ timeMs: Double, at now: Double, late: Bool) {
        if origin == nil {
            origin = timeMs
            start = now
        } else if late, speed != .infinity {
            start = max(start, now - time(of: timeMs) / speed)
        }
    }

    /// Sets the clock forward.
    func advance(to time: Double) { clock = max(clock, time) }
}
