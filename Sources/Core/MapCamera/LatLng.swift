// A place on the globe, and the Web Mercator plane that the camera moves over.
// Invariant: every LatLng that leaves the camera has a latitude in [-85, 85] and a longitude in [-180, 180).

/// A geographical coordinate on WGS 84. (Google: `CLLocationCoordinate2D`.)
public struct LatLng: Equatable, Codable, Sendable {
    /// Degrees north of the equator.
    public var latitude: Double
    /// Degrees east of Greenwich.
    public var longitude: Double

    /// Creates a coordinate without clamping or wrapping.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// The latitude that the camera is clamped to, in degrees. (Google: "latitude is clamped to ±85".)
    public static let latitudeLimit = 85.0

    /// The same place with its latitude clamped to ±85° and its longitude wrapped to [-180°, 180°).
    public var normalized: LatLng {
        LatLng(latitude: latitude.clamped(to: -Self.latitudeLimit...Self.latitudeLimit), longitude: wrap180(longitude))
    }
}

/// A point of the Web Mercator plane, in radians of the equator: `x` east of Greenwich, `y` north of the equator.
public struct MercatorPoint: Equatable, Codable, Sendable {
    /// Radians east of Greenwich; not wrapped.
    public var x: Double
    /// Radians of the equator's length north of the equator.
    public var y: Double

    /// Creates a point without wrapping.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Projects a coordinate. Its latitude must lie strictly between the poles.
    public init(_ coordinate: LatLng) {
        x = coordinate.longitude * (.pi / 180)
        y = Elementary.northing(ofLatitude: coordinate.latitude)
    }

    /// The coordinate of this point; the longitude is not wrapped.
    public var coordinate: LatLng {
        LatLng(latitude: Elementary.latitude(ofNorthing: y), longitude: x * (180 / .pi))
    }
}

/// Returns the angle in [-180, 180) that differs from `degrees` by a multiple of 360; exact.
public func wrap180(_ degrees: Double) -> Double {
    if degrees >= -180 && degrees < 180 { return degrees }
    let wrapped = degrees.remainder(dividingBy: 360)
    return wrapped == 180 ? -180 : wrapped
}

/// Returns the angle in [0, 360) that differs from `degrees` by a multiple of 360, to the nearest double.
public func wrap360(_ degrees: Double) -> Double {
    if degrees >= 0 && degrees < 360 { return degrees }
    let wrapped = degrees.truncatingRemainder(dividingBy: 360)
    let positive = wrapped < 0 ? wrapped + 360 : wrapped
    return positive == 360 ? 0 : positive
}

/// Returns the shorter arc between two angles, in (-180, 180]; for opposite angles, clockwise or east.
func shortestArc(from start: Double, to end: Double) -> Double {
    let arc = wrap180(end - start)
    return arc == -180 ? 180 : arc
}

extension Comparable {
    func clamped(to range: ClosedRange<Self>) -> Self {
        min(max(self, range.lowerBound), range.upperBound)
    }
}

extension Array {
    /// Returns the index of the first element that fulfils a condition, by binary search; the count if none does. All
    /// elements after it must fulfil the condition, too.
    @inlinable package func partitioningIndex(where isFulfilled: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isFulfilled(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
