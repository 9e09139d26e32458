// Lines of GPX and GeoJSON files, and the cameras that follow them.

import GimbalProtocol
import MapCamera
import TestSupport
import Testing

@testable import Tours

extension TourFile {
    init(_ text: String, as format: TourFormat, _ change: (inout TourOptions) -> Void = { _ in }) throws {
        var options = TourOptions()
        change(&options)
        try self.init(Array(text.utf8), as: format, options)
    }
}

@Suite struct FollowingTests {
    /// Returns a track in a file as a receiver writes it, from points with optional times in seconds.
    private static func gpx(_ points: [(latitude: Double, longitude: Double, second: Int?)]) -> String {
        let lines = points.map { point in
            let time =
                point.second.map {
                    "<time>2026-05-01T\(two(10 + $0 / 3600)):\(two($0 / 60 % 60)):\(two($0 % 60))Z</time>"
                } ?? ""
            return #"<trkpt lat="\#(point.latitude)" lon="\#(point.longitude)"><ele>520.1</ele>\#(time)</trkpt>"#
        }
        return """
            <?xml version="1.0" encoding="UTF-8" standalone="no"?>
            <gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1" creator="a receiver">
            <metadata><name>file</name></metadata><wpt lat="1" lon="2"><name>hut</name></wpt>
            <trk><name>Morning</name><trkseg>
            \(lines.joined(separator: "\n"))
            </trkseg></trk></gpx>
            """
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    @Test func aStraightTrackIsItsTwoEndsWithItsOwnTimes() throws {
        let points = (0...100).map { (48 + Double($0) * 1e-4, 11.0, Int?($0)) }
        let file = try TourFile(Self.gpx(points), as: .gpx)
        let keyframes = file.tour.keyframes
        #expect(file.tour.name == "Morning" && keyframes.count == 2 && file.notes.texts.isEmpty)
        #expect(keyframes.map(\.durationMs) == [nil, 100_000] && keyframes.map(\.path) == [.flight, .smooth])
        #expect(keyframes.map(\.position.zoom) == [15, 15] && keyframes.map(\.position.viewingAngle) == [45, 45])
        for keyframe in keyframes { #expect(abs(wrap180(keyframe.position.bearing)) < 1e-9) }
        #expect(abs(keyframes[1].position.target.latitude - 48.01) < 1e-9)
        let fast = try TourFile(Self.gpx(points), as: .gpx) { $0.following.speedUp = 10 }
        #expect(fast.tour.keyframes[1].durationMs == 10_000)
    }

    @Test func aTrackOfTwoHoursIsAnErrorUnlessItIsSpedUp() throws {
        let text = Self.gpx([(48, 11, 0), (48.2, 11, 7199)])
        let error = #expect(throws: TourFileError.self) { try TourFile(text, as: .gpx) }
        #expect(error?.message.contains("--speed-up") == true)
        let keyframes = try TourFile(text, as: .gpx) { $0.following.speedUp = 2 }.tour.keyframes
        #expect(TourKeyframe.lastingMs(keyframes) == 3_599_500)
    }

    @Test func aJumpInATrackIsOneKeyframeOfNoTime() throws {
        let points = (0...120).map { second in
            let aside = abs(second % 20 - 10)
            return (48 + Double(aside) * 5e-4, 11.5 + Double(second) * 5e-4, Int?(second))
        }
        let whole = try TourFile(Self.gpx(points), as: .gpx).tour.keyframes
        let jump = try TourFile(Self.gpx([(48, 11, 0)] + points), as: .gpx).tour.keyframes
        #expect(whole.count > 20 && jump.count <= whole.count + 4, "\(whole.count), \(jump.count)")
        #expect(jump.count { $0.durationMs == 0 } <= 2)
    }

    @Test func aPauseOnTheWayIsAWait() throws {
        var points = (0...100).map { (48.0, 11 + Double($0) * 1e-4, Int?($0)) }
        points += (101...200).map { (48.0, 11.01 + Double($0 - 100) * 1e-4, Int?($0 + 300)) }
        points.insert((48, 11.01, 400), at: 101)
        let keyframes = try TourFile(Self.gpx(points), as: .gpx).tour.keyframes
        let waits = keyframes.filter { $0.waitMs > 0 }
        #expect(waits.count == 1 && abs((waits.first?.waitMs ?? 0) - 300_000) < 2000)
        #expect(abs((waits.first?.position.target.longitude ?? 0) - 11.01) < 1e-4)
        let whole = keyframes.reduce(0) { $0 + ($1.durationMs ?? 0) + $1.waitMs }
        #expect(abs(whole - 500_000) < 1e-3)
    }

    @Test func withoutTimesThePaceIsConstantAndMayBeSaid() throws {
        let points = (0...100).map { (0.0, 11 + Double($0) * 1e-4, Int?.none) }
        // 0.01° of the equator are 1113.2 m, and at zoom 15 233 points.
        let usual = try TourFile(Self.gpx(points), as: .gpx).tour.keyframes
        #expect(abs((usual[1].durationMs ?? 0) - 2330) < 1)
        let said = try TourFile(Self.gpx(points), as: .gpx) { $0.following.speed = 10 }.tour.keyframes
        #expect(abs((said[1].durationMs ?? 0) - 111_320) < 1)
    }

    @Test func theBearingGoesAlongARoundWayAndTurnsAllTheWayAround() throws {
        let points = (0...720).map { index in
            let direction = Elementary.sineAndCosine(Double(index) / 2)
            return (47 + 0.02 * direction.sine * 0.682, 8 + 0.02 * direction.cosine, Int?.none)
        }
        let keyframes = try TourFile(Self.gpx(points), as: .gpx).tour.keyframes
        #expect((20...TourKeyframe.most).contains(keyframes.count))
        var turned = 0.0
        for (a, b) in zip(keyframes, keyframes.dropFirst()) {
            let turn = wrap180(b.position.bearing - a.position.bearing)
            #expect(turn < 1 && turn > -40)
            turned += turn
        }
        // Counterclockwise, except for what lies beyond both ends, which is not considered.
        #expect((-360 ... -320).contains(turned), "\(turned)")
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func noTrackMakesMoreKeyframesThanATourMayHave(seed: UInt64) throws
    {
        var random = Seeded(seed)
        var (latitude, longitude) = (random.number(-80...80), random.number(-180...180))
        let points = (0..<3000).map { second in
            latitude = min(max(latitude + random.number(-2e-3...2e-3), -89), 89)
            longitude = wrap180(longitude + random.number(-2e-3...3e-3))
            return (latitude, longitude, Int?(second))
        }
        let keyframes = try TourFile(Self.gpx(points), as: .gpx).tour.keyframes
        #expect((2...TourKeyframe.most).contains(keyframes.count))
        #expect(keyframes.allSatisfy { $0.position.isPossible && ($0.durationMs ?? 0) >= 0 })
        #expect(abs(keyframes.reduce(0) { $0 + ($1.durationMs ?? 0) + $1.waitMs } - 2_999_000) < 1)
        // The path continues across the antimeridian: no step is half the world.
        for (a, b) in zip(keyframes, keyframes.dropFirst()) {
            #expect(abs(wrap180(b.position.target.longitude - a.position.target.longitude)) < 5)
        }
        #expect(try TourFile(Self.gpx(points), as: .gpx).tour.keyframes == keyframes)
    }

    @Test func aHeightIsAZoomByTheLatitude() throws {
        let points = [(60.0, 11.0, Int?.none), (60.0, 11.1, nil)]
        let file = try TourFile(Self.gpx(points), as: .gpx) {
            $0.following.height = 1000
            $0.following.viewingAngle = 60
        }
        // 2000 m from eye to target are 1266 points of 1.58 m; at 60° north that is zoom 15.6.
        #expect(file.tour.keyframes.allSatisfy { abs($0.position.zoom - 15.597) < 0.01 })
    }

    @Test func tracksGoBeforeRoutesAndNamesChoose() throws {
        let text = """
            <gpx><rte><name>R</name><rtept lat="1" lon="1"/><rtept lat="2" lon="2"/></rte><trk><name>Empty</name></trk>
            <trk><name>T</name><trkseg><trkpt lat="1" lon="1"/></trkseg><trkseg><trkpt lat="1" lon="1.1"/></trkseg></trk></gpx>
            """
        #expect(try TourFile(text, as: .gpx).tour.name == "T")
        #expect(try TourFile(text, as: .gpx) { $0.name = "R" }.tour.name == "R")
        let route = String(text[..<(text.firstRange(of: "<trk>")?.lowerBound ?? text.endIndex)]) + "</gpx>"
        #expect(try TourFile(route, as: .gpx).tour.name == "R")
    }

    @Test(
        arguments: [
            ("<gpx/>", nil, "no line"),
            ("<gpx>\n<trk><trkseg><trkpt lat='1'/></trkseg></trk></gpx>", 2, "needs lat and lon"),
            ("<gpx>\n\n<rte><rtept lat='95' lon='0'/></rte></gpx>", 3, "lat must be a number from -90 to 90"),
            ("<gpx><rte><rtept lat='1' lon='inf'/></rte></gpx>", 1, "lon must be a number from -360 to 360"),
            ("<gpx><rte><rtept lat='1' lon='1'><time>noon</time></rtept></rte></gpx>", 1, "2026-05-01T10:00:00Z"),
            ("<gpx><rte><rtept lat='1' lon='1'/></rte></gpx>", nil, "fewer than two places"),
            ("<osm/>", 1, "not <gpx>"),
        ] as [(String, Int?, String)]) func aWrongGPXFileIsAnErrorWithItsLine(text: String, line: Int?, message: String)
    {
        let error = #expect(throws: TourFileError.self) { try TourFile(text, as: .gpx) }
        #expect(error?.line == line && error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("2026-05-01T10:00:00Z", 1_777_629_600_000), ("2026-05-01T12:00:00.25+02:00", 1_777_629_600_250),
        ("1970-01-01T00:00:00", 0), ("2000-02-29T23:59:59,5Z", 951_868_799_500), ("1969-12-31T23:59:59Z", -1000),
    ]) func aDateIsMillisecondsSince1970(text: String, milliseconds: Double) throws {
        #expect(try WrittenDate.milliseconds(text, line: nil) == milliseconds)
    }

    // MARK: GeoJSON

    @Test(arguments: [
        #"{"type":"LineString","coordinates":[[11,48],[11.1,48,500]]}"#,
        #"{"type":"MultiLineString","coordinates":[[[11,48],[11.05,48]],[[11.1,48]]]}"#,
        #"{"type":"Feature","properties":{"name":"Way"},"geometry":{"type":"LineString","coordinates":[[11,48],[11.1,48]]}}"#,
        """
        {"type":"FeatureCollection","features":[{"type":"Feature","properties":null,"geometry":null},
        {"type":"Feature","geometry":{"type":"Point","coordinates":[0,0]}},
        {"type":"Feature","geometry":{"type":"GeometryCollection","geometries":[
        {"type":"LineString","coordinates":[[11,48],[11.1,48]]}]}}]}
        """,
    ]) func aLineOfGeoJSONIsFollowedWhateverHoldsIt(text: String) throws {
        let keyframes = try TourFile(text, as: .geojson).tour.keyframes
        #expect(keyframes.count == 2 && abs(keyframes[1].position.target.longitude - 11.1) < 1e-9)
        // To the east; at first slightly north of it, as on the shortest path.
        #expect(keyframes.allSatisfy { abs($0.position.bearing - 90) < 0.1 })
    }

    @Test func timesOfAFeatureAreThoseOfItsPoints() throws {
        let text = """
            {"type":"Feature","properties":{"coordTimes":["2026-05-01T10:00:00Z","2026-05-01T10:00:07Z"]},
            "geometry":{"type":"LineString","coordinates":[[11,48],[11.001,48]]}}
            """
        #expect(try TourFile(text, as: .geojson).tour.keyframes.map(\.durationMs) == [nil, 7000])
    }

    @Test(
        arguments: [
            ("{\n\"type\":\"LineString\",\n\"coordinates\":[[1,2],[3,]]}", 3, "a JSON value was expected"),
            (#"{"type":"LineString","coordinates":[[1,2],[3]]}"#, nil, "coordinates[1] must be longitude and latitude"),
            (#"{"type":"LineString","coordinates":[[1,2],[3,1e400]]}"#, 1, "too large"),
            (#"{"type":"LineString","coordinates":[[1,2],["3",4]]}"#, nil, "coordinates[1] must be"),
            (#"{"type":"Feature","geometry":{"type":"Line"}}"#, nil, "geometry.type must be one of GeoJSON's"),
            (#"{"type":"Point","coordinates":[1,2]}"#, nil, "no line"),
            (String(repeating: #"{"type":"Feature","geometry":"#, count: 5000), nil, "nested"),
        ] as [(String, Int?, String)]) func aWrongGeoJSONFileIsAnErrorThatNamesThePlace(
            text: String, line: Int?, message: String
        )
    {
        let error = #expect(throws: TourFileError.self) { try TourFile(text, as: .geojson) }
        #expect(error?.line == line && error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("\u{feff}\n<?xml version='1.0'?><kml/>", TourFormat.kml), ("<!-- x --><gpx></gpx>", .gpx),
        (#" {"type":"gimbal-tour"}"#, .json), (#"{"type":"Feature"}"#, .geojson),
    ]) func aFileIsKnownByItsContent(text: String, format: TourFormat) throws {
        #expect(try TourFormat.recognized(Array(text.utf8)) == format)
    }

    @Test(arguments: ["", "  \n", "PK\u{3}\u{4}", "<html/>", "lat,lon\n1,2\n"])
    func whatIsNoTourIsAnErrorThatSaysSo(text: String) {
        #expect(throws: TourFileError.self) { try TourFormat.recognized(Array(text.utf8)) }
    }
}
