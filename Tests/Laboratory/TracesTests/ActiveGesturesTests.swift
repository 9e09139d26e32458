// Gestures and fingers of a trace, tracked without a camera: the daemon's own hub has the same ones active.

import GimbalProtocol
import TestSupport
import Testing
import Traces

/// Random lines of gestures, of fingers on three surfaces, and of commands.
private struct RandomLines {
    var random: Seeded
    private var time = 0.0
    private var fingers: [Int: [Int: (x: Double, y: Double)]] = [:]

    init(seed: UInt64) { random = Seeded(seed) }

    mutating func next() -> String {
        time += random.chance(0.05) ? 1000 : random.number(0...20)
        let count = random.chance(0.8) ? 1 : random.integer(2...4)
        // Only the first object needs a time.
        let objects = (0..<count).map { #"{"type":\#(object())\#($0 == 0 ? #","timeMs":\#(time)"# : "")}"# }
        return count == 1 ? objects[0] : "[" + objects.joined(separator: ",") + "]"
    }

    private mutating func object() -> String {
        switch random.integer(0...39) {
        case 0: return #""stop""#
        case 1: return #""move","update":{"kind":"zoom-by","amount":\#(random.number(-1...1))}"#
        case 2: return #""animate","durationMs":0,"update":{"kind":"zoom-in"}"#
        case 3...5:
            let name = random.pick(["scroll", "zoom", "rotate", "tilt", "fling"])
            return #""set-gestures","\#(name)":\#(random.chance(0.7))"#
        case 6: return #""set-zoom-range","minZoom":\#(random.integer(2...5))"#
        case 7: return #""marker","label":"a""#
        case 8...17:
            let type = random.pick(["pan", "pinch", "rotate", "tilt", "one-finger-zoom", "position"])
            let phase = random.pick(["began", "began", "changed", "ended", "cancelled"])
            let value = type == "position" ? #","position":{"target":{"latitude":1,"longitude":2},"zoom":5}"# : ""
            return
                #""\#(type)","phase":"\#(phase)"\#(random.pick(["", #","gesture":1"#, #","gesture":"b""#]))\#(value)"#
        default: return touch()
        }
    }

    private mutating func touch() -> String {
        let surface = random.integer(1...3)
        var down = fingers[surface] ?? [:]
        if down.isEmpty || random.chance(0.1) {
            down[random.integer(1...3)] = (random.number(0...390), random.number(0...800))
        } else if random.chance(0.15) {
            down.removeValue(forKey: down.keys.sorted()[random.integer(0...down.count - 1)])
        }
        for id in down.keys.sorted() {
            down[id]?.x += random.number(-20...20)
            down[id]?.y += random.number(-20...20)
        }
        fingers[surface] = down
        let touches = down.sorted { $0.key < $1.key }.map { #"{"id":\#($0),"x":\#($1.x),"y":\#($1.y)}"# }
        let cancelled = random.chance(0.03) ? #","cancelled":true"# : ""
        return #""touch","surface":\#(surface),"touches":[\#(touches.joined(separator: ","))]\#(cancelled)"#
    }
}

@Suite struct ActiveGesturesTests {
    /// Returns the types of the gestures that are active in the hub, according to a recording that begins now; `nil`
    /// during a motion, when no recording can begin.
    private func activeTypes(_ run: TraceRun) throws -> [String]? {
        let told = try run.ask(.subscribe(kinds: [.gesture]))
        _ = try run.ask(.unsubscribe)
        let lines = told.compactMap { message -> String? in
            guard case .input(let input)? = message.event else { return nil }
            return input.line
        }
        guard !lines.isEmpty else { return nil }
        let requests = try lines.dropFirst().flatMap { try RequestDecoder.requests(of: Array($0.utf8).span) }
        return requests.map(\.body.type).sorted()
    }

    @Test(arguments: UInt64(1)...20)
    func theDaemonHasTheSameGesturesActive(seed: UInt64) throws {
        var lines = RandomLines(seed: seed)
        let run = try TraceRun(camera: "main")
        let header = #"{"type":"trace","version":1,"speed":"max","gestures":{"tilt":false,"fling":false}}"#
        run.play(Array(header.utf8)) { _ in }
        var reporter = GestureReporter()
        var active = ActiveGestures<Void>(GestureSwitches(tilt: false, fling: false).applied(to: .init()))
        var decoder = RequestDecoder()
        var compared = 0
        for _ in 0..<400 {
            let line = lines.next()
            run.play(Array(line.utf8)) { played in
                for error in played.messages.compactMap(\.error) { Issue.record("\(error): \(line)") }
            }
            let requests = try decoder.decode(Array(line.utf8).span)
            let time = try #require(requests.first?.timeMs)
            for request in requests {
                for report in reporter.reports(of: request, at: time) { active.handle(report, ()) }
                active.handle(request.body)
            }
            guard let types = try activeTypes(run) else { continue }
            #expect(types == active.all.map(\.key.kind.type).sorted(), "seed \(seed), at \(time): \(line)")
            compared += types.isEmpty ? 0 : 1
        }
        #expect(compared > 100)
    }
}
