// JSON out, into bytes that are kept from line to line. Numbers are fixed decimals: no exponent, no trailing zeros, no -0.

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Writes lines of JSON.
@safe public struct LineWriter: ~Copyable {
    // Sound: `base` has `capacity` bytes, is freed only here and in `grow`, and never leaves this type but as a span that
    // lives no longer than a call of `withBytes`. Every write makes room first.
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// How many bytes have been written.
    public private(set) var count = 0

    public init(capacity: Int = 1024) {
        self.capacity = max(capacity, 1)
        unsafe base = .allocate(capacity: self.capacity)
    }

    deinit { unsafe base.deallocate() }

    /// Lends what has been written.
    public func withBytes<Result>(_ body: (Span<UInt8>) throws -> Result) rethrows -> Result {
        try body(unsafe Span(_unsafeStart: base, count: count))
    }

    /// Forgets what has been written.
    public mutating func clear() { count = 0 }

    @inline(__always) private mutating func reserve(_ more: Int) {
        if count + more > capacity { grow(more) }
    }

    @inline(never) private mutating func grow(_ more: Int) {
        let larger = max(capacity * 2, count + more)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        unsafe grown.update(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = grown
        capacity = larger
    }

    // MARK: Text

    /// Inlined, so that the copy of a literal is a few moves.
    @inline(__always) public mutating func write(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        reserve(length)
        unsafe UnsafeMutableRawPointer(base + count).copyMemory(from: text.utf8Start, byteCount: length)
        count += length
    }

    public mutating func write(_ bytes: Span<UInt8>) {
        reserve(bytes.count)
        unsafe bytes.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { unsafe (base + count).update(from: start, count: source.count) }
        }
        count += bytes.count
    }

    public mutating func write(byte: UInt8) {
        reserve(1)
        unsafe base[count] = byte
        count += 1
    }

    /// Writes a string in quotes, escaped. What is not ASCII is written as it is.
    public mutating func write(string: String) {
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

    private static func hex(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x61 + digit - 10 }

    // MARK: Numbers

    public mutating func write(_ number: UInt64) {
        reserve(20)
        write(whole: number)
    }

    public mutating func write(_ flag: Bool) {
        if flag { write("true") } else { write("false") }
    }

    /// Writes a finite number with no more digits than it takes to read it back unharmed. It may have an exponent.
    public mutating func write(exact number: Double) {
        guard let whole = Int64(exactly: number), whole.magnitude < 1 << 53 else {
            for byte in number.description.utf8 { write(byte: byte) }
            return
        }
        if whole < 0 { write(byte: UInt8(ascii: "-")) }
        write(whole.magnitude)
    }

    /// Writes a number that counts units of the given decimal place, without trailing zeros.
    public mutating func write(_ decimal: Decimal) {
        reserve(32)
        if decimal.units < 0 {
            unsafe base[count] = UInt8(ascii: "-")
            count += 1
        }
        let (whole, fraction) = decimal.parts
        write(whole: whole)
        if fraction > 0 { write(fraction: fraction, places: decimal.places) }
    }

    /// The digits of a whole number. There is room for them.
    @inline(__always)
    private mutating func write(whole number: UInt64) {
        count += Self.length(of: number)
        var (index, rest) = (count, number)
        while rest >= 100 {
            let quotient = rest / 100
            index -= 2
            write(pair: UInt32(truncatingIfNeeded: rest - quotient * 100), at: index)
            rest = quotient
        }
        if rest >= 10 {
            write(pair: UInt32(truncatingIfNeeded: rest), at: index - 2)
        } else {
            unsafe base[index - 1] = 0x30 + UInt8(truncatingIfNeeded: rest)
        }
    }

    /// A point and the digits of a fraction, which is not 0. There is room for them.
    private mutating func write(fraction: UInt32, places: Int) {
        unsafe base[count] = UInt8(ascii: ".")
        var (index, rest) = (count + 1 + places, fraction)
        count = index
        while index > count - places + 1 {
            let quotient = rest / 100
            index -= 2
            write(pair: rest - quotient * 100, at: index)
            rest = quotient
        }
        if index > count - places { unsafe base[index - 1] = 0x30 + UInt8(truncatingIfNeeded: rest) }
        while unsafe base[count - 1] == UInt8(ascii: "0") { count -= 1 }
    }

    /// Two digits.
    @inline(__always)
    private mutating func write(pair: UInt32, at index: Int) {
        let digits = unsafe Self.pairs.utf8Start + Int(pair) * 2
        unsafe (base + index).update(from: digits, count: 2)
    }

    private static let pairs: StaticString = """
        0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
        5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
        """

    @inline(__always)
    private static func length(of number: UInt64) -> Int {
        if number < 10 { return 1 }
        if number < 100 { return 2 }
        // 1233 / 4096 is a little less than log10(2): the guess is one too few where the number is past the power.
        let guess = ((64 - number.leadingZeroBitCount) * 1233) >> 12
        return guess + (guess < 20 && number >= Decimal.tens[guess] ? 1 : 0)
    }
}

/// A number as it is printed: a whole count of units of a decimal place.
public struct Decimal: Equatable, Sendable {
    public let units: Int64
    public let places: Int

    /// Rounds half away from zero; what is too large to count is cut off, and what is no number is 0.
    public init(_ value: Double, places: Int) {
        let scaled = (value * Self.powers[places]).rounded()
        units = scaled.isNaN ? 0 : Int64(min(max(scaled, -9e18), 9e18))
        self.places = places
    }

    init(units: Int64, places: Int) {
        self.units = units
        self.places = places
    }

    /// What stands before the point and behind it, the sign left out.
    @inline(__always)
    var parts: (whole: UInt64, fraction: UInt32) {
        // By a constant each: that is no division.
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
    /// Powers of ten up to the largest that 64 bits hold.
    static let tens: [UInt64] = [
        1, 10, 100, 1000, 10000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
        100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
        10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
    ]
}
