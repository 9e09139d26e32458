// A line of the daemon's that tells a step of a movement, as nearly every line is, read straight from its bytes: what is told to
// the broker is cut out of it, digit for digit. Whatever else there is, it leaves to the general way. Invariant: what it reads,
// `ServerLine` reads the same; a test holds each against the other.

import GimbalProtocol

/// A step of a movement as the daemon has written it.
package struct MoveLine: Equatable, Sendable {
    package enum Kind: Sendable { case moveStarted, cameraChanged, idle }

    package let kind: Kind
    /// The camera's name.
    package let camera: String
    package let seq: Int
    /// Numbers and words as they are written.
    package let timeMs: ArraySlice<UInt8>
    package let reason: ArraySlice<UInt8>
    package let position: ArraySlice<UInt8>

    private static let kinds: [(opening: [UInt8], kind: Kind)] = [
        (Array(#"{"type":"camera-changed","camera":""#.utf8), .cameraChanged),
        (Array(#"{"type":"idle","camera":""#.utf8), .idle),
        (Array(#"{"type":"move-started","camera":""#.utf8), .moveStarted),
    ]
    private static let seq = Array(#"","seq":"#.utf8)
    private static let timeMs = Array(#","timeMs":"#.utf8)
    private static let reason = Array(#","reason":""#.utf8)
    private static let position = Array(#"","position":"#.utf8)

    /// Reads a line without its LF; `nil` if it may be something else.
    package init?(_ line: [UInt8]) {
        var start = 0
        guard let kind = Self.kinds.first(where: { Self.skip($0.opening, line, &start) })?.kind else { return nil }
        self.kind = kind
        let name = Self.word(line, &start, upTo: UInt8(ascii: "\""))
        guard NodeTopics.isName(name), Self.skip(Self.seq, line, &start) else { return nil }
        camera = String(decoding: name, as: UTF8.self)
        let digits = Self.word(line, &start, upTo: UInt8(ascii: ","))
        guard 1...15 ~= digits.count, Self.skip(Self.timeMs, line, &start) else { return nil }
        var number = 0
        for digit in digits {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        seq = number
        timeMs = Self.word(line, &start, upTo: UInt8(ascii: ","))
        guard Self.skip(Self.reason, line, &start) else { return nil }
        reason = Self.word(line, &start, upTo: UInt8(ascii: "\""))
        guard Self.skip(Self.position, line, &start), start + 2 < line.count, line[start] == UInt8(ascii: "{"),
            line[line.count - 1] == UInt8(ascii: "}"), line[line.count - 2] == UInt8(ascii: "}")
        else { return nil }
        position = line[start..<line.count - 1]
    }

    /// Moves behind a text if it comes next.
    private static func skip(_ text: [UInt8], _ line: [UInt8], _ start: inout Int) -> Bool {
        guard line.count - start >= text.count else { return false }
        for index in text.indices where line[start + index] != text[index] { return false }
        start += text.count
        return true
    }

    /// What stands before a byte, which is not skipped.
    private static func word(_ line: [UInt8], _ start: inout Int, upTo end: UInt8) -> ArraySlice<UInt8> {
        let first = start
        while start < line.count, line[start] != end { start += 1 }
        return line[first..<start]
    }
}
