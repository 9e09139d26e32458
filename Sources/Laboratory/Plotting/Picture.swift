// Draws timelines as one picture: a title, the map, the legend, the fingers, and the times. It shows one timeline, or
// two superimposed and how far apart they are. A pure function: the same timelines give the same bytes, and nothing is
// loaded from elsewhere.

import CameraStreams
import MapCamera

/// A timeline, and how it is drawn.
struct Layer {
    /// The role in the picture; also the CSS class of what is drawn for the layer.
    enum Role: String {
        case alone, expected, found
    }

    let timeline: CameraTimeline
    let role: Role

    /// Returns the CSS class of something that belongs to the layer.
    func styled(_ name: String) -> String { role == .alone ? name : "\(name) \(role.rawValue)" }
}

/// A picture of a timeline, or of two streams and how they differ.
package struct Picture {
    private let layers: [Layer]
    private let title: String
    /// What is compared; `nil` if there is only one timeline.
    private let comparison: Comparison?

    private static let width = 560.0
    private static let left = 104.0
    private static let right = 14.0

    /// Creates a picture of a timeline.
    package init(of timeline: CameraTimeline) {
        (layers, title, comparison) = ([Layer(timeline: timeline, role: .alone)], timeline.title, nil)
    }

    /// Creates a picture that compares two streams.
    package init(title: String, of comparison: Comparison) {
        let one = CameraTimeline(of: comparison.expected)
        let other = CameraTimeline(of: comparison.found, near: one)
        layers = [Layer(timeline: one, role: .expected), Layer(timeline: other, role: .found)]
        (self.title, self.comparison) = (title, comparison)
    }

    /// Returns the picture as SVG 1.1 with CSS; dark if the page is dark.
    ///
    /// - Parameters:
    ///   - isWide: whether the times are beside the map.
    ///   - name: a suffix that keeps the ids of several pictures in one page apart.
    package func svg(isWide: Bool = false, name: String = "") -> String {
        let (left, width) = (Self.left, Self.width - Self.left - Self.right)
        let map = MapPanel(
            layers, moments: moments, comparison, clip: "map\(name)", left: left, top: 62, width: width)
        let legend = Legend(
            of: layers, hasBounds: map.hasBounds, isApart: comparison?.first != nil, left: left,
            top: map.frame.bottom + 38, width: width)
        let aside = left + Self.width
        func fingers(_ left: Double, below bottom: Double) -> FingerPanel? {
            FingerPanel(layers[0].timeline, clip: "screen\(name)", left: left, top: bottom + 40, width: width)
        }
        func times(_ left: Double, _ top: Double) -> TimePanel {
            TimePanel(layers, moments: moments, comparison, left: left, top: top, width: width)
        }
        let (fingersPanel, timePanel): (FingerPanel?, TimePanel)
        if isWide {
            timePanel = times(aside, 96)
            // Below the shorter column.
            let isAside = timePanel.bottom < legend.bottom
            fingersPanel = fingers(isAside ? aside : left, below: min(timePanel.bottom, legend.bottom))
        } else {
            fingersPanel = fingers(left, below: legend.bottom)
            timePanel = times(left, (fingersPanel?.bottom ?? legend.bottom) + 52)
        }
        let bottom = max(timePanel.bottom, legend.bottom + 6, (fingersPanel?.bottom ?? 0) + 6) + 8
        var svg = SVG(isWide ? 2 * Self.width : Self.width, bottom, title: title, description: facts)
        svg.add("<defs>")
        map.clip(&svg)
        fingersPanel?.clip(&svg)
        svg.add("</defs>")
        svg.add(#"<rect class="page" width="100%" height="100%"/>"#)
        svg.label("heading", left, 28, heading(atMost: isWide ? 80 : 34))
        svg.label("note", left, 46, facts)
        map.draw(&svg)
        legend.draw(&svg)
        fingersPanel?.draw(&svg)
        timePanel.draw(&svg)
        svg.add("</svg>")
        return svg.text
    }

    /// Returns the title, with its middle omitted if it is too long for the line.
    private func heading(atMost most: Int) -> String {
        title.count > most ? "\(title.prefix(most / 2))…\(title.suffix(most / 2))" : title
    }

    /// The duration and the numbers of lines and frames; of two streams, where they are apart.
    private var facts: String {
        if let comparison { return comparison.facts }
        let timeline = layers[0].timeline
        let counts = [counted("\(timeline.events)", "line"), counted("\(timeline.frames)", "frame")]
        let rejected = timeline.rejected > 0 ? ["\(timeline.rejected) rejected"] : []
        return ([seconds(timeline.durationMs)] + counts + rejected).joined(separator: " · ")
    }

    /// The times whose views are shown: the beginning, the end, and up to three rests of a single timeline between
    /// them.
    private var moments: [Double] {
        let end = layers.map(\.timeline.endMs).max() ?? 0
        guard layers.contains(where: { $0.timeline.steps.count > 1 }) else { return [0] }
        let rests = comparison == nil ? layers[0].timeline.idle.filter { $0 > 0.02 * end && $0 < 0.96 * end } : []
        let chosen = rests.count <= 3 ? rests : [1, 3, 5].map { rests[$0 * rests.count / 6] }
        return [0] + chosen + [end]
    }
}

extension Comparison {
    /// Where two streams are apart, and by how much.
    fileprivate var facts: String {
        guard let first, let worst else { return "nowhere apart" }
        return
            "first apart at \(seconds(first.timeMs)) by \(SVG.number(first.difference.points)) points; "
            + "most at \(seconds(worst.timeMs)) by \(SVG.number(worst.difference.points))"
    }
}

/// The legend; it explains only the marks that the picture has.
private struct Legend {
    /// Draws a sample at the left end and in the middle of its height.
    private typealias Sample = (inout SVG, _ x: Double, _ y: Double) -> Void

    private var rows: [[(text: String, x: Double, sample: Sample)]] = [[]]
    private let top: Double

    private static let rowHeight = 19.0
    /// The mean width of a letter.
    private static let letter = 6.9

    init(of layers: [Layer], hasBounds: Bool, isApart: Bool, left: Double, top: Double, width: Double) {
        self.top = top
        var x = left
        func add(_ text: String, _ sample: @escaping Sample) {
            let wide = 30 + Self.letter * Double(text.count) + 14
            if x + wide - 14 > left + width {
                rows.append([])
                x = left
            }
            rows[rows.count - 1].append((text, x, sample))
            x += wide
        }
        for layer in layers where layer.role == .alone {
            for cause in Cause.allCases where layer.timeline.steps.contains(where: { $0.cause == cause }) {
                add(cause.legend) { svg, x, y in
                    if cause != .command { svg.rect("band \(cause.rawValue)", x, y - 5, 22, 10) }
                    svg.line("way \(cause.rawValue)", x + 2, y, x + 20, y)
                }
            }
        }
        for layer in layers where layer.role != .alone {
            add(layer.role.rawValue) { svg, x, y in svg.line(layer.styled("way"), x + 2, y, x + 20, y) }
        }
        add("view, its top thick") { svg, x, y in
            svg.rect("view", x + 4, y - 5, 14, 10)
            svg.line("far", x + 4, y - 5, x + 18, y - 5)
        }
        if hasBounds { add("target bounds") { svg, x, y in svg.line("bounds", x, y, x + 22, y) } }
        if layers.count == 1 {
            add("limit") { svg, x, y in
                svg.rect("beyond", x, y - 5, 22, 5)
                svg.line("limit", x, y, x + 22, y)
            }
        }
        if isApart { add("first apart") { svg, x, y in svg.circle("apart", x + 12, y, 6) } }
        if layers.contains(where: { !$0.timeline.started.isEmpty }) {
            add("start of a move") { svg, x, y in svg.lines("started", [Mark.started(x + 12, y)], isClosed: true) }
            add("at rest") { svg, x, y in svg.lines("idle", [Mark.idle(x + 20, y)], isClosed: true) }
        }
    }

    var bottom: Double { top + Double(rows.count - 1) * Self.rowHeight }

    func draw(_ svg: inout SVG) {
        svg.group("class=\"legend\"") { svg in
            for (index, row) in rows.enumerated() {
                let y = top + Double(index) * Self.rowHeight
                for item in row {
                    item.sample(&svg, item.x, y - 4)
                    svg.label("legend", item.x + 28, y, item.text)
                }
            }
        }
    }
}
