// Fingers exported and imported: generated fingers mean what was requested, a trace's fingers reproduce its camera, and
// every tool's form of a canonical script gives the predicted camera.

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

@Suite struct TouchScriptTests {
    private static let start = CameraPosition(target: LatLng(latitude: 48.8584, longitude: 2.2945), zoom: 14)

    private func made(_ gesture: MadeGesture, seed: UInt64 = 1, _ shape: GestureShape = GestureShape()) -> FingerScript
    {
        var fingers = MadeFingers(viewport: .standard, seed: seed)
        fingers.make(gesture, shape)
        return fingers.script
    }

    /// Returns the trace of a script in which nothing is thrown.
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

    // MARK: Generated fingers

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

    @Test func fingersOfATraceArePerformedAndThoseOfOtherSurfacesCounted() throws {
        let trace = try Trace(
            """
            {"type":"trace","version":1}
            {"type":"touch","timeMs":0,"touches":[{"id":7,"x":1,"y":2}]}
            {"type":"double-tap","timeMs":5}
            {"type":"touch","timeMs":10,"touches":[{"id":7,"x":90,"y":2}]}
            {"type":"touch","timeMs":15,"touches":[{"id":7,"x":3,"y":2}],"surface":"wall"}
            {"type":"touch","timeMs":20,"cancelled":true}
            {"type":"double-tap","timeMs":500}
            """.utf8)
        let fingers = GestureFingers(trace)
        #expect(fingers.unperformed == 2 && fingers.script.frames.count == 7)
        #expect(fingers.script.frames.prefix(3).map(\.touches.first?.id) == [7, 7, nil])
        #expect(fingers.script.frames.map(\.isCancelled) == [false, false, true, false, false, false, false])
    }

    // MARK: Canonical scripts

    @Test func fingersThatAreLostDoNotTap() throws {
        var script = FingerScript(viewport: .standard)
        for timeMs in [0.0, 100] {
            let touch = Touch(id: 1, position: ScreenPoint(x: 10, y: 10))
            script.frames.append(TouchFrame(timeMs: timeMs, touches: [touch]))
            script.frames.append(TouchFrame(timeMs: timeMs + 40, touches: [], isCancelled: true))
        }
        #expect(try kinds(trace(#require(CanonicalScript(script)).script)) == [])
        for index in [1, 3] { script.frames[index].isCancelled = false }
        #expect(try kinds(trace(#require(CanonicalScript(script)).script)) == ["doubleTap"])
    }

