// Events as rows for people: columns that do not fit a narrow terminal are omitted, never wrapped, and every screen of
// rows has a heading. Invariant: rows under one heading have the heading's columns.

import GimbalProtocol
import Glibc

struct EventTable {
    private struct Column {
        let title: PrintableText
        var width: Int
        var isText = false
    }

    private let style = Style(STDOUT_FILENO)
    private let isWide: Bool
    private let showsCamera: Bool
    private var columns: [Column]
    /// The columns that there is room for.
    private var shown: [Int] = []
    /// Rows until the heading is due again.
    private var rowsLeft = 0

    /// The columns to omit first, in this order.
    private static let dispensable: [PrintableText] = ["seq", "reason", "angle", "time", "bearing"]

    /// - Parameter cameras: the names of the cameras that will appear; `nil` if they are not known.
    init(cameras: [String]?) {
        isWide = Terminal.columns(STDOUT_FILENO) >= 100
        showsCamera = isWide || cameras?.count != 1
        let longest = cameras.map { $0.map { width(PrintableText($0)) }.max() ?? 0 } ?? 10
        let name = Column(title: "camera", width: max(longest, 6), isText: true)
        columns =
            [Column(title: "time", width: 9)] + (showsCamera ? [name] : []) + [
                Column(title: "seq", width: 5), Column(title: "event", width: 14, isText: true),
                Column(title: "reason", width: 9, isText: true), Column(title: "lat", width: isWide ? 10 : 8),
                Column(title: "lng", width: isWide ? 11 : 9), Column(title: "zoom", width: isWide ? 6 : 5),
                Column(title: "bearing", width: 7), Column(title: "angle", width: 5),
            ]
        choose()
    }

    private mutating func choose() {
        shown = Array(columns.indices)
        let gap = isWide ? 2 : 1
        for title in Self.dispensable {
            let width = shown.reduce(-gap) { $0 + columns[$1].width + gap }
            if width >= Terminal.columns(STDOUT_FILENO) { shown.removeAll { columns[$0].title == title } }
        }
    }

    /// Returns the lines that show a message's event, or the camera of a `subscribed` or `reset`, under a heading if
    /// one is due; other messages have none.
    mutating func lines(_ message: ReceivedLine) -> [PrintableText] {
        guard let event = message.event else { return [] }
        switch event {
        case .lagged, .removed, .subscribedToAll: return []
        case .subscribed, .reset, .moveStarted, .cameraChanged, .idle: return rows(event, message.type)
        case .input(let input): return [aside(event, text(input))]
        case .touch(let touch): return [aside(event, text(touch))]
        case .replay(let status): return [aside(event, text(status))]
        case .marker(let marker): return [aside(event, "marker  \(marker.label)")]
        case .leaseTaken(let lease):
            let (holder, left) = (
                lease.label.map { " by \($0)" } ?? "", clock(milliseconds: lease.untilMs - lease.timeMs, 1)
            )
            return [aside(event, "lease \(lease.lease) taken\(holder), for \(left)")]
        case .leaseEnded(let end): return [aside(event, "lease \(end.lease) ended: \(end.reason.rawValue)")]
        case .clock(let told): return [aside(event, "wall clock \(text(told.wallTime))")]
        case .motion(let told): return [aside(event, told.motion == nil ? "nothing moves it" : "motion")]
        case .present(let told): return [aside(event, told.presentation.map(text) ?? "no positions ahead of time")]
        }
    }

    /// Returns the row of an event that has the columns, under a heading if one is due.
    private mutating func rows(_ event: CameraEvent, _ type: MessageType?) -> [PrintableText] {
        guard let seq = event.seq, let position = event.position else { return [] }
        let places = isWide ? 6 : 4
        let texts =
            [event.timeMs.map { clock(milliseconds: $0, 3) } ?? ""] + (showsCamera ? [event.camera] : []) + [
                String(seq), type?.rawValue ?? "", event.move?.reason.rawValue ?? "",
                fixed(position.target.latitude, places),
                longitude(position.target.longitude, places), fixed(position.zoom, isWide ? 3 : 2),
                bearing(position.bearing, 1), fixed(position.viewingAngle, 1),
            ]
        let cells = texts.map { PrintableText($0) }
        makeRoom(for: cells)
        var lines = [paint(row(cells), event)]
        if rowsLeft <= 0 {
            lines.insert(style.dim(row(columns.map(\.title))), at: 0)
            rowsLeft = Terminal.rows(STDOUT_FILENO) - 1
        }
        rowsLeft -= 1
        return lines
    }

