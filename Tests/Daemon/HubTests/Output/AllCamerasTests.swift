// A subscription to all cameras brings the same lines of each as a subscription by name.

import Hub
import TestSupport
import Testing

@Suite struct AllCamerasTests {
    private let host = HubHost()

    private func move(_ feed: HubPeer, _ camera: String, _ zoom: Double) {
        feed.send(#"{"type":"move","camera":"\#(camera)","update":{"kind":"zoom-to","zoom":\#(zoom)}}"#)
    }

    /// Returns a short form of a line.
    private func text(_ line: JSON) -> String {
        let seq = line["seq"]?.number.map { " \(Int($0))" } ?? ""
        return "\(line["type"]?.string ?? "") \(line["camera"]?.string ?? "")\(seq)"
    }

    @Test func subscriptionToAllBringsTheLinesOfEachCamera() throws {
        let (feed, all) = (host.connect(), host.connect())
        all.send(#"{"type":"subscribe","camera":"*"}"#)
        let names = ["a", "b", "c"]
        let own = names.map { host.subscriber(#","camera":"\#($0)""#) }
        for index in 0..<50 { move(feed, names[index % 3], 3 + Double(index) / 10) }
        feed.send(#"{"type":"animate","camera":"b","durationMs":100,"update":{"kind":"zoom-to","zoom":3}}"#)
        host.pass(500)
        let lines = all.lines().filter { !$0.contains(#""subscribed""#) }
        for (name, peer) in zip(names, own) {
            let expected = peer.lines()
            #expect(expected.count > 40 && lines.filter { $0.contains(#""camera":"\#(name)""#) } == expected)
        }
    }

    @Test func subscriptionToAllResumesEachCameraWhereItWasRead() throws {
        let (feed, first) = (host.connect(), host.connect())
        for name in ["a", "b", "gone"] { move(feed, name, 3) }
        first.send(#"{"type":"subscribe","camera":"*"}"#)
        var points: [String] = []
        for line in try first.newMessages() where line["camera"]?.string != "*" {
            let (camera, epoch) = (line["camera"]?.string ?? "", line["epoch"]?.string ?? "")
            points.append(#"{"camera":"\#(camera)","seq":3,"epoch":"\#(epoch)"}"#)
        }
        #expect(points.count == 3)
        first.close()
        move(feed, "b", 4)
        feed.send(#"{"type":"remove-camera","camera":"gone"}"#)
        // A camera made again is a different one.
        feed.send(#"{"type":"remove-camera","camera":"a"}"#)
        move(feed, "a", 5)
        move(feed, "new", 5)
        let again = host.connect()
        again.send(#"{"type":"subscribe","id":1,"camera":"*","since":[\#(points.joined(separator: ","))]}"#)
        #expect(
            try again.newMessages().map(text) == [
                "subscribed *", "subscribed a 3", "lagged a 3", "subscribed b 6", "subscribed new 3", "removed gone",
                "move-started b 4", "camera-changed b 5", "idle b 6",
            ])
    }

    /// Other clients may make and remove any number of cameras: the cost of a stalled reader is bounded, and once it
    /// reads it learns what exists.
    @Test func stalledReaderIsToldOfNewCamerasOnceItReads() throws {
        let host = HubHost { $0.unreadReplies = 4096 }
        let (feed, slow) = (host.connect(), host.connect())
        move(feed, "stays", 3)
        slow.send(#"{"type":"subscribe","camera":"*"}"#)
        slow.makeRoom(0)
        for index in 0..<2000 {
            move(feed, "camera\(index)", 3)
            feed.send(#"{"type":"remove-camera","camera":"camera\#(index)"}"#)
            feed.compact()
        }
        move(feed, "last", 3)
        #expect(slow.peer.memory < 64 << 10)
        slow.readOn()
        host.turn()
        var known: Set<String> = []
        var isTwice = false
        let lines = try slow.newMessages()
        for line in lines {
            let camera = line["camera"]?.string ?? ""
            switch line["type"]?.string {
            case "subscribed" where camera != "*": isTwice = isTwice || !known.insert(camera).inserted
            case "removed": known.remove(camera)
            default: break
            }
        }
        #expect(known == ["stays", "last"] && !isTwice)
        #expect(lines.count { $0["camera"]?.string == "*" } == 2)
        move(feed, "last", 4)
        #expect(try slow.newMessages().map(text) == ["move-started last 4", "camera-changed last 5", "idle last 6"])
    }

    @Test func subscriptionToAllDoesNotCountToTheLimit() throws {
        let host = HubHost { $0.subscriptions = 1 }
        let (feed, all) = (host.connect(), host.connect())
        for name in ["a", "b", "c"] { move(feed, name, 3) }
        all.send(#"{"type":"subscribe","camera":"*"}"#)
        #expect(try all.newMessages().count == 4)
        all.send(#"{"type":"subscribe","camera":"a"}"#)
        all.send(#"{"type":"subscribe","camera":"b"}"#)
        #expect(try all.newMessages().map { $0["code"]?.string } == [nil, "limit-reached"])
    }

    @Test func subscriptionToAllGoesOnAfterAHandover() throws {
        let feed = host.connect()
        move(feed, "a", 3)
        let all = host.subscriber(#","camera":"*","events":["idle"],"delivery":"latest""#)
        try host.handOver()
        move(feed, "a", 4)
        move(feed, "b", 4)
        #expect(try all.newMessages().map(text) == ["idle a 6", "subscribed b 0", "idle b 3"])
        let clients = try feed.ask(#"{"type":"clients"}"#)["clients"]?.array ?? []
        #expect(clients.map { $0["all"]?.bool } == [nil, true])
    }

    @Test func halfClosedConnectionStaysWhileItWaits() throws {
        let (feed, all) = (host.connect(), host.connect())
        all.send(#"{"type":"subscribe","camera":"*"}"#)
        all.halfClose()
        #expect(!all.isOver)
        move(feed, "a", 3)
        #expect(try all.newMessages().count == 5)
    }
}
