// Gimbal's own tour format, and recordings of a live camera.

import GimbalProtocol
import MapCamera
import TestSupport
import Testing

@testable import Tours

@Suite struct JSONTourTests {
    private static let keyframe = #"{"position":{"target":{"latitude":47,"longitude":8},"zoom":12}}"#

    @Test func aFileHasTheKeyframesOfTheCommandBehindAName() throws {
        let tour = try TourFile(
            """
            {"type":"gimbal-tour","version":1,"name":"Ä","more":true,
             "keyframes":[\(Self.keyframe),
             {"position":{"target":{"latitude":47,"longitude":8},"zoom":12},"durationMs":500,"waitMs":1,"turns":-1}]}
            """, as: .json
        ).tour
        let position = CameraPosition(target: LatLng(latitude: 47, longitude: 8), zoom: 12)
        #expect(
            tour
                == NamedTour(
                    name: "Ä",
                    [TourKeyframe(position), TourKeyframe(position, durationMs: 500, waitMs: 1, turns: -1)]))
    }

    @Test func aTourComesBackFromJSONAsItWas() throws {
        var random = Seeded(3)
        let keyframes = (0..<50).map { _ in
            TourKeyframe(
                CameraPosition(
                    target: LatLng(latitude: random.number(-85...85), longitude: random.number(-180...179)),
                    zoom: random.number(2...21), bearing: random.number(0...359), viewingAngle: random.number(0...30)),
                durationMs: random.number(0...1e5), waitMs: random.number(0...10),
                path: TourKeyframe.Path.allCases.randomElement(using: &random), easing: .easeIn,
                turns: Int.random(in: -3...3, using: &random))
        }
        let tour = NamedTour(name: "\"\\", keyframes)
        let bytes = try tour.json()
        #expect(try TourFormat.recognized(bytes) == .json)
        #expect(try TourFile(bytes, as: .json, TourOptions()).tour == tour)
        #expect(try TourFile(bytes, as: .json, TourOptions()).tour.json() == bytes)
    }

    @Test(arguments: [
        (#"{"type":"gimbal-tour","version":1}"#, "keyframes"),
        (#"{"type":"gimbal-tour","version":1,"keyframes":[]}"#, "keyframes must be an array of 1 to 256"),
        (#"{"type":"gimbal-tour","version":2,"keyframes":[\#(keyframe)]}"#, "version must be 1"),
        (#"{"type":"gimbal-tour","version":1,"name":5,"keyframes":[\#(keyframe)]}"#, "name must be a string"),
        (#"{"type":"gimbal-tour","version":1,"keyframes":[{"position":{}}]}"#, "target"),
        (#"{"type":"gimbal-tour","version":1,"keyframes":[\#(keyframe)],"keyframes":1}"#, "appears twice"),
        (#"{"type":"tour","keyframes":[\#(keyframe)]}"#, #"type must be "gimbal-tour""#),
    ]) func whatTheCommandWouldBeRefusedForIsAnError(text: String, message: String) {
        let error = #expect(throws: TourFileError.self) { try TourFile(text, as: .json) }
        #expect(error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test func theRequestOfTheLargestTourOfAFileFitsALine() throws {
        let position = CameraPosition(
            target: LatLng(latitude: -47.123456789123, longitude: -122.123456789123), zoom: 15.12345678912345,
            bearing: 123.123456789, viewingAngle: 45.123456789)
        let keyframe = TourKeyframe(position, durationMs: 123_456.789, waitMs: 123_456.789, path: .flight)
        let tour = NamedTour(Array(repeating: keyframe, count: TourKeyframe.most)).rounded
        #expect(try ClientRequest.tour(tour.keyframes).line(camera: "main", id: "command").count < 65536)
    }

    @Test func aFlightWithoutADurationIsWrittenIntoKMLWithItsOwn() throws {
        let places = [8.0, 18, 18].map { CameraPosition(target: LatLng(latitude: 47, longitude: $0), zoom: 12) }
        let tour = NamedTour(places.map { TourKeyframe($0) })
        let back = try TourFile(tour.kml(viewportHeight: 844).bytes, as: .kml, TourOptions()).tour
        let durations = back.keyframes.compactMap(\.durationMs)
        #expect(durations[0] == 3000 && durations[1] > 4000 && durations[1] < 60_000 && durations[2] == 250)
    }

    @Test(arguments: ["alps.json", "alps.kml", "lake.gpx"]) func aDamagedFileIsATourThatTheDaemonTakesOrAnError(
        name: String
    ) throws {
        let text = Array(try Files.text("Protocols/examples/tours/\(name)").utf8)
        let format = try TourFormat.recognized(text)
        var (random, read) = (Seeded(11), 0)
        for _ in 0..<400 {
            var bytes = text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: bytes[place] = .random(in: 0...255, using: &random)
                case 1: bytes[place] = UInt8(ascii: "0") + .random(in: 0...9, using: &random)
                case 2: bytes.removeSubrange(place..<min(place + 8, bytes.count))
                default: bytes.insert(contentsOf: bytes[place...].prefix(40), at: place)
                }
            }
            guard let tour = try? TourFile(bytes, as: format, TourOptions()).tour else { continue }
            read += 1
            let line = try ClientRequest.tour(tour.keyframes).line().dropLast()
            #expect(throws: Never.self) { try RequestDecoder.requests(of: Array(line).span) }
        }
        // Some changes are inside numbers and names.
        #expect(read > 5, "\(read)")
    }

    // MARK: Recording

    private static func event(_ type: String, _ timeMs: Double, _ zoom: Double) throws -> CameraEvent {
        let reason = type == "reset" ? "" : #""reason":"command","#
        let line = """
            {"type":"\(type)","camera":"main","epoch":"0","seq":1,"timeMs":\(timeMs),\(reason)\
            "position":{"target":{"latitude":1,"longitude":2},"zoom":\(zoom),"bearing":0,"viewingAngle":0}}
            """
        return try #require(ReceivedLine(Array(line.utf8)[...]).event)
    }

    @Test func aLiveCameraLeavesAKeyframeWhereItRests() throws {
        var recorder = TourRecorder()
        for (type, timeMs, zoom) in [
            ("subscribed", 0, 5), ("move-started", 1000, 5), ("camera-changed", 1500, 6), ("move-started", 1600, 6),
            ("idle", 3000, 7), ("move-started", 3500, 7), ("idle", 3500, 8), ("reset", 0, 9), ("move-started", 10, 9),
            ("idle", 30.5, 10), ("move-started", 60, 10),
        ] as [(String, Double, Double)] { recorder.read(try Self.event(type, timeMs, zoom)) }
        #expect(recorder.keyframes.map(\.position.zoom) == [5, 7, 8, 9, 10])
        #expect(recorder.keyframes.map(\.durationMs) == [nil, 2000, 0, 0, 20.5])
        #expect(recorder.keyframes.map(\.waitMs) == [0, 500, 0, 10, 29.5])
        #expect(recorder.keyframes.map(\.path) == [.flight, .smooth, .smooth, .smooth, .smooth])
    }

    @Test func aRecordingThatBeginsWithinAMovementHasItsEndAsTheFirstPlace() throws {
        var recorder = TourRecorder()
        for (type, timeMs, zoom) in [
            ("subscribed", 0, 5), ("idle", 3000, 7), ("move-started", 3500, 7), ("idle", 4000, 8),
        ] as [(String, Double, Double)] { recorder.read(try Self.event(type, timeMs, zoom)) }
        #expect(recorder.keyframes.map(\.position.zoom) == [7, 8] && recorder.keyframes.map(\.waitMs) == [500, 0])
        #expect(recorder.keyframes.map(\.durationMs) == [nil, 500])
    }

    @Test func aRecordingEndsBeforeItsTourWouldLastMoreThanAnHour() throws {
        var recorder = TourRecorder()
        for (type, timeMs, zoom) in [
            ("subscribed", 0, 5), ("move-started", 0, 5), ("idle", 2_000_000, 6), ("move-started", 3_000_000, 6),
            ("idle", 3_600_001, 7), ("move-started", 3_600_002, 7), ("idle", 3_600_003, 8),
        ] as [(String, Double, Double)] { recorder.read(try Self.event(type, timeMs, zoom)) }
        #expect(recorder.isFull && recorder.keyframes.map(\.position.zoom) == [5, 6])
        #expect(TourKeyframe.lastingMs(recorder.keyframes) == 3_000_000)
    }

    @Test func aRecordingEndsWithAsManyKeyframesAsATourMayHave() throws {
        var recorder = TourRecorder()
        recorder.read(try Self.event("subscribed", 0, 5))
        for index in 0..<300 {
            recorder.read(try Self.event("move-started", Double(index), 5))
            recorder.read(try Self.event("idle", Double(index), 6))
        }
        #expect(recorder.isFull && recorder.keyframes.count == TourKeyframe.most)
    }
}
