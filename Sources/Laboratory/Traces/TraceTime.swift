// The times at the ends of a piece of a trace: how long the trace is, and how far it has been sent.

import GimbalProtocol

/// Finds times in a piece of a trace. Lines that cannot be read, such as the cut ones at its ends, have none.
package enum TraceTime {
    /// The first time that stands in the bytes, in milliseconds.
    package static func first(in bytes: [UInt8]) -> Double? { first(of: bytes.split(separator: 0x0a), \.first) }

    /// The last time that stands in the bytes, in milliseconds.
    package static func last(in bytes: [UInt8]) -> Double? {
        first(of: bytes.split(separator: 0x0a).reversed(), \.last)
    }

    /// - Parameter end: which time of an array is the one.
    private static func first(
        of lines: some Sequence<ArraySlice<UInt8>>, _ end: KeyPath<[Double], Double?>
    ) -> Double? {
        var decoder = RequestDecoder()
        return lines.lazy.compactMap { line in
            (try? decoder.decode(Array(line).span))?.compactMap(\.timeMs)[keyPath: end]
        }.first
    }
}
