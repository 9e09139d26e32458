// What is handed over is read by versions before and after this one: what they do not know is skipped, what they do not
// write is done without, and what once was written is read for ever. So the layout does not change unnoticed.

import Foundation
import Hub
import TestSupport
import Testing

/// A field as it stands in a record.
private struct Node: Equatable {
    enum Content: Equatable {
        case number([UInt8])
        case bytes([UInt8])
        case record([Node])
    }

    private enum Tag: UInt16, FieldTag {
        case unknown = 0x7f01
        case alsoUnknown = 0x7f02
    }

    var tag: UInt16
    var content: Content

    static func all(_ row: FieldReader) throws -> [Node] {
        var (row, nodes) = (row, [Node]())
        while let field = try row.next() {
            let content: Content =
                switch field.type {
                case .number: .number(withUnsafeBytes(of: try field.number().littleEndian) { Array($0) })
                case .bytes: .bytes(Array(try field.bytes()))
                case .record: .record(try all(field.record()))
                }
            nodes.append(Node(tag: field.tag, content: content))
        }
        return nodes
    }

    /// Bytes that say what they are, whatever the type: the layout is written down here a second time.
    static func bytes(_ nodes: [Node]) -> [UInt8] {
        nodes.flatMap { node in
            let (type, content): (UInt64, [UInt8]) =
                switch node.content {
                case .number(let content): (0, content)
                case .bytes(let content): (1, content)
                case .record(let nodes): (2, bytes(nodes))
                }
            let head = UInt64(node.tag) | type << 16 | UInt64(content.count) << 24
            return withUnsafeBytes(of: head.littleEndian) { Array($0) } + content
        }
    }

    /// Which fields there are, and of which types, by their tags from the outermost record inwards.
    static func shape(_ nodes: [Node], in path: String = "") -> Set<String> {
        nodes.reduce(into: []) { shape, node in
            let here = path + "\(node.tag)"
            switch node.content {
            case .number: shape.insert("\(here) number")
            case .bytes: shape.insert("\(here) bytes")
            case .record(let nodes): shape.formUnion(Self.shape(nodes, in: here + ".").union(["\(here) record"]))
            }
        }
    }

    /// The same without some fields.
    static func without(_ left: String, _ nodes: [Node], in path: String = "") -> [Node] {
        nodes.compactMap { node in
            let here = path + "\(node.tag)"
            guard left != here else { return nil }
            guard case .record(let nodes) = node.content else { return node }
            return Node(tag: node.tag, content: .record(without(left, nodes, in: here + ".")))
        }
    }

    /// The same with fields of a later version before and behind all others.
    static func withMore(_ nodes: [Node]) -> [Node] {
        let inner = nodes.map { node in
            guard case .record(let nodes) = node.content else { return node }
            return Node(tag: node.tag, content: .record(withMore(nodes)))
        }
        let unknown = Node(tag: Tag.unknown.rawValue, content: .bytes([1, 2, 3]))
        let record = Node(tag: Tag.alsoUnknown.rawValue, content: .record([unknown]))
        return [unknown] + inner + [record, Node(tag: 1000, content: .number([1, 0, 0, 0, 0, 0, 0, 0]))]
    }
}

