// Random traces: gestures, taps, flings, animations, settings and markers, some at the same time, some far apart, some
// still active at the end; and the output of an unsteered run of one.

import TestSupport

struct RandomTrace {
    /// The header's members except type and version.
    let header: String
    /// The lines after the header, without the end.
    let lines: [String]
    /// The times of the lines, relative to the first one.
    let times: [Double]

    init(seed: UInt64, count: Int = 120) {
        var random = Seeded(seed)
        var (lines, times): ([String], [Double]) = ([], [])
        var time = random.number(-1e6...2e9)
        var origin = time
        while lines.count < count {
            switch random.integer(0...9) {
            case 0: break
            case 1: time += random.number(0...1500)
            default: time += random.chance(0.3) ? 1000 / 120 : random.number(0...40)
            }
            // The times count from a line that is accepted.
            if lines.isEmpty { origin = time }
            var objects = lines.isEmpty ? ["{\"timeMs\":\(time),\"type\":\"stop\"}"] : []
            for _ in 0..<(lines.isEmpty ? 0 : random.chance(0.8) ? 1 : random.integer(1...4)) {
                objects.append("{\"timeMs\":\(time),\(Self.body(&random))}")
            }
            lines.append(objects.count == 1 ? objects[0] : "[" + objects.joined(separator: ",") + "]")
            times.append(time - origin)
        }
        header = #""position":{"target":{"latitude":\#(random.number(-60...60)),"longitude":11},"zoom":9}"#
        (self.lines, self.times) = (lines, times)
    }

    private static func body(_ random: inout Seeded) -> String {
        if random.chance(0.06) { return #""type":"marker","label":"m\#(random.integer(0...9))""# }
        while true {
            let body = SimulatedLine.body(&random)
            let isOfTraces = ["get-camera", "ping", "cameras", "hello", "visible-region", "project", "clients"]
                .allSatisfy { !body.contains("\"type\":\"\($0)\"") }
            // What the camera does by itself after the end does not belong to the trace.
            let others = ["camera-for", "-replay", "remove-", "idle-action"]
            if isOfTraces, !others.contains(where: { body.contains($0) }) { return body }
        }
    }

    /// Returns the whole trace.
    func bytes(_ members: String) -> [UInt8] {
        let first = #"{"type":"trace","id":"t","version":1,\#(header)\#(members)}"#
        let all = [first] + lines + [#"{"type":"trace-end"}"#]
        return Array((all.joined(separator: "\n") + "\n").utf8)
    }
}

/// What a subscriber to movements and markers is sent of an unsteered trace.
struct UnbrokenRun {
    static let kinds = #"["move-started","camera-changed","idle","marker"]"#

    private(set) var lines: [String] = []
    /// The times of the lines as printed, in thousandths of a millisecond.
    private var times: [Int] = []
    private var messages: [JSON] = []
    private let beginning: JSON
    private(set) var ended = ""

    init(_ trace: RandomTrace) throws {
        let host = HubHost()
        let (subscriber, feed) = (host.connect(), host.connect())
        subscriber.send(#"{"type":"subscribe","events":\#(Self.kinds)}"#)
        feed.send(trace.bytes(#","speed":"max""#))
        while host.moveOn() {}
        let told = subscriber.lines()
        beginning = try JSON(told[1])
        for line in told[2...] {
            let message = try JSON(line)
            lines.append(line)
            messages.append(message)
            times.append(Self.printed(message["timeMs"]?.number ?? -1))
        }
        ended = feed.lines().last ?? ""
    }

    static func printed(_ time: Double) -> Int { Int((time * 1000).rounded()) }

    var duration: Double { (try? JSON(ended))?["durationMs"]?.number ?? 0 }

    func time(of line: Int) -> Double { Double(times[line]) / 1000 }

    /// Returns how many lines have been sent once everything up to a time has.
    func count(upTo time: Double) -> Int { times.prefix { $0 <= Self.printed(max(time, 0)) }.count }

    /// Returns what is wrong with a `reset` after this many lines; `nil` if nothing is.
    func complaint(about reset: JSON, behind count: Int) -> String? {
        let last = messages[..<count].last { $0["seq"] != nil }
        let isMoving = last.map { $0["type"]?.string != "idle" } ?? false
        guard reset["type"]?.string == "reset" else { return "no reset: \(reset.text)" }
        let isRight =
            reset["seq"]?.number == last?["seq"]?.number ?? 0
            && reset["timeMs"]?.number == last?["timeMs"]?.number ?? 0
            && reset["position"] == last?["position"] ?? beginning["position"]
            && reset["moving"]?.string == (isMoving ? last?["reason"]?.string : nil)
        return isRight ? nil : "\(reset.text) behind \(last?.text ?? "the beginning")"
    }
}
