// How a flight goes: out, over and in, on the path that looks shortest on the screen. (J. J. van Wijk, W. A. A. Nuij, Smooth
// and efficient zooming and panning, INFOVIS 2003; MapLibre GL JS: `flyTo`.)

/// What decides how a flight goes, beside its two ends. (MapLibre GL JS: `FlyToOptions`.)
public struct Flight: Equatable, Sendable {
    /// How far out it goes, the paper's ρ: 0.1 to 10. A greater one goes farther out.
    public var curve: Double
    /// How fast it is where nothing says how long it takes, above 0: in screenfuls a second, measured along the path as the
    /// paper does.
    public var speed: Double
    /// How long it takes at the most, 0 to 3,600,000 milliseconds; `nil` is an hour. (MapLibre GL JS does not fly at all where
    /// that would take longer.)
    public var maxDurationMs: Double?

    /// What ``curve`` may be.
    public static let curves = 0.1...10.0
    /// The curve of most flights. (MapLibre GL JS: 1.42.)
    public static let usualCurve = 1.42
    /// The speed of most flights. (MapLibre GL JS: 1.2.)
    public static let usualSpeed = 1.2
    /// No flight takes longer, in milliseconds.
    static let longest = 3_600_000.0

    /// A flight as most are, but for what is said here.
    public init(
        curve: Double = Self.usualCurve, speed: Double = Self.usualSpeed, maxDurationMs: Double? = nil
    ) {
        (self.curve, self.speed, self.maxDurationMs) = (curve, speed, maxDurationMs)
    }

    /// How long it takes, in milliseconds.
    ///
    /// - Parameters:
    ///   - wanted: how long it is to take; `nil` if its speed says so.
    ///   - length: the length of its path in screenfuls; `nil` if it has none.
    func duration(_ wanted: Double?, along length: Double?) -> Double {
        let own = wanted ?? length.map { $0 * 1000 / speed } ?? CameraAnimation.usualDuration
        return min(own, maxDurationMs ?? Self.longest, Self.longest)
    }
}

/// The path of a flight between two zooms: the closed form of the paper.
///
/// Its hyperbolic functions are those of base 2, (2^x ± 2^-x) / 2, and `start` and `length` logarithms to that base: so a zoom is
/// one, and every power is exact as ``Elementary/exp2(_:)`` is. The way over the ground is written sinh x / cosh (r₀ + x),
/// which is the paper's cosh r₀ tanh (r₀ + x) - sinh r₀ without the difference of two large numbers.
struct FlightPath: Codable, Sendable {
    /// Where it begins on the curve: the paper's r₀.
    private let start: Double
    /// How far it goes on the curve: r₁ - r₀.
    private let length: Double
    /// w₀ / (ρ² u₁): the share of the ground for each sinh x / cosh (r₀ + x).
    private let reach: Double

    /// What it is computed from, beside the curve.
    struct Ends {
        /// Points on the ground, at the zoom of the start.
        let distance: Double
        /// The longer side of the screen, in points.
        let span: Double
        /// The zoom levels from start to end.
        let zooms: Double

        /// The longer side of the last screen, in points at the zoom of the start.
        fileprivate var lastSpan: Double { span * Elementary.exp2(-zooms) }
        /// Whether there is nothing to be crossed. (As in MapLibre GL JS.)
        fileprivate var isOnePlace: Bool { distance < 2e-6 }

        /// How long the path is, in screenfuls, if only the zoom changes; `nil` if that does not change, either. (As in MapLibre
        /// GL JS.)
        func screenfuls(curve: Double) -> Double? {
            abs(lastSpan - span) < 1e-6 ? nil : abs(zooms) * FlightPath.logOf2 / curve
        }
    }

    private static let logOf2 = 0.693147180559945309

    /// The path between two ends; `nil` if only the zoom changes, or not even that.
    init?(_ ends: Ends, curve: Double) {
        guard !ends.isOnePlace else { return nil }
        let (first, last) = (ends.span, ends.lastSpan)
        let (square, growth) = (curve * curve * ends.distance, (last - first) * (last + first))
        let start = Self.factor((growth + square * square) / (2 * first * square))
        let end = Self.factor((growth - square * square) / (2 * last * square))
        (self.start, length, reach) = (start, end - start, first / square)
        guard (start + length + reach).isFinite else { return nil }
    }

    /// log2 (√(b² + 1) - b), without a difference of two large numbers.
    private static func factor(_ b: Double) -> Double {
        let sum = Elementary.log2((b * b + 1).squareRoot() + abs(b))
        return b > 0 ? -sum : sum
    }

    /// How long it is in screenfuls: the paper's S.
    func screenfuls(curve: Double) -> Double { length * Self.logOf2 / curve }

    /// The zoom levels, and the share of the ground, that a share of the path brings.
    func advance(_ share: Double) -> (zooms: Double, ground: Double) {
        let x = share * length
        let (up, down) = (Elementary.exp2(start + x), Elementary.exp2(-start - x))
        let most = Elementary.exp2(start) + Elementary.exp2(-start)
        let ground = reach * (Elementary.exp2(x) - Elementary.exp2(-x)) / (up + down)
        return (Elementary.log2((up + down) / most), ground)
    }
}
