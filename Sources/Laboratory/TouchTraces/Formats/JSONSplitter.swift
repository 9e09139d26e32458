// Splits a file into JSON objects, one at a time, however the bytes are cut: objects one after another, or the elements
// of an array, on one line or many. It only finds where they begin and end; their reader checks whether they are JSON.

struct JSONSplitter {
    enum Piece {
        /// An object, stored in ``JSONSplitter/value``.
        case value
        /// Not an object, or an object that is too long or has no end. The rest of its line is skipped.
        case damaged
        /// An array of objects has ended.
        case endOfArray
    }

    /// The last object found, or the part of it read so far.
    private(set) var value: [UInt8] = []
    /// The line in which that object begins, from 1.
    private(set) var line = 1
    /// Whether that object is an element of an array.
    private(set) var isInArray = false
    /// Where that object begins, in bytes from the start of the search; later, if it has ended or is too long.
    var start: Int { consumed - value.count }

    /// A whole WebDriver script is one object.
    private static let longest = 4 << 20

    /// Bytes examined so far.
    private var consumed = 0
    private var lineNow = 1
    /// The nesting depth within the object.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var isTooLong = false
    /// Whether the rest of the line is skipped.
    private var isSkipping = false

    /// Whether the last object found began in the current line.
    var isOnOneLine: Bool { line == lineNow }

    /// Reads up to the next piece, and moves the position just after it.
    ///
    /// - Returns: `nil` if the bytes end first.
    mutating func next(in bytes: Span<UInt8>, at position: inout Int) -> Piece? {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            consumed += 1
            if byte == 0x0a { lineNow += 1 }
            if depth > 0 {
                if read(byte) { return isTooLong ? .damaged : .value }
            } else if let piece = begin(byte) {
                return piece
            }
        }
        return nil
    }

    /// Ends the file: an object without an end is damaged.
    mutating func last() -> Piece? {
        guard depth > 0 else { return nil }
        depth = 0
        return .damaged
    }

    /// Reads a byte between objects.
    private mutating func begin(_ byte: UInt8) -> Piece? {
        switch byte {
        case 0x0a: isSkipping = false
        case _ where isSkipping: break
        case 0x20, 0x09, 0x0d: break
        case UInt8(ascii: "{"):
            (depth, isInString, isEscaped, isTooLong) = (1, false, false, false)
            line = lineNow
            value.removeAll(keepingCapacity: true)
            value.append(byte)
        case UInt8(ascii: ",") where isInArray: break
        case UInt8(ascii: "[") where !isInArray: isInArray = true
        case UInt8(ascii: "]") where isInArray:
            isInArray = false
            return .endOfArray
        default:
            isSkipping = true
            line = lineNow
            value.removeAll(keepingCapacity: true)
            value.append(byte)
            return .damaged
        }
        return nil
    }

    /// Reads a byte of an object. Returns whether it is the last.
    private mutating func read(_ byte: UInt8) -> Bool {
        if value.count < Self.longest { value.append(byte) } else { isTooLong = true }
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return false
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
        return depth == 0
    }
}
