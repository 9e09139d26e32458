// Fingers recognized by the hub: who owns them, who sees them, what is recorded of them, and what ends them. Their
// meaning is tested with the recognizer, and against `gimbal convert` in TouchTracesTests.

import Hub
import TestSupport
import Testing

/// Returns a line of fingers on a surface.
private func touch(
    _ fingers: [(id: Int, x: Double, y: Double)], at time: Double? = nil, _ more: String = ""
) -> String {
    let touches = fingers.map { #"{"id":\#($0.id),"x":\#($0.x),"y":\#($0.y)}"# }.joined(separator: ",")
    let timeMs = time.map { #""timeMs":\#($0),"# } ?? ""
    return #"{"type":"touch",\#(timeMs)"touches":[\#(touches)]\#(more)}"#
}

/// Returns lines of one finger that drags by 10 points per line and stays down.
private func drag(from x: Double, _ more: String = "") -> [String] {
    (0...5).map { touch([(1, x + Double($0) * 10, 400)], at: Double($0) * 16, more) }
}

@Suite struct TouchTests {
    private let host = HubHost()

    private func subscriber(_ kinds: String) -> HubPeer { host.subscriber(#","events":[\#(kinds)]"#) }

    private func code(_ peer: HubPeer) throws -> (code: String?, field: String?) {
        let error = try JSON(try #require(peer.lines().last))
        return (error["code"]?.string, error["field"]?.string)
    }

    // MARK: Movement

    @Test func aDraggingFingerMovesTheCameraAndItsLiftingLetsItRest() throws {
        let (watcher, feed) = (subscriber(#""move-started","camera-changed","idle""#), host.connect())
        for line in drag(from: 100) { feed.send(line) }
        #expect(try watcher.types() == ["move-started"] + Array(repeating: "camera-changed", count: 5))
        feed.send(touch([(1, 150, 400)], at: 500))
        feed.send(touch([], at: 600))
        #expect(try watcher.types() == ["idle"])
        #expect(feed.lines() == [])
    }

    @Test func aThrownFingerFlings() throws {
        let (watcher, feed) = (subscriber(#""camera-changed","idle""#), host.connect())
        for line in drag(from: 100) { feed.send(line) }
        feed.send(touch([], at: 81))
        _ = watcher.lines()
        host.pass(5000)
        let flown = try watcher.types()
        #expect(flown.count > 60 && flown.last == "idle")
    }

    @Test func surfacesOfOneConnectionAndOfTwoDoNotMix() throws {
        // Two fingers on one surface would pinch; one on each of two only pan.
        for second in [0, 1] {
            let host = HubHost()
            let feeds = [host.connect(), host.connect()]
            let watcher = host.subscriber(#","events":["camera-changed"]"#)
            for step in 0...9 {
                let x = Double(step) * 10
                feeds[0].send(touch([(1, 150 - x, 400)], at: Double(step), #","surface":"left""#))
                let more = second == 0 ? #","surface":"right""# : #","surface":"left""#
                feeds[second].send(touch([(1, 250 + x, 400)], at: Double(step), more))
            }
            let zooms = try watcher.lines().compactMap { try JSON($0)["position"]?["zoom"]?.number }
            #expect(zooms.count > 10 && zooms.allSatisfy { $0 == 2 })
        }
    }

    @Test func fingersMayStandInAnyOrder() throws {
        func positions(_ swapped: Bool) throws -> [String] {
            let host = HubHost()
            let (watcher, feed) = (host.subscriber(#","events":["camera-changed"]"#), host.connect())
            for step in 0...9 {
                let x = Double(step) * 10
                let fingers: [(Int, Double, Double)] = [(1, 150 - x, 400), (2, 250 + x, 420)]
                feed.send(touch(swapped && step % 2 == 1 ? fingers.reversed() : fingers, at: Double(step) * 16))
            }
            return try watcher.lines().compactMap { try JSON($0)["position"]?.text }
        }
        let (plain, swapped) = (try positions(false), try positions(true))
        #expect(plain.count > 5 && plain == swapped)
    }

    @Test func aTouchThatIsCancelledFlingsNothing() throws {
        let (watcher, feed) = (subscriber(#""camera-changed","idle""#), host.connect())
        for line in drag(from: 100) { feed.send(line) }
        feed.send(#"{"type":"touch","timeMs":81,"cancelled":true}"#)
        #expect(try watcher.types().last == "idle")
        host.pass(1000)
        #expect(watcher.lines() == [])
    }

    @Test func aClockThatIsSetBackGoesOn() throws {
        let (watcher, feed) = (subscriber(#""camera-changed","idle""#), host.connect())
        for (step, time) in [1_000_000, 1_000_016, 5, 21, 37, 53].enumerated() {
            feed.send(touch([(1, 100 + Double(step) * 20, 400)], at: Double(time)))
        }
        feed.send(touch([], at: 54))
        host.pass(100)
        // 20 points in 16 ms: the finger throws the map.
        #expect(try watcher.types().filter { $0 == "camera-changed" }.count > 8)
    }

    @Test func aCommandEndsTheGesturesOfFingersAndTheyBeginAnewWithoutAJump() throws {
        let (watcher, feed) = (subscriber(#""camera-changed","idle""#), host.connect())
        for line in drag(from: 100) { feed.send(line) }
        feed.send(#"{"type":"move","update":{"kind":"set-target","target":{"latitude":0,"longitude":0}}}"#)
        #expect(try watcher.types().last == "idle")
        feed.send(touch([(1, 160, 400)], at: 96))
        feed.send(touch([(1, 161, 400)], at: 112))
        let moved = try watcher.lines().compactMap { try JSON($0)["position"]?["target"]?["longitude"]?.number }
        // A point is 360° / 1024 at zoom 2.
        #expect(moved == [-0.3515625])
    }

    @Test func switchedOffGesturesOfFingersDoNothing() throws {
        let (watcher, feed) = (subscriber(#""camera-changed""#), host.connect())
        feed.send(#"{"type":"set-gestures","scroll":false}"#)
        for line in drag(from: 100) { feed.send(line) }
        #expect(watcher.lines() == [])
    }

    // MARK: Endings

    @Test func fingersOfAConnectionThatClosesAreCancelled() throws {
        let (watcher, feed) = (subscriber(#""touch","idle""#), host.connect())
        for line in drag(from: 100) { feed.send(line) }
        _ = watcher.lines()
        feed.close()
        host.pass(0)
        #expect(
            try watcher.newMessages().map { $0["type"]?.string ?? "" + ($0["touches"]?.text ?? "") }
                == ["touch", "idle"])
    }

    @Test func fingersThatNobodyHasSeenMoveNothing() throws {
        let (watcher, feed) = (subscriber(#""touch","camera-changed""#), host.connect())
        feed.send(#"{"type":"touch","touches":[],"id":1}"#)
        feed.send(#"{"type":"touch","cancelled":true,"id":2}"#)
        #expect(feed.lines() == [#"{"type":"ok","id":1}"#, #"{"type":"ok","id":2}"#])
        #expect(watcher.lines() == [])
    }

    @Test func touchesAreBusyWhileAReplayRuns() throws {
        let (player, feed) = (host.connect(), host.connect())
        player.send(#"{"type":"trace","version":1}"#)
        feed.send(touch([(1, 2, 3)]))
        #expect(try code(feed) == ("busy", "camera"))
        player.send(touch([(1, 2, 3)]))
        #expect(try code(player) == ("missing-field", "timeMs"))
    }

    // MARK: Limits

    @Test func aConnectionTouchesSixteenSurfacesAndACameraSixtyFour() throws {
        let feeds = (0..<5).map { _ in host.connect() }
        for feed in feeds.prefix(4) {
            for surface in 0..<16 { feed.send(touch([(1, 2, 3)], #","surface":\#(surface)"#)) }
            #expect(feed.lines() == [])
            feed.send(touch([(1, 2, 3)], #","surface":16"#))
            #expect(try code(feed) == ("limit-reached", "surface"))
        }
        feeds[4].send(touch([(1, 2, 3)]))
        #expect(try code(feeds[4]) == ("limit-reached", "surface"))
        feeds[0].send(touch([], #","surface":3"#))
        feeds[4].send(touch([(1, 2, 3)]))
        #expect(feeds[4].lines() == [])
    }

    @Test func aTraceTouchesAsManySurfacesAsACameraMayHave() throws {
        let feed = host.connect()
        feed.send(#"{"type":"trace","version":1,"speed":"max"}"#)
        for surface in 0..<64 { feed.send(touch([(1, 2, 3)], at: 0, #","surface":\#(surface)"#)) }
        #expect(feed.lines() == [])
        feed.send(touch([(1, 2, 3)], at: 0, #","surface":64"#))
        #expect(try code(feed) == ("limit-reached", "surface"))
    }

    @Test func anArrayIsAdmittedAsAWhole() throws {
        let feed = host.connect()
        let surfaces = (0..<17).map { touch([(1, 2, 3)], #","surface":\#($0)"#) }
        feed.send("[\(surfaces.joined(separator: ","))]")
        #expect(try code(feed) == ("limit-reached", "surface"))
        let many = (0..<2).map { surface in
            touch((0..<129).map { ($0, 2, 3) }, #","surface":\#(surface)"#)
        }
        feed.send("[\(many.joined(separator: ","))]")
        #expect(try code(feed) == ("limit-reached", "touches"))
        feed.send(touch((0..<257).map { ($0, 2, 3) }))
        #expect(try code(feed) == ("limit-reached", "touches"))
        feed.send(touch((0..<256).map { ($0, 2, 3) }, #","id":1"#))
        #expect(feed.lines() == [#"{"type":"ok","id":1}"#])
    }

    // MARK: Watching

    @Test func whoAsksForTouchesSeesThemBeforeWhatTheyDo() throws {
        let (watcher, feed) = (subscriber(#""touch","move-started","camera-changed""#), host.connect())
        for line in drag(from: 100, #","surface":"table""#).prefix(3) { feed.send(line) }
        let lines = watcher.lines()
        #expect(
            try lines.map { try JSON($0)["type"]?.string }
                == ["touch", "touch", "move-started", "camera-changed", "touch", "camera-changed"])
        #expect(
            lines.first
                == #"{"type":"touch","camera":"main","timeMs":0,"number":1,"surface":"table","touches":[{"id":1,"x":100,"y":400}]}"#
        )
        // A late subscriber sees the current fingers.
        let late = host.connect()
        late.send(#"{"type":"subscribe","events":["touch"]}"#)
        #expect(try late.lines().last.map { try JSON($0)["touches"]?.text } == #"[{"id":1,"x":120,"y":400}]"#)
    }

    @Test func touchesAreForEveryDeliveryAndForNamedCamerasOnly() throws {
        let watcher = host.connect()
        watcher.send(#"{"type":"subscribe","events":["touch"],"delivery":"latest"}"#)
        #expect(try code(watcher) == ("invalid-value", "delivery"))
        watcher.send(#"{"type":"subscribe","camera":"*","events":["touch"]}"#)
        #expect(try code(watcher) == ("invalid-value", "events"))
    }

    // MARK: Recording

    @Test func aRecordingHasTheFingersAndNotTheirGestures() throws {
        let recorder = host.connect()
        recorder.send(#"{"type":"subscribe","events":["gesture","move-started","camera-changed","idle"]}"#)
        let feed = host.connect()
        for line in drag(from: 100, #","surface":"table""#) {
            host.pass(16.3)
            feed.send(line)
        }
        feed.send(touch([], at: 96, #","surface":"table""#))
        host.pass(5000)
        let trace = try #require(TraceTape(of: recorder).traces.last)
        #expect(trace.lines.count == 8 && trace.lines.dropFirst().allSatisfy { $0.hasPrefix(#"{"type":"touch""#) })
        #expect(try JSON(trace.lines[1])["surfaceTimeMs"]?.number == 0 && !trace.lines[1].contains("table"))
        #expect(trace.events.count > 60)
        let replay = try TraceTape.play(trace.lines)
        #expect(replay.events == trace.events && replay.errors.isEmpty)
    }

    @Test func fingersThatAreDownWhenARecordingBeginsAreRecordedAsGesturesUntilTheyLift() throws {
        let feed = host.connect()
        for line in drag(from: 100) { feed.send(line) }
        let first = subscriber(#""gesture""#)
        let second = subscriber(#""gesture""#)
        feed.send(touch([(1, 170, 400)], at: 96))
        feed.send(touch([], at: 400))
        func kinds(_ peer: HubPeer) throws -> [String] {
            try peer.lines().compactMap { try JSON($0)["line"]?["type"]?.string }
        }
        #expect(try kinds(first) == ["pan", "pan"])
        #expect(try kinds(second) == ["pan", "pan"])
        host.pass(3000)
        feed.send(touch([(2, 170, 400)], at: 4000))
        // A recorder that subscribes now waits until the finger has lifted.
        let third = subscriber(#""gesture""#)
        feed.send(touch([(2, 190, 400)], at: 4016))
        #expect(try kinds(first) == ["touch", "touch"])
        #expect(try kinds(third) == [])
        feed.send(touch([], at: 4500))
        #expect(try kinds(third) == ["trace"])
    }

    // MARK: Restarts

    @Test func fingersGoOnOverAHandoverWithoutAJump() throws {
        let watcher = subscriber(#""touch","camera-changed","idle""#)
        let (feed, other) = (host.connect(), host.connect())
        for line in drag(from: 100) { feed.send(line) }
        other.send(touch([(5, 300, 300)], at: 7, #","surface":"other""#))
        _ = watcher.lines()
        try host.handOver()
        #expect(try watcher.types() == [])
        feed.send(touch([(1, 160, 400)], at: 96))
        feed.send(touch([(1, 170, 400)], at: 112))
        #expect(try watcher.types() == ["touch", "camera-changed", "touch", "camera-changed"])
        // The recognizer still knows the finger's earlier speed.
        feed.send(touch([], at: 113))
        host.pass(100)
        #expect(try watcher.types().filter { $0 == "camera-changed" }.count > 4)
        other.close()
        host.pass(0)
        let lost = try watcher.newMessages().filter { $0["type"]?.string == "touch" }
        #expect(lost.count == 1 && lost[0]["cancelled"]?.text == "true" && lost[0]["surface"]?.string == "other")
    }

    @Test func aDoubleTapMayHaveAHandoverInItsMiddle() throws {
        let (watcher, feed) = (subscriber(#""camera-changed","idle""#), host.connect())
        feed.send(touch([(1, 100, 100)], at: 0))
        feed.send(touch([], at: 60))
        try host.handOver()
        feed.send(touch([(2, 101, 100)], at: 160))
        try host.handOver()
        feed.send(touch([], at: 220))
        host.pass(400)
        let last = try JSON(try #require(watcher.lines().last))
        #expect(last["type"]?.string == "idle" && last["position"]?["zoom"]?.number == 3)
    }

    /// The second finger of a tilt may rest for a while, which began before the handover.
    @Test(arguments: [40.0, 200]) func aFingerThatLeadsInATiltHasLedSinceBeforeAHandover(rests: Double) throws {
        func positions(handsOver: Bool) throws -> [String] {
            let host = HubHost()
            let (watcher, feed) = (host.subscriber(#","events":["camera-changed"]"#), host.connect())
            feed.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":12}}"#)
            let frames: [(left: Double, right: Double, time: Double)] = [
                (400, 400, 0), (360, 400, 16), (358, 400, 16 + rests), (340, 380, 32 + rests), (320, 360, 250),
            ]
            for (left, right, time) in frames {
                feed.send(touch([(1, 100, left), (2, 300, right)], at: time))
                if handsOver { try host.handOver() }
            }
            return watcher.lines()
        }
        let (once, often) = (try positions(handsOver: false), try positions(handsOver: true))
        #expect(once == often && once.count > 1)
    }
}

@Suite struct PositionTests {
    private let host = HubHost()

    private func position(_ phase: String, _ longitude: Double? = nil, _ more: String = "") -> String {
        let position = longitude.map { #","position":{"target":{"latitude":0,"longitude":\#($0)},"zoom":5}"# } ?? ""
        return #"{"type":"position","phase":"\#(phase)"\#(position)\#(more)}"#
    }

    private func events(_ peer: HubPeer) throws -> [String] {
        try peer.lines().map { line in
            let json = try JSON(line)
            let longitude = json["position"]?["target"]?["longitude"]?.text ?? ""
            return "\(json["type"]?.string ?? "") \(json["reason"]?.string ?? "") \(longitude)"
        }
    }

    @Test func aPositionWithoutBeganBeginsAndCounts() throws {
        let (watcher, feed) = (host.subscriber(), host.connect())
        feed.send(position("changed", 10))
        feed.send(position("cancelled", 20))
        #expect(try events(watcher) == ["move-started gesture 0", "camera-changed gesture 10", "idle gesture 10"])
        feed.send(position("ended", 20))
        #expect(watcher.lines() == [])
    }

    @Test func aPositionIsKeptWithinTheConstraints() throws {
        let (watcher, feed) = (host.subscriber(), host.connect())
        feed.send(#"{"type":"set-zoom-range","maxZoom":4}"#)
        feed.send(position("changed", 10))
        let last = try JSON(try #require(watcher.lines().last))
        #expect(last["position"]?["zoom"]?.number == 4)
    }

    @Test func thePositionThatComesLastCountsAndOthersGesturesAddToIt() throws {
        let (watcher, first, second) = (host.subscriber(), host.connect(), host.connect())
        first.send(position("changed", 10))
        second.send(position("changed", 20))
        second.send(#"{"type":"pan","phase":"began","focus":{"x":195,"y":422}}"#)
        second.send(#"{"type":"pan","phase":"changed","focus":{"x":185,"y":422},"translation":{"x":-10}}"#)
        // A point is 360° / 8192 at zoom 5.
        #expect(try events(watcher).last == "camera-changed gesture 20.439453125")
        first.send(position("changed", 11))
        first.close()
        second.send(#"{"type":"pan","phase":"cancelled"}"#)
        #expect(try events(watcher) == ["camera-changed gesture 11"])
        second.send(position("ended"))
        #expect(try events(watcher) == ["idle gesture 11"])
    }

    @Test func aPositionStopsAnAnimationAndACommandCancelsIt() throws {
        let (watcher, feed) = (host.subscriber(), host.connect())
        feed.send(
            #"{"type":"animate","durationMs":500,"update":{"kind":"set-target","target":{"latitude":0,"longitude":60}}}"#
        )
        host.pass(100)
        feed.send(position("began"))
        _ = watcher.lines()
        host.pass(1000)
        #expect(watcher.lines() == [])
        feed.send(#"{"type":"move","update":{"kind":"set-bearing","bearing":90}}"#)
        #expect(try events(watcher).last?.hasPrefix("idle command") == true)
        feed.send(position("changed", 7))
        #expect(try events(watcher).last == "camera-changed gesture 7")
    }
}
