// Fingers out and in again: those that are made up mean what was asked for, those of a trace give its camera back, and
// every tool's form of a canonical script is read as the camera that was told beforehand.

import CameraStreams
import Foundation
import GimbalProtocol
import MapCamera
import TestSupport
import Testing
import TouchScripts
import TouchTraces
import Touches
import Traces

@Suite struct LongScriptTests {
    @Test func fingersThatAreDownForDaysAreNotPerformed() {
        var script = FingerScript(viewport: .standard)
        let touch = Touch(id: 1, position: ScreenPoint(x: 10, y: 10))
        script.frames = [
            TouchFrame(timeMs: 0, touches: [touch]), TouchFrame(timeMs: 1e12, touches: [touch]),
            TouchFrame(timeMs: 1e12 + 10, touches: []),
        ]
        #expect(CanonicalScript(script) == nil)
    }
}

@Suite struct TouchScriptTests {
    private static let start = CameraPosition(target: LatLng(latitude: 48.8584, longitude: 2.2945), zoom: 14)

    private func made(_ gesture: MadeGesture, seed: UInt64 = 1, _ shape: GestureShape = GestureShape()) -> FingerScript
    {
        var fingers = MadeFingers(viewport: .standard, seed: seed)
        fingers.make(gesture, shape)
        return fingers.script
    }

    /// The trace of a script, in which nothing is thrown.
    private func trace(_ script: FingerScript) throws -> Trace {
        var trace = try Trace(script.trace(from: Self.start))
        try trace.header.set([("gestures", .object(["fling": .bool(false)]))])
        return trace
    }

    private func end(_ trace: Trace) throws -> CameraPosition {
        let last = try #require(try TraceRun.events(of: trace).split(separator: 0x0a).last)
        return try #require(ReceivedLine(last).traceEnded?.position)
    }

    private func kinds(_ trace: Trace) -> Set<String> {
        Set(
            trace.lines.flatMap(\.requests).compactMap { request in
                if case .gesture(let gesture) = request.body { "\(gesture.event.kind)" } else { nil }
            })
    }

    // MARK: Made-up fingers

    @Test(arguments: MadeGesture.allCases)
    func theSameSeedMakesTheSameBytes(_ gesture: MadeGesture) {
        for seed in [0, 1, UInt64.max] {
            #expect(made(gesture, seed: seed).webTouches == made(gesture, seed: seed).webTouches)
        }
        #expect(made(gesture, seed: 1) != made(gesture, seed: 2))
    }

    @Test(arguments: [
        (MadeGesture.pan, ["pan"]), (.fling, ["pan"]), (.pinch, ["pan", "pinch", "rotate"]),
        (.rotate, ["pan", "pinch", "rotate"]), (.tilt, ["tilt"]), (.tap, []), (.doubleTap, ["doubleTap"]),
        (.twoFingerTap, ["twoFingerTap"]), (.oneFingerZoom, ["oneFingerZoom"]),
    ])
    func madeFingersAreRecognized(_ gesture: MadeGesture, as expected: [String]) throws {
        for seed in 1...20 { #expect(try kinds(trace(made(gesture, seed: UInt64(seed)))) == Set(expected), "\(seed)") }
    }

    @Test func madeFingersDoWhatIsAskedFor() throws {
        var shape = GestureShape()
        (shape.scale, shape.degrees) = (2, 30)
        let pinched = try end(trace(made(.pinch, shape)))
        #expect(abs(pinched.zoom - 15) < 0.01 && abs(pinched.bearing - 330) < 0.5)
        shape = GestureShape()
        (shape.from, shape.to) = (ScreenPoint(x: 100, y: 400), ScreenPoint(x: 300, y: 300))
        let panned = try end(trace(made(.pan, shape)))
        let way = Difference(from: Self.start, to: panned, viewport: .standard).points
        #expect(abs(way - hypot(200, 100)) < 1.5)
    }

    @Test func aRandomSessionHasAllGestures() throws {
        var fingers = MadeFingers(viewport: .standard, seed: 7)
        fingers.makeRandom(for: 60_000)
        let session = try Trace(fingers.script.trace(from: Self.start))
        #expect(kinds(session).count == 7)
        let complaints = try Schema.complaints(
            session.bytes.split(separator: 0x0a).map { String(decoding: $0, as: UTF8.self) }, from: .client)
        #expect(complaints == "")
    }

    // MARK: Fingers of gestures

    @Test(arguments: [MadeGesture.pan, .pinch, .rotate, .tilt, .doubleTap, .twoFingerTap, .oneFingerZoom])
    func fingersGiveTheirGesturesBack(_ gesture: MadeGesture) throws {
        for seed in 1...10 {
            let before = try trace(made(gesture, seed: UInt64(seed)))
            let fingers = GestureFingers(before)
            let after = try trace(fingers.script)
            #expect(fingers.unperformed == 0 && kinds(after) == kinds(before))
            let difference = Difference(from: try end(before), to: try end(after), viewport: .standard)
            #expect(
                difference.points < 0.5 && difference.zoom < 0.005 && difference.degrees < 0.2, "\(seed): \(difference)"
            )
        }
    }

    @Test func whatFingersCannotDoIsCounted() throws {
        let trace = try Trace(
            """
            {"type":"trace","version":1}
            {"type":"move","timeMs":0,"update":{"kind":"zoom-in"}}
            {"type":"pan","phase":"began","timeMs":10,"gesture":"second"}
            {"type":"pan","phase":"ended","timeMs":20,"gesture":"second"}
            """.utf8)
        let fingers = GestureFingers(trace)
        #expect(fingers.unperformed == 2 && fingers.script.frames.isEmpty)
    }

