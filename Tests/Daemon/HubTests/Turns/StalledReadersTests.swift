// Hundreds of readers that read nothing for a while: whatever the hub then owes them, a turn stays short, and nothing
// piles up. The tests count bytes and use no clock.

import TestSupport
import Testing

@testable import Hub

@Suite struct StalledReadersTests {
    private let host = HubHost()

    /// Connects subscribers that read nothing while a camera emits events, fewer than its history holds.
    private func stalled(
        _ count: Int, of host: HubHost? = nil, events: Int, before: (HubPeer) -> Void = { _ in }
    ) -> [HubPeer] {
        let host = host ?? self.host
        let readers = (0..<count).map { _ in host.subscriber() }
        for reader in readers {
            before(reader)
            reader.compact()
            reader.makeRoom(0)
        }
        let feed = host.connect()
        for index in 0..<events {
            feed.send(#"{"type":"pan","phase":"changed","translation":{"x":\#(index % 97),"y":\#(index % 89)}}"#)
        }
        return readers
    }

    /// Ends turns until everything has been sent.
    private func sendAll(of host: HubHost? = nil) {
        let host = host ?? self.host
        repeat { host.turn() } while host.hub.deadline != nil
    }

    /// Expects that a few readers got all events, the others were told that they missed them, and then came an answer.
    private func expectFewWhole(_ readers: [HubPeer], then last: String) throws {
        var whole = 0
        for reader in readers {
            let types = try reader.types()
            if types == ["lagged", last] { continue }
            #expect(types.count == 3001 && types.last == last && !types.contains("lagged"), "\(types.prefix(3))")
            whole += 1
        }
        #expect((1...10).contains(whole), "\(whole)")
    }

    @Test func hundredsThatReadAgainAreServedOverSeveralTurnsAndMissNothing() throws {
        let readers = stalled(300, events: 3000)
        let quiet = host.connect()
        for reader in readers { reader.makeRoom(nil) }
        quiet.put(#"{"type":"ping"}"#)
        host.turn()
        #expect(try quiet.types() == ["pong"])
        let sent = readers.reduce(0) { $0 + $1.received.count }
        #expect(sent < 16 << 20, "\(sent)")
        // None of them starves.
        var turns = 1
        while turns < 100, readers.contains(where: \.received.isEmpty) {
            host.turn()
            turns += 1
        }
        #expect((2..<100).contains(turns), "\(turns)")
        sendAll()
        let seqs = try readers[0].newMessages().map { $0["seq"]?.number }
        #expect(seqs == (1...3000).map(Double.init))
        #expect(readers.allSatisfy { $0.received == readers[0].received })
    }

    @Test func readersOfTheNewestPositionOfManyCamerasAreServedOverSeveralTurns() throws {
        let cameras = 64
        let readers = (0..<40).map { _ in host.connect() }
        let feed = host.connect()
        for camera in 0..<cameras {
            for reader in readers {
                reader.send(#"{"type":"subscribe","camera":"c\#(camera)","delivery":"latest"}"#)
                _ = reader.lines()
            }
        }
        for reader in readers { reader.makeRoom(0) }
        for camera in 0..<cameras {
            for x in 1...1000 {
                feed.put(#"{"type":"pan","phase":"changed","camera":"c\#(camera)","translation":{"x":\#(x),"y":0}}"#)
                if x % 100 == 0 { host.turn() }
            }
        }
        sendAll()
        for reader in readers { reader.compact() }
        for reader in readers { reader.makeRoom(nil) }
        host.turn()
        let served = readers.count { !$0.received.isEmpty }
        #expect((1..<readers.count).contains(served), "\(served)")
        sendAll()
        for reader in readers {
            let seqs = try reader.newMessages().compactMap { $0["seq"]?.number }
            #expect(seqs.count == 2 * cameras && seqs.max() == 1000)
        }
    }

    @Test func hundredsThatReadMissNothingBesideAFloodOfEvents() throws {
        let host = HubHost {
            $0.historyEvents = 256
            $0.historyBytes = 1024
            $0.eventsPerTurn = 64
        }
        let readers = (0..<400).map { _ in host.subscriber() }
        for reader in readers { reader.compact() }
        let feed = host.connect()
        let pans = (0...1000).map {
            #"{"type":"pan","phase":"changed","translation":{"x":\#($0 % 97),"y":\#($0 % 89)}}"# + "\n"
        }
        feed.send(Array(pans.joined().utf8))
        sendAll(of: host)
        let seqs = try readers[0].newMessages().map { $0["seq"]?.number }
        #expect(seqs == (1...1001).map(Double.init))
        #expect(readers.allSatisfy { $0.received == readers[0].received })
    }

    @Test func hundredsThatReadAgainCatchUpBesideAFloodOfEvents() throws {
        let host = HubHost {
            $0.historyEvents = 1500
            $0.historyBytes = 1024
        }
        let readers = stalled(300, of: host, events: 1000)
        for reader in readers { reader.makeRoom(nil) }
        let pans = (0..<2000).map {
            #"{"type":"pan","phase":"changed","translation":{"x":\#($0 % 97),"y":\#($0 % 83)}}"# + "\n"
        }
        host.connect().send(Array(pans.joined().utf8))
        sendAll(of: host)
        let seqs = try readers[0].newMessages().map { $0["seq"]?.number }
        #expect(seqs == (1...2999).map(Double.init))
        #expect(readers.allSatisfy { $0.received == readers[0].received })
        #expect(!host.hub.parts.turns.isShort)
    }

    @Test func readersThatAreUpToDateGetEverythingBeforeTheirCameraIsRemoved() throws {
        let readers = (0..<400).map { _ in host.subscriber() }
        let pans = (0..<60).map { #"{"type":"pan","phase":"changed","translation":{"x":\#($0),"y":0}}"# + "\n" }
        let feed = host.connect()
        feed.send(Array((pans + [#"{"type":"remove-camera","camera":"main"}"# + "\n"]).joined().utf8))
        sendAll()
        for reader in readers {
            let types = try reader.types()
            #expect(types.count == 61 && types.last == "removed" && !types.contains("lagged"))
        }
    }

    @Test func hundredsWhoseCameraIsRemovedShareALimitOfWhatTheyHaveNotRead() throws {
        let readers = stalled(300, events: 3000)
        host.connect().send(#"{"type":"remove-camera","camera":"main"}"#)
        let kept = readers.reduce(0) { $0 + $1.peer.output.unreadBytes }
        #expect(kept < 4 << 20, "\(kept)")
        for reader in readers { reader.makeRoom(nil) }
        sendAll()
        try expectFewWhole(readers, then: "removed")
    }

    /// Its history may exceed the limit of all, and readers of the newest position take nothing from it.
    @Test(arguments: [(1 << 20, 0), (1024, 0), (1024, 8)])
    func theOnlyReaderOfARemovedCameraIsSentItsWholeHistory(historyBytes: Int, displays: Int) throws {
        let host = HubHost { $0.historyBytes = historyBytes }
        for _ in 0..<displays { host.subscriber(#","delivery":"latest""#).makeRoom(0) }
        let reader = stalled(1, of: host, events: 3000)[0]
        host.connect().send(#"{"type":"remove-camera","camera":"main"}"#)
        reader.makeRoom(nil)
        sendAll(of: host)
        let types = try reader.types()
        #expect(types.count == 3001 && types.last == "removed" && !types.contains("lagged"))
    }

    @Test func hundredsThatAwaitedRestAreAnsweredOverManyTurnsAndMissNothing() throws {
        let mover = host.connect()
        mover.send(#"{"type":"pan","phase":"began","camera":"other"}"#)
        let readers = stalled(100, events: 3000) {
            $0.put(#"{"type":"await-idle","camera":"other","id":1}"#)
        }
        let quiet = host.connect()
        quiet.send(#"{"type":"await-idle","camera":"other"}"#)
        func kept() -> Int { readers.reduce(0) { $0 + $1.peer.output.unreadBytes } }
        mover.put(#"{"type":"pan","phase":"cancelled","camera":"other"}"#)
        host.turn()
        #expect(try quiet.types() == ["at-rest"])
        repeat {
            let before = kept()
            host.turn()
            #expect(kept() - before < 2 << 20)
        } while host.hub.deadline != nil
        for reader in readers { reader.makeRoom(nil) }
        sendAll()
        for reader in readers {
            let types = try reader.types()
            #expect(types.count == 3001 && types.last == "at-rest" && !types.contains("lagged"))
        }
    }

    @Test func answersToAReaderThatHasFallenBehindComeInTheirOrder() throws {
        let mover = host.connect()
        mover.send(#"{"type":"pan","phase":"began","camera":"other"}"#)
        let readers = stalled(30, events: 1700) {
            $0.put(#"{"type":"await-idle","camera":"other","id":"first"}"#)
        }
        mover.put(#"{"type":"pan","phase":"cancelled","camera":"other"}"#)
        for reader in readers { reader.put(#"{"type":"await-idle","camera":"third","id":"second"}"#) }
        sendAll()
        for reader in readers { reader.makeRoom(nil) }
        sendAll()
        for reader in readers {
            let answers = try reader.newMessages().filter { $0["type"]?.string == "at-rest" }
            #expect(answers.map { $0["id"]?.string } == ["first", "second"])
        }
    }

    @Test func hundredsThatRecordAnotherCameraShareALimitOfWhatTheyHaveNotRead() throws {
        let mover = host.connect()
        mover.send(#"{"type":"animate","camera":"other","durationMs":100,"update":{"kind":"zoom-in"}}"#)
        let readers = stalled(300, events: 3000) {
            $0.send(#"{"type":"subscribe","camera":"other","events":["gesture"]}"#)
            _ = $0.lines()
        }
        host.pass(2000)
        let kept = readers.reduce(0) { $0 + $1.peer.output.unreadBytes }
        #expect(kept < 4 << 20, "\(kept)")
        for reader in readers { reader.makeRoom(nil) }
        sendAll()
        try expectFewWhole(readers, then: "gesture")
    }

    @Test func aReadersOwnLinesAreHandledOnceItIsLessThanHalfAHistoryBehind() throws {
        let reader = stalled(1, events: 3000)[0]
        reader.put(#"{"type":"ping"}"#)
        sendAll()
        #expect(!reader.peer.input.isEmpty)
        while reader.peer.backlog > 2048 {
            reader.makeRoom(16 << 10)
            host.turn()
        }
        sendAll()
        #expect(reader.peer.input.isEmpty && reader.peer.isBlocked)
        reader.makeRoom(nil)
        sendAll()
        let types = try reader.types()
        #expect(types.count == 3001 && types.last == "pong" && !types.contains("lagged"))
    }

    @Test func aRecorderThatWasPutOffBeginsOnceItsPeerHasReadItsReplies() throws {
        let host = HubHost { $0.unreadReplies = 4096 }
        let feed = host.connect()
        let recorder = host.subscriber()
        feed.send(#"{"type":"animate","camera":"other","durationMs":1000,"update":{"kind":"zoom-in"}}"#)
        recorder.send(#"{"type":"subscribe","camera":"other","events":["gesture"]}"#)
        _ = recorder.lines()
        recorder.compact()
        recorder.makeRoom(0)
        while recorder.peer.output.unreadBytes < 4096 { recorder.send(#"{"type":"get-camera"}"#) }
        for x in 0..<100 { feed.send(#"{"type":"pan","phase":"changed","translation":{"x":\#(x),"y":0}}"#) }
        host.pass(2000)
        recorder.makeRoom(recorder.peer.output.unreadBytes + 1000)
        host.turn()
        #expect(recorder.peer.backlog > 0 || recorder.peer.isBlocked)
        feed.send(#"{"type":"move","camera":"other","update":{"kind":"zoom-in"}}"#)
        recorder.makeRoom(nil)
        sendAll(of: host)
        let recorded = try recorder.newMessages().filter { $0["type"]?.string == "gesture" }
            .map { $0["line"]?["type"]?.string }
        #expect(recorded == ["trace", "move"])
    }

    @Test func whatTheEndOfAConnectionEmitsReachesReadersThatWereServedBefore() throws {
        let reader = host.subscriber(#","camera":"leased","events":["lease"]"#)
        let (holders, mover) = ((0..<3).map { _ in host.connect() }, host.connect())
        for holder in holders {
            holder.send(#"{"type":"take-lease","camera":"leased","forMs":60000,"id":1,"wait":true}"#)
        }
        mover.send(#"{"type":"pan","phase":"began","camera":"other"}"#)
        // They are answered in this order, and then the connections of three of them end.
        for client in [holders[0], holders[1], reader, holders[2]] {
            client.send(#"{"type":"await-idle","camera":"other","id":2}"#)
        }
        for holder in holders { holder.halfClose() }
        mover.send(#"{"type":"pan","phase":"cancelled","camera":"other"}"#)
        #expect(!holders.contains { !$0.isOver })
        let leases = try reader.types().filter { $0.hasPrefix("lease-") }
        #expect(leases == (0..<3).flatMap { _ in ["lease-taken", "lease-ended"] })
    }

    @Test func whoResumesMissesNothingByItsNextLine() throws {
        let feed = host.connect()
        for (camera, events) in [("a", 1800), ("b", 10), ("c", 2000)] {
            for x in 0..<events {
                feed.send(
                    #"{"type":"pan","phase":"changed","camera":"\#(camera)","translation":{"x":\#(x % 97),"y":\#(x % 89)}}"#
                )
            }
        }
        var points: [String] = []
        for camera in ["a", "b", "c"] {
            let epoch = try feed.ask(#"{"type":"subscribe","camera":"\#(camera)"}"#)["epoch"]?.string
            feed.send(#"{"type":"unsubscribe","camera":"\#(camera)"}"#)
            points.append(#""camera":"\#(camera)","epoch":"\#(try #require(epoch))""#)
        }
        let subscribes = points.map { #"{"type":"subscribe",\#($0),"since":1}"# }
        let all = points.map { "{\($0),\"seq\":1}" }.joined(separator: ",")
        for (lines, events) in [
            (subscribes + [#"{"type":"ping"}"#], 3807),
            ([#"{"type":"subscribe","camera":"*","since":[\#(all)]}"#, #"{"type":"ping"}"#], 3807),
        ] {
            let reader = host.connect()
            reader.put(Array((lines.joined(separator: "\n") + "\n").utf8))
            sendAll()
            let types = try reader.types()
            #expect(
                types.count { $0 == "camera-changed" } == events && !types.contains("lagged"),
                "\(types.count) \(lines[0])")
            #expect(types.last == "pong")
        }
    }

    @Test func aRecorderThatIsLittleBehindMissesNothingBesideStalledOnes() throws {
        let host = HubHost { $0.historyBytes = 4096 }
        host.connect().send(#"{"type":"animate","camera":"other","durationMs":100,"update":{"kind":"zoom-in"}}"#)
        func record(_ reader: HubPeer) {
            reader.send(#"{"type":"subscribe","camera":"other","events":["gesture"]}"#)
            _ = reader.lines()
        }
        _ = stalled(10, of: host, events: 3000, before: record)
        let reader = stalled(1, of: host, events: 100, before: record)[0]
        host.pass(2000)
        reader.makeRoom(nil)
        sendAll(of: host)
        let types = try reader.types()
        // The first gesture does not move the camera.
        #expect(types.count == 100 && types.last == "gesture" && !types.contains("lagged"))
    }

    @Test func recorderThatReadsNothingIsNotSentTheBeginningOfEveryRound() throws {
        let host = HubHost { $0.unreadReplies = 4096 }
        let recorder = host.subscriber(#","events":["gesture"]"#)
        recorder.makeRoom(0)
        let player = host.connect()
        // Each round begins amid an animation, which no trace can express.
        player.send(#"{"type":"trace","version":1,"loop":true,"fromMs":50}"#)
        player.send(#"{"type":"animate","timeMs":0,"durationMs":100,"update":{"kind":"zoom-in"}}"#)
        player.send(#"{"type":"marker","timeMs":200,"label":"rest"}"#)
        player.send(#"{"type":"trace-end"}"#)
        host.pass(60_000)
        #expect(recorder.peer.output.unreadBytes < 2 * 4096, "\(recorder.peer.output.unreadBytes)")
        recorder.makeRoom(nil)
        host.pass(1000)
        let told = try recorder.newMessages()
        #expect(told.last?["line"]?["type"]?.string == "trace")
    }

    /// Lines of 40 markers, each long once its label is escaped.
    private func feedMarkers(_ lines: Int, to cameras: [String]) {
        let (feed, label) = (host.connect(), String(repeating: #"\u0001"#, count: 200))
        for camera in cameras {
            let marker = #"{"type":"marker","camera":"\#(camera)","label":"\#(label)"}"#
            let line = "[" + Array(repeating: marker, count: 40).joined(separator: ",") + "]"
            for _ in 0..<lines { feed.send(line) }
        }
    }

    @Test func readerOfManyCamerasIsNotCopiedMoreBytesThanAHistoryHas() throws {
        // The lines of each camera are fewer than its history holds.
        let (reader, cameras) = (host.connect(), (0..<40).map { "c\($0)" })
        for camera in cameras { reader.send(#"{"type":"subscribe","camera":"\#(camera)","events":["gesture"]}"#) }
        reader.compact()
        reader.makeRoom(0)
        feedMarkers(5, to: cameras)
        reader.send(#"{"type":"ping"}"#)
        let limits = Limits()
        #expect(reader.peer.output.unreadBytes < limits.mostHistoryBytes + limits.unreadReplies)
        reader.readOn()
        sendAll()
        #expect(try reader.types().last == "pong")
    }

    @Test func historyOfLongLinesIsLimitedInBytes() {
        let reader = host.subscriber(#","events":["marker"]"#)
        feedMarkers(100, to: ["main"])
        #expect(reader.received.count > 4 << 20)
        let bytes = host.hub.parts.registry.camera(named: "main").map { $0.log.byteCount(from: $0.log.first) }
        #expect(bytes ?? .max <= (2 << 20) + 2048, "\(bytes ?? -1)")
    }
}
