// Shared by the fuzzers: the input as an array, a way to cut it that depends on it alone, and the report of a finding.

import TestSupport

/// Returns the bytes that libFuzzer passes.
public func input(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    Array(UnsafeBufferPointer(start: start, count: count))
}

/// Stops with a finding and its description.
public func check(_ isGood: @autoclosure () -> Bool, _ complaint: @autoclosure () -> String) {
    if !isGood() { fatalError(complaint()) }
}

extension [UInt8] {
    /// A number that depends only on the bytes (FNV-1a).
    public var digest: UInt64 { reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }

    /// Returns the bytes in a few pieces. Equal bytes are always cut in the same places.
    public func inPieces() -> [ArraySlice<UInt8>] {
        var random = Seeded(digest)
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        while start < count {
            let end = Swift.min(count, start + random.integer(1...Swift.max(1, count / 2)))
            pieces.append(self[start..<end])
            start = end
        }
        return pieces
    }
}
