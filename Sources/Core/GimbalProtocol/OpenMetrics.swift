// What the daemon tells of its work, as text in the format OpenMetrics 1.0, which Prometheus reads. A member is a metric where its
// description says so: its name, kind and help stand there and nowhere else.

/// A member as a metric.
package struct Metric: Sendable {
    enum Kind: String { case gauge, counter }

    /// Its last word is the unit, if that is seconds or bytes.
    let name: String
    let kind: Kind
    let help: String
}

/// A rule for a member that is a metric, too.
struct MetricRule<Rule: MemberRule>: MemberRule where Rule.Value: Sendable {
    let rule: Rule
    let metric: Metric?

    static var asksForIntegers: Bool { Rule.asksForIntegers }
    func read(_ scalar: JSONScalar) -> Rule.Value? { rule.read(scalar) }
    func allows(_ value: Rule.Value) -> Bool { rule.allows(value) }
    func write(_ value: Rule.Value, to line: inout LineWriter) { rule.write(value, to: &line) }
    var wanted: String { rule.wanted }
    var hint: String { rule.hint }
}

extension MemberRule where Value: Sendable {
    /// What can become less, too.
    func gauge(_ name: String, _ help: String) -> MetricRule<Self> {
        MetricRule(rule: self, metric: Metric(name: name, kind: .gauge, help: help))
    }

    /// What only becomes more, until it begins anew.
    func counter(_ name: String, _ help: String) -> MetricRule<Self> {
        MetricRule(rule: self, metric: Metric(name: name, kind: .counter, help: help))
    }
}

/// Metrics that are collected from answers of the daemon's. There is one of each kind for the daemon, for each user, and for each of
/// the first ``mostCameras`` cameras: connections come and go, and each would leave a time series of its own.
package struct OpenMetrics {
    /// Cameras that have metrics of their own, at most: the first ones by their names.
    package static let mostCameras = 256
    /// What the text is by HTTP.
    package static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    private var families: [(metric: Metric, samples: [(labels: String, value: Double)])] = []
    /// What is being added.
    private var (prefix, labels) = ("", "")

    package init(_ stats: DaemonStats) { add(stats, "") }

    /// Adds clients to those of their users.
    package mutating func add(_ clients: [Client]) {
        for client in clients {
            // Who may only watch is not told of other users.
            add(client, "user_", "{user=\"\(client.user.map { "\($0)" } ?? "")\"}")
            add(1, Metric(name: "connections", kind: .gauge, help: "Connections of the user's now."))
        }
    }

    package mutating func add(_ camera: CameraState) { add(camera, "camera_", "{camera=\"\(camera.camera)\"}") }

    private mutating func add(_ value: some Described, _ prefix: String, _ labels: String = "") {
        (self.prefix, self.labels) = (prefix, labels)
        var value = value
        value.describe(&self)
    }

    private mutating func add(_ value: Double, _ metric: Metric) {
        let metric = Metric(name: "gimbal_\(prefix)\(metric.name)", kind: metric.kind, help: metric.help)
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
        guard let metric = rule.metric else { return }
        switch value {
        case let count as Int: add(Double(count), metric)
        case let milliseconds as Double: add(milliseconds / 1000, metric)
        default: break
        }
    }

    // What stands deeper is no metric.
    package func object<Value: Described>(
        _ field: Field, _ value: inout Value?, blank: Value, _ presence: Presence
    ) {}
    package func list<Value: Described>(
        _ field: Field, _ values: inout [Value]?, _ rule: ListRule, _ presence: Presence
    ) {}
    package func check(_ isRight: Bool, _ error: (FieldPath) -> WireError) {}
}
