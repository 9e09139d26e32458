// Bytes of a daemon, cut into lines: what all connections to one have in common, however they wait.

import GimbalProtocol

/// Bytes that have come.
package struct LineBuffer {
    /// The longest line that a daemon may write, in bytes; far longer than any that it does write.
    package static let longestLine = 1 << 20

    private var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    private var framer = LineFramer(longest: Self.longestLine)

    package init() {}

    /// The next line without its LF, if it is there whole.
    package mutating func next() throws(GimbalConnectionError) -> ArraySlice<UInt8>? {
        let bytes = bytes
        switch framer.next(in: bytes.span, at: &start) {
        case .line(let range): return bytes[range]
        case .tooLong: throw .lineTooLong
        case nil: return nil
        }
    }

    /// Adds what a body writes into a buffer, as many bytes as it says; returns what it says, `nil` if there were none.
    ///
    /// - Parameter count: as much as is read at once.
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
