// The line that shows on a terminal how far a trace has come. It is there only while there is something to wait for, and
// nothing of it stays.

import GimbalProtocol
import Glibc

struct ProgressBar {
    private let name: PrintableText
    private let style = Style(STDERR_FILENO)
    /// Whether it is ever shown.
    let isOn: Bool
    private let started = ContinuousClock.now
    private var lastDrawn: ContinuousClock.Instant?

    private static let delay = Duration.milliseconds(330)
    private static let interval = Duration.milliseconds(200)

    /// - Parameter isWanted: whether there is a place for it; it shows up on a terminal only.
    init(_ name: String, isWanted: Bool) {
        self.name = PrintableText(name)
        isOn = isWanted && Terminal.canMoveCursor(STDERR_FILENO)
    }

    /// How long to wait before ``update(_:)`` is called again, in milliseconds; `nil` if there is nothing to update.
    var timeout: Int? { isOn ? 100 : nil }

    /// Draws the line if it is time to.
    mutating func update(_ progress: () -> ProgressState) {
        guard isOn else { return }
        let now = ContinuousClock.now
        guard lastDrawn.map({ now - $0 >= Self.interval }) ?? (now - started >= Self.delay) else { return }
        lastDrawn = now
        writeError("\r\(text(progress()))\u{1b}[K")
    }

    /// Removes the line; the next update brings it back.
    mutating func clear() {
        guard lastDrawn != nil else { return }
        writeError("\r\u{1b}[K")
        lastDrawn = ContinuousClock.now - Self.interval
    }

    private func text(_ progress: ProgressState) -> PrintableText {
        var facts: [PrintableText] = []
        if let share = progress.share { facts.append("\(padded("\(Int(share * 100))", 3)) %") }
        if let time = progress.time {
            let length: PrintableText = progress.duration.map { " of \(clock(milliseconds: $0, 1))" } ?? ""
            facts.append("\(clock(milliseconds: time, 1))\(progress.isResting ? ", coming to rest" : length)")
        }
        facts.append("\(counted(progress.frames, "frame"))")
        if let speed = progress.speed {
            let factor = speed < 10 ? short((speed * 10).rounded() / 10) : grouped(Int(min(speed, 1e15)))
            facts.append("\(Terminal.isUTF8 ? "×" : "x")\(factor)")
        }
        let columns = Terminal.columns(STDERR_FILENO) - 1
        let rest = columns - width(name) - facts.reduce(0) { $0 + width($1) + 2 }
        guard rest >= 0 else { return fitting(facts.joined(separator: "  "), columns) }
        var parts = [name]
        if let share = progress.share, rest >= 12 { parts.append(bar(share, min(rest - 2, 40))) }
        return (parts + facts).joined(separator: "  ")
    }

    private func bar(_ share: Double, _ width: Int) -> PrintableText {
        let done = min(max(Int(share * Double(width)), 0), width)
        let (full, empty): (PrintableText, PrintableText) = Terminal.isUTF8 ? ("━", "─") : ("#", "-")
        return style.green(PrintableText(repeating: full, count: done))
            + style.dim(PrintableText(repeating: empty, count: width - done))
    }
}
