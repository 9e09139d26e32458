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

    // MARK: What is ended by it

    @Test func handoverBringsAMovingCameraToRest() throws {
        let host = HubHost()
        let client = host.connect()
        client.send(#"{"type":"subscribe"}"#)
        client.send(#"{"type":"animate","durationMs":500,"update":{"kind":"zoom-in"}}"#)
        host.pass(200)
        try host.handOver()
        client.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        let events = client.messages.dropFirst()
        #expect(events.map { $0["seq"]?.number } == (1...events.count).map(Double.init))
        #expect(events.suffix(4).map { $0["type"]?.string } == ["idle", "move-started", "camera-changed", "idle"])
    }

    @Test func handoverCutsAReplayAndDiscardsItsRemainingLines() throws {
        let host = HubHost()
        let (feed, watcher) = (host.connect(), host.connect())
        watcher.send(#"{"type":"subscribe"}"#)
        feed.send(#"{"type":"trace","id":"t","version":1}"#)
        for time in [0, 100, 100_000] {
            feed.send(#"{"type":"move","timeMs":\#(time),"update":{"kind":"zoom-in"}}"#)
        }
        host.pass(200)
        try host.handOver()
        feed.send(#"{"type":"move","timeMs":200000,"update":{"kind":"zoom-in"}}"#)
        #expect(feed.messages.map { $0["type"]?.string } == ["trace-ended"])
        #expect(feed.messages[0]["events"]?.number == 2 && feed.isOver)
        // The camera is free.
        watcher.send(#"{"type":"move","id":9,"update":{"kind":"zoom-in"}}"#)
        #expect(watcher.messages.contains { $0["type"]?.string == "ok" })
        #expect(watcher.messages.compactMap { $0["position"]?["zoom"]?.number }.last == 5)
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
