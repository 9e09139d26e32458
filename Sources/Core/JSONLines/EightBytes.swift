// Eight bytes of a text, examined together to find where a string, a name or a number ends. A mask has the top bit of
// each byte it selects; bits after the first such byte may be wrong, since a borrow or a carry can reach them.

/// Eight bytes, the first one lowest; zeros past the end of the text.
@usableFromInline
struct EightBytes {
    @usableFromInline let bits: UInt64

    @inlinable @inline(__always)
    init(_ text: Span<UInt8>, at start: Int) {
        if start &+ 8 <= text.count {
            bits = Self.load(text, start)
        } else if text.count >= 8 {
            // `>>` yields zero if all bits are shifted out.
            bits = Self.load(text, text.count &- 8) >> UInt64(truncatingIfNeeded: (start &+ 8 &- text.count) &* 8)
        } else {
            bits = Self.short(text, from: start)
        }
    }

    @inlinable @inline(__always)
    static func load(_ text: Span<UInt8>, _ start: Int) -> UInt64 {
        precondition(start >= 0)
        // Sound: all eight bytes are within the text.
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

    /// Returns the number of bits before the first byte of a mask; 64 if there is none.
    @inlinable @inline(__always)
    static func bits(before mask: UInt64) -> Int { (mask & tops).trailingZeroBitCount & ~7 }

    @inlinable @inline(__always)
    func mask(of byte: UInt8) -> UInt64 {
        let difference = bits ^ (Self.ones &* UInt64(byte))
        return (difference &- Self.ones) & ~difference
    }

    /// The number of bits before the first quote; 64 if there is none.
    @inlinable @inline(__always)
    var bitsBeforeQuote: Int { Self.bits(before: mask(of: UInt8(ascii: "\""))) }

    /// The number of bytes before the first one that is special in a string: a quote, a backslash, a control character
    /// or a byte beyond ASCII.
    @inlinable @inline(__always)
    var plainCount: Int {
        let control = (bits &- (Self.ones &* 0x20)) & ~bits
        return Self.bits(before: mask(of: UInt8(ascii: "\"")) | mask(of: UInt8(ascii: "\\")) | control | bits) / 8
    }

    /// The digits before the first other byte: their count and their value.
    @inlinable @inline(__always)
    var digits: (count: Int, value: UInt64) {
        let length = Self.bits(before: otherThanDigits)
        return (length &>> 3, Self.number(of: digitValues, length))
    }

    /// A decimal that ends within the eight bytes, as nearly all do: its digits as a number, how many of them follow
    /// the point, and its length in bytes. `nil` if it is longer, has an exponent, or is not a decimal.
    @inlinable @inline(__always)
    var decimal: (digits: UInt64, places: Int, count: Int)? {
        let (values, others) = (digitValues, otherThanDigits)
        let whole = Self.bits(before: others)
        // A leading 0 before other digits is not allowed.
        guard 8..<64 ~= whole, whole == 8 || values & 0xff != 0 else { return nil }
        var (digits, length, end) = (values, whole, whole)
        if byte(behind: whole) == UInt8(ascii: ".") {
            // The point causes no carry, so the next non-digit is found correctly.
            end = Self.bits(before: others & (others &- 1))
            guard end < 64, end > whole &+ 8 else { return nil }
            let wholeMask: UInt64 = (1 &<< UInt64(truncatingIfNeeded: whole)) &- 1
            digits = values & wholeMask | (values &>> 8) & ~wholeMask
            length = end &- 8
        }
        guard byte(behind: end) | 0x20 != UInt8(ascii: "e") else { return nil }
        return (Self.number(of: digits, length), (length &- whole) &>> 3, end &>> 3)
    }

    @inlinable @inline(__always)
    func byte(behind bits: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: self.bits &>> UInt64(truncatingIfNeeded: bits))
    }

    /// Each byte xor the digit 0: digits become their values.
    @inlinable @inline(__always)
    var digitValues: UInt64 { bits ^ (Self.ones &* 0x30) }

    /// The mask of the bytes that are not digits: a value above 9 carries into the top bit, or already has it set.
    @inlinable @inline(__always)
    var otherThanDigits: UInt64 { ((digitValues &+ Self.ones &* 0x76) | digitValues) & Self.tops }

    /// Returns the number formed by the digits in the first `bits` bits.
    @inlinable @inline(__always)
    static func number(of values: UInt64, _ bits: Int) -> UInt64 {
        // Pads fewer than eight digits with leading zeros, then joins lanes of 8, 16 and 32 bits.
        let digits = values << UInt64(truncatingIfNeeded: 64 &- bits)
        let (lane16, lane32) = (UInt64(0x00ff_00ff_00ff_00ff), UInt64(0x0000_ffff_0000_ffff))
        let pairs = (digits & lane16) &* 10 &+ (digits &>> 8 & lane16)
        let fours = (pairs & lane32) &* 100 &+ (pairs &>> 16 & lane32)
        return (fours & 0xffff_ffff) &* 10_000 &+ fours &>> 32
    }
}