@Suite struct HandoverLayoutTests {
    /// A hub in which every field is written that there is.
    ///
    /// - Parameter sharesHistories: whether the next hub finds histories in memory; otherwise they are handed over with all
    ///   the rest.
    private func furnished(sharesHistories: Bool = true) -> (host: HubHost, watcher: HubPeer) {
        let host = HubHost(sharesHistories: sharesHistories)
        let (watcher, recorder, slow) = (host.connect(), host.connect(), host.connect())
        let late = host.connect()
        late.send(#"{"type":"trace","version":2}"#)
        late.send("no trace's line")
        watcher.send(#"{"type":"hello","version":1,"about":"a watcher"}"#)
        watcher.send(#"{"type":"subscribe","camera":"a"}"#)
        recorder.send(#"{"type":"subscribe","camera":"a","events":["gesture"]}"#)
        late.send(#"{"type":"subscribe","camera":"b","events":["touch"]}"#)
        slow.send(#"{"type":"subscribe","camera":"a","delivery":"latest"}"#)
        slow.makeRoom(10)
        for zoom in 3...9 {
            slow.send(#"{"type":"move","camera":"a","id":1,"update":{"kind":"zoom-to","zoom":\#(zoom)}}"#)
        }
        slow.put(Array(#"{"type":"pi"#.utf8))
        let follower = host.connect()
        follower.send(#"{"type":"subscribe","camera":"*"}"#)
        follower.send(#"{"type":"touch","camera":"b","surface":"table","timeMs":5,"touches":[{"id":1,"x":2,"y":3}]}"#)
        follower.send(#"{"type":"touch","camera":"b","surface":7,"timeMs":5,"touches":[{"id":1,"x":2,"y":3}]}"#)
        furnishReplays(host)
        return (host, watcher)
    }

    /// Gestures that are held, a fling, requests that wait, and replays: one that is paused after a step, one that is on
    /// its way to a place that has not been read, and one whose rest is passed over.
    private func furnishReplays(_ host: HubHost) {
        let (live, recorder) = (host.connect(), host.connect())
        recorder.send(#"{"type":"subscribe","camera":"held","events":["gesture"]}"#)
        live.send(#"{"type":"pan","phase":"began","camera":"held","gesture":7,"focus":{"x":1,"y":2}}"#)
        live.send(#"{"type":"one-finger-zoom","phase":"began","camera":"held","gesture":"x","focus":{"x":1,"y":2}}"#)
        live.send(#"{"type":"await-idle","camera":"held","id":1,"timeoutMs":100000}"#)
        live.send(#"{"type":"animate","camera":"moving","durationMs":5000,"update":{"kind":"zoom-in"}}"#)
        let steerer = host.connect()
        func replay(_ camera: String, _ members: String, _ lines: [String]) {
            let peer = host.connect()
            peer.send(#"{"type":"trace","version":1,"id":3,"camera":"\#(camera)"\#(members)}"#)
            for line in lines { peer.send(line) }
        }
        let zooms = (0...4).map {
            #"{"type":"move","timeMs":\#($0 * 10),"update":{"kind":"zoom-to","zoom":\#($0 + 3)}}"#
        }
        replay("stepped", #","paused":true,"durationMs":99"#, [#"{"type":"marker","timeMs":0,"label":"a"}"#] + zooms)
        steerer.send(#"{"type":"step-replay","camera":"stepped","count":2}"#)
        host.turn()
        steerer.send(#"{"type":"step-replay","camera":"stepped","count":20}"#)
        replay("seeking", "", zooms)
        steerer.send(#"{"type":"seek-replay","camera":"seeking","toMs":5000}"#)
        host.turn()
        replay("paused", #","paused":true"#, zooms)
        replay("passed", #","speed":"max","untilMs":15"#, zooms)
        host.turn()
    }

    private var folder: String { "Tests/Daemon/HubTests/Golden" }
    private var isRecording: Bool { ProcessInfo.processInfo.environment["GIMBAL_RECORD"] != nil }

    /// If this fails, what is handed over has another layout than that which is known by its revision. Look again whether the
    /// rules of HandoverLayout.swift are kept; then raise the revision, and `GIMBAL_RECORD=1 swift test --filter layout`
    /// records the new one beside the old.
    @Test func layoutIsThatOfItsRevision() throws {
        let left = furnished(sharesHistories: false).host.leave()
        let fields = try [left, furnished().host.leave()].flatMap { try Node.all(FieldReader($0[...])) }
        let shape = Node.shape(fields).sorted().joined(separator: "\n") + "\n"
        let name = "\(folder)/handover-\(HandoverLayout.revision)"
        if isRecording {
            try Data(shape.utf8).write(to: Files.root.appendingPathComponent(name + ".txt"))
            let text = Data(left).base64EncodedString(options: .lineLength76Characters)
            try Data((text + "\n").utf8).write(to: Files.root.appendingPathComponent(name + ".base64"))
        }
        #expect(try Files.text(name + ".txt") == shape)
    }

    /// Every tag is written by some hub: otherwise the layout would not be known as a whole.
    @Test func layoutHasNoUnknownPart() throws {
        let shape = Set(try Files.text("\(folder)/handover-\(HandoverLayout.revision).txt").split(separator: "\n"))
        #expect(shape.count > 40)
        for tag in 1...6 as ClosedRange<UInt16> { #expect(shape.contains { $0.hasPrefix("\(tag) ") }) }
        for tag in 1...24 as ClosedRange<UInt16> {
            #expect(ReplayField(rawValue: tag) != nil && shape.contains { $0.hasPrefix("6.\(tag) ") }, "\(tag)")
        }
        for tag in 1...15 as ClosedRange<UInt16> {
            #expect(PeerField(rawValue: tag) != nil && shape.contains { $0.hasPrefix("5.\(tag) ") }, "\(tag)")
        }
        for tag in 1...8 as ClosedRange<UInt16> {
            #expect(CameraField(rawValue: tag) != nil && shape.contains { $0.hasPrefix("4.\(tag) ") }, "\(tag)")
        }
    }

    /// What was recorded with any revision up to this one.
    @Test(arguments: 1...HandoverLayout.revision)
    func handoverOfEveryEarlierRevisionIsRead(revision: UInt64) throws {
        let text = try Files.text("\(folder)/handover-\(revision).base64")
        let left = Array(try #require(Data(base64Encoded: text, options: .ignoreUnknownCharacters)))
        let host = HubHost()
        let (watcher, recorder) = (host.connect(), host.connect())
        let others = (0..<10).map { _ in host.connect() }
        try host.takeOver(left)
        others[0].makeRoom(nil)
        others[0].send(#"ng"}"#)
        #expect(others[0].messages.contains { $0["type"]?.string == "pong" })
        watcher.send(#"{"type":"move","camera":"a","update":{"kind":"zoom-in"}}"#)
        #expect(watcher.messages.map { $0["seq"]?.number } == [22, 23, 24])
        #expect(watcher.messages.last?["position"]?["zoom"]?.number == 10)
        #expect(others[2].messages.map { $0["seq"]?.number } == [22, 23, 24])
        #expect(recorder.messages.map { $0["type"]?.string } == ["gesture"])
        let (asking, resumed) = (host.connect(), host.connect())
        asking.send(#"{"type":"subscribe","camera":"a"}"#)
        let epoch = try #require(asking.messages.last?["epoch"]?.string)
        resumed.send(#"{"type":"subscribe","camera":"a","since":3,"epoch":"\#(epoch)"}"#)
        #expect(resumed.messages.map { $0["seq"]?.number } == [24] + (4...24).map(Double.init))
    }

    // MARK: Other versions

    @Test func fieldsOfALaterVersionAreSkipped() throws {
        let (host, watcher) = furnished()
        var plain: [UInt8] = []
        try host.handOver { left in
            plain = left
            return Node.bytes(Node.withMore(try Node.all(FieldReader(left[...]))))
        }
        let left = host.leave()
        #expect(Node.shape(try Node.all(FieldReader(left[...]))) == Node.shape(try Node.all(FieldReader(plain[...]))))
        try host.takeOver(left)
        watcher.send(#"{"type":"move","camera":"a","update":{"kind":"zoom-in"}}"#)
        #expect(watcher.messages.suffix(3).map { $0["seq"]?.number } == [22, 23, 24])
    }

    /// The fields that have to be there: a camera's state, a peer's key and number, a subscription's camera.
    private static let needed: Set<String> = [
        "4.1", "4.6.3.1", "4.6.3.2", "4.8.3.1", "4.8.3.2", "4.8.10.1", "4.8.10.4", "5.1", "5.2", "5.11.1", "5.14.1",
    ]

    @Test func missingFieldsOfAnEarlierVersionHaveDefaults() throws {
        let shape = Node.shape(try Node.all(FieldReader(furnished().host.leave()[...])))
        let paths = shape.compactMap { $0.split(separator: " ").first.map(String.init) }
        for path in paths.sorted() {
            let (host, _) = furnished()
            let left = Node.bytes(Node.without(path, try Node.all(FieldReader(host.leave()[...]))))
            do {
                try host.takeOver(left)
            } catch {
                // Without a camera, nobody can have subscribed to it.
                #expect(Self.needed.contains(path) || path == "4", "\(path)")
                continue
            }
            #expect(!Self.needed.contains(path), "\(path)")
            let client = host.connect()
            client.send(#"{"type":"subscribe","camera":"a"}"#)
            let seq = try #require(client.messages.last?["seq"]?.number)
            client.send(#"{"type":"move","id":1,"camera":"a","update":{"kind":"zoom-in"}}"#)
            let types = client.messages.suffix(4).compactMap { $0["type"]?.string }
            #expect(types.sorted() == ["camera-changed", "idle", "move-started", "ok"], "\(path)")
            #expect(client.messages.compactMap { $0["seq"]?.number }.last == seq + 3, "\(path)")
        }
        #expect(paths.count > 40)
    }
}
