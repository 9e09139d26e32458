// Motions announced when they begin: a client that knows them computes every frame, to the digit.

import GimbalProtocol
import MapCamera
import TestSupport
import Testing

@testable import Hub

private let place = #"{"target":{"latitude":48,"longitude":-120},"zoom":6,"bearing":200,"viewingAngle":20}"#
private let animation = #"{"type":"animate","durationMs":700,"update":{"kind":"set-camera","position":\#(place)}}"#

private let fling = ["began", "changed", "ended"].enumerated().map { index, phase in
    #"{"type":"pan","phase":"\#(phase)","timeMs":\#(index * 8),"translation":{"x":\#(index * 31),"y":\#(index * -7)}}"#
}

private let flight =
    #"{"type":"animate","path":"flight","curve":1.8,"update":{"kind":"set-camera","position":\#(place)}}"#
private let tour =
    #"{"type":"tour","keyframes":[{"position":\#(place),"durationMs":400,"waitMs":300},"#
    + #"{"position":{"target":{"latitude":0,"longitude":170},"zoom":3},"durationMs":500,"turns":1},"#
    + #"{"position":{"target":{"latitude":5,"longitude":-170},"zoom":4}}]}"#

/// Requests to the camera, each in the middle of the previous one's motion.
private let cases = [
    [animation],
    [#"{"type":"animate","durationMs":333.3,"easing":"ease-in","update":{"kind":"scroll-by","x":100,"y":-33}}"#],
    [#"{"type":"animate","update":{"kind":"zoom-by","amount":1.7,"focus":{"x":20,"y":800}}}"#],
    [flight], [tour], fling, [#"{"type":"double-tap","phase":"ended","focus":{"x":100,"y":100}}"#],
]

@Suite struct MotionTests {
    private let host = HubHost()
    private let hand: HubPeer
    private let reader: HubPeer

    init() {
        host.wallTime = { 1_764_115_264_000.123 + $0 }
        (hand, reader) = (host.connect(), host.subscriber(#","events":["motion"]"#))
    }

    /// Returns the motions that a peer has received since the last call.
    private func motions(_ peer: HubPeer) throws -> [CameraMotion] {
        try peer.lines().compactMap {
            if case .event(.motion(let motion)) = try ServerLine(line: $0.utf8).message { motion } else { nil }
        }
    }

    @Test(arguments: 0..<7, [true, false])
    func framesOfAMotionAreThoseOfTheEvents(index: Int, isLimited: Bool) throws {
        hand.send(#"{"type":"move","update":{"kind":"set-camera","position":\#(place)}}"#)
        hand.send(#"{"type":"move","update":{"kind":"scroll-by","x":-500,"y":77.7}}"#)
        if isLimited {
            hand.send(#"{"type":"set-zoom-range","minZoom":5,"maxZoom":7}"#)
            hand.send(
                #"{"type":"set-target-bounds","bounds":{"southWest":{"latitude":47,"longitude":-125},"#
                    + #""northEast":{"latitude":49,"longitude":-119}}}"#)
        }
        let watcher = host.subscriber(#","events":["camera-changed","clock"]"#)
        hand.send(animation)
        host.pass(71.3)
        _ = (try motions(reader), watcher.lines())
        for line in cases[index] {
            hand.send(line)
            host.pass(8)
        }
        host.pass(20_000)
        let told = try motions(reader)
        let start = try #require(told.compactMap(\.motion).last)
        #expect(told.last?.motion == nil && told.last?.camera == "main")
        let known = host.connect()
        known.send(#"{"type":"subscribe","events":["clock"]}"#)
        let line = try #require(known.lines().last)
        guard case .event(.clock(let clock)) = try ServerLine(line: line.utf8).message else {
            Issue.record("there is no clock")
            return
        }
        // Each frame is an event, except for those that leave the digits unchanged.
        var frames: [Int: CameraPosition] = [:]
        for frame in start.frames { frames[frame.presentAt.microseconds] = frame.position }
        let begun = told.last { $0.motion != nil }?.timeMs ?? 0
        var count = 0
        for line in watcher.lines() where line.contains("camera-changed") {
            guard case .event(.cameraChanged(let move)) = try ServerLine(line: line.utf8).message, move.timeMs > begun
            else { continue }
            let time = clock.wallTime(of: move.timeMs).microseconds
            let frame = (time - 2...time + 2).lazy.compactMap { frames[$0] }.first
            #expect(frame.map { PrintedPosition($0) } == PrintedPosition(move.position), "at \(move.timeMs)")
            count += 1
        }
        #expect(count >= min(frames.count - 2, 10) && count <= frames.count)
        let last = try #require(Array(start.frames).last)
        #expect(!last.isMoving)
        #expect(PrintedPosition(last.position) == PrintedPosition(try position()))
    }

    private func position() throws -> CameraPosition {
        hand.send(#"{"type":"get-camera"}"#)
        guard case .camera(let state) = try ServerLine(line: try #require(hand.lines().last).utf8).message else {
            return .initial
        }
        return state.position
    }

    @Test(arguments: 0..<7) func framesThatArePassedOverChangeNoOther(index: Int) throws {
        for line in cases[index] {
            hand.send(line)
            host.pass(8)
        }
        let start = try #require(try motions(reader).compactMap(\.motion).last)
        let all = Array(start.frames)
        for (number, frame) in all.enumerated() {
            var frames = start.frames
            frames.skip(to: frame.presentAt)
            let rest = Array(frames)
            #expect(rest.count <= all.count - max(number - 1, 0))
            #expect(rest == Array(all.suffix(rest.count)), "from \(number) on")
        }
        var frames = start.frames
        frames.skip(to: start.wallTime.adding(milliseconds: 1e12))
        #expect(Array(frames).last == all.last)
    }

    @Test(arguments: [
        (#"{"type":"pan","phase":"began"}"#, 1), (#"{"type":"stop"}"#, 1),
        (#"{"type":"move","update":{"kind":"zoom-to","zoom":9}}"#, 1), (animation, 2),
        (#"{"type":"trace","version":1}"#, 1),
        (#"{"type":"animate","durationMs":0,"update":{"kind":"zoom-to","zoom":9}}"#, 1),
    ])
    func motionThatIsInterruptedIsToldToBeOver(line: String, count: Int) throws {
        hand.send(animation)
        host.pass(100)
        #expect(try motions(reader).map { $0.motion != nil } == [true])
        hand.send(line)
        let told = try motions(reader)
        #expect(told.count == 1 && (told[0].motion != nil) == (count == 2))
    }

    @Test func whatAReplayMovesIsNotTold() throws {
        hand.send(#"{"type":"trace","version":1}"#)
        hand.send(String(animation.dropLast()) + #","timeMs":0}"#)
        hand.send(#"{"type":"trace-end"}"#)
        host.pass(2000)
        #expect(try motions(reader).isEmpty)
    }

    @Test(arguments: ["every", "latest"]) func whoComesLateIsToldWhatMovesTheCamera(delivery: String) throws {
        let subscribe = #"{"type":"subscribe","events":["motion"],"delivery":"\#(delivery)"}"#
        let (first, late) = (host.connect(), host.connect())
        first.send(subscribe)
        #expect(try motions(first).map { $0.motion == nil } == [true])
        hand.send(animation)
        host.pass(300)
        late.send(subscribe)
        let told = try motions(late)
        #expect(told.count == 1 && told.first?.motion != nil)
        #expect(try motions(first) == told)
    }

    @Test(arguments: ["every", "latest"]) func whoHasMissedLinesIsToldWhatMovesTheCamera(delivery: String) throws {
        let host = HubHost { ($0.historyEvents, $0.historyBytes) = (16, 4096) }
        let hand = host.connect()
        let slow = host.subscriber(#","events":["camera-changed","motion"],"delivery":"\#(delivery)""#)
        slow.makeRoom(0)
        hand.send(animation)
        host.pass(2000)
        hand.send(animation.replacing("700", with: "10000").replacing("48", with: "-48"))
        host.pass(1000)
        slow.makeRoom(nil)
        host.pass(10)
        #expect(try motions(slow).last?.motion?.position.target.latitude == 48)
    }

    @Test func anotherProcessKnowsWhatMovesTheCamera() throws {
        hand.send(animation)
        host.pass(100)
        let told = try motions(reader)
        try host.handOver()
        host.pass(100)
        #expect(try motions(reader).isEmpty)
        let late = host.connect()
        late.send(#"{"type":"subscribe","events":["motion"]}"#)
        #expect(try motions(late) == told)
        host.pass(1000)
        #expect(try motions(reader).map(\.motion) == [nil])
    }

    @Test func motionThatNoDaemonTellsIsNoMotion() throws {
        hand.send(tour)
        let line = try #require(reader.lines().last)
        #expect(throws: Never.self) { try ServerLine(line: line.utf8) }
        for (old, new) in [
            (#""durationMs":400"#, #""durationMs":1e300"#), (#""turns":1"#, #""turns":1e9"#),
            (#""waitMs":300"#, #""waitMs":-1"#), (#""width":390"#, #""width":0"#),
            (#""minZoom":2"#, #""minZoom":30"#), (#""type":"tour""#, #""type":"stop""#),
            (#""request""#, #""glide""#), (#""request""#, #""rest""#), (#""zoom":2,"#, #""zoom":99,"#),
        ] {
            let wrong = line.replacing(old, with: new, maxReplacements: 1)
            #expect(wrong != line && (try? ServerLine(line: wrong.utf8)) == nil, "\(new)")
        }
    }

    @Test func motionIsKnownNoMoreOnceASettingMayChangeIt() throws {
        hand.send(#"{"type":"animate","camera":"c","update":{"kind":"zoom-to","zoom":12},"durationMs":1000}"#)
        host.pass(300)
        let late = host.connect()
        late.send(#"{"type":"subscribe","camera":"c","events":["motion"]}"#)
        host.pass(200)
        #expect(try motions(late).last?.motion != nil)
        for line in [
            #"{"type":"set-gestures","camera":"c","fling":false}"#,
            #"{"type":"set-zoom-range","camera":"c","maxZoom":21}"#,
        ] { hand.send(line) }
        #expect(try motions(late).isEmpty)
        hand.send(#"{"type":"set-zoom-range","camera":"c","maxZoom":11}"#)
        #expect(try motions(late).map { $0.motion == nil } == [true])
        host.pass(1000)
        #expect(try motions(late).isEmpty)
    }
}
