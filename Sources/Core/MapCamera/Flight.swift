// Flights: out, over and in, on the path that looks shortest on the screen. (J. J. van Wijk, W. A. A. Nuij, Smooth and
// efficient zooming and panning, INFOVIS 2003; MapLibre GL JS: `flyTo`.)

/// The parameters of a flight, besides its two ends. (MapLibre GL JS: `FlyToOptions`.)
public struct Flight: Equatable, Sendable {
    /// How far out the flight zooms, the paper's ρ: 0.1 to 10, farther for greater values.
    public var curve: Double
    /// The speed of a flight without a duration, above 0: screenfuls per second along the path, as in the paper.
    public var speed: Double
    /// The longest duration, 0 to 3,600,000 milliseconds; `nil` means an hour. (MapLibre GL JS does not fly at all if
    /// it would take longer.)
    public var maxDurationMs: Double?

    /// The allowed values of ``curve``.
    public static let curves = 0.1...10.0
    /// The default curve. (MapLibre GL JS: 1.42.)
    public static let usualCurve = 1.42
    /// The default speed. (MapLibre GL JS: 1.2.)
    public static let usualSpeed = 1.2
    /// The longest duration of any flight, in milliseconds.
    static let longest = 3_600_000.0

    /// Creates a flight; omitted parameters have their defaults.
    public init(
        curve: Double = Self.usualCurve, speed: Double = Self.usualSpeed, maxDurationMs: Double? = nil
    ) {
        (self.curve, self.speed, self.maxDurationMs) = (curve, speed, maxDurationMs)
    }

    /// Returns the duration in milliseconds.
    ///
    /// - Parameters:
    ///   - wanted: the requested duration; `nil` to derive it from the speed.
    ///   - length: the length of the path in screenfuls; `nil` if it has none.
    func duration(_ wanted: Double?, along length: Double?) -> Double {
        let own = wanted ?? length.map { $0 * 1000 / speed } ?? CameraAnimation.usualDuration
        return min(own, maxDurationMs ?? Self.longest, Self.longest)
    }
}

/// The path of a flight between two zooms: the closed form of the paper.
///
/// Its hyperbolic functions have base 2, (2^x ± 2^-x) / 2, and `start` and `length` are logarithms to that base: a zoom
/// is one, too, and every power is as exact as ``Elementary/exp2(_:)``. The distance over the ground, sinh x / cosh (r₀
/// + x), is the paper's cosh r₀ tanh (r₀ + x) - sinh r₀ without the difference of two large numbers.
struct FlightPath: Codable, Sendable {
    /// The start on the curve: the paper's r₀.
    private let start: Double
    /// The length on the curve: r₁ - r₀.
    private let length: Double
    /// w₀ / (ρ² u₁): the fraction of the ground distance for each sinh x / cosh (r₀ + x).
    private let reach: Double

    /// The inputs of the path, besides the curve.
    struct Ends {
        /// The distance on the ground in points, at the starting zoom.
        let distance: Double
        /// The longer side of the screen, in points.
        let span: Double
        /// The zoom levels from start to end.
        let zooms: Double

        /// The longer side of the last screen, in points at the starting zoom.
        fileprivate var lastSpan: Double { span * Elementary.exp2(-zooms) }
        /// Whether there is no distance to cover. (As in MapLibre GL JS.)
        fileprivate var isOnePlace: Bool { distance < 2e-6 }

        /// Returns the length of the path in screenfuls if only the zoom changes; `nil` if that does not change,
        /// either. (As in MapLibre GL JS.)
        func screenfuls(curve: Double) -> Double? {
            abs(lastSpan - span) < 1e-6 ? nil : abs(zooms) * FlightPath.logOf2 / curve
        }
    }

    private static let logOf2 = 0.693147180559945309

    /// Creates the path between two ends; `nil` if at most the zoom changes.
    init?(_ ends: Ends, curve: Double) {
        guard !ends.isOnePlace else { return nil }
        let (first, last) = (ends.span, ends.lastSpan)
        let (square, growth) = (curve * curve * ends.distance, (last - first) * (last + first))
        let start = Self.factor((growth + square * square) / (2 * first * square))
        let end = Self.factor((growth - square * square) / (2 * last * square))
        (self.start, length, reach) = (start, end - start, first / square)
        guard (start + length + reach).isFinite else { return nil }
    }

    /// Returns log2 (√(b² + 1) - b), without a difference of two large numbers.
    private static func factor(_ b: Double) -> Double {
        let sum = Elementary.log2((b * b + 1).squareRoot() + abs(b))
        return b > 0 ? -sum : sum
    }

    /// Returns the length in screenfuls: the paper's S.
    func screenfuls(curve: Double) -> Double { length * Self.logOf2 / curve }

    /// Returns the zoom levels and the fraction of the ground covered by a fraction of the path.
    func advance(_ share: Double) -> (zooms: Double, ground: Double) {
        let x = share * length
        let (up, down) = (Elementary.exp2(start + x), Elementary.exp2(-start - x))
        let most = Elementary.exp2(start) + Elementary.exp2(-start)
        let ground = reach * (Elementary.exp2(x) - Elementary.exp2(-x)) / (up + down)
        return (Elementary.log2((up + down) / most), ground)
    }
}
