// A recording that is dropped onto a page, as a trace for one camera: every format that the command line knows.

import GimbalProtocol
import JSONLines
import TouchTraces
import Traces

enum Recording {
    /// The trace of a recording, or the trace itself, for a camera.
    ///
    /// - Throws: what is wrong with the bytes, or with the camera's name.
    static func trace(_ bytes: [UInt8], camera: String) throws(HTTPRefusal) -> [UInt8] {
        let converter = TraceConverter()
        var trace: [UInt8] = []
        do {
            try converter.read(bytes.span) { piece in unsafe piece.withUnsafeBufferPointer { unsafe trace += $0 } }
            try converter.finish { piece in unsafe piece.withUnsafeBufferPointer { unsafe trace += $0 } }
        } catch {
            throw HTTPRefusal(.unprocessableContent, "this is no recording: \(error)")
        }
        let start = trace.firstIndex { ![0x20, 0x09, 0x0d, 0x0a].contains($0) } ?? trace.count
        let end = trace[start...].firstIndex(of: 0x0a) ?? trace.count
        let lines = trace[min(end + 1, trace.count)...]
        do throws(TraceError) {
            var header = try HeaderLine(Array(trace[start..<end]))
            let times = (first: TraceTime.first(in: trace), last: TraceTime.last(in: trace))
            var members: [(name: String, value: JSONValue?)] = [
                ("camera", .string(camera)), ("id", .string("recording")),
            ]
            if let first = times.first, let last = times.last, last >= first {
                members.append(("durationMs", .number(last - first)))
            }
            try header.set(members)
            guard header.isRight else { throw TraceError("has a header that is not right") }
            let end = try isEnded(lines) ? [] : [0x0a] + Request.traceEndLine
            return header.bytes + [0x0a] + lines + end
        } catch {
            throw HTTPRefusal(.unprocessableContent, "this \(error)")
        }
    }

    /// Whether the last line says that the trace is over. Nothing may stand behind that: a daemon would take it for live
    /// input, for any camera.
    private static func isEnded(_ lines: ArraySlice<UInt8>) throws(TraceError) -> Bool {
        // The daemon may take longer lines than it does by default.
        var decoder = RequestDecoder(longestLine: .max, largestFrame: .max)
        let blanks: [UInt8] = [0x20, 0x09, 0x0d]
        var isOver = false
        for line in lines.split(separator: 0x0a) where !line.allSatisfy(blanks.contains) {
            guard !isOver else { throw TraceError("has lines behind its trace-end: a recording is one trace") }
            if case .traceEnd? = try? decoder.decode(line.span).first?.body { isOver = true }
        }
        return isOver
    }
}
