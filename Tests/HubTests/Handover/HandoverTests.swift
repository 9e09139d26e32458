// From one hub to the next: nobody who is connected notices, whatever was on its way at the time.

import Foundation
import Hub
import TestSupport
import Testing

@Suite struct HandoverTests {
    // MARK: The same bytes

    /// What every client is sent, when the hub is replaced with some likelihood after each step.
    private func play(seed: UInt64, handovers: Double) throws -> [[UInt8]] {
        var (random, chance) = (Seeded(seed), Seeded(seed + 1000))
        var limits = Limits()
        (limits.historyEvents, limits.historyBytes) = (64, 16 << 10)
        let host = HubHost(limits: limits)
        let clients = (0..<6).map { _ in host.connect() }
        var unsent = clients.map { _ in [UInt8]() }
        for camera in ["left", "right"] { clients[0].send(#"{"type":"get-camera","camera":"\#(camera)"}"#) }
        for _ in 0..<400 {
            let index = random.integer(0...5)
            switch random.integer(0...9) {
            case 0: clients[index].makeRoom(random.integer(0...9000))
            case 1: clients[index].makeRoom(nil)
            default:
                unsent[index] += Array((SimulatedLine.still(&random) + "\n").utf8)
                let count = random.integer(0...unsent[index].count)
                clients[index].send(Array(unsent[index].prefix(count)))
                unsent[index].removeFirst(count)
            }
            host.pass(Double(random.integer(0...3)))
            if chance.chance(handovers) { try host.handOver() }
        }
        for client in clients { client.makeRoom(nil) }
        host.pass(0)
        return clients.map(\.received)
    }

    @Test(arguments: UInt64(1)...12)
    func handoverChangesNoByteThatClientsGet(seed: UInt64) throws {
        let once = try play(seed: seed, handovers: 0)
        let often = try play(seed: seed, handovers: 0.1)
        for (index, (alone, other)) in zip(once, often).enumerated() {
            let lines = [alone, other].map { String(decoding: $0, as: UTF8.self).split(separator: "\n") }
            let differing = zip(lines[0], lines[1]).enumerated().first { $0.element.0 != $0.element.1 }
            #expect(alone == other, "client \(index) at line \(String(describing: differing))")
        }
        #expect(once.allSatisfy { $0.count > 1000 })
    }

    // MARK: What is in the middle of things

    /// What a follower and a recorder are told of gestures that are held, of a fling and of an animation.
    private func movements(handsOver: Bool) throws -> [[String]] {
        let host = HubHost()
        let (client, watcher, recorder) = (host.connect(), host.connect(), host.connect())
        watcher.send(#"{"type":"subscribe"}"#)
        recorder.send(#"{"type":"subscribe","events":["gesture"]}"#)
        client.send(#"{"type":"set-gestures","inertia":true}"#)
        func step(_ line: String) throws {
            client.send(line)
            host.pass(20)
            if handsOver { try host.handOver() }
        }
        for x in 1...9 {
            try step(
                #"[{"type":"pan","phase":"changed","gesture":"x","translation":{"x":\#(x * 9),"y":3}},"#
                    + #"{"type":"pinch","phase":"changed","scale":1.0\#(x)}]"#)
        }
        try step(#"[{"type":"pan","phase":"ended","gesture":"x"},{"type":"pinch","phase":"ended"}]"#)
        host.pass(400)
        try step(#"{"type":"double-tap","phase":"ended","focus":{"x":3,"y":4}}"#)
        host.pass(1000)
        try step(#"{"type":"animate","durationMs":500,"update":{"kind":"zoom-by","amount":1,"focus":{"x":9,"y":9}}}"#)
        host.pass(2000)
        return [watcher.lines(), recorder.lines()]
    }

    @Test func whatMovesAndWhatIsHeldGoesOnAfterAHandoverAsIfThereWereNone() throws {
        let (once, often) = (try movements(handsOver: false), try movements(handsOver: true))
        #expect(once == often)
        #expect(once[0].count > 60 && once[1].count > 10)
    }

    @Test func gesturesOfAClientThatIsLostInAHandoverAreCancelled() throws {
        let host = HubHost()
        let (client, watcher) = (host.connect(), host.connect())
        watcher.send(#"{"type":"subscribe"}"#)
        client.send(#"{"type":"pinch","phase":"changed","scale":1}"#)
        client.send(#"{"type":"pinch","phase":"changed","scale":2}"#)
        try host.handOver(without: [client])
        #expect(watcher.messages.last?["type"]?.string == "idle")
    }

    @Test func replayOfAClientThatIsLostInAHandoverIsOver() throws {
        let host = HubHost()
        let (feed, other) = (host.connect(), host.connect())
        feed.send(#"{"type":"trace","version":1}"#)
        feed.send(#"{"type":"animate","timeMs":0,"durationMs":3600000,"update":{"kind":"zoom-to","zoom":9}}"#)
        try host.handOver(without: [feed])
        host.pass(0)
        other.send(#"{"type":"move","id":9,"update":{"kind":"zoom-in"}}"#)
        #expect(other.messages.last?["type"]?.string == "ok")
    }

    @Test func watcherMayOnlyWatchAfterAHandover() throws {
        let host = HubHost()
        let (watcher, feed) = (host.connect(role: .watchOnly(because: "so it is")), host.connect())
        watcher.send(#"{"type":"subscribe","camera":"held"}"#)
        try host.handOver()
        watcher.send(#"{"type":"move","id":1,"camera":"held","update":{"kind":"zoom-in"}}"#)
        #expect(watcher.messages.last?["code"]?.string == "denied")
        #expect(host.hub.savedState(isLast: true).count == 0 && host.hub.cameraCount == 1)
        feed.send(#"{"type":"move","camera":"held","update":{"kind":"zoom-in"}}"#)
        #expect(watcher.messages.suffix(3).map { $0["seq"]?.number } == [1, 2, 3])
        #expect(host.hub.savedState(isLast: true).count == 1)
    }

    @Test func clientLostInAHandoverIsNotCounted() throws {
        let host = HubHost()
        let (gone, stays) = (host.connect(), host.connect())
        gone.send(#"{"type":"subscribe"}"#)
        try host.handOver(without: [gone])
        stays.send(#"{"type":"stats"}"#)
        let stats = try #require(stays.messages.last)
        #expect(stats["connections"]?.number == 1 && stats["subscriptions"]?.number == 0)
        #expect(stats["connectionsTotal"]?.number == 2)
    }

    // MARK: What is no such thing

    private func fields(_ bytes: ArraySlice<UInt8>) throws {
        var row = FieldReader(bytes)
        while try row.next() != nil {}
    }

    @Test func truncatedHandoverIsRefusedAsAWhole() throws {
        let host = HubHost()
        let client = host.connect()
        client.send(#"{"type":"subscribe"}"#)
        client.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        let left = host.leave()
        for count in left.indices {
            let hub = Hub(server: "gimbald", epochSeed: 8, at: host.now)
            let isEnd = (try? fields(left[..<count])) != nil
            let peers = try? hub.takeOver(FieldReader(left[..<count]), at: host.now) { _ in
                (RecordingOutlet(), .everything)
            }
            // What is cut between two fields is whole, but for what comes after.
            #expect((peers != nil) == isEnd && (isEnd || hub.cameraCount == 0), "\(count)")
        }
    }

    // MARK: Memory

    /// A camera with a full history, and who follows it from its beginning.
    private func full(_ limits: Limits = Limits()) -> (host: HubHost, watcher: HubPeer, recorder: HubPeer) {
        let host = HubHost(limits: limits)
        let (watcher, recorder, feed) = (host.connect(), host.connect(), host.connect())
        watcher.send(#"{"type":"subscribe"}"#)
        recorder.send(#"{"type":"subscribe","events":["gesture"]}"#)
        for number in 0..<2500 {
            feed.send(#"{"type":"move","update":{"kind":"set-bearing","bearing":\#(number % 359 + 1)}}"#)
        }
        return (host, watcher, recorder)
    }

    @Test func longHistoriesAreNotCopied() throws {
        let (host, watcher, _) = full()
        let (count, bytes) = (host.histories.count, host.histories.bytes)
        // A camera's history and what it was fed.
        #expect(count == 2 && bytes > 2 << 20)
        var left = 0
        try host.handOver { bytes in
            left = bytes.count
            return bytes
        }
        // Five bytes for a line.
        #expect(left < 5 * 15_000 + 20_000)
        #expect(host.histories.count == count && host.histories.bytes == bytes)
        host.connect().send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        let told = watcher.lines()
        #expect(told.count == 1 + 7500 + 3 && told.last?.contains(#""seq":7503,"#) == true)
        let resumed = host.connect()
        let epoch = try #require(try JSON(told[0])["epoch"]?.string)
        resumed.send(#"{"type":"subscribe","since":5000,"epoch":"\#(epoch)"}"#)
        // What was told before stands in the history as it was.
        #expect(Array(resumed.lines().dropFirst()) == Array(told[5001...]))
    }

    @Test func historyOfARemovedCameraIsFreedAfterAHandover() throws {
        let (host, _, recorder) = full()
        recorder.close()
        #expect(host.histories.count == 1)
        let feed = host.connect()
        try host.handOver()
        feed.send(#"{"type":"remove-camera"}"#)
        #expect(host.histories.count == 0)
    }

    /// Subscriptions and their peers hold each other: one that were made for who has gone would stay for ever.
    @Test func clientLostInAHandoverLeavesNothing() throws {
        let (host, watcher, recorder) = full()
        try host.handOver(without: [watcher, recorder])
        // Nobody records any more.
        #expect(host.histories.count == 1)
    }
}
