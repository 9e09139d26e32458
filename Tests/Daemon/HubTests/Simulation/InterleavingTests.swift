// Random orders of gestures, commands, animations, disconnects and clock steps, compared with a model that knows only
// which fingers are down and what set the camera in motion. The model tells when it must rest, and why it moves.

import Foundation
import Hub
import TestSupport
import Testing

private struct Interleaving {
    private struct Finger: Hashable {
        var feed: Int
        var kind: String
    }

    private static let kinds = ["pan", "pinch", "rotate", "tilt", "one-finger-zoom"]

    private var random: Seeded
    private let host = HubHost()
    private let watcher: HubPeer
    private var feeds: [Int: HubPeer] = [:]
    private var nextFeed = 0
    private var checker = StreamChecker(isEvery: true)

    // The model.
    private var fingers: Set<Finger> = []
    private var off: Set<String> = []
    /// The reason for which the camera would move by itself.
    private var reason = "animation"
    /// Whether subscribers have been sent the beginning of a movement, but not its end.
    private var isMoving = false

    private(set) var complaints: [String] = []
    private(set) var seen: [String: Int] = [:]

    init(seed: UInt64) {
        random = Seeded(seed)
        watcher = host.connect()
        watcher.send(#"{"type":"subscribe"}"#)
    }

    mutating func run(steps: Int) {
        for step in 0..<steps where complaints.isEmpty {
            let what = act()
            look(after: what)
            complaints = complaints.map { "step \(step), after \(what.line): \($0)" }
        }
    }

    // MARK: Actions

    /// An action, and the reasons that its events may have.
    private struct Act {
        var line: String
        var reasons: Set<String>
        /// Whether it is a complete change of the camera.
        var isSnap = false
    }

    private mutating func act() -> Act {
        switch random.integer(0...9) {
        case 0...1: return step()
        case 2: return command()
        case 3 where random.chance(0.3): return disconnect()
        case 4 where random.chance(0.3): return switches()
        default: return gesture()
        }
    }

    private mutating func step() -> Act {
        let time = random.chance(0.1) ? 5000 : random.number(0...80)
        host.pass(time)
        return Act(line: "\(time) ms", reasons: [reason])
    }

    private mutating func feed() -> (Int, HubPeer) {
        if let feed = feeds.keys.sorted().randomElement(using: &random), random.chance(0.8), let peer = feeds[feed] {
            return (feed, peer)
        }
        nextFeed += 1
        let peer = host.connect()
        feeds[nextFeed] = peer
        return (nextFeed, peer)
    }

    private mutating func command() -> Act {
        let (_, peer) = feed()
        fingers = []
        let zoom = random.number(1...22)
        switch random.integer(0...3) {
        case 0:
            peer.send(#"{"type":"stop"}"#)
            return Act(line: "stop", reasons: [])
        case 1:
            reason = "animation"
            let line =
                #"{"type":"animate","durationMs":\#(random.number(1...300)),"update":{"kind":"zoom-to","zoom":\#(zoom)}}"#
            peer.send(line)
            return Act(line: line, reasons: [])
        default:
            let line = #"{"type":"move","update":{"kind":"set-target","target":{"latitude":\#(zoom),"longitude":0}}}"#
            peer.send(line)
            return Act(line: line, reasons: ["command"], isSnap: true)
        }
    }

    private mutating func disconnect() -> Act {
        let (feed, peer) = feed()
        peer.close()
        feeds[feed] = nil
        fingers = fingers.filter { $0.feed != feed }
        return Act(line: "disconnect", reasons: [])
    }

    private mutating func switches() -> Act {
        let (_, peer) = feed()
        let names = ["pan": "scroll", "pinch": "zoom", "rotate": "rotate", "tilt": "tilt"]
        off = Set(names.keys.filter { _ in random.chance(0.3) })
        if off.contains("pinch") { off.formUnion(["one-finger-zoom", "double-tap", "two-finger-tap"]) }
        fingers = fingers.filter { !off.contains($0.kind) }
        let members = names.map { "\"\($0.value)\":\(!off.contains($0.key))" }.joined(separator: ",")
        peer.send("{\"type\":\"set-gestures\",\"inertia\":\(random.chance(0.7)),\(members)}")
        return Act(line: "set-gestures", reasons: [])
    }

    /// Sends a line of one gesture, or of several as a batch.
    private mutating func gesture() -> Act {
        let (feed, peer) = feed()
        let objects = (0..<(random.chance(0.6) ? 1 : 3)).map { _ in report(feed) }
        let line = objects.count == 1 ? objects[0] : "[\(objects.joined(separator: ","))]"
        peer.send(line)
        return Act(line: line, reasons: ["gesture"])
    }

    private mutating func report(_ feed: Int) -> String {
        if random.chance(0.1) {
            let kind = random.chance(0.5) ? "double-tap" : "two-finger-tap"
            if !off.contains(kind), fingers.isEmpty { reason = "gesture" }
            return #"{"type":"\#(kind)","focus":{"x":\#(random.number(0...390)),"y":200}}"#
        }
        let kind = Self.kinds[random.integer(0...4)]
        let phase = ["began", "changed", "changed", "ended", "ended", "cancelled"][random.integer(0...5)]
        let finger = Finger(feed: feed, kind: kind)
        if !off.contains(kind) {
            if phase == "began" || phase == "changed" {
                fingers.insert(finger)
                reason = "gesture"
            } else {
                fingers.remove(finger)
            }
        }
        let (x, y) = (random.number(-200...200), random.number(-200...200))
        return #"{"type":"\#(kind)","phase":"\#(phase)","focus":{"x":\#(abs(x)),"y":\#(abs(y))},"timeMs":\#(host.now),"#
            + #""translation":{"x":\#(x),"y":\#(y)},"scale":\#(exp2(x / 200)),"rotationDeg":\#(y)}"#
    }

    // MARK: Checks

    private mutating func look(after act: Act) {
        var types: [String] = []
        let wasMoving = isMoving
        for line in watcher.lines() {
            guard let json = try? JSON(line), let type = json["type"]?.string, type != "subscribed" else { continue }
            if let complaint = checker.take(json) { complaints.append("\(complaint): \(line)") }
            types.append(type)
            isMoving = type != "idle"
            let its = json["reason"]?.string ?? ""
            if type != "idle", !act.reasons.contains(its) { complaints.append("\(its) is no reason: \(line)") }
            seen["\(type) \(its)", default: 0] += 1
        }
        watcher.compact()
        // Only motions have deadlines.
        let mayMove = !fingers.isEmpty || host.hub.deadline != nil
        if isMoving, !mayMove { complaints.append("nothing moves it, and it is not idle") }
        if types.contains("idle"), mayMove { complaints.append("idle, but \(fingers) and \(host.hub.deadline ?? 0)") }
        if act.isSnap, !types.isEmpty {
            let snap = ["move-started", "camera-changed", "idle"]
            let isRight = types == snap || wasMoving && (types == Array(snap.dropFirst()) || types == ["idle"])
            if !isRight { complaints.append("a snap gave \(types)") }
        }
    }
}

@Suite struct InterleavingTests {
    @Test func eventsFollowGesturesAndMotionInEveryOrder() {
        var seen: [String: Int] = [:]
        for seed in UInt64(1)...2000 {
            var interleaving = Interleaving(seed: seed)
            interleaving.run(steps: 40)
            #expect(interleaving.complaints == [], "seed \(seed)")
            seen.merge(interleaving.seen, uniquingKeysWith: +)
        }
        // The seeds cover what the property is about.
        for type in ["move-started", "camera-changed", "idle"] {
            for reason in ["gesture", "animation", "command"] {
                #expect(seen["\(type) \(reason)", default: 0] > 100, "\(type) \(reason)")
            }
        }
    }
}
