// Splits a daemon's bytes into lines, for blocking and non-blocking connections alike.

/// Received bytes.
package struct LineBuffer {
    /// The longest line that a daemon may write, in bytes; far longer than any that it does write.
    package static let longestLine = 1 << 20

    private var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    private var framer = LineFramer(longest: Self.longestLine)

    package init() {}

    /// Returns the next line without its LF, if it is complete.
    package mutating func next() throws(GimbalConnectionError) -> ArraySlice<UInt8>? {
        let bytes = bytes
        switch framer.next(in: bytes.span, at: &start) {
        case .line(let range): return bytes[range]
        case .tooLong: throw .lineTooLong
        case nil: return nil
        }
    }

    /// Appends the bytes that a body writes into a buffer. Returns the body's result: their number, or `nil` for none.
    ///
    /// - Parameter count: the size of the buffer.
    package mutating func append<Failure>(
        upTo count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int?
    ) throws(Failure) -> Int? {
        bytes.removeFirst(start)
        start = 0
        return try unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { buffer throws(Failure) in
            let count = try unsafe body(buffer)
            unsafe bytes.append(contentsOf: buffer.prefix(count ?? 0))
            return count
        }
    }
}