    // MARK: Canonical scripts

    @Test func aCanonicalScriptIsWholeAndOneFingerAtATime() throws {
        var fingers = MadeFingers(viewport: .standard, seed: 3)
        fingers.makeRandom(for: 20_000)
        fingers.make(.fling)
        let script = try #require(CanonicalScript(fingers.script))
        #expect(script.slots == 2 && script.ticks.count > 100)
        var before: [ScreenPoint?] = [nil, nil]
        var rest = 0
        for tick in script.ticks {
            let now = (0..<2).map { $0 < tick.fingers.count ? tick.fingers[$0] : nil }
            for place in now.compactMap({ $0 }) {
                #expect(place.x == place.x.rounded() && place.y == place.y.rounded())
                #expect((0..<390).contains(place.x) && (0..<844).contains(place.y))
            }
            let changed = (0..<2).filter { (now[$0] == nil) != (before[$0] == nil) }
            #expect(changed.count <= 1)
            // The others rest while one lands or lifts.
            if let slot = changed.first { #expect(now[1 - slot] == before[1 - slot]) }
            rest = now == before ? rest + 1 : 0
            before = now
        }
        #expect(before == [nil, nil] && script.restedLifts > 0)
        // Nothing is thrown by it.
        let trace = try Trace(script.script.trace(from: Self.start))
        for case .gesture(let gesture) in trace.lines.flatMap(\.requests).map(\.body) where gesture.event.kind == .pan {
            if let velocity = gesture.event.velocity { #expect(abs(velocity.x) + abs(velocity.y) < 1) }
        }
    }

    @Test(
        arguments: [ScriptFormat.webdriver, .devtools, .web, .evemu],
        [MadeGesture.pan, .pinch, .rotate, .tilt, .doubleTap, .random])
    func everyFormIsReadAsTheCameraThatWasTold(_ format: ScriptFormat, _ gesture: MadeGesture) throws {
        let script = try #require(CanonicalScript(made(gesture, seed: 4)))
        let told = try end(trace(script.script))
        let options = TraceOptions(
            surface: SurfaceOptions(viewport: .standard, rotation: .none), position: Self.start)
        let converter = TraceConverter(options)
        var bytes: [UInt8] = []
        func take(_ piece: Span<UInt8>) { for index in piece.indices { bytes.append(piece[index]) } }
        try converter.read(format.bytes(of: script).span, take)
        try converter.finish(take)
        #expect(converter.notes.damagedCount == 0, "\(converter.notes.damaged)")
        var back = try Trace(bytes)
        try back.header.set([("gestures", .object(["fling": .bool(false)]))])
        let difference = Difference(from: told, to: try end(back), viewport: .standard)
        #expect(difference.points < 0.01 && difference.zoom < 1e-4 && difference.degrees < 1e-2, "\(difference)")
    }

    @Test func uinputIsToldTheReportsOfTheRecordingForEvemuAtTheirTimes() throws {
        let script = try #require(CanonicalScript(made(.pinch, seed: 2)))
        func lines(_ format: ScriptFormat) -> [String] {
            String(decoding: format.bytes(of: script), as: UTF8.self).split(separator: "\n").map(String.init)
        }
        let commands = try lines(.uinputScript).map { try JSON($0) }
        #expect(commands.allSatisfy { $0["id"]?.number == 1 })
        #expect(commands.first?["command"]?.string == "register" && commands.first?["abs_info"]?.array?.count == 6)
        // The device is not there at once.
        #expect(commands[1]["command"]?.string == "delay" && commands[1]["duration"]?.number ?? 0 >= 1000)
        var (time, found): (Double, [(Double, [Int])]) = (0, [])
        for command in commands.dropFirst(2) {
            if command["command"]?.string == "delay" {
                time += command["duration"]?.number ?? .nan
            } else {
                found.append((time, command["events"]?.array?.compactMap { $0.number.map { Int($0) } } ?? []))
            }
        }
        var wanted: [(Double, [Int])] = []
        var report: [Int] = []
        for line in lines(.evemu) where line.hasPrefix("E: ") {
            let words = line.split(separator: " ")
            report += [Int(words[2], radix: 16), Int(words[3], radix: 16), Int(words[4])].compactMap(\.self)
            guard report.suffix(3) == [0, 0, 0] else { continue }
            wanted.append(((Double(words[1]) ?? .nan) * 1000, report))
            report = []
        }
        #expect(found.map(\.1) == wanted.map(\.1) && found.count > 20)
        for (a, b) in zip(found, wanted) { #expect(abs(a.0 - b.0) <= 0.5) }
    }

    @Test func whatWebDriverWantsIsThere() throws {
        let script = try #require(CanonicalScript(made(.pinch, seed: 2)))
        let payload = try JSON(String(decoding: ScriptFormat.webdriver.bytes(of: script), as: UTF8.self))
        let sources = try #require(payload["actions"]?.array)
        #expect(sources.count == 2 && Set(sources.compactMap { $0["id"]?.string }).count == 2)
        // All sources have as many actions: a tick is one of each.
        #expect(Set(sources.map { $0["actions"]?.array?.count }).count == 1)
        for action in sources.flatMap({ $0["actions"]?.array ?? [] }) {
            if let duration = action["duration"]?.number { #expect(duration == duration.rounded() && duration >= 0) }
        }
        #expect(sources.allSatisfy { $0["parameters"]?["pointerType"]?.string == "touch" })
    }
}
