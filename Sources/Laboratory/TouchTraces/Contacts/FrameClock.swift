// A recorder's clock made fit: time never goes back.

/// Makes times of a recorder that never go back.
struct FrameClock {
    /// A clock that goes back further than this was set; less is a jitter.
    private static let jitter = 1_000_000
    /// Times beyond 2001 count from 1970.
    private static let epoch = 1_000_000_000_000_000

    /// The last time, in microseconds.
    private(set) var time: Int?
    /// The offset that continues the time after the clock was set.
    private var shift = 0

    /// The times of recorders: until the year 2286.
    static let recorded = -10_000_000_000_000_000...10_000_000_000_000_000
    /// No clock goes on beyond this: a trace's times end at 1e15 ms.
    private static let latest = 900_000_000_000_000_000

    /// Whether a recorder's time is before the last one by more than any jitter: another recording begins, or the clock
    /// was set.
    @inline(__always)
    func isSetBack(to recorded: Int) -> Bool {
        guard let time else { return false }
        return time - min(recorded + shift, Self.latest) > Self.jitter
    }

    /// The time of a frame, in microseconds: the recorder's, which is one of ``recorded``, or the frame's before if the
    /// clock went back.
    @inline(__always)
    mutating func advance(to recorded: Int, _ notes: inout RecordingNotes) -> Int {
        guard let last = time else {
            if recorded >= Self.epoch { notes.add(.epochClock) }
            time = recorded
            return recorded
        }
        var now = min(recorded + shift, Self.latest)
        if now < last {
            notes.add(.timeWentBack)
            if last - now > Self.jitter { shift = min(shift + (last - now), Self.latest) }
            now = last
        }
        time = now
        return now
    }
}
