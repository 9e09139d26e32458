// How a replay looks on a terminal: a line that tells how it stands, above it where the camera is, and above that the keys,
// if they are asked for. A pure function of what is known of the replay. Invariant: no line is ever wider than the terminal,
// and there are no more of them than it has rows.

import GimbalClient
import GimbalProtocol

/// The known state of a replay, and its display.
struct PlayerFace: Equatable {
    /// The trace as people call it.
    var name: PrintableText = ""
    var state = ReplayState.playing
    /// Where it is, milliseconds of the trace's clock.
    var timeMs = 0.0
    /// How long it is, in milliseconds; `nil` if that is not known.
    var durationMs: Double?
    /// Trace time per time; infinite is as fast as possible.
    var speed = 1.0
    /// Which time it is played, from 1.
    var round = 1
    var rounds = TracePlayback.Loop.times(1)
    /// Times of the markers that are known, in milliseconds.
    var markers: [Double] = []
    /// Where the camera is, if that is known.
    var position: CameraPosition?
    /// The gestures that move it, each once.
    var gestures: [GestureKind] = []
    /// A short-lived note in place of the bar.
    var note: PrintableText?
    /// Whether keys steer it.
    var hasKeys = true
    var showsKeys = false

    private static let leastBar = 6
    private static let gap = 1
    /// On a terminal that is narrower the camera is not shown.
    private static let leastForCamera = 32

    // MARK: Lines

    /// The lines to be shown, the player's own last.
    ///
    /// - Parameters:
    ///   - columns: how wide they may be.
    ///   - rows: how many there may be.
    func lines(columns: Int, rows: Int, isUTF8: Bool, style: Style) -> [PrintableText] {
        let keys = showsKeys ? Self.keys(isUTF8: isUTF8).map { fitting($0, columns) } : []
        let place = columns < Self.leastForCamera ? [] : position.map { [camera($0, columns, style)] } ?? []
        let lines = keys + place + [line(columns: columns, isUTF8: isUTF8, style: style)]
        return Array(lines.suffix(max(rows, 1)))
    }

    /// Where the camera is, and the gestures that move it. A word that does not fit is left out, with those behind it.
    private func camera(_ position: CameraPosition, _ columns: Int, _ style: Style) -> PrintableText {
        let places = columns >= 90 ? 6 : 4
        // Numbers in columns of their own do not push one another to and fro, where there is room.
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
        let pieces = words.map { Piece($0) } + names.map { Piece($0, style.bold) }
        var left = columns + Self.gap
        return joined(
            pieces.prefix { piece in
                left -= piece.columns + Self.gap
                return left >= 0
            }, within: columns)
    }

    /// First the fixed parts, then whatever fits: the bar takes the rest.
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
        // A narrower one has no length: the sign for the keys is always there.
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
        guard let durationMs, rest() >= 1 else { return joined(left + right, within: columns) }
        func share(_ timeMs: Double) -> Double { durationMs > 0 ? timeMs / durationMs : 1 }
        let bar = gimbal.bar(share(timeMs), ticks: markers.map(share), rest(), isUTF8: isUTF8, style)
        let sides = [left, right].map { pieces in pieces.map(\.painted).joined(separator: " ") }
        return "\(sides[0]) \(bar) \(sides[1])"
    }

    /// Pieces with spaces between them; what is too wide is left out or cut.
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
        return durationMs.map { "\(time)/\(clock(milliseconds: $0, places))" } ?? "\(time)"
    }

    /// The speed as people write it: ×0.25, ×1, ×max.
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

    /// What the keys do, in lines that fit 40 columns.
    static func keys(isUTF8: Bool) -> [PrintableText] {
        let (sides, heights): (PrintableText, PrintableText) = isUTF8 ? ("← →", "↑ ↓") : ("left, right", "up, down")
        let keys: [(PrintableText, PrintableText)] = [
            ("space", "pause, go on"), (".", "one step"), (sides, "5 s; with shift 1 min"),
            (heights, "twice as fast, half"), ("[ ]", "marker before, after"), ("0 to 9", "tenths of the trace"),
            ("m", "a mark for who records"), ("?", "these keys"), ("q", "end"),
        ]
        return keys.map { "  \(filled($0, 11))  \($1)" }
    }
}

/// A word of a line, and what it is like.
struct Piece {
    let text: PrintableText
    let paint: (PrintableText) -> PrintableText

    init(_ text: PrintableText, _ paint: @escaping (PrintableText) -> PrintableText = { $0 }) {
        (self.text, self.paint) = (text, paint)
    }

    var columns: Int { width(text) }
    var painted: PrintableText { paint(text) }
}

/// Words in lines of so many columns at the most, all but the first of which are indented. A line breaks between two words,
/// and nowhere else; a word that is too long for a line is cut.
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

/// Lines at the bottom of the terminal that are drawn over, time and again.
///
/// The cursor stays where they begin: there, also when a terminal that has become narrower has wrapped them, everything
/// behind the cursor is theirs.
struct StatusLines {
    private var drawn: [PrintableText] = []
    private var columns = 0

    /// What makes the terminal show these lines in place of those before; nothing if it does.
    mutating func draw(_ lines: [PrintableText], columns: Int) -> PrintableText {
        guard lines != drawn || columns != self.columns else { return "" }
        // Each line takes the place of the one before, so that nothing is empty for an instant; but lines of another
        // width may have been wrapped.
        let clear: PrintableText = columns == self.columns || drawn.isEmpty ? "" : "\r\u{1b}[J"
        let up: PrintableText = lines.count > 1 ? "\u{1b}[\(lines.count - 1)A" : ""
        (drawn, self.columns) = (lines, columns)
        return clear + "\r" + lines.joined(separator: "\u{1b}[K\r\n") + "\u{1b}[J\(up)\r"
    }

    /// What removes the lines from the terminal.
    mutating func clear() -> PrintableText {
        defer { drawn = [] }
        return drawn.isEmpty ? "" : "\r\u{1b}[J"
    }
}
