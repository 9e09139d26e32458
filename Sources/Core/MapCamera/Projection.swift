// The perspective between the ground and the screen for one position and one viewport, in closed form.
// The ground is the Mercator plane in points; offsets (u, v) on it start at the target, right and down the screen.
// The camera is d = 1.5 × viewport height from the target, a vertical field of view of 36.87°.

/// Zoom, bearing and viewing angle: a position without its target.
struct View: Equatable, Codable, Sendable {
    var zoom: Double
    var bearing: Double
    var viewingAngle: Double
}

extension CameraPosition {
    var view: View { View(zoom: zoom, bearing: bearing, viewingAngle: viewingAngle) }
}

/// An offset on the ground from the target, in points of the current zoom, right (u) and down (v) the screen.
struct GroundOffset: Codable {
    var u: Double
    var v: Double
}

/// Converts between places and screen points. (Google: `GMSProjection`.)
public struct Projection: Sendable {
    /// The viewport that the projection was created with.
    public let viewport: Viewport
    let view: View
    let center: ScreenPoint
    /// The distance from the camera to its target, in points.
    let distance: Double
    /// Points per radian of the Mercator plane.
    let scale: Double
    let sinBearing: Double
    let cosBearing: Double
    let sinTilt: Double
    let cosTilt: Double
    /// The least y at which a gesture can grab the ground: 95 % of the way to the horizon.
    private let highest: Double
    var target: MercatorPoint

    /// Creates the projection of a position, without constraining it.
    public init(_ position: CameraPosition, viewport: Viewport) {
        self.init(position.view, target: MercatorPoint(position.target), viewport: viewport)
    }

    init(_ view: View, target: MercatorPoint, viewport: Viewport) {
        self.viewport = viewport
        self.view = view
        self.target = target
        center = viewport.center
        distance = 1.5 * viewport.height
        scale = 256 / (2 * Double.pi) * Elementary.exp2(view.zoom)
        (sinBearing, cosBearing) = Elementary.sineAndCosine(view.bearing)
        (sinTilt, cosTilt) = Elementary.sineAndCosine(view.viewingAngle)
        highest = sinTilt > 0 ? center.y - 0.95 * distance * cosTilt / sinTilt : -.infinity
    }

    // MARK: Screen, ground and plane

    /// Returns the ground under a screen point; `nil` at or above the horizon.
    @inline(__always)
    func ground(under point: ScreenPoint) -> GroundOffset? {
        let (x, y) = (point.x - center.x, point.y - center.y)
        let depth = distance * cosTilt + y * sinTilt
        guard depth > 0 else { return nil }
        let v = distance * y / depth
        return GroundOffset(u: x * (distance - v * sinTilt) / distance, v: v)
    }

    /// Lowers a point to where a gesture can still grab the ground.
    @inline(__always)
    func lowered(_ point: ScreenPoint) -> ScreenPoint { ScreenPoint(x: point.x, y: max(point.y, highest)) }

    /// Returns the velocity of the ground under a moving screen point: the derivative of ``ground(under:)``.
    func groundVelocity(at point: ScreenPoint, velocity: ScreenPoint) -> GroundOffset {
        let (x, y) = (point.x - center.x, point.y - center.y)
        let depth = distance * cosTilt + y * sinTilt
        let v = distance * y / depth
        let dv = (distance / depth) * (distance / depth) * cosTilt * velocity.y
        return GroundOffset(
            u: velocity.x * (distance - v * sinTilt) / distance - x * sinTilt / distance * dv,
            v: dv)
    }

    /// Converts an offset on the ground to a vector of the Mercator plane.
    @inline(__always)
    func plane(_ ground: GroundOffset) -> MercatorPoint {
        MercatorPoint(
            x: (ground.u * cosBearing - ground.v * sinBearing) / scale,
            y: -(ground.u * sinBearing + ground.v * cosBearing) / scale)
    }

    // MARK: For gestures, inlined so that a pan copies no projection

    /// Returns the place under a screen point, lowered below the horizon if necessary.
    @inline(__always)
    func place(under point: ScreenPoint) -> MercatorPoint {
        let ground = ground(under: lowered(point)) ?? GroundOffset(u: 0, v: 0)
        let offset = plane(ground)
        return MercatorPoint(x: target.x + offset.x, y: target.y + offset.y)
    }

