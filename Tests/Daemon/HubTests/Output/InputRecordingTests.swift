// A camera's input, as sent to a subscriber: replayed as a trace, it makes the same camera.

import Hub
import TestSupport
import Testing

@Suite struct InputRecordingTests {
    private let host = HubHost()

    /// Returns where the camera came to: all that a recording shares with the camera's events if it began in
    /// mid-movement, or if the camera moved by itself, which a trace has as a client's animations and gestures.
    private func changes(_ events: [String]) -> [String] {
        events.filter { $0.hasPrefix("camera-changed") }.map { $0.replacing(/\ [a-z]+\ /, with: " ") }
    }

    @Test(arguments: UInt64(1)...10)
    func replayedRecordingMakesTheSameEvents(seed: UInt64) throws {
        var simulation = Simulation(seed: seed, isRecorded: true)
        simulation.run(steps: 1500)
        #expect(simulation.complaints == [])
        #expect(simulation.traces.reduce(0) { $0 + $1.events.count } > 100)
        for (index, trace) in simulation.traces.enumerated() {
            let replay = try TraceTape.play(trace.lines)
            #expect(replay.errors == [], "seed \(seed), trace \(index)")
            let isWhole = trace.beganAtRest && !trace.events.contains { $0.contains(/\b(home|attract)\b/) }
            let wanted = isWhole ? trace.events : changes(trace.events)
            let found = isWhole ? replay.events : changes(replay.events)
            // A trace that is cut off comes to rest differently.
            let isSame = trace.isCut ? found.starts(with: wanted) : found == wanted
            let place = zip(found, wanted).enumerated().first { $1.0 != $1.1 }
            #expect(isSame, "seed \(seed), trace \(index): \(found.count), \(wanted.count), \(place as Any)")
        }
    }

