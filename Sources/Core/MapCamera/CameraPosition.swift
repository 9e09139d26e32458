// Where the camera looks: the four attributes of Google's camera.

/// The position of a map camera. (Google: `GMSCameraPosition`.)
public struct CameraPosition: Equatable, Codable, Sendable {
    /// The place at the centre of the viewport minus its padding.
    public var target: LatLng
    /// The zoom level: the world is 256·2^zoom points wide.
    public var zoom: Double
    /// The direction that the top edge of the screen shows, in degrees clockwise from north.
    public var bearing: Double
    /// The angle from nadir in degrees: 0 looks straight down.
    public var viewingAngle: Double

    /// Creates a position from unchecked values; ``CameraConstraints`` brings it into range.
    public init(target: LatLng, zoom: Double, bearing: Double = 0, viewingAngle: Double = 0) {
        self.target = target
        self.zoom = zoom
        self.bearing = bearing
        self.viewingAngle = viewingAngle
    }

    /// Whether a camera can be here; values from another process may be anything.
    package var isPossible: Bool {
        -90...90 ~= target.latitude && -180...180 ~= target.longitude && 0...30 ~= zoom && 0...360 ~= bearing
            && 0...90 ~= viewingAngle
    }

    /// The nearest position that a camera without bounds can have; unchanged if a number is not finite.
    package var reachable: CameraPosition {
        let isFinite = (target.latitude + target.longitude + zoom + bearing + viewingAngle).isFinite
        return isFinite && !isPossible ? Camera(position: self).position : self
    }

    /// The position of a new camera: the whole world, north up.
    public static let initial = CameraPosition(
        target: LatLng(latitude: 0, longitude: 0), zoom: ZoomRange.limits.lowerBound)
}
