// How a replay looks on a terminal: a line with its state, above it the camera's position, and above that the keys, if
// requested. A pure function of the known state of the replay. Invariant: no line is wider than the terminal, and there
// are no more lines than it has rows.

import GimbalClient

/// The known state of a replay, and its display.
struct PlayerFace: Equatable {
    /// The name of the trace as people see it.
    var name: PrintableText = ""
    var state = ReplayState.playing
    /// The time of the trace's clock, in milliseconds.
    var timeMs = 0.0
    /// The time of the last line in milliseconds; `nil` if it is not known.
    var durationMs: Double?
    /// Trace time per real time; infinity is as fast as possible.
    var speed = 1.0
    /// The current round, from 1.
    var round = 1
    var rounds = TracePlayback.Loop.times(1)
    /// Times of the known markers, in milliseconds.
    var markers: [Double] = []
    /// The camera's position, if it is known.
    var position: CameraPosition?
    /// The gestures that move the camera, each once.
    var gestures: [GestureKind] = []
    /// A short-lived note in place of the bar.
    var note: PrintableText?
    /// Whether keys control the replay.
    var hasKeys = true
    var showsKeys = false

    private static let leastBar = 6
    private static let gap = 1
    /// The camera is not shown on a narrower terminal.
    private static let leastForCamera = 32

    // MARK: Lines

    /// Returns the lines to show, the player's own last.
    ///
    /// - Parameters:
    ///   - columns: the most columns of a line.
    ///   - rows: the most lines.
    func lines(columns: Int, rows: Int, isUTF8: Bool, style: Style) -> [PrintableText] {
        let keys = showsKeys ? Self.keys(isUTF8: isUTF8).map { fitting($0, columns) } : []
        let place = columns < Self.leastForCamera ? [] : position.map { [camera($0, columns, style)] } ?? []
        let lines = keys + place + [line(columns: columns, isUTF8: isUTF8, style: style)]
        return Array(lines.suffix(max(rows, 1)))
    }

    /// Returns the camera's position and the gestures that move it, up to the first word that does not fit.
    private func camera(_ position: CameraPosition, _ columns: Int, _ style: Style) -> PrintableText {
        let places = columns >= 90 ? 6 : 4
        // Where there is room, numbers have columns of their own, so that they do not shift one another.
        func number(_ text: String, _ most: Int) -> PrintableText { padded("\(text)", columns >= 60 ? most : 0) }
        let latitude = number(fixed(position.target.latitude, places), places + 4)
        let longitude = number(gimbal.longitude(position.target.longitude, places), places + 5)
        let zoom = number(fixed(position.zoom, 2), 5)
        var words: [PrintableText] = ["\(latitude), \(longitude)", "zoom \(zoom)"]
        if columns >= 72 {
            words.append("bearing \(number(bearing(position.bearing, 1), 5))")
            words.append("angle \(number(fixed(position.viewingAngle, 1), 4))")
        }
        let names = gestures.enumerated().map { "\($0 > 0 ? "+ " : "")\($1.type)" as PrintableText }
        return folded(words.map { Piece($0) } + names.map { Piece($0, style.bold) }, columns)[0]
    }

    /// Returns the player's own line: first the fixed parts, then whatever fits; the bar takes the rest.
    private func line(columns: Int, isUTF8: Bool, style: Style) -> PrintableText {
        let paint = state == .playing ? style.green : style.yellow
        let word = Piece(filled("\(state.rawValue)", 7), paint)
        if let note { return joined([word, Piece(note, style.bold)], within: columns) }
        let speed = Piece(factor(isUTF8))
        // A person who steps wants to see each step.
        var left = [word, Piece(time(places: state != .playing && columns >= 60 ? 3 : 1))]
        var right = [speed]
        func rest() -> Int { columns - (left + right).reduce(0) { $0 + $1.columns + Self.gap } }
        let leastBar = durationMs == nil ? 0 : Self.leastBar
        // Hours leave no room for tenths on a narrow terminal.
        if rest() < leastBar { left[1] = Piece(time(places: 0)) }
        // A still narrower one shows no duration: the sign for the keys is always there.
        if rest() < Self.gap + 1 { left[1] = Piece("\(clock(milliseconds: timeMs, 0))") }
        func fits(_ piece: Piece, leaving least: Int) -> Bool { rest() - piece.columns - Self.gap >= least }
        if hasKeys {
            let help = Piece("? keys", style.dim)
            right.append(fits(help, leaving: 2 * leastBar) ? help : Piece("?", style.dim))
        }
        if let round = roundText.map({ Piece($0, style.dim) }), fits(round, leaving: leastBar) {
            right.insert(round, at: 1)
        }
        let name = Piece(name, style.bold)
        if columns >= 60, fits(name, leaving: 2 * leastBar) { left.insert(name, at: 0) }
        guard let total, rest() >= 1 else { return joined(left + right, within: columns) }
        func share(_ timeMs: Double) -> Double { total > 0 ? timeMs / total : 1 }
        let bar = gimbal.bar(share(timeMs), ticks: markers.map(share), rest(), isUTF8: isUTF8, style)
        let sides = [left, right].map { pieces in pieces.map(\.painted).joined(separator: " ") }
        return "\(sides[0]) \(bar) \(sides[1])"
    }

