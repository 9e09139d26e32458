// The coasts and borders on a map, from Natural Earth's countries at 1:110m, as lines.

import GimbalProtocol
import MapCamera

enum Coasts {
    /// The scale above which the lines would be too coarse, in units of a picture per radian: that of zoom 6.
    private static let mostScale = 256 * 64 / (2 * Double.pi)
    /// The latitude at which the Mercator map is a square.
    private static let lastLatitude = 85.0511287798066

    /// Returns the lines on a map; none where they would be too coarse.
    static func lines(on frame: MapFrame) -> [[Spot]] {
        guard frame.scale <= mostScale else { return [] }
        let world = 2 * Double.pi
        let turns = Int((frame.x.lowerBound / world).rounded(.down))...Int((frame.x.upperBound / world).rounded(.up))
        return turns.flatMap { turn in
            rings.flatMap { ring in
                pieces(of: ring.map { MercatorPoint(x: $0.x + world * Double(turn), y: $0.y) }, on: frame)
            }
        }
    }

    /// Returns the parts of a ring whose segments come near the map.
    private static func pieces(of ring: [MercatorPoint], on frame: MapFrame) -> [[Spot]] {
        var pieces: [[Spot]] = []
        var isOpen = false
        for (a, b) in zip(ring, ring.dropFirst() + ring.prefix(1)) {
            let isNear =
                max(a.x, b.x) >= frame.x.lowerBound && min(a.x, b.x) <= frame.x.upperBound
                && max(a.y, b.y) >= frame.y.lowerBound && min(a.y, b.y) <= frame.y.upperBound
            if isNear, !isOpen { pieces.append([frame.spot(a)]) }
            if isNear { pieces[pieces.count - 1].append(frame.spot(b)) }
            isOpen = isNear
        }
        return pieces
    }

    /// All rings. Each innermost list of numbers in the file is a ring: alternating longitudes and latitudes in
    /// hundredths of a degree, each as the difference from the one before.
    private static let rings = (try? JSONValue(EmbeddedFile.worldMap)).map(read) ?? []

    private static func read(_ value: JSONValue) -> [[MercatorPoint]] {
        if let object = value.object { return object.members.flatMap { read($0.value) } }
        let values = value.array ?? []
        let numbers = values.compactMap(\.number)
        return numbers.isEmpty ? values.flatMap(read) : [ring(numbers)]
    }

    private static func ring(_ differences: [Double]) -> [MercatorPoint] {
        var (longitude, latitude) = (0.0, 0.0)
        return stride(from: 0, to: differences.count - 1, by: 2).map { index in
            longitude += differences[index]
            latitude += differences[index + 1]
            let degrees = min(max(latitude / 100, -lastLatitude), lastLatitude)
            return MercatorPoint(LatLng(latitude: degrees, longitude: longitude / 100))
        }
    }
}
