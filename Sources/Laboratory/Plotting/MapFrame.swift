// The part of the Mercator plane that the picture shows, and its scale. It contains the target's whole path, and views
// and bounds only as far as they leave the path large enough to be seen.

import MapCamera

/// A rectangle of the Mercator plane in radians; `x` is not wrapped.
struct Extent {
    var west: Double
    var east: Double
    var south: Double
    var north: Double

    init?(_ points: [MercatorPoint]) {
        guard let first = points.first else { return nil }
        self = points.reduce(into: Extent(first)) { $0.add($1) }
    }

    static let nowhere = Extent(MercatorPoint(x: 0, y: 0))

    private init(_ point: MercatorPoint) { (west, east, south, north) = (point.x, point.x, point.y, point.y) }

    mutating func add(_ point: MercatorPoint) {
        (west, east) = (min(west, point.x), max(east, point.x))
        (south, north) = (min(south, point.y), max(north, point.y))
    }

    var width: Double { east - west }
    var height: Double { north - south }
    var size: Double { max(width, height) }

    func joined(_ other: Extent) -> Extent {
        var extent = self
        extent.add(MercatorPoint(x: other.west, y: other.south))
        extent.add(MercatorPoint(x: other.east, y: other.north))
        return extent
    }
}

struct MapFrame {
    /// The picture's rectangle.
    let left: Double
    let top: Double
    let width: Double
    let height: Double
    /// Units of the picture per radian.
    let scale: Double
    let west: Double
    let north: Double
    /// Whether the path goes so far round the globe that it is shown on one map of the world instead of unwrapped.
    let isWorld: Bool

    private static let heights = 250.0...430.0
    /// How many times as large as the path, and as the smallest of the views, the map may be.
    private static let excess = (way: 6.0, view: 16.0)
    /// The width of the globe, from -180° to 180°.
    private static let world = 2 * Double.pi

    init(way: Extent, others: [Extent], left: Double, top: Double, width: Double) {
        isWorld = way.width > Self.world
        var extent = way
        let largest = max(Self.excess.way * way.size, Self.excess.view * (others.map(\.size).min() ?? 0))
        for other in others.sorted(by: { $0.size < $1.size }) {
            let larger = extent.joined(other)
            if larger.size <= largest { extent = larger }
        }
        if isWorld { (extent.west, extent.east) = (-.pi, .pi) }
        let margin = isWorld ? 1 : 1.1
        let (spanX, spanY) = (max(extent.width, 1e-9) * margin, max(extent.height, 1e-9) * 1.1)
        height = min(max(width * spanY / spanX, Self.heights.lowerBound), Self.heights.upperBound)
        scale = min(width / spanX, height / spanY)
        west = (extent.west + extent.east) / 2 - width / scale / 2
        north = (extent.south + extent.north) / 2 + height / scale / 2
        (self.left, self.top, self.width) = (left, top, width)
    }

    var right: Double { left + width }
    var bottom: Double { top + height }
    /// The visible part of the Mercator plane, in radians.
    var x: ClosedRange<Double> { west...(west + width / scale) }
    var y: ClosedRange<Double> { (north - height / scale)...north }

    func draw(_ class: String, _ svg: inout SVG) { svg.rect(`class`, left, top, width, height) }

    func spot(_ point: MercatorPoint) -> Spot {
        Spot(x: left + (point.x - west) * scale, y: top + (north - point.y) * scale)
    }

    /// Whether the whole map is inside a quadrangle, so that none of the quadrangle's sides would be seen.
    func isInside(_ corners: [Spot]) -> Bool {
        let own = [Spot(x: left, y: top), Spot(x: right, y: top), Spot(x: right, y: bottom), Spot(x: left, y: bottom)]
        return corners.indices.allSatisfy { index in
            let (start, end) = (corners[index], corners[(index + 1) % corners.count])
            return own.allSatisfy { (end.x - start.x) * ($0.y - start.y) > (end.y - start.y) * ($0.x - start.x) }
        }
    }

    /// Returns a line on the map; on a map of the world it leaves at one edge and enters at the other.
    func lines(_ points: [MercatorPoint]) -> [[Spot]] {
        guard isWorld, var last = points.first else { return [points.map(spot)] }
        var sheet = Self.sheet(last.x)
        var lines = [[spot(shifted(last, sheet))]]
        for point in points.dropFirst() {
            let next = Self.sheet(point.x)
            if next != sheet {
                let edge = .pi + Self.world * Double(min(sheet, next))
                let share = (edge - last.x) / (point.x - last.x)
                let crossing = MercatorPoint(x: edge, y: last.y + share * (point.y - last.y))
                lines[lines.count - 1].append(spot(shifted(crossing, sheet)))
                lines.append([spot(shifted(crossing, next))])
                sheet = next
            }
            lines[lines.count - 1].append(spot(shifted(point, sheet)))
            last = point
        }
        return lines
    }

    /// Returns where points that belong to a place are shown: on the same sheet of the map as the place.
    func spots(_ points: [MercatorPoint], of place: MercatorPoint) -> [Spot] {
        let sheet = isWorld ? Self.sheet(place.x) : 0
        return points.map { spot(shifted($0, sheet)) }
    }

    private func shifted(_ point: MercatorPoint, _ sheet: Int) -> MercatorPoint {
        MercatorPoint(x: point.x - Self.world * Double(sheet), y: point.y)
    }

    /// Returns how many times round the globe a longitude is.
    private static func sheet(_ x: Double) -> Int { Int(((x + .pi) / world).rounded(.down)) }
}

extension CameraTimeline.Step {
    /// Returns the ground under the corners of a viewport without its padding, clockwise from the top left one. A corner
    /// without ground is where ground is last seen.
    func ground(in viewport: Viewport) -> [MercatorPoint] {
        let projection = Projection(position, viewport: viewport)
        let padding = viewport.padding
        let (left, right) = (padding.left, viewport.width - padding.right)
        let (top, bottom) = (padding.top, viewport.height - padding.bottom)
        return [(left, top), (right, top), (right, bottom), (left, bottom)].map { x, y in
            ground(under: ScreenPoint(x: x, y: y), projection)
        }
    }

    /// Finds the place under a point, in steps short enough to follow the longitude round the globe.
    private func ground(under point: ScreenPoint, _ projection: Projection) -> MercatorPoint {
        let count = 32
        var last = place
        for step in 1...count {
            let between = projection.viewport.center.towards(point, Double(step) / Double(count))
            guard let found = projection.coordinate(for: between) else { return last }
            let place = MercatorPoint(found)
            let east = wrap180((place.x - last.x) * (180 / .pi)) * (.pi / 180)
            last = MercatorPoint(x: last.x + east, y: place.y)
        }
        return last
    }
}
