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
        if decimal.units < 0 { write(byte: UInt8(ascii: "-")) }
        let power = UInt64(Decimal.powers[decimal.places])
        let (whole, fraction) = decimal.units.magnitude.quotientAndRemainder(dividingBy: power)
        write(whole: whole)
        if fraction > 0 { write(fraction: UInt32(truncatingIfNeeded: fraction), places: decimal.places) }
    }

    /// The digits of a whole number. There is room for them.
    private mutating func write(whole number: UInt64) {
        var rest = number
        let end = count + Self.length(of: number)
        var index = end
        count = end
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            index -= 1
            unsafe base[index] = 0x30 + UInt8(truncatingIfNeeded: digit)
            rest = quotient
        } while rest > 0
    }

    /// A point and the digits of a fraction, which is not 0. There is room for them.
    private mutating func write(fraction: UInt32, places: Int) {
        var rest = fraction
        var last = places
        while rest % 10 == 0 {
            rest /= 10
            last -= 1
        }
        let point = count
        var index = point + 1 + last
        count = index
        unsafe base[point] = UInt8(ascii: ".")
        while index > point + 1 {
            index -= 1
            unsafe base[index] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    private static func length(of number: UInt64) -> Int {
        if number < 10 { return 1 }
        // 1233 / 4096 is a little more than log10(2); at a power of ten it is one too many.
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

    static let powers = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
    /// Powers of ten up to the largest that 64 bits hold.
    static let tens: [UInt64] = (0...19).map { (0..<$0).reduce(1) { power, _ in power * 10 } }
}
