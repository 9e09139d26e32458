// `gimbal replay`: plays traces into the daemon, one after another.

import ArgumentParser
import GimbalProtocol

struct Replay: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Play traces, or recordings of touches, into a camera.",
        """
        A trace is a file of lines, the first of which is a header. The daemon plays it at the speed of --speed or of \
        the header, and the command waits for its end. A recording is played as the trace that "gimbal convert" makes \
        of it. \(RecordingOptions.note)

        Errors name the line of the trace:

          pan.ndjson:12: scale must be a number from 1e-09 to 1000000000

        On a terminal, it is a player: space pauses and resumes, the arrows seek and change the speed, q ends the \
        replay, and ? shows all keys. "gimbal player" does the same from elsewhere. Times count from the trace's first \
        event: \(Milliseconds.note)

        With --live, fingers move the camera from where it is while they touch the screen: it is not reset, others may \
        move it too, and nothing is held back. The same happens if --device names an input device and no trace is \
        named, or if the device is named as the trace; you may need to be in the group "input".

        With --tuio, fingers come from programs that send TUIO 1.1 or 2.0 to a UDP port, which is 3333 in most of them \
        and if none is named, each on a surface of its own. Only this machine may send, unless an address such as \
        0.0.0.0:3333 admits others, too: any of them can then move the camera.

        The command ends at the first trace that cannot be played; ^C ends the replay and stops the camera. In a pipe, \
        --follow prints the same bytes whenever a trace is played: the epoch of "reset", which differs, is omitted.

        Examples:
          gimbal replay pan.ndjson
          gimbal replay pinch.evemu --viewport 390x844
          gimbal replay --speed max *.ndjson
          gimbal replay session.ndjson --from 2s --until 1:05 --loop 3
          gimbal replay session.ndjson --paused --idle-limit 1s
          gimbal replay --follow --speed max pan.ndjson | grep '"type":"idle"'
          gimbal replay --camera left big.ndjson.gz
          gimbal replay --device /dev/input/event5
          adb shell getevent -lt | gimbal replay --live --viewport 390x844 -
          gimbal replay --tuio --camera table
        """)

    @OptionGroup var socket: SocketOptions

    @Option("The speed: 1 is as recorded, 2 is twice as fast, \"max\" is as fast as possible.", "factor")
    var speed: Speed?

    @Option("The camera, instead of the one in the header.", "name", completion: .cameras)
    var camera: CameraName?

    @OptionGroup var recording: RecordingOptions

    @OptionGroup var playback: PlaybackOptions

    @OptionGroup var selection: TraceNumber

    @Flag(help: "Print the camera's events as they arrive.")
    var follow = false

    @Flag(help: "Feed the camera gestures as fingers make them, instead of replaying a trace.")
    var live = false

    // Read in `validate()`: if reading failed here, the parser would take the default.
    @Option(
        defaultAsFlag: "", parsing: .next,
        help: ArgumentHelp(
            "Feed the camera fingers that are sent by TUIO to this port, or address and port (default: 3333).",
            valueName: "port"))
    var tuio: String?

    @Flag(help: "Keep others from moving the camera until this command ends, as \"gimbal lease\" does.")
    var lease = false

    @Argument(help: "The traces or recordings; - is standard input.", completion: .file())
    var traces: [String] = []

    func validate() throws {
        if let tuio {
            _ = try TUIOAddress(typed: tuio)
            if let option = recording.givenOfDevice {
                throw ValidationError("\(option) is for recordings, not for TUIO.")
            }
            if !traces.isEmpty { throw ValidationError("Traces and --tuio cannot be combined.") }
        } else if traces.isEmpty, recording.device == nil {
            throw ValidationError("Name the traces to play, or a touchscreen with --device /dev/input/eventN.")
        }
        let option = playback.given ?? speed.map { _ in "--speed" } ?? selection.number.map { _ in "--trace" }
        if live || traces.isEmpty, let option {
            throw ValidationError("\(option) is for traces, not for live fingers.")
        }
    }

    /// The header's members for the options; other members keep their values.
    var members: [(name: String, value: JSONValue?)] {
        let own: [(name: String, value: JSONValue?)] = [
            ("speed", speed?.json), ("camera", (camera?.text).map(JSONValue.string)),
        ]
        return own.filter { $0.value != nil } + playback.members
    }

    func run() throws {
        let output = Output()
        var rejected = 0
        if let tuio { rejected += try LiveSession(TUIOFingers(TUIOAddress(typed: tuio), self), self, output).run() }
        // Without a trace, the fingers come from the device itself.
        for trace in traces.isEmpty ? [recording.device].compactMap(\.self) : traces {
            if live || traces.isEmpty || InputFile.isDevice(trace) {
                rejected += try LiveSession(RecordedFingers(trace, self), self, output).run()
            } else {
                let session = try ReplaySession(trace, self, output)
                rejected += try session.run()
                if session.isEndedByKey { break }
            }
        }
        if rejected > 0 { throw ExitCode(.rejected) }
    }
}

/// Options for how a trace is played, besides its speed.
struct PlaybackOptions: ParsableArguments {
    @Option("Where to begin in the trace (default: its beginning).", "time")
    var from: Milliseconds?

    @Option("Where to end in the trace (default: its end).", "time")
    var until: Milliseconds?

    @Option("How many times to play it; \"forever\" plays it until it is ended.", "n")
    var loop: TracePlayback.Loop?

    @Flag(help: "Begin paused.")
    var paused = false

    @Option("Wait at most this long while nothing happens.", "time")
    var idleLimit: Milliseconds?

    @Flag(help: "Pause after each marker.")
    var pauseOnMarkers = false

    @Flag(
        help: "Stay at the end, ready to seek and play again, until ended or something else moves the camera.")
    var pauseAtEnd = false

    /// The options that were given, each with its member of a header.
    private var said: [(option: String, member: String, value: JSONValue)] {
        let all: [(String, String, JSONValue?)] = [
            ("--from", "fromMs", (from?.milliseconds).map(JSONValue.number)),
            ("--until", "untilMs", (until?.milliseconds).map(JSONValue.number)),
            ("--loop", "loop", loop?.json), ("--paused", "paused", paused ? .bool(true) : nil),
            ("--idle-limit", "idleTimeLimitMs", (idleLimit?.milliseconds).map(JSONValue.number)),
            ("--pause-on-markers", "pauseOnMarkers", pauseOnMarkers ? .bool(true) : nil),
            ("--pause-at-end", "pauseAtEnd", pauseAtEnd ? .bool(true) : nil),
        ]
        return all.compactMap { option, member, value in value.map { (option, member, $0) } }
    }

    /// The name of the first option that was given.
    var given: String? { said.first?.option }

    /// The header's members for these options; other members keep their values.
    var members: [(name: String, value: JSONValue?)] { said.map { ($0.member, $0.value) } }

    func validate() throws {
        try from?.checkRange("--from")
        try until?.checkRange("--until")
        if let from, let until, until.milliseconds < from.milliseconds {
            throw ValidationError("--until must not be before --from.")
        }
        try idleLimit?.checkRange("--idle-limit")
    }
}

extension TracePlayback.Loop: TypedArgument {
    /// Reads a number of times, or `forever`.
    init(typed text: String) throws {
        if text == "forever" {
            self = .forever
        } else if let times = Int(text), times >= 1, times < 1 << 53 {
            self = .times(times)
        } else {
            throw ValidationError("write how many times, 1 or more, or forever.")
        }
    }

    /// The value in a header.
    fileprivate var json: JSONValue {
        switch self {
        case .times(let times): .number(Double(times))
        case .forever: .bool(true)
        }
    }
}
