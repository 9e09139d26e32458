// Reads and writes tours of Google Earth (`gx:Tour`), and reads the lines of KML files. Names omit their prefix.

import CameraStreams
import EarthViews
import GimbalProtocol
import JSONLines
import MapCamera

/// Reads the tours and lines of a KML file.
struct KMLReader {
    private(set) var tours: [NamedTour] = []
    private(set) var lines: [FollowedLine] = []
    private(set) var notes = TourNotes()
    private let xml: XMLReader
    private let height: Double

    /// The heights that a file may contain, in metres.
    private static let heights = -1e9...1e9

    init(_ bytes: [UInt8], viewportHeight: Double) throws(TourFileError) {
        xml = XMLReader(bytes)
        height = viewportHeight
        guard let root = try xml.nextChild() else { return }
        guard root.name == "kml" else { throw TourFileError(line: root.line, "<\(root.name)> is not <kml>") }
        try walk()
        _ = try xml.next()
        // A line without points cannot be followed, but is no reason to reject the others.
        lines.removeAll(where: \.points.isEmpty)
    }

    /// Looks for tours and lines in the open element.
    private mutating func walk() throws(TourFileError) {
        var name: String?
        let firstLine = lines.count
        while let element = try xml.nextChild() {
            switch element.name {
            case "Tour": try readTour()
            case "name": name = try xml.readText(of: element)
            case "LineString": try readLineString()
            case "Track": try readTrack()
            case "MultiGeometry", "MultiTrack": try readParts()
            default: try walk()
            }
        }
        for index in firstLine..<lines.count where lines[index].name == nil { lines[index].name = name }
    }

    /// Reads the open element; the lines in it become one line.
    private mutating func readParts() throws(TourFileError) {
        let first = lines.count
        try walk()
        let parts = lines[first...]
        lines.removeSubrange(first...)
        lines.append(FollowedLine(name: parts.first?.name, points: parts.flatMap(\.points)))
    }

    // MARK: Tours

    private mutating func readTour() throws(TourFileError) {
        var tour = NamedTour([])
        while let element = try xml.nextChild() {
            switch element.name {
            case "name": tour.name = try xml.readText(of: element)
            case "Playlist": try readPlaylist(&tour)
            default: try xml.skip(element)
            }
        }
        tours.append(tour)
    }

    private mutating func readPlaylist(_ tour: inout NamedTour) throws(TourFileError) {
        while let element = try xml.nextChild() {
            switch element.name {
            case "FlyTo": if let keyframe = try readFlyTo(element) { tour.keyframes.append(keyframe) }
            case "Wait":
                var wait = 0.0
                while let part = try xml.nextChild() {
                    if part.name == "duration" { wait = try readDuration(part) } else { try xml.skip(part) }
                }
                guard let last = tour.keyframes.indices.last else {
                    notes.add(line: element.line, "a <gx:Wait> before the first <gx:FlyTo> is left out")
                    continue
                }
                tour.keyframes[last].waitMs += wait
                guard tour.keyframes[last].waitMs <= TourKeyframe.longestMs else {
                    throw TourFileError(
                        line: element.line, "the camera would stay for more than an hour: wait for less")
                }
            case "TourControl":
                notes.add(line: element.line, "a <gx:TourControl> is left out: a camera does not pause by itself")
                try xml.skip(element)
            case "SoundCue", "AnimatedUpdate":
                notes.add(line: element.line, "a <gx:\(element.name)> is left out: a camera only moves")
                try xml.skip(element)
            default:
                notes.add(line: element.line, "<\(element.name)> in the playlist is left out: it is not known")
                try xml.skip(element)
            }
        }
    }

    /// Reads seconds as milliseconds, rounded to a microsecond.
    private mutating func readDuration(_ element: XMLReader.Element) throws(TourFileError) -> Double {
        (try xml.readNumber(of: element, in: 0...(TourKeyframe.longestMs / 1000)) * 1e6).rounded() / 1000
    }

