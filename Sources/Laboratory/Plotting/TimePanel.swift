// The lower half of the picture: zoom, bearing and viewing angle with their limits, the distance between two cameras,
// and the gestures, all over one time axis. A strip in which nothing changes is low.

import CameraStreams
import Gestures
import MapCamera

struct TimePanel {
    private let layers: [Layer]
    private let moments: [Double]
    private let comparison: Comparison?
    /// How far two targets are apart over time.
    private let distances: [(timeMs: Double, points: Double)]
    private let left: Double
    private let width: Double
    private let top: Double
    private let duration: Double
    private let kinds: [GestureKind]
    private let strips: [Strip]

    private static let gap = 28.0
    private static let rowHeight = 17.0
    /// The shortest gap in which the camera paused instead of moving from frame to frame, in milliseconds.
    private static let pause = 100.0

    init(
        _ layers: [Layer], moments: [Double], _ comparison: Comparison?, left: Double, top: Double, width: Double
    ) {
        (self.layers, self.moments, self.comparison) = (layers, moments, comparison)
        distances = comparison?.distances ?? []
        (self.left, self.top, self.width) = (left, top, width)
        duration = max(layers.map(\.timeline.endMs).max() ?? 0, 1)
        kinds = GestureKind.allCases.filter { kind in layers.contains { $0.timeline.bars.contains { $0.kind == kind } }
        }
        var strips = [Strip.zoom(layers), Strip.bearing(layers), Strip.viewingAngle(layers)]
        if let comparison { strips.append(.distance(distances.map(\.points), comparison.tolerance)) }
        var next = top
        for index in strips.indices {
            strips[index].top = next
            next = strips[index].bottom + Self.gap
        }
        self.strips = strips
    }

    private var right: Double { left + width }
    /// The timeline if there is only one; two are shown without gestures and limits.
    private var timeline: CameraTimeline? { layers.count == 1 ? layers[0].timeline : nil }
    private var hasCommands: Bool { timeline.map { !$0.commands.isEmpty } ?? false }
    private var rows: Int { kinds.count + (hasCommands ? 1 : 0) + layers.count }
    private var rowsTop: Double { (strips.last?.bottom ?? top) + Self.gap - 14 }
    private var rowsBottom: Double { rowsTop + Double(rows) * Self.rowHeight + 4 }
    var bottom: Double { rowsBottom + 36 }

    private func x(_ timeMs: Double) -> Double { left + min(max(timeMs / duration, 0), 1) * width }

    // MARK: Drawing

    func draw(_ svg: inout SVG) {
        let attributes = "data-left=\"\(SVG.number(left))\" data-units-per-ms=\"\(SVG.number(width / duration, 9))\""
        svg.group("class=\"times\" \(attributes)") { svg in
            shade(&svg)
            timeAxis(&svg)
            for strip in strips { draw(strip, &svg) }
            gestures(&svg)
        }
    }

    /// The vertical ranges in which something is drawn over time.
    private var panels: [ClosedRange<Double>] { strips.map { $0.top...$0.bottom } + [rowsTop...rowsBottom] }

    /// Draws bands behind everything: what moved the camera, and when.
    private func shade(_ svg: inout SVG) {
        guard let timeline else { return }
        for cause in Cause.allCases where cause != .command {
            // Without the pauses.
            let spans = zip(timeline.steps, timeline.steps.dropFirst()).filter { before, step in
                step.cause == cause && step.timeMs - before.timeMs < Self.pause
            }
            let bands = Thinning.joined(spans.map { x($0.timeMs)...x($1.timeMs) }, gap: 0.5)
            let rectangles = panels.flatMap { panel in
                bands.map { band in
                    [
                        Spot(x: band.lowerBound, y: panel.lowerBound), Spot(x: band.upperBound, y: panel.lowerBound),
                        Spot(x: band.upperBound, y: panel.upperBound), Spot(x: band.lowerBound, y: panel.upperBound),
                    ]
                }
            }
            svg.lines("band \(cause.rawValue)", rectangles, isClosed: true)
        }
    }

