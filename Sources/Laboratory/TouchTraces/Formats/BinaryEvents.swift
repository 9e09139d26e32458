// Reads the kernel's `struct input_event`, as read from /dev/input/event5: seconds, microseconds, type, code, value,
// all little-endian. Seconds and microseconds have 8 bytes each on 64-bit systems, and 4 on others.

/// The length of an event in bytes, and how to read it.
enum BinaryEvents: Int {
    case long = 24
    case short = 16

    /// The number of bytes needed to decide: two long events, or three short ones.
    static let enough = 48

    /// Returns the kind of events that a file begins with; `nil` if there are none.
    static func recognize(_ bytes: Span<UInt8>) -> BinaryEvents? {
        // Text has no zero bytes; the upper bytes of a time's seconds and of a type are zero.
        if long.fits(bytes) { return .long }
        return short.fits(bytes) ? .short : nil
    }

    private func fits(_ bytes: Span<UInt8>) -> Bool {
        let count = min(bytes.count, Self.enough) / rawValue
        guard count > 0 else { return false }
        for index in 0..<count {
            let start = index * rawValue
            guard let event = event(bytes.extracting(start..<(start + rawValue))), event.type <= 0x1f,
                event.code <= 0x2ff
            else { return false }
        }
        return true
    }

    /// Reads one event; `nil` if its time is invalid.
    @inline(__always)
    func event(_ bytes: Span<UInt8>) -> InputEvent? {
        let half = rawValue == 24 ? 8 : 4
        let seconds = Self.number(bytes, 0, half)
        let microseconds = Self.number(bytes, half, half)
        guard seconds < 1 << 33, microseconds < 1_000_000 else { return nil }
        return InputEvent(
            time: Int(seconds) * 1_000_000 + Int(microseconds), type: Int(Self.number(bytes, 2 * half, 2)),
            code: Int(Self.number(bytes, 2 * half + 2, 2)),
            value: Int(Int32(truncatingIfNeeded: Self.number(bytes, 2 * half + 4, 4))))
    }

    @inline(__always)
    private static func number(_ bytes: Span<UInt8>, _ start: Int, _ count: Int) -> UInt64 {
        var number: UInt64 = 0
        for offset in 0..<count { number |= UInt64(bytes[start + offset]) << (8 * UInt64(offset)) }
        return number
    }
}