    /// Returns a client that follows a camera's input and has read the opening of its trace.
    private func recorder(_ host: HubHost, camera: String = "main") throws -> HubPeer {
        let peer = host.connect()
        peer.send(#"{"type":"subscribe","camera":"\#(camera)","events":["gesture"]}"#)
        #expect(try peer.types() == ["subscribed", "gesture"])
        return peer
    }

    private func lines(_ peer: HubPeer) throws -> [JSON] { try peer.lines().compactMap { try JSON($0)["line"] } }

    @Test func recordingOfAFlingHasItsMeasuredVelocity() throws {
        let (recorder, feed) = (try recorder(host), host.connect())
        feed.send(#"{"type":"pan","phase":"began","id":1,"camera":"main"}"#)
        host.pass(50)
        feed.send(#"{"type":"pan","phase":"ended","translation":{"x":20},"unknown":7}"#)
        let told = try lines(recorder)
        #expect(told.count == 2 && told[0]["id"] == nil && told[0]["camera"] == nil && told[1]["unknown"] == nil)
        #expect(told[1]["velocity"] == .object(["x": .number(400), "y": .number(0)]))
    }

    @Test func recordedVelocityIsClampedToTheLargestThatALineCarries() throws {
        let (recorder, feed) = (try recorder(host), host.connect())
        feed.send(#"{"type":"pan","phase":"began","timeMs":0}"#)
        feed.send(#"{"type":"pan","phase":"ended","timeMs":1e-300,"translation":{"x":-20}}"#)
        let told = try lines(recorder)
        #expect(told.count == 2)
        #expect(told.last?["velocity"] == .object(["x": .number(-1e9), "y": .number(0)]))
    }

    @Test func gesturesOfADisconnectedClientAreRecordedAsCancelled() throws {
        let (recorder, first, second) = (try recorder(host), host.connect(), host.connect())
        first.send(#"[{"type":"pan","phase":"began","gesture":"a"},{"type":"tilt","phase":"began"}]"#)
        second.send(#"{"type":"pan","phase":"began","gesture":"a"}"#)
        first.close()
        second.send(#"{"type":"pan","phase":"ended","gesture":"a"}"#)
        let told = try lines(recorder)
        // Both feeds use the same name; a trace distinguishes them.
        #expect(told[1]["gesture"]?.number == 1)
        let cancelled = told[2].array ?? []
        #expect(cancelled.map { $0["type"]?.string } == ["pan", "tilt"])
        #expect(cancelled.allSatisfy { $0["phase"]?.string == "cancelled" && $0["gesture"] == nil })
        #expect(told[3]["gesture"]?.number == 1 && told.count == 4)
    }

    @Test func aQuestionInAnArrayThatIsPlayedAgainIsNotRecorded() throws {
        let (recorder, feed) = (try recorder(host), host.connect())
        feed.send(#"{"type":"trace","version":1,"speed":"max","loop":2}"#)
        feed.send(#"[{"type":"get-camera"},{"type":"move","timeMs":0,"update":{"kind":"zoom-in"}}]"#)
        feed.send(#"{"type":"trace-end"}"#)
        host.pass(1000)
        let told = try lines(recorder).map { $0["type"]?.string }
        #expect(told.count { $0 == "move" } == 2 && !told.contains(nil), "\(told)")
    }

    @Test func recordingLeavesOutRejectedLinesAndQueries() throws {
        let (recorder, feed) = (try recorder(host), host.connect())
        feed.send(#"[{"type":"move","update":{"kind":"zoom-in"}},{"type":"pinch","phase":"changed","scale":0}]"#)
        feed.send(#"{"type":"get-camera"}"#)
        feed.send(#"{"type":"move","camera":"left","update":{"kind":"zoom-in"}}"#)
        #expect(recorder.lines().isEmpty)
        feed.send(
            #"[{"type":"get-camera"},{"type":"move","camera":"left","update":{"kind":"zoom-in"}},{"type":"set-gestures"}]"#
        )
        let told = try lines(recorder)
        #expect(told.map { $0["type"]?.string } == ["set-gestures"])
    }

    @Test func recordingBeginsOnceNothingMovesByItself() throws {
        let (recorder, feed) = (host.connect(), host.connect())
        feed.send(#"{"type":"animate","durationMs":100,"update":{"kind":"zoom-to","zoom":3}}"#)
        host.pass(20)
        recorder.send(#"{"type":"subscribe","events":["gesture","idle"]}"#)
        feed.send(#"{"type":"set-zoom-range","maxZoom":9}"#)
        host.pass(20)
        #expect(try recorder.types() == ["subscribed"])
        host.pass(200)
        let told = try recorder.newMessages()
        #expect(told.map { $0["type"]?.string } == ["idle", "gesture"])
        #expect(told[1]["line"]?["position"]?["zoom"]?.number == 3 && told[1]["line"]?["maxZoom"]?.number == 9)
    }

    @Test func recorderChangesNothingForOtherSubscribers() throws {
        func events(isRecorded: Bool) throws -> [String] {
            let host = HubHost()
            let (slow, feed) = (host.subscriber(), host.connect())
            let recorder = isRecorded ? try recorder(host) : nil
            slow.makeRoom(0)
            for index in 0..<1200 {
                // A frame that changes nothing is not an event, but it is input.
                feed.send(#"{"type":"set-gestures","fling":\#(index % 2 == 0)}"#)
                if index < 1000 {
                    feed.send(#"{"type":"move","update":{"kind":"set-bearing","bearing":\#(index % 300)}}"#)
                }
                feed.compact()
            }
            #expect(recorder.map { $0.lines().count } ?? 2200 == 2200)
            slow.readOn()
            return slow.lines()
        }
        #expect(try events(isRecorded: true) == events(isRecorded: false))
    }

    @Test func slowRecorderGetsLagged() throws {
        let (slow, feed) = (try recorder(host), host.connect())
        slow.makeRoom(0)
        for index in 0..<20_000 { feed.send(#"{"type":"set-gestures","fling":\#(index % 2 == 0)}"#) }
        slow.readOn()
        let told = try slow.newMessages()
        #expect(told.last?["type"]?.string == "lagged" && told.last?["missed"]?.number ?? 0 > 10_000)
    }
}
