// Fair turns: a quiet client beside greedy neighbours. The tests count work and use no clock.

import TestSupport
import Testing
import GimbalProtocol

@testable import Hub

@Suite struct FairnessTests {
    private let host = HubHost()

    /// Lines of clients that try to monopolize a daemon.
    static let hostileLines: [String] = {
        func batch(_ objects: [String]) -> String { "[\(objects.joined(separator: ","))]" }
        let names = (0..<64).map { "\"camera\":\"c\($0)\"" }
        return [
            #"{"type":"pan","phase":"changed","camera":"n","translation":{"x":1,"y":2}}"#,
            #"{"type":"stop","x":"\#(String(repeating: "x", count: 60_000))"}"#,
            #"{"type":"pinch","phase":"changed","scale":-1}"#,
            #"{"type":"ping","id":1}"#,
            batch((0..<64).map { "{\"type\":\"pan\",\"phase\":\"changed\",\"camera\":\"n\",\"gesture\":\($0)}" }),
            batch(names.map { "{\"type\":\"subscribe\",\($0)}" }),
            batch(names.map { "{\"type\":\"subscribe\",\($0),\"events\":[\"gesture\"]}" }),
            batch((0..<64).map { "{\"type\":\"set-zoom-range\",\"minZoom\":\(2 + $0 % 9)}" }),
            batch((0..<64).map { "{\"type\":\"swipe\",\"id\":\($0)}" }),
            fingers(256),
            batch((0..<64).map { _ in "{\"type\":\"cameras\"}" }),
            batch(names.map { "{\"type\":\"get-camera\",\($0)}" }),
            batch(names.map { "{\"type\":\"stop\",\($0)}" }),
            #"{"type":"remove-camera","camera":"c1"}"#,
            batch(
                names.map { "{\"type\":\"animate\",\($0),\"durationMs\":3600000,\"update\":{\"kind\":\"zoom-in\"}}" }),
        ]
    }()

    private static func fingers(_ count: Int) -> String {
        let touches = (0..<count).map { "{\"id\":\($0),\"x\":\($0 % 390),\"y\":\($0 % 844)}" }
        return "{\"type\":\"touch\",\"camera\":\"n\",\"touches\":[\(touches.joined(separator: ","))]}"
    }

