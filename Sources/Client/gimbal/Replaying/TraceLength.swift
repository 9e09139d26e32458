// What a trace's file tells about the replay before the daemon does: its length, and the times of its markers.

import GimbalProtocol
import Traces

/// When a trace begins and ends, as far as that can be found without reading all of it.
struct TraceLength {
    /// The `timeMs` of the trace's first line that has one, and of its last.
    private let firstTime, endTime: Double?
    /// The longest duration that a header may give, in milliseconds.
    private static let longest = 1e14

    init(_ opening: TraceSource.Opening, of reader: TraceSource) {
        firstTime = TraceTime.first(in: opening.rest)
        endTime = reader.lastTime()
    }

    /// The duration, in milliseconds.
    var durationMs: Double? {
        guard let firstTime, let endTime, endTime > firstTime else { return nil }
        // A last line that every daemon rejects may contain any time.
        return endTime - firstTime <= Self.longest ? endTime - firstTime : nil
    }

    /// Returns the header's member for the duration, unless the header has one already.
    func members(of header: HeaderLine) -> [(name: String, value: JSONValue?)] {
        guard let durationMs, header.header?.playback.durationMs == nil else { return [] }
        return [("durationMs", .number(durationMs))]
    }

    /// Returns the times of the markers, in milliseconds from the trace's beginning.
    func markers(of reader: TraceSource) -> [Double] {
        guard let firstTime else { return [] }
        return reader.markers().map { max($0 - firstTime, 0) }
    }
}
