// Decodes keys from the bytes that a terminal sends for them: a character, or an escape sequence as xterm, the Linux
// console, tmux and rxvt send it. Unknown sequences are swallowed whole.

/// A key that the player knows.
enum Key: Equatable {
    case character(Character)
    case left, right, up, down
    case shiftLeft, shiftRight
}

/// Splits bytes into keys, however reads have split the bytes.
struct KeyDecoder {
    /// An escape sequence that is not complete yet.
    private var sequence: [UInt8] = []

    private static let escape: UInt8 = 0x1b
    /// No known sequence is longer.
    private static let longest = 32

    /// Whether an escape has arrived that is a key of its own if nothing follows it.
    var isUndecided: Bool { !sequence.isEmpty }

    /// Discards what has arrived since an escape: what comes next is another key.
    mutating func forget() { sequence = [] }

    /// Returns the keys that end in these bytes.
    mutating func read(_ bytes: some Sequence<UInt8>) -> [Key] { bytes.compactMap { read($0) } }

    private mutating func read(_ byte: UInt8) -> Key? {
        if byte == Self.escape {
            sequence = [byte]
            return nil
        }
        guard !sequence.isEmpty else {
            return byte >= 0x20 && byte < 0x7f ? .character(Character(Unicode.Scalar(byte))) : nil
        }
        sequence.append(byte)
        if sequence.count == 2 {
            // CSI or SS3; an escape before anything else is the Alt key, which the player does not use.
            if byte != UInt8(ascii: "["), byte != UInt8(ascii: "O") { sequence = [] }
            return nil
        }
        let isFinal = byte >= 0x40 && byte <= 0x7e
        guard isFinal || sequence.count == Self.longest else { return nil }
        defer { sequence = [] }
        return isFinal ? Self.key(byte, sequence[2...].dropLast()) : nil
    }

    /// Returns the key of a complete sequence: its last byte, and the parameters before that.
    private static func key(_ final: UInt8, _ parameters: ArraySlice<UInt8>) -> Key? {
        // The second parameter is 1 plus a bit for each modifier that is held: shift is the lowest.
        let held = parameters.split(separator: UInt8(ascii: ";")).dropFirst().first ?? parameters
        let isShifted = held.elementsEqual("2".utf8)
        switch final {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return isShifted ? .shiftRight : .right
        case UInt8(ascii: "D"): return isShifted ? .shiftLeft : .left
        // rxvt
        case UInt8(ascii: "c"): return .shiftRight
        case UInt8(ascii: "d"): return .shiftLeft
        default: return nil
        }
    }
}
