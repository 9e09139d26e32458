// Requests that wait for a camera's rest: each is answered once, at the right moment, however many there are.

import GimbalProtocol
import Hub
import TestSupport
import Testing

@Suite struct WaitingTests {
    private let host = HubHost()

    /// The next movement begins in the same turn: the answer still reports the rest.
    @Test func answerToAWaitHasThePositionAtTheRest() throws {
        let (feed, waiting) = (host.connect(), host.connect())
        feed.send(#"{"type":"pinch","phase":"began"}"#)
        feed.send(#"{"type":"pinch","phase":"changed","scale":2}"#)
        waiting.send(#"{"type":"await-idle","id":1}"#)
        let lines = [
            #"{"type":"pinch","phase":"ended"}"#, #"{"type":"move","update":{"kind":"zoom-to","zoom":9}}"#,
            #"{"type":"pinch","phase":"began"}"#,
        ]
        feed.send(Array((lines.joined(separator: "\n") + "\n").utf8))
        let rest = try JSON(waiting.lines().last ?? "")
        #expect(rest["type"]?.string == "at-rest" && rest["position"]?["zoom"]?.number == 3)
        #expect(rest["seq"]?.number == 3)
    }

    @Test func waitTimesOutAndARestAtTheSameTimeComesFirst() throws {
        let (feed, waiting) = (host.connect(), host.connect())
        feed.send(#"{"type":"animate","durationMs":100,"update":{"kind":"zoom-to","zoom":9}}"#)
        waiting.send(#"{"type":"await-idle","id":1,"timeoutMs":99.5}"#)
        waiting.send(#"{"type":"await-idle","id":2,"timeoutMs":100}"#)
        waiting.send(#"{"type":"await-idle","id":3,"timeoutMs":20}"#)
        host.pass(1000)
        let answers = try waiting.newMessages()
        #expect(answers.map { $0["id"]?.number } == [3, 1, 2])
        #expect(answers.map { $0["code"]?.string } == ["timeout", "timeout", nil])
        #expect(answers.map { $0["line"]?.number } == [3, 1, nil])
        #expect(host.hub.deadline == nil)
    }

    @Test func waitsOfOneConnectionAreLimited() throws {
        let host = HubHost { $0.waits = 3 }
        let (feed, waiting) = (host.connect(), host.connect())
        feed.send(#"{"type":"pinch","phase":"began"}"#)
        let wait = #"{"type":"await-idle","id":1}"#
        waiting.send(wait)
        waiting.send("[\(wait),\(wait),\(wait)]")
        let refused = try waiting.lines().map { try JSON($0)["code"]?.string }
        #expect(refused == ["limit-reached", "limit-reached", "limit-reached"])
        waiting.send("[\(wait),\(wait)]")
        #expect(waiting.lines().isEmpty)
        #expect(try waiting.ask(wait)["code"]?.string == "limit-reached")
        feed.send(#"{"type":"stop"}"#)
        #expect(try waiting.types() == ["at-rest", "at-rest", "at-rest"])
        waiting.send(wait)
        #expect(try waiting.types() == ["at-rest"])
    }

    /// However many wait, and whenever they leave, all that stay are answered, and other clients get their turns.
    @Test func manyWaitsAreAnsweredOverSeveralTurns() throws {
        let (feed, quiet) = (host.connect(), host.connect())
        feed.send(#"{"type":"pinch","phase":"began"}"#)
        let crowd = (0..<20).map { _ in host.connect() }
        for (index, peer) in crowd.enumerated() {
            for id in 0..<256 {
                peer.put(#"{"type":"await-idle","id":\#(id),"timeoutMs":\#(500 + (index * 7 + id) % 100)}"#)
            }
            host.turn()
        }
        for peer in crowd.prefix(5) { peer.close() }
        host.hub.advance(to: host.now)
        feed.put(#"{"type":"pinch","phase":"ended"}"#)
        quiet.put(#"{"type":"ping"}"#)
        host.hub.endTurn(at: host.now)
        // One turn answers some of them; other clients' requests come before the rest.
        host.turn()
        #expect(try quiet.types() == ["pong"])
        let first = crowd.reduce(0) { $0 + $1.lines().count }
        #expect(first > 0 && first <= 3072)
        host.pass(10)
        #expect(first + crowd.dropFirst(5).reduce(0) { $0 + $1.lines().count } == 15 * 256)
        host.pass(1000)
        #expect(crowd.allSatisfy { $0.lines().isEmpty } && host.hub.deadline == nil)
    }

    @Test func timeoutsEndInTheOrderOfTheirDeadlines() throws {
        let (feed, waiting) = (host.connect(), host.connect())
        feed.send(#"{"type":"pinch","phase":"began"}"#)
        var random = Seeded(5)
        let times = (0..<200).map { _ in random.integer(1...500) }
        for (id, time) in times.enumerated() {
            waiting.send("{\"type\":\"await-idle\",\"id\":\(id),\"timeoutMs\":\(time)}")
        }
        host.pass(1000)
        let ended = try waiting.newMessages().map { times[Int($0["id"]?.number ?? 0)] }
        #expect(ended == times.sorted())
    }

    @Test func requestsThatWaitAreAnsweredAtTheRestsOfAReplay() throws {
        let (feed, waiting) = (host.connect(), host.connect())
        feed.send(#"{"type":"trace","version":1}"#)
        feed.send(#"{"type":"animate","timeMs":0,"durationMs":100,"update":{"kind":"zoom-to","zoom":4}}"#)
        waiting.send(#"{"type":"await-idle","id":1}"#)
        // The replay's own request applies after the line before it, and the line after it does not wait for it.
        feed.send(#"{"type":"await-idle","id":2}"#)
        feed.send(#"{"type":"animate","timeMs":50,"durationMs":100,"update":{"kind":"zoom-to","zoom":5}}"#)
        feed.send(#"{"type":"trace-end"}"#)
        host.pass(149)
        #expect(waiting.lines().isEmpty && feed.lines().isEmpty)
        host.pass(500)
        #expect(try JSON(waiting.lines().last ?? "")["position"]?["zoom"]?.number == 5)
        #expect(try feed.types() == ["at-rest", "trace-ended"])
    }

    @Test func requestsThatWaitForRestWaitOnAfterAHandover() throws {
        let (feed, waiting) = (host.connect(), host.connect())
        feed.send(#"{"type":"pinch","phase":"changed","scale":2}"#)
        waiting.send(#"{"type":"await-idle","id":1}"#)
        waiting.send(#"{"type":"await-idle","id":2,"timeoutMs":50}"#)
        try host.handOver()
        #expect(waiting.lines().isEmpty)
        host.pass(50)
        #expect(try waiting.types() == ["error"])
        feed.send(#"{"type":"pinch","phase":"ended"}"#)
        #expect(try waiting.types() == ["at-rest"])
        #expect(try waiting.ask(#"{"type":"clients","id":3}"#)["clients"]?.array?.count == 2)
    }

    @Test func endReplayDiscardsTheRemainingLinesOfTheTrace() throws {
        let (feed, other) = (host.connect(), host.connect())
        feed.send(#"{"type":"trace","id":1,"version":1}"#)
        feed.send(#"{"type":"move","timeMs":0,"update":{"kind":"zoom-to","zoom":4}}"#)
        feed.send(#"{"type":"move","timeMs":90000,"update":{"kind":"zoom-to","zoom":5}}"#)
        other.send(#"{"type":"end-replay"}"#)
        feed.send(#"{"type":"move","timeMs":90001,"update":{"kind":"zoom-to","zoom":6}}"#)
        let ended = try feed.newMessages()
        #expect(ended.count == 1 && ended[0]["cut"] == .bool(true) && ended[0]["events"]?.number == 1)
        host.pass(60_000)
        #expect(feed.isOver && feed.lines().isEmpty)
        #expect(try other.ask(#"{"type":"get-camera"}"#)["position"]?["zoom"]?.number == 4)
    }

    @Test func anAnswerThatTellsOfClientsIsAsLongAsAClientReadsWhateverTheyTellOfThemselves() throws {
        let asking = host.connect()
        let about = String(repeating: "\u{7f}", count: RequestDecoder.longestAbout)
        for _ in 0..<64 { host.connect().send(#"{"type":"hello","version":1,"about":"\#(about)"}"#) }
        var numbers: [Double] = []
        var more = true
        while more {
            asking.send(#"{"type":"clients","after":\#(Int(numbers.last ?? 0))}"#)
            let line = try #require(asking.lines().last)
            #expect(line.utf8.count < 1 << 20)
            let page = try JSON(line)
            let told = try #require(page["clients"]?.array).compactMap { $0["number"]?.number }
            try #require(!told.isEmpty)
            numbers += told
            more = page["more"] == .bool(true)
        }
        #expect(numbers == (1...65).map(Double.init))
    }

    @Test func whatAClientTellsOfItselfIsToldByTheNextProcessTooUntilItTellsElse() throws {
        let (teller, asking) = (host.connect(), host.connect())
        func told() throws -> [JSON?] {
            return try asking.ask(#"{"type":"clients"}"#)["clients"]?.array?.map { $0["about"] } ?? []
        }
        teller.send(#"{"type":"hello","version":1,"about":"a \"wall\""}"#)
        #expect(try told() == [.string("a \"wall\""), nil])
        try host.takeOver(host.leave())
        #expect(try told() == [.string("a \"wall\""), nil])
        teller.send(#"{"type":"hello","version":1}"#)
        #expect(try told() == [nil, nil])
    }

    @Test func clientsAreListedInPages() throws {
        var peers = (0..<150).map { _ in host.connect() }
        for index in stride(from: 140, to: 0, by: -10) { peers.remove(at: index).close() }
        var (numbers, last, pages) = ([Double](), 0, 0)
        while true {
            let page = try peers[0].ask("{\"type\":\"clients\",\"after\":\(last)}")
            let found = page["clients"]?.array?.compactMap { $0["number"]?.number } ?? []
            #expect(found.count <= 64)
            numbers += found
            last = Int(found.last ?? 0)
            pages += 1
            guard page["more"] != nil else { break }
        }
        #expect(numbers == (1...150).filter { $0 == 1 || ($0 - 1) % 10 != 0 }.map(Double.init) && pages == 3)
    }
}
