// From one hub to the next: nobody who is connected notices, whatever was on its way at the time.

import Foundation
import Hub
import TestSupport
import Testing

/// A client whose hub may be replaced.
private final class Client: Outlet {
    var peer: Peer?
    var received: [UInt8] = []
    /// How many more bytes it takes.
    var room = Int.max
    var isOver = false
    let role: Role

    init(_ role: Role) { self.role = role }

    func send(_ pieces: [UnsafeRawBufferPointer]) -> Int {
        var count = 0
        for piece in pieces {
            let taken = piece.prefix(room)
            received.append(contentsOf: taken)
            count += taken.count
            if room != .max { room -= taken.count }
        }
        return count
    }

    func setReading(_ isReading: Bool) {}
    func finishSending() { isOver = true }
    func close() { isOver = true }
    func keepQueueShort() {}

    var lines: [JSON] {
        received.split(separator: 0x0a).map { (try? JSON(String(decoding: $0, as: UTF8.self))) ?? .null }
    }
}

/// Clients of a hub that now and then leaves everything to another.
private final class World {
    private(set) var now = 1000.0
    private(set) var hub: Hub
    private(set) var clients: [Client] = []

    init() { hub = Self.makeHub(at: 1000) }

    private static func makeHub(at now: Double) -> Hub {
        var limits = Limits()
        limits.historyEvents = 64
        limits.historyBytes = 16 << 10
        return Hub(limits: limits, server: "gimbald", epochSeed: 7, at: now)
    }

    func connect(role: Role = .everything) -> Client {
        let client = Client(role)
        client.peer = hub.connect(client, role: role)
        clients.append(client)
        return client
    }

    func send(_ text: some Sequence<UInt8>, from client: Client) {
        guard let peer = client.peer else { return }
        hub.receive(Array(text).span, from: peer, at: now)
        turn()
    }

    func send(_ line: String, from client: Client) { send(Array((line + "\n").utf8), from: client) }

    func makeRoom(_ room: Int, for client: Client) {
        client.room = room
        if let peer = client.peer { hub.writable(peer) }
        turn()
    }

    func turn() {
        repeat {
            hub.advance(to: now)
            hub.endTurn(at: now)
        } while hub.deadline.map { $0 <= now } == true
    }

    func pass(_ milliseconds: Double) {
        now += milliseconds
        turn()
    }

    /// Gives all that the hub knows to another one.
    ///
    /// - Parameter lost: clients that are not there any more.
    func handOver(without lost: [Client] = []) throws {
        hub.pause(at: now)
        hub.endTurn(at: now)
        var out = ByteWriter()
        let peers = clients.enumerated().compactMap { index, client in client.peer.map { (UInt64(index), $0) } }
        hub.handOver(peers, to: &out)
        hub = Self.makeHub(at: now)
        for client in clients { client.peer = nil }
        var row = ByteReader(out.bytes)
        let taken = try hub.takeOver(&row) { key in
            let client = clients[Int(key)]
            return lost.contains { $0 === client } ? nil : (client, client.role)
        }
        #expect(row.isAtEnd)
        for (key, peer) in taken { clients[Int(key)].peer = peer }
        turn()
    }
}

@Suite struct HandoverTests {
    // MARK: The same bytes

    /// A line that some client may send.
    private func line(_ random: inout Seeded) -> String {
        let camera = ["left", "right"][random.integer(0...1)]
        switch random.integer(0...20) {
        case 0: return #"{"type":"subscribe","camera":"\#(camera)","id":1}"#
        case 1: return #"{"type":"subscribe","camera":"\#(camera)","delivery":"latest"}"#
        case 2: return #"{"type":"subscribe","camera":"\#(camera)","events":["idle"]}"#
        case 3: return #"{"type":"unsubscribe","camera":"\#(camera)","id":"u"}"#
        case 4: return #"{"type":"no such type"}"#
        case 5: return String(repeating: " ", count: 70_000)
        case 6: return #"{"type":"stats"}"#
        case 8: return #"{"type":"subscribe","camera":"\#(camera)","events":["gesture","idle"]}"#
        case 7: return #"{"type":"set-zoom-range","camera":"\#(camera)","minZoom":\#(random.integer(2...9))}"#
        default:
            let zoom = random.number(2...21)
            return #"{"type":"move","camera":"\#(camera)","id":2,"update":{"kind":"zoom-to","zoom":\#(zoom)}}"#
        }
    }

