// Traces one behind the other, as one trace: each begins when the camera rests after the one before, with the camera that its
// header tells. Invariant: each makes the positions that it makes alone.

import GimbalProtocol
import MapCamera

extension Trace {
    /// Joins traces. The first one's header is that of all of them; what those behind it say of the camera becomes commands.
    ///
    /// - Throws: `TraceError` where a header cannot be played.
    package static func joined(_ traces: some Collection<Trace>) throws -> Trace {
        var joined: Trace?
        // Where the camera is, and when, once the traces so far are over.
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
            let lines = recorder.lines
            let beginning = try decoded(recorder.header)
            var offset = 0.0
            if let rest {
                offset = rest.timeMs
                if let change = try change(from: rest.header, to: beginning, timeMs: offset) {
                    joined?.lines.append(Line(change))
                }
                joined?.lines += try lines.map { Line(try shifted($0, by: offset)) }
            } else {
                var header = trace.header
                try header.set(["fromMs", "untilMs", "durationMs"].map { ($0, nil) })
                joined = Trace(header: header, lines: lines.map { Line($0.bytes) })
            }
            try recorder.record()
            // Times have three decimals: this is later than the last of them, whatever was left out.
            let duration = recorder.ended?.durationMs ?? recorder.clock
            rest = (try decoded(recorder.header), offset + duration.rounded(.down) + 1)
        }
        guard let joined else { throw TraceError.empty }
        return joined
    }

    private static func decoded(_ line: [UInt8]?) throws(TraceError) -> TraceHeader {
        guard let line, let header = try HeaderLine(line).header else { throw .noHeader }
        return header
    }

    /// The line that makes of one camera another, at once; `nil` where they are alike.
    private static func change(from old: TraceHeader, to new: TraceHeader, timeMs: Double) throws -> [UInt8]? {
        var changes = new.setup.changes(from: old.setup).map(ClientRequest.set)
        if new.position != old.position || !changes.isEmpty { changes.append(.move(.setCamera(new.position))) }
        guard !changes.isEmpty else { return nil }
        return try Array(ClientRequest.line(frame: changes, timeMs: timeMs).dropLast())
    }

    /// A line at a later time.
    private static func shifted(_ line: TraceRecorder.Line, by offset: Double) throws -> [UInt8] {
        func shift(_ value: JSONValue) -> JSONValue {
            switch value {
            case .array(let objects): return .array(objects.map(shift))
            case .object(var members):
                if let time = members["timeMs"]?.number { members["timeMs"] = .number(time + offset) }
                return .object(members)
            default: return value
            }
        }
        return shift(try JSONValue(line.bytes)).bytes
    }
}