    /// Widens columns that have become too narrow, such as the time after an hour; a new heading shows where they are.
    private mutating func makeRoom(for cells: [PrintableText]) {
        var isWider = false
        for (index, cell) in cells.enumerated() where width(cell) > columns[index].width {
            columns[index].width = width(cell)
            isWider = true
        }
        guard isWider else { return }
        choose()
        rowsLeft = 0
    }

    /// Returns a row that shares only the time with the columns.
    private mutating func aside(_ event: CameraEvent, _ text: PrintableText) -> PrintableText {
        rowsLeft -= 1
        let camera: PrintableText = showsCamera ? "\(filled("\(event.camera)", 6)) " : ""
        let time = event.timeMs.map { clock(milliseconds: $0, 3) } ?? ""
        return dim("\(padded("\(time)", columns[0].width)) \(camera)\(text)")
    }

    private func text(_ time: WallTime) -> PrintableText { "\(fixed(Double(time.microseconds) / 1000, 3)) ms" }

    /// Returns where a camera is to be.
    private func text(_ presentation: Presentation) -> PrintableText {
        let position = presentation.position
        return """
            at \(text(presentation.presentAt)): \(fixed(position.target.latitude, 6)), \(fixed(position.target.longitude, 6)), \
            zoom \(fixed(position.zoom, 3))
            """
    }

    /// Returns what a camera is fed.
    private func text(_ input: InputLine) -> PrintableText {
        PrintableText((try? JSONValue(input.line.utf8))?.requestText ?? input.line)
    }

    /// Returns where the fingers of a surface are: `touch  surface table  1 at 101.5,200  2 at 210,380`.
    private func text(_ touch: SurfaceTouches) -> PrintableText {
        let surface: PrintableText
        switch touch.surface {
        case .none: surface = "surface \(touch.number)"
        case .number(let number): surface = "surface \(number)"
        case .text(let text): surface = "surface \(text)"
        }
        var facts: [PrintableText] = ["touch", surface] + (touch.isCancelled ? ["cancelled"] : [])
        facts += touch.touches.map { "\($0.id) at \(short($0.position.x)),\(short($0.position.y))" }
        if touch.touches.isEmpty, !touch.isCancelled { facts.append("lifted") }
        return facts.joined(separator: "  ")
    }

    /// Returns the state of a replay: `replay  paused  speed 2  round 1`.
    private func text(_ status: ReplayStatus) -> PrintableText {
        let speed = status.speed.isFinite ? short(status.speed) : "max"
        return "replay  \(status.state.rawValue)  speed \(speed)  round \(status.round)"
    }

    private func dim(_ row: PrintableText) -> PrintableText { style.dim(fitting(row, Terminal.columns(STDOUT_FILENO))) }

    private func row(_ cells: [PrintableText]) -> PrintableText {
        shown
            .map { columns[$0].isText ? filled(cells[$0], columns[$0].width) : padded(cells[$0], columns[$0].width) }
            .joined(separator: isWide ? "  " : " ")
    }

    private func paint(_ row: PrintableText, _ event: CameraEvent) -> PrintableText {
        switch event {
        case .moveStarted: style.green(row)
        case .cameraChanged: row
        case .reset: style.yellow(row)
        default: style.dim(row)
        }
    }
}

extension JSONValue {
    /// A line of the protocol in words, such as `pinch changed  focus 195,420  scale 1.25`; the requests of a batch
    /// have a plus between them.
    fileprivate var requestText: String {
        switch self {
        case .array(let members): members.map(\.requestText).joined(separator: " + ")
        case .object(let members): Self.text(members)
        default: text
        }
    }

    /// Members whose values need no name, in the order in which they are shown.
    private static let leading = ["type", "phase", "kind"]
    /// Members that are not shown: the time is shown once for each line, and every trace has the version.
    private static let untold = ["timeMs", "version"]

    private static func text(_ members: JSONObject) -> String {
        let words = leading.compactMap { members[$0]?.text }
        let rest = members.members.map(\.name).sorted().filter { !leading.contains($0) && !untold.contains($0) }
        let facts = rest.map { "\($0) \(members[$0]?.text ?? "")" }
        return ([words.joined(separator: " ")] + facts).filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private var text: String {
        switch self {
        case .null: "none"
        case .bool(let bool): bool ? "on" : "off"
        case .number(let number): short(number)
        case .string(let string): string
        case .array(let values): values.map(\.text).joined(separator: ", ")
        case .object(let members):
            if let x = members["x"], let y = members["y"] {
                "\(x.text),\(y.text)"
            } else if let latitude = members["latitude"], let longitude = members["longitude"] {
                "\(latitude.text),\(longitude.text)"
            } else {
                Self.text(members)
            }
        }
    }
}
