// Makes a recorder's clock monotonic.

struct FrameClock {
    /// A clock that goes back further than this was set; less is jitter. In microseconds.
    private static let jitter = 1_000_000
    /// Times from this one on (in 2001) count from 1970.
    private static let epoch = 1_000_000_000_000_000

    /// The last time, in microseconds.
    private(set) var time: Int?
    /// The offset that continues the time after the clock was set.
    private var shift = 0
    /// Whether the next time is the first one of another recording.
    private var isAnew = false

    /// The valid times of recorders: until the year 2286.
    static let recorded = -10_000_000_000_000_000...10_000_000_000_000_000
    /// Times are clamped to this; a trace's times end at 1e15 ms.
    private static let latest = 900_000_000_000_000_000

    /// Returns whether a recorder's time is before the last one by more than jitter: another recording begins, or the
    /// clock was set.
    @inline(__always)
    func isSetBack(to recorded: Int) -> Bool {
        guard let time else { return false }
        return time - min(recorded + shift, Self.latest) > Self.jitter
    }

    /// Lets time go on from the last one if the next one is before it.
    mutating func beginAnew() { isAnew = true }

    /// Returns the time of a frame, in microseconds: the recorder's, which must be in ``recorded``, or the previous
    /// frame's if the clock went back.
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
            if isAnew || last - now > Self.jitter { shift = min(shift + (last - now), Self.latest) }
            now = last
        }
        time = now
        isAnew = false
        return now
    }
}
