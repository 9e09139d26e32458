// Idle actions of cameras: when they begin, what they do, and what ends them.

import TestSupport
import Testing

@testable import Hub

@Suite struct IdleActionTests {
    private let host = HubHost()
    private let visitor: HubPeer
    private let watcher: HubPeer

    private static let home =
        #"{"type":"set-idle-action","afterMs":5000,"action":{"kind":"fly-home","position":"#
        + #"{"target":{"latitude":48,"longitude":11},"zoom":9},"durationMs":500}}"#
    private static let play =
        #"{"type":"set-idle-action","afterMs":5000,"action":{"kind":"play","trace":"tour.ndjson"}}"#
    private static let move = #"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#

    /// A pan that begins at zoom 7, and an animation; 900 ms long, including the motion after its pan.
    private static let trace = """
        {"type":"trace","version":1,"position":{"target":{"latitude":30,"longitude":20},"zoom":7},"maxZoom":8}
        {"type":"pan","timeMs":100,"phase":"began"}
        {"type":"pan","timeMs":200,"phase":"changed","translation":{"x":40,"y":10}}
        {"type":"pan","timeMs":300,"phase":"ended","velocity":{"x":0,"y":0}}
        {"type":"animate","timeMs":500,"update":{"kind":"zoom-to","zoom":9},"durationMs":500}

        """

    init() throws {
        host.traces = [try StoredTrace("tour.ndjson", Array(Self.trace.utf8))]
        (visitor, watcher) = (host.connect(), host.subscriber())
    }

    /// Returns the events since the last call: kind, reason, time and zoom of each.
    private func events() throws -> [(kind: String, reason: String?, timeMs: Double, zoom: Double)] {
        try watcher.lines().map {
            let event = try JSON($0)
            return (
                try #require(event["type"]?.string), event["reason"]?.string, try #require(event["timeMs"]?.number),
                try #require(event["position"]?["zoom"]?.number)
            )
        }
    }

    private func zoom() throws -> Double {
        let peer = host.connect()
        defer { peer.close() }
        return try #require(peer.ask(#"{"type":"get-camera"}"#)["position"]?["zoom"]?.number)
    }

    // MARK: Home

    @Test func cameraThatIsLeftAloneFliesHomeOnce() throws {
        visitor.send(Self.home)
        visitor.send(Self.move)
        _ = watcher.lines()
        host.pass(4999)
        #expect(try events().isEmpty)
        host.pass(600)
        let flight = try events()
        #expect(flight.first?.kind == "move-started" && flight.last?.kind == "idle")
        #expect(flight.allSatisfy { $0.reason == "home" })
        #expect(flight.first?.timeMs == 5016.667 && flight.last?.timeMs == 5500)
        #expect(flight.last?.zoom == 9)
        host.pass(60_000)
        #expect(try events().isEmpty)
        visitor.send(Self.move)
        host.pass(5600)
        #expect(try events().last?.zoom == 9)
    }

    @Test(arguments: [
        #"{"type":"pan","phase":"changed","translation":{"x":1,"y":1}}"#,
        #"{"type":"touch","touches":[{"id":1,"x":100,"y":100}]}"#,
        #"{"type":"set-gestures","tilt":true}"#, #"{"type":"stop"}"#,
        #"{"type":"animate","update":{"kind":"set-bearing","bearing":3},"durationMs":1}"#,
    ])
    func whateverIsAskedOfItOnItsWayEndsThatWithoutAJump(_ line: String) throws {
        visitor.send(Self.home)
        host.pass(5250)
        let before = try #require(try events().last?.zoom)
        #expect(2 < before && before < 9)
        visitor.send(line)
        host.pass(4000)
        let rest = try events()
        #expect(rest.allSatisfy { $0.zoom == before && ($0.reason != "home" || $0.kind == "idle") })
        host.pass(60_000)
        // A gesture, or a finger that stays, keeps it there.
        #expect(try zoom() == (line.contains("phase") || line.contains("touches") ? before : 9))
    }

