// The middle of the picture: where the fingers went over the screen, or, of a trace, which tells no fingers, where its
// gestures were, which is the middle of the fingers.

import CameraStreams
import MapCamera

struct FingerPanel {
    private let screen: Viewport
    private let tracks: [CameraTimeline.Track]
    private let isOfFingers: Bool
    private let left: Double
    private let top: Double
    private let scale: Double

    /// The tallest and the widest that it becomes.
    private static let height = 240.0
    /// Points of all lines together.
    private static let mostPoints = 6000
    /// How many ways of drawing a track there are.
    private static let styles = 5

    /// - Returns: `nil` if there is nothing to be shown.
    init?(_ timeline: CameraTimeline, left: Double, top: Double, width: Double) {
        isOfFingers = !timeline.fingers.isEmpty
        tracks = isOfFingers ? timeline.fingers : timeline.foci
        guard !tracks.isEmpty, let screen = timeline.limits.first?.viewport else { return nil }
        self.screen = screen
        self.left = left
        self.top = top
        scale = min(width / screen.width, Self.height / screen.height)
    }

    private var width: Double { screen.width * scale }
    private var height: Double { screen.height * scale }
    var bottom: Double { top + height }
    /// The rectangle outside of which nothing is drawn.
    func clip(_ svg: inout SVG) { svg.rect("panel", left - 6, top - 6, width + 12, height + 12) }

    private func spot(_ point: ScreenPoint) -> Spot { Spot(x: left + point.x * scale, y: top + point.y * scale) }

    private var note: String {
        let size = "\(SVG.number(screen.width, 0)) by \(SVG.number(screen.height, 0)) points"
        return isOfFingers ? "from ring to dot, on \(size)" : "where gestures were, from ring to dot, on \(size)"
    }

    func draw(_ svg: inout SVG) {
        svg.group("class=\"fingers\" data-units-per-point=\"\(SVG.number(scale, 6))\"") { svg in
            svg.add(
                "<text class=\"title\" x=\"\(SVG.number(left))\" y=\"\(SVG.number(top - 9))\">"
                    + "\(isOfFingers ? "fingers" : "focus")<tspan class=\"note\" dx=\"7\">\(escapedForXML(note))</tspan></text>"
            )
            svg.rect("panel", left, top, width, height)
            svg.rect("frame", left, top, width, height)
            svg.group(#"clip-path="url(#screen)""#) { svg in
                for (index, line) in thinned().enumerated() {
                    draw(line, tracks[index], style: index % Self.styles, &svg)
                }
            }
        }
    }

    /// A ring where it landed, a dot where it lifted, or a cross where it was lost.
    private func draw(_ line: [Spot], _ track: CameraTimeline.Track, style: Int, _ svg: inout SVG) {
        guard let first = line.first, let last = line.last else { return }
        svg.lines("track t\(style)", [line])
        circle("landed t\(style)", first, 4, &svg)
        if track.isCancelled {
            let (left, right) = (last.x - 3.5, last.x + 3.5)
            let (top, bottom) = (last.y - 3.5, last.y + 3.5)
            svg.lines(
                "track t\(style)",
                [
                    [Spot(x: left, y: top), Spot(x: right, y: bottom)],
                    [Spot(x: left, y: bottom), Spot(x: right, y: top)],
                ])
        } else {
            circle("lifted t\(style)", last, 2.6, &svg)
        }
    }

    private func circle(_ class: String, _ spot: Spot, _ radius: Double, _ svg: inout SVG) {
        svg.add(
            #"<circle class="\#(`class`)" cx="\#(SVG.number(spot.x))" cy="\#(SVG.number(spot.y))" "#
                + #"r="\#(SVG.number(radius))"/>"#)
    }

    private func thinned() -> [[Spot]] {
        var lines = tracks.map { $0.points.map(spot) }
        var tolerance = 0.1
        repeat {
            lines = lines.map { Thinning.line($0, tolerance: tolerance) }
            tolerance *= 2
        } while tolerance < 20 && lines.reduce(0) { $0 + $1.count } > Self.mostPoints
        return lines
    }
}
