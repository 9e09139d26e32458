// `gimbal convert`: a recording of touches as a trace of gestures.

import ArgumentParser

struct Convert: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a trace of a recording of touches.",
        discussion: """
            Fingers become gestures as people mean them on a map, in a trace that "gimbal replay" and any other client \
            can play. \(RecordingOptions.note)

            Positions are scaled to the device's own size at 160 points for an inch, where the recording tells it; \
            otherwise its longer side is 844 points. Lines that are damaged are named and skipped. ^C ends a recording that \
            comes from a pipe or a device, and the trace is whole.

            Examples:
              gimbal convert pinch.evemu -o pinch.ndjson
              adb shell getevent -lt | gimbal convert - --viewport 390x844 >touches.ndjson
              gimbal convert drag.events --device screen.desc --rotate 90
            """
    )

    @OptionGroup var options: RecordingOptions

    @OptionGroup var destination: OutputOptions

    @Argument(help: "The recording; - is standard input.", completion: .file())
    var recording: String

    func run() throws {
        let file = try OutputFile(destination)
        let source = try TraceSource(recording, options, endsBySignal: true)
        var bar = ProgressBar(recording, isWanted: true)
        defer { bar.clear() }
        while !source.isAtEnd {
            try file.write(try source.read())
            bar.update(source.progress)
        }
        try file.finish()
        bar.clear()
        source.reportDamage()
    }
}
