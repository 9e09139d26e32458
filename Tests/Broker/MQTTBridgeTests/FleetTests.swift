// Nodes and mirrors with a broker in memory: what is published and retained, whose lines are accepted, and that a
// mirror finally matches its source, whatever happens before. `GIMBAL_SEEDS=17-20` selects the random histories' seeds.

import Foundation
import GimbalProtocol
import Hub
import MQTTBridge
import Service
import TestSupport
import Testing

private func settings(_ name: String, _ instance: String = "a1") -> Node.Settings {
    Node.Settings(name, instance: instance)
}

/// Returns a node, a mirror of its camera, and the fleet in which both have come to rest.
private func pair(
    seed: UInt64 = 1, events: Bool = false
) -> (fleet: SimulatedFleet, source: SimulatedBridge, follower: SimulatedBridge) {
    let fleet = SimulatedFleet(seed: seed, HubHost(), HubHost(epochSeed: 99))
    var node = settings("left")
    node.publishesEvents = events
    let source = SimulatedBridge(fleet, fleet.hosts[0], node: node)
    let follower = SimulatedBridge(
        fleet, fleet.hosts[1], node: nil,
        mirror: CameraMirror.Settings(node: "left", camera: "main", local: "copy"))
    fleet.connect(source)
    fleet.connect(follower)
    fleet.pass(2500)
    return (fleet, source, follower)
}

@Suite struct FleetTests {
    private let fleet: SimulatedFleet
    private let source, follower: SimulatedBridge

    init() { (fleet, source, follower) = pair() }

    /// Returns a node without mirrors, and connects it to a broker that retains messages of earlier runs.
    private func alone(
        _ host: HubHost = HubHost(), with retained: [String: [UInt8]] = [:],
        _ change: (inout Node.Settings) -> Void = { _ in }
    ) -> (fleet: SimulatedFleet, bridge: SimulatedBridge) {
        let fleet = SimulatedFleet(host)
        fleet.retained = retained
        var node = settings("left")
        change(&node)
        let bridge = SimulatedBridge(fleet, host, node: node)
        fleet.connect(bridge)
        return (fleet, bridge)
    }

    private func foreign(_ fleet: SimulatedFleet, _ filters: String...) -> SimulatedProcess {
        let client = SimulatedProcess(fleet)
        fleet.connect(client)
        for filter in filters { fleet.subscribe(filter, client) }
        return client
    }

