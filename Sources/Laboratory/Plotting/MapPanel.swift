// The upper half of the picture: the target's path on the map, where the target may be, and what the camera showed. For
// two cameras it shows both, and where they first diverge.

import CameraStreams
import MapCamera

struct MapPanel {
    let frame: MapFrame
    private let layers: [Layer]
    private let views: [View]
    private let bounds: [CoordinateBounds]
    private let comparison: Comparison?
    private let clipName: String

    /// What a camera showed at a moment.
    private struct View {
        let moment: Int
        let layer: Layer
        let step: CameraTimeline.Step
        /// The ground that it showed.
        let ground: [MercatorPoint]
    }

    /// The equatorial radius of WGS 84, in metres.
    private static let earthRadius = 6_378_137.0
    /// The maximum number of points in all lines together.
    private static let mostPoints = 8000

    /// - Parameters:
    ///   - moments: times whose views are shown, in milliseconds of the trace's clock.
    ///   - clip: the name of the rectangle outside which nothing is drawn.
    init(
        _ layers: [Layer], moments: [Double], _ comparison: Comparison?, clip: String, left: Double, top: Double,
        width: Double
    ) {
        (self.layers, self.comparison, clipName) = (layers, comparison, clip)
        views = layers.flatMap { layer in
            moments.enumerated().compactMap { index, time -> View? in
                let timeline = layer.timeline
                guard let step = timeline.step(at: time), let limits = timeline.limits(at: time) else { return nil }
                return View(moment: index, layer: layer, step: step, ground: step.ground(in: limits.viewport))
            }
        }
        bounds = layers.flatMap { $0.timeline.limits.compactMap(\.targetBounds) }.reduce(into: []) { all, next in
            if !all.contains(next) { all.append(next) }
        }
        let way = Extent(layers.flatMap { $0.timeline.steps.map(\.place) })
        let place = layers.first?.timeline.steps.first?.place ?? MercatorPoint(x: 0, y: 0)
        let others =
            views.compactMap { Extent($0.ground) }
            + bounds.compactMap { Extent(Self.corners($0, near: place)) }
        frame = MapFrame(way: way ?? .nowhere, others: others, left: left, top: top, width: width)
    }

    var hasBounds: Bool { !bounds.isEmpty }

    /// Returns the corners of bounds, on the turn of the globe nearest to a place.
    private static func corners(_ bounds: CoordinateBounds, near place: MercatorPoint) -> [MercatorPoint] {
        let southWest = MercatorPoint(bounds.southWest)
        let width = bounds.width * (.pi / 180)
        let turns = ((place.x - southWest.x - width / 2) / (2 * .pi)).rounded()
        let west = southWest.x + turns * 2 * .pi
        let north = MercatorPoint(bounds.northEast).y
        return [
            MercatorPoint(x: west, y: north), MercatorPoint(x: west + width, y: north),
            MercatorPoint(x: west + width, y: southWest.y), MercatorPoint(x: west, y: southWest.y),
        ]
    }

    // MARK: Drawing

    func clip(_ svg: inout SVG) { svg.group("id=\"\(clipName)\"", as: "clipPath") { frame.draw("panel", &$0) } }

    func draw(_ svg: inout SVG) {
        let ways = layers.flatMap(way)
        let origin = MercatorPoint(x: frame.west, y: frame.north).coordinate
        let facts = [
            ("west", SVG.number(origin.longitude, 9)), ("north", SVG.number(origin.latitude, 9)),
            ("left", SVG.number(frame.left)), ("top", SVG.number(frame.top)),
            ("units-per-radian", SVG.number(frame.scale, 6)),
        ]
        svg.group("class=\"map\" " + facts.map { "data-\($0.0)=\"\($0.1)\"" }.joined(separator: " ")) { svg in
            frame.draw("panel", &svg)
            svg.group("clip-path=\"url(#\(clipName))\"") { $0.lines("coast", Coasts.lines(on: frame)) }
            graticule(&svg)
            svg.group("clip-path=\"url(#\(clipName))\"") { svg in
                let middle = MercatorPoint(x: frame.isWorld ? 0 : (frame.x.lowerBound + frame.x.upperBound) / 2, y: 0)
                for bounds in bounds {
                    svg.lines("bounds", [Self.corners(bounds, near: middle).map(frame.spot)], isClosed: true)
                }
                for view in views { draw(view, &svg) }
                for (name, lines) in ways { svg.lines(name, lines) }
                markApart(&svg)
            }
            var labels = Labels(on: frame, besides: ways.flatMap(\.lines))
            scaleBar(&labels, &svg)
            drawNumbers(&labels, &svg)
            frame.draw("frame", &svg)
        }
    }

    private func draw(_ view: View, _ svg: inout SVG) {
        let spots = frame.spots(view.ground, of: view.step.place)
        guard !frame.isInside(spots) else { return }
        svg.lines(view.layer.styled("view"), [spots], isClosed: true)
        svg.lines(view.layer.styled("far"), [Array(spots[..<2])])
    }

    /// Draws a ring where two paths first diverge, on the turn of the globe where the first path is then.
    private func markApart(_ svg: inout SVG) {
        guard let first = comparison?.first, let near = layers[0].timeline.step(at: first.timeMs)?.place else {
            return
        }
        var point = MercatorPoint(first.expected.position.target)
        point.x += ((near.x - point.x) / (2 * .pi)).rounded() * 2 * .pi
        let spot = frame.spots([point], of: near)[0]
        svg.circle("apart", spot.x, spot.y, 8)
    }

