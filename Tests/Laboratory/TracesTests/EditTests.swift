// Edited traces, compared with what the camera then does; and shrunk traces.

import Foundation
import GimbalProtocol
import MapCamera
import TestSupport
import Testing
import Traces

@Suite struct EditTests {
    private func trace(_ name: String) throws -> Trace {
        try Trace(Files.data("Protocols/examples/traces/\(name).ndjson"))
    }

    /// Returns the movements of a camera that plays a trace.
    private func moves(_ trace: Trace) throws -> [CameraMove] {
        let run = try TraceRun(camera: trace.header.camera)
        var moves: [CameraMove] = []
        var errors: [GimbalError] = []
        for line in LineSplitter.lines(of: try trace.header.atHighestSpeed().bytes + trace.bytes.drop { $0 != 0x0a }) {
            run.play(line) { played in
                moves += played.messages.compactMap { $0.event?.move }
                errors += played.messages.compactMap(\.error)
            }
        }
        #expect(errors.isEmpty, "\(errors)")
        return moves
    }

    private func trace(header members: String, _ lines: [String]) throws -> Trace {
        try Trace(Data(([#"{"type":"trace","version":1\#(members)}"#] + lines).joined(separator: "\n").utf8))
    }

    private func header(_ trace: Trace, _ name: String) throws -> Double? {
        try JSONValue(trace.header.bytes)[name]?.number
    }

    @Test func timesOfTheHeaderKeepPaceWithTheTrace() throws {
        var slow = try trace(
            header: #","fromMs":1000,"untilMs":60000,"durationMs":60000,"idleTimeLimitMs":500"#,
            [#"{"type":"move","timeMs":0,"update":{"kind":"zoom-in"}}"#])
        try slow.apply(.speed(0.5))
        #expect(try header(slow, "fromMs") == 2000 && header(slow, "untilMs") == 120_000)
        #expect(try header(slow, "durationMs") == 120_000 && header(slow, "idleTimeLimitMs") == 1000)
        let moves = [0, 10_000, 10_100, 20_100].map {
            #"{"type":"move","timeMs":\#($0),"update":{"kind":"zoom-in"}}"#
        }
        var trimmed = try trace(header: #","fromMs":5000,"untilMs":10050,"durationMs":20100"#, moves)
        try trimmed.apply(.trimIdle(300))
        #expect(trimmed.lines.map(\.timeMs) == [0, 300, 400, 700])
        // The pause in which it began became shorter at its end.
        #expect(try header(trimmed, "fromMs") == 300 && header(trimmed, "untilMs") == 350)
        #expect(try header(trimmed, "durationMs") == nil)
    }

    @Test func aLineThatGoesBackInTimeMovesNoOther() throws {
        let move = { (time: Int) in #"{"type":"move","timeMs":\#(time),"update":{"kind":"zoom-in"}}"# }
        var trace = try trace(header: "", [0, 10_000, 5, 10_010].map(move))
        try trace.apply(.trimIdle(300))
        #expect(trace.lines.map(\.timeMs) == [0, 300, -9695, 310])
        var part = try self.trace(header: #","fromMs":5000,"untilMs":10005"#, [0, 10_000, 5, 10_010].map(move))
        try part.apply(.trimIdle(300))
        #expect(try header(part, "fromMs") == 300 && header(part, "untilMs") == 305)
    }

    @Test func whatMovesForMinutesIsNoPause() throws {
        let animation = #"{"type":"animate","timeMs":0,"update":{"kind":"zoom-to","zoom":18},"durationMs":1200000}"#
        let later = #"{"type":"move","timeMs":1200100,"update":{"kind":"zoom-in"}}"#
        var trace = try trace(header: "", [animation, later])
        try trace.apply(.trimIdle(1000))
        #expect(trace.lines.map(\.timeMs) == [0, 1_200_100])
    }

    @Test(arguments: [0.1, 1e-300, 1e300])
    func anEditThatMakesLinesThatNoDaemonTakesIsRefused(_ factor: Double) throws {
        var trace = try trace(
            header: "",
            [
                #"{"type":"pan","timeMs":0,"phase":"began"}"#,
                #"{"type":"pan","timeMs":100,"phase":"ended","velocity":{"x":900,"y":0}}"#,
                #"{"type":"animate","timeMs":200,"update":{"kind":"zoom-in"},"durationMs":600000}"#,
            ])
        #expect(throws: TraceError.self) { try trace.apply(.speed(factor)) }
    }

    @Test(arguments: ["pinch-and-rotate", "pan-fling", "tilt"])
    func theSameFingersElsewhereMoveTheMapAsFar(_ name: String) throws {
        let (before, place) = (try trace(name), LatLng(latitude: -33.9, longitude: 179.95))
        var after = before
        try after.apply(.moveTo(place))
        let (one, other) = (try moves(before), try moves(after))
        #expect(one.count == other.count && one.count > 100)
        let start = MercatorPoint(try #require(before.header.header).position.target)
        for (a, b) in zip(one, other) {
            let (from, to) = (MercatorPoint(a.position.target), MercatorPoint(b.position.target))
            let scale = 256 / (2 * Double.pi) * exp2(a.position.zoom)
            let east = wrap180((to.x - from.x - MercatorPoint(place).x + start.x) * 180 / .pi) * .pi / 180
            let north = to.y - from.y - MercatorPoint(place).y + start.y
            #expect(abs(east) * scale < 0.01 && abs(north) * scale < 0.01, "\(b)")
            #expect(abs(a.position.zoom - b.position.zoom) < 2e-6)
        }
    }

    @Test func placesInLinesMoveAlong() throws {
        let lines = """
            {"type":"trace","version":1,"position":{"target":{"latitude":0,"longitude":10},"zoom":5},"targetBounds":{"southWest":{"latitude":-60,"longitude":-180},"northEast":{"latitude":60,"longitude":180}}}
            {"type":"move","timeMs":0,"update":{"kind":"set-target","target":{"latitude":0,"longitude":20},"own":"x"}}
            {"type":"broken
            {"type":"set-target-bounds","timeMs":5,"bounds":{"southWest":{"latitude":-1,"longitude":9},"northEast":{"latitude":1,"longitude":21}}}
            """
        var trace = try Trace(lines.utf8)
        try trace.apply(.moveTo(LatLng(latitude: 0, longitude: 175)))
        let texts = trace.lines.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(texts[0].contains(#""longitude":-175},"own":"x""#))
        #expect(texts[1] == #"{"type":"broken"#)
        #expect(texts[2].contains(#""longitude":174"#) && texts[2].contains(#""longitude":-174"#))
        // Bounds all around the globe remain so from anywhere.
        let bounds = try #require(trace.header.header?.targetBounds)
        #expect(bounds.width == 360)
    }

    @Test func anotherPaceChangesTimesAndVelocities() throws {
        var trace = try Trace(
            """
            {"type":"trace","version":1}
            {"type":"animate","timeMs":1000,"durationMs":300,"update":{"kind":"zoom-in"}}
            [{"type":"pan","phase":"ended","timeMs":1500,"velocity":{"x":100,"y":-50}},{"type":"stop"}]
            """.utf8)
        try trace.apply(.speed(2))
        #expect(trace.lines.map(\.timeMs) == [1000, 1250])
        let texts = trace.lines.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(texts[0].contains(#""durationMs":150"#) && texts[1].contains(#""velocity":{"x":200,"y":-100}"#))
    }

    @Test func aTourAndAFlightMoveAlongAndChangeTheirPace() throws {
        let header = #"{"type":"trace","version":1,"position":{"target":{"latitude":0,"longitude":10},"zoom":5}}"#
        let place = #""position":{"target":{"latitude":0,"longitude":20},"zoom":5}"#
        let tour = #"{"type":"tour","timeMs":0,"keyframes":[{\#(place),"durationMs":300,"waitMs":50}]}"#
        let flight = #"{"type":"animate","timeMs":0,"update":{"kind":"zoom-in"},"path":"flight"}"#
        var trace = try Trace([header, tour, flight].joined(separator: "\n").utf8)
        try trace.apply(.moveTo(LatLng(latitude: 0, longitude: 30)))
        try trace.apply(.speed(2))
        let texts = trace.lines.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(texts[0].contains(#""longitude":40"#) && texts[0].contains(#""durationMs":150,"waitMs":25"#))
        #expect(texts[1].contains(#""speed":2.4"#) && !texts[1].contains("durationMs"))
        var own = try Trace(
            [header, #"{"type":"tour","timeMs":0,"keyframes":[{\#(place)}]}"#].joined(separator: "\n").utf8)
        #expect(throws: TraceError.self) { try own.apply(.speed(2)) }
    }

    @Test(arguments: ["pinch-and-rotate", "pan-fling", "tilt", "antimeridian", "limits"])
    func withoutPausesTheWayIsTheSame(_ name: String) throws {
        let before = try trace(name)
        var after = before
        try after.apply(.trimIdle(50))
        let (one, other) = (try moves(before), try moves(after))
        #expect(one.map(\.position) == other.map(\.position))
        // The gap between a rest and the next movement.
        for (a, b) in zip(other, other.dropFirst()) where b.seq > a.seq {
            #expect(b.timeMs >= a.timeMs)
        }
        #expect(try #require(after.endMs) <= #require(before.endMs))
    }

    /// Returns the times of a trace's lines after pauses are limited to 100 ms.
    private func trimmed(_ lines: String...) throws -> [Double?] {
        var trace = try Trace(([#"{"type":"trace","version":1}"#] + lines).joined(separator: "\n").utf8)
        try trace.apply(.trimIdle(100))
        return trace.lines.map(\.timeMs)
    }

    @Test func aPauseIsShortenedWhateverItsTimesAddUpTo() throws {
        let move = { (time: Double) in #"{"type":"move","timeMs":\#(time),"update":{"kind":"zoom-in"}}"# }
        // The camera's time of the second line is 153.057 + 2248.484, whose nearest double is before 2401.541.
        #expect(try trimmed(move(153.057), move(2401.541)) == [153.057, 253.057])
    }

    @Test func anotherPaceIsThatOfTheSurfacesToo() throws {
        let finger = #""touches":[{"id":1,"x":10,"y":10}]"#
        var trace = try Trace(
            """
            {"type":"trace","version":1}
            {"type":"touch","timeMs":0,"surfaceTimeMs":70000,\(finger)}
            {"type":"touch","timeMs":1,"surface":2,"surfaceTimeMs":500,\(finger)}
            {"type":"touch","timeMs":100,"surfaceTimeMs":70090,\(finger)}
            {"type":"touch","timeMs":101,"surface":2,"surfaceTimeMs":520,"touches":[]}
            """.utf8)
        try trace.apply(.speed(2))
        let times = try trace.lines.map { try JSONValue($0.bytes)["surfaceTimeMs"]?.number }
        #expect(times == [70000, 500, 70045, 510])
    }

    @Test func aPauseWithFingersOnASurfaceStays() throws {
        let down = #""touches":[{"id":1,"x":10,"y":10}]"#
        let times = try trimmed(
            #"{"type":"touch","timeMs":0,\#(down)}"#, #"{"type":"touch","timeMs":2000,"touches":[]}"#,
            #"{"type":"touch","timeMs":5000,\#(down)}"#, #"{"type":"touch","timeMs":7000,"touches":[]}"#)
        #expect(times == [0, 2000, 2100, 4100])
    }

    @Test func twoTapsDoNotBecomeADoubleTap() throws {
        func tap(_ start: Int) -> [String] {
            [
                #"{"type":"touch","timeMs":\#(start),"touches":[{"id":1,"x":10,"y":10}]}"#,
                #"{"type":"touch","timeMs":\#(start + 80),"touches":[]}"#,
            ]
        }
        let lines = tap(0) + [#"{"type":"marker","timeMs":1000,"label":"here"}"#] + tap(2000)
        #expect(try trimmed(lines[0], lines[1], lines[2], lines[3], lines[4]) == [0, 80, 480.001, 580.001, 660.001])
        let trace = try Trace(([#"{"type":"trace","version":1}"#] + lines).joined(separator: "\n").utf8)
        var after = trace
        try after.apply(.trimIdle(0))
        #expect(try moves(after).isEmpty && moves(trace).isEmpty)
    }

    @Test(arguments: [
        #"{"type":"stop","timeMs":1000}"#, #"{"type":"move","timeMs":1000,"update":{"kind":"zoom-to","zoom":3}}"#,
        #"{"type":"set-gestures","timeMs":1000,"scroll":false}"#,
    ])
    func aPauseAfterACommandThatCancelsTheGestureIsTrimmed(_ command: String) throws {
        let began = #"{"type":"pan","phase":"began","timeMs":0}"#
        #expect(try trimmed(began, command, #"{"type":"stop","timeMs":9000}"#) == [0, 1000, 1100])
    }

    @Test func aPauseAfterAGestureThatIsRejectedOrIgnoredIsTrimmed() throws {
        let stop = #"{"type":"stop","timeMs":9000}"#
        #expect(try trimmed(#"{"type":"pan","phase":"began","timeMs":0,"camera":"other"}"#, stop) == [0, 100])
        let off = #"[{"type":"set-gestures","timeMs":0,"tilt":false},{"type":"tilt","phase":"began"}]"#
        #expect(try trimmed(off, stop) == [0, 100])
    }

    @Test func whatTheCameraBeginsWithIsSet() throws {
        var trace = try trace("pan-fling")
        let bounds = try #require(
            CoordinateBounds(
                southWest: LatLng(latitude: 1, longitude: 2), northEast: LatLng(latitude: 3, longitude: 4)))
        try trace.apply(.start(LatLng(latitude: 2, longitude: 3), zoom: 7))
        try trace.apply(.viewport(width: 400, height: 600))
        try trace.apply(.bounds(bounds))
        try trace.apply(.zoomRange(try #require(ZoomRange(min: 4, max: 9))))
        let header = try #require(trace.header.header)
        #expect(header.position.target == LatLng(latitude: 2, longitude: 3) && header.position.zoom == 7)
        #expect(header.viewport.width == 400 && header.viewport.height == 600 && header.targetBounds == bounds)
        #expect(header.zoomRange.min == 4 && header.zoomRange.max == 9)
        try trace.apply(.bounds(nil))
        #expect(trace.header.header?.targetBounds == nil)
        #expect(try !moves(trace).isEmpty)
    }

    // MARK: Shrunk traces

    @Test func onlyWhatFailsIsLeft() throws {
        var shrinker = Shrinker(most: 1000)
        let whole = try trace("pinch-and-rotate")
        let small = try shrinker.shrink(whole) { try moves($0).contains { $0.position.zoom > 14.5 } }
        #expect(try moves(small).contains { $0.position.zoom > 14.5 })
        // The beginning of a pinch and its larger scale, from the header's position; its other members are not needed.
        #expect(small.lines.count <= 3 && shrinker.asked < 1000, "\(small.lines.count)")
        #expect(String(decoding: small.header.bytes, as: UTF8.self).contains("position"))
        #expect(!String(decoding: small.header.bytes, as: UTF8.self).contains("viewport"))
    }

    @Test func shrinkingEndsWhereItMust() throws {
        let whole = try trace("tilt")
        var shrinker = Shrinker(most: 7)
        _ = shrinker.shrink(whole) { _ in false }
        #expect(shrinker.asked == 7)
        var all = Shrinker(most: 1000)
        let least = all.shrink(whole) { _ in true }
        #expect(least.lines.isEmpty)
        // At another position, a camera may fail for another reason.
        #expect(least.header.header?.position == whole.header.header?.position)
        #expect(whole.header.header?.position != TraceHeader().position)
    }
}
