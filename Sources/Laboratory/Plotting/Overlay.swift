// Two ways of a camera over one another, the place marked where they first go apart, and below how far apart they are over
// time. A pure function, as all pictures are.

import CameraStreams
import MapCamera

/// A picture of two streams and of how they differ.
package struct Overlay {
    private let expected: CameraTimeline
    private let found: CameraTimeline
    private let comparison: Comparison
    private let distances: [(timeMs: Double, points: Double)]
    private let title: String

    private static let width = 560.0
    private static let left = 92.0
    private static let right = 14.0
    private static let stripHeight = 120.0

    /// A picture that is not drawn yet.
    package init(title: String, expected: CameraStream, found: CameraStream, tolerance: Tolerance) {
        self.title = title
        self.expected = Self.timeline(expected)
        self.found = Self.timeline(found)
        comparison = Comparison(expected: expected, found: found, tolerance: tolerance)
        distances = Comparison.distances(expected: expected, found: found)
    }

    private static func timeline(_ stream: CameraStream) -> CameraTimeline {
        var timeline = CameraTimeline(from: stream.samples.first?.position ?? .initial)
        for sample in stream.samples.dropFirst() { timeline.moved(at: sample.timeMs, to: sample.position, .fingers) }
        timeline.durationMs = stream.endMs
        return timeline
    }

    /// The picture as SVG 1.1 with CSS: dark where the page is.
    package var svg: String {
        let width = Self.width - Self.left - Self.right
        let ways = Self.onOneSheet(expected, found)
        let frame = MapFrame(
            way: Extent(ways.expected + ways.found) ?? .nowhere, others: [], left: Self.left, top: 84, width: width)
        let top = frame.bottom + 52
        return SVG.picture(
            Self.width, top + Self.stripHeight + 44, left: Self.left, title: title, heading: title, facts: facts
        ) { svg in
            legend(&svg, at: 66)
            svg.group("class=\"map\" data-units-per-radian=\"\(SVG.number(frame.scale, 6))\"") { svg in
                frame.draw("panel", &svg)
                svg.lines("way glide", frame.lines(ways.expected))
                svg.lines("way fingers", frame.lines(ways.found))
                mark(frame, &svg)
                frame.draw("frame", &svg)
            }
            strip(top, width, &svg)
        }
    }

    /// Both ways, on the turn round the globe on which they begin nearest to each other.
    private static func onOneSheet(
        _ expected: CameraTimeline, _ found: CameraTimeline
    ) -> (expected: [MercatorPoint], found: [MercatorPoint]) {
        let (one, other) = (expected.steps.map(\.place), found.steps.map(\.place))
        guard let start = one.first, let otherStart = other.first else { return (one, other) }
        let turns = ((start.x - otherStart.x) / (2 * .pi)).rounded() * 2 * .pi
        return (one, other.map { MercatorPoint(x: $0.x + turns, y: $0.y) })
    }

    private var facts: String {
        guard let first = comparison.first, let worst = comparison.worst else { return "nowhere apart" }
        return
            "first apart at \(SVG.number(first.timeMs / 1000, 3)) s by \(SVG.number(first.difference.points)) points; "
            + "most at \(SVG.number(worst.timeMs / 1000, 3)) s by \(SVG.number(worst.difference.points))"
    }

    private func legend(_ svg: inout SVG, at y: Double) {
        for (index, sign) in [("way glide", "expected"), ("way fingers", "found")].enumerated() {
            let x = Self.left + Double(index) * 110
            svg.line(sign.0, x, y - 4, x + 24, y - 4)
            svg.label("note", x + 30, y, sign.1)
        }
        guard comparison.first != nil else { return }
        svg.circle("apart", Self.left + 226, y - 4, 6)
        svg.label("note", Self.left + 240, y, "first apart")
    }

    private func mark(_ frame: MapFrame, _ svg: inout SVG) {
        guard let first = comparison.first, let start = expected.steps.first else { return }
        // On the sheet of the way's own beginning.
        var point = MercatorPoint(first.expected.position.target)
        let near = expected.step(at: first.timeMs)?.place ?? start.place
        point.x += ((near.x - point.x) / (2 * .pi)).rounded() * 2 * .pi
        let spot = frame.spots([point], of: near)[0]
        svg.circle("apart", spot.x, spot.y, 8)
    }

    /// The distance over time, with the line up to which it is allowed.
    private func strip(_ top: Double, _ width: Double, _ svg: inout SVG) {
        let (bottom, length) = (top + Self.stripHeight, max(comparison.lengthMs, 1))
        let allowed = comparison.tolerance.points
        let highest = max(distances.reduce(0) { max($0, $1.points) }, allowed, 1e-6) * 1.1
        func x(_ timeMs: Double) -> Double { Self.left + min(max(timeMs / length, 0), 1) * width }
        func y(_ points: Double) -> Double { bottom - min(points / highest, 1) * Self.stripHeight }
        svg.group("class=\"distance\" data-highest=\"\(SVG.number(highest, 6))\"") { svg in
            svg.rect("panel", Self.left, top, width, Self.stripHeight)
            if allowed > 0 { svg.line("limit", Self.left, y(allowed), Self.left + width, y(allowed)) }
            if let first = comparison.first { svg.line("moment", x(first.timeMs), top, x(first.timeMs), bottom) }
            svg.lines("curve", [distances.map { Spot(x: x($0.timeMs), y: y($0.points)) }])
            svg.rect("frame", Self.left, top, width, Self.stripHeight)
        }
        svg.label("title", Self.left, top - 10, "Distance in points")
        svg.label("note end", Self.left - 6, top + 10, SVG.number(highest))
        svg.label("note end", Self.left - 6, bottom, "0")
        svg.label("note", Self.left, bottom + 18, "0 s")
        svg.label("note end", Self.left + width, bottom + 18, "\(SVG.number(length / 1000, 3)) s")
    }
}
