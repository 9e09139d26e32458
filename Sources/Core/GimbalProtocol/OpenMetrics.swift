// The daemon's statistics in OpenMetrics 1.0, the text format that Prometheus reads. The members that are metrics are
// listed here, with the metric's name, kind and help; their order and values come from the description of the members.

/// A member as a metric.
private struct Metric {
    /// A gauge can go down, too; a counter only goes up until it is reset.
    enum Kind: String { case gauge, counter }

    /// The name; its last word is the unit, if that is seconds or bytes.
    let name: String
    let kind: Kind
    let help: String

    init(_ name: String, _ kind: Kind, _ help: String) { (self.name, self.kind, self.help) = (name, kind, help) }

    /// The members that are metrics: of the daemon, of a user's clients, and of a camera.
    static let ofMembers: [Field: Metric] = [
        .uptimeMs: Metric("uptime_seconds", .gauge, "How long the daemon has been running."),
        .connections: Metric("connections", .gauge, "Current connections."),
        .connectionsTotal: Metric("accepted_connections", .counter, "Connections accepted so far."),
        .cameras: Metric("cameras", .gauge, "Current cameras."),
        .subscriptions: Metric("subscriptions", .gauge, "Current subscriptions."),
        .replays: Metric("replays", .gauge, "Running replays."),
        .lines: Metric("received_lines", .counter, "Lines received."),
        .errors: Metric("errors", .counter, "Errors sent in reply."),
        .events: Metric("events", .counter, "Events emitted by cameras."),
        .bytesIn: Metric("received_bytes", .counter, "Bytes received."),
        .bytesOut: Metric("sent_bytes", .counter, "Bytes sent."),
        .subscriptionCount: Metric("subscriptions", .gauge, "Current subscriptions of the user's clients."),
        .waits: Metric("waits", .gauge, "Requests of the user's clients waiting for a camera to rest."),
        .unreadBytes: Metric("unread_bytes", .gauge, "Bytes of answers not yet sent to the user's clients."),
        .seq: Metric("events", .counter, "Events of the camera since it was created or reset."),
    ]
}

/// Metrics collected from the daemon's answers: for the daemon, each user, and each of the first ``mostCameras``
/// cameras. Connections have none: they come and go, and each would leave a time series.
package struct OpenMetrics {
    /// The maximum number of cameras with metrics of their own: the first ones by name.
    package static let mostCameras = 256
    /// The HTTP content type of the text.
    package static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    private var families: [(metric: Metric, samples: [(labels: String, value: Double)])] = []
    /// The prefix and labels of the value being added.
    private var (prefix, labels) = ("", "")

    package init(_ stats: DaemonStats) { add(stats, "") }

    /// Adds clients to the totals of their users.
    package mutating func add(_ clients: [Client]) {
        for client in clients {
            // A watch-only client does not see the users of others.
            add(client, "user_", "{user=\"\(client.user.map { "\($0)" } ?? "")\"}")
            add(1, Metric("connections", .gauge, "The user's current connections."))
        }
    }

    package mutating func add(_ camera: CameraState) { add(camera, "camera_", "{camera=\"\(camera.camera)\"}") }

    private mutating func add(_ value: some Described, _ prefix: String, _ labels: String = "") {
        (self.prefix, self.labels) = (prefix, labels)
        var value = value
        value.describe(&self)
    }

    private mutating func add(_ value: Double, _ metric: Metric) {
        let metric = Metric("gimbal_\(prefix)\(metric.name)", metric.kind, metric.help)
        let family = families.firstIndex { $0.metric.name == metric.name } ?? families.endIndex
        if family == families.endIndex { families.append((metric, [])) }
        if let sample = families[family].samples.firstIndex(where: { $0.labels == labels }) {
            families[family].samples[sample].value += value
        } else {
            families[family].samples.append((labels, value))
        }
    }

    package var text: String {
        var text = ""
        for (metric, samples) in families {
            text += "# TYPE \(metric.name) \(metric.kind)\n"
            for unit in ["seconds", "bytes"] where metric.name.hasSuffix("_\(unit)") {
                text += "# UNIT \(metric.name) \(unit)\n"
            }
            text += "# HELP \(metric.name) \(metric.help)\n"
            let name = metric.name + (metric.kind == .counter ? "_total" : "")
            for (labels, value) in samples { text += "\(name)\(labels) \(plain(value))\n" }
        }
        return text + "# EOF\n"
    }
}

extension OpenMetrics: MemberVisitor {
    package mutating func scalar<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value?, _ rule: Rule, _ presence: Presence
    ) {
        guard let metric = Metric.ofMembers[field] else { return }
        switch value {
        case let count as Int: add(Double(count), metric)
        case let milliseconds as Double: add(milliseconds / 1000, metric)
        default: break
        }
    }

    // Nested members are not metrics.
    package func object<Value: Described>(
        _ field: Field, _ value: inout Value?, blank: Value, _ presence: Presence
    ) {}
    package func list<Value: Described>(
        _ field: Field, _ values: inout [Value]?, _ rule: ListRule, _ presence: Presence
    ) {}
    package func check(_ isRight: Bool, _ error: (FieldPath) -> GimbalError) {}
}
