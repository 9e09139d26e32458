// `gimbal player`: controls a replay from another terminal or a script.

import ArgumentParser
import GimbalProtocol

struct Player: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Control the replay that moves a camera.",
        """
        Actions:
          pause          stops the replay's clock, and the camera with it
          resume         starts the clock again
          step [n]       pauses after n more changes of the camera (default: 1)
          seek time      goes to a time or a --marker; with a sign, moves by it
          speed factor   sets the speed: 1 is as recorded, max the fastest
          end            ends the replay, and plays motions to their end
          status         prints where the replay is

        status prints the daemon's line in a pipe or with --json.

        A client that may feed a camera may control its replay; a client that may only watch may ask for the status. \
        If no replay runs on the camera, the exit status is 1. Times count from the trace's first event: \
        \(Milliseconds.note)

        Examples:
          gimbal player pause
          gimbal player seek 1:05
          gimbal player seek -5s
          gimbal player seek --marker "lost the corner"
          gimbal player speed 0.25 --camera left
          gimbal player status --json | jq .timeMs
        """)

    /// What to do with the replay.
    enum Action: String, CaseIterable, ExpressibleByArgument {
        case pause, resume, step, seek, speed, end, status
    }

    @OptionGroup var options: CameraOptions

    @Option("Go to the first marker with this label that has been read.", "label")
    var marker: String?

    @Argument(help: "pause, resume, step, seek, speed, end or status.")
    var action: Action

    @Argument(help: "The number of steps, the time or the speed.")
    var value: String?

    func validate() throws { _ = try request }

    /// The request to the daemon.
    private var request: ClientRequest {
        get throws {
            if marker != nil, action != .seek { throw ValidationError("--marker is for seek.") }
            if let value, ![.step, .seek, .speed].contains(action) {
                throw ValidationError("Unexpected argument '\(value)'.")
            }
            switch action {
            case .pause: return .pauseReplay
            case .resume: return .resumeReplay
            case .step: return .stepReplay(count: try count)
            case .seek: return .seekReplay(try target)
            case .speed:
                guard let value else { throw ValidationError("Name the speed, such as 2, 0.5 or max.") }
                return .setReplaySpeed(try Speed(typed: value).factor)
            case .end: return .endReplay
            case .status: return .getReplay
            }
        }
    }

    private var count: Int {
        get throws {
            guard let value else { return 1 }
            guard let count = Int(value), (1...1_000_000).contains(count) else {
                throw ValidationError("Write how many steps, from 1 to 1000000.")
            }
            return count
        }
    }

    private var target: ReplayTarget {
        get throws {
            switch (value, marker) {
            case (let value?, nil):
                let time = try Milliseconds(typed: value)
                try Milliseconds(abs(time.milliseconds)).checkRange("The time")
                let isRelative = ["+", "-"].contains { value.hasPrefix($0) }
                return isRelative ? .offset(time.milliseconds) : .time(time.milliseconds)
            case (nil, let marker?):
                try Mark.check(marker)
                return .marker(marker)
            case (nil, nil): throw ValidationError("Name the time to go to, such as 1:05, or a --marker.")
            case (.some, .some): throw ValidationError("Name a time or a --marker, not both.")
            }
        }
    }

    func run() throws {
        let conversation = try Conversation(options)
        guard action == .status else { return try conversation.command(try request) }
        try conversation.show(.getReplay) { (status: ReplayStatus) in status.rows }
    }
}

extension ReplayStatus {
    fileprivate var rows: [PrintableText] {
        let length: PrintableText = durationMs.map { " of \(clock(milliseconds: $0, 3))" } ?? ""
        var rows = [
            titled("state", "\(state.rawValue)"), titled("time", "\(clock(milliseconds: timeMs, 3))\(length)"),
            titled("speed", speed.isFinite ? "\(short(speed)) times" : "as fast as possible"),
        ]
        if round > 1 { rows.append(titled("round", "\(grouped(round))")) }
        for (index, marker) in (markers ?? []).enumerated() {
            rows.append(
                titled(index == 0 ? "markers" : "", "\(clock(milliseconds: marker.timeMs, 3))  \(marker.label)"))
        }
        return rows
    }
}
