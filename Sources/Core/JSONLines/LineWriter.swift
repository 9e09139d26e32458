// Writes JSON into a reused buffer. Rounded numbers are fixed decimals: no exponent, no trailing zeros, no -0.

/// Writes lines of JSON.
@usableFromInline @safe package struct LineWriter: ~Copyable {
    // Sound: `base` has `capacity` bytes, is freed only here and in `grow`, and leaves this type only as a span that
    // lives no longer than a call of `withBytes`. Every write reserves room first.
    @usableFromInline var base: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    @usableFromInline var end = 0

    /// The number of bytes written.
    @inlinable package var count: Int { end }

    package init(capacity: Int = 1024) {
        self.capacity = max(capacity, 1)
        unsafe base = .allocate(capacity: self.capacity)
    }

    deinit { unsafe base.deallocate() }

    /// Lends the written bytes to a closure.
    package func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        try body(unsafe Span(_unsafeStart: base, count: end))
    }

    /// Whether `null` was written in place of a number that JSON cannot represent.
    package private(set) var hasUnwritableNumber = false

    /// Whether numbers are rounded to the decimals that their rules ask for; otherwise they have all their digits.
    package var isRounded = false

    /// Discards the written bytes.
    package mutating func clear() {
        end = 0
        hasUnwritableNumber = false
    }

    @inlinable @inline(__always)
    mutating func reserve(_ more: Int) {
        if end + more > capacity { grow(more) }
    }

    @usableFromInline @inline(never)
    mutating func grow(_ more: Int) {
        let larger = max(capacity * 2, end + more)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        unsafe grown.update(from: base, count: end)
        unsafe base.deallocate()
        unsafe base = grown
        capacity = larger
    }

    // MARK: Text

    /// Reserves room and lends it to a closure.
    @inlinable @inline(__always)
    package mutating func withRoom(_ most: Int, _ write: (inout LineRoom) -> Void) {
        reserve(most)
        var room = unsafe LineRoom(from: base + end, to: base + capacity)
        write(&room)
        unsafe end = room.end - base
    }

    @inlinable @inline(__always)
    package mutating func write(_ text: StaticString) { withRoom(text.utf8CodeUnitCount) { $0.write(text) } }

    package mutating func write(_ bytes: Span<UInt8>) { withRoom(bytes.count) { $0.write(bytes) } }

    package mutating func write(byte: UInt8) { withRoom(1) { $0.write(byte: byte) } }

    /// Writes a string in quotes, escaped. Characters beyond ASCII are written as they are.
    package mutating func write(string: String) {
        write(byte: UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                write(byte: UInt8(ascii: "\\"))
                write(byte: byte)
            case 0..<0x20, 0x7f:
                write("\\u00")
                write(byte: Self.hex(byte >> 4))
                write(byte: Self.hex(byte & 15))
            default:
                write(byte: byte)
            }
        }
        write(byte: UInt8(ascii: "\""))
    }

    /// Writes a comma, unless an object or an array was just opened.
    package mutating func separate() {
        let last = end > 0 ? unsafe base[end - 1] : UInt8(ascii: "[")
        if last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { write(byte: UInt8(ascii: ",")) }
    }

    private static func hex(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x61 + digit - 10 }

    // MARK: Numbers

    package mutating func write(_ number: UInt64) { withRoom(20) { $0.write(number) } }

    package mutating func write(_ flag: Bool) {
        if flag { write("true") } else { write("false") }
    }

    /// Writes a finite number with only as many digits as it takes to read it back exactly. It may have an exponent.
    package mutating func write(exact number: Double) {
        guard let whole = Int64(exactly: number), whole.magnitude < 1 << 53 else {
            guard number.isFinite else {
                hasUnwritableNumber = true
                return write("null")
            }
            for byte in number.description.utf8 { write(byte: byte) }
            return
        }
        if whole < 0 { write(byte: UInt8(ascii: "-")) }
        write(whole.magnitude)
    }

    /// Writes a number in units of its decimal place, without trailing zeros.
    package mutating func write(_ decimal: FixedDecimal) { withRoom(LineRoom.longestDecimal) { $0.write(decimal) } }
}

/// A number for printing: a whole count of units of a decimal place.
@usableFromInline package struct FixedDecimal: Equatable, Sendable {
    @usableFromInline package let units: Int64
    @usableFromInline package let places: Int

    /// Rounds half away from zero, clamps values too large to count, and converts NaN to 0.
    package init(_ value: Double, places: Int) {
        let scaled = (value * Self.powers[places]).rounded()
        units = scaled.isNaN ? 0 : Int64(min(max(scaled, -9e18), 9e18))
        self.places = places
    }

    @inlinable
    package init(units: Int64, places: Int) {
        self.units = units
        self.places = places
    }

    /// The number as it is printed.
    package var text: String {
        var line = LineWriter(capacity: 32)
        line.write(self)
        return String(decoding: line.bytes, as: UTF8.self)
    }

    /// The parts before and after the point, without the sign.
    @inline(__always)
    var parts: (whole: UInt64, fraction: UInt32) {
        // Constant divisors: the compiler emits no division.
        switch places {
        case 9: parts(of: 1_000_000_000)
        case 6: parts(of: 1_000_000)
        case 3: parts(of: 1_000)
        default: parts(of: Self.tens[places])
        }
    }

    @inline(__always)
    private func parts(of one: UInt64) -> (whole: UInt64, fraction: UInt32) {
        let whole = units.magnitude / one
        return (whole, UInt32(truncatingIfNeeded: units.magnitude - whole * one))
    }

    private static let powers = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
    /// The powers of ten that fit in 64 bits.
    @usableFromInline static let tens: [UInt64] = [
        1, 10, 100, 1000, 10000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
        100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
        10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
    ]
}
