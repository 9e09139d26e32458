// Sections of traces: when cut out or joined, they move the camera as in the whole trace, to the last digit.

import Foundation
import GimbalProtocol
import TestSupport
import Testing
import Traces

/// Returns the camera's changes, with their times, when a trace is played as fast as possible.
private func changes(_ trace: Trace) throws -> [(timeMs: Double, position: String)] {
    let lines = try TraceRun.events(of: trace).split(separator: 0x0a)
    return try lines.filter { ReceivedLine($0).type == .cameraChanged }.map { line in
        let event = try JSON(String(decoding: line, as: UTF8.self))
        return (event["timeMs"]?.number ?? -1, event["position"]?.text ?? "")
    }
}

/// Random lines of a trace: gestures of several fingers, taps, flings with and without inertia, animations, commands
/// and settings, and occasionally one that a daemon rejects.
private struct RandomTrace {
    var random: Seeded
    private var time = 0.0
    private var active: Set<String> = []
    private var total: [String: Double] = [:]

    init(seed: UInt64) { random = Seeded(seed) }

    mutating func trace(lines count: Int) throws -> Trace {
        time = random.chance(0.5) ? 0 : random.number(0...1e6)
        let header =
            #"{"type":"trace","version":1,"camera":"left","speed":2,"note":"kept","viewport":{"width":390,"height":844},"#
            + #""position":{"target":{"latitude":\#(random.number(-60...60)),"longitude":\#(random.number(-180...180))},"#
            + #""zoom":\#(random.number(3...17)),"bearing":\#(random.number(0...359))},"#
            + #""gestures":{"inertia":\#(random.chance(0.5)),"scrollDuringRotateOrZoom":\#(random.chance(0.7))}}"#
        var lines = [header]
        for _ in 0..<count {
            time += random.pick([
                0, 1, 8.25, 16.7, random.number(0...40), 5, random.chance(0.2) ? random.number(100...2500) : 5,
            ])
            lines.append(line())
        }
        return try Trace((lines.joined(separator: "\n") + "\n").utf8)
    }

    private mutating func line() -> String {
        switch random.integer(0...99) {
        case 0..<70: return gesture()
        case 70..<78: return "[\(gesture()),\(gesture())]"
        case 78..<82: return #"{"type":"double-tap","timeMs":\#(time),"focus":\#(point())}"#
        case 82..<86:
            return #"{"type":"animate","timeMs":\#(time),"durationMs":\#(random.integer(0...900)),"#
                + #""update":{"kind":"zoom-by","amount":\#(random.number(-2...2)),"focus":\#(point())}}"#
        case 86..<89:
            return #"{"type":"move","timeMs":\#(time),"#
                + #""update":{"kind":"scroll-by","x":\#(random.integer(-90...90)),"y":7}}"#
        case 89..<91: return #"{"type":"set-gestures","timeMs":\#(time),"inertia":\#(random.chance(0.5))}"#
        case 91..<93: return #"{"type":"set-zoom-range","timeMs":\#(time),"maxZoom":\#(random.number(12...20))}"#
        case 93: return #"{"type":"set-viewport","timeMs":\#(time),"width":400,"height":\#(random.integer(500...900))}"#
        case 94: return #"{"type":"stop","timeMs":\#(time)}"#
        case 95: return #"{"type":"get-camera","timeMs":1e9}"#
        case 96: return #"{"type":"set-zoom-range","timeMs":\#(time),"minZoom":9,"maxZoom":4}"#
        case 97: return #"{"type":"pan","phase":"changed","timeMs":\#(time - 5e6)}"#
        default: return #"{"type":"fly","timeMs":\#(time)}"#
        }
    }

