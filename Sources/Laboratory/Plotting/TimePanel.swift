// The lower half of the picture: zoom, bearing and viewing angle with their limits, and the gestures, over one time axis.

import CameraStreams
import Gestures
import MapCamera

struct TimePanel {
    private let timeline: CameraTimeline
    private let moments: [Double]
    private let left: Double
    private let width: Double
    private let top: Double
    private let duration: Double
    private let kinds: [GestureKind]

    private static let gap = 28.0
    private static let stripHeight = 74.0
    private static let rowHeight = 17.0
    /// A gap in which the camera did not move, rather than moved from frame to frame: milliseconds.
    private static let pause = 100.0

    init(_ timeline: CameraTimeline, moments: [Double], left: Double, top: Double, width: Double) {
        self.timeline = timeline
        self.moments = moments
        (self.left, self.top, self.width) = (left, top, width)
        duration = max(timeline.durationMs, timeline.steps.last?.timeMs ?? 0, 1)
        kinds = GestureKind.allCases.filter { kind in timeline.bars.contains { $0.kind == kind } }
    }

    private var right: Double { left + width }
    private var rows: Int { kinds.count + (timeline.commands.isEmpty ? 0 : 1) + 1 }
    private var rowsTop: Double { stripTop(3) - 14 }
    private var rowsBottom: Double { rowsTop + Double(rows) * Self.rowHeight + 4 }
    var bottom: Double { rowsBottom + 36 }

    private func x(_ timeMs: Double) -> Double { left + min(max(timeMs / duration, 0), 1) * width }

    // MARK: Drawing

    func draw(_ svg: inout SVG) {
        let attributes = "data-left=\"\(SVG.number(left))\" data-units-per-ms=\"\(SVG.number(width / duration, 9))\""
        svg.group("class=\"times\" \(attributes)") { svg in
            shade(&svg)
            timeAxis(&svg)
            zoom(stripTop(0), &svg)
            bearing(stripTop(1), &svg)
            viewingAngle(stripTop(2), &svg)
            gestures(&svg)
        }
    }

    /// The rectangles in which something is drawn over time: from where to where down.
    private var panels: [ClosedRange<Double>] {
        (0..<3).map { stripTop($0)...stripTop($0) + Self.stripHeight } + [rowsTop...rowsBottom]
    }

    private func stripTop(_ strip: Int) -> Double { top + Double(strip) * (Self.stripHeight + Self.gap) }

    /// Bands behind everything: what moved the camera, and when.
    private func shade(_ svg: inout SVG) {
        for cause in Cause.allCases where cause != .command {
            let bands = Thinning.joined(spans(of: cause), gap: 0.5)
            let rectangles = panels.flatMap { panel in
                bands.map { band in
                    [
                        Spot(x: band.lowerBound, y: panel.lowerBound), Spot(x: band.upperBound, y: panel.lowerBound),
                        Spot(x: band.upperBound, y: panel.upperBound), Spot(x: band.lowerBound, y: panel.upperBound),
                    ]
                }
            }
            svg.lines("band \(cause.word)", rectangles, isClosed: true)
        }
    }

    /// From where to where the camera was moved by a cause, without the pauses.
    private func spans(of cause: Cause) -> [ClosedRange<Double>] {
        zip(timeline.steps, timeline.steps.dropFirst()).compactMap { before, step in
            guard step.cause == cause, step.timeMs - before.timeMs < Self.pause else { return nil }
            return x(before.timeMs)...x(step.timeMs)
        }
    }

    private func timeAxis(_ svg: inout SVG) {
        let ticks = Ticks(0...duration, steps: Ticks.times, atMost: 8)
        for time in ticks.values {
            svg.lines("grid", panels.map { [Spot(x: x(time), y: $0.lowerBound), Spot(x: x(time), y: $0.upperBound)] })
            if x(time) < right - 4 || time == ticks.values.last {
                let text = Self.text(time, step: ticks.step)
                // A long one at the right edge would be cut off.
                let isLong = text.count > 3 && x(time) > right - 8
                svg.label(isLong ? "end" : "middle", isLong ? right + 10 : x(time), rowsBottom + 15, text)
            }
        }
        for (number, time) in moments.enumerated() {
            svg.line("moment", x(time), top - 20, x(time), rowsBottom)
            // Numbers of moments that are near to each other would hide each other.
            let isCrowded = number + 1 < moments.count && x(moments[number + 1]) - x(time) < 9
            if !isCrowded { svg.label("number middle", x(time), top - 23, "\(number + 1)") }
        }
        svg.label("middle", (left + right) / 2, rowsBottom + 31, "time" + (duration < 60_000 ? ", seconds" : ""))
    }

