// Lines for simulated clients: every request of the protocol, with numbers within its ranges and beyond.

import Foundation
import TestSupport

enum SimulatedLine {
    static let cameras = ["main", "left", "right"]

    static func anyCamera(_ random: inout Seeded) -> String { cameras[random.integer(0...2)] }

    /// Returns the members of a gesture or a request, without id, camera and time.
    static func body(_ random: inout Seeded) -> String {
        if random.chance(0.75) { return gesture(&random) }
        if random.chance(0.05) { return #""type":"marker","label":"m\#(random.integer(0...3))""# }
        return random.chance(0.7) ? command(&random) : query(&random)
    }

    /// Returns a line that sets nothing in motion: subscriptions, moves, questions and garbage.
    static func still(_ random: inout Seeded) -> String {
        let camera = cameras[random.integer(1...2)]
        switch random.integer(0...20) {
        case 0: return #"{"type":"subscribe","camera":"\#(camera)","id":1}"#
        case 1: return #"{"type":"subscribe","camera":"\#(camera)","delivery":"latest"}"#
        case 2: return #"{"type":"subscribe","camera":"\#(camera)","events":["idle"]}"#
        case 3: return #"{"type":"unsubscribe","camera":"\#(camera)","id":"u"}"#
        case 4: return #"{"type":"no such type"}"#
        case 5: return String(repeating: " ", count: 70_000)
        case 6: return #"{"type":"stats"}"#
        case 8: return #"{"type":"subscribe","camera":"\#(camera)","events":["gesture","idle"]}"#
        case 7: return #"{"type":"set-zoom-range","camera":"\#(camera)","minZoom":\#(random.integer(2...9))}"#
        default:
            let zoom = random.number(2...21)
            return #"{"type":"move","camera":"\#(camera)","id":2,"update":{"kind":"zoom-to","zoom":\#(zoom)}}"#
        }
    }

    /// Returns an array that is always rejected, even if parts of it are valid.
    static func rejected(_ random: inout Seeded, camera: String) -> String {
        let good = (0..<random.integer(0...3)).map { _ in #"{"camera":"\#(camera)",\#(body(&random))},"# }
        return "[" + good.joined() + #"{"type":"pinch","phase":"changed","scale":0}]"#
    }

    /// Returns the members of a request for a camera that it does not name.
    static func withoutCamera(_ random: inout Seeded) -> String {
        switch random.integer(0...4) {
        case 0...1: #""type":"get-camera""#
        case 2: #""type":"get-camera","create":false"#
        case 3: #""type":"visible-region""#
        default: #""type":"pan","phase":"began""#
        }
    }

    /// Returns the header of a trace.
    static func header(_ random: inout Seeded, camera: String, _ playback: String? = nil) -> String {
        let speed = random.chance(0.5) ? "\"max\"" : "\(random.integer(1...50))"
        let bounds = random.chance(0.3) ? #","targetBounds":\#(self.bounds(&random))"# : ""
        let playback = playback ?? (random.chance(0.4) ? self.playback(&random) : "")
        return #"{"type":"trace","version":1,"camera":"\#(camera)","speed":\#(speed)\#(bounds)"#
            + #"\#(playback),"position":{"target":\#(place(&random)),"zoom":\#(random.number(1...22))}}"#
    }

    /// Returns playback members for a trace that ends before its last line.
    static func shortPlayback(_ random: inout Seeded) -> String {
        let loop = random.chance(0.3) ? #","loop":\#(random.integer(1...3))"# : ""
        return #","untilMs":\#(random.integer(0...30))\#(loop)\#(random.chance(0.2) ? #","pauseOnMarkers":true"# : "")"#
    }

    /// Returns playback members for a trace.
    private static func playback(_ random: inout Seeded) -> String {
        var members = ""
        if random.chance(0.4) { members += #","paused":true"# }
        if random.chance(0.3) { members += #","fromMs":\#(random.integer(0...300))"# }
        if random.chance(0.3) { members += #","untilMs":\#(random.integer(0...600))"# }
        if random.chance(0.4) { members += #","loop":\#(random.integer(1...4))"# }
        if random.chance(0.3) { members += #","idleTimeLimitMs":\#(random.integer(1...500))"# }
        if random.chance(0.3) { members += #","pauseOnMarkers":true"# }
        if random.chance(0.2) { members += #","pauseAtEnd":true"# }
        return members
    }

    /// Returns the members of a request that steers a replay or asks for its status.
    static func steering(_ random: inout Seeded) -> String {
        switch random.integer(0...11) {
        case 0: #""type":"pause-replay""#
        case 1...3: #""type":"resume-replay""#
        case 4: #""type":"step-replay","count":\#(random.integer(1...5))"#
        case 5...6: #""type":"seek-replay","toMs":\#(random.integer(0...800))"#
        case 7: #""type":"seek-replay","byMs":\#(random.integer(-300...300))"#
        case 8: #""type":"seek-replay","marker":"m\#(random.integer(0...3))""#
        case 9: #""type":"set-replay-speed","speed":\#(random.chance(0.5) ? "\"max\"" : "\(random.integer(1...20))")"#
        case 10: #""type":"end-replay""#
        default: #""type":"get-replay""#
        }
    }

    /// Returns the members of a request that takes, joins or ends a lease.
    static func lease(_ random: inout Seeded) -> String {
        switch random.integer(0...5) {
        case 0: #""type":"end-lease""#
        case 1: #""type":"end-lease","lease":\#(random.integer(1...40))"#
        case 2: #""type":"join-lease","lease":\#(random.integer(1...40))"#
        default: #""type":"take-lease","forMs":\#(random.integer(1...400)),"wait":\#(random.chance(0.6))"#
        }
    }

    /// Returns the members of a request for a time of the wall clock, which equals the host's clock.
    static func presentation(_ random: inout Seeded, at now: Double) -> String {
        let time = now + random.number(-200...800)
        if random.chance(0.3) { return #""type":"get-camera","atWallTime":\#(time)"# }
        return #""type":"present","presentAt":\#(time),"position":{"target":\#(place(&random)),"zoom":9},"#
            + #""moving":\#(random.chance(0.7))"#
    }

    private static func place(_ random: inout Seeded) -> String {
        "{\"latitude\":\(random.number(-100...100)),\"longitude\":\(random.number(-200...200))}"
    }

    private static func bounds(_ random: inout Seeded) -> String {
        let (south, north) = (random.number(-100...40), random.number(40...100))
        let (west, east) = (random.number(-200...200), random.chance(0.1) ? 180 : random.number(-200...200))
        return #"{"southWest":{"latitude":\#(south),"longitude":\#(west)},"#
            + #""northEast":{"latitude":\#(north),"longitude":\#(east)}}"#
    }

    private static func command(_ random: inout Seeded) -> String {
        switch random.integer(0...12) {
        case 0...2: return #""type":"move","update":\#(update(&random))"#
        case 3...4:
            return #""type":"animate","durationMs":\#(random.number(0...800)),"easing":"\#(easing(&random))","#
                + #""update":\#(update(&random))"#
        case 10: return flight(&random)
        case 11: return tour(&random)
        case 12 where random.chance(0.8): return idleAction(&random)
        case 12: return String(random.pick(CameraChange.settings).lines[0].dropFirst().dropLast())
        case 5:
            if random.chance(0.9) { return #""type":"stop""# }
            return random.chance(0.5) ? #""type":"remove-camera""# : #""type":"end-replay""#
        case 6:
            return #""type":"set-gestures","scroll":\#(random.chance(0.8)),"fling":\#(random.chance(0.8)),"#
                + #""scrollDuringRotateOrZoom":\#(random.chance(0.5)),"inertia":\#(random.chance(0.6))"#
        case 7:
            return #""type":"set-zoom-range","minZoom":\#(random.number(2...12)),"maxZoom":\#(random.number(8...21))"#
        case 8:
            return #""type":"set-target-bounds","bounds":\#(random.chance(0.5) ? bounds(&random) : "null")"#
        default:
            return #""type":"set-viewport","width":\#(random.number(1...1000)),"height":\#(random.number(1...1000))"#
        }
    }

    private static func easing(_ random: inout Seeded) -> String {
        ["default", "linear", "ease-in", "ease-in-out"][random.integer(0...3)]
    }

    /// Returns a flight; most end early enough that something else happens afterwards.
    private static func flight(_ random: inout Seeded) -> String {
        var members = #""type":"animate","path":"flight","easing":"\#(easing(&random))""#
        if random.chance(0.5) { members += #","durationMs":\#(random.number(0...800))"# }
        if random.chance(0.8) { members += #","maxDurationMs":\#(random.number(0...1200))"# }
        if random.chance(0.3) { members += #","curve":\#(random.number(0.05...10.5))"# }
        if random.chance(0.3) { members += #","speed":\#(random.number(-0.2...9))"# }
        return members + #","update":\#(update(&random))"#
    }

    /// Returns a tour of a few keyframes, with waits, turns and jumps; occasionally an invalid one.
    private static func tour(_ random: inout Seeded) -> String {
        let keyframes = (0..<random.integer(1...5)).map { _ in
            var members = #"{"position":{"target":\#(place(&random)),"zoom":\#(random.number(1...22)),"#
            members += #""bearing":\#(random.number(-90...400)),"viewingAngle":\#(random.number(0...70))}"#
            if random.chance(0.97) { members += #","durationMs":\#(random.chance(0.15) ? 0 : random.number(1...500))"# }
            if random.chance(0.3) { members += #","waitMs":\#(random.number(0...300))"# }
            if random.chance(0.6) {
                members += #","path":"\#(["smooth", "straight", "flight"][random.integer(0...2)])""#
            }
            if random.chance(0.3) { members += #","easing":"\#(easing(&random))""# }
            if random.chance(0.2) { members += #","turns":\#(random.integer(-2...2))"# }
            return members + "}"
        }
        return #""type":"tour","keyframes":[\#(keyframes.joined(separator: ","))]"#
    }

    /// The names and lines of the traces that the hub can play by itself.
    static let traces = [
        "pan": [
            #"{"type":"trace","version":1,"position":{"target":{"latitude":40,"longitude":20},"zoom":6},"maxZoom":7}"#,
            #"{"type":"pan","timeMs":5,"phase":"began"}"#, #"{"type":"marker","timeMs":50,"label":"m1"}"#,
            #"[{"type":"pan","timeMs":90,"phase":"changed","translation":{"x":40,"y":9}},{"type":"rotate","phase":"began"}]"#,
            #"{"type":"pan","timeMs":120,"phase":"ended","velocity":{"x":900,"y":0}}"#,
        ],
        "tour": [
            #"{"type":"trace","version":1,"speed":3,"idleTimeLimitMs":200}"#,
            #"{"type":"animate","timeMs":0,"path":"flight","update":{"kind":"zoom-to","zoom":9},"maxDurationMs":900}"#,
            #"{"type":"touch","timeMs":4000,"surface":"table","touches":[{"id":1,"x":90,"y":90}]}"#,
        ],
    ]

    /// Returns an idle action of a camera; occasionally its trace does not exist.
    static func idleAction(_ random: inout Seeded) -> String {
        let after = #""type":"set-idle-action","afterMs":\#(random.number(950...4000))"#
        let trace = ["pan", "tour", "none"][random.integer(0...2)]
        return switch random.integer(0...6) {
        case 0: #""type":"set-idle-action","action":null"#
        case 1...3: #"\#(after),"action":{"kind":"play","trace":"\#(trace)","loop":\#(random.chance(0.7))}"#
        case 4:
            #"\#(after),"action":{"kind":"fly-home","position":{"target":\#(place(&random)),"zoom":4},"durationMs":0}"#
        default: #"\#(after),"action":{"kind":"fly-home","position":{"target":\#(place(&random)),"zoom":14}}"#
        }
    }

    private static func update(_ random: inout Seeded) -> String {
        let (x, y) = (random.number(-300...300), random.number(-300...300))
        switch random.integer(0...6) {
        case 0: return #"{"kind":"zoom-by","amount":\#(x / 60),"focus":{"x":\#(x),"y":\#(y)}}"#
        case 1: return #"{"kind":"set-target","target":\#(place(&random))}"#
        case 2: return #"{"kind":"set-camera","position":{"target":\#(place(&random)),"zoom":\#(abs(x) / 15)}}"#
        case 3: return #"{"kind":"set-bearing","bearing":\#(x)}"#
        case 4: return #"{"kind":"set-viewing-angle","viewingAngle":\#(abs(y) / 4)}"#
        case 5: return #"{"kind":"fit-bounds","bounds":\#(bounds(&random))}"#
        default: return #"{"kind":"scroll-by","x":\#(x),"y":\#(y)}"#
        }
    }

    private static func query(_ random: inout Seeded) -> String {
        switch random.integer(0...8) {
        case 8: return #""type":"clients","after":\#(random.integer(0...20))"#
        case 0: return #""type":"camera-for-bounds","bounds":\#(bounds(&random))"#
        case 1: return #""type":"project","coordinate":\#(place(&random))"#
        case 2:
            return #""type":"unproject","point":{"x":\#(random.number(-50...400)),"y":\#(random.number(-50...900))}"#
        case 3: return #""type":"visible-region""#
        case 4: return #""type":"cameras""#
        case 5: return #""type":"hello","version":\#(random.integer(1...2))"#
        case 6: return #""type":"get-camera""#
        default: return #""type":"ping""#
        }
    }

    /// Returns fingers on one of three surfaces: they rest and move, land and lift, and mostly are the same as before.
    private static func touch(_ random: inout Seeded) -> String {
        let surface = ["", #","surface":"table""#, #","surface":7"#][random.integer(0...2)]
        let count = [0, 0, 1, 1, 1, 2, 2, 3][random.integer(0...7)]
        let ids = count == 1 || random.chance(0.8) ? Array(1...3) : [3, 1, 2]
        let touches = ids.prefix(count).map { id in
            let x = random.chance(0.6) ? 0 : random.number(-90...90)
            let y = random.chance(0.6) ? 0 : random.number(-90...90)
            return #"{"id":\#(id),"x":\#(Double(id) * 95 + x),"y":\#(420 + y)}"#
        }
        let more = random.chance(0.05) ? #","cancelled":true"# : random.chance(0.05) ? #","rotate":false"# : ""
        return #""type":"touch","touches":[\#(touches.joined(separator: ","))]\#(surface)\#(more)"#
    }

    /// Returns a position to which another source has moved the camera.
    private static func position(_ random: inout Seeded) -> String {
        let phase = ["began", "changed", "changed", "ended", "cancelled"][random.integer(0...4)]
        let zoom = random.number(1...22)
        return #""type":"position","phase":"\#(phase)","position":{"target":\#(place(&random)),"zoom":\#(zoom)}"#
    }

    private static func gesture(_ random: inout Seeded) -> String {
        if random.chance(0.25) { return touch(&random) }
        if random.chance(0.05) { return position(&random) }
        if random.chance(0.05) {
            let tap = random.chance(0.5) ? "double-tap" : "two-finger-tap"
            return "\"type\":\"\(tap)\",\"focus\":{\"x\":\(random.number(0...390)),\"y\":\(random.number(0...844))}"
        }
        let phases = ["began", "changed", "changed", "changed", "changed", "ended", "cancelled"]
        let phase = phases[random.integer(0...6)]
        let (x, y) = (random.number(-300...300), random.number(-300...300))
        let label = random.chance(0.1) ? ",\"gesture\":\(random.integer(0...9))" : ""
        let common = "\"phase\":\"\(phase)\",\"focus\":{\"x\":\(abs(x)),\"y\":\(abs(y))}\(label)"
        switch random.integer(0...4) {
        case 0:
            let velocity = phase == "ended" && random.chance(0.5) ? ",\"velocity\":{\"x\":\(x * 5),\"y\":\(y * 5)}" : ""
            return "\"type\":\"pan\",\(common),\"translation\":{\"x\":\(x),\"y\":\(y)}\(velocity)"
        case 1: return "\"type\":\"pinch\",\(common),\"scale\":\(exp(x / 150))"
        case 2: return "\"type\":\"rotate\",\(common),\"rotationDeg\":\(y)"
        case 3: return "\"type\":\"one-finger-zoom\",\(common),\"translation\":{\"y\":\(y)}"
        default: return "\"type\":\"tilt\",\(common),\"translation\":{\"y\":\(y)}"
        }
    }
}
