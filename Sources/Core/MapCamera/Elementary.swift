// The elementary functions of the camera, gestures and scripts, made of + − × ÷ and √ alone: IEEE 754 specifies each of
// these to the last bit, and Swift contracts none of them, so every machine gets the same bytes. A C library's
// functions differ by its version and by the processor; swift-numerics calls them; openlibm's depend on what its
// compiler contracts. Angles are in degrees, so right angles are whole numbers.
//
// Invariant: no fma and no inexact function of the C library, here or in the camera's own computations
// (Tests/System/arithmetic.sh).

/// Elementary functions whose results are the same on every machine.
///
/// The stated errors are the largest found in at least 20 million random arguments against libquadmath, in units in the
/// last place of the result. All keep their symmetry: odd functions are odd and even ones even, to the last bit. Only
/// ``atan2(y:x:)`` looks at the sign of a zero. A NaN gives a NaN.
package enum Elementary {
    // MARK: Parts

    /// Returns the upper 26 bits of a number, so that the product of two such parts is exact. (T. J. Dekker, Numer.
    /// Math. 18, 1971; truncated instead of rounded, so that no part overflows.)
    @inline(__always)
    private static func upper(_ value: Double) -> Double { Double(bitPattern: value.bitPattern & ~0x7ff_ffff) }

    /// Returns a number times a constant, as an exact product and the rest.
    @inline(__always)
    private static func product(_ value: Double, _ factor: (upper: Double, lower: Double)) -> (
        upper: Double, lower: Double
    ) {
        let part = upper(value)
        return (part * factor.upper, (value - part) * factor.upper + value * factor.lower)
    }

    /// Returns the integer nearest to a small number, as a double and as the low bits of one.
    @inline(__always)
    private static func nearest(_ value: Double) -> (whole: Double, bits: UInt64) {
        let shifted = value + 0x1.8p52
        return (shifted - 0x1.8p52, shifted.bitPattern)
    }

    // MARK: Angles

    /// Returns the sine and the cosine of an angle in degrees.
    ///
    /// Accepts any finite angle; an infinite one gives NaN. Error at most 0.90 ulp; multiples of 30° are exact if the
    /// result can be. The angle is reduced in degrees, which is exact, and only the rest, at most 45°, is converted to
    /// radians, in two parts; the series that follow keep the second part. (W. J. Cody, W. Waite, Software Manual for
    /// the Elementary Functions, 1980.)
    package static func sineAndCosine(_ degrees: Double) -> (sine: Double, cosine: Double) {
        let angle = abs(degrees) < 0x1p40 ? degrees : degrees.remainder(dividingBy: 360)
        let quadrant = nearest(angle * (1.0 / 90))
        let rest = product(angle - 90 * quadrant.whole, radiansPerDegree)
        let x = rest.upper + rest.lower
        let part = upper(x)
        let lower = (rest.upper - part) + rest.lower
        let square = x * x
        let sine = part + (lower + x * square * sineTail(square))
        // 1 - x²/2 without loss: the square of the upper part is exact.
        let half = 0.5 * part * part
        let most = 1 - half
        let cosine = most + ((1 - most - half) - 0.5 * lower * (x + part) + square * square * cosineTail(square))
        switch quadrant.bits & 3 {
        case 0: return (sine, cosine)
        case 1: return (cosine, 0 - sine)
        case 2: return (0 - sine, -cosine)
        default: return (-cosine, sine)
        }
    }

    /// Returns the sine of an angle in degrees, as in ``sineAndCosine(_:)``.
    package static func sine(_ degrees: Double) -> Double { sineAndCosine(degrees).sine }

    /// Returns the cosine of an angle in degrees, as in ``sineAndCosine(_:)``.
    package static func cosine(_ degrees: Double) -> Double { sineAndCosine(degrees).cosine }

    /// Returns the angle of the point (x, y) from the x axis, in degrees within -180 and 180.
    ///
    /// Accepts any numbers, with the zeros and infinities of IEEE 754's atan2. Error at most 0.65 ulp; multiples of 45°
    /// are exact. The ratio of the shorter side to the longer one is brought near 0 by the angle of the nearest i/32:
    /// atan n/d = atan c + atan (n - cd)/(d + cn). (P. T. P. Tang, Table-lookup algorithms, ARITH 10, 1991.)
    package static func atan2(y: Double, x: Double) -> Double {
        guard !x.isNaN, !y.isNaN else { return .nan }
        var (long, short) = (max(abs(x), abs(y)), min(abs(x), abs(y)))
        if long == .infinity { (long, short) = (1, short == .infinity ? 1 : 0) }
        if long > 0x1p500 { (long, short) = (long * 0x1p-600, short * 0x1p-600) }
        if long < 0x1p-500 { (long, short) = (long * 0x1p600, short * 0x1p600) }
        let arc = long == 0 ? (upper: 0, lower: 0) : arc(of: short, to: long)
        // By octants, from the x axis.
        var (whole, part, lower) = (0.0, arc.upper, arc.lower)
        if abs(y) > abs(x) { (whole, part, lower) = (90, -part, -lower) }
        if x.sign == .minus { (whole, part, lower) = (180 - whole, -part, -lower) }
        let sum = whole + part
        let angle = sum + ((whole - sum) + part + lower)
        return y.sign == .minus ? -angle : angle
    }

    /// Returns the angle whose tangent is a ratio of at most 1, in degrees, in two parts.
    @inline(__always)
    private static func arc(of short: Double, to long: Double) -> (upper: Double, lower: Double) {
        let ratio = short / long
        if ratio < 11.0 / 64 {
            // The quotient's rounding error counts: no table value outweighs it.
            let part = upper(ratio)
            let lower = (short - part * upper(long) - part * (long - upper(long))) / long
            let square = ratio * ratio
            let degrees = degreesPerRadian
            return (
                part * degrees.upper,
                lower * degrees.upper + ratio * degrees.lower + ratio * square * arcTail(square)
            )
        }
        let steps = nearest(ratio * 32)
        let node = steps.whole * 0x1p-5
        let part = upper(long)
        let x = (short - node * part - node * (long - part)) / (long + node * short)
        let square = x * x
        let known = arcs[Int(steps.bits & 63) - 6]
        return (
            known.upper,
            known.lower + x * (degreesPerRadian.upper + (degreesPerRadian.lower + square * nodeArcTail(square)))
        )
    }

    // MARK: Powers and lengths

    /// Returns 2 to the power of x.
    ///
    /// Accepts any number; the result is infinite from 1024 on, and below -1022 rounded once more if subnormal. Error
    /// at most 0.54 ulp; whole numbers are exact. In x = k + i/32 + r, 2^k is an exponent, 2^(i/32) comes from a table
    /// in two parts, and 2^r is near 1. (P. T. P. Tang, ACM Trans. Math. Softw. 15, 1989.)
    package static func exp2(_ x: Double) -> Double {
        guard x > -1022, x < 1024 else {
            if x.isNaN || x >= 1024 { return x + .infinity }
            return x < -1080 ? 0 : exp2(x + 128) * 0x1p-128
        }
        let steps = nearest(x * 32)
        let rest = x - steps.whole * 0x1p-5
        let power = powers[Int(steps.bits & 31)]
        let value = power.upper + (power.lower + power.upper * (rest * powerTail(rest)))
        // The signed step count has 32 steps per power of two.
        let exponent = Int64(bitPattern: steps.bits << 13) >> 18
        return Double(bitPattern: value.bitPattern &+ UInt64(bitPattern: exponent << 52))
    }

    /// Returns the base-2 logarithm of x.
    ///
    /// 0 gives -∞, negative numbers give NaN. Error at most 0.53 ulp, even near 1; powers of 2 are exact.
    package static func log2(_ x: Double) -> Double {
        let (whole, part, lower) = logarithm(x)
        let sum = whole + part
        return sum.isFinite ? sum + ((whole - sum) + part + lower) : sum
    }

    /// Returns the base-2 logarithm of x in three parts: at most 45 bits, a smaller exact product, and the rest.
    ///
    /// x = 2^k · m, and m/F is near 1 for one of a few F whose inverse is short, so that m/F - 1 is exact in two parts;
    /// log2 F comes from a table. (P. T. P. Tang, ACM Trans. Math. Softw. 16, 1990.)
    @inline(__always)
    private static func logarithm(_ x: Double) -> (whole: Double, part: Double, lower: Double) {
        var (bits, k) = (x.bitPattern, 0)
        if !(x >= 0x1p-1022 && x < .infinity) {
            if x == 0 { return (-.infinity, 0, 0) }
            guard x > 0, x < .infinity else { return (x > 0 ? x : .nan, 0, 0) }
            (bits, k) = ((x * 0x1p54).bitPattern, -54)
        }
        // The exponent that brings m between √½ and √2.
        let above = bits &- 0x3fe6_a09e_0000_0000
        k += Int(Int64(bitPattern: above) >> 52)
        let m = Double(bitPattern: bits &- (above & 0xfff0_0000_0000_0000))
        let known = logs[Int(nearest(m * 32).bits & 63) - 22]
        let part = upper(m)
        let (ahead, behind) = (part * known.inverse - 1, (m - part) * known.inverse)
        let r = ahead + behind
        let short = upper(r)
        let rest = (ahead - short) + behind
        return (
            Double(k) + known.upper, short * log2OfE.upper,
            rest * log2OfE.upper + r * log2OfE.lower + known.lower + r * r * logTail(r)
        )
    }

    /// Returns the length of (x, y).
    ///
    /// Accepts any numbers; the result is infinite if one is. Error at most 0.501 ulp. The residual of the rounded root
    /// is computed from exact squares, and half of it over the root is added. (C. F. Borges, ACM Trans. Math. Softw.
    /// 47, 2020.)
    package static func hypot(_ x: Double, _ y: Double) -> Double {
        if x.isInfinite || y.isInfinite { return .infinity }
        let (long, short) = (max(abs(x), abs(y)), min(abs(x), abs(y)))
        if long > 0x1p500 { return hypot(x * 0x1p-600, y * 0x1p-600) * 0x1p600 }
        if long < 0x1p-400 { return long == 0 ? 0 : hypot(x * 0x1p600, y * 0x1p600) * 0x1p-600 }
        let root = (long * long + short * short).squareRoot()
        let (a, b, c) = (upper(long), upper(short), upper(root))
        let most = (a * a - c * c) + b * b
        let rest = (long + a) * (long - a) - (root + c) * (root - c) + (short + b) * (short - b)
        return root + (most + rest) / (2 * root)
    }

    // MARK: Mercator plane

    // Both directions use the addition theorem of the Gudermannian function gd, from parallels φ at northings y = gd⁻¹
    // φ: tan (gd(y + h) - φ)/2 = cos φ · tanh h/2 / (1 + sin φ · tanh h/2), and the same with tan and tanh exchanged.
    // (NIST Digital Library of Mathematical Functions, 4.23(viii).)

    /// Returns the latitude in degrees of a northing on the Mercator plane, in radians of the equator.
    ///
    /// Accepts any number; an infinite one gives the pole. Error at most 0.79 ulp. Monotone from double to double.
    package static func latitude(ofNorthing y: Double) -> Double {
        let north = abs(y)
        if north < 0.2 {
            let (most, rest) = product(y, degreesPerRadian)
            let square = y * y
            return most + (rest + y * square * latitudeTail(square))
        }
        let angle: Double
        if north <= 3.25 {
            let node = nearest(nodeGuess(north))
            let parallel = parallels[Int(node.bits & 63) - 6]
            let h = (north - parallel.upper) - parallel.lower
            let half = h * (0.5 + h * h * halfTanhTail(h * h))
            angle = 2 * node.whole + twiceArc(half * parallel.cosine / (1 + half * parallel.sine))
        } else {
            // From the pole: gd y = 90° - 2 atan e^-y.
            angle = 90 - twiceArc(exp2(-north * (log2OfE.upper + log2OfE.lower)))
        }
        return y < 0 ? -angle : angle
    }

    /// Returns twice the angle with a small tangent, in degrees.
    @inline(__always)
    private static func twiceArc(_ x: Double) -> Double {
        let square = 2 * x * x
        return x * (2 * (degreesPerRadian.upper + degreesPerRadian.lower) + square * nodeArcTail(x * x))
    }

    /// Returns the northing on the Mercator plane of a latitude in degrees, in radians of the equator.
    ///
    /// Accepts any number; the pole and anything beyond is treated as the last double before it, so that the result is
    /// finite. Error at most 0.97 ulp, and 0.80 up to 86°.
    package static func northing(ofLatitude latitude: Double) -> Double {
        let angle = abs(latitude)
        if angle < 12 {
            let (most, rest) = product(latitude, radiansPerDegree)
            let square = latitude * latitude
            return most + (rest + latitude * square * northingTail(square))
        }
        let north: Double
        if angle <= 86 {
            let node = nearest(angle * 0.5)
            let parallel = parallels[Int(node.bits & 63) - 6]
            let h = angle - 2 * node.whole
            let half = h * halfTan(h * h)
            let x = half / (parallel.cosine - half * parallel.sine)
            let square = x * x
            north = parallel.upper + (parallel.lower + x * (2 + square * areaTail(square)))
        } else {
            // From the pole: gd⁻¹ φ = -ln tan (90° - φ)/2.
            let x = max(90 - angle, 0x1p-46)
            let (whole, part, lower) = logarithm(x * halfTan(x * x))
            let most = -whole * logOf2.upper
            north = most - (whole * logOf2.lower + (part + lower) * (logOf2.upper + logOf2.lower))
        }
        return latitude < 0 ? -north : north
    }
}
