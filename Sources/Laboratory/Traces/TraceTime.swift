// Finds the times at the ends of a piece of a trace: how long the trace is, and how far it has been sent.

import GimbalProtocol

/// The times in a piece of a trace. Unreadable lines, such as the truncated ones at its ends, have none.
package enum TraceTime {
    /// Returns the first time in the bytes, in milliseconds.
    package static func first(in bytes: [UInt8]) -> Double? { first(of: bytes.split(separator: 0x0a), \.first) }

    /// Returns the last time in the bytes, in milliseconds.
    package static func last(in bytes: [UInt8]) -> Double? {
        first(of: bytes.split(separator: 0x0a).reversed(), \.last)
    }

    /// - Parameter end: which of the times of a line with several.
    private static func first(
        of lines: some Sequence<ArraySlice<UInt8>>, _ end: KeyPath<[Double], Double?>
    ) -> Double? {
        var decoder = RequestDecoder()
        return lines.lazy.compactMap { line in
            (try? decoder.decode(Array(line).span))?.compactMap(\.timeMs)[keyPath: end]
        }.first
    }
}