    private func timeAxis(_ svg: inout SVG) {
        let ticks = Ticks(0...duration, steps: Ticks.times, atMost: 8)
        for time in ticks.values {
            acrossPanels("grid", at: time, &svg)
            if x(time) < right - 4 || time == ticks.values.last {
                let text = Self.text(time, step: ticks.step)
                // A long label at the right edge would be cut off.
                let isLong = text.count > 3 && x(time) > right - 8
                svg.label(isLong ? "end" : "middle", isLong ? right + 10 : x(time), rowsBottom + 15, text)
            }
        }
        for (number, time) in moments.enumerated() {
            acrossPanels("moment", at: time, &svg)
            // Numbers of moments close to each other would overlap.
            let isCrowded = number + 1 < moments.count && x(moments[number + 1]) - x(time) < 9
            if !isCrowded { svg.label("number middle", x(time), top - 23, "\(number + 1)") }
        }
        if let first = comparison?.first { acrossPanels("apart", at: first.timeMs, &svg) }
        let origin = layers[0].timeline.originMs
        let unit = duration < 60_000 ? ", seconds" : ""
        let beginning = origin > 0 ? "; 0 is \(seconds(origin)) of the file" : ""
        svg.label("middle", (left + right) / 2, rowsBottom + 31, "time\(unit)\(beginning)")
    }

    private func acrossPanels(_ class: String, at time: Double, _ svg: inout SVG) {
        svg.lines(`class`, panels.map { [Spot(x: x(time), y: $0.lowerBound), Spot(x: x(time), y: $0.upperBound)] })
    }

    /// Formats a time for the axis: in seconds, or as minutes and hours with colons.
    private static func text(_ time: Double, step: Double) -> String {
        if time < 60_000, step < 60_000 { return SVG.number(time / 1000, 3) }
        let seconds = Int((time / 1000).rounded())
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        let parts = (hours > 0 ? [hours] : []) + [minutes, seconds % 60]
        return parts.enumerated().map { $0 > 0 && $1 < 10 ? "0\($1)" : "\($1)" }.joined(separator: ":")
    }

    // MARK: Strips

    private func draw(_ strip: Strip, _ svg: inout SVG) {
        for value in strip.ticks where value >= strip.low && value <= strip.high {
            svg.line("grid", left, strip.y(value), right, strip.y(value))
            svg.label("end", left - 6, strip.y(value) + 4.5, strip.text(value))
        }
        svg.rect("frame", left, strip.top, width, strip.height)
        svg.title(left, strip.top - 7, strip.title, strip.note)
        if let timeline, !strip.isStill { limits(strip, timeline, &svg) }
        if let value = strip.value {
            for layer in layers {
                svg.lines(layer.styled("curve"), [points(strip, layer.timeline) { $0[keyPath: value] }])
            }
        } else {
            let allowed = comparison?.tolerance.points ?? 0
            if allowed > 0 { svg.line("limit", left, strip.y(allowed), right, strip.y(allowed)) }
            let spots = distances.map { Spot(x: x($0.timeMs), y: strip.y($0.points)) }
            svg.lines("distance", [Thinning.line(Thinning.columns(spots, width: 0.5), tolerance: 0.1)])
        }
    }

    private func limits(_ strip: Strip, _ timeline: CameraTimeline, _ svg: inout SVG) {
        if strip.value == \.zoom {
            limit(strip, timeline, above: true, &svg) { $0.max }
            limit(strip, timeline, above: false, &svg) { $0.min }
        } else if strip.value == \.viewingAngle {
            let ceiling = points(strip, timeline) { CameraConstraints.viewingAngleCeiling(atZoom: $0.zoom) }
            forbid(ceiling, edge: strip.top, &svg)
            svg.lines("limit", [ceiling])
        }
    }