    @Test func aCanonicalScriptIsWholeAndOneFingerAtATime() throws {
        var fingers = MadeFingers(viewport: .standard, seed: 3)
        fingers.makeRandom(for: 20_000)
        fingers.make(.fling)
        let script = try #require(CanonicalScript(fingers.script))
        #expect(script.slots == 2 && script.ticks.count > 100)
        var before: [ScreenPoint?] = [nil, nil]
        var rest = 0
        for tick in script.ticks {
            let now = tick.fingers
            #expect(tick.before == before)
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
        // It throws nothing.
        let trace = try Trace(script.script.trace(from: Self.start))
        for case .gesture(let gesture) in trace.lines.flatMap(\.requests).map(\.body) where gesture.event.kind == .pan {
            if let velocity = gesture.event.velocity { #expect(abs(velocity.x) + abs(velocity.y) < 1) }
        }
    }

    @Test func fingersThatAreDownForDaysAreNotPerformed() {
        var script = FingerScript(viewport: .standard)
        let touch = Touch(id: 1, position: ScreenPoint(x: 10, y: 10))
        script.frames = [
            TouchFrame(timeMs: 0, touches: [touch]), TouchFrame(timeMs: 1e12, touches: [touch]),
            TouchFrame(timeMs: 1e12 + 10, touches: []),
        ]
        #expect(CanonicalScript(script) == nil)
    }

    // MARK: Round trips

    private static let screens = [
        Viewport(width: 390, height: 844), Viewport(width: 844, height: 390), Viewport(width: 412.5, height: 915.25),
        Viewport(width: 358.4, height: 637.2), Viewport(width: 3225.19685, height: 1811.023622),
        Viewport(width: 60, height: 70), Viewport(width: 5000, height: 20),
    ]

    /// Returns the result of reading an exported file without options.
    private func read(_ bytes: [UInt8]) throws -> (trace: Trace, script: FingerScript) {
        let converter = TraceConverter()
        let trace = try converter.trace(of: bytes)
        #expect(converter.reader.notes.damagedCount == 0, "\(converter.reader.notes.damaged)")
        return (try Trace(trace), try FingerScript(recording: bytes, TraceOptions()))
    }

    /// Returns the frames in which something changes, without finger numbers.
    private func changes(_ script: FingerScript) -> [String] {
        var before: [ScreenPoint] = []
        return script.frames.compactMap { frame in
            let now = frame.touches.map(\.position)
            defer { before = now }
            let text = now.map { "\($0.x),\($0.y)" }.sorted().joined(separator: " ")
            return now == before ? nil : "\(Int((frame.timeMs * 1000).rounded())): \(text)"
        }
    }

    /// Exports fingers and compares the result of every form with the script itself and the trace's header.
    private func expectSame(_ fingers: FingerScript, _ header: HeaderLine, _ name: String) throws {
        var fingers = fingers
        fingers.header = ToldHeader(try JSONValue(header.bytes))
        fingers.viewport = try #require(fingers.header?.viewport, "\(name)")
        let script = try #require(CanonicalScript(fingers))
        var told = try Trace(script.script.trace(from: Self.start))
        told.header = header
        let golden = try TraceRun.events(of: told)
        for format in ScriptFormat.allCases where format.readable == format {
            let back = try read(format.bytes(of: script))
            #expect(changes(back.script) == changes(script.script), "\(name) to \(format)")
            #expect(back.script.viewport == script.viewport, "\(name) to \(format)")
            #expect(try TraceRun.events(of: back.trace) == golden, "\(name) to \(format)")
        }
    }

    /// Returns a header with every member that describes a camera.
    private func header(_ viewport: Viewport) throws -> HeaderLine {
        try HeaderLine(
            Array(
                """
                {"type":"trace","version":1,"id":"back","camera":"wall","viewport":{"width":\(viewport.width),\
                "height":\(viewport.height)},"position":{"target":{"latitude":48.8584,"longitude":2.2945},"zoom":14,\
                "bearing":30,"viewingAngle":20},"minZoom":13.5,"maxZoom":15,"targetBounds":{"southWest":\
                {"latitude":48.8,"longitude":2.2},"northEast":{"latitude":48.9,"longitude":2.4}},\
                "gestures":{"rotate":false}}
                """.utf8))
    }

    @Test(arguments: screens)
    func madeFingersComeBackExactly(_ viewport: Viewport) throws {
        for seed in 1...4 as ClosedRange<UInt64> {
            var fingers = MadeFingers(viewport: viewport, seed: seed)
            fingers.makeRandom(for: 6000)
            fingers.make(.fling)
            fingers.make(.doubleTap)
            try expectSame(fingers.script, try header(viewport), "seed \(seed)")
        }
    }

    /// Up to ten fingers that land and lift in any order, move around, or rest for a while.
    @Test func manyFingersComeBackExactly() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SeededNumbers(seed: seed)
            let viewport = random.one(of: Self.screens)
            var script = FingerScript(viewport: viewport)
            var (fingers, time): ([Touch], Double) = ([], 0)
            for number in 0..<60 {
                time += random.one(of: [4, 16, 40, 300, 2500])
                switch random.one(of: [0, 1, 2, 3]) {
                case 0 where fingers.count < 10:
                    let place = ScreenPoint(x: random.number(0...viewport.width), y: random.number(0...viewport.height))
                    fingers.append(Touch(id: number, position: place))
                case 1 where !fingers.isEmpty: fingers.remove(at: Int(random.next() % UInt64(fingers.count)))
                case 2:
                    for index in fingers.indices {
                        fingers[index].position.x += random.number(-30...30)
                        fingers[index].position.y += random.number(-30...30)
                    }
                default: break
                }
                script.frames.append(TouchFrame(timeMs: time, touches: fingers))
            }
            try expectSame(script, try header(viewport), "seed \(seed)")
        }
    }

