// The times in a piece of a trace, found without parsing it: for a progress bar, that need not be exact.

/// Finds times in bytes of a trace.
package enum TraceTime {
    private static let key = Array("\"timeMs\":".utf8)

    /// The first time that stands in the bytes, in milliseconds.
    package static func first(in bytes: [UInt8]) -> Double? {
        bytes.indices.lazy.compactMap { time(in: bytes, at: $0) }.first
    }

    /// The last time that stands in the bytes, in milliseconds.
    package static func last(in bytes: [UInt8]) -> Double? {
        bytes.indices.reversed().lazy.compactMap { time(in: bytes, at: $0) }.first
    }

    private static func time(in bytes: [UInt8], at index: Int) -> Double? {
        guard bytes[index] == key[0], bytes[index...].starts(with: key) else { return nil }
        let number = bytes[(index + key.count)...].drop { $0 == 0x20 }.prefix(32)
        guard let end = number.firstIndex(where: { !"+-.0123456789eE".utf8.contains($0) }) else { return nil }
        return Double(String(decoding: number[..<end], as: UTF8.self))
    }
}
