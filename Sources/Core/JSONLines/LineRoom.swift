// Writes the bytes of text and numbers one after the other into reserved room. The write position is never in memory
// meanwhile: every store would force a reload of it, and the speed of writing depends on that.

/// Reserved room at the end of a line.
@usableFromInline @safe package struct LineRoom: ~Copyable {
    // Sound: `end` is in the room of the `LineWriter` that lends this value for one call, and no write goes past
    // `limit`: each checks first.
    /// Where the next byte goes.
    @usableFromInline package internal(set) var end: UnsafeMutablePointer<UInt8>
    @usableFromInline let limit: UnsafeMutablePointer<UInt8>

    /// The length of the longest decimal.
    @inlinable package static var longestDecimal: Int { 32 }

    /// Creates room between two pointers into initialized memory, which no other code uses meanwhile.
    @unsafe @inlinable @inline(__always)
    package init(from start: UnsafeMutablePointer<UInt8>, to limit: UnsafeMutablePointer<UInt8>) {
        unsafe end = start
        unsafe self.limit = limit
    }

    @inlinable @inline(__always)
    func check(_ count: Int) { unsafe precondition(limit - end >= count) }

    // MARK: Text

    /// Inlined, so that copying a literal takes a few moves.
    @inlinable @inline(__always)
    package mutating func write(_ text: StaticString) {
        check(text.utf8CodeUnitCount)
        unsafe UnsafeMutableRawPointer(end).copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        unsafe end += text.utf8CodeUnitCount
    }

    @inlinable @inline(__always)
    package mutating func write(_ bytes: Span<UInt8>) {
        check(bytes.count)
        unsafe bytes.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { unsafe end.update(from: start, count: source.count) }
        }
        unsafe end += bytes.count
    }

    @inlinable @inline(__always)
    package mutating func write(byte: UInt8) {
        check(1)
        unsafe end.pointee = byte
        unsafe end += 1
    }

    /// Runs `write` and replaces the contents of `copy` with the bytes it wrote.
    package mutating func write(copyingTo copy: inout [UInt8], _ write: (inout LineRoom) -> Void) {
        let start = unsafe end
        write(&self)
        copy.removeAll(keepingCapacity: true)
        unsafe copy.append(contentsOf: UnsafeBufferPointer(start: start, count: end - start))
    }

    // MARK: Numbers

    @inlinable @inline(__always)
    package mutating func write(_ number: UInt64) {
        check(20)
        unsafe end = Self.put(whole: number, at: end)
    }

    /// Writes a number in units of its decimal place, without trailing zeros.
    @inlinable @inline(__always)
    package mutating func write(_ decimal: FixedDecimal) {
        check(Self.longestDecimal)
        unsafe end = Self.put(decimal, at: end)
    }

    /// - Returns: the end of the digits.
    @usableFromInline @inline(never)
    static func put(
        _ decimal: FixedDecimal, at start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        var end = unsafe start
        if decimal.units < 0 {
            unsafe end.pointee = UInt8(ascii: "-")
            unsafe end += 1
        }
        let (whole, fraction) = decimal.parts
        unsafe end = put(whole: whole, at: end)
        return unsafe fraction > 0 ? put(fraction: fraction, places: decimal.places, at: end) : end
    }

    @usableFromInline @inline(__always)
    static func put(
        whole number: UInt64, at start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        let end = unsafe start + length(of: number)
        var (digit, rest) = unsafe (end, number)
        while rest >= 100 {
            let quotient = rest / 100
            unsafe digit -= 2
            unsafe put(pair: UInt32(truncatingIfNeeded: rest - quotient * 100), at: digit)
            rest = quotient
        }
        if rest >= 10 {
            unsafe put(pair: UInt32(truncatingIfNeeded: rest), at: digit - 2)
        } else {
            unsafe (digit - 1).pointee = 0x30 + UInt8(truncatingIfNeeded: rest)
        }
        return unsafe end
    }

    /// Writes a point and the digits of a non-zero fraction, without trailing zeros.
    @inline(__always)
    private static func put(
        fraction: UInt32, places: Int, at start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        let billionths = fraction &* UInt32(truncatingIfNeeded: FixedDecimal.tens[9 - places])
        let first = billionths / 100_000_000
        unsafe start.pointee = UInt8(ascii: ".")
        unsafe (start + 1).pointee = 0x30 + UInt8(truncatingIfNeeded: first)
        unsafe UnsafeMutableRawPointer(start + 2).storeBytes(
            of: digits(of: billionths - first * 100_000_000).littleEndian, as: UInt64.self)
        var end = unsafe start + 1 + places
        while unsafe (end - 1).pointee == UInt8(ascii: "0") { unsafe end -= 1 }
        return unsafe end
    }

    /// Returns the eight digits of a number below 10^8, the first one lowest.
    @inline(__always)
    private static func digits(of number: UInt32) -> UInt64 {
        // Divides by multiplying, in lanes that are wide enough for it: first of 32 bits, then of 16.
        let high = number / 10_000
        let fours = UInt64(high) | UInt64(number &- high &* 10_000) &<< 32
        let hundreds = ((fours &* 10_486) &>> 20) & 0x0000_007f_0000_007f
        let twos = hundreds | (fours &- hundreds &* 100) &<< 16
        let tens = ((twos &* 103) &>> 10) & 0x000f_000f_000f_000f
        return (tens | (twos &- tens &* 10) &<< 8) | 0x3030_3030_3030_3030
    }

    @inline(__always)
    private static func put(pair: UInt32, at place: UnsafeMutablePointer<UInt8>) {
        let digits = unsafe pairs.utf8Start + Int(pair) * 2
        unsafe place.update(from: digits, count: 2)
    }

    private static let pairs: StaticString = """
        0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
        5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
        """

    @inline(__always)
    private static func length(of number: UInt64) -> Int {
        if number < 10 { return 1 }
        if number < 100 { return 2 }
        // 1233 / 4096 is a little less than log10(2): the guess is one too low if the number has reached the power.
        let guess = ((64 - number.leadingZeroBitCount) * 1233) >> 12
        return guess + (guess < 20 && number >= FixedDecimal.tens[guess] ? 1 : 0)
    }
}