    private mutating func readFlyTo(_ flyTo: XMLReader.Element) throws(TourFileError) -> TourKeyframe? {
        var (durationMs, path, position) = (0.0, TourKeyframe.Path.flight, CameraPosition?.none)
        while let element = try xml.nextChild() {
            switch element.name {
            case "duration": durationMs = try readDuration(element)
            case "flyToMode":
                switch try xml.readText(of: element) {
                case "smooth": path = .smooth
                case "bounce": path = .flight
                default: throw TourFileError(line: element.line, "<gx:flyToMode> must be smooth or bounce")
                }
            case "LookAt", "Camera":
                guard position == nil else {
                    throw TourFileError(line: element.line, "a <gx:FlyTo> must have one <LookAt> or one <Camera>")
                }
                position = try element.name == "Camera" ? readCamera(element) : readLookAt(element)
            default: try xml.skip(element)
            }
        }
        guard let position else {
            notes.add(line: flyTo.line, "a <gx:FlyTo> without <LookAt> or <Camera> is left out")
            return nil
        }
        return TourKeyframe(position, durationMs: durationMs, path: path)
    }

    // MARK: Views

    /// The members of a view; angles in degrees, lengths in metres.
    private struct View {
        var place = LatLng(latitude: 0, longitude: 0)
        var altitude = 0.0
        var heading = 0.0
        var tilt = 0.0
        var roll = 0.0
        var range: Double?
        var isOnGround = true
    }

    private mutating func readView(_ view: XMLReader.Element, tilts: ClosedRange<Double>) throws(TourFileError) -> View
    {
        var found = View()
        while let element = try xml.nextChild() {
            switch element.name {
            case "longitude": found.place.longitude = wrap180(try xml.readNumber(of: element, in: -360...360))
            case "latitude": found.place.latitude = try xml.readNumber(of: element, in: -90...90)
            case "altitude": found.altitude = try xml.readNumber(of: element, in: Self.heights)
            case "heading": found.heading = wrap360(try xml.readNumber(of: element, in: -360...360))
            case "tilt": found.tilt = try xml.readNumber(of: element, in: tilts)
            case "roll": found.roll = try xml.readNumber(of: element, in: -360...360)
            case "range": found.range = try xml.readNumber(of: element, in: 0.001...Self.heights.upperBound)
            case "altitudeMode":
                switch try xml.readText(of: element) {
                case "clampToGround", "clampToSeaFloor": found.isOnGround = true
                case "relativeToGround", "relativeToSeaFloor", "absolute": found.isOnGround = false
                default:
                    throw TourFileError(
                        line: element.line,
                        "<altitudeMode> must be clampToGround, relativeToGround or absolute, "
                            + "or gx's clampToSeaFloor or relativeToSeaFloor")
                }
            case "horizFov":
                notes.add(line: element.line, "<gx:horizFov> is left out: a camera's field of view is fixed")
                try xml.skip(element)
            default: try xml.skip(element)
            }
        }
        if found.isOnGround { found.altitude = 0 }
        return found
    }

    private mutating func readLookAt(_ element: XMLReader.Element) throws(TourFileError) -> CameraPosition {
        let view = try readView(element, tilts: 0...90)
        guard let range = view.range else {
            throw TourFileError(
                line: element.line, "a <LookAt> needs a <range>: the distance from the eye to the place, in metres")
        }
        if view.altitude == 0 {
            return EarthView(
                target: view.place, heading: view.heading, tilt: view.tilt, range: range, viewportHeight: height
            ).position
        }
        let eye = EarthView.eye(
            lookingAt: view.place, altitude: view.altitude, heading: view.heading, tilt: view.tilt, range: range)
        return try seen(by: eye, element)
    }

    private mutating func readCamera(_ element: XMLReader.Element) throws(TourFileError) -> CameraPosition {
        let view = try readView(element, tilts: 0...180)
        let eye = EarthView.Eye(
            place: view.place, altitude: view.altitude, heading: view.heading, tilt: view.tilt, roll: view.roll)
        if view.roll != 0, view.tilt != 0 {
            notes.add(line: element.line, "a <roll> is left out: a camera's horizon is level")
        }
        return try seen(by: eye, element)
    }

    private mutating func seen(
        by eye: EarthView.Eye, _ element: XMLReader.Element
    ) throws(TourFileError) -> CameraPosition {
        guard let (view, isLowered) = EarthView.seen(by: eye, viewportHeight: height) else {
            throw TourFileError(
                line: element.line,
                "the eye of a <\(element.name)> must be above the ground: an <altitude> above 0, and an <altitudeMode> of "
                    + "relativeToGround or absolute")
        }
        if isLowered {
            notes.add(
                line: element.line, "a <\(element.name)> looks further up than a camera can, and is lowered")
        }
        return view.position
    }

    // MARK: Lines

