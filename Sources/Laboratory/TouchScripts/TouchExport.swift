// Exports fingers to other tools: those of a recording, or those that make a trace's gestures, in a form that such a
// tool performs faithfully, and with the camera to expect.

import CameraStreams
import GimbalProtocol
import MapCamera
import TouchTraces
import Traces

/// Fingers in the format of a tool that performs them.
package struct TouchExport {
    let canonical: CanonicalScript
    /// The fingers in the tool's own format.
    package let bytes: [UInt8]
    /// The trace made by reading the exported fingers again, without options.
    private let trace: Trace
    /// The trace that was exported, without flings.
    private let original: Trace
    private let unperformed: Int

    /// Writes the fingers of a recording, or those that make a trace's gestures, for a tool.
    ///
    /// - Throws: `TraceError` and `RecordingError` if this is impossible.
    package init(_ bytes: [UInt8], _ options: TraceOptions, to format: ScriptFormat) throws {
        var script: FingerScript
        if Self.isTrace(bytes) {
            original = try Trace(bytes).withoutFlings()
            let fingers = GestureFingers(original)
            (script, unperformed) = (fingers.script, fingers.unperformed)
        } else {
            script = try FingerScript(recording: bytes, options)
            unperformed = 0
            original = try Trace(TraceConverter(options).trace(of: bytes)).withoutFlings()
        }
        var header = original.header
        try header.set([("speed", nil)])
        script.header = ToldHeader(try? JSONValue(header.bytes))
        script.viewport = script.header?.viewport ?? script.viewport
        guard let canonical = CanonicalScript(script) else {
            let hours = Int(CanonicalScript.longestMs / 3_600_000)
            throw TraceError("has fingers down for more than \(hours) hours: cut it")
        }
        guard !canonical.ticks.isEmpty else { throw TraceError("contains no touches") }
        self.canonical = canonical
        self.bytes = format.bytes(of: canonical)
        do {
            let readable = format == format.readable ? self.bytes : format.readable.bytes(of: canonical)
            trace = try Trace(TraceConverter().trace(of: readable))
        } catch is RecordingError {
            throw TraceError("makes a script too long to be read again, over an hour or 4 MiB: cut it")
        }
    }

    /// Returns whether bytes are a Gimbal trace, rather than a recording.
    package static func isTrace(_ bytes: [UInt8]) -> Bool {
        let first = bytes.split { $0 == 0x0a || $0 == 0x0d }.first { line in line.contains { $0 > 0x20 } }
        return first.map { RecordingFormat.isHeader($0.span) } ?? false
    }

    /// Returns what the camera does with the exported fingers: a golden file.
    package func golden() throws -> [UInt8] { try TraceRun.events(of: trace) }

    /// Returns what the export changed, one line for each change.
    package func changes() throws -> [String] {
        var changes: [String] = []
        if canonical.restedLifts > 0 {
            changes.append("\(counted("\(canonical.restedLifts)", "lift")) of flinging fingers now come after a rest")
        }
        if unperformed > 0 {
            changes.append("left out \(counted("\(unperformed)", "request")) that no finger can make")
        }
        let wanted = try Self.end(of: original)
        if let rejected = wanted?.rejected, rejected > 0 {
            changes.append("left out \(counted("\(rejected)", "line")) that a daemon rejects")
        }
        if canonical.clamped > 0 {
            changes.append("moved to the edge of the screen: \(counted("\(canonical.clamped)", "position")) beyond it")
        }
        guard let wanted, let found = try Self.end(of: trace) else { return changes }
        let viewport = original.header.header?.viewport ?? .standard
        let difference = Difference(from: wanted.position, to: found.position, viewport: viewport)
        return changes + ["the camera ends \(difference.text) from where it did"]
    }

    private static func end(of trace: Trace) throws -> TraceEnded? {
        let last = try TraceRun.events(of: trace).split(separator: 0x0a).last
        return last.flatMap { ReceivedLine($0).traceEnded }
    }
}

extension Trace {
    /// Returns this trace with flings disabled, to be played once, as a whole.
    fileprivate func withoutFlings() throws(TraceError) -> Trace {
        var trace = self
        trace.header = try header.asAWhole()
        var switches = (try? JSONValue(header.bytes))?["gestures"]?.object ?? [:]
        switches["fling"] = .bool(false)
        try trace.header.set([("gestures", .object(switches))])
        return trace
    }
}
