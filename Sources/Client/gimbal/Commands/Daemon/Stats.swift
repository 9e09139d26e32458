// `gimbal stats`: shows the daemon's counters.

import ArgumentParser
import GimbalProtocol

struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Show how busy the daemon is.",
        """
        Prints connections, cameras, subscriptions and replays as they are now, and lines, events and bytes since the \
        daemon started. In a pipe or with --json, prints the daemon's line. --openmetrics prints them in the format \
        that Prometheus reads, with those of each user and of the first \(OpenMetrics.mostCameras) cameras. promtool \
        check metrics reads an older format; a line of awk in the documentation's Protocols/page.md converts to it.

        Examples:
          gimbal stats
          gimbal stats --json | jq .events
          gimbal stats --openmetrics | grep '^gimbal_camera_'
          watch -n 1 gimbal stats
        """)

    @OptionGroup var options: AnswerOptions

    @Flag(help: "Print them in the format that Prometheus reads, OpenMetrics 1.0.")
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
