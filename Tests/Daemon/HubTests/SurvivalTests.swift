// A camera's state and behaviour after everything that may happen to it in a hub equal those of a camera that was left
// alone. `CameraChange` lists what can differ between cameras.

import Hub
import TestSupport
import Testing

/// A hub with a client that feeds its camera and one that follows it.
private struct Scene {
    let host = HubHost()
    private(set) var feeder: HubPeer
    private(set) var watcher: HubPeer

    init() { (feeder, watcher) = (host.connect(), host.subscriber()) }

    mutating func connectAnew() { (feeder, watcher) = (host.connect(), host.subscriber()) }

    func send(_ lines: [String]) {
        for line in lines {
            feeder.send(line)
            host.pass(8)
        }
    }

    /// Returns the camera's answer about itself.
    func answer() throws -> JSON {
        let peer = host.connect()
        peer.send(#"{"type":"get-camera"}"#)
        defer { peer.close() }
        return try JSON(#require(peer.receive()))
    }

    /// Probes the camera's behaviour from now on; returns the resulting events.
    func probe() -> [String] {
        _ = watcher.lines()
        send(CameraChange.probe)
        host.pass(4000)
        return watcher.lines()
    }

    /// Ends the hub in good order and restarts it with the saved state as text.
    mutating func stopAndStart() throws {
        host.hub.end(at: host.now)
        host.turn()
        host.restart(with: try SavedState(host.hub.savedState(isLast: true).bytes), keepsEpochs: true)
        connectAnew()
    }
}

@Suite struct SurvivalTests {
    /// Returns a trace that changes a camera and then probes it, and how long the change takes.
    private static func trace(_ change: CameraChange) -> (lines: [String], changedMs: Int) {
        let changes = change.lines.filter { !$0.contains("\"marker\"") }
        let lines = (changes + CameraChange.probe).enumerated().map { index, line in
            line.dropLast() + #","timeMs":\#(index * 8)}"#
        }
        return (lines.map(String.init), (changes.count - 1) * 8)
    }

    // MARK: The list

    /// Members that no change alters are missing in the list; settings that alter no member are missing in the answer.
    @Test func listChangesEveryMemberThatACameraTellsOfItself() throws {
        let new = try Scene().answer().leaves
        var unchanged = Set(new.keys).subtracting(["type", "camera"])
        var untold = try Set(CameraChange.settings.map { try JSON($0.lines[0])["type"]?.string })
        for change in CameraChange.all {
            let scene = Scene()
            scene.send(change.lines)
            let told = try scene.answer().leaves
            let changed = told.filter { new[$0.key] != $0.value }.keys
            unchanged.subtract(changed)
            // Bounds are null in a new camera.
            if told["targetBounds"] == nil { unchanged.remove("targetBounds") }
            if !changed.isEmpty, change.lines.count == 1 { untold.remove(try JSON(change.lines[0])["type"]?.string) }
            let refused = scene.feeder.messages.filter { $0["type"]?.string == "error" }
            #expect(refused.isEmpty, "\(change): \(refused.map(\.text))")
        }
        #expect(unchanged.isEmpty)
        #expect(untold.isEmpty)
    }

    @Test func listHasEveryRequestThatMovesOrSetsACamera() throws {
        let schema = try JSON(Files.text("Protocols/gimbal.schema.json"))
        guard case .object(let definitions)? = schema["$defs"] else { throw JSONMissing() }
        let types = definitions.filter { $0.key.hasPrefix("client.") && $0.value["properties"]?["timeMs"] != nil }
        let wanted = Set(types.keys.map { String($0.dropFirst("client.".count)) }).subtracting(["remove-camera"])
        let listed = try CameraChange.all.flatMap(\.lines).compactMap { try JSON($0)["type"]?.string }
        #expect(wanted.subtracting(listed).isEmpty && wanted.count > 10)
    }

    private struct JSONMissing: Error {}

    // MARK: Paths

    /// There is one after each line. A follower and a recorder are told the same as without them.
    @Test(arguments: CameraChange.all, [false, true])
    func restartsInPlaceChangeNothingOfACamera(_ change: CameraChange, namesGestures: Bool) throws {
        func play(handsOver: Bool) throws -> (JSON, [[String]]) {
            let scene = Scene()
            let recorder = scene.host.subscriber(#","events":["gesture"]"#)
            func send(_ lines: [String]) throws {
                for line in lines {
                    let name = namesGestures ? #""gesture":"x","# : ""
                    scene.send([line.replacing(#""phase":"#, with: #"\#(name)"phase":"#)])
                    if handsOver { try scene.host.handOver() }
                    // Motions go on beyond the restart.
                    scene.host.pass(20)
                }
            }
            try send(change.lines)
            let (answer, told) = (try scene.answer(), [scene.watcher.lines(), recorder.lines()])
            try send(CameraChange.probe)
            scene.host.pass(4000)
            return (answer, told + [scene.watcher.lines(), recorder.lines()])
        }
        let (alone, other) = (try play(handsOver: false), try play(handsOver: true))
        #expect(alone == other)
        #expect(alone.1[2].count > 10 && alone.1[3].count >= 10)
    }

    @Test(arguments: CameraChange.all)
    func cameraThatWasSavedGoesOnAsOneThatWasStopped(_ change: CameraChange) throws {
        // The other camera is stopped by a command, and its client leaves, so that its events have other numbers.
        func play(stops: Bool) throws -> ([String: JSON], [String?]) {
            var scene = Scene()
            scene.send(change.lines)
            if stops {
                try scene.stopAndStart()
            } else {
                scene.feeder.send(#"{"type":"stop"}"#)
                scene.feeder.close()
                scene.connectAnew()
            }
            let told = try scene.answer().leaves.filter { $0.key != "seq" }
            return (told, try scene.probe().map { TraceTape.event(try JSON($0)) })
        }
        let (alone, other) = (try play(stops: false), try play(stops: true))
        #expect(alone == other)
        #expect(alone.1.count > 10)
    }

    @Test(arguments: CameraChange.all)
    func cameraThatIsSoughtGoesOnAsInAnUnbrokenRun(_ change: CameraChange) throws {
        func play(seeks: Bool) throws -> (JSON, [String]) {
            let host = HubHost()
            let (feeder, watcher, steerer) = (host.connect(), host.subscriber(), host.connect())
            let (lines, changedMs) = Self.trace(change)
            feeder.send(#"{"type":"trace","version":1,"paused":true}"#)
            for line in lines { feeder.send(line) }
            feeder.halfClose()
            func steer(_ request: String) {
                steerer.send(#"{"type":\#(request),"camera":"main"}"#)
                host.pass(0)
            }
            steer(#""seek-replay","toMs":\#(changedMs)"#)
            let told = try seeks ? nil : answer(steerer)
            if seeks {
                steer(#""seek-replay","toMs":\#(changedMs + 60)"#)
                steer(#""seek-replay","toMs":0"#)
                steer(#""seek-replay","toMs":\#(changedMs)"#)
            }
            let again = try told ?? answer(steerer)
            _ = watcher.lines()
            steer(#""resume-replay""#)
            host.pass(5000)
            return (again, watcher.lines().filter { $0.contains("\"seq\"") })
        }
        let (alone, other) = (try play(seeks: false), try play(seeks: true))
        #expect(alone == other)
        // A seek gives the same result as playing.
        let host = HubHost()
        let (feeder, watcher) = (host.connect(), host.subscriber())
        feeder.send(#"{"type":"trace","version":1,"speed":"max"}"#)
        for line in Self.trace(change).lines { feeder.send(line) }
        feeder.halfClose()
        host.pass(1)
        #expect(watcher.lines().suffix(alone.1.count) == alone.1[...])
        #expect(alone.1.count > 10)
    }

    /// The camera in a trace's header is handed over as a state to seek to.
    @Test(arguments: CameraChange.all)
    func replayGoesBackToTheCameraOfItsHeaderAfterARestart(_ change: CameraChange) throws {
        let scene = Scene()
        scene.send(change.lines + [#"{"type":"stop"}"#])
        let recorder = scene.host.connect()
        recorder.send(#"{"type":"subscribe","events":["gesture"]}"#)
        let told = try #require(recorder.lines().first { $0.contains(#""line":"#) })
        let start = try #require(told.firstRange(of: #""line":"#)?.upperBound)
        let header = told[start...].dropLast().replacing(#"{"type":"trace""#, with: #"{"type":"trace","paused":true"#)
        let lines = CameraChange.probe.enumerated().map { $1.dropLast() + #","timeMs":\#($0 * 8)}"# }
        func play(restarts: Bool) throws -> (JSON, [String]) {
            let host = HubHost()
            let (feeder, watcher, steerer) = (host.connect(), host.subscriber(), host.connect())
            for line in [String(header)] + lines.map(String.init) { feeder.send(line) }
            feeder.halfClose()
            for time in [60, 0] {
                steerer.send(#"{"type":"seek-replay","camera":"main","toMs":\#(time)}"#)
                host.pass(0)
                if restarts { try host.handOver() }
            }
            let answer = try answer(steerer)
            _ = watcher.lines()
            steerer.send(#"{"type":"resume-replay","camera":"main"}"#)
            host.pass(5000)
            return (answer, watcher.lines().filter { $0.contains("\"seq\"") })
        }
        let (alone, other) = (try play(restarts: false), try play(restarts: true))
        #expect(alone == other)
        #expect(alone.1.count > 10)
    }

    private func answer(_ peer: HubPeer) throws -> JSON {
        _ = peer.lines()
        return try peer.ask(#"{"type":"get-camera","camera":"main"}"#)
    }
}
