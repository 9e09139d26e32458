// `gimbal run`: plays traces into a camera of this process, without a daemon.

import ArgumentParser
import CameraStreams
import GimbalProtocol
import Traces

struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Play traces, or recordings of touches, without a daemon.",
        """
        Prints the camera's events as "gimbal replay --follow --speed max" does with a daemon, byte for byte, in a \
        fraction of a second for minutes of gestures: for tests, and wherever there is no daemon. \
        \(RecordingOptions.note)

        Errors name the line of the trace, and the status is then 1. Each file has a camera of its own. The command \
        never pauses, whatever a header says, and plays a trace once that would be played forever.

        With --mcap, it also writes a file that Foxglove shows: the camera's target and visible region on a map, and \
        its events. Each trace is then played once, one after the other.

        Examples:
          gimbal run pan.ndjson >events.ndjson
          gimbal run --summary *.ndjson
          gimbal run --summary --mcap pan.mcap pan.ndjson
          gimbal run pinch.evemu --from-target 48.8584,2.2945 | tail -n 1
          gimbal run - <pan.ndjson | jq -r 'select(.type == "idle") | .position.zoom'
        """)

    @Option("The camera, instead of the one in the header.", "name")
    var camera: CameraName?

    @OptionGroup var recording: RecordingOptions

    @OptionGroup var selection: TraceNumber

    @Flag(help: "Print how each trace went, instead of the events.")
    var summary = false

    @Option("Also write an MCAP file, replacing an existing one.", "file", completion: .file(extensions: ["mcap"]))
    var mcap: String?

    @Argument(help: "The traces or recordings; - is standard input.", completion: .file())
    var traces: [String]

    func validate() throws {
        if mcap == "-" { throw ValidationError("Standard output is for the events: name a file with --mcap.") }
    }

    func run() throws {
        let file = try mcap.map { try OutputFile(replacing: $0, besides: traces) }
        var contents = MCAPRecording()
        var decoder = RequestDecoder()
        let output = Output()
        var rejected = 0
        for trace in traces {
            let session = try RunSession(
                try InputFile(trace), recording, number: selection.number, camera: camera, playsAll: true,
                isOnce: mcap != nil, showsProgress: summary || !output.isTerminal)
            if !summary { output.showRows(of: [session.opening.header.camera]) }
            try session.play { played in
                for message in played.messages {
                    switch message.type {
                    case .traceEnded: output.conclude(message, of: trace)
                    case _ where !summary && message.isOfStream: output.show(message, as: message.withoutEpoch)
                    default: break
                    }
                }
                if let file {
                    let requests = played.requests(&decoder)
                    try contents.follow(requests, played.messages) { try session.run.state()?.viewport }
                    try file.write(contents.take())
                }
                try output.flushIfLarge()
            }
            try output.flush()
            rejected += session.rejected
        }
        if let file {
            contents.finish()
            try file.finish(contents.take())
        }
        if rejected > 0 { throw ExitCode(.rejected) }
    }
}