    /// A time as the axis shows it: seconds, or minutes and hours with colons.
    private static func text(_ time: Double, step: Double) -> String {
        if time < 60_000, step < 60_000 { return SVG.number(time / 1000, 3) }
        let seconds = Int((time / 1000).rounded())
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        let parts = (hours > 0 ? [hours] : []) + [minutes, seconds % 60]
        return parts.enumerated().map { $0 > 0 && $1 < 10 ? "0\($1)" : "\($1)" }.joined(separator: ":")
    }

    // MARK: Strips

    /// Values over time: how they are scaled and where.
    private struct Strip {
        let top: Double
        let low: Double
        let high: Double

        func y(_ value: Double) -> Double {
            let share = (value - low) / (high - low)
            return top + TimePanel.stripHeight * (1 - min(max(share, 0), 1))
        }
    }

    private func zoom(_ top: Double, _ svg: inout SVG) {
        let values = timeline.steps.map(\.position.zoom)
        let (low, high) = (values.min() ?? 0, values.max() ?? 0)
        let room = max((high - low) * 0.15, 0.5)
        let limits = timeline.limits.flatMap { [$0.zoomRange.min, $0.zoomRange.max] }
        let near = limits.filter { (low - 2 * room...high + 2 * room).contains($0) }
        let strip = Strip(
            top: top, low: (near + [low]).reduce(low, min) - room, high: (near + [high]).reduce(high, max) + room)
        let ranges = timeline.limits.map { "\(SVG.number($0.zoomRange.min)) to \(SVG.number($0.zoomRange.max))" }
        let different = ranges.indices.filter { $0 == 0 || ranges[$0] != ranges[$0 - 1] }.map { ranges[$0] }
        let allowed = different.count > 3 ? "limits change" : "allowed: " + different.joined(separator: ", then ")
        panel(strip, "zoom", allowed, Ticks(strip.low...strip.high, steps: Ticks.decimal(-2...1), atMost: 4), &svg)
        limit(strip, above: true, near, &svg) { $0.zoomRange.max }
        limit(strip, above: false, near, &svg) { $0.zoomRange.min }
        curve(strip, &svg) { $0.zoom }
    }

    private func bearing(_ top: Double, _ svg: inout SVG) {
        let values = timeline.steps.map(\.position.bearing)
        let (low, high) = (values.min() ?? 0, values.max() ?? 0)
        let room = max((high - low) * 0.12, 5)
        let strip = Strip(top: top, low: low - room, high: high + room)
        let ticks = Ticks(strip.low...strip.high, steps: Ticks.bearings, atMost: 4)
        panel(strip, "bearing", "clockwise from north", ticks, &svg) { "\(SVG.number(wrap360($0), 0))°" }
        curve(strip, &svg) { $0.bearing }
    }

    private func viewingAngle(_ top: Double, _ svg: inout SVG) {
        let ceilings = timeline.steps.map { CameraConstraints.viewingAngleCeiling(atZoom: $0.position.zoom) }
        let strip = Strip(top: top, low: 0, high: (ceilings.max() ?? 65) * 1.12)
        let ticks = Ticks(strip.low...strip.high, steps: Ticks.degrees, atMost: 4)
        panel(strip, "viewing angle", "allowed: up to the ceiling of the zoom", ticks, &svg) { "\(SVG.number($0))°" }
        let ceiling = points(strip) { CameraConstraints.viewingAngleCeiling(atZoom: $0.zoom) }
        forbid(strip, ceiling, edge: strip.top, &svg)
        svg.lines("limit", [ceiling])
        curve(strip, &svg) { $0.viewingAngle }
    }

    private func panel(
        _ strip: Strip, _ title: String, _ note: String?, _ ticks: Ticks, _ svg: inout SVG,
        _ text: (Double) -> String = { SVG.number($0) }
    ) {
        for value in ticks.values where value <= strip.high {
            svg.line("grid", left, strip.y(value), right, strip.y(value))
            svg.label("end", left - 6, strip.y(value) + 4.5, text(value))
        }
        svg.rect("frame", left, strip.top, width, Self.stripHeight)
        svg.title(left, strip.top - 7, title, note)
    }

    /// The camera's values as a line; where the camera pauses they stay.
    private func points(_ strip: Strip, _ value: (CameraPosition) -> Double) -> [Spot] {
        var spots: [Spot] = []
        for (index, step) in timeline.steps.enumerated() {
            let spot = Spot(x: x(step.timeMs), y: strip.y(value(step.position)))
            if let last = spots.last {
                let isJump = step.cause == .command || step.timeMs - timeline.steps[index - 1].timeMs > Self.pause
                if isJump { spots.append(Spot(x: spot.x, y: last.y)) }
            }
            spots.append(spot)
        }
        if let last = spots.last { spots.append(Spot(x: right, y: last.y)) }
        return Thinning.line(Thinning.columns(spots, width: 0.5), tolerance: 0.1)
    }

