// Where the camera looks: the four attributes of Google's camera, and nothing else.

/// The position of a map camera. (Google: `GMSCameraPosition`.)
public struct CameraPosition: Equatable, Codable, Sendable {
    /// The place at the centre of the viewport less its padding.
    public var target: LatLng
    /// The world is 256·2^zoom points wide.
    public var zoom: Double
    /// Degrees clockwise from north, of the direction that the top edge of the screen shows.
    public var bearing: Double
    /// Degrees from nadir: 0 looks straight down.
    public var viewingAngle: Double

    /// A position as given; ``CameraConstraints`` brings it into range.
    public init(target: LatLng, zoom: Double, bearing: Double = 0, viewingAngle: Double = 0) {
        self.target = target
        self.zoom = zoom
        self.bearing = bearing
        self.viewingAngle = viewingAngle
    }

    /// Whether some camera can be there: what comes from another process may be any number.
    package var isPossible: Bool {
        -90...90 ~= target.latitude && -180...180 ~= target.longitude && 0...30 ~= zoom && 0...360 ~= bearing
            && 0...90 ~= viewingAngle
    }

    /// The nearest position that a camera without bounds can have; a number that is not finite stays.
    package var reachable: CameraPosition {
        let isFinite = (target.latitude + target.longitude + zoom + bearing + viewingAngle).isFinite
        return isFinite && !isPossible ? Camera(position: self).position : self
    }

    /// The position of a new camera: the whole world, north up.
    public static let initial = CameraPosition(
        target: LatLng(latitude: 0, longitude: 0), zoom: ZoomRange.limits.lowerBound)
}