    @Test func afterAStandstillMovementsGoOnTurnByTurnAndNoReaderLags() throws {
        let (feed, reader) = (host.connect(), host.connect())
        for camera in ["a", "b"] {
            reader.send(#"{"type":"subscribe","camera":"\#(camera)"}"#)
            feed.send(
                #"{"type":"animate","camera":"\#(camera)","durationMs":3600000,"update":{"kind":"set-bearing","bearing":180}}"#
            )
        }
        _ = reader.lines()
        host.jump(1_800_000)
        var lines = reader.lines()
        #expect(lines.count <= Limits().eventsPerTurn + 1)
        var isCaughtUp = false
        while !isCaughtUp {
            host.turn()
            let more = reader.lines()
            // Output that exceeds a turn is sent in the next one.
            #expect(more.count <= 2 * Limits().eventsPerTurn)
            lines += more
            isCaughtUp = more.isEmpty
        }
        // The beginning, and 60 frames a second.
        for camera in ["a", "b"] {
            #expect(lines.count { $0.contains("\"camera\":\"\(camera)\"") } == 1 + 1800 * 60)
        }
        #expect(!lines.contains { $0.contains("lagged") })
    }

    @Test func manyFingersAreMoreWorkThanTheirBytes() {
        func work(_ line: String) -> UInt64 {
            let host = HubHost()
            let peer = host.connect()
            let before = host.hub.parts.turns.work
            peer.send(line)
            return host.hub.parts.turns.work - before
        }
        let padding = String(repeating: " ", count: Self.fingers(256).utf8.count - Self.fingers(1).utf8.count)
        #expect(work(Self.fingers(256)) >= work(Self.fingers(1) + padding) + 64)
    }

    @Test(arguments: hostileLines.indices)
    func quietClientIsAnsweredInTheSameTurnBesideFloods(_ kind: Int) throws {
        let quiet = host.connect()
        quiet.send(#"{"type":"subscribe","camera":"quiet"}"#)
        quiet.send(#"{"type":"pan","phase":"began","camera":"quiet"}"#)
        _ = quiet.lines()
        let line = Array(Self.hostileLines[kind].utf8) + [0x0a]
        let flood = Array(repeatElement(line, count: max(1, 8192 / line.count)).joined())
        let neighbours = (0..<64).map { _ in host.connect() }
        var most: UInt64 = 0
        for turn in 1...160 {
            for neighbour in neighbours where host.hub.wantsBytes(of: neighbour.peer) { neighbour.put(flood) }
            // It sends a request now and then, after all have started.
            let asks = turn > 32 && turn % 8 == 0
            if asks {
                quiet.put(#"{"type":"pan","phase":"changed","camera":"quiet","translation":{"x":\#(turn),"y":0}}"#)
            }
            let before = host.hub.parts.turns.work
            host.turn()
            most = max(most, host.hub.parts.turns.work - before)
            let events = try quiet.types()
            #expect(events.contains("camera-changed") == asks, "turn \(turn)")
            for neighbour in neighbours { _ = neighbour.lines() }
            for neighbour in neighbours { neighbour.compact() }
        }
        // A turn ends with the line that exhausts its budget; a line is at most an array of 64.
        #expect(most < 3000, "\(most)")
    }

    @Test func clientsGetEqualSharesAndALatecomerIsServedAtOnce() throws {
        let host = HubHost { $0.requestsPerTurn = 8 }
        let ping = Array("{\"type\":\"ping\",\"id\":1}\n".utf8)
        let floods = (0..<3).map { _ in host.connect() }
        for flood in floods { flood.put(Array(repeatElement(ping, count: 300).joined())) }
        var answers = [0, 0, 0]
        for _ in 0..<30 {
            host.turn()
            for index in floods.indices { answers[index] += floods[index].lines().count }
        }
        let (least, most) = (try #require(answers.min()), try #require(answers.max()))
        #expect(least > 50 && most - least <= 2 * 8, "\(answers)")
        // A latecomer that wants less need not wait for what the others are owed.
        let late = host.connect()
        late.put(ping)
        host.turn()
        #expect(late.lines().count == 1)
    }

    /// Returns how many of 32 subscriptions that resume after an early event, with markers after it, each turn answers.
    private func answersPerTurn(behind markers: Int) throws -> [Int] {
        let host = HubHost { $0.requestsPerTurn = 32 }
        let (feed, reader, quiet) = (host.connect(), host.connect(), host.connect())
        func zoom(to zoom: Int) { feed.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":\#(zoom)}}"#) }
        zoom(to: 4)
        zoom(to: 5)
        // A history contains markers only while some client has subscribed to them.
        host.connect().send(#"{"type":"subscribe","events":["marker"]}"#)
        for _ in 0..<markers { feed.send(#"{"type":"marker","label":"here"}"#) }
        zoom(to: 6)
        let epoch = try #require(try reader.ask(#"{"type":"subscribe"}"#)["epoch"]?.string)
        let subscribe = #"{"type":"subscribe","since":3,"epoch":"\#(epoch)"}"# + "\n"
        reader.put(Array(String(repeating: subscribe, count: 32).utf8))
        var (answers, events): ([Int], [Double?]) = ([], [])
        while answers.reduce(0, +) < 32, answers.count < 100 {
            quiet.put(#"{"type":"ping"}"#)
            host.turn()
            #expect(quiet.lines() == [#"{"type":"pong"}"#])
            let lines = try reader.newMessages()
            answers.append(lines.count { $0["type"]?.string == "subscribed" })
            events += lines.filter { $0["type"]?.string != "subscribed" }.map { $0["seq"]?.number }
        }
        // Each has received the events after the third one.
        let wanted = Array(repeating: (4...9).map(Double.init), count: 32).flatMap(\.self)
        #expect(events == wanted)
        return answers
    }

    @Test func resumingInAHistoryFullOfMarkersIsWorkThatEndsATurn() throws {
        let (few, many) = (try answersPerTurn(behind: 1), try answersPerTurn(behind: 1000))
        #expect(few.reduce(0, +) == 32 && few.count < 10, "\(few)")
        #expect(many.reduce(0, +) == 32 && many.allSatisfy { $0 <= 2 }, "\(many)")
    }

    @Test func fastReaderIsSentALimitedNumberOfBytesPerTurn() {
        let (reader, feed) = (host.connect(), host.connect())
        for index in 0..<40 { reader.send("{\"type\":\"subscribe\",\"camera\":\"c\(index)\"}") }
        reader.makeRoom(0)
        for index in 0..<40 {
            for step in 0..<200 {
                feed.send(
                    "{\"type\":\"move\",\"camera\":\"c\(index)\",\"update\":{\"kind\":\"set-bearing\",\"bearing\":\(step + 1)}}"
                )
            }
        }
        let before = reader.received.count
        reader.readOn()
        let first = reader.received.count - before
        #expect(first >= Limits().bytesPerTurn)
        while host.hub.deadline == -.infinity { host.turn() }
        #expect(reader.received.count - before > 4 * first)
        #expect(reader.lines().count { $0.hasPrefix(#"{"type":"idle""#) } == 40 * 200)
    }

    @Test func halfClosedClientWithMoreThanATurnsWorkIsClosed() {
        for last in [Array(repeating: UInt8(ascii: " "), count: 60_000), Array("{\"type\":\"ping\"}".utf8)] {
            let peer = host.connect()
            peer.put(last)
            peer.halfClose()
            host.pass(0)
            #expect(peer.peer.isClosed)
        }
    }

    @Test(arguments: [false, true])
    func slowReaderGetsAllRepliesBeforeARefusedHeaderClosesIt(halfCloses: Bool) throws {
        let peer = host.connect()
        peer.makeRoom(0)
        for id in 1...50 { peer.send("{\"type\":\"ping\",\"id\":\(id)}") }
        peer.send(#"{"type":"trace","version":2,"id":"x"}"#)
        if halfCloses { peer.halfClose() }
        host.jump(60_000)
        #expect(!peer.isOver)
        peer.readOn()
        let lines = peer.lines()
        #expect(lines.count == 51 && lines[49] == #"{"type":"pong","id":50}"#)
        #expect(try JSON(lines[50])["code"]?.string == "unsupported-version")
        #expect(peer.isOver)
        host.pass(Limits().lingerMs)
        #expect(peer.peer.isClosed)
    }

    @Test func framesThatChangeNothingVisibleTakeTurns() throws {
        let peer = host.connect()
        peer.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#)
        peer.send(#"{"type":"trace","version":1,"speed":"max"}"#)
        peer.send(
            #"{"type":"animate","timeMs":0,"durationMs":600000,"update":{"kind":"zoom-to","zoom":5.00000000000001}}"#)
        peer.send(#"{"type":"trace-end"}"#)
        host.turn()
        #expect(peer.lines() == [])
        host.pass(1000)
        #expect(try peer.types() == ["trace-ended"])
    }

    @Test func clientThatGoesBeforeItsRefusedHeaderIsReadIsClosed() {
        let peer = host.connect()
        let pings = (1...1000).map { "{\"type\":\"ping\",\"id\":\($0)}\n" }.joined()
        peer.put(Array((pings + "{\"type\":\"trace\",\"version\":2}\n").utf8))
        peer.hangUp()
        host.pass(Limits().lingerMs)
        #expect(peer.peer.isClosed)
    }
}
