// The promise: the same trace gives the same bytes, at any speed, in any run, however the bytes arrive.

import Foundation
import Hub
import TestSupport
import Testing

/// Replays a trace in its own hub; returns the events that a subscriber sees, and the answer to the feed.
private func replay(
    _ trace: [UInt8], speed: String? = nil, seed: UInt64? = nil, run: UInt64 = 7
) throws -> (events: [String], answer: JSON) {
    let host = HubHost(epochSeed: run)
    let (subscriber, feed) = (host.subscriber(), host.connect())
    var bytes = trace
    if let speed { bytes = try Traces.withSpeed(speed, bytes) }
    if let seed {
        var random = Seeded(seed)
        var start = 0
        while start < bytes.count {
            let end = min(start + random.integer(1...400), bytes.count)
            feed.send(Array(bytes[start..<end]))
            if random.chance(0.2) { host.pass(random.number(0...50)) }
            start = end
        }
    } else {
        feed.send(bytes)
    }
    feed.halfClose()
    var answer: JSON?
    while answer == nil, let line = feed.receive() {
        let json = try JSON(line)
        if json["type"]?.string == "trace-ended" { answer = json }
    }
    return (subscriber.lines(), try #require(answer))
}

enum Traces {
    /// Returns the trace with another speed in its header.
    static func withSpeed(_ speed: String, _ trace: [UInt8]) throws -> [UInt8] {
        let end = try #require(trace.firstIndex(of: 0x0a))
        guard case .object(var header) = try JSON(String(decoding: trace[..<end], as: UTF8.self)) else { return trace }
        header["speed"] = try JSON(speed)
        return Array(JSON.object(header).text.utf8) + trace[end...]
    }

    /// Returns the project's own traces, and the recorded ones if present.
    static func all() throws -> [(name: String, bytes: [UInt8])] {
        let own = try Files.list("Protocols/examples/traces", "ndjson").map {
            ($0.lastPathComponent, Array(try Data(contentsOf: $0)))
        }
        return try own + Files.recordedTraces()
    }
}

@Suite struct ReplayTests {
    private let host = HubHost()

    @Test func lateWakeOfTheLoopDoesNotDelayLaterLines() throws {
        let (feed, other) = (host.connect(), host.connect())
        feed.send(#"{"type":"trace","version":1}"#)
        for step in 0...4 {
            let update = #"{"kind":"set-bearing","bearing":\#(step + 1)}"#
            feed.send(#"{"type":"move","timeMs":\#(step * 100),"update":\#(update)}"#)
        }
        // Woken 40 ms late at 140, again at 210, when the line at 200 is due.
        for _ in 0..<3 { host.jump(70) }
        #expect(try other.ask(#"{"type":"get-camera"}"#)["position"]?["bearing"]?.number == 3)
    }

    @Test(.needsRecordings) func recordedTracesAreAmongThoseThatAreReplayed() throws {
        #expect(try Files.recordedTraces().count > 3)
    }

    @Test func theSameTraceGivesTheSameBytes() throws {
        for (name, trace) in try Traces.all() {
            let reference = try replay(trace, speed: "\"max\"")
            #expect(reference.events.count > 4, "\(name)")
            for speed in ["1", "4", "0.37", "1000"] {
                let other = try replay(trace, speed: speed)
                #expect(other.events == reference.events, "\(name) at \(speed)")
                #expect(other.answer == reference.answer, "\(name) at \(speed)")
            }
            for seed in UInt64(1)...6 {
                for speed in ["\"max\"", "1"] {
                    let other = try replay(trace, speed: speed, seed: seed)
                    #expect(other.events == reference.events, "\(name) in shreds, seed \(seed), speed \(speed)")
                    #expect(other.answer == reference.answer, "\(name) in shreds, seed \(seed), speed \(speed)")
                }
            }
        }
    }

    @Test func runsDifferOnlyInTheEpochOfReset() throws {
        let trace = Array(
            """
            {"type":"trace","version":1,"speed":"max"}
            {"type":"move","timeMs":0,"update":{"kind":"zoom-in"}}
            """.utf8)
        let (first, second) = (try replay(trace, run: 1).events, try replay(trace, run: 2).events)
        #expect(first.count == 4 && first.dropFirst() == second.dropFirst())
        let epochs = try [first[0], second[0]].map { try #require(try JSON($0)["epoch"]?.string) }
        #expect(epochs[0] != epochs[1])
        #expect(first[0].hasSuffix(#","epoch":"\#(epochs[0])"}"#), "nothing but the end of the line differs")
        #expect(first[0].dropLast(epochs[0].count + 2) == second[0].dropLast(epochs[1].count + 2))
    }

    @Test func streamsOfAllTracesFollowTheGrammar() throws {
        var all: [String] = []
        for (name, trace) in try Traces.all() {
            let (events, answer) = try replay(trace, speed: "\"max\"")
            all += events
            var checker = StreamChecker(isEvery: true)
            for line in events {
                if let complaint = checker.take(try JSON(line)) { Issue.record("\(name): \(complaint): \(line)") }
            }
            let last = try JSON(try #require(events.last))
            #expect(last["type"]?.string == "idle" && last["position"] == answer["position"], "\(name)")
            #expect(answer["rejected"]?.number == 0, "\(name)")
            let lines = trace.split(separator: 0x0a).dropFirst().filter {
                !$0.starts(with: "{\"type\":\"trace-end\"".utf8)
            }.count
            #expect(answer["events"]?.number == Double(lines), "\(name)")
        }
        #expect(try Schema.complaints(all, from: .server) == "")
    }

    @Test func replayEmitsEventsAtThePaceOfItsSpeed() throws {
        let trace = """
            {"type":"trace","version":1,"speed":2}
            {"type":"pinch","phase":"began","timeMs":5000}
            {"type":"pinch","phase":"changed","timeMs":5100,"scale":2}
            {"type":"pinch","phase":"ended","timeMs":6000}
            {"type":"trace-end"}

            """
        let feed = host.connect()
        feed.send(#"{"type":"subscribe"}"#)
        feed.send(Array(trace.utf8))
        #expect(feed.lines().count == 2)
        host.pass(49)
        #expect(feed.lines().isEmpty)
        host.pass(2)
        #expect(feed.lines().count == 2)
        host.pass(440)
        #expect(feed.lines().isEmpty)
        host.pass(20)
        let end = feed.lines()
        #expect(end.count == 2)
        #expect(try JSON(end[0])["timeMs"]?.number == 1000)
        #expect(try JSON(end[1])["durationMs"]?.number == 1000)
    }

    @Test func disconnectEndsTheReplayAndFreesTheCamera() throws {
        let (feed, other) = (host.connect(), host.subscriber())
        feed.send(#"{"type":"trace","version":1}"#)
        feed.send(#"{"type":"pinch","phase":"began","timeMs":0}"#)
        feed.send(#"{"type":"pinch","phase":"changed","timeMs":1,"scale":3}"#)
        feed.send(#"{"type":"pinch","phase":"changed","timeMs":90000,"scale":4}"#)
        host.pass(10)
        #expect(try other.ask(#"{"type":"stop","id":1}"#)["code"]?.string == "busy")
        feed.close()
        other.send(#"{"type":"stop","id":2}"#)
        let lines = try other.newMessages()
        #expect(lines.map { $0["type"]?.string } == ["idle", "ok"])
    }

    @Test func traceOfAHalfClosedClientIsPlayedToItsEnd() throws {
        let feed = host.connect()
        feed.send(#"{"type":"trace","version":1}"#)
        for time in stride(from: 0, through: 5000, by: 100) {
            feed.send(#"{"type":"rotate","phase":"changed","timeMs":\#(time),"rotationDeg":\#(time / 100)}"#)
        }
        feed.halfClose()
        let answer = try JSON(try #require(feed.receive()))
        #expect(answer["events"]?.number == 51 && answer["durationMs"]?.number == 5000)
        #expect(feed.isClosed())
    }

    @Test(arguments: ["", #","untilMs":1000"#, #","loop":true"#])
    func clientThatGoesBeforeItsTraceHasBeenPlayedIsForgottenOnceThatHasEnded(playback: String) {
        let (feed, other) = (host.connect(), host.connect())
        feed.send(#"{"type":"trace","version":1\#(playback)}"#)
        for time in [0, 1000, 2000] { feed.send(#"{"type":"stop","timeMs":\#(time),"id":\#(time)}"#) }
        feed.halfClose()
        // The answer to the next line finds the connection closed.
        feed.breakOff()
        for _ in 0..<5 { host.pass(1000) }
        other.send(#"{"type":"end-replay"}"#)
        host.pass(5000)
        #expect(feed.isOver)
    }

    @Test func traceAfterATooLongHeaderIsNotTakenForLiveInput() throws {
        let feed = host.connect()
        let padding = String(repeating: "x", count: 70_000)
        feed.send("{\"type\":\"trace\",\"version\":1,\"note\":\"\(padding)\"}")
        feed.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        #expect(try feed.lines().map { try JSON($0)["code"]?.string } == ["line-too-long"])
        #expect(feed.isOver)
        let probe = host.connect()
        #expect(try probe.ask(#"{"type":"get-camera"}"#)["position"]?["zoom"]?.number == 2)
    }

    @Test func replayFarAheadOfItsClockIsNotReadFrom() throws {
        let feed = host.connect()
        feed.send(#"{"type":"trace","version":1,"speed":0.001}"#)
        for time in 0..<4000 where feed.isReading {
            feed.send(#"{"type":"rotate","phase":"changed","timeMs":\#(time),"rotationDeg":\#(time)}"#)
        }
        #expect(!feed.isReading)
        host.pass(4_000_000)
        #expect(feed.isReading)
    }

    @Test func timeOfOneObjectIsThatOfItsWholeArray() throws {
        func trace(_ own: (Int) -> String) -> [UInt8] {
            var lines = [#"{"type":"trace","version":1}"#]
            for (time, phase) in [(0, "began"), (20, "changed"), (40, "changed"), (60, "ended")] {
                let pinch = #"{"type":"pinch","phase":"\#(phase)","timeMs":\#(time + 5000)}"#
                let pan = #"{"type":"pan","phase":"\#(phase)"\#(own(time + 5000)),"translation":{"x":\#(time),"y":0}}"#
                lines.append("[\(pinch),\(pan)]")
            }
            return Array((lines.joined(separator: "\n") + "\n").utf8)
        }
        let named = try replay(trace { ",\"timeMs\":\($0)" }, speed: "\"max\"")
        let once = try replay(trace { $0 == 5060 ? ",\"timeMs\":5060" : "" }, speed: "\"max\"")
        #expect(named.events.count > 50 && named.events == once.events)
    }

    @Test func liveClockContinuesFromTheEndOfTheTrace() throws {
        let feed = host.connect()
        feed.send(#"{"type":"trace","version":1,"speed":"max"}"#)
        feed.send(#"{"type":"rotate","phase":"changed","timeMs":0}"#)
        feed.send(#"{"type":"rotate","phase":"changed","timeMs":70000,"rotationDeg":4}"#)
        feed.send(#"{"type":"trace-end"}"#)
        feed.send(#"{"type":"subscribe"}"#)
        host.pass(500)
        #expect(try feed.ask(#"{"type":"move","update":{"kind":"zoom-in"}}"#)["timeMs"]?.number == 70500)
    }

    // MARK: Golden results

    /// The results of the project's own traces: number of lines, their checksum, and the last line.
    /// `GIMBAL_RECORD=1 swift test --filter golden` rewrites them.
    @Test func goldenResultsAreThoseOfTheSamples() throws {
        let file = Files.root.appendingPathComponent("Tests/Daemon/HubTests/Golden/traces.txt")
        var found = ""
        for trace in Files.list("Protocols/examples/traces", "ndjson") {
            // The epoch of `reset` is the run's, not the trace's.
            let events = try replay(Array(try Data(contentsOf: trace)), speed: "\"max\"").events.map {
                $0.hasPrefix(#"{"type":"reset""#) ? $0.replacing(/,"epoch":"[^"]*"}$/, with: "}") : $0
            }
            let bytes = events.joined(separator: "\n").utf8
            // FNV-1a, 64 bits.
            let checksum = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
            found += "\(trace.lastPathComponent) \(events.count) \(String(checksum, radix: 16)) \(events.last ?? "")\n"
        }
        if ProcessInfo.processInfo.environment["GIMBAL_RECORD"] != nil {
            try Data(found.utf8).write(to: file)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == found)
    }

    @Test func replayOfADisconnectedClientIsPlayedAtOnce() throws {
        for speed in ["1e-300", "0.001", "1"] {
            let host = HubHost()
            let (feed, other) = (host.connect(), host.connect())
            feed.send("{\"type\":\"trace\",\"version\":1,\"speed\":\(speed)}")
            feed.send(#"{"type":"animate","timeMs":0,"durationMs":3600000,"update":{"kind":"zoom-to","zoom":9}}"#)
            feed.close()
            while host.moveOn() {}
            #expect(try other.ask(#"{"type":"get-camera"}"#)["position"]?["zoom"]?.number == 9)
            #expect(try other.ask(#"{"type":"remove-camera","id":1}"#)["type"]?.string == "ok", "speed \(speed)")
        }
    }

    @Test func queryWithoutAnAnswerCountsAsRejectedInAReplay() throws {
        let feed = host.connect()
        feed.send(
            #"{"type":"trace","version":1,"speed":"max","position":{"target":{"latitude":0,"longitude":0},"zoom":18,"viewingAngle":65}}"#
        )
        feed.send(#"{"type":"unproject","point":{"x":0,"y":-5000}}"#)
        feed.send(#"{"type":"trace-end"}"#)
        let lines = try feed.newMessages()
        #expect(lines.map { $0["type"]?.string } == ["error", "trace-ended"])
        #expect(lines.last?["rejected"]?.number == 1)
    }

    @Test func stepAtTheEndLeavesTheCameraFree() throws {
        let host = HubHost()
        let (owner, other) = (host.connect(), host.connect())
        for line in [
            #"{"type":"trace","version":1,"speed":"max","pauseAtEnd":true}"#,
            #"{"type":"move","timeMs":0,"update":{"kind":"zoom-in"}}"#, #"{"type":"trace-end"}"#,
        ] { owner.send(line) }
        let steps = #"{"type":"step-replay","id":1}"# + "\n" + #"{"type":"move","id":2,"update":{"kind":"zoom-in"}}"#
        other.send(steps)
        #expect(try other.newMessages().map { $0["type"]?.string } == ["ok", "ok"])
    }
}
