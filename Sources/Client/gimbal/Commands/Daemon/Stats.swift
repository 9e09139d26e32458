// `gimbal stats`: shows the daemon's counters.

import ArgumentParser
import GimbalClient
import GimbalProtocol

struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what the daemon has to do.",
        discussion: """
            Connections, cameras, subscriptions and replays as they are now; lines, events and bytes since the daemon began. \
            In a pipe or with --json, the daemon's line. --openmetrics prints them as Prometheus reads them, with those of each \
            user and of the first \(OpenMetrics.mostCameras) cameras.

            Examples:
              gimbal stats
              gimbal stats --json | jq .events
              gimbal stats --openmetrics | grep '^gimbal_camera_'
              watch -n 1 gimbal stats
            """
    )

    @OptionGroup var options: AnswerOptions

    @Flag(help: "Print them as Prometheus reads them: OpenMetrics 1.0.")
    var openmetrics = false

    func run() throws {
        if openmetrics { return try Conversation(options).showMetrics() }
        try Conversation(options).show(.stats) { (stats: DaemonStats) in stats.rows }
    }
}

extension DaemonStats {
    fileprivate var rows: [PrintableText] {
        [
            titled("running for", "\(clock(milliseconds: uptimeMs, 0))"),
            titled("connections", "\(grouped(connections)), this one included; \(grouped(connectionsTotal)) in all"),
            titled("cameras", "\(grouped(cameras))"),
            titled("subscriptions", "\(grouped(subscriptions))"),
            titled("replays", "\(grouped(replays))"),
            titled("lines", "\(grouped(lines)), \(grouped(bytesIn)) bytes"),
            titled("errors", "\(grouped(errors))"),
            titled("events", "\(grouped(events))"),
            titled("sent", "\(grouped(bytesOut)) bytes"),
        ]
    }
}
