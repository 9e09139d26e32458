// Metrics are generated from the members of answers. Tests/System/metrics.sh checks how real programs read the text.

import Testing

@testable import GimbalProtocol

@Suite struct OpenMetricsTests {
    @Test func theTextIsOpenMetrics() {
        var metrics = OpenMetrics(
            DaemonStats(
                uptimeMs: 1500, connections: 3, connectionsTotal: 17, cameras: 1, subscriptions: 0, replays: 0,
                lines: 9,
                errors: 0, events: 2, bytesIn: 10, bytesOut: 1 << 40))
        metrics.add(CameraState(camera: "left", seq: 7, position: .blank, setup: .blank))
        let lines = metrics.text.split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(4) == [
                "# TYPE gimbal_uptime_seconds gauge", "# UNIT gimbal_uptime_seconds seconds",
                "# HELP gimbal_uptime_seconds How long the daemon has been running.", "gimbal_uptime_seconds 1.5",
            ])
        #expect(lines.contains("# TYPE gimbal_accepted_connections counter"))
        #expect(lines.contains("gimbal_accepted_connections_total 17"))
        #expect(lines.contains("gimbal_sent_bytes_total 1099511627776"))
        #expect(lines.suffix(2) == [#"gimbal_camera_events_total{camera="left"} 7"#, "# EOF"])
    }

    @Test func theClientsOfAUserAreOne() {
        let clients = [1000, 0, 1000, nil].enumerated().map { index, user in
            var client = Client(number: index + 1)
            (client.user, client.unreadBytes) = (user, 10 * index)
            return client
        }
        var metrics = OpenMetrics(.blank)
        metrics.add(Array(clients[..<3]))
        metrics.add(Array(clients[3...]))
        let lines = metrics.text.split(separator: "\n").map(String.init)
        #expect(
            lines.filter { $0.hasPrefix("gimbal_user_unread_bytes{") } == [
                #"gimbal_user_unread_bytes{user="1000"} 20"#, #"gimbal_user_unread_bytes{user="0"} 10"#,
                #"gimbal_user_unread_bytes{user=""} 30"#,
            ])
        #expect(lines.contains(#"gimbal_user_connections{user="1000"} 2"#))
        #expect(lines.count { $0 == "# TYPE gimbal_user_connections gauge" } == 1)
    }
}
