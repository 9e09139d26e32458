// Decimals of any length and size, correctly rounded. The C library's strtod(3) asks a locale, and Swift's own `Double(_:)` asks
// the C library: this needs neither.

/// A whole number of any length.
struct LongNumber {
    /// The lowest first, and the highest above 0; empty for 0.
    private var words: [UInt64] = []

    /// More digits than this say only whether a number is above that of these digits: two doubles have their middle after 767
    /// digits at the most.
    private static let mostDigits = 800

    /// The value of digits, with a point among them or none, times a power of ten. What else there is ends them. One too large
    /// for a double is infinite.
    ///
    /// - Parameter exponent: of the last digit; below 0 if it stands behind a point.
    static func value(ofDigits text: Span<UInt8>, exponent: Int) -> Double {
        var (number, exponent, isMore) = (LongNumber(), exponent, false)
        var count = 0
        for index in text.indices where text[index] != UInt8(ascii: ".") {
            let digit = text[index] &- 0x30
            guard digit < 10 else { break }
            if count == mostDigits {
                exponent += 1
                isMore = isMore || digit > 0
            } else if count > 0 || digit > 0 {
                count += 1
                number.multiply(by: 10, adding: UInt64(digit))
            }
        }
        // From 2e308 on a number is infinite, and up to 2e-324 it is 0.
        guard count > 0, count + exponent > -324 else { return 0 }
        guard count + exponent < 310 else { return .infinity }
        var shift = 0
        if exponent >= 0 {
            forEachPower(of: exponent) { number.multiply(by: $0, adding: 0) }
        } else {
            // Zeros behind it, so that the quotient has more than a word: 10 to the n has less than 10 n / 3 + 2 bits.
            let zeros = max(-exponent * 10 / 192 + 3 - number.words.count, 0)
            number.words.insert(contentsOf: repeatElement(0, count: zeros), at: 0)
            shift = -64 * zeros
            forEachPower(of: -exponent) { if number.divide(by: $0) > 0 { isMore = true } }
        }
        return number.rounded(shift: shift, isMore: isMore)
    }

    /// Calls a body with powers of ten of a word each, whose product is that of an exponent.
    private static func forEachPower(of exponent: Int, _ body: (UInt64) -> Void) {
        for start in stride(from: 0, to: exponent, by: 19) { body(FixedDecimal.tens[min(exponent - start, 19)]) }
    }

    private mutating func multiply(by factor: UInt64, adding summand: UInt64) {
        var carry = summand
        for index in words.indices {
            let (high, low) = words[index].multipliedFullWidth(by: factor)
            let (sum, isOver) = low.addingReportingOverflow(carry)
            words[index] = sum
            carry = high &+ (isOver ? 1 : 0)
        }
        if carry > 0 { words.append(carry) }
    }

    /// Divides, and returns what is left over.
    private mutating func divide(by divisor: UInt64) -> UInt64 {
        var rest: UInt64 = 0
        for index in words.indices.reversed() {
            (words[index], rest) = divisor.dividingFullWidth((rest, words[index]))
        }
        if words.last == 0 { words.removeLast() }
        return rest
    }

    /// The number, which is above 0, times a power of two, rounded to the nearest double, and to an even one in the middle.
    ///
    /// - Parameter isMore: whether it is a little more than its words say.
    private func rounded(shift: Int, isMore: Bool) -> Double {
        let last = words.count - 1
        let zeros = words[last].leadingZeroBitCount
        let next = last > 0 ? words[last - 1] : 0
        let top = words[last] << zeros | next >> (64 - zeros)
        let isMore = isMore || next << zeros != 0 || words.dropLast(2).contains { $0 != 0 }
        // The number is the top 64 bits of it times two to this; a double keeps 53 of them, or those from 2^-1074 on.
        let exponent = shift + 64 * last - zeros
        let dropped = max(11, -1074 - exponent)
        guard dropped <= 64 else { return 0 }
        let half: UInt64 = 1 << (dropped - 1)
        let rest = dropped == 64 ? top : top & ((1 << dropped) - 1)
        var kept = top >> dropped
        if rest > half || rest == half && (isMore || kept & 1 == 1) { kept += 1 }
        return Double(sign: .plus, exponent: exponent + dropped, significand: Double(kept))
    }
}
