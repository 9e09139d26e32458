// Fingers for other tools: those of a recording, or those that make a trace's gestures, in a form that comes through such a
// tool unharmed, and the camera to expect of them.

import CameraStreams
import GimbalClient
import GimbalProtocol
import TouchScripts
import TouchTraces
import Traces

struct TouchExport {
    private let name: String
    private let canonical: CanonicalScript
    /// The fingers in the tool's own form.
    let bytes: [UInt8]
    /// The trace that the exported fingers make when they are read again.
    private let trace: Trace
    /// The trace that was exported, without flings.
    private let original: Trace
    private let unperformed: Int

    /// Reads a recording or a trace, and writes its fingers for a tool; `-` is standard input.
    ///
    /// - Throws: `TraceError` and `RecordingError` for what cannot be written so.
    init(_ name: String, _ options: RecordingOptions, to format: ScriptFormat) throws {
        self.name = name
        let file = try InputFile(name, endsBySignal: true)
        let bytes = try file.readAll()
        var traceOptions = try options.traceOptions()
        if traceOptions.device == nil { traceOptions.device = file.askDevice() }
        var script: FingerScript
        if Self.isTrace(bytes) {
            if let option = options.given {
                throw Failure(
                    .usage, "\(name): \(option) is for recordings; what a trace begins with is in its header")
            }
            original = try Trace(bytes).withoutFlings()
            let fingers = GestureFingers(original)
            (script, unperformed) = (fingers.script, fingers.unperformed)
        } else {
            script = try FingerScript(recording: bytes, traceOptions)
            unperformed = 0
            original = try Self.converted(bytes, traceOptions).withoutFlings()
        }
        var header = original.header
        try header.set([("speed", nil)])
        script.header = ToldHeader(try? JSONValue(header.bytes))
        script.viewport = script.header?.viewport ?? script.viewport
        canonical = try Self.canonical(script)
        guard !canonical.ticks.isEmpty else {
            throw Failure(.dataError, "\(name): no finger touches anything in it")
        }
        self.bytes = format.bytes(of: canonical)
        trace = try Self.reading(format, canonical, self.bytes)
    }

    private static func canonical(_ script: FingerScript) throws(TraceError) -> CanonicalScript {
        guard let canonical = CanonicalScript(script) else {
            let hours = Int(CanonicalScript.longestMs / 3_600_000)
            throw TraceError("has fingers down for more than \(hours) hours: cut it")
        }
        return canonical
    }

    /// What comes of the exported fingers when they are read again, without options.
    private static func reading(
        _ format: ScriptFormat, _ script: CanonicalScript, _ bytes: [UInt8]
    ) throws -> Trace {
        do {
            return try converted(format == format.readable ? bytes : format.readable.bytes(of: script), TraceOptions())
        } catch is RecordingError {
            throw TraceError("makes a script that is too long to be read again, more than an hour or 4 MiB: cut it")
        }
    }

    private static func isTrace(_ bytes: [UInt8]) -> Bool {
        let first = bytes.split { $0 == 0x0a || $0 == 0x0d }.first { line in line.contains { $0 > 0x20 } }
        return first.map { RecordingFormat.isHeader($0.span) } ?? false
    }

    private static func converted(_ bytes: [UInt8], _ options: TraceOptions) throws -> Trace {
        let converter = TraceConverter(options)
        var trace: [UInt8] = []
        func append(_ piece: Span<UInt8>) { for index in piece.indices { trace.append(piece[index]) } }
        try converter.read(bytes.span, append)
        try converter.finish(append)
        return try Trace(trace)
    }

    /// What the camera does by the exported fingers: a golden file.
    func golden() throws -> String { String(decoding: try TraceRun.events(of: trace), as: UTF8.self) }

    /// Says what is not as it was.
    func reportChanges() throws {
        var changes: [String] = []
        if canonical.restedLifts > 0 {
            changes.append("\(counted(canonical.restedLifts, "finger")) that threw the map now rest before they lift")
        }
        if unperformed > 0 { changes.append("\(counted(unperformed, "request")) that no finger can make left out") }
        if canonical.clamped > 0 {
            changes.append("\(counted(canonical.clamped, "position")) beyond the screen put on its edge")
        }
        for change in changes { say("\(name): \(change)") }
        guard let wanted = try Self.end(of: original), let found = try Self.end(of: trace) else { return }
        let viewport = original.header.header?.viewport ?? .standard
        say(
            "\(name): the camera ends \(Difference(from: wanted, to: found, viewport: viewport).text) from where it did"
        )
    }

    private static func end(of trace: Trace) throws -> CameraPosition? {
        let last = try TraceRun.events(of: trace).split(separator: 0x0a).last
        return last.flatMap { ReceivedLine($0).traceEnded?.position }
    }
}

extension Trace {
    /// The same trace, in which no finger throws the map, and which is played once, as a whole.
    fileprivate func withoutFlings() throws(TraceError) -> Trace {
        var trace = self
        trace.header = try header.asAWhole()
        var switches = (try? JSONValue(header.bytes))?["gestures"]?.object ?? [:]
        switches["fling"] = .bool(false)
        try trace.header.set([("gestures", .object(switches))])
        return trace
    }
}
