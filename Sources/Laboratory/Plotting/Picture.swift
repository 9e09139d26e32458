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
    private let apart: Apart?

    private static let width = 560.0
    private static let left = 104.0
    private static let right = 14.0

    /// Creates a picture of a timeline.
    package init(of timeline: CameraTimeline) {
        (layers, title, apart) = ([Layer(timeline: timeline, role: .alone)], timeline.title, nil)
    }

    /// Creates a picture that compares two streams.
    package init(title: String, expected: CameraStream, found: CameraStream, tolerance: Tolerance) {
        let one = CameraTimeline(of: expected)
        layers = [
            Layer(timeline: one, role: .expected), Layer(timeline: CameraTimeline(of: found, near: one), role: .found),
        ]
        self.title = title
        apart = Apart(
            comparison: Comparison(expected: expected, found: found, tolerance: tolerance),
            distances: Comparison.distances(expected: expected, found: found))
    }

    /// Returns the picture as SVG 1.1 with CSS; dark if the page is dark.
    ///
    /// - Parameters:
    ///   - isWide: whether the times are beside the map.
    ///   - name: a suffix that keeps the ids of several pictures in one page apart.
    package func svg(isWide: Bool = false, name: String = "") -> String {
        let (left, width) = (Self.left, Self.width - Self.left - Self.right)
        let map = MapPanel(
            layers, moments: moments, apart: apart, clip: "map\(name)", left: left, top: 62, width: width)
        let legend = Legend(
            of: layers, hasBounds: map.hasBounds, isApart: apart?.comparison.first != nil, left: left,
            top: map.frame.bottom + 38, width: width)
        let aside = left + Self.width
        func fingers(_ left: Double, below bottom: Double) -> FingerPanel? {
            FingerPanel(layers[0].timeline, clip: "screen\(name)", left: left, top: bottom + 40, width: width)
        }
        func times(_ left: Double, _ top: Double) -> TimePanel {
            TimePanel(layers, moments: moments, apart: apart, left: left, top: top, width: width)
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
        if let apart { return apart.facts }
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
        let rests = apart == nil ? layers[0].timeline.idle.filter { $0 > 0.02 * end && $0 < 0.96 * end } : []
        let chosen = rests.count <= 3 ? rests : [1, 3, 5].map { rests[$0 * rests.count / 6] }
        return [0] + chosen + [end]
    }

    /// The style of all pictures.
    static let style = """

        text{font:13px system-ui,-apple-system,"Segoe UI","Helvetica Neue",Arial,sans-serif;fill:#1c2127}
        .heading{font-size:19px;font-weight:600}
        .title,.number{font-weight:600}
        .note{font-weight:400;fill:#59636e}
        .middle{text-anchor:middle}
        .end{text-anchor:end}
        .halo{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}
        .page{fill:#fff}
        .panel{fill:#f7f8f9}
        .frame{fill:none;stroke:#8b949e}
        .grid{fill:none;stroke:#d5dade;stroke-width:.7}
        .coast{fill:none;stroke:#b9c2c9;stroke-width:.8;stroke-linejoin:round}
        .moment{fill:none;stroke:#59636e;stroke-width:.7;stroke-dasharray:1 3}
        .way{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}
        .way.fingers{stroke:#0072b2}
        .way.glide{stroke:#d55e00}
        .way.animation{stroke:#8f3f87}
        .way.snap{stroke:#1c2127;stroke-width:1.2;stroke-dasharray:1 3.5}
        .band.fingers{fill:#0072b2;fill-opacity:.14}
        .band.glide{fill:#d55e00;fill-opacity:.2}
        .band.animation{fill:#8f3f87;fill-opacity:.16}
        .view{fill:#1c2127;fill-opacity:.035;stroke:#59636e;stroke-width:.9}
        .far{fill:none;stroke:#59636e;stroke-width:2.6}
        .bounds{fill:none;stroke:#00795a;stroke-width:1.6;stroke-dasharray:7 3}
        .limit{fill:none;stroke:#1c2127;stroke-width:1;stroke-dasharray:4 2.5}
        .beyond{fill:#59636e;fill-opacity:.18}
        .curve,.distance{fill:none;stroke:#1c2127;stroke-width:1.6;stroke-linejoin:round}
        .gesture{fill:#0072b2}
        .track{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
        .landed{fill:none;stroke:currentColor;stroke-width:1.5}
        .lifted{fill:currentColor;stroke:none}
        .t0{color:#0072b2}
        .t1{color:#d55e00}
        .t2{color:#00795a}
        .t3{color:#8f3f87}
        .t4{color:#8a6d00}
        .cancelled{fill:none;stroke:#1c2127;stroke-width:1.4}
        .command{fill:none;stroke:#8f3f87;stroke-width:1.6}
        .started{fill:#1c2127}
        .idle{fill:#fff;stroke:#1c2127;stroke-width:1.2}
        .apart{fill:none;stroke:#00795a;stroke-width:2}
        .backdrop{fill:#f7f8f9;fill-opacity:.8}
        .expected.way,.expected.curve{stroke:#d55e00;stroke-width:4;stroke-opacity:.55}
        .found.way,.found.curve{stroke:#0072b2;stroke-width:1.6}
        .expected.view,.expected.far{stroke:#d55e00}
        .found.view,.found.far{stroke:#0072b2}
        .expected.dot{fill:#d55e00}
        .found.dot{fill:#0072b2}
        .dot{fill:#1c2127;stroke:#fff}
        .bar{fill:none;stroke:#1c2127;stroke-width:1.2}
        @media (prefers-color-scheme:dark){
        text{fill:#e4e7ea}
        .note{fill:#9ba5af}
        .halo{stroke:#14181c}
        .page{fill:#14181c}
        .panel{fill:#1b2026}
        .frame{stroke:#69737d}
        .grid{stroke:#343b43}
        .coast{stroke:#4a545e}
        .moment{stroke:#9ba5af}
        .way.fingers{stroke:#56b4e9}
        .way.glide{stroke:#f28b30}
        .way.animation{stroke:#d99bd2}
        .way.snap{stroke:#e4e7ea}
        .band.fingers{fill:#56b4e9;fill-opacity:.2}
        .band.glide{fill:#f28b30;fill-opacity:.25}
        .band.animation{fill:#d99bd2;fill-opacity:.22}
        .view{fill:#e4e7ea;fill-opacity:.05;stroke:#9ba5af}
        .far{stroke:#9ba5af}
        .bounds{stroke:#2fc79b}
        .apart{stroke:#2fc79b}
        .backdrop{fill:#1b2026}
        .expected.way,.expected.curve,.expected.view,.expected.far{stroke:#f28b30}
        .found.way,.found.curve,.found.view,.found.far{stroke:#56b4e9}
        .expected.dot{fill:#f28b30}
        .found.dot{fill:#56b4e9}
        .limit,.curve,.distance,.cancelled,.bar{stroke:#e4e7ea}
        .beyond{fill:#9ba5af}
        .gesture{fill:#56b4e9}
        .t0{color:#56b4e9}
        .t1{color:#f28b30}
        .t2{color:#2fc79b}
        .t3{color:#d99bd2}
        .t4{color:#e3c34a}
        .command{stroke:#d99bd2}
        .started{fill:#e4e7ea}
        .idle{fill:#14181c;stroke:#e4e7ea}
        .dot{fill:#e4e7ea;stroke:#14181c}
        }

        """
}

