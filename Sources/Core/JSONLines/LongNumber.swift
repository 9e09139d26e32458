// Decimals of any length and size, correctly rounded. Unlike the C library's strtod(3), which depends on a locale, and
// Swift's `Double(_:)`, which calls the C library, this depends on neither.

/// A non-negative integer of any length.
struct LongNumber {
    /// The words, lowest first; the highest is above 0, and 0 has none.
    private var words: [UInt64] = []

    /// Digits past this many only tell whether the number is above the value of those before: the midpoint of two
    /// doubles has at most 767 digits.
    private static let mostDigits = 800

    /// Returns the value of digits, possibly with a point among them, times a power of ten; infinite if too large for a
    /// double. Any other byte ends the digits.
    ///
    /// - Parameter exponent: that of the last digit; below 0 if it follows a point.
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
        // A number is infinite from 2e308 on, and 0 up to 2e-324.
        guard count > 0, count + exponent > -324 else { return 0 }
        guard count + exponent < 310 else { return .infinity }
        var shift = 0
        if exponent >= 0 {
            forEachPower(of: exponent) { number.multiply(by: $0, adding: 0) }
        } else {
            // Appends zeros so that the quotient exceeds one word: 10 to the n has less than 10 n / 3 + 2 bits.
            let zeros = max(-exponent * 10 / 192 + 3 - number.words.count, 0)
            number.words.insert(contentsOf: repeatElement(0, count: zeros), at: 0)
            shift = -64 * zeros
            forEachPower(of: -exponent) { if number.divide(by: $0) > 0 { isMore = true } }
        }
        return number.rounded(shift: shift, isMore: isMore)
    }

    /// Calls a closure with powers of ten of one word each, whose product is 10 to the exponent.
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

    /// Divides and returns the remainder.
    private mutating func divide(by divisor: UInt64) -> UInt64 {
        var rest: UInt64 = 0
        for index in words.indices.reversed() {
            (words[index], rest) = divisor.dividingFullWidth((rest, words[index]))
        }
        if words.last == 0 { words.removeLast() }
        return rest
    }

    /// Returns the number, which is above 0, times a power of two, rounded to the nearest double, ties to even.
    ///
    /// - Parameter isMore: whether the number is slightly above the value of its words.
    private func rounded(shift: Int, isMore: Bool) -> Double {
        let last = words.count - 1
        let zeros = words[last].leadingZeroBitCount
        let next = last > 0 ? words[last - 1] : 0
        let top = words[last] << zeros | next >> (64 - zeros)
        let isMore = isMore || next << zeros != 0 || words.dropLast(2).contains { $0 != 0 }
        // The number is its top 64 bits times two to this; a double keeps 53 of them, or those from 2^-1074 on.
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
