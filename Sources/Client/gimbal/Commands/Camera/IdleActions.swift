// `gimbal home`, `attract` and `traces`: what a camera does when nothing moves it.

import ArgumentParser
import GimbalClient

/// Options of the commands that set idle actions.
struct IdleOptions: ParsableArguments {
    @Option("How long the camera must rest first (default: the current setting, else 60s).", "time")
    var after: Milliseconds?

    @Flag(help: "Remove the idle action.")
    var none = false

    func validate() throws {
        if let after, !ClosedRange.idleTimes.contains(after.milliseconds) {
            throw ValidationError("--after must be 1s to 24h; a number alone is milliseconds.")
        }
    }

    /// Checks that an action is not both set and removed.
    func check(_ action: String?) throws {
        if action != nil, none { throw ValidationError("--none cannot be combined with what the camera is to do.") }
        if action == nil, after != nil {
            throw ValidationError("--after needs what the camera is to do then: a position or a trace.")
        }
    }

    /// Sets or removes an action if asked to; then shows the current one.
    func run(_ action: IdleAction.Action?, _ daemon: Conversation) throws {
        if let action {
            let afterMs = try after?.milliseconds ?? daemon.state().idleAction?.afterMs ?? 60_000
            try daemon.command(.set(.idleAction(IdleAction(afterMs: afterMs, action))))
        } else if none {
            try daemon.command(.set(.idleAction(nil)))
        }
        try daemon.showState { $0.table([.idleAction]) }
    }
}

struct Home: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Have a camera fly home when nothing moves it.",
        """
        When the camera has rested for a time, without a finger, a command or a lease, it flies home; any finger or \
        command takes over from where it is then. Without a place, shows the current idle action. Setting it replaces \
        what "gimbal attract" has set.

        Examples:
          gimbal home 48.8584,2.2945,14 --after 60s
          gimbal home 48.8584,2.2945,16,30,45 --after 5m --duration 3s
          gimbal home
          gimbal home --none
        """)

    @Argument(
        help: ArgumentHelp(
            "Latitude, longitude and zoom, optionally bearing and viewing angle, separated by commas.",
            valueName: "position"),
        transform: CameraPosition.init(typed:))
    var position: CameraPosition?

    @Option("How long the flight takes (default: depends on its length).", "time")
    var duration: Milliseconds?

    @OptionGroup var idle: IdleOptions
    @OptionGroup var options: QuestionOptions

    func validate() throws {
        try idle.check(position.map { _ in "" })
        if position == nil, duration != nil { throw ValidationError("--duration needs a place.") }
        try gimbal.check("--duration", duration?.milliseconds, .durations, " ms")
    }

    func run() throws {
        let action = position.map { IdleAction.Action.flyHome($0, durationMs: duration?.milliseconds) }
        try idle.run(action, Conversation(options))
    }
}

struct Attract: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Have a camera play a trace when nothing moves it.",
        """
        The trace is one of the daemon's own, in its --trace-dir; "gimbal traces" lists them. When the camera has \
        rested for a time, without a finger, a command or a lease, it flies to where the trace begins and plays it, \
        over and over; any finger or command takes over from where it is then. Without a name, shows the current idle \
        action. Setting it replaces what "gimbal home" has set.

        Examples:
          gimbal attract alps.ndjson --after 60s
          gimbal attract alps.ndjson --after 5m --once
          gimbal attract --none
        """)

    @Argument(help: ArgumentHelp("The trace's name, as \"gimbal traces\" lists it.", valueName: "trace"))
    var trace: String?

    @Flag(help: "Play it once, and again after the camera has rested as long once more.")
    var once = false

    @OptionGroup var idle: IdleOptions
    @OptionGroup var options: QuestionOptions

    func validate() throws {
        try idle.check(trace)
        if trace == nil, once { throw ValidationError("--once needs a trace.") }
    }

    func run() throws {
        try idle.run(trace.map { .play(trace: $0, loop: !once) }, Conversation(options))
    }
}

struct Traces: ParsableCommand {
    static let configuration = CommandConfiguration(
        "List the traces that the daemon can play by itself.",
        """
        Lists the traces in the daemon's --trace-dir, which "gimbal attract" can play: their names, how many lines \
        they have and how long they take. In a pipe or with --json, prints the daemon's line.

        Examples:
          gimbal traces
          gimbal traces --json | jq -r '.traces[].trace'
        """)

    @OptionGroup var options: AnswerOptions

    func run() throws {
        try Conversation(options).show(.traces) { (traces: [StoredTraceInfo]) in
            traces.map { "\($0.trace)  \(grouped($0.lines)) lines, \(clock(milliseconds: $0.durationMs, 0))" }
        }
    }
}

extension CameraPosition: TypedArgument {
    /// Reads a place and a zoom such as `48.8584,2.2945,14`, optionally followed by bearing and viewing angle.
    init(typed text: String) throws {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 || parts.count == 5 else {
            throw ValidationError(
                "write latitude, longitude and zoom, such as 48.8584,2.2945,14; bearing and viewing angle may follow.")
        }
        let rest = try parts[2...].map { try Number(typed: $0).value } + [0, 0]
        self.init(
            target: try LatLng(typed: parts[0] + "," + parts[1]), zoom: rest[0], bearing: rest[1], viewingAngle: rest[2]
        )
    }
}
