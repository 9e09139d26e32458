// Eight bytes of a text, looked at together to find where a string or a name ends. Every mask has the top bit of each byte
// that it is about; those beyond the first one may be wrong, since a borrow can reach them.

/// Eight bytes, the first one lowest; zeros beyond the end of the text.
@usableFromInline
struct EightBytes {
    @usableFromInline let bits: UInt64

    @inlinable @inline(__always)
    init(_ text: Span<UInt8>, at start: Int) {
        if start &+ 8 <= text.count {
            bits = Self.load(text, start)
        } else if text.count >= 8 {
            // More than all bits shifted out leave zeros.
            bits = Self.load(text, text.count &- 8) >> UInt64(truncatingIfNeeded: (start &+ 8 &- text.count) &* 8)
        } else {
            bits = Self.short(text, from: start)
        }
    }

    @inlinable @inline(__always)
    static func load(_ text: Span<UInt8>, _ start: Int) -> UInt64 {
        precondition(start >= 0)
        // Sound: all eight bytes are the text's.
        return unsafe UInt64(
            littleEndian: text.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: UInt64.self))
    }

    @usableFromInline @inline(never)
    static func short(_ text: Span<UInt8>, from start: Int) -> UInt64 {
        var bits: UInt64 = 0
        for index in (start..<max(text.count, start)).reversed() { bits = bits << 8 | UInt64(text[index]) }
        return bits
    }

    @inlinable @inline(__always)
    static var ones: UInt64 { 0x0101_0101_0101_0101 }
    @inlinable @inline(__always)
    static var tops: UInt64 { 0x8080_8080_8080_8080 }

    /// The bits that stand before the first byte of a mask; 64 if there is none.
    @inlinable @inline(__always)
    static func bits(before mask: UInt64) -> Int { (mask & tops).trailingZeroBitCount & ~7 }

    @inlinable @inline(__always)
    func mask(of byte: UInt8) -> UInt64 {
        let difference = bits ^ (Self.ones &* UInt64(byte))
        return (difference &- Self.ones) & ~difference
    }

    /// The bits that stand before the first quote; 64 if there is none.
    @inlinable @inline(__always)
    var bitsBeforeQuote: Int { Self.bits(before: mask(of: UInt8(ascii: "\""))) }

    /// How many bytes stand before the first that needs a look in a string: a quote, a backslash, a control character or
    /// one beyond ASCII.
    @inlinable @inline(__always)
    var plainCount: Int {
        let control = (bits &- (Self.ones &* 0x20)) & ~bits
        return Self.bits(before: mask(of: UInt8(ascii: "\"")) | mask(of: UInt8(ascii: "\\")) | control | bits) / 8
    }
}
