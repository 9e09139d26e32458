// A hub takes over from an earlier version, and the handover's layout does not change unnoticed.

import Foundation
import Hub
import TestSupport
import Testing

/// The names of all decoded members, each after that of the member whose value contains it.
private struct Layout: Decodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private(set) var names: Set<String> = []
    private var own: Set<String> = []

    init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Name.self) {
            for key in members.allKeys {
                // The names in a table are numbers.
                let name = Int(key.stringValue) == nil ? key.stringValue : "0"
                let value = try members.decode(Layout.self, forKey: key)
                own.insert(name)
                names.formUnion(value.names.union(value.own.map { "\(name).\($0)" }))
            }
        } else if var list = try? decoder.unkeyedContainer() {
            while !list.isAtEnd {
                let value = try list.decode(Layout.self)
                own.formUnion(value.own)
                names.formUnion(value.names)
            }
        }
    }

    static func names(_ bytes: [UInt8]) throws -> Set<String> {
        let layout = try StateDecoder.decode(Layout.self, from: bytes)
        return layout.names.union(layout.own)
    }
}

@Suite struct UpgradeTests {
    /// Returns a hub that leaves a value in every member.
    ///
    /// - Parameter sharesHistories: whether the next hub finds histories in memory; otherwise they are handed over with
    ///   everything else.
    private func furnished(sharesHistories: Bool = true) -> (host: HubHost, watcher: HubPeer) {
        let host = HubHost(sharesHistories: sharesHistories)
        furnishAttractLoop(host)
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
        host.connect().send(#"{"type":"subscribe","camera":"b","events":["touch","gesture"]}"#)
        follower.send(#"{"type":"touch","camera":"b","surface":"table","timeMs":5,"touches":[{"id":1,"x":2,"y":3}]}"#)
        // One finger taps and lands again, and two begin a tilt.
        for (time, finger) in [(1, #"{"id":1,"x":2,"y":3}"#), (2, ""), (5, #"{"id":1,"x":2,"y":3}"#)] {
            follower.send(#"{"type":"touch","camera":"b","surface":7,"timeMs":\#(time),"touches":[\#(finger)]}"#)
        }
        for (surface, ys) in [("tapped", [3]), ("tapped", []), ("led", [3, 3]), ("led", [43, 3])] {
            let fingers = ys.enumerated().map { #"{"id":\#($0.offset),"x":\#($0.offset * 90),"y":\#($0.element)}"# }
            follower.send(
                #"{"type":"touch","camera":"b","surface":"\#(surface)","timeMs":5,"#
                    + #""touches":[\#(fingers.joined(separator: ","))]}"#)
        }
        furnishReplays(host)
        return (host, watcher)
    }

    /// Adds a camera with every setting, held gestures, a fling, waiting requests, and replays: one paused after a step,
    /// one seeking to a line that has not been read, and one whose remaining lines are skipped.
    private func furnishReplays(_ host: HubHost) {
        let bounds = #"{"southWest":{"latitude":-9,"longitude":-9},"northEast":{"latitude":9,"longitude":9}}"#
        let (live, recorder) = (host.connect(), host.connect())
        recorder.send(#"{"type":"subscribe","camera":"held","events":["gesture"]}"#)
        live.send(#"{"type":"pan","phase":"began","camera":"held","gesture":7,"focus":{"x":1,"y":2}}"#)
        live.send(#"{"type":"one-finger-zoom","phase":"began","camera":"held","gesture":"x","focus":{"x":1,"y":2}}"#)
        live.send(#"{"type":"await-idle","camera":"held","id":1,"timeoutMs":100000}"#)
        for setting in CameraChange.settings.flatMap(\.lines) {
            live.send(setting.dropLast() + #","camera":"set"}"#)
        }
        live.send(#"{"type":"set-target-bounds","camera":"moving","bounds":\#(bounds)}"#)
        live.send(#"{"type":"animate","camera":"moving","durationMs":5000,"update":{"kind":"zoom-in"}}"#)
        let focused = #"{"kind":"zoom-by","amount":1,"focus":{"x":9,"y":9}}"#
        live.send(#"{"type":"animate","camera":"focused","durationMs":5000,"update":\#(focused)}"#)
        let places = [8, 9].map {
            #"{"position":{"target":{"latitude":\#($0),"longitude":9},"zoom":\#($0)},"durationMs":5000,"waitMs":9}"#
        }
        let keyframes = (places + [#"{"position":{"target":{"latitude":1,"longitude":2},"zoom":3}}"#]).joined(
            separator: ",")
        live.send(#"{"type":"tour","camera":"touring","keyframes":[\#(keyframes)]}"#)
        for (peer, wait) in [(live, false), (recorder, true)] {
            peer.send(#"{"type":"take-lease","camera":"touring","id":1,"forMs":90000,"label":"a","wait":\#(wait)}"#)
        }
        live.send(#"{"type":"set-gestures","camera":"flung","inertia":true}"#)
        for phase in [#""began","velocity":{"x":0,"y":0}"#, #""ended","velocity":{"x":900,"y":3}"#] {
            live.send(#"{"type":"pan","camera":"flung","phase":\#(phase)}"#)
        }
        host.pass(40)
        let steerer = host.connect()
        func replay(_ camera: String, _ members: String, _ lines: [String]) {
            let peer = host.connect()
            peer.send(#"{"type":"trace","version":1,"id":3,"camera":"\#(camera)"\#(members)}"#)
            for line in lines { peer.send(line) }
        }
        let zooms = (0...4).map {
            #"{"type":"move","timeMs":\#($0 * 10),"update":{"kind":"zoom-to","zoom":\#($0 + 3)}}"#
        }
        let played = #","paused":true,"durationMs":99,"fromMs":0,"untilMs":90,"idleTimeLimitMs":900"#
        replay("stepped", played, [#"{"type":"marker","timeMs":0,"label":"a"}"#] + zooms)
        steerer.send(#"{"type":"step-replay","camera":"stepped","count":2}"#)
        host.turn()
        steerer.send(#"{"type":"step-replay","camera":"stepped","count":20}"#)
        replay("seeking", "", zooms)
        steerer.send(#"{"type":"seek-replay","camera":"seeking","toMs":5000}"#)
        host.turn()
        replay("paused", #","paused":true,"loop":true,"pauseAtEnd":true"#, zooms)
        replay("passed", #","speed":"max","untilMs":15"#, zooms)
        host.turn()
    }

    /// Adds a camera that plays one of the hub's traces by itself.
    private func furnishAttractLoop(_ host: HubHost) {
        let lines = [#"{"type":"trace","version":1}"#, #"{"type":"animate","timeMs":9,"update":{"kind":"zoom-in"}}"#]
        host.traces = [try? StoredTrace("a", Array(lines.joined(separator: "\n").utf8))].compactMap { $0 }
        let peer = host.connect()
        peer.send(#"{"type":"set-idle-action","camera":"left","afterMs":1000,"action":{"kind":"play","trace":"a"}}"#)
        host.pass(1500)
        peer.close()
    }

    private var folder: String { "Tests/Daemon/HubTests/Golden" }

    /// Returns the contents of a golden file, after rewriting it if `GIMBAL_RECORD` is set.
    private func golden(_ name: String, _ text: @autoclosure () throws -> String) throws -> String {
        if ProcessInfo.processInfo.environment["GIMBAL_RECORD"] != nil {
            try Data(text().utf8).write(to: Files.root.appendingPathComponent("\(folder)/\(name)"))
        }
        return try Files.text("\(folder)/\(name)")
    }

    /// Returns each camera's answer about itself.
    private func cameras(_ host: HubHost) throws -> String {
        let asking = host.connect()
        let names = try asking.ask(#"{"type":"cameras"}"#)["cameras"]?.array?.compactMap(\.string) ?? []
        for name in names { asking.send(#"{"type":"get-camera","camera":"\#(name)"}"#) }
        return asking.lines().map { $0 + "\n" }.joined()
    }

    /// If this fails, a hub leaves other members than the known ones of this revision. Check whether a version with
    /// them can read the handover of one without them; then raise `Hub.handoverRevision`, and record the new layout
    /// with `GIMBAL_RECORD=1 swift test --filter UpgradeTests`.
    @Test func layoutIsThatOfItsRevision() throws {
        let left = try [false, true].map { try furnished(sharesHistories: $0).host.leave() }
        let names = try Set(left.flatMap { try Layout.names($0) }).sorted()
        let text = (["revision \(Hub.handoverRevision)"] + names).joined(separator: "\n") + "\n"
        #expect(try golden("layout.txt", text) == text)
        #expect(names.count > 200)
    }

    @Test func whatAnEarlierVersionHasLeftIsGoneOnWith() throws {
        let furnished = furnished(sharesHistories: false).host
        let text = try golden(
            "handover.base64",
            Data(furnished.leave()).base64EncodedString(options: .lineLength76Characters) + "\n")
        let left = Array(try #require(Data(base64Encoded: text, options: .ignoreUnknownCharacters)))
        let host = HubHost()
        let (watcher, recorder) = (host.connect(), host.connect())
        let others = (0..<20).map { _ in host.connect() }
        host.jump(furnished.now - host.now)
        try host.takeOver(left)
        let told = try cameras(host)
        #expect(try golden("cameras.ndjson", told) == told)
        #expect(told.split(separator: "\n").count == 13)
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
        let seqs = [24.0] + (4...24).map(Double.init)
        #expect(resumed.messages.map { $0["seq"]?.number } == seqs)
    }

    /// The cameras equal those of a hub that was not restarted.
    @Test func whatIsRecordedIsWhatTheHubHad() throws {
        let unbroken = try cameras(furnished().host)
        #expect(try unbroken == Files.text("\(folder)/cameras.ndjson"))
    }
}
