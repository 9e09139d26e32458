// The line that shows on a terminal how far a trace has come. It is there only while there is something to wait for, and
// nothing of it stays.

import GimbalProtocol
import Glibc

/// How far a trace has come.
struct ProgressState {
    /// Frames that were made of it.
    var frames = 0
    /// The trace's clock, milliseconds.
    var time: Double?
    /// The share that is done, 0 to 1.
    var share: Double?
}

struct ProgressBar {
    private let name: PrintableText
    private let style = Style(STDERR_FILENO)
    private var line: StatusLine

    /// - Parameter isWanted: whether there is a place for it; it shows up on a terminal only.
    init(_ name: String, isWanted: Bool) {
        self.name = PrintableText(name)
        line = StatusLine(isWanted: isWanted, delay: .milliseconds(330))
    }

    /// Draws the line if it is time to.
    mutating func update(_ progress: () -> ProgressState) {
        line.update { [name, style] in Self.text(name, progress(), $0, style) }
    }

    /// Removes the line; the next update brings it back.
    mutating func clear() { line.clear() }

    private static func text(
        _ name: PrintableText, _ progress: ProgressState, _ columns: Int, _ style: Style
    ) -> PrintableText {
        var facts: [PrintableText] = []
        if let share = progress.share { facts.append("\(padded("\(Int(share * 100))", 3)) %") }
        if let time = progress.time { facts.append("\(clock(milliseconds: time, 1))") }
        facts.append("\(counted(progress.frames, "frame"))")
        let rest = columns - width(name) - facts.reduce(0) { $0 + width($1) + 2 }
        guard rest >= 0 else { return fitting(facts.joined(separator: "  "), columns) }
        var parts = [name]
        if let share = progress.share, rest >= 12 {
            parts.append(bar(share, ticks: [], min(rest - 2, 40), isUTF8: Terminal.isUTF8, style))
        }
        return (parts + facts).joined(separator: "  ")
    }
}

/// A bar that shows a share of something, and ticks at others.
func bar(_ share: Double, ticks: [Double], _ width: Int, isUTF8: Bool, _ style: Style) -> PrintableText {
    func cell(_ share: Double) -> Int { Int(min(max(share, 0), 1) * Double(width)) }
    let (done, ticks) = (cell(share), Set(ticks.map { min(cell($0), width - 1) }))
    let kinds = (0..<width).map { ticks.contains($0) ? 2 : $0 < done ? 1 : 0 }
    let signs: [PrintableText] = isUTF8 ? ["─", "━", "┃"] : ["-", "#", "|"]
    let paints = [style.dim, style.green, style.yellow]
    // Cells that are alike are painted at once.
    var (bar, start): (PrintableText, Int) = ("", 0)
    while start < width {
        let end = kinds[start...].firstIndex { $0 != kinds[start] } ?? width
        bar += paints[kinds[start]](PrintableText(repeating: signs[kinds[start]], count: end - start))
        start = end
    }
    return bar
}

/// A line at the bottom of the terminal that shows for a while what is going on.
struct StatusLine {
    /// Whether it is ever shown.
    let isOn: Bool
    private var lines = StatusLines()
    /// When it is to be drawn anew.
    private var due: ContinuousClock.Instant

    /// How long a line stays as it is, in milliseconds.
    static let interval = 200

    /// - Parameters:
    ///   - isWanted: whether there is a place for it; it shows up on a terminal only.
    ///   - delay: what is over by then shows nothing.
    init(isWanted: Bool, delay: Duration = .zero) {
        isOn = isWanted && Terminal.canMoveCursor(STDERR_FILENO)
        due = .now + delay
    }

    /// Draws the line if it is time to.
    ///
    /// - Parameter text: makes the line, for so many columns at the most.
    mutating func update(_ text: (_ columns: Int) -> PrintableText) {
        guard isOn, due <= .now else { return }
        due = .now + .milliseconds(Self.interval)
        let columns = Terminal.columns(STDERR_FILENO) - 1
        writeError(lines.draw([text(columns)], columns: columns))
    }

    /// Removes the line; the next update brings it back.
    mutating func clear() {
        let removal = lines.clear()
        if !removal.isEmpty { due = .now }
        writeError(removal)
    }
}
