// Positions that a camera receives ahead of their time, and queries for a given time.

import TestSupport
import Testing

@testable import Hub

@Suite struct PlayOutTests {
    private let host = HubHost()
    private let mirror: HubPeer
    private let watcher: HubPeer

    /// The wall clock when the host starts: a multiple of 1/60 s.
    private static let start = 1_764_115_264_000.0

    init() {
        host.wallTime = { Self.start + $0 - 1000 }
        (mirror, watcher) = (host.connect(), host.subscriber())
    }

    /// Returns the request for a zoom this many milliseconds after the start.
    private func line(zoom: Double, at time: Double, moving: Bool = true, longitude: Double = 0) -> String {
        #"{"type":"present","presentAt":\#(Self.start + time),"position":{"target":{"latitude":0,"longitude":\#(longitude)},"#
            + #""zoom":\#(zoom)},"moving":\#(moving)}"#
    }

    /// Puts the camera at a zoom this many milliseconds after the start.
    private func present(zoom: Double, at time: Double, moving: Bool = true, longitude: Double = 0) {
        mirror.send(line(zoom: zoom, at: time, moving: moving, longitude: longitude))
    }

    /// Returns what the watcher has read since the last call: kind, time and zoom of each event.
    private func events() throws -> [String] {
        try watcher.lines().map {
            let event = try JSON($0)
            let zoom = try #require(event["position"]?["zoom"]?.number)
            return "\(event["type"]?.string ?? "") \(event["timeMs"]?.number ?? -1) \(zoom)"
        }
    }

    /// Returns where the camera is at a time, and the time of the answer, both since the start.
    private func state(at time: Double, of peer: HubPeer? = nil) throws -> (zoom: Double, time: Double) {
        let peer = peer ?? mirror
        _ = peer.lines()
        let answer = try peer.ask(#"{"type":"get-camera","atWallTime":\#(Self.start + time)}"#)
        return (
            try #require(answer["position"]?["zoom"]?.number), try #require(answer["wallTime"]?.number) - Self.start
        )
    }

    @Test func cameraIsAtEachPositionAtItsTimeAndBetweenThemInFramesOfTheWallClock() throws {
        present(zoom: 4, at: 100)
        present(zoom: 6, at: 150)
        present(zoom: 7, at: 175, moving: false)
        #expect(try events().isEmpty)
        host.pass(300)
        #expect(
            try events() == [
                "move-started 100.0 2.0", "camera-changed 100.0 4.0", "camera-changed 116.666 4.66664",
                "camera-changed 133.333 5.33332", "camera-changed 150.0 6.0", "camera-changed 166.666 6.66664",
                "camera-changed 175.0 7.0", "idle 175.0 7.0",
            ])
    }

    @Test func positionThatComesLateIsThereAtOnce() throws {
        host.pass(500)
        present(zoom: 4, at: 100, moving: false)
        #expect(try events().last == "idle 500.0 4.0")
        #expect(host.hub.deadline == nil)
    }

    @Test func positionThatComesLateIsThereBeforeTheNextRequest() throws {
        host.pass(500)
        let late = line(zoom: 4, at: 100, moving: false)
        mirror.send(late + "\n" + #"{"type":"move","update":{"kind":"zoom-to","zoom":9}}"#)
        #expect(
            try events() == [
                "move-started 500.0 2.0", "camera-changed 500.0 4.0", "idle 500.0 4.0", "move-started 500.0 4.0",
                "camera-changed 500.0 9.0", "idle 500.0 9.0",
            ])
    }

