// The coasts and borders on a map, from Natural Earth's countries at 1:110m, as lines.

import MapCamera
import WorldMap

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

    /// All rings. Strings in the file are skipped. Each innermost list of numbers is a ring: alternating longitudes and
    /// latitudes in hundredths of a degree, each as the difference from the one before.
    private static let rings: [[MercatorPoint]] = {
        let bytes = unsafe UnsafeBufferPointer(start: world_map, count: world_map_count)
        var rings: [[MercatorPoint]] = []
        var numbers: [Int] = []
        var (number, isNegative, isString): (Int?, Bool, Bool) = (nil, false, false)
        for index in bytes.indices {
            let byte = unsafe bytes[index]
            if byte == UInt8(ascii: "\"") { isString.toggle() }
            if isString { continue }
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = 10 * (number ?? 0) + Int(byte - UInt8(ascii: "0"))
            default:
                if let found = number { numbers.append(isNegative ? -found : found) }
                (number, isNegative) = (nil, false)
                guard byte == UInt8(ascii: "]"), !numbers.isEmpty else { break }
                rings.append(ring(numbers))
                numbers = []
            }
        }
        return rings
    }()

    private static func ring(_ differences: [Int]) -> [MercatorPoint] {
        var (longitude, latitude) = (0, 0)
        return stride(from: 0, to: differences.count - 1, by: 2).map { index in
            longitude += differences[index]
            latitude += differences[index + 1]
            let degrees = min(max(Double(latitude) / 100, -lastLatitude), lastLatitude)
            return MercatorPoint(LatLng(latitude: degrees, longitude: Double(longitude) / 100))
        }
    }
}
