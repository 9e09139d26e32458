// Splits bytes into numbered lines, however the bytes are divided into reads. Invariant: of a line beyond the
// protocol's limit only the beginning is kept, so memory is bounded by a piece and a line.

import GimbalProtocol

/// Splits a stream of bytes into lines.
package struct LineSplitter {
    /// One line of the stream.
    package struct Line {
        /// The number of the line, from 1; blank lines count, too.
        package let number: Int
        /// The line with its terminator; only the beginning of a line that is too long.
        package let raw: ArraySlice<UInt8>
        /// The line without its terminator.
        package let text: ArraySlice<UInt8>
        /// Whether it is longer than the protocol allows.
        package let isTooLong: Bool

        /// Returns the line with another text and the same number.
        package func with(_ text: [UInt8]) -> Line {
            Line(number: number, raw: text[...], text: text[...], isTooLong: false)
        }

        /// Whether the line has nothing but spaces and tabs.
        package var isBlank: Bool { text.allSatisfy { $0 == 0x20 || $0 == 0x09 } }

        /// The line with a line feed at its end.
        package var ended: [UInt8] { raw.last == 0x0a ? Array(raw) : raw + [0x0a] }
    }

    private var framer = LineFramer()
    /// The beginning of a line whose end is still missing.
    private var rest: [UInt8] = []

    package init() {}

    /// Passes on the lines that end in the next bytes.
    package mutating func read(_ bytes: some Sequence<UInt8>, _ body: (Line) throws -> Void) rethrows {
        rest += bytes
        let bytes = rest
        var position = 0
        defer { rest.removeFirst(position) }
        while true {
            let start = position
            guard let found = framer.next(in: bytes.span, at: &position) else { break }
            try body(line(found, bytes, start..<position))
        }
    }

    /// Passes on the last line, if the end of the stream terminates it.
    package mutating func finish(_ body: (Line) throws -> Void) rethrows {
        let bytes = rest
        var position = 0
        rest = []
        guard let found = framer.next(in: bytes.span, at: &position, isLast: true) else { return }
        try body(line(found, bytes, 0..<position))
    }

    /// Returns the lines of a whole stream, without blank ones.
    package static func lines(of bytes: some Sequence<UInt8>) -> [Line] {
        var splitter = LineSplitter()
        var lines: [Line] = []
        func add(_ line: Line) { if !line.isBlank { lines.append(line) } }
        splitter.read(bytes, add)
        splitter.finish(add)
        return lines
    }

    private func line(_ found: LineFramer.Line, _ bytes: [UInt8], _ raw: Range<Int>) -> Line {
        let number = Int(framer.lineNumber)
        switch found {
        case .line(let text): return Line(number: number, raw: bytes[raw], text: bytes[text], isTooLong: false)
        case .tooLong(let text): return Line(number: number, raw: bytes[text], text: bytes[text], isTooLong: true)
        }
    }
}
