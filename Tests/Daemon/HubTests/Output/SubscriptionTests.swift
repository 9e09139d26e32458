// Slow readers: what they are sent, what they cost, and that they do not affect other clients.

import Hub
import TestSupport
import Testing

@Suite struct SubscriptionTests {
    private let host = HubHost()

    private func move(_ feed: HubPeer, _ index: Int, _ more: String = "") {
        let bearing = Double(index % 3600) / 10 + 0.05
        feed.send(#"{"type":"move"\#(more),"update":{"kind":"set-bearing","bearing":\#(bearing)}}"#)
        feed.compact()
    }

    /// Connects a client that resumes after an event.
    private func resumed(since seq: Int, _ epoch: String, _ members: String = "") -> HubPeer {
        let peer = host.connect()
        peer.send(#"{"type":"subscribe","since":\#(seq),"epoch":"\#(epoch)"\#(members)}"#)
        return peer
    }

    @Test func stalledReaderGetsLaggedAndThenNewEvents() throws {
        let (slow, feed) = (host.subscriber(), host.connect())
        slow.makeRoom(1000)
        for index in 0..<3000 { move(feed, index) }
        slow.readOn()
        let lines = try slow.newMessages()
        let lagged = try #require(lines.firstIndex { $0["type"]?.string == "lagged" })
        #expect(lagged < 8)
        let last = try #require(lines[lagged - 1]["seq"]?.number)
        #expect(lines[lagged]["missed"]?.number == 9000 - last)
        #expect(lines.count == lagged + 1)
        move(feed, 5)
        #expect(try JSON(slow.lines().first ?? "")["seq"]?.number == 9001)
    }

    @Test func readerWithinTheHistoryGetsEveryEvent() throws {
        let (slow, feed) = (host.connect(), host.connect())
        slow.send(#"{"type":"subscribe"}"#)
        var checker = StreamChecker(isEvery: true)
        var random = Seeded(11)
        for index in 0..<3000 {
            if index % 50 == 0 { slow.makeRoom(random.integer(0...30_000)) }
            if index % 1000 == 999 { slow.makeRoom(nil) }
            move(feed, index)
        }
        slow.readOn()
        for line in slow.lines() { #expect(checker.take(try JSON(line)) == nil, "\(line)") }
        #expect(checker.events == 9000)
    }

    @Test func piecesThatManyAreSentAreRepeatedAndNoOtherIs() {
        let readers = (0..<5).map { _ in host.subscriber() }
        let feed = host.connect()
        move(feed, 1)
        #expect((host.lastPiece.new, host.lastPiece.repeated) == (1, 4))
        // As long as the previous one, at another address.
        move(feed, 2)
        #expect((host.lastPiece.new, host.lastPiece.repeated) == (2, 8))
        // A reader that leaves during the output ends a gesture: the others read of it after what all were sent.
        readers[2].put(#"{"type":"pan","phase":"began","translation":{"x":9,"y":9}}"#)
        readers[2].breakOff()
        move(feed, 3)
        #expect(readers.enumerated().allSatisfy { $0 == 2 || $1.received == readers[0].received })
        #expect(host.lastPiece.new >= 3 && host.lastPiece.repeated >= 11)
    }

    @Test func latestSkipsToTheNewestAndKeepsTheGrammar() throws {
        for (seed, var random) in Seeded.each(1...200) {
            let host = HubHost()
            let (slow, feed) = (host.connect(), host.connect())
            slow.send(#"{"type":"subscribe","delivery":"latest"}"#)
            var checker = StreamChecker(isEvery: false)
            var isDown = false
            for index in 1...300 {
                switch random.integer(0...9) {
                case 0: slow.makeRoom(random.integer(0...900))
                case 1: slow.makeRoom(nil)
                case 2:
                    isDown.toggle()
                    feed.send(#"{"type":"rotate","phase":"\#(isDown ? "began" : "ended")"}"#)
                case 3: move(feed, index)
                default: feed.send(#"{"type":"rotate","phase":"changed","rotationDeg":\#(index)}"#)
                }
                feed.compact()
            }
            feed.close()
            slow.readOn()
            let lines = try slow.newMessages()
            for line in lines {
                if let complaint = checker.take(line) { Issue.record("seed \(seed): \(complaint): \(line.text)") }
            }
            let probe = host.connect()
            let camera = try probe.ask(#"{"type":"get-camera"}"#)
            #expect(
                lines.last?["seq"] == camera["seq"] && lines.last?["position"] == camera["position"], "seed \(seed)")
        }
    }

    @Test func latestHasAtMostOnePositionWaiting() throws {
        let (slow, feed) = (host.subscriber(#","delivery":"latest""#), host.connect())
        slow.makeRoom(0)
        for index in 0..<20_000 { move(feed, index) }
        slow.readOn()
        let types = try slow.types()
        #expect(types.filter { $0 == "camera-changed" }.count == 1)
        #expect(types.last == "idle" && types.first == "move-started")
    }

    @Test func sinceResendsTheEventsAfterIt() throws {
        let (first, feed) = (host.connect(), host.connect())
        let epoch = try #require(try first.ask(#"{"type":"subscribe"}"#)["epoch"]?.string)
        for index in 0..<100 { move(feed, index) }
        let all = first.lines()
        for seq in [0, 1, 150, 299, 300] {
            #expect(resumed(since: seq, epoch).lines().dropFirst() == all.dropFirst(seq), "since \(seq)")
        }
        for index in 100..<3000 { move(feed, index) }
        let lines = try resumed(since: 10, epoch).newMessages()
        #expect(lines.count == 2 && lines[1]["type"]?.string == "lagged" && lines[1]["missed"]?.number == 8990)
        // A replay begins another epoch.
        feed.send(#"{"type":"trace","version":1}"#)
        feed.send(#"{"type":"trace-end"}"#)
        let anew = try resumed(since: 10, epoch).newMessages()
        #expect(anew.count == 1 && anew[0]["seq"]?.number == 0 && anew[0]["epoch"]?.string != epoch)
        move(feed, 1)
        let told = try resumed(since: 10, epoch).newMessages()
        #expect(told.count == 2 && told[1]["type"]?.string == "lagged" && told[1]["missed"]?.number == 3)
    }

    @Test func subscriberOfAFinishedReplayResumesWithoutAGap() throws {
        let (reader, feed) = (host.connect(), host.connect())
        reader.send(#"{"type":"subscribe"}"#)
        func play() {
            feed.send(#"{"type":"trace","version":1,"speed":"max"}"#)
            for index in 0..<3 { move(feed, index, #","timeMs":\#(index)"#) }
            feed.send(#"{"type":"trace-end"}"#)
        }
        play()
        let told = try reader.newMessages()
        let epoch = try #require(told[1]["epoch"]?.string)
        #expect(told[1]["type"]?.string == "reset" && told[0]["epoch"]?.string != epoch)
        let all = try resumed(since: 9, epoch).newMessages()
        #expect(all.count == 1 && all[0]["epoch"]?.string == epoch && all[0]["seq"]?.number == 9)
        #expect(try resumed(since: 7, epoch).newMessages().map { $0["seq"]?.number } == [9, 8, 9])
        // The same trace again is another run: the first one's epoch resumes nothing in it.
        play()
        let other = try resumed(since: 9, epoch).newMessages()
        #expect(other.count == 2 && other[1]["type"]?.string == "lagged" && other[1]["missed"]?.number == 9)
        #expect(other[1]["seq"]?.number == 9 && other[1]["epoch"] == other[0]["epoch"])
    }

    @Test func resumingWhereNothingWasMissedIsToldOfNoGap() throws {
        let feed = host.connect()
        for _ in 0..<2 { feed.send(#"{"type":"trace","version":1}"#); feed.send(#"{"type":"trace-end"}"#) }
        for members in ["", #","events":["gesture"]"#] {
            let types = try resumed(since: 0, "another", members).types()
            #expect(types.first == "subscribed" && !types.contains("lagged"), "\(members)")
        }
    }

    @Test func laggingSubscriberGetsReset() throws {
        let (slow, chosen, feed) = (host.subscriber(), host.subscriber(#","events":["idle"]"#), host.connect())
        slow.makeRoom(0)
        feed.send(#"{"type":"trace","version":1,"speed":"max"}"#)
        feed.send(#"{"type":"trace-end"}"#)
        for index in 0..<3000 { move(feed, index) }
        #expect(try JSON(chosen.lines().first ?? "")["type"]?.string == "reset")
        slow.readOn()
        let types = try slow.types()
        #expect(types.prefix(2) == ["reset", "lagged"])
    }

    @Test func peerWithManyUnreadRepliesIsNotReadFrom() throws {
        let rude = host.connect()
        rude.makeRoom(0)
        var sent = 0
        while rude.isReading, sent < 100_000 {
            rude.send(#"{"type":"get-camera","id":\#(sent)}"#)
            sent += 1
        }
        #expect(sent < 10_000)
        rude.readOn()
        while host.moveOn() {}
        #expect(rude.lines().count == sent)
        #expect(rude.isReading)
    }

    /// For a reader that is always a little behind only the unread part is kept.
    @Test func memoryOfAPeerThatIsAlwaysBehindIsBounded() throws {
        let peer = host.connect()
        peer.makeRoom(0)
        for index in 0..<300 { peer.send(#"{"type":"get-camera","id":\#(index)}"#) }
        for index in 0..<20_000 {
            peer.send(#"{"type":"get-camera","id":\#(index)}"#)
            peer.makeRoom(415)
            host.turn()
            _ = peer.lines()
            peer.compact()
        }
        #expect(peer.peer.memory < 1 << 20)
    }

    @Test func replayingClientThatSubscribesLosesNoEventAtAnySpeed() throws {
        let feed = host.connect()
        feed.send(#"{"type":"subscribe"}"#)
        feed.makeRoom(0)
        var trace = #"{"type":"trace","version":1,"speed":"max"}"# + "\n"
        for time in 0..<20_000 {
            trace += #"{"type":"rotate","phase":"changed","timeMs":\#(time),"rotationDeg":\#(time % 360)}"# + "\n"
        }
        trace += "{\"type\":\"trace-end\"}\n"
        feed.put(Array(trace.utf8))
        var checker = StreamChecker(isEvery: true)
        var isEnded = false
        for _ in 0..<10_000 where !isEnded {
            feed.makeRoom(20_000)
            host.turn()
            for line in feed.lines() {
                let json = try JSON(line)
                #expect(checker.take(json) == nil, "\(line)")
                isEnded = isEnded || json["type"]?.string == "trace-ended"
            }
            feed.compact()
        }
        #expect(isEnded && checker.events == 20_001)
    }

    @Test func laggingSubscriberIsToldOfAMissedReset() throws {
        let (slow, feed) = (host.subscriber(), host.connect())
        slow.makeRoom(0)
        for index in 0..<2000 { move(feed, index) }
        // The reset is still in the history, but nothing before it.
        feed.send(#"{"type":"trace","version":1,"speed":"max"}"#)
        feed.send(#"{"type":"animate","timeMs":0,"durationMs":20000,"update":{"kind":"set-bearing","bearing":90}}"#)
        feed.send(#"{"type":"trace-end"}"#)
        host.pass(10)
        slow.readOn()
        let types = try slow.lines().suffix(2).map { try JSON($0)["type"]?.string }
        #expect(types == ["reset", "lagged"])
    }

    @Test(arguments: ["move-started", "idle"])
    func latestOfOneKindIsSentEachTime(kind: String) throws {
        let (reader, feed) = (host.subscriber(#","delivery":"latest","events":["\#(kind)"]"#), host.connect())
        for index in 0..<5 {
            move(feed, index)
            #expect(reader.lines().count == 1, "movement \(index)")
        }
    }

    @Test func repliesDoNotQueuePositionsOfALatestReader() throws {
        let host = HubHost { $0.requestsPerTurn = 1000 }
        let peer = host.subscriber(#","delivery":"latest""#)
        peer.send(#"{"type":"rotate","phase":"began"}"#)
        let reports = (1...100).map {
            "{\"type\":\"rotate\",\"phase\":\"changed\",\"rotationDeg\":\($0),\"id\":1}\n"
        }
        peer.put(Array(reports.joined().utf8))
        host.turn()
        let types = try peer.types()
        #expect(types.count { $0 == "ok" } == 100)
        #expect(types.suffix(2) == ["move-started", "camera-changed"])
    }

    @Test func memoryOfAStalledReaderIsBoundedWhenManyCamerasAreRemoved() throws {
        let (slow, feed) = (host.connect(), host.connect())
        let names = (0..<20).map { "c\($0)" }
        for name in names { slow.send("{\"type\":\"subscribe\",\"camera\":\"\(name)\"}") }
        slow.makeRoom(0)
        for name in names {
            for index in 0..<1500 {
                let update = "{\"kind\":\"set-bearing\",\"bearing\":\(index % 359 + 1)}"
                feed.send("{\"type\":\"move\",\"camera\":\"\(name)\",\"update\":\(update)}")
                feed.compact()
            }
        }
        for name in names { feed.send("{\"type\":\"remove-camera\",\"camera\":\"\(name)\"}") }
        #expect(slow.peer.memory < 1 << 20)
        slow.readOn()
        let lines = slow.lines()
        #expect(lines.count { $0.contains("\"removed\"") } == 20)
        #expect(lines.count { $0.contains("\"lagged\"") } > 15)
    }

    @Test func latestReaderBehindTheHistoryGetsItsResetAndGoesOn() {
        let host = HubHost { ($0.historyEvents, $0.historyBytes) = (8, 512) }
        let (reader, feed) = (host.subscriber(#","delivery":"latest""#), host.connect())
        reader.makeRoom(0)
        for _ in 0..<4 {
            feed.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
            feed.send(#"{"type":"move","update":{"kind":"zoom-out"}}"#)
        }
        feed.send(#"{"type":"trace","version":1,"speed":"max"}"#)
        reader.readOn()
        #expect(reader.lines().last?.contains("\"reset\"") == true)
    }

    @Test func latestReaderBehindAResetGetsMoveStarted() {
        let host = HubHost { ($0.historyEvents, $0.historyBytes) = (8, 512) }
        let (reader, feed) = (host.subscriber(#","delivery":"latest""#), host.connect())
        feed.send(#"{"type":"trace","version":1,"speed":"max"}"#)
        #expect(reader.lines().last?.contains("\"reset\"") == true)
        reader.makeRoom(0)
        feed.send(#"{"type":"animate","timeMs":0,"update":{"kind":"zoom-to","zoom":9},"durationMs":1000}"#)
        feed.send(#"{"type":"stop","timeMs":500}"#)
        reader.readOn()
        #expect(reader.lines().first?.contains("\"move-started\"") == true)
    }
}
