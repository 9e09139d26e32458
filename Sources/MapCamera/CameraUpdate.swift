// What can be asked of a camera: Google's camera updates, and the three that fingers need beside them.

/// A change of the camera. (Google: `GMSCameraUpdate`.)
///
/// An update says what is wanted; ``Camera/apply(_:)`` brings it within the camera's constraints.
public enum CameraUpdate: Equatable, Sendable {
    /// One zoom level in, about the target.
    case zoomIn
    /// One zoom level out, about the target.
    case zoomOut
    case zoomTo(Double)
    /// `amount` zoom levels in; the place under the focus stays there. No focus: about the target.
    case zoomBy(Double, focus: ScreenPoint?)
    /// A new target, with a new zoom or the current one.
    case setTarget(LatLng, zoom: Double?)
    case setCamera(CameraPosition)
    /// The place at the centre plus (x, y) points becomes the centre: positive x moves the camera right.
    case scrollBy(x: Double, y: Double)
    /// North up, straight down, at the greatest zoom at which the bounds fit inside the insets.
    case fitBounds(CoordinateBounds, insets: EdgeInsets)
    /// Degrees clockwise from north.
    case setBearing(Double)
    /// Degrees from nadir.
    case setViewingAngle(Double)

    /// The place under `from` comes under `to`.
    case pan(from: ScreenPoint, to: ScreenPoint)
    /// The bearing grows by degrees; the place under the focus stays there. No focus: about the target.
    case rotateBy(Double, focus: ScreenPoint?)
    /// The viewing angle grows by degrees, about the target.
    case tiltBy(Double)

    /// The padding that Google's `fitBounds:` leaves on each side, in points.
    public static let defaultFitPadding = 64.0
}
