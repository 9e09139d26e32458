// Lines of GeoJSON (RFC 7946): LineString, MultiLineString, and the objects that contain them.

import JSONLines
import MapCamera

enum GeoJSON {
    /// Returns the lines of a file, in their order.
    ///
    /// - Throws: `TourFileError` that names the line, or the member that is wrong.
    static func lines(_ bytes: [UInt8]) throws(TourFileError) -> [FollowedLine] {
        var lines: [FollowedLine] = []
        try read(try JSONTour.value(bytes), "", Feature(), &lines)
        return lines
    }

    /// The properties of a feature that apply to its geometry.
    private struct Feature {
        var name: String?
        /// The times of its points, from `coordTimes` or `times`.
        var times: JSONValue?
    }

    private static func read(
        _ value: JSONValue, _ path: String, _ feature: Feature, _ lines: inout [FollowedLine]
    ) throws(TourFileError) {
        switch value["type"]?.string {
        case "FeatureCollection":
            for (index, item) in try array(value, "features", path).enumerated() {
                try read(item, "\(path)features[\(index)].", Feature(), &lines)
            }
        case "Feature":
            let properties = value["properties"]
            let feature = Feature(
                name: properties?["name"]?.string,
                times: properties?["coordTimes"] ?? properties?["coordinateProperties"]?["times"])
            guard let geometry = value["geometry"] else {
                throw TourFileError("\(path)geometry is missing: a Feature has one, or null")
            }
            if geometry != .null { try read(geometry, path + "geometry.", feature, &lines) }
        case "GeometryCollection":
            for (index, item) in try array(value, "geometries", path).enumerated() {
                try read(item, "\(path)geometries[\(index)].", feature, &lines)
            }
        case "LineString":
            lines.append(try line(try array(value, "coordinates", path), path + "coordinates", feature))
        case "MultiLineString":
            var whole = FollowedLine(name: feature.name)
            for (index, part) in try array(value, "coordinates", path).enumerated() {
                let name = "\(path)coordinates[\(index)]"
                guard let points = part.array else { throw TourFileError("\(name) must be an array of positions") }
                var inner = feature
                inner.times = feature.times?.array.flatMap { index < $0.count ? $0[index] : nil }
                whole.points += try line(points, name, inner).points
            }
            lines.append(whole)
        case "Point", "MultiPoint", "Polygon", "MultiPolygon": break
        case let type:
            throw TourFileError(
                "\(path)type must be one of GeoJSON's, such as LineString or FeatureCollection"
                    + (type.map { ", not \($0.prefix(40))" } ?? ""))
        }
    }

    private static func array(_ value: JSONValue, _ name: String, _ path: String) throws(TourFileError) -> [JSONValue] {
        guard let array = value[name]?.array else { throw TourFileError("\(path)\(name) must be an array") }
        return array
    }

    private static func line(
        _ points: [JSONValue], _ path: String, _ feature: Feature
    ) throws(TourFileError) -> FollowedLine {
        var line = FollowedLine(name: feature.name)
        let times = feature.times?.array.flatMap { $0.count == points.count ? $0 : nil }
        for (index, position) in points.enumerated() {
            guard let numbers = position.array, numbers.count >= 2, let longitude = numbers[0].number,
                let latitude = numbers[1].number, (-360...360).contains(longitude), (-90...90).contains(latitude)
            else {
                throw TourFileError(
                    "\(path)[\(index)] must be longitude and latitude, -360 to 360 and -90 to 90, such as [11.57, 48.13]"
                )
            }
            var point = FollowedLine.Point(place: LatLng(latitude: latitude, longitude: wrap180(longitude)))
            if let time = times?[index].string { point.timeMs = try WrittenDate.milliseconds(time, line: nil) }
            line.points.append(point)
        }
        return line
    }
}