    /// Recordings of every format without a header, and those of real devices beside the project.
    @Test func recordingsComeBackExactly() throws {
        var files = Files.list("Tests/Fuzz/Recordings")
        if let real = Files.recordings {
            for part in ["evemu-devices", "autotest", "monkeyhelper"] {
                files += Files.list(real.appendingPathComponent(part))
            }
        }
        var count = 0
        for file in files where file.pathExtension != "desc" {
            let bytes = Array(try Data(contentsOf: file))
            let fingers = try FingerScript(recording: bytes, TraceOptions())
            guard fingers.frames.contains(where: { !$0.touches.isEmpty }) else { continue }
            let (viewport, name) = (fingers.viewport, file.lastPathComponent)
            try expectSame(fingers, try header(viewport), name)
            count += 1
        }
        #expect(count >= 12, "\(count)")
    }

    @Test func fingersOfSamplesComeBackExactly() throws {
        for file in Files.list("Protocols/examples/traces", "ndjson") {
            let trace = try Trace(Data(contentsOf: file))
            var header = trace.header
            try header.set([("speed", nil)])
            try expectSame(GestureFingers(trace).script, header, file.lastPathComponent)
        }
    }

    // MARK: Requirements of tools

    /// A player of evemu's recordings ignores the comment: only the resolution gives the size.
    @Test func aRecordingForEvemuTellsItsSizeByItsResolution() throws {
        for viewport in Self.screens where viewport.width > 200 && viewport.height > 200 {
            var fingers = MadeFingers(viewport: viewport, seed: 5)
            fingers.make(.pan)
            let script = try #require(CanonicalScript(fingers.script))
            let text = String(decoding: ScriptFormat.evemu.bytes(of: script), as: UTF8.self)
            #expect(!text.contains("Gimbal: "))
            let back = try read(Array(text.utf8)).script
            #expect(abs(back.viewport.width - viewport.width) < 0.001)
            #expect(abs(back.viewport.height - viewport.height) < 0.001)
            let (found, wanted) = (back.frames.flatMap(\.touches), script.script.frames.flatMap(\.touches))
            #expect(
                hypot(found[0].position.x - wanted[0].position.x, found[0].position.y - wanted[0].position.y) < 0.001)
        }
    }

    /// Chrome lifts the fingers that `touchEnd` names, or all; a finger missing in a move stays where it was.
    @Test func messagesToChromeNameTheFingerThatLifts() throws {
        let script = try #require(CanonicalScript(made(.pinch, seed: 2)))
        let messages = try String(decoding: ScriptFormat.devtools.bytes(of: script), as: UTF8.self)
            .split(separator: "\n").map { try JSON(String($0)) }
        #expect(messages.first?["method"]?.string == "Emulation.setDeviceMetricsOverride")
        let points = messages.dropFirst().map { message in
            (message["params"]?["type"]?.string, message["params"]?["touchPoints"]?.array?.count)
        }
        #expect(points.filter { $0.0 == "touchMove" }.allSatisfy { $0.1 == 2 } && points.count > 10)
        #expect(points.suffix(2).map(\.0) == ["touchEnd", "touchEnd"] && points.suffix(2).map(\.1) == [1, 0])
    }

    @Test func uinputIsToldTheReportsOfTheRecordingForEvemuAtTheirTimes() throws {
        let script = try #require(CanonicalScript(made(.pinch, seed: 2)))
        func lines(_ format: ScriptFormat) -> [String] {
            String(decoding: format.bytes(of: script), as: UTF8.self).split(separator: "\n").map(String.init)
        }
        let commands = try lines(.uinputScript).map { try JSON($0) }
        #expect(commands.allSatisfy { $0["id"]?.number == 1 })
        #expect(commands.first?["command"]?.string == "register" && commands.first?["abs_info"]?.array?.count == 6)
        // The device does not exist at once.
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
        // All sources have equally many actions: a tick is one of each.
        #expect(Set(sources.map { $0["actions"]?.array?.count }).count == 1)
        for action in sources.flatMap({ $0["actions"]?.array ?? [] }) {
            if let duration = action["duration"]?.number { #expect(duration == duration.rounded() && duration >= 0) }
        }
        #expect(sources.allSatisfy { $0["parameters"]?["pointerType"]?.string == "touch" })
    }
}
