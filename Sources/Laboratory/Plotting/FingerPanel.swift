// The middle of the picture: the paths of the fingers on the screen or, for a trace without fingers, where its gestures
// were: at the midpoint of the fingers.

import CameraStreams
import MapCamera

struct FingerPanel {
    private let screen: Viewport
    private let tracks: [CameraTimeline.Track]
    private let isOfFingers: Bool
    private let clip: String
    private let left: Double
    private let top: Double
    private let scale: Double

    /// The maximum height of the screen in the picture.
    private static let height = 240.0
    /// The maximum number of points in all lines together.
    private static let mostPoints = 6000
    /// The number of styles for tracks.
    private static let styles = 5

    /// - Parameter clip: the name of the rectangle outside which nothing is drawn.
    /// - Returns: `nil` if there is nothing to show.
    init?(_ timeline: CameraTimeline, clip: String, left: Double, top: Double, width: Double) {
        isOfFingers = !timeline.fingers.isEmpty
        tracks = isOfFingers ? timeline.fingers : timeline.foci
        guard !tracks.isEmpty, let screen = timeline.limits.first?.viewport else { return nil }
        (self.screen, self.clip) = (screen, clip)
        self.left = left
        self.top = top
        scale = min(width / screen.width, Self.height / screen.height)
    }

    private var width: Double { screen.width * scale }
    private var height: Double { screen.height * scale }
    var bottom: Double { top + height }
    /// Defines the rectangle outside which nothing is drawn.
    func clip(_ svg: inout SVG) {
        svg.group("id=\"\(clip)\"", as: "clipPath") { $0.rect("panel", left - 6, top - 6, width + 12, height + 12) }
    }

    private func spot(_ point: ScreenPoint) -> Spot { Spot(x: left + point.x * scale, y: top + point.y * scale) }

    private var note: String {
        let size = "\(SVG.number(screen.width, 0)) by \(SVG.number(screen.height, 0)) points"
        return isOfFingers ? "from ring to dot, on \(size)" : "where gestures were, from ring to dot, on \(size)"
    }

    func draw(_ svg: inout SVG) {
        svg.group("class=\"fingers\" data-units-per-point=\"\(SVG.number(scale, 6))\"") { svg in
            svg.title(left, top - 9, isOfFingers ? "fingers" : "focus", note)
            svg.rect("panel", left, top, width, height)
            svg.rect("frame", left, top, width, height)
            svg.group("clip-path=\"url(#\(clip))\"") { svg in
                let lines = tracks.map { $0.points.map(spot) }
                for (index, line) in Thinning.lines(lines, tolerance: 0.1, atMost: Self.mostPoints).enumerated() {
                    draw(line, tracks[index], style: index % Self.styles, &svg)
                }
            }
        }
    }

    /// Draws a track: a ring where the finger landed, and a dot where it lifted or a cross where it was lost.
    private func draw(_ line: [Spot], _ track: CameraTimeline.Track, style: Int, _ svg: inout SVG) {
        guard let first = line.first, let last = line.last else { return }
        svg.lines("track t\(style)", [line])
        svg.circle("landed t\(style)", first.x, first.y, 4)
        if track.isCancelled {
            svg.cross("track t\(style)", last.x, last.y, 3.5)
        } else {
            svg.circle("lifted t\(style)", last.x, last.y, 2.6)
        }
    }
}
