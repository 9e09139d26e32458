// `gimbal replay`: traces into the daemon, one after another.

import ArgumentParser

struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play traces, or recordings of touches, into a camera.",
        discussion: """
            A trace is a file of lines whose first is a header. The daemon plays it at the speed that --speed or the \
            header says, and the program waits for its end. A recording is played as the trace that "gimbal convert" makes \
            of it. \(RecordingOptions.note)

            Errors name the line of the trace:

              pan.ndjson:12: scale must be above 0, not -2 (scale)

            It stops at a trace that cannot be played; ^C stops the replay where it is. What --follow prints in a pipe is \
            the same byte for byte whenever a trace is played: the epoch of "reset", which differs, is left out.

            Examples:
              gimbal replay pan.ndjson
              gimbal replay pinch.evemu --viewport 390x844
              gimbal replay --speed max *.ndjson
              gimbal replay --follow --speed max pan.ndjson | grep '"type":"idle"'
              zcat big.ndjson.gz | gimbal replay --camera left -
            """
    )

    @OptionGroup var socket: SocketOptions

    @Option(help: ArgumentHelp("How fast: 1 is as recorded; \"max\" as fast as possible.", valueName: "factor"))
    var speed: Speed?

    @Option(help: ArgumentHelp("The camera, instead of the one that the header names.", valueName: "name"))
    var camera: CameraName?

    @OptionGroup var recording: RecordingOptions

    @Flag(help: "Print the camera's events as they come.")
    var follow = false

    @Argument(help: "The traces or recordings; - is standard input.", completion: .file())
    var traces: [String]

    func run() throws {
        Interrupt.arm()
        let output = Output()
        var rejected = 0
        for trace in traces {
            let session = try ReplaySession(trace, self, output)
            rejected += try session.run()
        }
        if rejected > 0 { throw ExitCode(.rejected) }
    }
}