    @Test func positionThatComesLateIsThereBeforeTheNextGesture() throws {
        host.pass(500)
        mirror.send(
            line(zoom: 4, at: 100, moving: false) + "\n"
                + #"{"type":"pinch","phase":"began","focus":{"x":195,"y":422},"scale":1}"# + "\n"
                + #"{"type":"pinch","phase":"changed","focus":{"x":195,"y":422},"scale":2}"#)
        #expect(try events().last == "camera-changed 500.0 5.0")
    }

    @Test func ofPositionsThatComeLateTogetherOnlyTheLastIsShown() throws {
        host.pass(500)
        let lines = (0..<30).map { line(zoom: 4 + Double($0) / 10, at: 100 + 10 * Double($0)) }
        mirror.send(lines.joined(separator: "\n"))
        host.turn()
        #expect(try events() == ["move-started 500.0 2.0", "camera-changed 500.0 6.9"])
    }

    @Test func batchHasOneEventAlthoughAPositionInItComesLate() throws {
        host.pass(500)
        let moves = [5, 7].map { #"{"type":"move","update":{"kind":"zoom-to","zoom":\#($0)}}"# }
        let late = line(zoom: 6, at: 100, moving: false)
        mirror.send("[\(moves[0]),\(late),\(moves[1])]")
        host.turn()
        #expect(
            try events() == [
                "move-started 500.0 2.0", "camera-changed 500.0 7.0", "idle 500.0 7.0", "move-started 500.0 7.0",
                "camera-changed 500.0 6.0", "idle 500.0 6.0",
            ])
    }

    @Test func positionTakesThePlaceOfLaterOnes() throws {
        present(zoom: 4, at: 100)
        present(zoom: 8, at: 200)
        present(zoom: 5, at: 150, moving: false)
        host.pass(400)
        #expect(try events().last == "idle 150.0 5.0")
    }

    @Test func cameraWaitsAtTheLastPositionAndGoesOnWhenTheNextComes() throws {
        present(zoom: 4, at: 100)
        host.pass(300)
        #expect(try events() == ["move-started 100.0 2.0", "camera-changed 100.0 4.0"])
        present(zoom: 5, at: 400, moving: false)
        #expect(try state(at: 340).zoom == 4)
        #expect(try state(at: 375).zoom == 4.5)
        host.pass(200)
        #expect(try events().last == "idle 400.0 5.0")
    }

    @Test func standstillIsOneStep() throws {
        for index in 0..<50 { present(zoom: 3 + Double(index) / 10, at: 40 * Double(index)) }
        host.pass(500)
        _ = try events()
        host.jump(1000)
        #expect(try events() == ["camera-changed 1500.0 6.75"])
    }

    @Test func clockThatIsSetMovesTheTimesWithIt() throws {
        present(zoom: 4, at: 5000, moving: false)
        host.pass(10)
        host.wallTime = { Self.start + 4900 + $0 - 1000 }
        host.pass(89)
        #expect(try events().isEmpty)
        host.pass(12)
        #expect(try events().last?.hasPrefix("idle") == true)
    }

    /// Returns time and zoom of each change that the watcher has read since the last call.
    private func changes() throws -> [(time: Double, zoom: Double)] {
        try events().filter { $0.hasPrefix("camera-changed") }.map {
            let numbers = $0.split(separator: " ").compactMap { Double($0) }
            return (numbers[0], numbers[1])
        }
    }

    /// Sets the wall clock back by a second, as the kernel does after a leap second.
    private func leap() { host.wallTime = { [clock = host.wallTime] in clock($0) - 1000 } }

    @Test func leapSecondInMidGestureHoldsTheCameraUpForTheDelayAtMost() throws {
        // The zoom shows the time at the source, which is shown 120 ms later.
        for time in stride(from: 0.0, through: 2000, by: 40) {
            if time == 1000 { leap() }
            present(zoom: 4 + time / 1000, at: time + 120 - (time < 1000 ? 0 : 1000), moving: time < 2000)
            host.pass(40)
        }
        host.pass(500)
        let changes = try changes()
        #expect(changes.allSatisfy { abs($0.time - 120 - 1000 * ($0.zoom - 4)) < 0.01 })
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $1.time - $0.time < 120 + 17 })
        #expect(changes.count > 100 && changes.last?.zoom == 6)
    }

    @Test func leapSecondInMidTourIsASecondInWhichTheCameraWaits() throws {
        for time in stride(from: 100.0, through: 2000, by: 50) {
            present(zoom: 4 + time / 1000, at: time, moving: time < 2000)
        }
        host.pass(1000)
        leap()
        host.pass(2500)
        let changes = try changes()
        #expect(changes.allSatisfy { abs($0.time - ($0.time > 1000 ? 1000 : 0) - 1000 * ($0.zoom - 4)) < 0.01 })
        #expect(zip(changes, changes.dropFirst()).allSatisfy { 0..<0.017 ~= $1.zoom - $0.zoom })
        #expect(changes.first?.zoom == 4.1 && changes.last?.zoom == 6)
    }

    @Test func questionAboutATimeIsAnsweredTheSameWheneverItIsAsked() throws {
        present(zoom: 4, at: 100)
        present(zoom: 6, at: 150, longitude: 1)
        present(zoom: 6, at: 200, moving: false, longitude: 2)
        let ahead = try state(at: 137.125)
        #expect(ahead.time == 137.125)
        for _ in 0..<9 {
            host.pass(100)
            #expect(try state(at: 137.125, of: watcher) == ahead)
        }
        #expect(try state(at: 100).zoom == 4)
        #expect(try state(at: 175).zoom == 6)
        // After the last one only the present is known.
        #expect(try state(at: 950).time == 900)
    }

    @Test func animationIsKnownAheadOfItsTime() throws {
        mirror.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":5},"durationMs":1000,"easing":"linear"}"#)
        host.pass(500)
        _ = mirror.lines()
        #expect(try state(at: 550) == (3.65, 550))
        #expect(try state(at: 5000) == (4.25, 750))
        #expect(try state(at: 100).time == 500)
        host.pass(400)
        #expect(try state(at: 1100).zoom == 5)
    }

    @Test func leaseAReplayAndTheEndOfTheConnectionEndIt() throws {
        let other = host.connect()
        for end in [#"{"type":"take-lease","forMs":150}"#, #"{"type":"trace","version":1}"#] {
            present(zoom: 4, at: host.now - 1000 + 100, moving: false)
            other.send(end)
            host.pass(200)
            #expect(watcher.lines().allSatisfy { !$0.contains(#""zoom":4"#) })
            other.send(#"{"type":"trace-end"}"#)
        }
        let (now, third) = (host.now - 1000, host.connect())
        _ = third.lines()
        present(zoom: 4, at: now + 50)
        host.pass(100)
        #expect(try events().last?.hasPrefix("camera-changed") == true)
        present(zoom: 6, at: now + 200)
        mirror.close()
        host.pass(300)
        #expect(try events().last?.hasPrefix("idle") == true)
        #expect(try state(at: now + 400, of: third).zoom < 6)
    }

    @Test func positionFromBeforeAllThatAreKnownIsThereAtOnce() throws {
        for time in [100.0, 5000, 5040] {
            present(zoom: 4, at: time)
            host.pass(2500)
        }
        _ = try events()
        present(zoom: 6, at: 10, moving: false)
        #expect(try events().last?.hasPrefix("idle") == true)
        #expect(try state(at: 10).zoom == 6)
    }

    @Test func positionWhoseTimeIsOverIsShownThoughTheNextWaits() throws {
        host.pass(5000)
        mirror.put(line(zoom: 6, at: 1000, moving: false, longitude: 5))
        present(zoom: 9, at: 3_600_000, moving: false)
        #expect(try events().last?.hasPrefix("idle 5000.0 6") == true)
    }

    @Test func restartInPlaceBringsTheCameraToRest() throws {
        present(zoom: 4, at: 100)
        present(zoom: 4, at: 900, moving: false)
        host.pass(200)
        try host.handOver()
        #expect(try events().last == "idle 200.0 4.0")
        present(zoom: 6, at: 400, moving: false)
        host.pass(300)
        #expect(try events().last == "idle 400.0 6.0")
    }

    @Test func questionIsAnsweredByThePresentWhereOthersHaveMovedTheCamera() throws {
        let other = host.connect()
        present(zoom: 4, at: 100, moving: false)
        host.pass(200)
        other.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":12}}"#)
        present(zoom: 6, at: 60_000)
        #expect(try state(at: 200).zoom == 12)
        #expect(try state(at: 60_000).zoom == 6)
        #expect(try state(at: -5000) == (12, 200))
    }

    @Test func leaseOfAnotherThatEndsBeforeTheTimeChangesNothing() throws {
        present(zoom: 4, at: 1000, moving: false)
        host.connect().send(#"{"type":"take-lease","forMs":200}"#)
        host.pass(1100)
        #expect(try events().last == "idle 1000.0 4.0")
    }

    @Test func positionsOfAnotherConnectionTakeThePlaceOfThese() throws {
        present(zoom: 4, at: 100)
        present(zoom: 9, at: 900, moving: false)
        host.pass(200)
        host.connect().send(line(zoom: 5, at: 300, moving: false))
        #expect(try events().last == "idle 200.0 4.0")
        host.pass(1000)
        #expect(try events().last == "idle 300.0 5.0")
    }

    @Test func positionsWhoseTimeIsOverDoNotPileUp() throws {
        host.pass(2000)
        for index in 0..<2000 { present(zoom: 4 + Double(index) / 2000, at: 1500 + Double(index) / 16) }
        // Of the earlier ones only the last 1024 are kept.
        #expect(try state(at: 1600).zoom == 4.8)
        #expect(try abs(state(at: 1510).zoom - 4.08) > 0.1)
    }

    @Test func tooManyPositionsAreRefused() throws {
        for index in 0..<512 { present(zoom: 4, at: 1000 + Double(index)) }
        #expect(mirror.lines().isEmpty)
        present(zoom: 4, at: 9000)
        let error = try JSON(try #require(mirror.lines().last))
        #expect(error["code"]?.string == "limit-reached" && error["field"]?.string == "presentAt")
        host.pass(1100)
        present(zoom: 4, at: 9000)
        #expect(mirror.lines().isEmpty)
    }

    @Test func traceHasNoPresent() throws {
        mirror.send(#"{"type":"trace","version":1}"#)
        present(zoom: 4, at: 100)
        #expect(mirror.lines().contains { $0.contains("invalid-value") && $0.contains("send present on") })
    }

    @Test(arguments: ["every", "latest"]) func subscriberIsToldWhatTheWallClockShows(delivery: String) throws {
        let reader = host.connect()
        host.pass(250)
        reader.send(#"{"type":"subscribe","events":["camera-changed","clock"],"delivery":"\#(delivery)"}"#)
        #expect(reader.lines().last == #"{"type":"clock","camera":"main","timeMs":250,"wallTime":1764115264250}"#)
        mirror.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#)
        #expect(reader.lines().count == 1)
        host.wallTime = { Self.start + 5000 + $0 - 1000 }
        host.pass(50)
        mirror.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":6}}"#)
        #expect(reader.lines().last == #"{"type":"clock","camera":"main","timeMs":300,"wallTime":1764115269300}"#)
    }

    /// Returns the positions that a peer has received ahead of their time: time, zoom, and whether it moves from there.
    private func told(_ reader: HubPeer) throws -> [String] {
        try reader.lines().map { line in
            let told = try JSON(line)["presentation"]
            guard let time = told?["presentAt"]?.number, let zoom = told?["position"]?["zoom"]?.number else {
                return line
            }
            return "\(time - Self.start) \(zoom) \(told?["moving"]?.bool ?? false)"
        }
    }

    @Test(arguments: ["every", "latest"])
    func subscriberIsToldPositionsAheadOfTheirTimeAndWhenTheyDoNotCountAnyMore(delivery: String) throws {
        let (reader, other) = (host.connect(), host.connect())
        other.send(#"{"type":"set-zoom-range","minZoom":2,"maxZoom":5}"#)
        reader.send(#"{"type":"subscribe","events":["present"],"delivery":"\#(delivery)"}"#)
        _ = reader.lines()
        let nothing = #"{"type":"present","camera":"main"}"#
        let lines = [line(zoom: 4, at: 100), line(zoom: 9, at: 120), line(zoom: 3, at: 140, moving: false)]
        mirror.send("[\(lines.joined(separator: ","))]")
        #expect(try told(reader) == ["100.0 4.0 true", "120.0 5.0 true", "140.0 3.0 false"])
        other.send(#"{"type":"take-lease","forMs":250}"#)
        host.pass(300)
        #expect(try told(reader) == [nothing])
        present(zoom: 4, at: 500)
        mirror.close()
        #expect(try told(reader) == ["500.0 4.0 true", nothing])
    }

    @Test func subscriberThatComesLaterIsToldThePositionsThatStillCount() throws {
        for (index, zoom) in [4.0, 5, 6, 7].enumerated() {
            present(zoom: zoom, at: 100 * Double(index), moving: index < 3)
        }
        host.pass(150)
        mirror.send(#"{"type":"set-zoom-range","minZoom":2,"maxZoom":6.5}"#)
        func toldToOneMore() throws -> [String] {
            let reader = host.connect()
            reader.send(#"{"type":"subscribe","events":["present"]}"#)
            return try Array(told(reader).dropFirst())
        }
        #expect(try toldToOneMore() == ["100.0 5.0 true", "200.0 6.0 true", "300.0 6.5 false"])
        // After another client has moved the camera, it is not where it was told to be.
        mirror.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":3}}"#)
        #expect(try toldToOneMore() == ["200.0 6.0 true", "300.0 6.5 false"])
        host.pass(150)
        #expect(try toldToOneMore() == [])
    }

    @Test func subscriberThatSkipsPositionsIsToldOfLeases() throws {
        let reader = host.subscriber(#","events":["lease"],"delivery":"latest""#)
        mirror.send(#"{"type":"take-lease","forMs":100}"#)
        #expect(reader.lines().count == 1)
        host.pass(200)
        #expect(reader.lines().last?.contains("lease-ended") == true)
    }
}
