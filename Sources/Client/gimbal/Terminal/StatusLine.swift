// A line at the bottom of the terminal that shows what is going on, such as the progress of a trace. It appears only
// while there is something to wait for, and leaves nothing behind.

import GimbalProtocol
import Glibc

/// The progress of a trace.
struct ProgressState {
    /// The file's name.
    let name: String
    /// The number of frames made of it.
    var frames = 0
    /// The time of the trace's clock, in milliseconds.
    var time: Double?
    /// The share that is done, 0 to 1.
    var share: Double?

    /// Returns a line of at most `columns`.
    func text(_ columns: Int) -> PrintableText {
        var facts: [PrintableText] = []
        if let share { facts.append("\(padded("\(Int(share * 100))", 3)) %") }
        if let time { facts.append("\(clock(milliseconds: time, 1))") }
        facts.append("\(counted(frames, "frame"))")
        var parts = [PrintableText(name)]
        let rest = columns - width(parts[0]) - facts.reduce(0) { $0 + width($1) + 2 }
        guard rest >= 0 else { return fitting(facts.joined(separator: "  "), columns) }
        if let share, rest >= 12 {
            parts.append(bar(share, ticks: [], min(rest - 2, 40), isUTF8: Terminal.isUTF8, Style(STDERR_FILENO)))
        }
        return (parts + facts).joined(separator: "  ")
    }
}

/// Returns a bar that shows a share, with ticks at others.
func bar(_ share: Double, ticks: [Double], _ width: Int, isUTF8: Bool, _ style: Style) -> PrintableText {
    func cell(_ share: Double) -> Int { Int(min(max(share, 0), 1) * Double(width)) }
    let (done, ticks) = (cell(share), Set(ticks.map { min(cell($0), width - 1) }))
    let kinds = (0..<width).map { ticks.contains($0) ? 2 : $0 < done ? 1 : 0 }
    let signs: [PrintableText] = isUTF8 ? ["─", "━", "┃"] : ["-", "#", "|"]
    let paints = [style.dim, style.green, style.yellow]
    // Equal neighbours are painted together.
    var (bar, start): (PrintableText, Int) = ("", 0)
    while start < width {
        let end = kinds[start...].firstIndex { $0 != kinds[start] } ?? width
        bar += paints[kinds[start]](PrintableText(repeating: signs[kinds[start]], count: end - start))
        start = end
    }
    return bar
}

/// A temporary line at the bottom of the terminal that shows what is going on.
struct StatusLine {
    /// Whether it is ever shown.
    let isOn: Bool
    private var lines = StatusLines()
    /// When to draw it again.
    private var due: ContinuousClock.Instant

    /// How long a line stays unchanged, in milliseconds.
    static let interval = 200

    /// - Parameters:
    ///   - isWanted: whether to show it; it appears only on a terminal.
    ///   - delay: what is over within this time shows nothing.
    init(isWanted: Bool, delay: Duration = .milliseconds(330)) {
        isOn = isWanted && Terminal.canMoveCursor(STDERR_FILENO)
        due = .now + delay
    }

    /// Draws the line if it is due.
    ///
    /// - Parameter text: makes the line, of at most so many columns.
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
