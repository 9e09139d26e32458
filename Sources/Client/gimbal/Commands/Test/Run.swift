// `gimbal run`: traces through a camera of this process, no daemon needed.

import ArgumentParser
import GimbalProtocol
import Traces

struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play traces, or recordings of touches, without a daemon.",
        discussion: """
            Prints the camera's events as "gimbal replay --follow --speed max" does with a daemon, byte for byte, in a \
            fraction of a second for minutes of gestures: for tests, and wherever no daemon is. \
            \(RecordingOptions.note)

            Errors name the line of the trace, and the status is 1 then. Each file has a camera of its own. It does not \
            pause, whatever a header says, and plays a trace once that would be played for ever.

            Examples:
              gimbal run pan.ndjson >events.ndjson
              gimbal run --summary *.ndjson
              gimbal run pinch.evemu --from-target 48.8584,2.2945 | tail -n 1
              gimbal run - <pan.ndjson | jq -r 'select(.type == "idle") | .position.zoom'
            """
    )

    @Option("The camera, instead of the one that the header names.", "name")
    var camera: CameraName?

    @OptionGroup var recording: RecordingOptions

    @OptionGroup var selection: TraceNumber

    @Flag(help: "Print how each trace went, and not the events.")
    var summary = false

    @Argument(help: "The traces or recordings; - is standard input.", completion: .file())
    var traces: [String]

    func run() throws {
        let output = Output()
        var rejected = 0
        for trace in traces {
            let session = try RunSession(
                trace, recording, number: selection.number, camera: camera, playsAll: true,
                showsProgress: summary || !output.isTerminal)
            if !summary { output.showRows(of: [session.camera]) }
            try session.play { played in
                for message in played.messages {
                    switch message.type {
                    case .traceEnded: output.conclude(message, of: trace)
                    case _ where !summary && message.isOfStream: output.show(message, as: message.withoutEpoch)
                    default: break
                    }
                }
                try output.flushIfLarge()
            }
            try output.flush()
            rejected += session.rejected
        }
        if rejected > 0 { throw ExitCode(.rejected) }
    }
}
