// Events as rows for people: what does not fit a narrow terminal is left out, never wrapped.

import GimbalClient
import Glibc

struct EventTable {
    private struct Column {
        let title: String
        let width: Int
        var isText = false
    }

    private let style = Style(STDOUT_FILENO)
    private let isWide: Bool
    private let showsCamera: Bool
    private let columns: [Column]
    /// The columns that there is room for.
    private let shown: [Int]

    /// - Parameter cameras: the names that will come; `nil` where nobody knows.
    init(cameras: [String]?) {
        isWide = Terminal.columns(STDOUT_FILENO) >= 100
        showsCamera = isWide || cameras.map { $0.count > 1 } ?? true
        let longest = cameras.map { $0.map(\.count).max() ?? 0 } ?? 10
        let name = Column(title: "camera", width: max(longest, 6), isText: true)
        let all =
            [Column(title: "time", width: 9)] + (showsCamera ? [name] : []) + [
                Column(title: "seq", width: 5), Column(title: "event", width: 14, isText: true),
                Column(title: "reason", width: 9, isText: true), Column(title: "lat", width: isWide ? 10 : 8),
                Column(title: "lng", width: isWide ? 11 : 9), Column(title: "zoom", width: isWide ? 6 : 5),
                Column(title: "bearing", width: 7), Column(title: "angle", width: 5),
            ]
        var shown = Array(all.indices)
        let gap = isWide ? 2 : 1
        for title in ["seq", "reason", "angle", "time", "bearing"] {
            let width = shown.reduce(-gap) { $0 + all[$1].width + gap }
            if width >= Terminal.columns(STDOUT_FILENO) { shown.removeAll { all[$0].title == title } }
        }
        columns = all
        self.shown = shown
    }

    var head: String { style.dim(row(columns.map(\.title))) }

    /// The row of a message's event, or of what `subscribed` and `reset` say of a camera; other messages make none.
    func row(_ message: Message) -> String? {
        guard let event = message.decode(CameraEvent.self) else { return nil }
        if case .fed(let fed) = event { return row(fed) }
        if case .lagged = event { return nil }
        guard let seq = event.seq, let position = event.position else { return nil }
        let places = isWide ? 6 : 4
        let cells =
            [event.timeMs.map { clock(milliseconds: $0, 3) } ?? ""] + (showsCamera ? [event.camera] : []) + [
                String(seq), message.type, event.move?.reason.rawValue ?? "", fixed(position.target.latitude, places),
                fixed(position.target.longitude, places), fixed(position.zoom, isWide ? 3 : 2),
                fixed(position.bearing, 1), fixed(position.viewingAngle, 1),
            ]
        return paint(row(cells), event)
    }

    /// What a camera is fed has nothing in common with the columns but its time.
    private func row(_ fed: FedLine) -> String {
        let camera = showsCamera ? "\(fed.camera) " : ""
        let text = "\(padded(clock(milliseconds: fed.timeMs, 3), columns[0].width)) \(camera)\(printable(fed.line))"
        return style.dim(String(text.prefix(Terminal.columns(STDOUT_FILENO))))
    }

    private func row(_ cells: [String]) -> String {
        shown
            .map { columns[$0].isText ? filled(cells[$0], columns[$0].width) : padded(cells[$0], columns[$0].width) }
            .joined(separator: isWide ? "  " : " ")
    }

    private func paint(_ row: String, _ event: CameraEvent) -> String {
        switch event {
        case .moveStarted: style.green(row)
        case .cameraChanged: row
        case .reset: style.yellow(row)
        case .idle, .fed, .subscribed, .subscribedToAll, .lagged, .removed: style.dim(row)
        }
    }
}
