// Decisions that depend on the hub's state: limits, and which requests wait for which.

import TestSupport
import Testing

@testable import Hub

@Suite struct AdmissionTests {
    private let host = HubHost()

    private func type(_ line: String?) throws -> String? { try JSON(line ?? "")["type"]?.string }

    @Test func arraysCannotPassTheLimitOfCameras() throws {
        let host = HubHost { $0.cameras = 3 }
        let peer = host.connect()
        for index in 0..<20 {
            let camera = "\"camera\":\"z\(index)\""
            for first in ["ping", "unsubscribe", "stats", "hello\",\"version\":1,\"x\":\""] {
                peer.send("[{\"type\":\"\(first)\",\(camera)},{\"type\":\"get-camera\",\(camera)}]")
            }
        }
        peer.send(#"[{"type":"get-camera","camera":"y1"},{"type":"stop","camera":"y1"},{"type":"stop","camera":"y2"}]"#)
        _ = peer.lines()
        #expect(host.hub.cameraCount == 3)
        // Two objects for one camera create one.
        let other = HubHost { $0.cameras = 1 }
        let one = other.connect()
        one.send(#"[{"type":"stop","id":1},{"type":"stop","camera":"main","id":2}]"#)
        #expect(try type(one.receive()) == "ok")
    }

    @Test func gesturesOfACameraAreLimitedAcrossConnections() throws {
        let host = HubHost { $0.cameraGestures = 3 }
        let (one, two) = (host.connect(), host.connect())
        func pan(_ peer: HubPeer, _ gesture: Int, _ phase: String) throws -> String? {
            peer.send(#"{"type":"pan","phase":"\#(phase)","gesture":\#(gesture),"id":1}"#)
            return try type(peer.receive())
        }
        #expect(try pan(one, 1, "began") == "ok" && pan(one, 2, "began") == "ok" && pan(two, 1, "began") == "ok")
        #expect(try pan(two, 2, "began") == "error" && pan(one, 3, "changed") == "error")
        // Active gestures continue, and one that ends frees its slot.
        #expect(try pan(one, 2, "changed") == "ok" && pan(two, 1, "ended") == "ok" && pan(one, 3, "changed") == "ok")
    }

    @Test func removedCameraFreesItsHistory() throws {
        let (idle, feed) = (host.connect(), host.connect())
        idle.send(#"{"type":"get-camera"}"#)
        for step in 0..<200 { feed.send(#"{"type":"move","update":{"kind":"set-bearing","bearing":\#(step)}}"#) }
        #expect(host.histories.count == 1 && host.histories.bytes > 100_000)
        // The client that named it last may keep a reference for long.
        feed.send(#"{"type":"remove-camera"}"#)
        #expect(idle.isReading && host.histories.count == 0)
    }

    @Test func gesturesReachTheCameraThatTheyNameWhileCamerasComeAndGo() throws {
        let (feed, other) = (host.connect(), host.connect())
        var random = Seeded(7)
        // How often each camera has moved since it was made.
        var wanted: [String: Int] = [:]
        var last = -1
        for step in 1...600 {
            // Mostly in the order in which they were made.
            last = step <= 24 || random.chance(0.9) ? (last + 1) % 12 : random.integer(0...11)
            let name = "c\(last)"
            if step > 24, random.chance(0.1) {
                other.send(#"{"type":"remove-camera","camera":"\#(name)"}"#)
                wanted[name] = nil
            } else {
                let pan = #""type":"pan","phase":"changed","translation":{"x":\#(step),"y":0}"#
                feed.send("{\(pan),\"camera\":\"\(name)\"}")
                wanted[name, default: 0] += 1
            }
            for (name, moves) in wanted where random.chance(0.2) {
                let seq = try #require(other.ask(#"{"type":"get-camera","camera":"\#(name)"}"#)["seq"]?.number)
                // The first report moves nothing, and the movement's first event is one more.
                #expect(Int(seq) == (moves == 1 ? 0 : moves), "\(name), step \(step)")
            }
        }
    }

    @Test func traceLongerThanAClockCanContinueFromIsRejected() throws {
        let peer = host.connect()
        peer.send(#"{"type":"trace","version":1,"speed":"max"}"#)
        peer.send(#"{"type":"stop","timeMs":-1e15}"#)
        peer.send(#"{"type":"stop","timeMs":1e15,"id":1}"#)
        let error = try peer.newMessages().last
        #expect(error?["code"]?.string == "invalid-value" && error?["field"]?.string == "timeMs")
        peer.send(#"{"type":"trace-end"}"#)
        let state = host.hub.savedState(isLast: true)
        #expect(try SavedState(state.bytes).cameras.count == 1)
    }

    @Test func zoomRangesWithinAnArrayAreAdmittedInSequence() throws {
        let peer = host.connect()
        peer.send(
            #"[{"type":"set-zoom-range","id":1,"maxZoom":5},{"type":"set-zoom-range","id":2,"camera":"main","minZoom":6}]"#
        )
        #expect(try JSON(peer.receive() ?? "")["code"]?.string == "invalid-value")
        peer.compact()
        peer.send(#"[{"type":"set-zoom-range","id":3,"maxZoom":9},{"type":"set-zoom-range","id":4,"minZoom":8}]"#)
        #expect(peer.lines().suffix(2).allSatisfy { $0.contains("\"ok\"") })
    }

    @Test func eachObjectOfAnArrayCountsAsOneMoreGesture() throws {
        let peer = host.connect()
        for index in 0..<63 { peer.send(#"{"type":"pan","phase":"began","gesture":\#(index)}"#) }
        for first in [#"{"type":"pan","phase":"ended","gesture":7}"#, #"{"type":"ping"}"#, #"{"type":"stop"}"#] {
            peer.send(#"[\#(first),{"type":"pinch","phase":"began","id":1}]"#)
            #expect(try JSON(peer.lines().last ?? "")["code"]?.string == "limit-reached")
            peer.compact()
        }
        // An active gesture continues, and a tap does not count.
        let change = #"{"type":"pan","phase":"changed","gesture":8,"id":2}"#
        peer.send(#"[{"type":"ping"},\#(change),{"type":"double-tap","id":3}]"#)
        #expect(try peer.lines().suffix(2).map { try type($0) } == ["ok", "ok"])
        peer.compact()
        peer.send(#"{"type":"pinch","phase":"began","id":4}"#)
        #expect(try type(peer.receive()) == "ok")
        #expect(try peer.ask(#"{"type":"rotate","phase":"began","id":5}"#)["code"]?.string == "limit-reached")
        // An array may fill a connection's limit exactly, beside the gestures of another one.
        let other = host.connect()
        let pans = (0..<65).map { #"{"type":"pan","phase":"began","gesture":\#($0),"camera":"left","id":\#($0)}"# }
        for pan in pans[..<4] { other.send(pan) }
        for pan in pans[..<60] { #expect(try peer.ask(pan)["type"]?.string == "ok") }
        for (last, answer) in [(64, "error"), (63, "ok")] {
            peer.send("[\(pans[60...last].joined(separator: ","))]")
            #expect(try Set(peer.types()) == [answer])
        }
    }

    @Test func removedCamerasLeaveNothingWithThePeersThatUsedThem() throws {
        let peer = host.connect()
        for _ in 0..<300 {
            peer.send(#"[{"type":"pan","phase":"began"}]"#)
            peer.send(#"{"type":"remove-camera"}"#)
        }
        #expect(peer.peer.fedCameras.slots.count <= 2)
    }

    @Test func removedCameraKeepsNoGestures() throws {
        let peer = host.connect()
        peer.send(#"{"type":"pan","phase":"began","camera":"left"}"#)
        peer.send(#"{"type":"touch","camera":"left","touches":[{"id":1,"x":2,"y":3}]}"#)
        let camera = try #require(host.hub.parts.registry.sorted.first)
        #expect(camera.gestures.count > 0 && !camera.surfaces.all.isEmpty)
        peer.send(#"{"type":"remove-camera","camera":"left"}"#)
        #expect(camera.gestures.count == 0 && camera.surfaces.all.isEmpty)
    }

    @Test func camerasThatAnArrayMakesAreCountedOnce() throws {
        let host = HubHost { $0.cameras = 2 }
        let peer = host.connect()
        let stop = { (camera: String) in #"{"type":"stop","camera":"\#(camera)"}"# }
        let find = { (camera: String) in #"{"type":"stop","camera":"\#(camera)","create":false}"# }
        for (line, code, cameras) in [
            ("[\(find("a")),\(stop("a"))]", "unknown-camera", []),
            ("[\(stop("a")),\(stop("b")),\(stop("c"))]", "limit-reached", []),
            ("[\(stop("a")),\(find("a")),\(stop("b")),\(stop("a"))]", nil, ["a", "b"]),
            (stop("c"), "limit-reached", ["a", "b"]), ("[\(stop("a")),\(find("b"))]", nil, ["a", "b"]),
        ] {
            peer.send(line)
            #expect(try peer.lines().last.map { try JSON($0)["code"]?.string } ?? nil == code, "\(line)")
            peer.compact()
            #expect(host.hub.parts.registry.sorted.map(\.name) == cameras, "\(line)")
        }
    }

    @Test(arguments: ["get-replay", "clients"])
    func arrayAsksForALongAnswerOnlyOnce(type: String) throws {
        let (peer, feed) = (host.connect(), host.connect())
        feed.send(#"{"type":"trace","version":1}"#)
        #expect(try peer.ask(#"[{"type":"ping"},{"type":"\#(type)"}]"#)["code"] == nil)
        let refused = try peer.ask(#"[{"type":"\#(type)"},{"type":"ping"},{"type":"\#(type)"}]"#)
        #expect(refused["code"]?.string == "limit-reached" && refused["field"]?.string == "type")
    }

    @Test func eachObjectOfAnArrayCountsAsOneMoreSubscription() throws {
        let host = HubHost { $0.subscriptions = 2 }
        let (peer, other) = (host.connect(), host.connect())
        func subscribe(_ camera: String) -> String { #"{"type":"subscribe","camera":"\#(camera)"}"# }
        for (line, isTaken) in [
            (subscribe("a"), true), ("[\(subscribe("b")),\(subscribe("c"))]", false), (subscribe("b"), true),
            (subscribe("c"), false),
            // One that replaces another does not count twice.
            ("[\(subscribe("a")),\(subscribe("b")),\(subscribe("a"))]", true),
            (#"[{"type":"unsubscribe","camera":"a"},\#(subscribe("c"))]"#, false),
            (#"{"type":"unsubscribe","camera":"a","id":1}"#, true),
            (#"[{"type":"ping"},\#(subscribe("c"))]"#, false), (subscribe("c"), true), (subscribe("a"), false),
        ] {
            let last = try peer.ask(line)
            #expect(last["code"]?.string == (isTaken ? nil : "limit-reached"), "\(line): \(last)")
            #expect(peer.peer.subscriptions.all.count <= 2)
        }
        #expect(Set(peer.peer.subscriptions.all.map(\.camera.name)) == ["b", "c"])
        other.send(subscribe("d"))
        #expect(try type(other.receive()) == "subscribed")
    }

    @Test(arguments: [#"{"type":"ping"}"#, "{", #"[{"type":"stop"},{"type":"ping"}]"#])
    func floodIsServedALimitedNumberOfRequestsPerTurn(_ line: String) throws {
        let host = HubHost { $0.requestsPerTurn = 10 }
        let (flood, quiet) = (host.connect(), host.connect())
        flood.put(Array(String(repeating: line + "\n", count: 200).utf8))
        quiet.put(#"{"type":"ping","id":1}"#)
        host.turn()
        #expect(quiet.lines().count == 1)
        // Twice the limit because no other client waits, and twice what writing to it costs. An array that begins
        // within the turn is handled as a whole, and an error is more work than an answer.
        #expect((1...29).contains(flood.lines().count))
        var turns = 1
        while host.hub.deadline != nil, turns < 1000 {
            host.turn()
            turns += 1
        }
        // Nothing is lost, and the work of its turns is used up.
        flood.put(#"{"type":"ping","id":2}"#)
        host.turn()
        #expect(flood.lines().last == #"{"type":"pong","id":2}"#)
        #expect((7...201).contains(turns))
    }

    @Test(arguments: [(0, 1, 10...11), (0, 2, 5...6), (10, 1, 20...21), (10, 2, 15...21)])
    func turnIsTwiceAsLongForOneThatWaitsAloneAndUpToFourTimesWhereManyAreWrittenTo(
        subscribers: Int, floods: Int, lines: ClosedRange<Int>
    ) throws {
        let host = HubHost { $0.requestsPerTurn = 10 }
        let followers = (0..<subscribers).map { _ in host.subscriber() }
        let feeds = (0..<floods).map { _ in host.connect() }
        func pan(_ x: Int) -> String { #"{"type":"pan","phase":"changed","translation":{"x":\#(x),"y":0}}"# + "\n" }
        for feed in feeds { feed.send(#"{"type":"pan","phase":"began"}"#) }
        for feed in feeds { feed.put(Array((1...400).map(pan).joined().utf8)) }
        for follower in followers { _ = follower.lines() }
        host.turn()
        let before = host.hub.parts.counters.lines
        host.turn()
        #expect(lines.contains(Int(host.hub.parts.counters.lines - before)))
    }

    @Test func limitsOfLineAndArrayAreConfigurable() throws {
        let host = HubHost { ($0.line, $0.batch, $0.readAhead) = (100_000, 100, 1000) }
        let peer = host.connect()
        for (count, code) in [(99_990, nil), (100_001, "line-too-long")] {
            let rest = #"{"type":"ping","id":1,"x":""}"#.utf8.count
            let text = #"{"type":"ping","id":1,"x":"\#(String(repeating: "y", count: count - rest))"}"# + "\n"
            // In small pieces: everything received must be kept, however much that is.
            for start in stride(from: 0, to: text.utf8.count, by: 7000) {
                peer.send(Array(Array(text.utf8)[start..<min(start + 7000, text.utf8.count)]))
                #expect(peer.isReading)
            }
            #expect(try JSON(peer.receive() ?? "")["code"]?.string == code)
        }
        for (count, code) in [(100, nil), (101, "limit-reached")] {
            let pings = [String](repeating: #"{"type":"ping"}"#, count: count)
            #expect(try peer.ask("[\(pings.joined(separator: ","))]")["code"]?.string == code)
        }
    }

    @Test func longReplayLeavesTurnsToOtherClients() throws {
        let (feed, burst, other) = (host.connect(), host.connect(), host.connect())
        feed.put(#"{"type":"trace","version":1,"speed":"max","camera":"film"}"#)
        for hour in 0..<3 {
            let update = "{\"kind\":\"set-bearing\",\"bearing\":\(hour * 90 + 45)}"
            feed.put(#"{"type":"animate","timeMs":\#(hour * 3_600_000),"durationMs":3600000,"update":\#(update)}"#)
        }
        let moves = (1...900).map {
            "{\"type\":\"move\",\"update\":{\"kind\":\"set-bearing\",\"bearing\":\($0 % 359)}}\n"
        }
        burst.put(Array(moves.joined().utf8))
        other.put(#"{"type":"ping","id":1}"#)
        var turns = 0
        while other.lines().isEmpty, turns < 100 {
            host.turn()
            turns += 1
        }
        #expect(turns < 10)
    }
}
