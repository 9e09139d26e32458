// What a trace's file tells of the replay before the daemon does: how long it is, and where its markers are.

import GimbalProtocol
import Traces

/// When a trace begins and ends, as far as that is seen without reading all of it.
struct TraceLength {
    /// The `timeMs` of its first line that has one, and of its last.
    private let firstTime, endTime: Double?
    /// The most that a header may say.
    private static let longest = 1e14

    init(_ opening: TraceSource.Opening, of reader: TraceSource) {
        firstTime = TraceTime.first(in: opening.rest)
        endTime = reader.lastTime()
    }

    /// How long it is, in milliseconds.
    var durationMs: Double? {
        guard let firstTime, let endTime, endTime > firstTime else { return nil }
        // A last line that no daemon takes may say anything.
        return endTime - firstTime <= Self.longest ? endTime - firstTime : nil
    }

    /// What its header says of that, where it does not say it itself.
    func members(of header: HeaderLine) -> [(name: String, value: JSONValue?)] {
        guard let durationMs, header.header?.playback.durationMs == nil else { return [] }
        return [("durationMs", .number(durationMs))]
    }

    /// The times of its markers, in milliseconds from its beginning.
    func markers(of reader: TraceSource) -> [Double] {
        guard let firstTime else { return [] }
        return reader.markers().map { max($0 - firstTime, 0) }
    }
}
