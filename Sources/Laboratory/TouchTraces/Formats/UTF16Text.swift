// Converts UTF-16 text, as PowerShell's `>` writes it, to UTF-8, however the bytes are cut.

/// A converter from UTF-16 to UTF-8. Invalid units become U+FFFD.
struct UTF16Text {
    private let isBigEndian: Bool
    /// The first byte of an incomplete unit.
    private var half: UInt8?
    /// The first unit of an incomplete surrogate pair.
    private var lead: UInt16?

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
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for index in bytes.indices {
            guard let first = half else {
                half = bytes[index]
                continue
            }
            half = nil
            let (high, low) = isBigEndian ? (first, bytes[index]) : (bytes[index], first)
            read(UInt16(high) << 8 | UInt16(low), into: &text)
        }
        return text
    }

    private mutating func read(_ unit: UInt16, into text: inout [UInt8]) {
        if let lead {
            self.lead = nil
            if UTF16.isTrailSurrogate(unit) {
                let scalar = 0x10000 + UInt32(lead & 0x3ff) << 10 + UInt32(unit & 0x3ff)
                return Self.write(Unicode.Scalar(scalar), into: &text)
            }
            Self.write(nil, into: &text)
        }
        if UTF16.isLeadSurrogate(unit) { lead = unit } else { Self.write(Unicode.Scalar(unit), into: &text) }
    }

    private static func write(_ scalar: Unicode.Scalar?, into text: inout [UInt8]) {
        text.append(contentsOf: UTF8.encode(scalar ?? "\u{fffd}") ?? UTF8.encodedReplacementCharacter)
    }
}
