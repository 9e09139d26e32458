// Many subscribers to many cameras: events reach exactly those that are subscribed, however the others leave.

import Hub
import TestSupport
import Testing

@Suite struct ManySubscriptionsTests {
    private let host = HubHost()

    private func camera(_ index: Int) -> String { #""camera":"c\#(index)""# }

    private func zoom(_ index: Int, to zoom: Double) -> String {
        #"{"type":"move",\#(camera(index)),"update":{"kind":"zoom-to","zoom":\#(zoom)}}"#
    }

    private func subscriptions(_ peer: HubPeer) throws -> Double? {
        return try peer.ask(#"{"type":"stats"}"#)["subscriptions"]?.number
    }

    @Test func whoeverEndsAllSubscriptionsIsToldWhatCameBeforeAndTheOthersGoOnWithoutAGap() throws {
        let cameras = 100
        let (feed, staying) = (host.connect(), host.connect())
        let leaving = (0..<30).map { _ in host.connect() }
        for index in 0..<cameras {
            for peer in leaving + [staying] { peer.send(#"{"type":"subscribe",\#(camera(index))}"#) }
        }
        for peer in leaving + [staying] { _ = peer.lines() }
        #expect(try subscriptions(feed) == Double(31 * cameras))
        // A third unsubscribes, a third subscribes to other events, a third disconnects.
        let (saying, changing, going) = (leaving[..<10], leaving[10..<20], leaving[20...])
        feed.put(zoom(7, to: 4))
        for peer in saying { peer.put(#"{"type":"unsubscribe","id":1,"camera":"*"}"#) }
        for peer in changing { peer.put(#"{"type":"subscribe","id":1,"camera":"*","events":["marker"]}"#) }
        host.turn()
        for peer in going { peer.close() }
        let events = staying.lines()
        #expect(events.count == 3)
        for peer in saying { #expect(peer.lines() == events + [#"{"type":"ok","id":1}"#]) }
        for peer in changing {
            let lines = peer.lines()
            #expect(Array(lines.prefix(3)) == events && lines.count == 3 + 1 + cameras)
        }
        #expect(try subscriptions(feed) == Double(11 * cameras))
        for round in 1...3 {
            for index in 0..<cameras { feed.send(zoom(index, to: Double(4 + round))) }
        }
        for peer in saying + changing { #expect(peer.lines() == []) }
        var seqs: [String: [Double]] = [:]
        for line in try (events + staying.lines()).map({ try JSON($0) }) {
            seqs[line["camera"]?.string ?? "", default: []].append(line["seq"]?.number ?? 0)
        }
        #expect(seqs.count == cameras)
        for (camera, seqs) in seqs { #expect(seqs == (1...(camera == "c7" ? 12 : 9)).map(Double.init), "\(camera)") }
    }

    @Test(arguments: UInt64(1)...6)
    func eventsReachThoseWhoAreSubscribedAndNobodyElse(seed: UInt64) throws {
        var random = Seeded(seed)
        let (cameras, count) = (24, 10)
        let feed = host.connect()
        for index in 0..<cameras { feed.send(zoom(index, to: 3)) }
        var peers = (0..<count).map { _ in host.connect() }
        var wanted = Array(repeating: Set<Int>(), count: count)
        for step in 0..<200 {
            let (peer, index) = (random.integer(0...count - 1), random.integer(0...cameras - 1))
            switch random.integer(0...11) {
            case 0:
                peers[peer].send(#"{"type":"unsubscribe","camera":"*"}"#)
                wanted[peer] = []
            case 1:
                peers[peer].send(#"{"type":"subscribe","camera":"*"}"#)
                wanted[peer] = Set(0..<cameras)
            case 2:
                peers[peer].close()
                peers[peer] = host.connect()
                wanted[peer] = []
            case 3, 4:
                peers[peer].send(#"{"type":"unsubscribe",\#(camera(index))}"#)
                wanted[peer].remove(index)
            default:
                peers[peer].send(#"{"type":"subscribe",\#(camera(index))}"#)
                wanted[peer].insert(index)
            }
            for peer in peers { _ = peer.lines() }
            #expect(try subscriptions(feed) == Double(wanted.reduce(0) { $0 + $1.count }), "step \(step)")
            let moved = random.integer(0...cameras - 1)
            feed.send(zoom(moved, to: 4 + Double(step) / 100))
            for (peer, wanted) in zip(peers, wanted) {
                let told = try peer.lines().map { try JSON($0)["camera"]?.string }
                #expect(told == Array(repeating: "c\(moved)", count: wanted.contains(moved) ? 3 : 0), "step \(step)")
            }
        }
    }
}
