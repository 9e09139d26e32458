// What a trace's file tells about the replay before the daemon does: its length, and the times of its markers.

import Traces

/// When a trace ends and has markers, as far as that can be found without decoding all of it.
struct TraceLength {
    /// The duration, in milliseconds.
    private(set) var durationMs: Double?
    /// The times of the markers, in milliseconds from the trace's beginning; none for a file of more than 64 MiB.
    private(set) var markers: [Double] = []

    /// How much of a file's end is searched for the time of its last line.
    private static let end = 256 << 10
    /// The longest duration that a header may give, in milliseconds.
    private static let longest = 1e14

    init(_ opening: TraceSource.Opening, of reader: TraceSource) {
        guard let firstTime = TraceTime.first(in: opening.rest) else { return }
        // A last line that every daemon rejects may contain any time.
        if let endTime = reader.lastBytes(Self.end).flatMap(TraceTime.last), endTime > firstTime,
            endTime - firstTime <= Self.longest
        {
            durationMs = endTime - firstTime
        }
        if let size = reader.size, size <= 64 << 20, let trace = reader.lastBytes(size) {
            markers = TraceMarkers.times(in: trace).map { max($0 - firstTime, 0) }
        }
    }
}
