// Google Earth tours, read and written.

import EarthViews
import GimbalProtocol
import MapCamera
import TestSupport
import Testing

@testable import Tours

@Suite struct KMLTests {
    /// Returns a playlist in a file as Google Earth saves it.
    private static func file(_ playlist: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"
            xmlns:kml="http://www.opengis.net/kml/2.2" xmlns:atom="http://www.w3.org/2005/Atom">
        <Document><name>Alps.kml</name><gx:Tour><name>Alps</name><gx:Playlist>
        \(playlist)
        </gx:Playlist></gx:Tour></Document></kml>
        """
    }

    private static let matterhorn = """
        <LookAt><longitude>7.6586</longitude><latitude>45.9764</latitude><altitude>0</altitude><heading>-90</heading>
        <tilt>40</tilt><range>6000</range><gx:altitudeMode>relativeToSeaFloor</gx:altitudeMode></LookAt>
        """

    @Test func aTourIsPlacesWithDurationsModesAndWaits() throws {
        let file = try TourFile(
            Self.file(
                """
                <gx:FlyTo><gx:duration>2.5</gx:duration>\(Self.matterhorn)</gx:FlyTo>
                <gx:Wait><gx:duration>1</gx:duration></gx:Wait><gx:Wait><gx:duration>0.5</gx:duration></gx:Wait>
                <gx:FlyTo id="2"><gx:flyToMode>smooth</gx:flyToMode><gx:duration>4</gx:duration>\(Self.matterhorn)</gx:FlyTo>
                """), as: .kml)
        let tour = file.tour
        #expect(tour.name == "Alps" && tour.keyframes.count == 2 && file.notes.texts.isEmpty)
        #expect(tour.keyframes.map(\.durationMs) == [2500, 4000])
        #expect(tour.keyframes.map(\.waitMs) == [1500, 0])
        #expect(tour.keyframes.map(\.path) == [.flight, .smooth])
        let position = tour.keyframes[0].position
        #expect(position.target == LatLng(latitude: 45.9764, longitude: 7.6586))
        #expect(position.bearing == 270 && position.viewingAngle == 40)
        #expect(abs(EarthView(position, viewportHeight: 844).range - 6000) < 1e-6)
    }

    @Test func aCameraIsWhatItsEyeSeesOnTheGround() throws {
        let wanted = CameraPosition(
            target: LatLng(latitude: 45.9, longitude: 7.6), zoom: 14, bearing: 200, viewingAngle: 40)
        let eye = EarthView(wanted, viewportHeight: 700).eye
        let text = Self.file(
            """
            <gx:FlyTo><Camera><longitude>\(eye.place.longitude)</longitude><latitude>\(eye.place.latitude)</latitude>
            <altitude>\(eye.altitude)</altitude><heading>\(eye.heading)</heading><tilt>\(eye.tilt)</tilt>
            <altitudeMode>absolute</altitudeMode></Camera></gx:FlyTo>
            """)
        let found = try TourFile(text, as: .kml) { $0.viewportHeight = 700 }.tour.keyframes[0].position
        #expect(abs(found.target.latitude - 45.9) < 1e-8 && abs(found.target.longitude - 7.6) < 1e-8)
        #expect(abs(found.zoom - 14) < 1e-6 && abs(found.bearing - 200) < 1e-6)
        #expect(abs(found.viewingAngle - 40) < 1e-6)
    }

    @Test func aLookAtAboveTheGroundIsTakenToTheGroundBehindIt() throws {
        let above = Self.matterhorn.replacing("<altitude>0", with: "<altitude>1000").replacing(
            "<heading>-90", with: "<heading>0")
        let position = try TourFile(Self.file("<gx:FlyTo>\(above)</gx:FlyTo>"), as: .kml).tour.keyframes[0].position
        // 1000 m up and at 40°, the camera sees a place 1000 tan 40° = 839 m further north.
        #expect(abs((position.target.latitude - 45.9764) * 111_140 - 839) < 3)
        #expect(abs(position.viewingAngle - 40) < 0.02)
    }

    @Test func whatACameraDoesNotDoIsLeftOutAndTold() throws {
        let file = try TourFile(
            Self.file(
                """
                <gx:Wait><gx:duration>1</gx:duration></gx:Wait>
                <gx:TourControl><gx:playMode>pause</gx:playMode></gx:TourControl>
                <gx:SoundCue><href>a.mp3</href></gx:SoundCue><gx:SoundCue/>
                <gx:AnimatedUpdate><Update><Change/></Update></gx:AnimatedUpdate><gx:FlyTo/>
                <gx:FlyTo><Camera><altitude>1000</altitude><altitudeMode>absolute</altitudeMode><roll>5</roll>
                <tilt>80</tilt></Camera></gx:FlyTo>
                """), as: .kml)
        #expect(file.tour.keyframes.count == 1)
        #expect(
            file.notes.texts == [
                ":5: a <gx:Wait> before the first <gx:FlyTo> is left out",
                ":6: a <gx:TourControl> is left out: a camera does not pause by itself",
                ":7: a <gx:SoundCue> is left out: a camera only moves (2 times)",
                ":8: a <gx:AnimatedUpdate> is left out: a camera only moves",
                ":8: a <gx:FlyTo> without <LookAt> or <Camera> is left out",
                ":9: a <roll> is left out: a camera's horizon is level",
                ":9: a <Camera> looks further up than a camera can, and is lowered",
            ])
    }

    @Test(arguments: [
        ("<gx:FlyTo><gx:duration>nan</gx:duration></gx:FlyTo>", "<duration> must be a number from 0 to 3600"),
        ("<gx:FlyTo><gx:duration>-1</gx:duration></gx:FlyTo>", "from 0 to 3600"),
        ("<gx:FlyTo><gx:duration>1e999</gx:duration></gx:FlyTo>", "from 0 to 3600"),
        ("<gx:FlyTo><gx:duration>0x10</gx:duration></gx:FlyTo>", "from 0 to 3600"),
        ("<gx:FlyTo><gx:duration></gx:duration></gx:FlyTo>", "from 0 to 3600"),
        ("<gx:FlyTo><gx:flyToMode>fast</gx:flyToMode></gx:FlyTo>", "smooth or bounce"),
        ("<gx:FlyTo><LookAt/></gx:FlyTo>", "needs a <range>"),
        ("<gx:FlyTo><LookAt><range>0</range></LookAt></gx:FlyTo>", "<range> must be a number from 0.001"),
        ("<gx:FlyTo><LookAt><latitude>91</latitude></LookAt></gx:FlyTo>", "<latitude> must be a number from -90 to 90"),
        ("<gx:FlyTo><LookAt><altitudeMode>up</altitudeMode></LookAt></gx:FlyTo>", "clampToGround, relativeToGround"),
        ("<gx:FlyTo><Camera><altitude>10</altitude></Camera></gx:FlyTo>", "must be above the ground"),
        ("<gx:FlyTo>\(matterhorn)\(matterhorn)</gx:FlyTo>", "one <LookAt> or one <Camera>"),
        (
            "<gx:FlyTo>\(matterhorn)</gx:FlyTo>"
                + String(repeating: "<gx:Wait><gx:duration>3600</gx:duration></gx:Wait>", count: 2), "more than an hour"
        ),
    ]) func whatIsWrongIsAnErrorWithItsLineAndWhatIsRight(playlist: String, message: String) {
        let error = #expect(throws: TourFileError.self) { try TourFile(Self.file(playlist), as: .kml) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect((5...7).contains(error?.line ?? 0))
    }

    @Test func aTourHasAsManyPlacesAsTheLimitAndNoMore() throws {
        let place = "<gx:FlyTo>\(Self.matterhorn)</gx:FlyTo>"
        let most = TourKeyframe.most
        #expect(try TourFile(Self.file(String(repeating: place, count: most)), as: .kml).tour.keyframes.count == most)
        #expect(throws: TourFileError("the tour has \(most + 1) places to fly to; the limit is \(most)")) {
            try TourFile(Self.file(String(repeating: place, count: most + 1)), as: .kml)
        }
    }

    @Test func theFirstOfSeveralToursIsTakenOrTheNamedOne() throws {
        let two =
            "<kml><Folder>"
            + ["One", "Two"].map { name in
                "<gx:Tour><name>\(name)</name><gx:Playlist><gx:FlyTo>\(Self.matterhorn)</gx:FlyTo></gx:Playlist></gx:Tour>"
            }.joined() + "</Folder></kml>"
        #expect(try TourFile(two, as: .kml).tour.name == "One")
        #expect(try TourFile(two, as: .kml) { $0.name = "Two" }.tour.name == "Two")
        #expect(throws: TourFileError("the file has no tour named Three; there are: One, Two")) {
            try TourFile(two, as: .kml) { $0.name = "Three" }
        }
    }

    @Test func aLineIsFollowedOnlyIfThatIsAskedFor() throws {
        let line = """
            <kml><Placemark><name>Way</name><LineString><coordinates>
            8.0,47.0,400 8.1,47.0 \t8.1,47.1
            </coordinates></LineString></Placemark></kml>
            """
        #expect(throws: TourFileError("the file has no <gx:Tour>; --follow-path follows its line")) {
            try TourFile(line, as: .kml)
        }
        let tour = try TourFile(line, as: .kml) { $0.followsPath = true }.tour
        #expect(tour.name == "Way" && tour.keyframes.count > 2)
        #expect(tour.keyframes.first?.position.target == LatLng(latitude: 47, longitude: 8))
    }

    @Test(arguments: [
        "<gx:MultiTrack><gx:Track><gx:coord>8 47 0</gx:coord></gx:Track><gx:Track/>"
            + "<gx:Track><gx:coord>9 47 0</gx:coord></gx:Track></gx:MultiTrack>",
        "<LineString/><MultiGeometry><LineString><coordinates>8,47</coordinates></LineString>"
            + "<LineString><coordinates>9,47</coordinates></LineString></MultiGeometry>",
    ]) func theLinesOfOneGeometryAreOneLine(text: String) throws {
        let kml = #"<kml xmlns:gx="g"><Placemark><name>Way</name>\#(text)</Placemark></kml>"#
        let tour = try TourFile(kml, as: .kml) { $0.followsPath = true }.tour
        #expect(tour.name == "Way" && tour.keyframes.last?.position.target.longitude == 9)
    }

    /// Returns a tour that KML can express completely.
    private static func tour(_ random: inout Seeded) -> NamedTour {
        let keyframes = (0..<Int.random(in: 1...8, using: &random)).map { _ in
            let zoom = random.number(2...20)
            return TourKeyframe(
                CameraPosition(
                    target: LatLng(latitude: random.number(-85...85), longitude: random.number(-180...179.9)),
                    zoom: zoom,
                    bearing: random.number(0...359.9),
                    viewingAngle: random.number(0...CameraConstraints.viewingAngleCeiling(atZoom: zoom))),
                durationMs: random.number(0...10_000).rounded(), waitMs: Bool.random(using: &random) ? 0 : 1500,
                path: Bool.random(using: &random) ? .smooth : .flight)
        }
        return NamedTour(name: "A <b> & \"c\" ä", keyframes)
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>) func aTourComesBackFromKMLAndItsBytesAreTheSameAgain(
        seed: UInt64
    ) throws {
        var random = Seeded(seed)
        let tour = Self.tour(&random)
        let height = random.number(200...2000).rounded()
        let (bytes, notes) = tour.kml(viewportHeight: height)
        var options = TourOptions()
        options.viewportHeight = height
        let back = try TourFile(bytes, as: .kml, options)
        #expect(back.notes.texts.isEmpty && notes.texts.isEmpty && back.tour.name == tour.name)
        #expect(back.tour.keyframes.map(\.durationMs) == tour.keyframes.map(\.durationMs))
        #expect(back.tour.keyframes.map(\.waitMs) == tour.keyframes.map(\.waitMs))
        #expect(back.tour.keyframes.map(\.path) == tour.keyframes.map(\.path))
        for (a, b) in zip(tour.keyframes.map(\.position), back.tour.keyframes.map(\.position)) {
            #expect(abs(a.target.latitude - b.target.latitude) < 1e-9)
            #expect(abs(a.target.longitude - b.target.longitude) < 1e-9)
            #expect(abs(a.zoom - b.zoom) < 1e-4 && abs(a.bearing - b.bearing) < 1e-6)
            #expect(abs(a.viewingAngle - b.viewingAngle) < 1e-6)
        }
        #expect(back.tour.kml(viewportHeight: height).bytes == bytes)
    }

    @Test func whatWrapsOrIsClampedInATourIsSoInKML() throws {
        let positions = [
            CameraPosition(target: LatLng(latitude: 10, longitude: 400), zoom: 25, bearing: -30, viewingAngle: 10),
            CameraPosition(target: LatLng(latitude: -90, longitude: -200), zoom: 1, bearing: 725, viewingAngle: 100),
        ]
        let bytes = NamedTour(positions.map { TourKeyframe($0, durationMs: 1000) }).kml(viewportHeight: 844).bytes
        let back = try TourFile(bytes, as: .kml, TourOptions())
        #expect(back.notes.texts.isEmpty)
        for (found, wanted) in zip(back.tour.keyframes, positions.map { Camera(position: $0).position }) {
            #expect(abs(found.position.target.latitude - wanted.target.latitude) < 1e-6)
            #expect(abs(wrap180(found.position.target.longitude - wanted.target.longitude)) < 1e-6)
            #expect(abs(found.position.zoom - wanted.zoom) < 1e-4)
            #expect(abs(wrap180(found.position.bearing - wanted.bearing)) < 1e-6)
            #expect(abs(found.position.viewingAngle - wanted.viewingAngle) < 1e-6)
        }
    }
}