    /// What every client of a world is sent, when the hub is replaced with some likelihood after each step.
    private func play(seed: UInt64, handovers: Double) throws -> [[UInt8]] {
        var (random, chance) = (Seeded(seed), Seeded(seed + 1000))
        let world = World()
        let clients = (0..<6).map { _ in world.connect() }
        var unsent = clients.map { _ in [UInt8]() }
        for camera in ["left", "right"] {
            world.send(#"{"type":"get-camera","camera":"\#(camera)"}"#, from: clients[0])
        }
        for _ in 0..<400 {
            let index = random.integer(0...5)
            switch random.integer(0...9) {
            case 0: world.makeRoom(random.integer(0...9000), for: clients[index])
            case 1: world.makeRoom(.max, for: clients[index])
            default:
                unsent[index] += Array((line(&random) + "\n").utf8)
                let count = random.integer(0...unsent[index].count)
                world.send(unsent[index].prefix(count), from: clients[index])
                unsent[index].removeFirst(count)
            }
            world.pass(Double(random.integer(0...3)))
            if chance.chance(handovers) { try world.handOver() }
        }
        for client in clients { world.makeRoom(.max, for: client) }
        return clients.map(\.received)
    }

    @Test(arguments: UInt64(1)...12)
    func everybodyIsSentTheSameAsWithoutIt(seed: UInt64) throws {
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

    @Test func whatMovesComesToRest() throws {
        let world = World()
        let client = world.connect()
        world.send(#"{"type":"subscribe"}"#, from: client)
        world.send(#"{"type":"animate","durationMs":500,"update":{"kind":"zoom-in"}}"#, from: client)
        world.pass(200)
        try world.handOver()
        world.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#, from: client)
        let events = client.lines.dropFirst()
        #expect(events.map { $0["seq"]?.number } == (1...events.count).map(Double.init))
        #expect(events.suffix(4).map { $0["type"]?.string } == ["idle", "move-started", "camera-changed", "idle"])
    }

    @Test func aReplayEndsAndItsRestIsThrownAway() throws {
        let world = World()
        let (feed, watcher) = (world.connect(), world.connect())
        world.send(#"{"type":"subscribe"}"#, from: watcher)
        world.send(#"{"type":"trace","id":"t","version":1}"#, from: feed)
        for time in [0, 100, 100_000] {
            world.send(#"{"type":"move","timeMs":\#(time),"update":{"kind":"zoom-in"}}"#, from: feed)
        }
        world.pass(200)
        try world.handOver()
        world.send(#"{"type":"move","timeMs":200000,"update":{"kind":"zoom-in"}}"#, from: feed)
        #expect(feed.lines.map { $0["type"]?.string } == ["trace-ended"])
        #expect(feed.lines[0]["events"]?.number == 2 && feed.isOver)
        // The camera is free.
        world.send(#"{"type":"move","id":9,"update":{"kind":"zoom-in"}}"#, from: watcher)
        #expect(watcher.lines.contains { $0["type"]?.string == "ok" })
        #expect(watcher.lines.compactMap { $0["position"]?["zoom"]?.number }.last == 5)
    }

    @Test func whoMayOnlyWatchGoesOnDoingOnlyThat() throws {
        let world = World()
        let (watcher, feed) = (world.connect(role: .watchOnly(because: "so it is")), world.connect())
        world.send(#"{"type":"subscribe","camera":"held"}"#, from: watcher)
        try world.handOver()
        world.send(#"{"type":"move","id":1,"camera":"held","update":{"kind":"zoom-in"}}"#, from: watcher)
        #expect(watcher.lines.last?["code"]?.string == "denied")
        #expect(world.hub.savedState(isLast: true).count == 0 && world.hub.cameraCount == 1)
        world.send(#"{"type":"move","camera":"held","update":{"kind":"zoom-in"}}"#, from: feed)
        #expect(watcher.lines.suffix(3).map { $0["seq"]?.number } == [1, 2, 3])
        #expect(world.hub.savedState(isLast: true).count == 1)
    }

    @Test func whoIsNotThereAnyMoreIsForgotten() throws {
        let world = World()
        let (gone, stays) = (world.connect(), world.connect())
        world.send(#"{"type":"subscribe"}"#, from: gone)
        try world.handOver(without: [gone])
        world.send(#"{"type":"stats"}"#, from: stays)
        let stats = try #require(stays.lines.last)
        #expect(stats["connections"]?.number == 1 && stats["subscriptions"]?.number == 0)
        #expect(stats["connectionsTotal"]?.number == 2)
    }

    // MARK: What is no such thing

    @Test func whatIsCutIsNotTaken() throws {
        let world = World()
        let client = world.connect()
        world.send(#"{"type":"subscribe"}"#, from: client)
        world.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#, from: client)
        world.hub.pause(at: world.now)
        world.hub.endTurn(at: world.now)
        var out = ByteWriter()
        world.hub.handOver([(0, try #require(client.peer))], to: &out)
        for count in out.bytes.indices {
            let hub = Hub(server: "gimbald", epochSeed: 8, at: world.now)
            var row = ByteReader(Array(out.bytes[..<count]))
            #expect(throws: (any Error).self) { try hub.takeOver(&row) { _ in (client, .everything) } }
            #expect(hub.cameraCount == 0)
        }
    }
}