/// How two streams differ.
struct Apart {
    let comparison: Comparison
    let distances: [(timeMs: Double, points: Double)]

    var facts: String {
        guard let first = comparison.first, let worst = comparison.worst else { return "nowhere apart" }
        return
            "first apart at \(seconds(first.timeMs)) by \(SVG.number(first.difference.points)) points; "
            + "most at \(seconds(worst.timeMs)) by \(SVG.number(worst.difference.points))"
    }
}

/// The legend; it explains only the marks that the picture has.
private struct Legend {
    private enum Sign {
        case way(Cause)
        case layer(Layer)
        case bounds, view, limit, started, idle, apart
    }

    private var rows: [[(sign: Sign, text: String, x: Double)]] = [[]]
    private let top: Double

    private static let rowHeight = 19.0
    /// The mean width of a letter.
    private static let letter = 6.9

    init(of layers: [Layer], hasBounds: Bool, isApart: Bool, left: Double, top: Double, width: Double) {
        self.top = top
        var items: [(Sign, String)] = []
        for layer in layers {
            if layer.role == .alone {
                items += Cause.allCases.filter(layer.timeline.has).map { (.way($0), $0.legend) }
            } else {
                items.append((.layer(layer), layer.role.rawValue))
            }
        }
        items += [(.view, "view, its top thick")]
        if hasBounds { items.append((.bounds, "target bounds")) }
        if layers.count == 1 { items += [(.limit, "limit")] }
        if isApart { items += [(.apart, "first apart")] }
        if layers.contains(where: { !$0.timeline.started.isEmpty }) {
            items += [(.started, "start of a move"), (.idle, "at rest")]
        }
        var x = left
        for (sign, text) in items {
            let wide = 30 + Self.letter * Double(text.count) + 14
            if x + wide - 14 > left + width {
                rows.append([])
                x = left
            }
            rows[rows.count - 1].append((sign, text, x))
            x += wide
        }
    }

    var bottom: Double { top + Double(rows.count - 1) * Self.rowHeight }

    func draw(_ svg: inout SVG) {
        svg.group("class=\"legend\"") { svg in
            for (index, row) in rows.enumerated() {
                let y = top + Double(index) * Self.rowHeight
                for item in row {
                    draw(item.sign, item.x, y - 4, &svg)
                    svg.label("legend", item.x + 28, y, item.text)
                }
            }
        }
    }

    private func draw(_ sign: Sign, _ x: Double, _ y: Double, _ svg: inout SVG) {
        switch sign {
        case .way(let cause):
            if cause != .command { svg.rect("band \(cause.rawValue)", x, y - 5, 22, 10) }
            svg.line("way \(cause.rawValue)", x + 2, y, x + 20, y)
        case .layer(let layer): svg.line(layer.styled("way"), x + 2, y, x + 20, y)
        case .apart: svg.circle("apart", x + 12, y, 6)
        case .bounds: svg.line("bounds", x, y, x + 22, y)
        case .view:
            svg.rect("view", x + 4, y - 5, 14, 10)
            svg.line("far", x + 4, y - 5, x + 18, y - 5)
        case .limit:
            svg.rect("beyond", x, y - 5, 22, 5)
            svg.line("limit", x, y, x + 22, y)
        case .started: svg.lines("started", [Mark.started(x + 12, y)], isClosed: true)
        case .idle: svg.lines("idle", [Mark.idle(x + 20, y)], isClosed: true)
        }
    }
}
