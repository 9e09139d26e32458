// A rectangle of meridians and parallels that a camera is kept inside of, or fitted to.

/// A rectangle on the globe, edges included. (Google: `GMSCoordinateBounds`.)
///
/// If the western edge is east of the eastern one, the rectangle crosses the antimeridian; -180…180 is every longitude.
/// The southern edge is never north of the northern one.
public struct CoordinateBounds: Equatable, Sendable {
    /// The southern and the western edge, in degrees; the longitude in [-180, 180].
    public let southWest: LatLng
    /// The northern and the eastern edge, in degrees; the longitude in [-180, 180].
    public let northEast: LatLng

    /// Creates bounds between two corners; `nil` if the southern edge would be north of the northern one.
    ///
    /// Latitudes are clamped to ±85°, longitudes beyond ±180° are wrapped. If the western edge is less than 2e-9° east
    /// of the eastern one, both are moved apart to the next billionth of a degree: with the nine decimals of the
    /// protocol, they would otherwise be the same meridian.
    public init?(southWest: LatLng, northEast: LatLng) {
        guard southWest.latitude <= northEast.latitude else { return nil }
        var (southWest, northEast) = (Self.edge(southWest), Self.edge(northEast))
        let overlap = southWest.longitude - northEast.longitude
        if overlap > 0, overlap < 2e-9 {
            southWest.longitude = (southWest.longitude * 1e9).rounded(.up) / 1e9
            northEast.longitude = (northEast.longitude * 1e9).rounded(.down) / 1e9
        }
        (self.southWest, self.northEast) = (southWest, northEast)
    }

    private static func edge(_ corner: LatLng) -> LatLng {
        let longitude = abs(corner.longitude) <= 180 ? corner.longitude : wrap180(corner.longitude)
        return LatLng(latitude: corner.normalized.latitude, longitude: longitude)
    }

    /// The width in degrees of longitude, eastwards from the western edge to the eastern one, in [0, 360].
    public var width: Double {
        let span = northEast.longitude - southWest.longitude
        return span < 0 ? span + 360 : span
    }

    /// Returns the place inside that is nearest to `place` on each axis separately.
    public func clamp(_ place: LatLng) -> LatLng {
        let latitude = place.latitude.clamped(to: southWest.latitude...northEast.latitude)
        let width = self.width
        let east = wrap360(place.longitude - southWest.longitude)
        if east <= width { return LatLng(latitude: latitude, longitude: place.longitude) }
        let nearest = east - width <= 360 - east ? northEast.longitude : southWest.longitude
        return LatLng(latitude: latitude, longitude: wrap180(nearest))
    }
}