    /// A client drags the source's camera and rests its finger there.
    private func drag(_ fleet: SimulatedFleet) {
        let feeder = fleet.hosts[0].connect()
        feeder.send(#"{"type":"pan","phase":"began"}"#)
        feeder.send(#"{"type":"pan","phase":"changed","translation":{"x":50,"y":0}}"#)
        fleet.pass(200)
    }

    private func publish(_ line: String, _ topic: String, from client: SimulatedProcess) {
        client.fleet.publish(Publication("gimbal/left/main/\(topic)", Array(line.utf8)), from: client)
        client.fleet.pass(20)
    }

    /// Delivers a line that asks for answers at a topic.
    private func ask(_ source: SimulatedBridge, _ line: String, _ topic: String, to responseTopic: String) {
        source.receive(
            Publication("gimbal/left/\(topic)", Array(line.utf8), responseTopic: responseTopic, correlation: [7, 8]))
        source.fleet.pass(20)
    }

    private func texts(_ client: SimulatedProcess) -> [String] {
        defer { client.received = [] }
        return client.received.map { String(decoding: $0.payload, as: UTF8.self) }
    }

    // MARK: Leases

    @Test func theBrokerKeepsALeaseAsLongAsThereIsOneAndNoEventTellsOfIt() {
        let (fleet, _, _) = pair(events: true)
        let lease = "gimbal/left/main/lease"
        #expect(fleet.retained[lease] == nil)
        let holder = fleet.hosts[0].connect()
        let events = foreign(fleet, "gimbal/left/main/event")
        let errors = foreign(fleet, "gimbal/left/main/error")
        holder.send(#"{"type":"take-lease","forMs":1000,"label":"guide"}"#)
        fleet.pass(100)
        let told = fleet.text(lease) ?? ""
        #expect(told.hasPrefix(#"{"type":"camera-lease","camera":"main","timeMs":"#), "\(told)")
        #expect(told.contains(#""lease":1,"untilMs":"#) && told.contains(#""label":"guide","node":"left""#), "\(told)")
        publish(#"{"type":"move","update":{"kind":"zoom-in"}}"#, "set", from: errors)
        publish(#"{"type":"pan","phase":"began"}"#, "gesture", from: errors)
        publish(#"{"type":"touch","timeMs":0,"touches":[{"id":1,"x":5,"y":5}]}"#, "touch", from: errors)
        fleet.pass(100)
        let refused = texts(errors)
        #expect(refused.count == 3 && refused.allSatisfy { $0.contains(#""code":"leased""#) }, "\(refused)")
        fleet.pass(1500)
        #expect(fleet.retained[lease] == nil)
        #expect(!texts(events).contains { $0.contains("lease") })
        holder.send(#"{"type":"take-lease","forMs":60000}"#)
        fleet.pass(100)
        #expect(fleet.retained[lease] != nil)
        holder.send(#"{"type":"end-lease"}"#)
        fleet.pass(100)
        #expect(fleet.retained[lease] == nil)
    }

    @Test func aMirrorWhoseCameraIsLeasedLogsThatOnceAndIsThereSoonAfter() throws {
        let holder = fleet.hosts[1].connect()
        holder.send(#"{"type":"take-lease","camera":"copy","forMs":20000,"label":"guide"}"#)
        fleet.pass(100)
        fleet.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":9},"durationMs":1000}"#)
        fleet.pass(15_000)
        #expect(try position("copy", of: fleet.hosts[1]) != position("main", of: fleet.hosts[0]))
        #expect(follower.log.filter { $0.contains("has leased") }.count == 1, "\(follower.log)")
        fleet.pass(8000)
        #expect(try position("copy", of: fleet.hosts[1]) == position("main", of: fleet.hosts[0]))
    }

    // MARK: Publications

    @Test func aNodeLogsItsNameFromItsFirstStartOn() {
        let (fleet, bridge) = alone()
        fleet.pass(50)
        #expect(bridge.log == ["claiming the name \"left\""])
        fleet.pass(2500)
        #expect(bridge.log == ["claiming the name \"left\"", "this is node \"left\""])
    }

    @Test func aLateSubscriberGetsTheCameraAsItRestsAtOnce() throws {
        fleet.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":9},"durationMs":500}"#)
        fleet.pass(1000)
        let late = foreign(fleet, "gimbal/left/main/camera", "gimbal/left/$state")
        fleet.pass(20)
        let kept = texts(late)
        #expect(kept.count == 2)
        #expect(kept.contains { $0.contains(#""moving":false"#) && $0.contains(#""zoom":9,"#) })
        #expect(kept.contains { $0.contains(#""state":"ready""#) && $0.contains(#""cameras":["main"]"#) })
    }

    @Test func aCameraThatMovesIsToldNoFasterThanAsked() throws {
        let watcher = foreign(fleet, "gimbal/left/main/camera")
        fleet.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":9},"durationMs":1000,"easing":"linear"}"#)
        fleet.pass(1500)
        let told = texts(watcher)
        // 60 frames in a second: 30 of them, plus the rest event.
        #expect(25...33 ~= told.count)
        #expect(told.last?.contains(#""moving":false"#) == true && told.last?.contains(#""zoom":9,"#) == true)
        #expect(told.dropLast().dropFirst().allSatisfy { $0.contains(#""moving":true"#) })
    }

    @Test func everyEventIsToldInOrderOverALossOfTheConnection() throws {
        let (fleet, source, _) = pair(events: true)
        let watcher = foreign(fleet, "gimbal/left/main/event")
        let feeder = fleet.hosts[0].connect()
        for zoom in 3..<60 {
            feeder.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":\#(2 + zoom % 19)}}"#)
            fleet.pass(5)
            if zoom == 20 { fleet.cut(source) }
            if zoom == 40 { fleet.connect(source) }
        }
        fleet.pass(5000)
        var seqs: [Int] = []
        for text in texts(watcher) {
            guard let seq = text.firstMatch(of: /"seq":(\d+)/).flatMap({ Int($0.1) }), !text.contains("subscribed")
            else { continue }
            // Events that were not acknowledged are sent again.
            if seq > seqs.last ?? 0 { seqs.append(seq) }
        }
        #expect(seqs == Array(1...(57 * 3)))
    }

    @Test func anEventIsTheDaemonsLineWithTheTimeOnTheWallClock() throws {
        let (start, host) = (1_764_115_264_000.0, HubHost())
        host.wallTime = { start + $0 }
        let (fleet, _) = alone(host) { $0.publishesEvents = true }
        let (reader, feeder) = (host.subscriber(), host.connect())
        fleet.pass(2500)
        let watcher = foreign(fleet, "gimbal/left/main/event")
        feeder.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":9},"durationMs":300}"#)
        fleet.pass(1000)
        let (events, lines) = (texts(watcher), reader.lines())
        #expect(events.count == lines.count && lines.count > 15)
        for (event, line) in zip(events, lines) {
            let (time, wall) = try (JSON(line)["timeMs"]?.number, JSON(event)["wallTime"]?.number)
            #expect(try abs(#require(wall) - start - 1000 - #require(time)) < 0.01)
            #expect(event.replacing(/,"wallTime":[0-9.]+}$/, with: "}") == line)
            #expect(try ServerLine(line: Array(event.utf8)).message == ServerLine(line: Array(line.utf8)).message)
        }
        // The clock is set; the daemon tells that after the first event.
        host.wallTime = { start + $0 + 5000 }
        for zoom in 3...4 {
            feeder.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":\#(zoom)}}"#)
            fleet.pass(1000)
        }
        let last = try JSON(try #require(texts(watcher).last))
        #expect(try abs(#require(last["wallTime"]?.number) - start - 6000 - #require(last["timeMs"]?.number)) < 0.01)
    }

    @Test func aRemovedCameraIsForgottenByTheBroker() {
        fleet.send(#"{"type":"move","camera":"left","update":{"kind":"zoom-in"}}"#)
        fleet.pass(50)
        #expect(fleet.retained["gimbal/left/left/camera"] != nil)
        fleet.pass(1500)
        #expect(fleet.retained["gimbal/left/left/settings"] != nil)
        fleet.send(#"{"type":"remove-camera","camera":"left"}"#)
        fleet.pass(50)
        #expect(fleet.retained["gimbal/left/left/camera"] == nil)
        #expect(fleet.retained["gimbal/left/left/settings"] == nil)
    }

    @Test func whatAnOlderRunHasLeftIsForgotten() {
        let state = NodeState(.ready, node: "left", instance: "dead", generation: 7, version: "")
        let (fleet, bridge) = alone(with: [
            "gimbal/left/old/camera": Array("{}".utf8), "gimbal/left/old/settings": Array("{}".utf8),
            "gimbal/left/$state": state.payload,
        ])
        fleet.pass(5000)
        #expect(bridge.node?.isOwner == true)
        #expect(fleet.retained["gimbal/left/old/camera"] == nil)
        #expect(fleet.retained["gimbal/left/old/settings"] == nil)
        #expect(fleet.state?.generation == 8 && fleet.state?.word == .ready)
    }

    @Test func moreThanFindsRoomAtOnceIsForgottenAllTheSame() {
        let topics = (0..<1500).flatMap { ["gimbal/left/old\($0)/camera", "gimbal/left/old\($0)/settings"] }
        let (fleet, bridge) = alone(
            HubHost { ($0.cameras, $0.subscriptions) = (1000, 1000) },
            with: Dictionary(uniqueKeysWithValues: topics.map { ($0, Array("{}".utf8)) }))
        fleet.pass(10_000)
        #expect(fleet.retained.keys.sorted() == ["gimbal/left/$state"])
        // Cameras that the daemon forgets at once.
        let names = (0..<700).map { "camera-\($0)" }
        let feeder = fleet.hosts[0].connect()
        for name in names { feeder.send(#"{"type":"move","camera":"\#(name)","update":{"kind":"zoom-in"}}"#) }
        fleet.pass(10_000)
        #expect(fleet.retained.count == 1401)
        for name in names { feeder.send(#"{"type":"remove-camera","camera":"\#(name)"}"#) }
        bridge.loseDaemon()
        fleet.pass(10_000)
        #expect(fleet.retained.keys.sorted() == ["gimbal/left/$state"])
        #expect(!bridge.log.contains { $0.contains("lack of room") })
    }

    @Test func camerasThatAreMadeFasterThanTheyAreReadForgetNoOthers() {
        let (fleet, bridge) = alone(HubHost { ($0.cameras, $0.subscriptions, $0.unreadReplies) = (1000, 1000, 4096) })
        let feeder = fleet.hosts[0].connect()
        for round in 0..<3 {
            bridge.makeRoom(0)
            for number in 0..<200 {
                feeder.send(#"{"type":"move","camera":"c\#(round)-\#(number)","update":{"kind":"zoom-in"}}"#)
            }
            bridge.makeRoom(nil)
            fleet.pass(5000)
        }
        #expect(bridge.node?.isOwner == true)
        #expect(fleet.retained.keys.count { $0.hasSuffix("/camera") } == 600)
        #expect(fleet.state?.cameras.count == 600)
    }

    @Test func whatWasMissedIsToldOnceMore() {
        let (fleet, _, _) = pair(events: true)
        for _ in 0..<4 { fleet.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#) }
        fleet.pass(50)
        let client = foreign(fleet, "gimbal/left/main/missed", "gimbal/left/main/camera")
        fleet.pass(20)
        let epoch = texts(client).compactMap { $0.firstMatch(of: /"epoch":"(.*?)"/)?.1 }.first ?? ""
        publish(#"{"since":5,"epoch":"\#(epoch)"}"#, "since", from: client)
        fleet.pass(50)
        let seqs = texts(client).compactMap { $0.firstMatch(of: /"seq":(\d+)/).flatMap { Int($0.1) } }
        #expect(seqs == [12, 6, 7, 8, 9, 10, 11, 12])
        publish(#"{"since":12,"epoch":"\#(epoch)"}"#, "since", from: client)
        publish(#"{"since":3,"epoch":"other"}"#, "since", from: client)
        let answers = texts(client)
        #expect(answers.count == 3 && answers.last?.contains(#""missed":12"#) == true, "\(answers)")
    }

    @Test func whatABridgeTellsOfACameraIsReadAndWrittenToTheByte() throws {
        let client = foreign(fleet, "gimbal/left/main/camera", "gimbal/left/main/settings")
        for line in Self.settingLines { publish(line, "set", from: client) }
        publish(#"{"type":"pan","phase":"began"}"#, "gesture", from: client)
        publish(#"{"type":"pan","phase":"changed","translation":{"x":40.5,"y":-7}}"#, "gesture", from: client)
        publish(#"{"type":"pan","phase":"ended"}"#, "gesture", from: client)
        publish(#"{"type":"move","update":{"kind":"set-viewing-angle","viewingAngle":30.25}}"#, "set", from: client)
        fleet.pass(3000)
        var counts = (cameras: 0, settings: 0)
        for payload in client.received.map(\.payload) {
            // Others may write it with spaces and with unknown members.
            let spaced = Array(String(decoding: payload, as: UTF8.self).replacing(",", with: ", ").utf8)
            let longer = payload.dropLast() + Array(#","more":[1]}"#.utf8)
            if let (status, stamp) = CameraStatus.read(payload) {
                counts.cameras += 1
                #expect(status.payload(stamp) == payload)
                for other in [spaced, longer] { #expect(try #require(CameraStatus.read(other)) == (status, stamp)) }
                let elsewhere = String(decoding: payload, as: UTF8.self).replacing("\"zoom\":", with: "\"zoom\":9")
                #expect(CameraStatus.read(Array(elsewhere.utf8)) == nil)
            } else {
                counts.settings += 1
                let (told, stamp) = try #require(RetainedSettings.read(payload))
                #expect(told.payload(stamp) == payload)
                for other in [spaced, longer] { #expect(try #require(RetainedSettings.read(other)) == (told, stamp)) }
            }
            for end in payload.indices {
                #expect(CameraStatus.read(Array(payload[..<end])) == nil)
                #expect(RetainedSettings.read(Array(payload[..<end])) == nil)
            }
        }
        #expect(counts.cameras > 2 && counts.settings > 0, "\(counts)")
    }

    @Test func whatIsToldOfACameraIsWhatTheDaemonSaysOfItDigitForDigit() throws {
        let client = foreign(fleet, "gimbal/left/main/camera", "gimbal/left/main/settings")
        for line in Self.settingLines { publish(line, "set", from: client) }
        publish(#"{"type":"animate","update":{"kind":"zoom-to","zoom":9.123456},"durationMs":70}"#, "set", from: client)
        publish(#"{"type":"move","update":{"kind":"scroll-by","x":-3333.3,"y":4.7}}"#, "set", from: client)
        fleet.pass(3000)
        let everything = try everything("main", of: fleet.hosts[0])
        let told = try #require(fleet.text("gimbal/left/main/camera"))
        let settings = try #require(fleet.text("gimbal/left/main/settings"))
        let members = try #require(settings.firstMatch(of: /"camera":"main"(,.*),"node":/)).1
        #expect(try told.contains(position("main", of: fleet.hosts[0])) && everything.hasSuffix(members + "}"))
    }

    @Test func aGapThatABridgeFindsIsToldAsTheDaemonTellsOne() throws {
        // More cameras than one line can resume.
        let host = HubHost { ($0.cameras, $0.subscriptions) = (1000, 1000) }
        let (fleet, source) = alone(host) { $0.publishesEvents = true }
        let feeder = fleet.hosts[0].connect()
        let names = (0..<700).map { "camera-\($0)-" + String(repeating: "x", count: 40) }
        for name in names { feeder.send(#"{"type":"move","camera":"\#(name)","update":{"kind":"zoom-in"}}"#) }
        fleet.pass(10_000)
        let watcher = foreign(fleet, "gimbal/left/+/event")
        source.loseDaemon()
        for name in names { feeder.send(#"{"type":"move","camera":"\#(name)","update":{"kind":"zoom-in"}}"#) }
        fleet.pass(10_000)
        let gaps = texts(watcher).filter { $0.contains(#""type":"lagged""#) }
        #expect(!gaps.isEmpty)
        for gap in gaps {
            let line = try ServerLine(line: Array(gap.utf8))
            guard case .event(.lagged(let lagged)) = line.message else { return #expect(Bool(false), "\(gap)") }
            #expect(lagged.missed == 3 && lagged.seq == 6, "\(gap)")
            #expect(try gap.contains(position(lagged.camera, of: fleet.hosts[0])), "\(gap)")
        }
    }

    // MARK: Incoming lines

    @Test func gesturesOfTwoPublishersDoNotMixAndThoseOfOneThatIsQuietAreCancelled() throws {
        let client = foreign(fleet, "gimbal/left/main/camera", "gimbal/left/main/error")
        for feed in ["one", "two"] {
            publish(#"{"type":"pan","phase":"began","feed":"\#(feed)"}"#, "gesture", from: client)
        }
        publish(#"{"type":"pan","phase":"changed","translation":{"x":40,"y":0},"feed":"one"}"#, "gesture", from: client)
        let alone = try position("main", of: fleet.hosts[0])
        // Values count from the beginning of each publisher's own gesture.
        publish(
            #"{"type":"pan","phase":"changed","translation":{"x":-40,"y":0},"feed":"two"}"#, "gesture", from: client)
        #expect(
            try position("main", of: fleet.hosts[0]).contains(#""longitude":0}"#) && !alone.contains(#""longitude":0}"#)
        )
        #expect(source.node?.feedCount == 2)
        #expect(texts(client).last?.contains(#""moving":true"#) == true)
        fleet.pass(10_500, step: 50)
        #expect(source.node?.feedCount == 0)
        #expect(texts(client).last?.contains(#""moving":false"#) == true)
    }

    @Test func anEmptyPayloadHasTheBrokerForgetALineAndIsNoLine() {
        let client = foreign(fleet, "gimbal/left/main/error")
        publish("", "gesture", from: client)
        publish("[", "gesture", from: client)
        #expect(texts(client).count == 1 && source.node?.feedCount == 0)
    }

    @Test func aNameInTheTopicIsNeverTakenForOneInTheLine() {
        let client = foreign(fleet)
        publish(#"{"type":"pan","phase":"began"}"#, "gesture/anna", from: client)
        publish(#"{"type":"pan","phase":"began","feed":"anna"}"#, "gesture", from: client)
        publish(#"{"type":"pan","phase":"began","feed":"berta"}"#, "gesture/anna", from: client)
        #expect(source.node?.feedCount == 2)
    }

    @Test(arguments: [
        (#"{"type":"move","update":{"kind":"zoom-in"}}"#, "gesture", "denied", "type"),
        (#"{"type":"pan","phase":"began"}"#, "set", "denied", "type"),
        (#"{"type":"trace","version":1}"#, "set", "unknown-type", "type"),
        (#"{"type":"subscribe"}"#, "get", "unknown-type", "type"),
        (#"{"type":"move","camera":"other","update":{"kind":"zoom-in"}}"#, "set", "invalid-value", "camera"),
        (#"{"type":"move","update":{"kind":"zoom-to"}}"#, "set", "missing-field", "update.zoom"),
        ("{\"type\":\"move\"\n", "set", "invalid-json", nil),
        ("[]", "set", "invalid-value", nil),
        (#"{"epoch":"x"}"#, "since", "missing-field", "since"),
        (#"{"since":-1,"epoch":"x"}"#, "since", "invalid-value", "since"),
        (String(repeating: "[", count: 200), "set", "limit-reached", nil),
    ])
    func whatIsWrongIsAnsweredByAnErrorThatNamesIt(line: String, topic: String, code: String, field: String?) {
        let client = foreign(fleet, "gimbal/left/main/error")
        publish(line, topic, from: client)
        let errors = texts(client)
        #expect(errors.count == 1)
        let json = errors.first.flatMap { try? JSONValue(Array($0.utf8)) }
        #expect(json?["code"]?.string == code && json?["field"]?.string == field, "\(errors)")
        #expect(json?["topic"]?.string == topic)
    }

    @Test func anErrorOfTheBridgeIsWrittenAsTheDaemonsAreAndBothSayWhoseLineItWas() {
        let client = foreign(fleet, "gimbal/left/main/error")
        publish(#"{"type":"stop","id":"x","feed":"f"}"#, "gesture", from: client)
        publish(#"{"type":"move","id":7,"update":{"kind":"zoom-to"}}"#, "set/anna", from: client)
        #expect(
            texts(client) == [
                #"{"type":"error","id":"x","code":"denied","field":"type","message":"\"stop\" must go to the topic .../set","topic":"gesture","feed":"f"}"#,
                #"{"type":"error","id":7,"code":"missing-field","field":"update.zoom","message":"update.zoom is missing: it must be a number","topic":"set","feed":"anna"}"#,
            ])
    }

    @Test func aRefusedArrayIsAnsweredOnceForEachIdAndTheRequestAtFaultByItsOwnError() {
        let client = foreign(fleet, "gimbal/left/main/error")
        publish(
            #"[{"type":"stop","id":1},{"type":"get-camera","id":2},{"type":"stop"},{"type":"stop","id":"x"}]"#, "set",
            from: client)
        let denied = #""get-camera\" must go to the topic .../get","topic":"set"}"#
        #expect(
            texts(client) == [
                #"{"type":"error","id":1,"code":"denied","message":"the array was rejected as a whole: \"# + denied,
                #"{"type":"error","id":2,"code":"denied","field":"type","message":"\"# + denied,
                #"{"type":"error","id":"x","code":"denied","message":"the array was rejected as a whole: \"# + denied,
            ])
    }

    @Test func everyRequestIsTakenByTheTopicThatThePageNamesAndByNoOther() throws {
        let client = foreign(fleet, "gimbal/left/main/error")
        let page = try Files.text("Protocols/mqtt.md")
        for request in ClientRequest.blanks {
            for inlet in Inlet.allCases where inlet != .since {
                publish(#"{"type":"\#(request.type)","id":1}"#, inlet.rawValue, from: client)
                let text = texts(client).joined()
                let wanted = request.inlet == nil ? "unknown-type" : request.inlet == inlet ? nil : "denied"
                for code in ["unknown-type", "denied"] {
                    #expect(
                        text.contains(#""code":"\#(code)""#) == (code == wanted), "\(request.type) \(inlet): \(text)")
                }
            }
        }
        // The page lists every query.
        let row = try #require(page.split(separator: "\n").first { $0.hasPrefix("| `CAMERA/get`") })
        let named = row.split(separator: "|").last.map { $0.matches(of: /`([a-z-]+)`/).map { String($0.1) } } ?? []
        #expect(Set(named) == Set(ClientRequest.blanks.filter { $0.inlet == .get }.map(\.type)))
    }

    @Test func repliesGoWhereTheyAreAskedForAndNowhereThatCouldHarm() {
        fleet.send(#"{"type":"get-camera"}"#)
        let me = "answers/me"
        let client = foreign(fleet, me, "gimbal/left/main/error", "gimbal/left/main/set")
        ask(source, #"{"type":"get-camera","id":"a"}"#, "main/get", to: me)
        #expect(client.received.first?.correlation == [7, 8])
        #expect(texts(client).first?.hasPrefix(#"{"type":"camera","id":"a","camera":"main","#) == true)
        ask(source, #"[{"type":"move","id":1,"update":{"kind":"zoom-in"}},{"type":"stop"}]"#, "main/set", to: me)
        #expect(texts(client) == [#"{"type":"ok","id":1}"#])
        ask(source, #"[{"type":"stop","id":1},{"type":"move","update":{"kind":"zoom-to"}}]"#, "main/set", to: me)
        let errors = texts(client)
        #expect(errors.count == 2 && errors[1].contains("update.zoom") && !errors[1].contains(#""line""#), "\(errors)")
        ask(source, #"{"type":"get-camera","id":"a"}"#, "main/get", to: me + String(repeating: "/x", count: 99))
        #expect(texts(client) == [])
        // The bridge may publish there, a publisher may not.
        ask(source, #"{"type":"get-camera","id":"a"}"#, "main/get", to: "gimbal/left/main/set")
        #expect(texts(client) == [])
    }

    @Test func countedLinesAreTakenOnceAndThoseThatAreMissingAreTold() throws {
        let client = foreign(fleet, "gimbal/left/main/error")
        for number in [1, 2, 2, 1, 3] {
            publish(#"{"type":"double-tap","feed":"f","number":\#(number)}"#, "gesture", from: client)
            fleet.pass(400)
        }
        #expect(try position("main", of: fleet.hosts[0]).contains(#""zoom":5,"#))
        #expect(texts(client) == [])
        publish(#"{"type":"double-tap","feed":"f","number":6}"#, "gesture", from: client)
        #expect(texts(client).first?.contains(#""code":"missed-lines""#) == true)
    }

    @Test func aPublisherThatBeginsToCountAnewIsHeardOnceItsOldCountIsForgotten() throws {
        let client = foreign(fleet)
        publish(#"{"type":"double-tap","feed":"f","number":5000}"#, "gesture", from: client)
        fleet.pass(400)
        let before = try position("main", of: fleet.hosts[0])
        for number in 1...12 {
            publish(#"{"type":"double-tap","feed":"f","number":\#(number)}"#, "gesture", from: client)
            fleet.pass(1000, step: 50)
        }
        #expect(try position("main", of: fleet.hosts[0]) != before)
    }

    @Test func linesForCamerasThatTheNodeDoesNotTellOfAreRefused() throws {
        let (fleet, _) = alone { $0.cameras = ["main"] }
        fleet.pass(2500)
        fleet.send(#"{"type":"move","camera":"other","update":{"kind":"zoom-to","zoom":9}}"#)
        let before = try position("other", of: fleet.hosts[0])
        let client = foreign(fleet, "gimbal/left/other/error", "gimbal/left/other/missed")
        for (topic, line) in [
            ("set", #"{"type":"move","update":{"kind":"zoom-in"}}"#), ("get", #"{"type":"get-camera","id":1}"#),
            ("gesture", #"{"type":"double-tap"}"#), ("since", #"{"since":0,"epoch":"x"}"#),
        ] {
            fleet.publish(Publication("gimbal/left/other/\(topic)", Array(line.utf8)), from: client)
        }
        fleet.pass(1000)
        let told = texts(client)
        #expect(told.count == 4 && told.allSatisfy { $0.contains(#""code":"unknown-camera""#) }, "\(told)")
        #expect(try position("other", of: fleet.hosts[0]) == before)
    }

    @Test(arguments: [["main"], []])
    func aNodeThatTellsOfSomeCamerasDoesNotNameTheOthers(cameras: Set<String>) {
        let (fleet, bridge) = alone { $0.cameras = cameras }
        fleet.send(#"[{"type":"get-camera"},{"type":"get-camera","camera":"hidden"}]"#)
        fleet.pass(2500)
        let client = foreign(fleet, "answers/me")
        ask(bridge, #"[{"type":"get-camera","id":1},{"type":"cameras","id":2}]"#, "main/get", to: "answers/me")
        let told = texts(client)
        #expect(told.contains { $0.contains(#""code":"denied""#) } == !cameras.isEmpty, "\(told)")
        #expect(told.contains { $0.contains("hidden") } == cameras.isEmpty, "\(told)")
    }

    @Test(arguments: ["ma in/set", "/set", "$state/get", "main/set/a/b", "+/set"])
    func aTopicThatNamesNoCameraOrFeedIsAnsweredWhereAnswersAreAskedFor(topic: String) {
        let client = foreign(fleet, "answers/me")
        ask(source, #"{"type":"stop","id":7}"#, topic, to: "answers/me")
        #expect(client.received.first?.correlation == [7, 8])
        let answers = texts(client)
        #expect(answers.count == 1 && answers[0].contains(#""code":"invalid-value""#), "\(answers)")
    }

    @Test func manyRepliesThatFindNoRoomAreOneLineOfTheLog() {
        for _ in 0..<3000 { source.receive(Publication("gimbal/left/main/set", Array("[".utf8))) }
        // Retained messages are not among the lost ones.
        source.hasDaemon = false
        source.loseDaemon()
        fleet.pass(5000)
        #expect(fleet.state?.word == .disconnected)
        let told = source.log.filter { $0.hasPrefix("dropped") }
        #expect(told == ["dropped 1976 messages: there was no room, or the broker ended connections over them"])
    }

    @Test func aReplyForWhichTheBrokerEndsTheConnectionIsDroppedAfterThreeTries() throws {
        let (fleet, source, _) = pair(events: true)
        let client = foreign(fleet, "gimbal/left/main/event", "answers/good")
        fleet.fatal = ["answers/fatal"]
        // The broker takes the first, but its acknowledgement is lost with the connection.
        for answer in ["good", "fatal"] {
            let line = Array(#"{"type":"ping"}"#.utf8)
            source.receive(Publication("gimbal/left/main/get", line, responseTopic: "answers/\(answer)"))
        }
        fleet.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        for _ in 0..<10 {
            fleet.connect(source)
            fleet.pass(3000)
        }
        #expect(fleet.ended == 5)
        #expect(client.received.contains { $0.topic == "answers/good" })
        #expect(source.log.contains { $0.hasPrefix("dropped 1 message:") })
        #expect(texts(client).contains { $0.contains(#""type":"camera-changed""#) })
        #expect(fleet.state?.word == .ready)
    }

    @Test func connectionsThatEndBeforeAMessageGoesOutDropNothing() throws {
        let (fleet, source, _) = pair(events: true)
        let client = foreign(fleet, "gimbal/left/main/event")
        fleet.fatal = ["gimbal/left/main/event"]
        fleet.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        fleet.pass(1000)
        #expect(fleet.ended == 1)
        fleet.fatal = []
        for _ in 0..<5 {
            fleet.connect(source)
            // It is over before the node knows.
            source.endSession()
            fleet.pass(10_100)
            source.disconnected()
        }
        fleet.connect(source)
        fleet.pass(3000)
        #expect(!source.log.contains { $0.hasPrefix("dropped") })
        #expect(texts(client).contains { $0.contains(#""type":"camera-changed""#) })
    }

    @Test(arguments: [#"[1,[2]]"#, "1.5", "true", "9007199254740993", #""\#(String(repeating: "x", count: 257))""#])
    func aRequestWithAnIdThatTheDaemonRefusesIsRefused(id: String) {
        let client = foreign(fleet, "answers")
        ask(source, #"{"type":"ping","id":\#(id)}"#, "main/get", to: "answers")
        let answer =
            #"{"type":"error","code":"invalid-value","field":"id","message":"id must be an integer, or a string of at most 256 bytes"}"#
        #expect(texts(client) == [answer])
    }

    @Test func aNodeThatClaimsToSpeakAllTheTimeIsNotFoundSilentAllTheTime() {
        source.die()
        let client = foreign(fleet)
        for _ in 0..<20 {
            let state = NodeState(
                .ready, node: "left", instance: "x", generation: 9, version: "1", cameras: ["main"], interval: -1)
            fleet.publish(Publication("gimbal/left/$state", state.payload), from: client)
            fleet.pass(1000)
        }
        #expect(!follower.log.contains { $0.contains("silent for too long") })
    }

    @Test func aClientThatMayOnlyWatchIsNoMirror() throws {
        let about = JSON.string(#"{"type":"mirror","camera":"main","follows":[{"node":"other","camera":"main"}]}"#)
        let hello = #"{"type":"hello","version":1,"about":\#(about.text)}"#
        func chain(_ role: Role) -> [String]? {
            fleet.hosts[0].connect(role: role).send(hello)
            fleet.pass(10_000)
            return fleet.retained["gimbal/left/main/camera"].flatMap { CameraStatus.read($0)?.message.follows }?
                .map(\.node)
        }
        fleet.send(#"{"type":"get-camera"}"#)
        #expect(chain(.watchOnly(because: "of the socket")) == [])
        source.receive(Publication("gimbal/left/main/get", Array(hello.utf8)))
        #expect(chain(.watchOnly(because: "of the socket")) == [])
        #expect(chain(.everything) == ["other"])
    }

    @Test func answersThatWaitForOthersOfTheirBatchHaveALimit() throws {
        let (source, client) = moving()
        let feeder = source.fleet.hosts[0].connect()
        for number in 0..<240 {
            feeder.send(#"{"type":"get-camera","camera":"\#(String(repeating: "x", count: 60))\#(1000 + number)"}"#)
        }
        let questions = Array(repeating: #"{"type":"cameras"}"#, count: 63) + [#"{"type":"await-idle"}"#]
        let lines = 12
        for _ in 0..<lines { ask(source, "[\(questions.joined(separator: ","))]", "main/get/bad", to: "answers/bad") }
        let refused = texts(client).count { $0.contains("limit-reached") && $0.contains("are too long") }
        // Each keeps about 1 MB, and all at most 8 MiB.
        #expect((lines - 9...lines - 7).contains(refused), "\(refused)")
        ask(source, #"[{"type":"ping","id":"a"},{"type":"ping"}]"#, "main/get/good", to: "answers/good")
        #expect(texts(client) == [#"{"type":"pong","id":"a"}"#, #"{"type":"pong"}"#])
        // Those that were refused have been answered; the others are now, and make room.
        feeder.send(#"{"type":"stop"}"#)
        source.fleet.pass(1000)
        #expect(texts(client).count == 64 * (lines - refused))
        feeder.send(#"{"type":"animate","update":{"kind":"zoom-in"},"durationMs":600000}"#)
        for _ in 0..<6 { ask(source, "[\(questions.joined(separator: ","))]", "main/get/bad", to: "answers/bad") }
        #expect(texts(client) == [])
    }

    @Test func moreFeedsThanThereMayBeAreRefused() {
        let client = foreign(fleet, "gimbal/left/main/error")
        // Feeds whose names no broker has checked get half of the slots.
        for feed in 0..<35 { publish(#"{"type":"pan","phase":"began","feed":"\#(feed)"}"#, "gesture", from: client) }
        #expect(source.node?.feedCount == 32)
        for feed in 0..<35 { publish(#"{"type":"pan","phase":"began"}"#, "gesture/phone-\(feed)", from: client) }
        #expect(source.node?.feedCount == 64)
        let errors = texts(client)
        #expect(errors.count == 6 && errors.allSatisfy { $0.contains("limit-reached") })
        // Queries are still answered.
        publish(#"{"type":"no question"}"#, "get", from: client)
        publish(#"{"type":"get-camera","id":1}"#, "get", from: client)
        #expect(source.node?.feedCount == 65)
        #expect(texts(client).allSatisfy { !$0.contains("limit-reached") })
    }

    @Test func twoSpellingsOfANameAreTwoPublishersAndNoneIsPassedOver() {
        let client = foreign(fleet, "gimbal/left/main/error")
        for feed in ["caf\u{e9}", "cafe\u{301}", "\u{301}x"] {
            publish(#"{"type":"pan","phase":"began","number":1}"#, "gesture/\(feed)", from: client)
            publish(#"{"type":"pan","phase":"wrong","number":2}"#, "gesture/\(feed)", from: client)
        }
        #expect(source.node?.feedCount == 3)
        #expect(texts(client).filter { $0.contains("invalid-value") }.count == 3)
    }

    @Test func whoeverOnlyAsksMakesNoCamera() {
        let client = foreign(fleet, "gimbal/left/nowhere/error")
        for query in ["get-camera", "visible-region", "await-idle"] {
            let publication = Publication("gimbal/left/nowhere/get", Array(#"{"type":"\#(query)","id":1}"#.utf8))
            fleet.publish(publication, from: client)
            fleet.pass(20)
            #expect(texts(client).map { $0.contains("unknown-camera") } == [true], "\(query)")
        }
        #expect(fleet.hosts[0].hub.cameraCount == 0)
    }

    /// Returns a node whose camera moves for ten minutes, and a client that reads the answers of two others.
    private func moving() -> (source: SimulatedBridge, client: SimulatedProcess) {
        fleet.send(#"{"type":"animate","update":{"kind":"zoom-in"},"durationMs":600000}"#)
        return (source, foreign(fleet, "answers/good", "answers/bad"))
    }

    @Test(arguments: [
        // One publisher; many whose names the broker checks, which wait for a rest; many whose names it does not check.
        (300, "main/get/bad", "", 300 - 64), (600, "main/get/bad%", "", 600 - 128),
        (300, "main/get", #","feed":"bad%""#, 300 - 64),
    ])
    func thoseWhoAskForMuchKeepNoOthersFromAsking(count: Int, topic: String, member: String, refused: Int) {
        let (source, client) = moving()
        ask(source, #"{"type":"ping","number":9007199254740990}"#, "main/get/bad", to: "answers/bad")
        for number in 0..<count {
            let line = #"{"type":"await-idle"\#(member)}"#.replacing("%", with: "\(number)")
            ask(source, line, topic.replacing("%", with: "\(number % 12)"), to: "answers/bad")
        }
        #expect(texts(client).filter { $0.contains("limit-reached") }.count == refused)
        ask(source, #"{"type":"ping","id":"a","number":1}"#, "main/get/good", to: "answers/good")
        #expect(texts(client) == [#"{"type":"pong","id":"a"}"#])
    }

    @Test func aMessageThatIsTooLongIsNoMessage() throws {
        let client = foreign(fleet, "gimbal/left/$state", "gimbal/left/main/camera", "gimbal/left/main/settings")
        for line in Self.settingLines { publish(line, "set", from: client) }
        fleet.pass(3000)
        func isRead(_ payload: [UInt8]) -> Bool {
            NodeClaim.instance(in: payload) != nil || NodeState(payload) != nil || CameraStatus.read(payload) != nil
                || RetainedSettings.read(payload) != nil
        }
        let payloads = client.received.map(\.payload) + [NodeClaim.payload(of: "x")]
        for payload in payloads {
            let longest = NodeState(payload) == nil ? 65_536 : 5 << 20
            let padded = payload + [UInt8](repeating: 0x20, count: longest - payload.count)
            #expect(isRead(padded) && !isRead(padded + [0x20]))
        }
        #expect(payloads.count >= 4)
        // The payload of the largest possible node.
        let names = (0..<65_536).map { String(repeating: "x", count: 59) + "\(10_000 + $0 % 90_000)" }
        let state = NodeState(.ready, node: "left", instance: "x", generation: 1, version: "1", cameras: names)
        #expect(NodeState(state.payload) == state)
    }

    @Test(arguments: [#"{"type":"nope","feed":"bob"}"#, #"{"type":"#, #"{"type":"pan","phase":"nope","feed":"bob"}"#])
    func anErrorNamesThePublisherThatTheTopicNames(_ line: String) {
        let client = foreign(fleet, "gimbal/left/main/error")
        publish(line, "gesture/alice", from: client)
        #expect(texts(client).map { $0.contains(#""feed":"alice""#) && !$0.contains("bob") } == [true])
    }

    @Test func aCameraThatMovesIsToldAnewOnceThereIsRoomAndNobodyTurnsUntilThen() throws {
        drag(fleet)
        fleet.stopBroker(forgets: true)
        fleet.isUp = true
        fleet.weather.congestion = 1
        fleet.connect(source)
        fleet.pass(3000)
        #expect(fleet.retained["gimbal/left/main/camera"] == nil)
        #expect(try #require(source.node?.deadline) > fleet.now)
        fleet.weather.congestion = 0
        fleet.pass(200)
        let told = try #require(fleet.text("gimbal/left/main/camera"))
        #expect(told.contains(#""moving":true"#))
        #expect(try #require(source.node?.deadline) > fleet.now)
    }

    @Test func aLineThatWasNotTakenMayComeAgain() {
        let client = foreign(fleet, "gimbal/left/main/error")
        source.makeRoom(0)
        let pan = { (number: Int) in #"{"type":"pan","phase":"changed","id":1,"number":\#(number)}"# }
        publish(pan(1), "gesture/a", from: client)
        source.makeRoom(0)
        for number in 2...258 { publish(pan(number), "gesture/a", from: client) }
        #expect(texts(client).map { $0.contains("limit-reached") } == [true])
        // A publisher that continues is not considered quiet just because the daemon is.
        fleet.pass(9000)
        publish(pan(258), "gesture/a", from: client)
        fleet.pass(9000)
        #expect(texts(client).map { $0.contains("limit-reached") } == [true])
        #expect(source.node?.feedCount == 1)
        source.makeRoom(nil)
        fleet.pass(100)
        publish(#"{"type":"pan","phase":"wrong","number":258}"#, "gesture/a", from: client)
        #expect(texts(client).filter { $0.contains("invalid-value") }.count == 1)
    }

    @Test func whatTheBrokerHasRefusedIsToldAnewOnceItMayBe() throws {
        fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#)
        fleet.pass(500)
        fleet.unwritable = ["gimbal/left/main/camera", "gimbal/left/main/settings"]
        fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":9}}"#)
        fleet.send(#"{"type":"set-zoom-range","maxZoom":17}"#)
        fleet.pass(5000)
        fleet.unwritable = []
        fleet.pass(10_000)
        for (topic, text) in [("camera", #""zoom":9,"#), ("settings", #""maxZoom":17,"#)] {
            let kept = try #require(fleet.text("gimbal/left/main/\(topic)"))
            #expect(kept.contains(text), "\(kept)")
        }
        #expect(try everything("copy", of: fleet.hosts[1]) == everything("main", of: fleet.hosts[0]))
    }

    // MARK: Claims to a node

    @Test func aNodeThatHasSaidItsLastWordSaysNothingMore() {
        let client = foreign(fleet, "gimbal/left/#")
        fleet.pass(50)
        source.node?.end(at: fleet.now)
        fleet.pass(50)
        #expect(texts(client).last?.contains(#""state":"disconnected""#) == true)
        publish(#"{"type":"get-camera"}"#, "get", from: client)
        let other = SimulatedBridge(fleet, fleet.hosts[1], node: settings("left", "zz"))
        fleet.connect(other)
        fleet.pass(5000)
        #expect(source.node?.feedCount == 0 && other.refusal == nil)
        let states = texts(client).filter { $0.contains(#""state":"#) }
        #expect(!states.isEmpty && states.allSatisfy { $0.contains(#""instance":"zz""#) })
    }

    @Test func aSecondBridgeOfTheSameNameIsRefusedAndTheFirstGoesOn() {
        let other = SimulatedBridge(fleet, fleet.hosts[1], node: settings("left", "zz"))
        fleet.connect(other)
        fleet.pass(3000)
        #expect(other.refusal?.contains("left") == true && source.refusal == nil && source.node?.isOwner == true)
        #expect(fleet.state?.instance == "a1")
    }

    @Test func whatSomebodyLeavesAtTheBrokerKeepsNoNodeFromStarting() throws {
        let fleet = SimulatedFleet(seed: 4, HubHost())
        let client = foreign(fleet)
        func leave(_ topic: String, _ payload: String) {
            fleet.publish(Publication("gimbal/left/\(topic)", Array(payload.utf8), isRetained: true), from: client)
        }
        leave("$claim", #"{"type":"claim","instance":"zzz"}"#)
        let stamp = #""node":"left","instance":"zz","generation":9007199254740991,"number":1"#
        leave("$state", #"{"type":"node","state":"ready",\#(stamp)}"#)
        leave(
            "main/camera",
            #"{"type":"camera-state","camera":"main","epoch":"e","seq":1,"moving":false,"position":{"target":{"latitude":0,"#
                + #""longitude":0},"zoom":5,"bearing":0,"viewingAngle":0},\#(stamp)}"#)
        fleet.pass(100)
        let bridge = SimulatedBridge(fleet, fleet.hosts[0], node: settings("left"))
        fleet.connect(bridge)
        fleet.pass(3000)
        #expect(bridge.refusal == nil && bridge.node?.isOwner == true)
        let state = try #require(fleet.state)
        #expect(state.generation == 1 && state.instance == "a1")
    }

    @Test func ofTwoThatComeAtOnceOneIsTheNode() {
        for seed in 1...20 {
            let fleet = SimulatedFleet(seed: UInt64(seed), HubHost(), HubHost())
            let two = ["a", "b"].enumerated().map {
                SimulatedBridge(fleet, fleet.hosts[$0], node: settings("left", $1))
            }
            for bridge in two {
                fleet.connect(bridge)
                fleet.pass(Double.random(in: 0...20, using: &fleet.random))
            }
            fleet.pass(5000)
            #expect(two.filter { $0.refusal == nil && $0.node?.isOwner == true }.count == 1, "seed \(seed)")
        }
    }

    @Test func oneThatWasCutOffWhileAnotherBecameTheNodeIsRefused() {
        fleet.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        fleet.pass(50)
        fleet.cut(source)
        fleet.pass(1000)
        #expect(fleet.state?.word == .lost)
        let other = SimulatedBridge(fleet, fleet.hosts[1], node: settings("left", "b2"))
        fleet.connect(other)
        fleet.pass(3000)
        #expect(other.node?.isOwner == true)
        fleet.connect(source)
        fleet.pass(3000)
        #expect(source.refusal != nil && other.refusal == nil)
        let state = fleet.state
        #expect(state?.instance == "b2" && state?.word == .ready && state?.generation == 2)
    }

    @Test func aWillThatComesAfterItsNodeHasComeBackIsNotTheLastWord() {
        fleet.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        fleet.pass(50)
        let spy = foreign(fleet, "gimbal/left/$state")
        fleet.cut(source, broker: 5000)
        fleet.connect(source)
        fleet.pass(6000)
        #expect(texts(spy).contains { $0.contains(#""state":"lost""#) })
        #expect(fleet.state?.word == .ready)
    }

    @Test func aNodeWithoutADaemonSaysSo() {
        source.hasDaemon = false
        source.loseDaemon()
        fleet.pass(50)
        #expect(fleet.state?.word == .disconnected && fleet.state?.reason?.contains("no daemon") == true)
        source.hasDaemon = true
        fleet.pass(6000)
        #expect(fleet.state?.word == .ready)
    }

    // MARK: The clock

    private func quality(_ isSynchronized: Bool, _ microseconds: Double) -> ClockQuality {
        ClockQuality(isSynchronized: isSynchronized, maximumError: microseconds)
    }

    @Test func aNodeTellsHowGoodItsClockIsEachTimeThatItTellsItsState() {
        let fleet = SimulatedFleet(HubHost())
        let bridge = SimulatedBridge(fleet, fleet.hosts[0], node: settings("left"))
        bridge.clockQuality = quality(true, 35)
        fleet.connect(bridge)
        fleet.pass(5000)
        #expect(fleet.state?.clock == quality(true, 35))
        let text = fleet.text("gimbal/left/$state") ?? ""
        #expect(text.hasSuffix(#""intervalMs":30000,"clock":{"synchronized":true,"errorMs":0.035}}"#))
        // A changed error alone is not published at once.
        let spy = foreign(fleet, "gimbal/left/$state")
        fleet.pass(50)
        _ = texts(spy)
        bridge.clockQuality = quality(true, 70)
        fleet.pass(5000)
        #expect(texts(spy).isEmpty)
        fleet.pass(25_000)
        #expect(fleet.state?.clock == quality(true, 70))
    }

    @Test func aNodeTellsAtOnceThatItsClockIsSynchronizedNoMore() {
        #expect(fleet.state?.clock == nil)
        for (told, wanted) in [
            (quality(true, 500), quality(true, 500)),
            // The meaning of an error is unknown there.
            (quality(false, 16_000_000), quality(false, .infinity)), (nil, nil),
        ] {
            source.clockQuality = told
            fleet.pass(1200)
            #expect(fleet.state?.clock == wanted)
        }
    }

    @Test func aClockIsLookedAtOnceASecondAtMostAndIsNoReasonToWake() throws {
        source.clockQuality = quality(true, 35)
        fleet.pass(2000)
        let before = source.looksAtClock
        fleet.pass(10_000)
        #expect(8...11 ~= source.looksAtClock - before)
        // A node with nothing to do sleeps until it has to publish its state.
        source.hasDaemon = false
        source.loseDaemon()
        fleet.pass(100)
        let node = try #require(source.node)
        var longest = 0.0
        for _ in 0..<20 {
            fleet.pass(max((node.deadline ?? 0) - fleet.now, 0) + 5)
            longest = max(longest, (node.deadline ?? 0) - fleet.now)
        }
        #expect(node.isOwner && longest > 2000)
    }

    @Test func whoIsNotThereTellsNoClock() {
        source.clockQuality = quality(true, 35)
        fleet.pass(1200)
        #expect(fleet.state?.clock != nil)
        fleet.cut(source)
        fleet.pass(1000)
        #expect(fleet.state?.word == .lost && fleet.state?.clock == nil)
        fleet.connect(source)
        fleet.pass(5000)
        #expect(fleet.state?.clock != nil)
        source.node?.end(at: fleet.now)
        fleet.pass(100)
        #expect(fleet.state?.word == .disconnected && fleet.state?.clock == nil)
    }

    @Test func aClockThatMakesNoSenseIsNone() {
        func clock(_ text: String) -> ClockQuality? {
            NodeState(
                Array(#"{"type":"node","state":"ready","instance":"x","generation":1,"clock":\#(text)}"#.utf8))?.clock
        }
        #expect(clock(#"{"synchronized":true,"errorMs":0.035}"#)?.maximumError == 35)
        #expect(clock(#"{"synchronized":true,"errorMs":-1}"#) == quality(true, .infinity))
        for text in ["7", "{}", "[]", "null", #"{"synchronized":1,"errorMs":1}"#] { #expect(clock(text) == nil) }
    }

    // MARK: Mirrors

    @Test func aMirrorMovesAndRestsAsItsSourceDoes() throws {
        let watcher = fleet.hosts[1].connect()
        watcher.send(#"{"type":"subscribe","camera":"copy"}"#)
        let feeder = fleet.hosts[0].connect()
        feeder.send(#"{"type":"pinch","phase":"began"}"#)
        for step in 1...40 {
            feeder.send(#"{"type":"pinch","phase":"changed","scale":\#(1 + Double(step) / 10)}"#)
            fleet.pass(20)
        }
        feeder.send(#"{"type":"pinch","phase":"ended"}"#)
        fleet.pass(100)
        let words = watcher.lines().compactMap { $0.firstMatch(of: /"type":"(.*?)"/)?.1.description }
        #expect(words.first == "subscribed" && words.filter { $0 == "move-started" }.count == 1)
        #expect(words.last == "idle" && words.filter { $0 == "idle" }.count == 1)
        #expect(words.filter { $0 == "camera-changed" }.count > 15)
        #expect(try position("copy", of: fleet.hosts[1]) == position("main", of: fleet.hosts[0]))
        #expect(follower.mirror?.isThere == true)
    }

    @Test func aMirrorThatTheDaemonRefusesToMoveSaysSoOnceAndGoesOnWhenItMay() throws {
        let player = fleet.hosts[1].connect()
        player.send(#"{"type":"trace","version":1,"camera":"copy"}"#)
        let feeder = fleet.hosts[0].connect()
        feeder.send(#"{"type":"pan","phase":"began"}"#)
        for _ in 0..<100 {
            feeder.send(#"{"type":"pan","phase":"changed","translation":{"x":5,"y":0}}"#)
            fleet.pass(40)
        }
        feeder.send(#"{"type":"pan","phase":"ended"}"#)
        #expect(follower.log.filter { $0.contains("does not let copy follow") }.count == 1)
        player.close()
        fleet.pass(5000)
        #expect(try position("copy", of: fleet.hosts[1]) == position("main", of: fleet.hosts[0]))
    }

    @Test func whatIsShownBesideTheDaemonRestsWhenTheSourceIsLost() throws {
        drag(fleet)
        #expect(follower.shown.last?.isMoving == true)
        source.die()
        fleet.pass(1000)
        let count = follower.shown.count
        #expect(follower.shown.last?.isMoving == false)
        // Nothing is shown twice.
        fleet.pass(5000)
        #expect(follower.shown.count == count)
    }

    @Test func whatComesLateOrTwiceMovesNoMirror() throws {
        let spy = foreign(fleet, "gimbal/left/main/camera")
        fleet.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":9},"durationMs":300}"#)
        fleet.pass(500)
        for late in spy.received.dropLast().reversed() { follower.receive(late) }
        fleet.pass(1000)
        #expect(spy.received.count > 5 && follower.mirror?.isThere == true)
        #expect(try position("copy", of: fleet.hosts[1]).contains(#""zoom":9,"#))
    }

    @Test func whatAnEarlierBridgeSaidComesTooLate() throws {
        fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#)
        fleet.pass(50)
        let old = try #require(fleet.retained["gimbal/left/main/camera"])
        source.die()
        let next = SimulatedBridge(fleet, fleet.hosts[0], node: settings("left", "next"))
        fleet.connect(next)
        fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":6}}"#)
        fleet.pass(5000)
        follower.receive(Publication("gimbal/left/main/camera", old))
        fleet.pass(3000)
        #expect(try position("copy", of: fleet.hosts[1]).contains(#""zoom":6,"#))
        #expect(follower.mirror?.isThere == true)
    }

    @Test func aMirrorRestsWhenItsSourceIsLostInTheMiddleOfAGesture() throws {
        drag(fleet)
        #expect(follower.mirror?.isThere == false)
        fleet.cut(source)
        fleet.pass(1000)
        #expect(follower.mirror?.isThere == true)
        let peer = fleet.hosts[1].connect()
        peer.send(#"{"type":"await-idle","camera":"copy","timeoutMs":0}"#)
        #expect(peer.receive()?.contains("at-rest") == true)
    }

    @Test func thatACameraRestsIsAskedForSoonWhereTheWordOfItIsLost() throws {
        fleet.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":9},"durationMs":500}"#)
        fleet.pass(300)
        (fleet.weather.loss, fleet.weather.lossToQoS0) = (1, 1)
        fleet.pass(500)
        fleet.weather = .fair
        #expect(follower.mirror?.isThere == false)
        fleet.pass(2500)
        #expect(follower.mirror?.isThere == true)
        #expect(try position("copy", of: fleet.hosts[1]) == position("main", of: fleet.hosts[0]))
    }

    @Test func aMirrorRestsWhenItsSourceSaysNothingMoreAndNobodyPublishesItsWill() {
        drag(fleet)
        fleet.cut(source, broker: nil)
        fleet.pass(45_000, step: 50)
        #expect(follower.mirror?.isThere == false)
        while follower.log.isEmpty, fleet.now < 120_000 { fleet.pass(50) }
        fleet.pass(50)
        #expect(follower.mirror?.isThere == true)
        fleet.pass(60_000, step: 50)
        #expect(follower.log.filter { $0.contains("considered lost") }.count == 1)
        fleet.connect(source)
        fleet.pass(3000)
        #expect(follower.mirror?.isThere == false, "it moves again with its source, which has held it all the time")
    }

    @Test func aNodeThatIsThereIsNeverTakenForLost() {
        let spy = foreign(fleet, "gimbal/left/$state")
        drag(fleet)
        fleet.pass(200_000, step: 50)
        #expect(spy.received.count == 8, "the one that is kept, that there is a camera, and one every 30 s")
        #expect(follower.mirror?.isThere == false && follower.log.isEmpty)
    }

    @Test func garbageInEveryTopicThatAMirrorReadsMovesNothingAndIsFewLinesOfTheLog() throws {
        fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":7}}"#)
        fleet.pass(3000)
        let kept = try #require(fleet.text("gimbal/left/main/camera"))
        let beyond = try ["1e999", "-1", "9007199254740992", "\"1\"", "null", "[]"].flatMap { value in
            try ["seq", "number", "generation", "zoom"].map { name in
                kept.replacing(try Regex(#""\#(name)":[0-9.]+"#), with: #""\#(name)":\#(value)"#)
            }
        }
        let deep = String(repeating: "[", count: 30_000) + String(repeating: "]", count: 30_000)
        let texts =
            beyond + [deep, #"{"type":"camera-state","more":\#(deep)}"#, "x", "{}", "\u{0}", "\u{1b}[2J", "{\"type\":"]
        for topic in ["main/camera", "main/settings", "$state"] {
            for text in texts {
                follower.receive(Publication("gimbal/left/\(topic)", Array(text.utf8), isRetained: true))
                follower.receive(Publication("gimbal/left/\(topic)", Array(text.utf8)))
                fleet.pass(10)
            }
        }
        #expect(1...2 ~= follower.log.count, "\(follower.log)")
        fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":8}}"#)
        fleet.pass(1000)
        #expect(try everything("copy", of: fleet.hosts[1]) == everything("main", of: fleet.hosts[0]))
    }

    @Test func whatSomebodyElseDoesToAMirrorIsUndone() throws {
        fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":7}}"#)
        fleet.pass(50)
        fleet.send(#"{"type":"animate","camera":"copy","update":{"kind":"zoom-to","zoom":15},"durationMs":300}"#, to: 1)
        fleet.pass(2000)
        #expect(try position("copy", of: fleet.hosts[1]) == position("main", of: fleet.hosts[0]))
    }

    @Test func anOldWordThatThereIsNoCameraIsNotBelievedLongerThanTheBrokerSaysOtherwise() throws {
        fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":7}}"#)
        fleet.pass(3000)
        // It arrives late, after the messages about the next camera of this name, which continues to move.
        for topic in ["camera", "settings"] { follower.receive(Publication("gimbal/left/main/\(topic)", [])) }
        fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":8}}"#)
        fleet.pass(500)
        let local = fleet.hosts[1].connect()
        local.send(#"{"type":"set-zoom-range","camera":"copy","maxZoom":4}"#)
        local.send(#"{"type":"move","camera":"copy","update":{"kind":"zoom-to","zoom":3}}"#)
        // The mirror queries the broker by itself only after a minute.
        fleet.pass(15_000, step: 20)
        #expect(try everything("copy", of: fleet.hosts[1]) == everything("main", of: fleet.hosts[0]))
    }

    private static let settingLines = [
        #"{"type":"set-zoom-range","minZoom":3.25,"maxZoom":17.123456}"#,
        #"{"type":"set-target-bounds","bounds":{"southWest":{"latitude":47.27,"longitude":5.87},"northEast":{"latitude":55.06,"longitude":15.04}}}"#,
        #"{"type":"set-viewport","width":1080.5,"height":1920,"padding":{"left":12.25,"bottom":40}}"#,
        #"{"type":"set-gestures","tilt":false,"inertia":true}"#,
    ]

    @Test func aMirrorIsSetAsItsSourceIs() throws {
        let feeder = fleet.hosts[0].connect()
        for line in Self.settingLines {
            feeder.send(line)
            fleet.pass(2500)
            #expect(try everything("copy", of: fleet.hosts[1]) == everything("main", of: fleet.hosts[0]), "\(line)")
            #expect(follower.mirror?.isThere == true, "\(line)")
        }
        feeder.send(#"{"type":"set-target-bounds","bounds":null}"#)
        feeder.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":16}}"#)
        fleet.pass(2500)
        #expect(try everything("copy", of: fleet.hosts[1]) == everything("main", of: fleet.hosts[0]))
        // Settings made locally are undone.
        fleet.send(#"{"type":"set-zoom-range","camera":"copy","maxZoom":4}"#, to: 1)
        fleet.pass(15_000, step: 20)
        #expect(try everything("copy", of: fleet.hosts[1]) == everything("main", of: fleet.hosts[0]))
    }

    @Test func aMirrorThatComesLateIsSetAsItsSourceIs() throws {
        let feeder = fleet.hosts[0].connect()
        for line in Self.settingLines { feeder.send(line) }
        fleet.pass(2500)
        let late = SimulatedBridge(
            fleet, HubHost(epochSeed: 3), node: nil,
            mirror: CameraMirror.Settings(node: "left", camera: "main", local: "late"))
        fleet.hosts.append(late.host)
        fleet.connect(late)
        fleet.pass(2500)
        #expect(try everything("late", of: late.host) == everything("main", of: fleet.hosts[0]))
    }

    @Test func aMirrorOfAnotherSizeKeepsItsViewportAndTakesTheRest() throws {
        var mirror = CameraMirror.Settings(node: "left", camera: "main", local: "small")
        mirror.keepsViewport = true
        let small = SimulatedBridge(fleet, HubHost(epochSeed: 3), node: nil, mirror: mirror)
        fleet.hosts.append(small.host)
        small.host.connect().send(#"{"type":"set-viewport","camera":"small","width":320,"height":480}"#)
        fleet.connect(small)
        let feeder = fleet.hosts[0].connect()
        for line in Self.settingLines { feeder.send(line) }
        fleet.pass(2500)
        let state = try everything("small", of: small.host)
        #expect(state.contains(#""width":320,"height":480,"#) && state.contains(#""maxZoom":17.123456,"#))
        #expect(state.contains(#""tilt":false"#) && small.mirror?.isThere == true)
    }

    @Test func aMirrorIsThereAsSoonAsItsOwnLimitsLetIt() throws {
        // The node's settings are unreadable here, or the node does not publish them.
        fleet.unreadable = ["gimbal/left/main/settings"]
        fleet.cut(follower)
        follower.die()
        let again = SimulatedBridge(
            fleet, fleet.hosts[1], node: nil, mirror: CameraMirror.Settings(node: "left", camera: "main", local: "copy")
        )
        fleet.connect(again)
        fleet.pass(1000)
        let local = fleet.hosts[1].connect()
        local.send(#"{"type":"set-zoom-range","camera":"copy","maxZoom":10}"#)
        fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":14}}"#)
        fleet.pass(30_000, step: 20)
        #expect(try position("copy", of: fleet.hosts[1]).contains(#""zoom":10,"#))
        #expect(again.mirror?.isThere == false)
        local.send(#"{"type":"set-zoom-range","camera":"copy","maxZoom":21}"#)
        fleet.pass(12_000, step: 20)
        #expect(try position("copy", of: fleet.hosts[1]) == position("main", of: fleet.hosts[0]))
    }

    @Test func printedPositionsComeThroughAMirrorUnharmed() throws {
        let (fleet, _, _) = pair(seed: 5)
        let feeder = fleet.hosts[0].connect()
        for _ in 0..<300 {
            let latitude = Double.random(in: -85...85, using: &fleet.random)
            let longitude = Double.random(in: -180..<180, using: &fleet.random)
            let zoom = Double.random(in: 2...21, using: &fleet.random)
            // At the ceiling, where rounding zoom and angle separately may yield values that no camera can have.
            feeder.send(
                #"{"type":"move","update":{"kind":"set-camera","position":{"target":{"latitude":\#(latitude),"longitude":\#(longitude)},"zoom":\#(zoom),"bearing":\#(Double.random(in: 0..<360, using: &fleet.random)),"viewingAngle":90}}}"#
            )
            fleet.pass(50)
            #expect(try position("copy", of: fleet.hosts[1]) == position("main", of: fleet.hosts[0]))
        }
    }

    // MARK: Random histories

    private static var seeds: ClosedRange<UInt64> {
        let text = ProcessInfo.processInfo.environment["GIMBAL_SEEDS"] ?? "1-50"
        let ends = text.split(separator: "-").compactMap { UInt64($0) }
        return (ends.first ?? 1)...(ends.last ?? 50)
    }

    @Test func allAreTheSameAtRestInTheEndWhateverHappened() throws {
        for seed in Self.seeds { try history(seed) }
    }

    private func history(_ seed: UInt64) throws {
        let fleet = SimulatedFleet(seed: seed, HubHost(epochSeed: seed), HubHost(epochSeed: seed + 5000))
        var instance = 0
        func newNode() -> Node.Settings {
            instance += 1
            var node = settings("left", "i\(UInt32.random(in: 0...999, using: &fleet.random))-\(instance)")
            node.publishesEvents = seed % 2 == 0
            return node
        }
        var source = SimulatedBridge(fleet, fleet.hosts[0], node: newNode())
        // Where the broker loses no message that it must acknowledge, the mirror need not query it again.
        let isKind = seed % 3 == 0
        var copy = CameraMirror.Settings(node: "left", camera: "main", local: "copy")
        if isKind { copy.refresh = 1e12 }
        var follower = SimulatedBridge(fleet, fleet.hosts[1], node: nil, mirror: copy)
        let phone = SimulatedProcess(fleet)
        var feeder = fleet.hosts[0].connect()
        fleet.weather = .foul
        if isKind { (fleet.weather.lossOfAcknowledged, fleet.weather.lossToQoS0) = (0, 0) }
        for _ in 0..<120 {
            for process in fleet.processes where fleet.random.chance(0.5) { fleet.connect(process) }
            switch Int.random(in: 0..<32, using: &fleet.random) {
            case 0..<8:
                let scale = Double.random(in: 0.5...2, using: &fleet.random)
                feeder.send(#"{"type":"pinch","phase":"changed","scale":\#(scale)}"#)
            case 8..<12:
                let x = Double.random(in: -90...90, using: &fleet.random)
                let line = #"{"type":"pan","phase":"changed","translation":{"x":\#(x),"y":9},"feed":"p"}"#
                fleet.publish(Publication("gimbal/left/main/gesture", Array(line.utf8)), from: phone)
            case 12, 13: feeder.send(#"{"type":"pinch","phase":"ended"}"#)
            case 14:
                let line = #"{"type":"pan","phase":"ended","feed":"p"}"#
                fleet.publish(Publication("gimbal/left/main/gesture", Array(line.utf8)), from: phone)
            case 15...17:
                let bearing = Double.random(in: 0...360, using: &fleet.random)
                feeder.send(
                    #"{"type":"animate","update":{"kind":"set-bearing","bearing":\#(bearing)},"durationMs":200}"#)
            case 18: feeder.send(#"{"type":"move","update":{"kind":"scroll-by","x":10,"y":4}}"#)
            case 19:
                fleet.send(#"{"type":"move","camera":"copy","update":{"kind":"zoom-to","zoom":4}}"#, to: 1)
            case 20: fleet.cut(source, broker: Double.random(in: 10...3000, using: &fleet.random))
            case 21: fleet.cut(follower)
            case 22: fleet.stopBroker(forgets: fleet.random.chance(0.5))
            case 23, 24: fleet.isUp = true
            case 25:
                source.die()
                source = SimulatedBridge(fleet, fleet.hosts[0], node: newNode())
            case 26:
                follower.die()
                follower = SimulatedBridge(fleet, fleet.hosts[1], node: nil, mirror: copy)
            case 27:
                source.restartDaemon()
                feeder = source.host.connect()
            case 31: follower.restartDaemon()
            case 28: feeder.send(Self.settingLines.randomElement(using: &fleet.random) ?? "")
            case 29: feeder.send(#"{"type":"remove-camera"}"#)
            case 30: fleet.send(#"{"type":"remove-camera","camera":"copy"}"#, to: 1)
            default: break
            }
            fleet.pass(Double.random(in: 1...400, using: &fleet.random), step: 10)
        }
        // Fingers lift, and a last movement meets the same weather, which then clears: no later message repairs a loss.
        fleet.isUp = true
        for process in fleet.processes { fleet.connect(process) }
        feeder.send(#"{"type":"pinch","phase":"ended"}"#)
        fleet.pass(6000, step: 10)
        feeder.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":9},"durationMs":400}"#)
        fleet.pass(1000, step: 10)
        fleet.weather = .fair
        for _ in 0..<100 {
            for process in fleet.processes { fleet.connect(process) }
            fleet.pass(1000, step: 50)
        }
        #expect(source.node?.isOwner == true && source.refusal == nil, "seed \(seed): \(source.log)")
        let expected = try position("main", of: fleet.hosts[0])
        let shown = try position("copy", of: fleet.hosts[1])
        #expect(shown == expected, "seed \(seed)")
        #expect(try everything("copy", of: fleet.hosts[1]) == everything("main", of: fleet.hosts[0]), "seed \(seed)")
        #expect(follower.mirror?.isThere == true, "seed \(seed)")
        let kept = fleet.text("gimbal/left/main/camera") ?? ""
        #expect(kept.contains(expected) && kept.contains(#""moving":false"#), "seed \(seed): \(kept)")
        #expect(source.node?.hasUnacknowledged == false && source.node?.feedCount == 0, "seed \(seed)")
    }
}
