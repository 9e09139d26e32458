// Converts UTF-16 text, as PowerShell's `>` writes it, to UTF-8, however the bytes are cut.

/// A converter from UTF-16 to UTF-8. Invalid units become U+FFFD.
struct UTF16Text {
    private let isBigEndian: Bool
    /// The first byte of an incomplete unit.
    private var half: UInt8?
    /// The first unit of an incomplete surrogate pair, if any.
    private var lead: [UInt16] = []

    /// The length of the byte order mark.
    static let markLength = 2

    /// Creates a converter for text that begins with these bytes; `nil` without a byte order mark.
    init?(_ bytes: Span<UInt8>) {
        guard bytes.count >= Self.markLength else { return nil }
        switch (bytes[0], bytes[1]) {
        case (0xff, 0xfe): isBigEndian = false
        case (0xfe, 0xff): isBigEndian = true
        default: return nil
        }
    }

    /// Reads the next bytes, and returns what they complete.
    mutating func read(_ bytes: Span<UInt8>) -> [UInt8] {
        var units = lead
        for index in bytes.indices {
            guard let first = half else {
                half = bytes[index]
                continue
            }
            half = nil
            let (high, low) = isBigEndian ? (first, bytes[index]) : (bytes[index], first)
            units.append(UInt16(high) << 8 | UInt16(low))
        }
        lead = units.suffix(1).filter(UTF16.isLeadSurrogate)
        return Array(String(decoding: units.dropLast(lead.count), as: UTF16.self).utf8)
    }
}
