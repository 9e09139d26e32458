// The upper half of the picture: the target's way over the map, where it may be, and what the camera showed.

import MapCamera

struct MapPanel {
    let frame: MapFrame
    private let timeline: CameraTimeline
    private let views: [(step: CameraTimeline.Step, footprint: Footprint)]
    private let bounds: [CoordinateBounds]

    /// WGS 84's, in metres.
    private static let earthRadius = 6_378_137.0
    /// Points of all lines together.
    private static let mostPoints = 8000

    /// - Parameter moments: times whose view is shown, in the trace's milliseconds.
    init(_ timeline: CameraTimeline, moments: [Double], left: Double, top: Double, width: Double) {
        self.timeline = timeline
        views = moments.compactMap { time in
            guard let step = timeline.step(at: time), let limits = timeline.limits(at: time) else { return nil }
            return (step, Footprint(step, viewport: limits.viewport))
        }
        bounds = timeline.limits.compactMap(\.targetBounds).reduce(into: []) { all, next in
            if !all.contains(next) { all.append(next) }
        }
        let way = Extent(timeline.steps.map(\.place))
        let place = timeline.steps.first?.place ?? MercatorPoint(x: 0, y: 0)
        let others =
            views.compactMap { Extent($0.footprint.corners) }
            + bounds.compactMap { Extent(Self.corners($0, near: place)) }
        frame = MapFrame(way: way ?? .nowhere, others: others, left: left, top: top, width: width)
    }

    var hasBounds: Bool { !bounds.isEmpty }

    /// The corners of bounds, on the turn round the globe that is nearest to a place.
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

    func draw(_ svg: inout SVG) {
        let origin = MercatorPoint(x: frame.west, y: frame.north).coordinate
        let facts = [
            ("west", SVG.number(origin.longitude, 9)), ("north", SVG.number(origin.latitude, 9)),
            ("left", SVG.number(frame.left)), ("top", SVG.number(frame.top)),
            ("units-per-radian", SVG.number(frame.scale, 6)),
        ]
        svg.group("class=\"map\" " + facts.map { "data-\($0.0)=\"\($0.1)\"" }.joined(separator: " ")) { svg in
            frame.draw("panel", &svg)
            graticule(&svg)
            svg.group(#"clip-path="url(#map)""#) { svg in
                for bounds in bounds { draw(bounds, &svg) }
                for view in views { draw(view.footprint, of: view.step, &svg) }
                for (cause, lines) in way() { svg.lines("way \(cause.word)", lines) }
            }
            drawNumbers(&svg)
            scaleBar(&svg)
            frame.draw("frame", &svg)
        }
    }

    private func draw(_ bounds: CoordinateBounds, _ svg: inout SVG) {
        let middle = MercatorPoint(
            x: frame.isWorld ? 0 : (frame.x.lowerBound + frame.x.upperBound) / 2, y: 0)
        svg.lines("bounds", [Self.corners(bounds, near: middle).map(frame.spot)], isClosed: true)
    }

    private func draw(_ footprint: Footprint, of step: CameraTimeline.Step, _ svg: inout SVG) {
        let spots = frame.spots(footprint.corners, of: step.place)
        guard !frame.isInside(spots) else { return }
        svg.lines("view", [spots], isClosed: true)
        svg.lines("far", [Array(spots[..<2])])
    }

    /// The numbers of the moments, beside the targets; those whose places are too near to each other stand together.
    private func drawNumbers(_ svg: inout SVG) {
        var labels: [(spot: Spot, text: String)] = []
        for (index, view) in views.enumerated() {
            let spot = frame.spots([view.step.place], of: view.step.place)[0]
            guard frame.contains(spot) else { continue }
            svg.circle("dot", spot.x, spot.y, 2.6)
            if let near = labels.firstIndex(where: { abs($0.spot.x - spot.x) < 24 && abs($0.spot.y - spot.y) < 12 }) {
                labels[near].text += ", \(index + 1)"
            } else {
                labels.append((spot, "\(index + 1)"))
            }
        }
        for label in labels {
            let isRight = label.spot.x < frame.right - 40
            svg.label(
                "halo number\(isRight ? "" : " end")", label.spot.x + (isRight ? 7 : -7), label.spot.y - 6, label.text)
        }
    }

    // MARK: The way

    /// The lines that the target was moved along, by what moved it.
    private func way() -> [(Cause, [[Spot]])] {
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
        return thinned(pieces)
    }

    private func thinned(_ pieces: [(cause: Cause, lines: [[Spot]])]) -> [(Cause, [[Spot]])] {
        let causes = pieces.flatMap { piece in piece.lines.map { _ in piece.cause } }
        let lines = Thinning.lines(pieces.flatMap(\.lines), tolerance: 0.3, atMost: Self.mostPoints)
        return Cause.allCases.map { cause in (cause, zip(causes, lines).filter { $0.0 == cause }.map(\.1)) }
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
            let wrapped = wrap180(longitude)
            svg.label("middle", x, frame.bottom + 16, degrees(wrapped, "E", "W", meridians.places))
        }
        var lastLabel = Double.infinity
        for latitude in parallels.values where abs(latitude) < 90 {
            let y = frame.spot(MercatorPoint(LatLng(latitude: latitude, longitude: 0))).y
            svg.line("grid", frame.left, y, frame.right, y)
            guard lastLabel - y > 16 else { continue }
            lastLabel = y
            svg.label("end", frame.left - 6, y + 4.5, degrees(latitude, "N", "S", parallels.places))
        }
    }

    private func degrees(_ value: Double, _ positive: String, _ negative: String, _ places: Int) -> String {
        let size = SVG.number(abs(value), places)
        let isPlain = size == "0" || positive == "E" && size == "180"
        return "\(size)°" + (isPlain ? "" : value > 0 ? positive : negative)
    }

    /// The scale in the middle of the map: Mercator's is another at every latitude.
    private func scaleBar(_ svg: inout SVG) {
        let latitude = MercatorPoint(x: 0, y: (frame.y.lowerBound + frame.y.upperBound) / 2).coordinate.latitude
        let metresPerUnit = Self.earthRadius * Elementary.cosine(latitude) / frame.scale
        guard let metres = Ticks.decimal(-2...7).last(where: { $0 / metresPerUnit <= 140 }) else { return }
        let text = metres >= 1000 ? "\(SVG.number(metres / 1000, 0)) km" : "\(SVG.number(metres, 2)) m"
        let (right, y) = (frame.right - 10, frame.bottom - 10)
        let left = right - metres / metresPerUnit
        svg.lines(
            "bar",
            [[Spot(x: left, y: y - 5), Spot(x: left, y: y), Spot(x: right, y: y), Spot(x: right, y: y - 5)]])
        let spread = abs(MercatorPoint(x: 0, y: frame.y.upperBound).coordinate.latitude - latitude)
        let place = spread > 2 ? " at \(degrees(latitude.rounded(), "N", "S", 0))" : ""
        svg.label("halo end", right, y - 8, text + place)
    }
}

extension Cause {
    /// The class of what is drawn for it.
    var word: String {
        switch self {
        case .fingers: "fingers"
        case .glide: "glide"
        case .animation: "animation"
        case .command: "snap"
        }
    }

    /// What the legend says.
    var legend: String {
        switch self {
        case .fingers: "fingers"
        case .glide: "fling, inertia, tap"
        case .animation: "animation"
        case .command: "at once"
        }
    }
}