    /// Draws the numbers of the moments beside the targets; moments at places close to each other share a label.
    private func drawNumbers(_ labels: inout Labels, _ svg: inout SVG) {
        var numbers: [(spot: Spot, moments: [Int])] = []
        for view in views {
            let spot = frame.spots([view.step.place], of: view.step.place)[0]
            let isOnMap = (frame.left...frame.right).contains(spot.x) && (frame.top...frame.bottom).contains(spot.y)
            guard isOnMap else { continue }
            svg.circle(view.layer.styled("dot"), spot.x, spot.y, 2.6)
            labels.keepFree(spot.x - 2...spot.x + 2, spot.y - 2...spot.y + 2)
            if let near = numbers.firstIndex(where: { abs($0.spot.x - spot.x) < 24 && abs($0.spot.y - spot.y) < 12 }) {
                if !numbers[near].moments.contains(view.moment) { numbers[near].moments.append(view.moment) }
            } else {
                numbers.append((spot, [view.moment]))
            }
        }
        for number in numbers {
            let text = number.moments.sorted().map { "\($0 + 1)" }.joined(separator: ", ")
            let place = labels.place(text, beside: number.spot)
            svg.label("halo number", place.x, place.y, text)
        }
    }

    // MARK: The path

    /// Returns the lines along which a target moved, by what moved it; of two cameras, each path as one.
    private func way(_ layer: Layer) -> [(name: String, lines: [[Spot]])] {
        let timeline = layer.timeline
        guard layer.role == .alone else {
            let lines = frame.lines(timeline.steps.map(\.place))
            return [(layer.styled("way"), Thinning.lines(lines, tolerance: 0.1, atMost: Self.mostPoints))]
        }
        var pieces: [(cause: Cause, lines: [[Spot]])] = []
        var start = 0
        while start + 1 < timeline.steps.count {
            guard let cause = timeline.steps[start + 1].cause else {
                start += 1
                continue
            }
            var end = start + 1
            while end + 1 < timeline.steps.count, timeline.steps[end + 1].cause == cause { end += 1 }
            pieces.append((cause, frame.lines(timeline.steps[start...end].map(\.place))))
            start = end
        }
        let causes = pieces.flatMap { piece in piece.lines.map { _ in piece.cause } }
        let lines = Thinning.lines(pieces.flatMap(\.lines), tolerance: 0.3, atMost: Self.mostPoints)
        return Cause.allCases.map { cause in
            ("way \(cause.rawValue)", zip(causes, lines).filter { $0.0 == cause }.map(\.1))
        }
    }

    // MARK: The graticule

    private func graticule(_ svg: inout SVG) {
        let west = frame.x.lowerBound * (180 / .pi)
        let meridians = Ticks(
            west...max(frame.x.upperBound * (180 / .pi), west + 1e-9), steps: Ticks.degrees, atMost: 5)
        let low = MercatorPoint(x: 0, y: frame.y.lowerBound).coordinate.latitude
        let high = MercatorPoint(x: 0, y: frame.y.upperBound).coordinate.latitude
        let parallels = Ticks(low...max(high, low + 1e-9), steps: Ticks.degrees, atMost: 7)
        for longitude in meridians.values {
            let x = frame.spot(MercatorPoint(LatLng(latitude: 0, longitude: longitude))).x
            svg.line("grid", x, frame.top, x, frame.bottom)
            guard (frame.left + 20...frame.right - 26).contains(x) else { continue }
            svg.label("middle", x, frame.bottom + 16, degrees(wrap180(longitude), "E", "W"))
        }
        var lastLabel = Double.infinity
        for latitude in parallels.values where abs(latitude) < 90 {
            let y = frame.spot(MercatorPoint(LatLng(latitude: latitude, longitude: 0))).y
            svg.line("grid", frame.left, y, frame.right, y)
            guard lastLabel - y > 16 else { continue }
            lastLabel = y
            svg.label("end", frame.left - 6, y + 4.5, degrees(latitude, "N", "S"))
        }
    }

    private func degrees(_ value: Double, _ positive: String, _ negative: String) -> String {
        let size = SVG.number(abs(value), 7)
        let isPlain = size == "0" || positive == "E" && size == "180"
        return "\(size)°" + (isPlain ? "" : value > 0 ? positive : negative)
    }

    /// Draws the scale for the middle of the map; in a Mercator map it differs at every latitude.
    private func scaleBar(_ labels: inout Labels, _ svg: inout SVG) {
        let latitude = MercatorPoint(x: 0, y: (frame.y.lowerBound + frame.y.upperBound) / 2).coordinate.latitude
        let metresPerUnit = Self.earthRadius * Elementary.cosine(latitude) / frame.scale
        guard let metres = Ticks.decimal(-2...7).last(where: { $0 / metresPerUnit <= 140 }) else { return }
        let text = metres >= 1000 ? "\(SVG.number(metres / 1000, 0)) km" : "\(SVG.number(metres, 2)) m"
        let spread = abs(MercatorPoint(x: 0, y: frame.y.upperBound).coordinate.latitude - latitude)
        let label = text + (spread > 2 ? " at \(degrees(latitude.rounded(), "N", "S"))" : "")
        let width = max(metres / metresPerUnit, Labels.width(of: label)) + 16
        let edge = labels.keepCornerFree(width, 34)
        let (right, y) = (edge + width - 10, frame.bottom - 10)
        let left = right - metres / metresPerUnit
        svg.rect("backdrop", edge, y - 24, width, 34)
        svg.lines(
            "bar",
            [[Spot(x: left, y: y - 5), Spot(x: left, y: y), Spot(x: right, y: y), Spot(x: right, y: y - 5)]])
        svg.label("end", right, y - 8, label)
    }
}

extension Cause {
    /// The text in the legend.
    var legend: String {
        switch self {
        case .fingers: "fingers"
        case .glide: "fling, inertia, tap"
        case .animation: "animation"
        case .command: "at once"
        }
    }
}
