// A strip of values over time: its range, and the labels beside it.

import CameraStreams
import MapCamera

struct Strip {
    /// What it shows of a position; `nil` for the distance between two cameras.
    let value: KeyPath<CameraPosition, Double>?
    let title: String
    let note: String
    let low: Double
    let high: Double
    /// Whether nothing changes in it; such a strip is low, and labels one value.
    let isStill: Bool
    /// The values that are labelled.
    let ticks: [Double]
    let text: (Double) -> String
    var top = 0.0

    var height: Double { isStill ? 18 : 74 }
    var bottom: Double { top + height }

    func y(_ value: Double) -> Double { top + height * (1 - min(max((value - low) / (high - low), 0), 1)) }

    /// - Parameters:
    ///   - values: the values that are drawn.
    ///   - range: the range that is shown if the values change.
    private init(
        _ value: KeyPath<CameraPosition, Double>?, _ title: String, _ note: String, _ values: [Double],
        _ range: ClosedRange<Double>, steps: [Double], _ text: @escaping (Double) -> String = { SVG.number($0) }
    ) {
        (self.value, self.title, self.text) = (value, title, text)
        let (least, most) = (values.min() ?? 0, values.max() ?? 0)
        // The precision that the daemon prints.
        isStill = most - least < 1e-6
        self.note = isStill ? "stays as it is" : note
        (low, high) = isStill ? (least - 1, least + 1) : (range.lowerBound, range.upperBound)
        ticks = isStill ? [least] : Ticks(range, steps: steps, atMost: 4).values
    }

    static func zoom(_ layers: [Layer]) -> Strip {
        let values = layers.flatMap { $0.timeline.steps.map(\.position.zoom) }
        let (low, high) = (values.min() ?? 0, values.max() ?? 0)
        let room = max((high - low) * 0.15, 0.5)
        let limits = layers.flatMap { $0.timeline.limits.compactMap(\.zoomRange) }
        let near = limits.flatMap { [$0.min, $0.max] }.filter { (low - 2 * room...high + 2 * room).contains($0) }
        let ranges = limits.map { "\(SVG.number($0.min)) to \(SVG.number($0.max))" }
        let different = ranges.indices.filter { $0 == 0 || ranges[$0] != ranges[$0 - 1] }.map { ranges[$0] }
        let allowed = different.count > 3 ? "limits change" : "allowed: " + different.joined(separator: ", then ")
        return Strip(
            \.zoom, "zoom", different.isEmpty ? "" : allowed, values,
            near.reduce(low, min) - room...near.reduce(high, max) + room, steps: Ticks.decimal(-2...1))
    }

    static func bearing(_ layers: [Layer]) -> Strip {
        let values = layers.flatMap { $0.timeline.steps.map(\.position.bearing) }
        let (low, high) = (values.min() ?? 0, values.max() ?? 0)
        let room = max((high - low) * 0.12, 5)
        return Strip(
            \.bearing, "bearing", "clockwise from north", values, low - room...high + room, steps: Ticks.bearings
        ) { "\(SVG.number(wrap360($0), 0))°" }
    }

    static func viewingAngle(_ layers: [Layer]) -> Strip {
        let positions = layers.flatMap { $0.timeline.steps.map(\.position) }
        let ceiling = positions.map { CameraConstraints.viewingAngleCeiling(atZoom: $0.zoom) }.max() ?? 65
        return Strip(
            \.viewingAngle, "viewing angle", layers.count == 1 ? "allowed: up to the ceiling of the zoom" : "",
            positions.map(\.viewingAngle), 0...ceiling * 1.12, steps: Ticks.degrees
        ) { "\(SVG.number($0))°" }
    }

    static func distance(_ values: [Double], _ tolerance: Tolerance) -> Strip {
        let allowed = tolerance.points
        let most = max(values.max() ?? 0, allowed, 1e-6)
        return Strip(
            nil, "distance",
            "between the targets, in points" + (allowed > 0 ? ": \(SVG.number(allowed)) allowed" : ""),
            values, 0...most * 1.1, steps: Ticks.decimal(-7...7))
    }
}
