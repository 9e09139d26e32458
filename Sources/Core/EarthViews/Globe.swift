// The ellipsoid that Google Earth is drawn on: places, directions and rays.

import MapCamera

/// The earth as the ellipsoid of WGS 84.
enum Globe {
    /// The length of the equator in metres, which is the width of a map of the whole world.
    static let equator = 40_075_016.686
    private static let (radius, eccentricitySquared) = (6_378_137.0, 6.69437999014e-3)

    /// A position in metres from the centre of the earth, or a direction.
    typealias Vector = GlobeVector

    /// Directions at a place.
    typealias Axes = (east: Vector, north: Vector, up: Vector)

    /// Returns east, north and up at a place.
    static func axes(at place: LatLng) -> Axes {
        let (north, east) = (Elementary.sineAndCosine(place.latitude), Elementary.sineAndCosine(place.longitude))
        return (
            Vector(-east.sine, east.cosine, 0),
            Vector(-north.sine * east.cosine, -north.sine * east.sine, north.cosine),
            Vector(north.cosine * east.cosine, north.cosine * east.sine, north.sine)
        )
    }

    /// Returns the point of a place on the ellipsoid.
    static func point(at place: LatLng) -> Vector {
        let up = Vector(place)
        let normal = radius / (1 - eccentricitySquared * up.z * up.z).squareRoot()
        return Vector(normal * up.x, normal * up.y, normal * (1 - eccentricitySquared) * up.z)
    }

    /// Returns a point's place and its height above the ellipsoid, by four iterations of Bowring's formula.
    static func place(of point: Vector) -> (LatLng, altitude: Double) {
        let (aside, flat) = (Elementary.hypot(point.x, point.y), (1 - eccentricitySquared).squareRoot())
        var (reduced, latitude) = (Elementary.atan2(y: point.z, x: aside * flat), 0.0)
        var (sine, cosine) = (0.0, 1.0)
        for _ in 0..<4 {
            (sine, cosine) = Elementary.sineAndCosine(reduced)
            latitude = Elementary.atan2(
                y: point.z + eccentricitySquared / flat * radius * sine * sine * sine,
                x: aside - eccentricitySquared * radius * cosine * cosine * cosine)
            (sine, cosine) = Elementary.sineAndCosine(latitude)
            reduced = Elementary.atan2(y: flat * sine, x: cosine)
        }
        let altitude =
            aside * cosine + point.z * sine - radius * (1 - eccentricitySquared * sine * sine).squareRoot()
        return (LatLng(latitude: latitude, longitude: Elementary.atan2(y: point.y, x: point.x)), altitude)
    }

    /// Returns where a ray meets the ellipsoid, in lengths of its direction; `nil` if it does not.
    static func distance(from start: Vector, along direction: Vector) -> Double? {
        // Stretched along its axis, the ellipsoid is a sphere.
        let stretch = 1 / (1 - eccentricitySquared).squareRoot()
        let (from, along) = (
            Vector(start.x, start.y, start.z * stretch), Vector(direction.x, direction.y, direction.z * stretch)
        )
        // The nearer root of a·t² + 2·b·t + c = 0, without a difference of nearly equal numbers.
        let (a, b) = (along.dot(along), from.dot(along))
        let c = (from.dot(from).squareRoot() - radius) * (from.dot(from).squareRoot() + radius)
        let discriminant = b * b - a * c
        guard c > 0, b < 0, discriminant >= 0 else { return nil }
        return c / (discriminant.squareRoot() - b)
    }
}
