// Selects one of several traces that follow each other in a file.

import GimbalProtocol

/// Selects one of several traces of a file, and blanks the lines before it, so that its lines keep their numbers.
package final class TraceSelection {
    /// The number of the selected trace, from 1.
    package let number: Int
    /// How many traces have begun.
    package private(set) var begun = 0
    private var isOver = true
    private var splitter = LineSplitter()
    private var decoder = RequestDecoder()

    package init(_ number: Int) { self.number = number }

    /// Returns what remains of the next bytes.
    package func read(_ bytes: [UInt8]) -> [UInt8] {
        var selected: [UInt8] = []
        splitter.read(bytes) { selected += select($0) }
        return selected
    }

    /// Returns what remains of the last line.
    package func finish() -> [UInt8] {
        var selected: [UInt8] = []
        splitter.finish { selected += select($0) }
        return selected
    }

    private func select(_ line: LineSplitter.Line) -> [UInt8] {
        var isEnd = false
        if Self.mayBeOfTrace(line) {
            switch (try? decoder.decode(line.text.span))?.first?.body {
            case .traceEnd?: isEnd = true
            case .trace? where isOver: (begun, isOver) = (begun + 1, false)
            // An invalid header counts, too.
            case nil where isOver && (try? HeaderLine(Array(line.text))) != nil: (begun, isOver) = (begun + 1, false)
            default: break
            }
        }
        defer { isOver = isOver || isEnd }
        if begun == number { return Array(line.raw) }
        return begun < number ? [0x0a] : []
    }

    private static let word = Array("trace".utf8)

    private static func mayBeOfTrace(_ line: LineSplitter.Line) -> Bool {
        // Escapes may hide the word.
        let text = line.text
        return !line.isTooLong
            && (text.contains(UInt8(ascii: "\\")) || text.indices.contains { text[$0...].starts(with: word) })
    }
}
