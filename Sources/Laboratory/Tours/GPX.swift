// Reads tracks and routes from GPX files, as GPS receivers and route planners write them.

import MapCamera

/// Reads the tracks and routes of a GPX file.
struct GPXReader {
    private(set) var tracks: [FollowedLine] = []
    private(set) var routes: [FollowedLine] = []
    private let xml: XMLReader

    init(_ bytes: [UInt8]) throws(TourFileError) {
        xml = XMLReader(bytes)
        guard let root = try xml.nextChild() else { return }
        guard root.name == "gpx" else { throw TourFileError(line: root.line, "<\(root.name)> is not <gpx>") }
        while let element = try xml.nextChild() {
            switch element.name {
            case "trk": tracks.append(try readTrack())
            case "rte": routes.append(try readPoints(named: "rtept"))
            default: try xml.skip(element)
            }
        }
        _ = try xml.next()
        // A line without points cannot be followed, but is no reason to reject the others.
        tracks.removeAll(where: \.points.isEmpty)
        routes.removeAll(where: \.points.isEmpty)
    }

    /// Reads a track; its segments become one line.
    private mutating func readTrack() throws(TourFileError) -> FollowedLine {
        var track = FollowedLine()
        while let element = try xml.nextChild() {
            switch element.name {
            case "name": track.name = try xml.readText(of: element)
            case "trkseg": track.points += try readPoints(named: "trkpt").points
            default: try xml.skip(element)
            }
        }
        return track
    }

    private mutating func readPoints(named point: String) throws(TourFileError) -> FollowedLine {
        var line = FollowedLine()
        while let element = try xml.nextChild() {
            switch element.name {
            case point: line.points.append(try readPoint(element))
            case "name": line.name = try xml.readText(of: element)
            default: try xml.skip(element)
            }
        }
        return line
    }

    private mutating func readPoint(_ point: XMLReader.Element) throws(TourFileError) -> FollowedLine.Point {
        guard let latitude = point[attribute: "lat"], let longitude = point[attribute: "lon"] else {
            throw TourFileError(
                line: point.line, "<\(point.name)> needs lat and lon, such as lat=\"48.13\" lon=\"11.57\"")
        }
        var found = FollowedLine.Point(
            place: LatLng(
                latitude: try XMLReader.number(latitude, "lat", in: -90...90, line: point.line),
                longitude: wrap180(try XMLReader.number(longitude, "lon", in: -360...360, line: point.line))))
        while let element = try xml.nextChild() {
            guard element.name == "time" else {
                try xml.skip(element)
                continue
            }
            found.timeMs = try WrittenDate.milliseconds(try xml.readText(of: element), line: element.line)
        }
        return found
    }
}
