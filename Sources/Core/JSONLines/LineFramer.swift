// Splits bytes into lines, however the reads cut them. Stores no bytes: an incomplete line stays with the reader.

/// Finds lines in a stream of bytes.
package struct LineFramer: Sendable {
    package enum Line: Equatable, Sendable {
        /// A line without its LF and the CR before it. Blank lines count.
        case line(Range<Int>)
        /// A line over the limit, as much of it as has arrived; its bytes are skipped.
        case tooLong(Range<Int>)
    }

    /// The number of lines seen so far, including the current one, blank and overlong ones.
    package private(set) var lineNumber: UInt64
    /// Whether it is inside an overlong line.
    package private(set) var isSkipping: Bool
    private let longest: Int

    /// Creates a framer, possibly resuming another one.
    ///
    /// - Parameter longest: the maximum length of a line in bytes.
    package init(lineNumber: UInt64 = 0, isSkipping: Bool = false, longest: Int) {
        self.lineNumber = lineNumber
        self.isSkipping = isSkipping
        self.longest = longest
    }

    /// Takes the next line from `bytes` at `position`, and moves the position past it.
    ///
    /// - Parameter isLast: whether the end of the bytes ends a line, as the end of a stream does.
    /// - Returns: `nil` if the line at the position is incomplete.
    package mutating func next(in bytes: Span<UInt8>, at position: inout Int, isLast: Bool = false) -> Line? {
        while position < bytes.count {
            let end = Self.lineFeed(in: bytes, from: position)
            if isSkipping {
                position = end.map { $0 + 1 } ?? bytes.count
                isSkipping = end == nil
                continue
            }
            var length = (end ?? bytes.count) - position
            if length > 0, bytes[position + length - 1] == UInt8(ascii: "\r") { length -= 1 }
            let isTooLong = length > longest
            guard isTooLong || isLast || end != nil else { return nil }
            lineNumber += 1
            isSkipping = isTooLong && end == nil
            let line = position..<(position + length)
            position = end.map { $0 + 1 } ?? bytes.count
            return isTooLong ? .tooLong(line) : .line(line)
        }
        return nil
    }

    private static func lineFeed(in bytes: Span<UInt8>, from position: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { text in
            var index = position
            // Most lines are longer than 32 bytes, so it searches that many at once. Sound: all of them are there.
            while index &+ 32 <= text.count {
                let parts = unsafe text.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
                let others = parts ^ SIMD4(repeating: EightBytes.ones &* 0x0a)
                let found = (others &- SIMD4(repeating: EightBytes.ones)) & ~others & SIMD4(repeating: EightBytes.tops)
                if found[0] | found[1] | found[2] | found[3] != 0 { break }
                index &+= 32
            }
            while index < text.count {
                let mask = EightBytes(bytes, at: index).mask(of: 0x0a) & EightBytes.tops
                if mask != 0 { return index &+ mask.trailingZeroBitCount &>> 3 }
                index &+= 8
            }
            return nil
        }
    }
}