    @Test func fingersThatStayKeepTheCameraUntilTheyLift() throws {
        visitor.send(Self.home)
        visitor.send(#"{"type":"touch","touches":[{"id":1,"x":100,"y":100}]}"#)
        host.pass(60_000)
        #expect(try events().isEmpty)
        visitor.send(#"{"type":"touch","touches":[]}"#)
        host.pass(4900)
        #expect(try events().isEmpty)
        host.pass(700)
        #expect(try events().last?.zoom == 9)
    }

    @Test func timeCountsFromTheEndOfAGlide() throws {
        visitor.send(Self.home)
        visitor.send(#"{"type":"pan","phase":"began"}"#)
        visitor.send(#"{"type":"pan","phase":"ended","velocity":{"x":900,"y":0}}"#)
        host.pass(4000)
        let rest = try #require(try events().last)
        #expect(rest.kind == "idle" && rest.timeMs > 500)
        host.pass(5000)
        #expect(try abs(#require(try events().first).timeMs - (rest.timeMs + 5000 + 1000.0 / 60)) < 0.002)
    }

    @Test func leasedCameraStaysAndItsTimeCountsFromTheEndOfTheLease() throws {
        visitor.send(Self.home)
        host.pass(1000)
        visitor.send(#"{"type":"take-lease","forMs":20000}"#)
        host.pass(24_900)
        #expect(try events().isEmpty)
        host.pass(700)
        #expect(try events().last?.zoom == 9)
    }

    @Test func itGoesOnInTheNextProcess() throws {
        visitor.send(Self.home)
        host.pass(3000)
        try host.handOver()
        host.pass(2250)
        try host.handOver()
        host.pass(300)
        #expect(try events().last?.zoom == 9)
        host.pass(60_000)
        #expect(try events().isEmpty)
    }

    @Test func savedCameraGoesHomeInTheNextRun() throws {
        visitor.send(Self.home)
        visitor.send(Self.move)
        host.hub.end(at: host.now)
        host.restart(with: try SavedState(host.hub.savedState(isLast: true).bytes))
        #expect(try zoom() == 5)
        host.pass(5600)
        #expect(try zoom() == 9)
    }

    @Test func nothingBeginsInATraceAndARecordingHasTheFlight() throws {
        let recorder = host.connect()
        recorder.send(#"{"type":"subscribe","events":["gesture"]}"#)
        visitor.send(Self.home)
        host.pass(6000)
        let flown = try events()
        visitor.send(Self.move)
        host.pass(1)
        let lines = try #require(TraceTape(of: recorder).traces.first).lines
        #expect(lines.contains { $0.contains(#""type":"animate""#) && $0.contains(#""path":"flight""#) })
        let (again, errors) = try TraceTape.play(lines)
        #expect(errors.isEmpty)
        #expect(again.count == flown.count + 3)
        #expect(!again.contains { $0.contains("home") })
    }

    // MARK: The attract loop

    @Test func cameraThatIsLeftAlonePlaysATraceOverAndOver() throws {
        visitor.send(Self.play)
        host.pass(60_000)
        let all = try events()
        #expect(all.allSatisfy { $0.reason == nil && $0.kind == "reset" || $0.reason == "attract" })
        let resets = all.indices.filter { all[$0].kind == "reset" }
        #expect(resets.count > 20)
        // It flew to where the trace begins, so that the trace sets it there without a jump.
        #expect(all[resets[0] - 1].kind == "idle" && all[resets[0] - 1].zoom == 7 && all[resets[0]].zoom == 7)
        let rounds = zip(resets, resets.dropFirst()).map { all[$0..<$1].map(\.zoom) }
        #expect(Set(rounds).count == 1)
        // The trace's own limits do not apply to the camera.
        #expect(rounds[0].last == 9)
    }

    @Test func traceThatIsPlayedOnceIsPlayedAgainAfterAsLongARest() throws {
        visitor.send(Self.play.replacing(#""tour.ndjson""#, with: #""tour.ndjson","loop":false"#))
        host.pass(30_000)
        #expect(3...5 ~= (try events().count { $0.kind == "reset" }))
    }

    @Test(
        arguments: [true, false],
        [
            #"{"type":"pan","phase":"began"}"#, #"{"type":"move","update":{"kind":"zoom-by","amount":0}}"#,
            #"{"type":"touch","touches":[{"id":1,"x":100,"y":100}]}"#, #"{"type":"take-lease","forMs":1000000}"#,
            #"{"type":"set-idle-action","action":null}"#,
        ])
    func visitorTakesOverWhereTheTraceIs(handsOver: Bool, _ line: String) throws {
        visitor.send(Self.play)
        // It is in the middle of the trace's animation.
        repeat { host.pass(10) } while try events().last.map { $0.zoom > 7.5 && $0.zoom < 8.5 } != true
        if handsOver { try host.handOver() }
        let before = try zoom()
        visitor.send(line.dropLast() + #","id":1}"#)
        host.pass(line.contains("\"move\"") ? 4900 : 30_000)
        #expect(visitor.messages.allSatisfy { $0["type"]?.string != "error" })
        #expect(try zoom() == before)
        let rest = try events()
        #expect(rest.allSatisfy { $0.zoom == before && $0.kind != "camera-changed" })
        #expect(!host.hub.isMoving)
    }

    @Test func clientsTraceTakesThePlaceOfOneThatTheDaemonPlays() throws {
        visitor.send(Self.play)
        host.pass(8000)
        visitor.send(#"{"type":"trace","version":1,"speed":"max","id":1}"#)
        visitor.send(#"{"type":"trace-end","id":2}"#)
        host.pass(1)
        #expect(visitor.messages.contains { $0["type"]?.string == "trace-ended" && $0["id"]?.number == 1 })
        #expect(try zoom() == 2)
    }

    @Test func loopGoesOnInTheNextProcessAtTheSamePlace() throws {
        visitor.send(Self.play)
        host.pass(8000)
        let other = HubHost(), peers = (other.connect(), other.subscriber())
        other.traces = host.traces
        peers.0.send(Self.play)
        other.pass(8000)
        try host.handOver()
        for host in [host, other] { host.pass(20_000) }
        let told = [watcher, peers.1].map { peer in peer.lines().map { $0.replacing(/"epoch":"[^"]*"/, with: "") } }
        #expect(told[0] == told[1])
        #expect(told[0].count > 800)
    }

    @Test func settingsOfAStoredTraceArePassedOver() throws {
        let set = #"{"type":"set-zoom-range","timeMs":0,"minZoom":5}"# + "\n"
        let header = Self.trace.split(separator: "\n")[0] + "\n"
        let lines = header + set + Self.trace.dropFirst(header.count)
        host.traces = [try StoredTrace("tour.ndjson", Array(lines.utf8))]
        visitor.send(Self.play)
        host.pass(20_000)
        #expect(try events().contains { $0.kind == "reset" })
        #expect(try visitor.ask(#"{"type":"get-camera"}"#)["minZoom"]?.number == 2)
    }

    @Test func loopHasTheMarkersOfItsTraceAndIsSavedOnlyWhenItEnds() throws {
        let marked = Self.trace + #"{"type":"marker","timeMs":700,"label":"there"}"#
        let host = HubHost()
        host.traces = [try StoredTrace("tour.ndjson", Array(marked.utf8))]
        let text = SavedText()
        host.hub.savedText = text
        let visitor = host.connect()
        visitor.send(Self.play)
        host.pass(8000)
        visitor.send(#"{"type":"get-replay","id":1}"#)
        #expect(visitor.messages.last?["markers"]?.array?.compactMap { $0["label"]?.string } == ["there"])
        text.begin()
        #expect(host.hub.continueSaving(atMost: 10))
        host.pass(8000)
        #expect(!text.hasUnsaved)
        visitor.send(#"{"type":"end-replay","id":2}"#)
        host.pass(100)
        #expect(text.hasUnsaved)
    }

    @Test func camerasThatComeAndGoAreNotKept() {
        weak var kept: HostedCamera?
        for number in 0..<400 {
            visitor.send(Self.home.dropLast() + #","camera":"c"}"#)
            if number == 0 { kept = host.hub.parts.registry.camera(named: "c") }
            visitor.send(#"{"type":"remove-camera","camera":"c"}"#)
        }
        #expect(kept == nil)
    }

    @Test func daemonThatEndsBeginsNothing() throws {
        visitor.send(Self.play)
        host.pass(8000)
        visitor.send(Self.home.dropLast() + #","camera":"other"}"#)
        host.hub.end(at: host.now)
        host.turn()
        _ = watcher.lines()
        host.pass(20_000)
        #expect(try events().isEmpty)
        #expect(!host.hub.movesByItself("other") && host.hub.deadline == nil)
    }

    @Test func loopIsEndedByItsRequestAndSteeredByNoOther() throws {
        visitor.send(Self.play)
        host.pass(8000)
        let status = try visitor.ask(#"{"type":"get-replay","id":1}"#)
        #expect(status["trace"]?.string == "tour.ndjson" && status["durationMs"]?.number == 900)
        for type in ["pause-replay", "set-replay-speed\",\"speed\":\"max", "seek-replay\",\"toMs\":\"0"] {
            #expect(try visitor.ask(#"{"type":"\#(type)","id":1}"#)["type"]?.string == "error")
        }
        visitor.send(#"[{"type":"stop","id":2},{"type":"get-replay","id":3}]"#)
        #expect(visitor.messages.suffix(2).map { $0["code"]?.string } == [nil, "no-replay"])
        host.pass(8000)
        visitor.send(#"{"type":"end-replay","id":4}"#)
        host.pass(4000)
        #expect(visitor.messages.last?["type"]?.string == "ok" && !host.hub.isMoving)
    }

    @Test(arguments: [true, false]) func loopEndsInAProcessThatHasAnotherTraceOfItsName(_ hasOne: Bool) throws {
        visitor.send(Self.play)
        host.pass(8000)
        let other = Self.trace + #"{"type":"stop","timeMs":2000}"#
        host.traces = hasOne ? [try StoredTrace("tour.ndjson", Array(other.utf8))] : []
        try host.handOver()
        host.pass(4000)
        #expect(!host.hub.isMoving)
        _ = watcher.lines()
        host.pass(8000)
        #expect(try events().contains { $0.kind == "reset" } == hasOne)
    }

    @Test func manyCamerasThatAreLeftAloneDoNotTakeATurnForThemselves() throws {
        for number in 0..<250 {
            visitor.send(Self.home.dropLast() + #","camera":"c\#(number)"}"#)
        }
        host.jump(5001)
        let begun = (0..<250).count { host.hub.movesByItself("c\($0)") }
        #expect(0 < begun && begun < 250)
        host.pass(700)
        #expect(!host.hub.isMoving && host.hub.deadline == nil)
    }

    @Test func unknownTraceIsRefusedAndOneThatIsGoneIsNotPlayed() throws {
        let error = try visitor.ask(Self.play.replacing("tour.ndjson", with: "none.ndjson"))
        #expect(error["code"]?.string == "invalid-value" && error["field"]?.string == "action.trace")
        visitor.send(Self.play)
        host.traces = []
        host.pass(60_000)
        #expect(try events().isEmpty)
    }

    @Test func tracesAreListedByTheirNames() throws {
        let plain = Array(
            "{\"type\":\"trace\",\"version\":1}\n{\"type\":\"move\",\"timeMs\":0,\"update\":{\"kind\":\"zoom-in\"}}"
                .utf8)
        host.traces = [try StoredTrace("b", plain), host.traces[0], try StoredTrace("a", plain)]
        visitor.send(#"{"type":"traces","id":1}"#)
        #expect(
            visitor.lines() == [
                #"{"type":"traces","id":1,"traces":[{"trace":"a","lines":1,"durationMs":0},"#
                    + #"{"trace":"b","lines":1,"durationMs":0},"#
                    + #"{"trace":"tour.ndjson","lines":4,"durationMs":900}]}"#
            ])
    }

    @Test(arguments: [
        ("", 1), (#"{"type":"pan","phase":"began"}"#, 1), (#"{"type":"trace","version":2}"#, 1),
        ("{\"type\":\"trace\",\"version\":1}\n{\"type\":\"pan\",\"phase\":\"began\"}", 2),
        ("{\"type\":\"trace\",\"version\":1}\n\n{\"type\":\"stop\",\"timeMs\":2}\n{\"type\":\"stop\",\"timeMs\":1}", 4),
        ("{\"type\":\"trace\",\"version\":1}\n{\"type\":\"stop\",\"timeMs\":2,\"camera\":\"other\"}", 2),
        (
            "{\"type\":\"trace\",\"version\":1}\n{\"type\":\"marker\",\"timeMs\":0,\"label\":\"a\"}\n"
                + "{\"type\":\"marker\",\"timeMs\":1e9,\"label\":\"b\"}", 1
        ),
    ])
    func fileThatADaemonWouldRefuseIsNoTrace(_ text: String, line: Int) throws {
        let problem = #expect(throws: StoredTrace.Problem.self) { _ = try StoredTrace("a", Array(text.utf8)) }
        #expect(problem?.line == line)
    }

    @Test func clientThatOnceTouchedTheCameraAndALeaseDoNotStopTheFlightHome() throws {
        visitor.send(Self.home)
        let guest = host.connect()
        guest.send(#"{"type":"touch","touches":[{"id":1,"x":100,"y":100}]}"#)
        guest.send(#"{"type":"touch","touches":[]}"#)
        guest.send(Self.move)
        host.pass(5200)
        guest.close()
        host.turn()
        visitor.send(#"{"type":"take-lease","forMs":60000}"#)
        _ = watcher.lines()
        host.pass(1000)
        #expect(try events().last?.zoom == 9)
    }
}