    private mutating func point() -> String { #"{"x":\#(random.number(0...390)),"y":\#(random.number(0...844))}"# }

    private mutating func gesture() -> String {
        let (type, member) = random.pick([
            ("pan", "translation"), ("pinch", "scale"), ("rotate", "rotationDeg"), ("tilt", "translation"),
            ("one-finger-zoom", "translation"),
        ])
        let label = random.pick(["", #","gesture":2"#, #","gesture":"b""#])
        let key = type + label
        let phase =
            active.contains(key)
            ? random.pick(["changed", "changed", "changed", "changed", "ended", "cancelled"]) : "began"
        if phase == "began" { (active, total[key]) = (active.union([key]), 0) }
        if phase == "ended" || phase == "cancelled" { active.remove(key) }
        total[key, default: 0] += random.number(-20...20)
        let step = total[key] ?? 0
        let value =
            switch type {
            case "pan": #"{"x":\#(step),"y":\#(step / 3)}"#
            case "pinch": "\(exp2(step / 60))"
            case "rotate": "\(step)"
            default: #"{"y":\#(step)}"#
            }
        let focus = random.chance(0.7) ? #","focus":\#(point())"# : ""
        return #"{"type":"\#(type)","phase":"\#(phase)","timeMs":\#(time)\#(label),"\#(member)":\#(value)\#(focus)}"#
    }
}

@Suite struct CutTests {
    /// Compares a cut with the whole trace during the same time.
    private func check(
        _ trace: Trace, _ whole: [(timeMs: Double, position: String)], from: Double?, until: Double?, _ what: String
    ) throws -> TraceCut {
        let cut = try trace.cut(fromMs: from, untilMs: until)
        let found = try changes(cut.trace)
        func printed(_ time: Double) -> Double { (time * 1000).rounded() }
        #expect(
            printed(cut.startMs) <= printed(from ?? 0) && (cut.reason != nil || cut.startMs == from ?? 0), "\(what)")
        let stretch = whole.filter { printed($0.timeMs) <= printed(until ?? .infinity) }
        let after = stretch.filter { printed($0.timeMs) > printed(cut.startMs) }
        // A cut that begins before a line has part of what happens at the line's time.
        let within = cut.startMs == 0 || cut.reason != nil
        let at = within ? stretch.filter { printed($0.timeMs) >= printed(cut.startMs) } : after
        #expect(found.count >= after.count && found.count <= at.count, "\(what): \(found.count) of \(after.count)")
        let wanted = at.suffix(found.count)
        let place = zip(wanted, found).enumerated().first { $1.0.position != $1.1.position }
        #expect(place == nil, "\(what): \(place as Any)")
        let isOnTime = zip(wanted, found).allSatisfy { abs($0.timeMs - cut.startMs - $1.timeMs) < 0.002 }
        #expect(isOnTime, "\(what): times")
        return cut
    }

    @Test(arguments: UInt64(1)...12)
    func aCutMakesThePositionsOfThatStretchOfTheWhole(seed: UInt64) throws {
        var generator = RandomTrace(seed: seed)
        let trace = try generator.trace(lines: 100)
        let whole = try changes(trace)
        let end = whole.last?.timeMs ?? 0
        #expect(whole.count > 20)
        var random = Seeded(seed &+ 1000)
        for _ in 0..<8 {
            // Anywhere, or exactly at the time of an event.
            func time() -> Double {
                random.chance(0.5) ? random.number(0...end) : whole[random.integer(0...whole.count - 1)].timeMs
            }
            let times = [time(), time()].sorted()
            let from = random.chance(0.9) ? times[0] : nil
            let until = random.chance(0.6) ? times[1] : nil
            guard from ?? 0 < until ?? .infinity else { continue }
            _ = try check(trace, whole, from: from, until: until, "seed \(seed), \(from ?? -1) to \(until ?? -1)")
        }
    }

    @Test func theSamplesCanBeCutAnywhere() throws {
        for (name, bytes) in try Self.samples() {
            let trace = try Trace(bytes)
            let whole = try changes(trace)
            let end = try #require(whole.last?.timeMs)
            for step in 0..<8 {
                let from = end * Double(step) / 8
                _ = try check(trace, whole, from: from, until: from + end / 7, "\(name) at \(from)")
            }
        }
    }

    private static func samples() throws -> [(name: String, bytes: [UInt8])] {
        try Files.list(Files.root.appendingPathComponent("Protocols/examples/traces"), "ndjson").map {
            ($0.lastPathComponent, Array(try Data(contentsOf: $0)))
        } + Files.recordedTraces().filter { $0.bytes.starts(with: #"{"type":"trace""#.utf8) }
    }

    private func trace(_ lines: String...) throws -> Trace { try Trace(lines.joined(separator: "\n").utf8) }

    @Test func aCutBeginsTheGesturesThatAreActive() throws {
        let whole = try trace(
            #"{"type":"trace","version":1,"id":"x","camera":"left","speed":2,"untilMs":9e9,"own":[1]}"#,
            #"{"type":"pan","phase":"began","timeMs":100,"gesture":"a"}"#,
            #"{"type":"pan","phase":"changed","timeMs":200,"gesture":"a","translation":{"x":50,"y":0}}"#,
            #"{"type":"pan","phase":"changed","timeMs":300,"gesture":"a","translation":{"x":80,"y":0}}"#)
        let cut = try whole.cut(fromMs: 150, untilMs: 180)
        let lines = String(decoding: cut.trace.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        let header = try JSON(lines[0])
        #expect(header["camera"]?.string == "left" && header["speed"]?.number == 2 && header["own"] != nil)
        #expect(header["untilMs"] == nil && header["position"]?["target"]?["longitude"]?.number ?? 0 < 0)
        let types = try lines.map { try JSON($0)["type"]?.string }
        #expect(types == ["trace", "pan", "stop", "trace-end"])
        #expect(try JSON(lines[1])["phase"]?.string == "changed" && JSON(lines[1])["timeMs"]?.number == 150)
        #expect(try JSON(lines[2])["timeMs"]?.number == 180)
        #expect(cut.reason == nil && cut.startMs == 150 && cut.rejected == 0)
    }

    @Test func aCutHasNoSettingThatTheCameraHasLostBefore() throws {
        let idle = #""idleAction":{"afterMs":1000,"action":{"kind":"play","trace":"a"}}"#
        let whole = try trace(
            #"{"type":"trace","version":1,\#(idle)}"#, #"{"type":"set-idle-action","timeMs":0,"action":null}"#,
            #"{"type":"pan","phase":"began","timeMs":100}"#)
        #expect(try whole.cut().trace.header.header?.idleAction != nil)
        #expect(try whole.cut(fromMs: 50).trace.header.header?.idleAction == nil)
    }

    @Test func whereTheCameraMovesByItselfACutBeginsBefore() throws {
        let whole = try trace(
            #"{"type":"trace","version":1}"#,
            #"{"type":"move","timeMs":0,"update":{"kind":"zoom-to","zoom":5}}"#,
            #"{"type":"animate","timeMs":1000,"durationMs":500,"update":{"kind":"zoom-to","zoom":9}}"#,
            #"{"type":"animate","timeMs":1200,"durationMs":500,"update":{"kind":"zoom-to","zoom":3}}"#,
            #"{"type":"stop","timeMs":3000}"#)
        for (from, start, reason) in [
            (999.0, 999.0, nil), (1000, 1000, .moves), (1300, 1000, .moves), (1600, 1000, .moves), (1750, 1750, nil),
            (5000, 5000, nil),
        ] as [(Double, Double, TraceCut.Reason?)] {
            let cut = try whole.cut(fromMs: from)
            #expect(cut.startMs == start && cut.reason == reason, "\(from)")
        }
        #expect(try whole.cut(fromMs: 5000).trace.lines.isEmpty)
        #expect(try whole.cut().trace.lines.count == 4)
    }

    @Test func aCutBeginsBeforeAVelocityIsMeasured() throws {
        let whole = try trace(
            #"{"type":"trace","version":1,"gestures":{"inertia":true}}"#,
            #"{"type":"pinch","phase":"began","timeMs":0}"#,
            #"{"type":"pinch","phase":"changed","timeMs":500,"scale":1.1}"#,
            #"{"type":"pinch","phase":"changed","timeMs":560,"scale":1.3}"#,
            #"{"type":"pinch","phase":"ended","timeMs":600,"scale":1.5}"#)
        let cut = try check(whole, changes(whole), from: 570, until: nil, "in a pinch")
        #expect(cut.reason == .measures && cut.startMs == 0)
        #expect(try whole.cut(fromMs: 499).reason == nil)
    }

    @Test func aCutBeginsBeforeAVelocityOfFingersIsMeasured() throws {
        let frames = (0...30).map { frame -> String in
            let (left, right) = (180 - Double(frame) * 4, 220 + Double(frame) * 4)
            let touches = #"[{"id":1,"x":\#(left),"y":400},{"id":2,"x":\#(right),"y":400}]"#
            return #"{"type":"touch","timeMs":\#(frame * 16),"touches":\#(touches)}"#
        }
        let header = #"{"type":"trace","version":1,"gestures":{"inertia":true}}"#
        let lines = [header] + frames + [#"{"type":"touch","timeMs":485,"touches":[]}"#]
        let whole = try Trace(lines.joined(separator: "\n").utf8)
        let cut = try check(whole, changes(whole), from: 440, until: nil, "in a pinch of fingers")
        #expect(cut.reason == .measures && cut.startMs < 385)
    }

    // MARK: Joins

    @Test(arguments: UInt64(1)...8)
    func joinedTracesMakeThePositionsThatEachMakesAlone(seed: UInt64) throws {
        var generator = RandomTrace(seed: seed)
        try check((0..<3).map { _ in try generator.trace(lines: 40) }, "seed \(seed)")
    }

    /// One trace's tap is no first tap of the next one's, nor does its throw go on there.
    @Test func joinedFingersDoWhatTheyDoAlone() throws {
        func fingers(_ steps: [(timeMs: Int, x: Int)], inertia: Bool = true) throws -> Trace {
            let touches = steps.dropLast().map { #"[{"id":1,"x":\#($0.x),"y":400}]"# } + ["[]"]
            return try Trace(
                ([#"{"type":"trace","version":1,"gestures":{"inertia":\#(inertia)}}"#]
                    + zip(steps, touches).map { #"{"type":"touch","timeMs":\#($0.timeMs),"touches":\#($1)}"# })
                    .joined(separator: "\n").utf8)
        }
        let tap = try fingers([(0, 100), (50, 100)])
        let pan = (0...20).map { (timeMs: $0 * 10, x: 100 + $0 * 10) }
        let (fling, stop) = (try fingers(pan), try fingers(pan, inertia: false))
        for traces in [[tap, tap], [tap, fling], [fling, fling, tap, fling], [stop, stop]] {
            try check(traces, "\(traces.map(\.lines.count))")
        }
    }

    /// Checks that traces joined make the positions that each makes alone.
    private func check(_ traces: [Trace], _ name: String) throws {
        let joined = try Trace.joined(traces).trace
        let alone = try traces.map(changes)
        let found = try changes(joined)
        // Between two traces a command may set up the next one's camera.
        var rest = found[...]
        for (index, part) in alone.enumerated() {
            if index > 0, rest.count > part.count, rest.first?.position != part.first?.position { rest.removeFirst() }
            #expect(rest.prefix(part.count).map(\.position) == part.map(\.position), "\(name), trace \(index)")
            rest = rest.dropFirst(part.count)
        }
        #expect(rest.isEmpty)
        #expect(zip(found, found.dropFirst()).allSatisfy { $0.timeMs <= $1.timeMs })
    }

    @Test func cutsThatFollowOneAnotherJoinToTheWhole() throws {
        for (name, bytes) in try Self.samples().prefix(5) {
            let whole = try Trace(bytes)
            let all = try changes(whole)
            let middle = try whole.cut(fromMs: (all.last?.timeMs ?? 0) / 2)
            // Events at the seam belong to the first part, unless the cut begins before a line there.
            let first = try whole.cut(untilMs: middle.startMs - (middle.reason == nil ? 0 : 0.001))
            let found = try changes(Trace.joined([first.trace, middle.trace]).trace)
            #expect(found.map(\.position) == all.map(\.position), "\(name)")
        }
    }
}