    /// Returns the camera's values as a line; they are constant while the camera pauses.
    private func points(
        _ strip: Strip, _ timeline: CameraTimeline, _ value: (CameraPosition) -> Double
    ) -> [Spot] {
        var spots: [Spot] = []
        for (index, step) in timeline.steps.enumerated() {
            let spot = Spot(x: x(step.timeMs), y: strip.y(value(step.position)))
            if let last = spots.last {
                let isJump = step.cause == .command || step.timeMs - timeline.steps[index - 1].timeMs > Self.pause
                if isJump { spots.append(Spot(x: spot.x, y: last.y)) }
            }
            spots.append(spot)
        }
        if let last = spots.last { spots.append(Spot(x: x(max(timeline.endMs, 1)), y: last.y)) }
        return Thinning.line(Thinning.columns(spots, width: 0.5), tolerance: 0.1)
    }

    /// Draws a limit that can change, and what is beyond it; nothing if it is too far away to be seen.
    private func limit(
        _ strip: Strip, _ timeline: CameraTimeline, above: Bool, _ svg: inout SVG, _ value: (ZoomRange) -> Double
    ) {
        let limits = timeline.limits.compactMap { limits in limits.zoomRange.map { (limits.timeMs, value($0)) } }
        func isSeen(_ value: Double) -> Bool { (strip.low...strip.high).contains(value) }
        guard limits.contains(where: { isSeen($0.1) }) else { return }
        var spots: [Spot] = []
        var seen: [[Spot]] = []
        for (index, (timeMs, value)) in limits.enumerated() {
            let until = index + 1 < limits.count ? limits[index + 1].0 : duration
            let course = [Spot(x: x(timeMs), y: strip.y(value)), Spot(x: x(until), y: strip.y(value))]
            spots += course
            if isSeen(value) { seen.append(course) }
        }
        forbid(spots, edge: above ? strip.top : strip.bottom, &svg)
        svg.lines("limit", seen)
    }

    private func forbid(_ spots: [Spot], edge: Double, _ svg: inout SVG) {
        guard let first = spots.first, let last = spots.last else { return }
        svg.lines("beyond", [spots + [Spot(x: last.x, y: edge), Spot(x: first.x, y: edge)]], isClosed: true)
    }

    // MARK: Gestures

    private func gestures(_ svg: inout SVG) {
        svg.rect("frame", left, rowsTop, width, rowsBottom - rowsTop)
        var y = rowsTop + 2 + Self.rowHeight / 2
        for kind in kinds {
            svg.label("end", left - 6, y + 4.5, kind.title)
            draw(layers[0].timeline.bars.filter { $0.kind == kind }, y, &svg)
            y += Self.rowHeight
        }
        if let timeline, hasCommands {
            svg.label("end", left - 6, y + 4.5, "commands")
            svg.lines("command", marks(timeline.commands).map { [Spot(x: $0, y: y - 5), Spot(x: $0, y: y + 5)] })
            y += Self.rowHeight
        }
        for layer in layers {
            svg.label("end", left - 6, y + 4.5, layer.role == .alone ? "movements" : layer.role.rawValue)
            svg.lines("started", marks(layer.timeline.started).map { Mark.started($0, y) }, isClosed: true)
            svg.lines("idle", marks(layer.timeline.idle).map { Mark.idle($0, y) }, isClosed: true)
            y += Self.rowHeight
        }
    }

    /// Returns where marks are drawn; marks that would overlap are merged.
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

/// The marks for the beginning and the end of a movement.
enum Mark {
    /// Returns a triangle that points in the direction of time.
    static func started(_ x: Double, _ y: Double) -> [Spot] {
        [Spot(x: x, y: y - 4), Spot(x: x + 6, y: y), Spot(x: x, y: y + 4)]
    }

    /// Returns a square that ends here.
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