    private mutating func readLineString() throws(TourFileError) {
        var line = FollowedLine()
        while let element = try xml.nextChild() {
            guard element.name == "coordinates" else {
                try xml.skip(element)
                continue
            }
            let text = try xml.readText(of: element)
            for tuple in text.utf8.split(whereSeparator: { $0 <= 0x20 }) {
                let numbers = tuple.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                line.points.append(try place(numbers.map { String(Substring($0)) }, element))
            }
        }
        lines.append(line)
    }

    private mutating func readTrack() throws(TourFileError) {
        var (line, times) = (FollowedLine(), [Double]())
        while let element = try xml.nextChild() {
            switch element.name {
            case "when": times.append(try WrittenDate.milliseconds(try xml.readText(of: element), line: element.line))
            case "coord":
                let text = try xml.readText(of: element)
                let numbers = text.utf8.split(whereSeparator: { $0 <= 0x20 })
                line.points.append(try place(numbers.map { String(Substring($0)) }, element))
            default: try xml.skip(element)
            }
        }
        if times.count == line.points.count { for index in times.indices { line.points[index].timeMs = times[index] } }
        lines.append(line)
    }

    private func place(_ numbers: [String], _ element: XMLReader.Element) throws(TourFileError) -> FollowedLine.Point {
        guard numbers.count >= 2 else {
            throw TourFileError(
                line: element.line,
                "<\(element.name)> must have longitude and latitude, such as 11.57,48.13, and may have a height")
        }
        return FollowedLine.Point(
            place: LatLng(
                latitude: try XMLReader.number(numbers[1], "a latitude", in: -90...90, line: element.line),
                longitude: wrap180(
                    try XMLReader.number(numbers[0], "a longitude", in: -360...360, line: element.line))))
    }
}

extension NamedTour {
    /// Returns the tour as a KML file, and notes on what KML cannot express.
    ///
    /// - Parameter viewportHeight: in points; the distance of an eye depends on it.
    package func kml(viewportHeight: Double) -> (bytes: [UInt8], notes: TourNotes) {
        var (text, notes) = ("", TourNotes())
        text += """
            <?xml version="1.0" encoding="UTF-8"?>
            <kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
              <gx:Tour>

            """
        if let name { text += "    <name>\(escapedForXML(name))</name>\n" }
        text += "    <gx:Playlist>\n"
        func seconds(_ milliseconds: Double) -> String { FixedDecimal(milliseconds / 1000, places: 6).text }
        for (index, keyframe) in keyframes.enumerated() {
            if keyframe.path == .straight {
                notes.add("a straight path is written as a smooth one: KML has no other")
            }
            if keyframe.turns != 0 { notes.add("full turns are left out: KML turns the shortest way") }
            if keyframe.path != .smooth, keyframe.easing != .default {
                notes.add("an easing is left out: KML has none")
            }
            let duration = keyframe.durationMs ?? flightMs(to: index, viewportHeight: viewportHeight)
            // Any number wraps or is clamped in a tour, but not in KML.
            let position = Camera(position: keyframe.position).position
            text += """
                      <gx:FlyTo>
                        <gx:duration>\(seconds(duration))</gx:duration>
                        <gx:flyToMode>\(keyframe.path == .flight ? "bounce" : "smooth")</gx:flyToMode>
                \(EarthView(position, viewportHeight: viewportHeight).lookAt(indent: "        "))
                      </gx:FlyTo>

                """
            if keyframe.waitMs > 0 {
                text += """
                          <gx:Wait>
                            <gx:duration>\(seconds(keyframe.waitMs))</gx:duration>
                          </gx:Wait>

                    """
            }
        }
        text += "    </gx:Playlist>\n  </gx:Tour>\n</kml>\n"
        return (Array(text.utf8), notes)
    }

    /// Returns how long the flight to a keyframe without a duration takes, in milliseconds.
    private func flightMs(to index: Int, viewportHeight: Double) -> Double {
        // The first flight begins wherever the camera is.
        guard index > 0 else { return Self.firstFlightMs }
        let size = Viewport(width: Viewport.standard.width, height: viewportHeight)
        let camera = Camera(position: keyframes[index - 1].position, viewport: size)
        var stop = keyframes[index].stop
        stop.wait = 0
        return Tour([stop], of: camera)?.duration ?? Self.firstFlightMs
    }

    /// How long the first flight of a KML file takes if the tour leaves that to the camera, in milliseconds.
    private static let firstFlightMs = 3000.0
}
