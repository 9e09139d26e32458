// Changes of a camera: Google's camera updates, and three more for gestures.

/// A change of the camera. (Google: `GMSCameraUpdate`.)
///
/// An update is a request; ``Camera/apply(_:)`` brings it within the camera's constraints.
public enum CameraUpdate: Equatable, Sendable {
    /// One zoom level in, about the target. (Google: `zoomIn`.)
    case zoomIn
    /// One zoom level out, about the target. (Google: `zoomOut`.)
    case zoomOut
    /// A new zoom, about the target. (Google: `zoomTo:`.)
    case zoomTo(Double)
    /// Zooms by so many levels, out if negative; the place under the focus, in points of the screen, stays there.
    /// Without a focus: about the target. (Google: `zoomBy:`, `zoomBy:atPoint:`.)
    case zoomBy(Double, focus: ScreenPoint?)
    /// A new target, with a new zoom or the current one. (Google: `setTarget:`, `setTarget:zoom:`.)
    case setTarget(LatLng, zoom: Double?)
    /// A new position. (Google: `setCamera:`.)
    case setCamera(CameraPosition)
    /// Centres the place (x, y) points from the centre: positive x moves the camera right. (Google: `scrollByX:Y:`.)
    case scrollBy(x: Double, y: Double)
    /// North up, looking straight down, at the greatest zoom at which the bounds fit inside the insets, in points.
    /// (Google: `fitBounds:`, `fitBounds:withPadding:`, `fitBounds:withEdgeInsets:`.)
    case fitBounds(CoordinateBounds, insets: EdgeInsets)
    /// A new bearing about the target, in degrees clockwise from north. (Google: `animateToBearing:`.)
    case setBearing(Double)
    /// A new viewing angle about the target, in degrees from nadir. (Google: `animateToViewingAngle:`.)
    case setViewingAngle(Double)

    /// Moves the place under `from` to `to`.
    case pan(from: ScreenPoint, to: ScreenPoint)
    /// Adds degrees to the bearing; the place under the focus stays there. Without a focus: about the target.
    case rotateBy(Double, focus: ScreenPoint?)
    /// Adds degrees to the viewing angle, about the target.
    case tiltBy(Double)

    /// The padding that Google's `fitBounds:` leaves on each side, in points.
    public static let defaultFitPadding = 64.0
}