    private func curve(_ strip: Strip, _ svg: inout SVG, _ value: (CameraPosition) -> Double) {
        svg.lines("curve", [points(strip, value)])
    }

    /// A limit that can change, and what lies beyond it; nothing if it is too far away to be seen.
    private func limit(
        _ strip: Strip, above: Bool, _ near: [Double], _ svg: inout SVG, _ value: (CameraTimeline.Limits) -> Double
    ) {
        guard timeline.limits.contains(where: { near.contains(value($0)) }) else { return }
        var spots: [Spot] = []
        var seen: [[Spot]] = []
        for (index, limits) in timeline.limits.enumerated() {
            let until = index + 1 < timeline.limits.count ? timeline.limits[index + 1].timeMs : duration
            let y = strip.y(value(limits))
            let course = [Spot(x: x(limits.timeMs), y: y), Spot(x: x(until), y: y)]
            spots += course
            if (strip.low...strip.high).contains(value(limits)) { seen.append(course) }
        }
        forbid(strip, spots, edge: above ? strip.top : strip.top + Self.stripHeight, &svg)
        svg.lines("limit", seen)
    }

    private func forbid(_ strip: Strip, _ spots: [Spot], edge: Double, _ svg: inout SVG) {
        guard let first = spots.first, let last = spots.last else { return }
        svg.lines("beyond", [spots + [Spot(x: last.x, y: edge), Spot(x: first.x, y: edge)]], isClosed: true)
    }

    // MARK: Gestures

    private func gestures(_ svg: inout SVG) {
        svg.rect("frame", left, rowsTop, width, rowsBottom - rowsTop)
        var y = rowsTop + 2 + Self.rowHeight / 2
        for kind in kinds {
            svg.label("end", left - 6, y + 4.5, kind.title)
            draw(timeline.bars.filter { $0.kind == kind }, y, &svg)
            y += Self.rowHeight
        }
        if !timeline.commands.isEmpty {
            svg.label("end", left - 6, y + 4.5, "commands")
            svg.lines("command", marks(timeline.commands).map { [Spot(x: $0, y: y - 5), Spot(x: $0, y: y + 5)] })
            y += Self.rowHeight
        }
        svg.label("end", left - 6, y + 4.5, "movements")
        svg.lines("started", marks(timeline.started).map { Mark.started($0, y) }, isClosed: true)
        svg.lines("idle", marks(timeline.idle).map { Mark.idle($0, y) }, isClosed: true)
    }

    /// Where marks stand; those that would hide each other are one.
    private func marks(_ times: [Double]) -> [Double] {
        Thinning.joined(times.sorted().map { x($0)...x($0) }, gap: 0.75).map(\.lowerBound)
    }

    private func draw(_ bars: [CameraTimeline.Bar], _ y: Double, _ svg: inout SVG) {
        if bars.first?.kind.isTap ?? false {
            for x in marks(bars.map(\.start)) { svg.circle("gesture", x, y, 3) }
            return
        }
        let ranges = bars.sorted { $0.start < $1.start }.map { x($0.start)...x($0.end) }
        for range in Thinning.joined(ranges, gap: 0.3) {
            svg.rect("gesture", range.lowerBound, y - 4, max(range.upperBound - range.lowerBound, 0.8), 8)
        }
        for x in marks(bars.filter(\.isCancelled).map(\.end)) { svg.cross("cancelled", x, y, 3) }
    }
}

/// The signs for the beginning and the end of a movement.
enum Mark {
    /// A triangle that points to where time goes.
    static func started(_ x: Double, _ y: Double) -> [Spot] {
        [Spot(x: x, y: y - 4), Spot(x: x + 6, y: y), Spot(x: x, y: y + 4)]
    }

    /// A square that ends here.
    static func idle(_ x: Double, _ y: Double) -> [Spot] {
        [
            Spot(x: x - 6, y: y - 3), Spot(x: x, y: y - 3), Spot(x: x, y: y + 3), Spot(x: x - 6, y: y + 3),
        ]
    }
}

extension GestureKind {
    fileprivate var title: String {
        switch self {
        case .pan: "pan"
        case .pinch: "pinch"
        case .rotate: "rotate"
        case .tilt: "tilt"
        case .oneFingerZoom: "1-finger zoom"
        case .doubleTap: "double tap"
        case .twoFingerTap: "2-finger tap"
        case .position: "position"
        }
    }
}
