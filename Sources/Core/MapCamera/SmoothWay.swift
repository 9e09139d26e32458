// A smooth line through several positions: the target on a centripetal Catmull-Rom spline on the sphere, everything
// else on monotone cubics in time.

/// A place as a vector from the centre of the unit sphere; or the difference of two places, in degrees. (EarthViews has
/// others, in metres.)
package struct GlobeVector: Codable, Sendable {
    package var x, y, z: Double

    package init(_ x: Double, _ y: Double, _ z: Double) { (self.x, self.y, self.z) = (x, y, z) }

    package init(_ place: LatLng) {
        let (sine, cosine) = Elementary.sineAndCosine(place.latitude)
        let east = Elementary.sineAndCosine(place.longitude)
        self.init(cosine * east.cosine, cosine * east.sine, sine)
    }

    /// The place in this direction.
    var place: LatLng {
        LatLng(
            latitude: Elementary.atan2(y: z, x: Elementary.hypot(x, y)), longitude: Elementary.atan2(y: y, x: x))
    }

    private var length: Double { Elementary.hypot(Elementary.hypot(x, y), z) }

    package static func + (a: Self, b: Self) -> Self { Self(a.x + b.x, a.y + b.y, a.z + b.z) }
    package static func * (factor: Double, a: Self) -> Self { Self(factor * a.x, factor * a.y, factor * a.z) }

    package func dot(_ other: Self) -> Double { x * other.x + y * other.y + z * other.z }
    private static func cross(_ a: Self, _ b: Self) -> Self {
        Self(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    }

    /// The greatest sine of the angle between two places that count as equal or opposite.
    private static let negligibleSine = 1e-12

    /// Returns the shortest way to another place: its angle in degrees and initial direction. The direction is east if
    /// the places are opposite; the angle is 0 if they are equal.
    func way(to other: Self) -> (angle: Double, direction: Self) {
        let normal = Self.cross(self, other)
        let (sine, cosine) = (normal.length, dot(other))
        guard sine > Self.negligibleSine else {
            let across = Elementary.hypot(x, y)
            let east = across > 0 ? Self(-y / across, x / across, 0) : Self(0, 1, 0)
            return (cosine > 0 ? 0 : 180, east)
        }
        return (Elementary.atan2(y: sine, x: cosine), (1 / sine) * Self.cross(normal, self))
    }

    /// Returns the place so many degrees away in a direction.
    func going(_ angle: Double, _ direction: Self) -> Self {
        let (sine, cosine) = Elementary.sineAndCosine(angle)
        return cosine * self + sine * direction
    }

    /// Returns the place that a difference leads to.
    func going(_ difference: Self) -> Self {
        let angle = difference.length
        return angle > 0 ? going(angle, (1 / angle) * difference) : self
    }

    /// Returns the place at a fraction of the shortest way to another one.
    func toward(_ other: Self, _ share: Double) -> Self {
        let way = way(to: other)
        return going(share * way.angle, way.direction)
    }
}

/// A cubic in a fraction of the time: its two ends, and its initial and final slopes.
private struct Cubic: Codable, Sendable {
    private let from, difference, first, last: Double

    init(from: Double, by difference: Double, _ first: Double, _ last: Double) {
        (self.from, self.difference, self.first, self.last) = (from, difference, first, last)
    }

    func value(at share: Double) -> Double {
        let rest = 1 - share
        return from + share * share * (3 - 2 * share) * difference + share * rest * (rest * first - share * last)
    }

    /// Returns the slopes at the knots of a curve that is monotone wherever its knots are, and at rest at both ends.
    /// (F. N. Fritsch, J. Butland, SIAM J. Sci. Stat. Comput. 5, 1984; with the weights of PCHIP.)
    ///
    /// - Parameters:
    ///   - differences: from each knot to the next.
    ///   - durations: the time from each knot to the next; above 0.
    static func slopes(_ differences: [Double], _ durations: [Double]) -> [Double] {
        var slopes = [0.0]
        for index in 1..<max(differences.count, 1) {
            let (before, after) = (durations[index - 1], durations[index])
            let (rise, next) = (differences[index - 1] / before, differences[index] / after)
            let (weight, other) = (before + 2 * after, 2 * before + after)
            let isMonotone = rise > 0 && next > 0 || rise < 0 && next < 0
            slopes.append(isMonotone ? (weight + other) / (weight / rise + other / next) : 0)
        }
        return slopes + [0]
    }

    static func through(from starts: [Double], by differences: [Double], _ durations: [Double]) -> [Cubic] {
        let slopes = slopes(differences, durations)
        return differences.indices.map { index in
            Cubic(
                from: starts[index], by: differences[index], slopes[index] * durations[index],
                slopes[index + 1] * durations[index])
        }
    }
}

/// The segment from one position to the next on a smooth line.
struct SmoothWay: Codable, Sendable {
    /// A cubic Bézier curve on the sphere: each step between two points takes the shortest way. (K. Shoemake, SIGGRAPH
    /// 1985; there for rotations.)
    private struct Arc: Codable, Sendable {
        let first, second, third, fourth: GlobeVector

        func point(at share: Double) -> GlobeVector {
            let middle = second.toward(third, share)
            let left = first.toward(second, share).toward(middle, share)
            return left.toward(middle.toward(third.toward(fourth, share), share), share)
        }
    }

    /// The path of the target; `nil` if it stays.
    private let arc: Arc?
    private let target: LatLng
    /// The progress along the arc.
    private let progress: Cubic
    private let zoom, bearing, viewingAngle: Cubic

    /// Returns the pose at a fraction of the time.
    func pose(at share: Double) -> Pose {
        let view = View(
            zoom: zoom.value(at: share), bearing: bearing.value(at: share), viewingAngle: viewingAngle.value(at: share))
        let place = arc?.point(at: progress.value(at: share)).place ?? target
        return Pose(view: view, anchor: .target(place))
    }

    /// Returns the segments between positions on one line, which starts and ends at rest.
    ///
    /// - Parameters:
    ///   - positions: at least two.
    ///   - durations: milliseconds from each to the next, above 0.
    ///   - turns: full turns of the bearing on each segment.
    static func ways(through positions: [CameraPosition], durations: [Double], turns: [Int]) -> [SmoothWay] {
        let steps = durations.indices
        func cubics(_ value: (CameraPosition) -> Double, _ differences: [Double]? = nil) -> [Cubic] {
            let starts = positions.map(value)
            return Cubic.through(
                from: starts, by: differences ?? steps.map { starts[$0 + 1] - starts[$0] }, durations)
        }
        let rotations = steps.map {
            shortestArc(from: positions[$0].bearing, to: positions[$0 + 1].bearing) + 360 * Double(turns[$0])
        }
        let (zooms, bearings) = (cubics(\.zoom), cubics(\.bearing, rotations))
        let (angles, arcs) = (cubics(\.viewingAngle), arcs(through: positions.map { GlobeVector($0.target) }))
        // Converts slopes in the spline's parameter, which spans the knot distance, to slopes in a fraction of it.
        let lengths = arcs.map(\.length)
        let slopes = Cubic.slopes(lengths, durations)
        return steps.map { index in
            let scale = lengths[index] > 0 ? durations[index] / lengths[index] : 0
            return SmoothWay(
                arc: arcs[index].arc, target: positions[index + 1].target,
                progress: Cubic(from: 0, by: 1, slopes[index] * scale, slopes[index + 1] * scale),
                zoom: zooms[index], bearing: bearings[index], viewingAngle: angles[index])
        }
    }

    /// Returns the arcs between places, and the distance of each pair's knots: the square root of the angle. (E.
    /// Catmull, R. Rom, 1974; centripetal: C. Yuksel, S. Schaefer, J. Keyser, Computer-Aided Design 43, 2011.)
    private static func arcs(through places: [GlobeVector]) -> [(arc: Arc?, length: Double)] {
        let ahead = places.indices.dropLast().map { places[$0].way(to: places[$0 + 1]) }
        // The direction of each way at its end, derived from its start: opposite places have more than one.
        let arrivals = ahead.indices.map { index -> GlobeVector in
            let (sine, cosine) = Elementary.sineAndCosine(ahead[index].angle)
            return cosine * ahead[index].direction + (-sine) * places[index]
        }
        let lengths = ahead.map { $0.angle.squareRoot() }
        // A third of the tangent at each place, in degrees per unit of knot distance.
        let tangents = places.indices.map { index -> GlobeVector in
            let before = index > 0 ? lengths[index - 1] : 0
            let after = index < lengths.count ? lengths[index] : 0
            let come = before > 0 ? before * arrivals[index - 1] : GlobeVector(0, 0, 0)
            let go = after > 0 ? after * ahead[index].direction : GlobeVector(0, 0, 0)
            guard before > 0, after > 0 else { return 1.0 / 3 * (come + go) }
            return 1 / (3 * (before + after)) * (after * come + before * go)
        }
        return lengths.indices.map { index in
            let length = lengths[index]
            guard length > 0 else { return (nil, 0) }
            let (from, to) = (places[index], places[index + 1])
            let arc = Arc(
                first: from, second: from.going(length * tangents[index]),
                third: to.going(-length * tangents[index + 1]), fourth: to)
            return (arc, length)
        }
    }
}
