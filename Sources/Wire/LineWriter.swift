// JSON out, into bytes that are kept from line to line. Numbers are fixed decimals: no exponent, no trailing zeros, no -0.

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Writes lines of JSON.
public struct LineWriter: ~Copyable {
    /// Room to write in; what counts ends at `count`.
    private var storage: [UInt8]
    /// How many bytes have been written.
    public private(set) var count = 0

    public init(capacity: Int = 1024) {
        storage = [UInt8](repeating: 0, count: capacity)
    }

    /// Lends what has been written.
    public func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(storage.span.extracting(0..<count))
    }

    /// Forgets what has been written.
    public mutating func clear() { count = 0 }

    private mutating func reserve(_ more: Int) {
        let missing = count + more - storage.count
        if missing > 0 { storage += [UInt8](repeating: 0, count: max(missing, storage.count)) }
    }

    // MARK: Text

    public mutating func write(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        reserve(length)
        // Sound: a static string lives for ever, and there is room for its length.
        unsafe storage.withUnsafeMutableBytes { room in
            unsafe UnsafeMutableRawBufferPointer(rebasing: room[count...])
                .copyMemory(from: UnsafeRawBufferPointer(start: text.utf8Start, count: length))
        }
        count += length
    }

    public mutating func write(_ bytes: Span<UInt8>) {
        reserve(bytes.count)
        unsafe bytes.withUnsafeBytes { source in
            // Sound: there is room for as many bytes as the span has.
            unsafe storage.withUnsafeMutableBytes { room in
                unsafe UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: source)
            }
        }
        count += bytes.count
    }

    public mutating func write(byte: UInt8) {
        reserve(1)
        storage[count] = byte
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
        write(digits: number, decimals: 0)
    }

    public mutating func write(_ flag: Bool) {
        if flag { write("true") } else { write("false") }
    }

    /// Writes a number that counts units of the given decimal place.
    public mutating func write(_ decimal: Decimal) {
        if decimal.units < 0 { write(byte: UInt8(ascii: "-")) }
        write(digits: decimal.units.magnitude, decimals: decimal.places)
    }

    /// Writes `units` / 10^decimals without trailing zeros.
    private mutating func write(digits units: UInt64, decimals: Int) {
        var (units, decimals) = (units, decimals)
        while decimals > 0, units % 10 == 0 {
            units /= 10
            decimals -= 1
        }
        reserve(24)
        let length = max(Self.length(of: units), decimals + 1)
        var index = count + length + (decimals > 0 ? 1 : 0)
        count = index
        var storage = storage.mutableSpan
        if decimals > 0 {
            for _ in 0..<decimals {
                index -= 1
                storage[index] = 0x30 + UInt8(truncatingIfNeeded: units % 10)
                units /= 10
            }
            index -= 1
            storage[index] = UInt8(ascii: ".")
        }
        for _ in 0..<(length - decimals) {
            index -= 1
            storage[index] = 0x30 + UInt8(truncatingIfNeeded: units % 10)
            units /= 10
        }
    }

    private static func length(of number: UInt64) -> Int {
        var (length, bound) = (1, UInt64(10))
        while length < 20, number >= bound {
            length += 1
            bound = length < 20 ? bound &* 10 : bound
        }
        return length
    }
}

/// A number as it is printed: a whole count of units of a decimal place.
public struct Decimal: Equatable, Sendable {
    public let units: Int64
    public let places: Int

    /// Rounds half away from zero; what is too large to count is cut off.
    public init(_ value: Double, places: Int) {
        let scaled = (value * Self.powers[places]).rounded()
        units = Int64(min(max(scaled, -9e18), 9e18))
        self.places = places
    }

    init(units: Int64, places: Int) {
        self.units = units
        self.places = places
    }

    private static let powers = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
}
