// The lines that a framer finds in a stream.

import JSONLines

public struct FramedLine: Equatable {
    public let number: UInt64
    /// The line, or `nil` if it is too long.
    public let bytes: [UInt8]?

    /// Returns the lines of a stream that arrives in pieces.
    package static func lines(_ pieces: [ArraySlice<UInt8>], _ framer: LineFramer) -> [FramedLine] {
        var (framer, waiting, found) = (framer, [UInt8](), [FramedLine]())
        func take(_ line: LineFramer.Line) {
            let bytes: [UInt8]? = if case .line(let range) = line { Array(waiting[range]) } else { nil }
            found.append(FramedLine(number: framer.lineNumber, bytes: bytes))
        }
        for piece in pieces {
            waiting += piece
            var position = 0
            while let line = framer.next(in: waiting.span, at: &position) { take(line) }
            waiting.removeFirst(position)
        }
        var position = 0
        if let line = framer.next(in: waiting.span, at: &position, isLast: true) { take(line) }
        return found
    }
}