    /// Returns the target that brings a place under a screen point, lowered below the horizon if necessary.
    @inline(__always)
    func target(showing place: MercatorPoint, at point: ScreenPoint) -> MercatorPoint {
        let ground = ground(under: lowered(point)) ?? GroundOffset(u: 0, v: 0)
        let offset = plane(ground)
        return MercatorPoint(x: place.x - offset.x, y: place.y - offset.y)
    }

    // MARK: Queries

    /// Returns the screen point that shows a coordinate, maybe outside the viewport; `nil` if it is behind the camera.
    public func point(for coordinate: LatLng) -> ScreenPoint? {
        let limited = LatLng(
            latitude: coordinate.latitude.clamped(to: -90 + 1e-9...90 - 1e-9), longitude: coordinate.longitude)
        let place = MercatorPoint(limited)
        // The offset on the ground: to the east and south, then to the right and down the screen.
        let east = wrap180((place.x - target.x) * (180 / .pi)) * (.pi / 180) * scale
        let south = -(place.y - target.y) * scale
        let (u, v) = (east * cosBearing + south * sinBearing, south * cosBearing - east * sinBearing)
        let depth = distance - v * sinTilt
        guard depth > 0 else { return nil }
        return ScreenPoint(x: center.x + distance * u / depth, y: center.y + distance * v * cosTilt / depth)
    }

    /// Returns the coordinate under a screen point, with wrapped longitude; `nil` if the point shows no ground.
    public func coordinate(for point: ScreenPoint) -> LatLng? {
        guard let place = unwrappedCoordinate(for: point) else { return nil }
        return LatLng(latitude: place.latitude, longitude: wrap180(place.longitude))
    }

    private func unwrappedCoordinate(for point: ScreenPoint) -> LatLng? {
        guard let ground = ground(under: point) else { return nil }
        let offset = plane(ground)
        return MercatorPoint(x: target.x + offset.x, y: target.y + offset.y).coordinate
    }

    /// The four corners visible in the viewport minus its padding, or `nil` if a corner shows no ground. (Google:
    /// `GMSProjection.visibleRegion`: "If padding was set on GMSMapView, this region takes the padding into account".)
    public var visibleRegion: VisibleRegion? { region(coordinate(for:)) }

    /// The visible region with longitudes that continue past ±180° from the target's, so no edge goes around the world.
    package var unwrappedVisibleRegion: VisibleRegion? { region(unwrappedCoordinate(for:)) }

    private func region(_ coordinate: (ScreenPoint) -> LatLng?) -> VisibleRegion? {
        let padding = viewport.padding
        let (left, right) = (padding.left, viewport.width - padding.right)
        let (top, bottom) = (padding.top, viewport.height - padding.bottom)
        guard let nearLeft = coordinate(ScreenPoint(x: left, y: bottom)),
            let nearRight = coordinate(ScreenPoint(x: right, y: bottom)),
            let farLeft = coordinate(ScreenPoint(x: left, y: top)),
            let farRight = coordinate(ScreenPoint(x: right, y: top))
        else { return nil }
        return VisibleRegion(nearLeft: nearLeft, nearRight: nearRight, farLeft: farLeft, farRight: farRight)
    }
}

/// The quadrangle of ground that a viewport shows. (Google: `GMSVisibleRegion`.)
public struct VisibleRegion: Equatable, Sendable {
    /// The place under the bottom left corner.
    public var nearLeft: LatLng
    /// The place under the bottom right corner.
    public var nearRight: LatLng
    /// The place under the top left corner.
    public var farLeft: LatLng
    /// The place under the top right corner.
    public var farRight: LatLng

    /// Creates a region from four places, the near ones at the bottom of the screen.
    public init(nearLeft: LatLng, nearRight: LatLng, farLeft: LatLng, farRight: LatLng) {
        self.nearLeft = nearLeft
        self.nearRight = nearRight
        self.farLeft = farLeft
        self.farRight = farRight
    }
}