    /// Returns pieces with spaces between them; what is too wide is omitted or cut.
    private func joined(_ pieces: some Sequence<Piece>, within columns: Int) -> PrintableText {
        var text: PrintableText = ""
        var left = columns
        for piece in pieces {
            let gap = text.isEmpty ? 0 : 1
            guard left > gap else { break }
            let part = fitting(piece.text, left - gap)
            text += PrintableText(repeating: " ", count: gap) + piece.paint(part)
            left -= gap + width(part)
        }
        return text
    }

    // MARK: Pieces

    private func time(places: Int) -> PrintableText {
        let time = clock(milliseconds: timeMs, places)
        return total.map { "\(time)/\(clock(milliseconds: $0, places))" } ?? "\(time)"
    }

    /// The length of the replay: a fling or an animation goes on after the trace's last line.
    private var total: Double? { durationMs.map { max($0, timeMs) } }

    /// Returns the speed as people write it: ×0.25, ×1, ×max.
    private func factor(_ isUTF8: Bool) -> PrintableText {
        let sign: PrintableText = isUTF8 ? "×" : "x"
        guard speed.isFinite else { return "\(sign)max" }
        let places = speed < 0.1 ? 1000.0 : 100.0
        let rounded = (speed * places).rounded() / places
        return speed < 1e6 ? "\(sign)\(short(rounded))" : "\(sign)\(speed)"
    }

    private var roundText: PrintableText? {
        switch rounds {
        case .times(1): nil
        case .times(let times): "\(round) of \(times)"
        case .forever: "round \(round)"
        }
    }

    /// Returns what the keys do, in lines that fit 40 columns.
    static func keys(isUTF8: Bool) -> [PrintableText] {
        let (sides, heights): (PrintableText, PrintableText) = isUTF8 ? ("← →", "↑ ↓") : ("left, right", "up, down")
        let keys: [(PrintableText, PrintableText)] = [
            ("space", "pause, resume"), (".", "one step"), (sides, "seek 5 s; shift: 1 min"),
            (heights, "double, halve the speed"), ("[ ]", "previous, next marker"), ("0 to 9", "tenths of the trace"),
            ("m", "marker in the recording"), ("?", "these keys"), ("q", "end"),
        ]
        return keys.map { "  \(filled($0, 11))  \($1)" }
    }
}

/// A word of a line, and its style.
struct Piece {
    let text: PrintableText
    let paint: (PrintableText) -> PrintableText

    init(_ text: PrintableText, _ paint: @escaping (PrintableText) -> PrintableText = { $0 }) {
        (self.text, self.paint) = (text, paint)
    }

    var columns: Int { width(text) }
    var painted: PrintableText { paint(text) }
}

/// Breaks words into lines of at most `columns`, all but the first indented. A line breaks only between words; a word
/// that is too long for a line is cut.
func folded(_ words: [Piece], _ columns: Int) -> [PrintableText] {
    var (lines, left): ([PrintableText], Int) = ([], 0)
    for word in words {
        if lines.isEmpty || word.columns + 1 > left {
            let indent = PrintableText(repeating: " ", count: lines.isEmpty ? 0 : 2)
            let text = fitting(word.text, columns - width(indent))
            lines.append(indent + word.paint(text))
            left = columns - width(indent) - width(text)
        } else {
            lines[lines.count - 1] += " " + word.painted
            left -= word.columns + 1
        }
    }
    return lines
}

/// Lines at the bottom of the terminal that are redrawn in place.
///
/// The cursor stays at their beginning: everything after it is theirs, even if a terminal that has become narrower has
/// wrapped them.
struct StatusLines {
    private var drawn: [PrintableText] = []
    private var columns = 0

    /// Returns text that shows these lines in place of the previous ones; empty if nothing has changed.
    mutating func draw(_ lines: [PrintableText], columns: Int) -> PrintableText {
        guard lines != drawn || columns != self.columns else { return "" }
        // Each line overwrites the one before, so that nothing flickers; but lines of another width may have been
        // wrapped.
        let clear: PrintableText = columns == self.columns || drawn.isEmpty ? "" : "\r\u{1b}[J"
        let up: PrintableText = lines.count > 1 ? "\u{1b}[\(lines.count - 1)A" : ""
        (drawn, self.columns) = (lines, columns)
        return clear + "\r" + lines.joined(separator: "\u{1b}[K\r\n") + "\u{1b}[J\(up)\r"
    }

    /// Returns text that removes the lines from the terminal.
    mutating func clear() -> PrintableText {
        defer { drawn = [] }
        return drawn.isEmpty ? "" : "\r\u{1b}[J"
    }
}
