// Joins traces into one: each begins when the camera rests after the one before, with the camera that its header
// describes. Invariant: each produces the same positions as it does alone.

import GimbalProtocol
import MapCamera

extension Trace {
    /// Joins traces. The result has the first one's header; what the other headers say of the camera becomes commands.
    ///
    /// - Returns: the joined trace, and for each trace the number of lines that are omitted because they are rejected.
    /// - Throws: `TraceError` if a header cannot be played.
    package static func joined(_ traces: some Collection<Trace>) throws -> (trace: Trace, rejected: [Int]) {
        var joined: Trace?
        // The number of surfaces in the traces so far. Each trace gets surfaces of its own: what fingers do depends on
        // the taps and throws before, and on the surface's clock.
        var surfaces = 0
        var rejected: [Int] = []
        // The camera and the time when the traces so far are over.
        var rest: (header: TraceHeader, timeMs: Double)?
        for trace in traces {
            let recorder = try TraceRecorder(trace.header)
            try recorder.record()
            var isFirst = true
            for line in trace.lines {
                guard let time = line.clockMs else { continue }
                if recorder.play(line.bytes, timeMs: time, isFirst: isFirst) { isFirst = false }
            }
            recorder.finish()
            let untimed = trace.lines.count { $0.clockMs == nil && $0.requests.isEmpty }
            rejected.append(untimed + (recorder.ended?.rejected ?? 0))
            let beginning = try decoded(recorder.header)
            var offset = 0.0
            let known = surfaces
            if let rest {
                offset = rest.timeMs
                if let change = try change(from: rest.header, to: beginning, timeMs: offset) {
                    joined?.lines.append(Line(change))
                }
            } else {
                var header = trace.header
                try header.set(["fromMs", "untilMs", "durationMs"].map { ($0, nil) })
                joined = Trace(header: header)
            }
            for var line in recorder.lines {
                line.mapObjects { object in
                    if let time = object["timeMs"]?.number { object["timeMs"] = .number(time + offset) }
                    guard object["type"]?.string == "touch" else { return }
                    // A recorder numbers surfaces from 0, and omits the 0.
                    let surface = known + Int(object["surface"]?.number ?? 0)
                    if surface > 0 { object["surface"] = .number(Double(surface)) }
                    surfaces = max(surfaces, surface + 1)
                }
                joined?.lines.append(line)
            }
            try recorder.record()
            // Times have three decimals; this is later than all of them, whatever was omitted.
            let duration = recorder.ended?.durationMs ?? recorder.clock
            rest = (try decoded(recorder.header), offset + duration.rounded(.down) + 1)
        }
        guard let joined else { throw TraceError.empty }
        return (joined, rejected)
    }

    private static func decoded(_ line: [UInt8]?) throws(TraceError) -> TraceHeader {
        guard let line, let header = try HeaderLine(line).header else { throw .noHeader }
        return header
    }

    /// Returns the line that turns one camera into another at once; `nil` if they are alike.
    private static func change(from old: TraceHeader, to new: TraceHeader, timeMs: Double) throws -> [UInt8]? {
        var changes = new.setup.changes(from: old.setup).map(ClientRequest.set)
        if new.position != old.position || !changes.isEmpty { changes.append(.move(.setCamera(new.position))) }
        guard !changes.isEmpty else { return nil }
        return try Array(ClientRequest.line(batch: changes, timeMs: timeMs).dropLast())
    }
}
