// From one hub to the next: no connected client notices, whatever was under way at the time.

import Foundation
import Hub
import TestSupport
import Testing

@Suite struct HandoverTests {
    private let host = HubHost()

    // MARK: The same bytes

    /// Returns what every client is sent when the hub is replaced after each step with a given probability.
    private func play(seed: UInt64, handovers: Double) throws -> [[UInt8]] {
        var (random, chance) = (Seeded(seed), Seeded(seed + 1000))
        let host = HubHost { ($0.historyEvents, $0.historyBytes) = (64, 16 << 10) }
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

    // MARK: Work in progress

    @Test func gesturesOfAClientThatIsLostInAHandoverAreCancelled() throws {
        let (client, watcher) = (host.connect(), host.subscriber())
        client.send(#"{"type":"pinch","phase":"changed","scale":1}"#)
        client.send(#"{"type":"pinch","phase":"changed","scale":2}"#)
        try host.handOver(without: [client])
        #expect(watcher.messages.last?["type"]?.string == "idle")
    }

    @Test func replayOfAClientThatIsLostInAHandoverIsOver() throws {
        let (feed, other) = (host.connect(), host.connect())
        feed.send(#"{"type":"trace","version":1}"#)
        feed.send(#"{"type":"animate","timeMs":0,"durationMs":3600000,"update":{"kind":"zoom-to","zoom":9}}"#)
        try host.handOver(without: [feed])
        host.pass(0)
        #expect(try other.ask(#"{"type":"move","id":9,"update":{"kind":"zoom-in"}}"#)["type"]?.string == "ok")
    }

    @Test func replayThatIsKeptAtItsEndIsPlayedAgainAfterAHandover() throws {
        let (feed, other) = (host.connect(), host.connect())
        feed.send(#"{"type":"trace","version":1,"pauseAtEnd":true}"#)
        feed.send(#"{"type":"move","timeMs":0,"update":{"kind":"zoom-to","zoom":4}}"#)
        feed.send(#"{"type":"move","timeMs":50,"update":{"kind":"zoom-to","zoom":9}}"#)
        feed.send(#"{"type":"trace-end"}"#)
        func state() throws -> String? { try other.ask(#"{"type":"get-replay"}"#)["state"]?.string }
        host.pass(60)
        #expect(try state() == "at-end")
        try host.handOver()
        #expect(try state() == "at-end")
        other.send(#"{"type":"resume-replay"}"#)
        #expect(try state() == "playing")
        host.pass(60)
        #expect(try state() == "at-end" && feed.lines().isEmpty)
        try host.handOver()
        #expect(try other.ask(#"{"type":"move","id":9,"update":{"kind":"zoom-in"}}"#)["type"]?.string == "ok")
        let ended = try #require(feed.messages.last)
        #expect(ended["type"]?.string == "trace-ended" && ended["cut"] == nil && ended["frames"]?.number == 2)
    }

    /// Members of a replay's header, and steering requests before and after each of which a handover may happen.
    private static let steering: [(header: String, requests: [String])] = [
        (#","untilMs":250"#, []), (#","idleTimeLimitMs":20"#, []), (#","pauseOnMarkers":true"#, [#""get-replay""#]),
        (#","loop":2,"durationMs":700"#, []), ("", [#""pause-replay""#, #""resume-replay""#]),
        ("", [#""seek-replay","toMs":450"#]), (#","paused":true"#, [#""step-replay","count":2"#, #""resume-replay""#]),
        ("", [#""set-replay-speed","speed":3"#]),
    ]

    /// Half of a trace's lines arrive before the handovers, the others after them, and a request after the trace.
    @Test(arguments: steering.indices) func replayThatIsSteeredGoesOnAfterAHandoverAsIfThereWereNone(_ index: Int)
        throws
    {
        let (header, requests) = Self.steering[index]
        func play(handsOver: Bool) throws -> [[String]] {
            let host = HubHost()
            let (feed, other, watcher) = (host.connect(), host.connect(), host.connect())
            watcher.send(#"{"type":"subscribe","events":["camera-changed","idle","replay","marker"]}"#)
            let lines = (1...6).map {
                #"{"type":"move","timeMs":\#($0 * 100),"update":{"kind":"zoom-to","zoom":\#($0 + 2)}}"#
            }
            let marker = #"{"type":"marker","timeMs":310,"label":"here"}"#
            feed.send(#"{"type":"trace","version":1\#(header)}"#)
            for line in lines[..<3] + [marker] { feed.send(line) }
            for request in requests + [#""get-replay""#] {
                host.pass(30)
                other.send(#"{"type":\#(request),"camera":"main"}"#)
                if handsOver { try host.handOver() }
            }
            for line in lines[3...] { feed.send(line) }
            host.pass(150)
            if handsOver { try host.handOver() }
            host.pass(100)
            feed.send(#"{"type":"trace-end"}"#)
            feed.send(#"{"type":"get-camera","camera":"main","id":1}"#)
            other.send(#"{"type":"resume-replay","camera":"main"}"#)
            host.pass(9000)
            // An epoch depends on the process that began it.
            return [watcher, other, feed].map { $0.lines().map { $0.replacing(/"epoch":"[^"]*"/, with: "") } }
        }
        let (once, often) = (try play(handsOver: false), try play(handsOver: true))
        #expect(once == often)
        #expect(once[0].count > 5 && once[1].count >= 1 && once[2].count == 2, "\(once)")
    }

    /// A replay's clock belongs to its sender: however far it goes, other clients lose nothing.
    @Test(arguments: [1e-300, 0.001, 1e300, 1.7e308])
    func replayAtASpeedBeyondMeasureGoesOnAfterAHandover(_ speed: Double) throws {
        let (feed, other, watcher) = (host.connect(), host.connect(), host.subscriber(#","camera":"left""#))
        feed.send(#"{"type":"trace","version":1,"speed":\#(speed)}"#)
        feed.send(#"{"type":"pan","phase":"began","timeMs":-1e15}"#)
        feed.send(#"{"type":"pan","phase":"changed","translation":{"x":5},"timeMs":-9.1e14}"#)
        host.pass(10)
        for line in [
            #""pause-replay""#, #""resume-replay""#, #""seek-replay","byMs":1e15"#, #""set-replay-speed","speed":1e-9"#,
            #""pause-replay""#, #""set-replay-speed","speed":1.7e308"#, #""resume-replay""#, #""pause-replay""#,
        ] {
            other.send(#"{"type":\#(line),"camera":"main"}"#)
            host.pass(3)
            try host.handOver()
        }
        #expect(try other.ask(#"{"type":"get-replay","camera":"main"}"#)["type"]?.string == "replay")
        other.send(#"{"type":"move","camera":"left","update":{"kind":"zoom-in"}}"#)
        #expect(watcher.messages.suffix(3).map { $0["seq"]?.number } == [1, 2, 3])
    }

    @Test func watcherMayOnlyWatchAfterAHandover() throws {
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
        let (gone, stays) = (host.subscriber(), host.connect())
        try host.handOver(without: [gone])
        let stats = try stays.ask(#"{"type":"stats"}"#)
        #expect(stats["connections"]?.number == 1 && stats["subscriptions"]?.number == 0)
        #expect(stats["connectionsTotal"]?.number == 2)
    }

    // MARK: Damage

    /// Another hub takes over what one has left, if it can.
    private func takeOver(
        _ left: [UInt8], _ hub: Hub, at now: Double, client: (UInt64) -> (outlet: any Outlet, role: Role)?
    ) throws -> [(key: UInt64, peer: Peer)] {
        try hub.takeOver(StateDecoder.decode(Hub.Record.self, from: left), at: now, client: client)
    }

    @Test func truncatedHandoverIsRefusedAsAWhole() throws {
        host.subscriber().send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        let left = try host.leave()
        for count in left.indices {
            let hub = Hub(server: "gimbald", epochSeed: 8, at: host.now)
            let peers = try? takeOver(Array(left[..<count]), hub, at: host.now) { _ in (RecordingOutlet(), .everything)
            }
            #expect(peers == nil && hub.cameraCount == 0, "\(count)")
        }
    }

    /// Returns a hub in the middle of everything that it hands over.
    private func busy() throws -> HubHost {
        let host = HubHost(sharesHistories: false)
        let (feed, player, watcher) = (host.connect(), host.connect(), host.connect())
        watcher.send(#"{"type":"subscribe","camera":"*","events":["camera-changed","gesture","touch","replay"]}"#)
        feed.send(#"{"type":"set-gestures","inertia":true}"#)
        feed.send(
            #"{"type":"set-target-bounds","bounds":{"southWest":{"latitude":-60,"longitude":170},"#
                + #""northEast":{"latitude":60,"longitude":-170}}}"#)
        for x in 1...20 {
            feed.send(#"{"type":"pan","phase":"changed","translation":{"x":\#(x * 9),"y":3}}"#)
            feed.send(#"{"type":"touch","surface":"table","timeMs":\#(x * 9),"touches":[{"id":1,"x":\#(x),"y":200}]}"#)
            host.pass(9)
        }
        feed.send(#"{"type":"pan","phase":"ended"}"#)
        feed.send(#"{"type":"animate","camera":"left","durationMs":5000,"update":{"kind":"zoom-to","zoom":9}}"#)
        feed.send(#"{"type":"await-idle","camera":"left","id":7,"timeoutMs":9000}"#)
        player.send(#"{"type":"trace","version":1,"camera":"right","loop":3}"#)
        for step in 1...300 {
            player.send(#"{"type":"pan","phase":"changed","translation":{"x":\#(step)},"timeMs":\#(step)}"#)
            host.pass(1)
        }
        feed.send(#"{"type":"pause-replay","camera":"right"}"#)
        player.send(#"{"type":"marker","label":"here","timeMs":400}"#)
        host.pass(5)
        return host
    }

    /// Replaces one number of a handover by one that no hub writes, or flips one bit.
    private func altered(_ bytes: [UInt8], _ random: inout Seeded) -> [UInt8] {
        var bytes = bytes
        var place = random.integer(0...(bytes.count - 9))
        let numbers: [UInt64] = [
            0, 1, .max, 1 << 53, 1 << 53 - 1, 1 << 63, UInt64(Int64.max), Double.nan.bitPattern,
            Double.infinity.bitPattern, (-Double.infinity).bitPattern, 1e300.bitPattern, (-1e300).bitPattern,
            1e15.bitPattern, (-1.0).bitPattern,
        ]
        guard random.chance(0.8) else {
            bytes[place] ^= 1 << UInt8(random.integer(0...7))
            return bytes
        }
        // Most bytes belong to names. After the mark of an integer or a double there is nearly always a number.
        while random.chance(0.9), place > 0, !(3...4 ~= bytes[place - 1]) {
            place = random.integer(0...(bytes.count - 9))
        }
        let number = numbers[random.integer(0...(numbers.count - 1))].littleEndian
        withUnsafeBytes(of: number) { bytes.replaceSubrange(place..<(place + 8), with: $0) }
        return bytes
    }

    @Test func alteredHandoverIsRefusedAsAWholeOrGoneOnWith() throws {
        let host = try busy()
        let left = try host.leave()
        var random = Seeded(1)
        var (refused, taken) = (0, 0)
        for _ in 0..<5000 {
            let bytes = altered(left, &random)
            let hub = Hub(server: "gimbald", epochSeed: 8, at: host.now)
            let outlets = (0..<3).map { _ in RecordingOutlet() }
            var next = 0
            let peers = try? takeOver(bytes, hub, at: host.now) { _ in
                next += 1
                return next <= 3 ? (outlets[next - 1], .everything) : nil
            }
            guard let peers else {
                #expect(hub.cameraCount == 0 && hub.deadline == nil)
                refused += 1
                continue
            }
            taken += 1
            var now = host.now
            for (_, peer) in peers {
                for line in [
                    #"{"type":"pan","phase":"changed","translation":{"x":3,"y":3}}"#, #"{"type":"stats"}"#,
                    #"{"type":"resume-replay","camera":"right"}"#, #"{"type":"get-camera","camera":"left"}"#,
                ] {
                    hub.receive(Array((line + "\n").utf8).span, from: peer, at: now)
                }
            }
            for _ in 0..<50 {
                hub.advance(to: now)
                hub.endTurn(at: now)
                now = max(now + 1, min(hub.deadline ?? .infinity, now + 500))
            }
            hub.pause()
            _ = try StateEncoder.encode(hub.handOver(peers))
            for (_, peer) in peers { hub.hangUp(peer, at: now) }
        }
        #expect(refused > 100 && taken > 100, "\(refused) refused, \(taken) taken")
    }

    // MARK: Memory

    /// Returns a camera with a full history, and clients that follow it from its beginning.
    private func full() -> (host: HubHost, watcher: HubPeer, recorder: HubPeer) {
        let host = HubHost()
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
        // A camera's history and its input.
        #expect(count == 2 && bytes > 2 << 20)
        var left = 0
        try host.handOver { bytes in
            left = bytes.count
            return bytes
        }
        // Five bytes per line.
        #expect(left < 5 * 15_000 + 20_000)
        #expect(host.histories.count == count && host.histories.bytes == bytes)
        host.connect().send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        let told = watcher.lines()
        #expect(told.count == 1 + 7500 + 3 && told.last?.contains(#""seq":7503,"#) == true)
        let resumed = host.connect()
        let epoch = try #require(try JSON(told[0])["epoch"]?.string)
        resumed.send(#"{"type":"subscribe","since":5000,"epoch":"\#(epoch)"}"#)
        // Earlier events are in the history unchanged.
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

    /// Subscriptions and their peers retain each other: one made for a lost client would stay forever.
    @Test func clientLostInAHandoverLeavesNothing() throws {
        let (host, watcher, recorder) = full()
        try host.handOver(without: [watcher, recorder])
        // No client records any more.
        #expect(host.histories.count == 1)
    }

    @Test func traceWithTheLatestTimesIsHandedOver() throws {
        host.wallTime = { 1_764_115_264_000 + $0 }
        let (owner, reader) = (host.connect(), host.subscriber(#","events":["clock"]"#))
        for line in [
            #"{"type":"trace","version":1,"speed":"max"}"#, #"{"type":"move","timeMs":0,"update":{"kind":"zoom-in"}}"#,
            #"{"type":"move","timeMs":1e14,"update":{"kind":"zoom-in"}}"#, #"{"type":"trace-end"}"#,
            #"{"type":"move","update":{"kind":"zoom-in"}}"#,
        ] { owner.send(line) }
        try host.handOver()
        #expect(try reader.ask(#"{"type":"ping"}"#)["type"]?.string == "pong")
    }
}
