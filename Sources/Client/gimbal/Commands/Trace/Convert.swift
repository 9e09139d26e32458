// `gimbal convert`: makes a recording of touches a trace of gestures or of touches, or fingers for other tools.

import ArgumentParser
import TouchScripts

struct Convert: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Make a trace of a recording of touches, or touches for other tools.",
        """
        Fingers become gestures as people mean them on a map, in a trace that "gimbal replay" and any other client can \
        play. With --touches, the trace contains the fingers themselves, and the daemon makes the same gestures from \
        them. \(RecordingOptions.note)

        Positions are scaled to the device's own size at 160 points per inch, if the recording states it; otherwise \
        its longer side is 844 points. Time counts from the first report of a touch, even one in which no finger is \
        down; keys and empty reports before it are omitted. If fingers touch several devices, the first one is \
        followed; the others are reported, and --device-number selects them. Damaged lines are reported and skipped. \
        ^C ends a recording that comes from a pipe or a device, and the trace is complete.

        With --to, fingers are written for a tool that performs them: those of a recording or a trace, or those that \
        make a trace's gestures. They are put on a grid that survives such tools: whole points, steps of 33.3 ms, one \
        finger that lands or lifts at a time, and a rest of 200 ms before the last one lifts, which leaves no fling. \
        What that changes is reported. --expected writes the camera that the exported fingers make: what "gimbal run" \
        prints for the written file without options, which contains the header of the trace; --force replaces that \
        file, too.

        Examples:
          gimbal convert pinch.evemu -o pinch.ndjson
          adb shell getevent -lt | gimbal convert - --viewport 390x844 >touches.ndjson
          gimbal convert drag.events --device screen.desc --rotate 90
          gimbal convert pan.ndjson --to webdriver -o web.json --expected golden.ndjson
          gimbal convert pinch.evemu --touches | gimbal replay -
        """)

    @OptionGroup var options: RecordingOptions

    @Option("Write fingers for a tool: \(ScriptFormat.allCases.map(\.rawValue).joined(separator: ", ")).", "tool")
    var to: ScriptFormat?

    @Option("Write the camera that the exported fingers make, as a golden file.", "file", completion: .file())
    var expected: String?

    @Flag(help: "Write the fingers themselves, instead of the gestures that they make.")
    var touches = false

    @OptionGroup var destination: OutputOptions

    @Argument(help: "The recording; - is standard input.", completion: .file())
    var recording: String

    func validate() throws {
        if expected != nil, to == nil { throw ValidationError("--expected needs --to.") }
        if let expected, OutputFile.place(of: expected) == OutputFile.place(of: destination.output ?? "-") {
            throw ValidationError("--expected and -o must be different files.")
        }
        if touches, to != nil { throw ValidationError("--to always writes fingers: omit --touches.") }
    }

    func run() throws {
        let file = try OutputFile(destination)
        if let to { return try export(to, into: file) }
        var trace = try options.traceOptions()
        trace.writesTouches = touches
        let source = try TraceSource(InputFile(recording, endsBySignal: true), options, trace)
        var bar = StatusLine(isWanted: true)
        defer { bar.clear() }
        while !source.isAtEnd {
            try file.write(try source.read())
            bar.update { source.progress().text($0) }
        }
        try file.finish()
        bar.clear()
        source.reportDamage()
    }

    /// Writes fingers in a tool's format, and their camera; writes neither if one of the files may not be written.
    private func export(_ format: ScriptFormat, into file: OutputFile) throws {
        let source = try InputFile(recording, endsBySignal: true)
        let export = try TouchExport(recording, of: source, options, to: format)
        let golden = try expected.map { name in
            var options = OutputOptions()
            (options.output, options.force) = (name, destination.force)
            return (file: try OutputFile(options), bytes: try export.golden())
        }
        try file.write(export.bytes)
        try golden?.file.write(golden?.bytes ?? [])
        try file.finish()
        try golden?.file.finish()
        for change in try export.changes() { say("\(recording): \(change)") }
    }
}

extension TouchExport {
    /// Reads the fingers of a recording or a trace.
    init(_ name: String, of source: InputFile, _ options: RecordingOptions, to format: ScriptFormat) throws {
        let bytes = try source.readAll()
        if Self.isTrace(bytes), let option = options.given {
            throw Failure(.usage, "\(name): \(option) is for recordings; a trace specifies this in its header")
        }
        self = try about(name) { try TouchExport(bytes, options.traceOptions(of: source), to: format) }
    }
}

extension ScriptFormat: ExpressibleByArgument {}
