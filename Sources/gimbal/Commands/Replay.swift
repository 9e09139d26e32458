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

            With --live, fingers move the camera as it is while they touch the screen: it is not reset, others may move it \
            too, and nothing is kept back. So they do where --device names an input device and no trace is named, or where \
            the device itself is; you may need to be in the group "input".

            It stops at a trace that cannot be played; ^C stops the replay, and the camera where it is. What --follow prints in a pipe is \
            the same byte for byte whenever a trace is played: the epoch of "reset", which differs, is left out.

            Examples:
              gimbal replay pan.ndjson
              gimbal replay pinch.evemu --viewport 390x844
              gimbal replay --speed max *.ndjson
              gimbal replay --follow --speed max pan.ndjson | grep '"type":"idle"'
              gimbal replay --camera left big.ndjson.gz
              gimbal replay --device /dev/input/event5
              adb shell getevent -lt | gimbal replay --live --viewport 390x844 -
            """
    )

    @OptionGroup var socket: SocketOptions

    @Option(
        help: ArgumentHelp(
            "How fast: 1 is as recorded, 2 twice as fast; \"max\" as fast as possible.", valueName: "factor"),
        transform: Speed.init(typed:))
    var speed: Speed?

    @Option(
        help: ArgumentHelp("The camera, instead of the one that the header names.", valueName: "name"),
        completion: .cameras, transform: CameraName.init(typed:))
    var camera: CameraName?

    @OptionGroup var recording: RecordingOptions

    @OptionGroup var selection: TraceNumber

    @Flag(help: "Print the camera's events as they come.")
    var follow = false

    @Flag(help: "Feed the camera with gestures as fingers make them, instead of replaying a trace.")
    var live = false

    @Argument(help: "The traces or recordings; - is standard input.", completion: .file())
    var traces: [String] = []

    func validate() throws {
        try CameraName.checkOnlyOne()
        guard traces.isEmpty, recording.device == nil else { return }
        throw ValidationError("Name the traces to play, or a touchscreen with --device /dev/input/eventN.")
    }

    func run() throws {
        let output = Output()
        var rejected = 0
        // A device is its own description.
        for trace in traces.isEmpty ? [recording.device ?? "-"] : traces {
            if live || traces.isEmpty || InputFile.isDevice(trace) {
                rejected += try LiveSession(trace, self, output).run()
            } else {
                rejected += try ReplaySession(trace, self, output).run()
            }
        }
        if rejected > 0 { throw ExitCode(.rejected) }
    }
}
