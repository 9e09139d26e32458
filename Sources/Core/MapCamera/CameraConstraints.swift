// The limits of a camera: zoom range, then the ceiling of the viewing angle, then target bounds. Only this file knows
// them; every camera move goes through `constrain`.

/// The zoom levels a camera may have. (Google: `GMSMapView.minZoom`, `maxZoom`.)
public struct ZoomRange: Equatable, Sendable {
    /// The lowest zoom.
    public let min: Double
    /// The highest zoom.
    public let max: Double

    /// The limits of every zoom range. (Google: `kGMSMinZoomLevel`, `kGMSMaxZoomLevel`.)
    public static let limits = 2.0...21.0

    /// Creates a range of zooms; `nil` if `min` is above `max` or either is outside ``limits``.
    public init?(min: Double, max: Double) {
        guard min <= max, Self.limits.contains(min), Self.limits.contains(max) else { return nil }
        self.min = min
        self.max = max
    }

    private init() {
        min = Self.limits.lowerBound
        max = Self.limits.upperBound
    }

    /// All of ``limits``.
    public static let all = ZoomRange()

    /// Returns the zoom within the range that is nearest to `zoom`.
    public func clamp(_ zoom: Double) -> Double { zoom.clamped(to: min...max) }
}

/// The limits of one camera.
public struct CameraConstraints: Equatable, Codable, Sendable {
    /// The allowed zooms. (Google: `setMinZoom:maxZoom:`.)
    public var zoomRange = ZoomRange.all
    /// The bounds that the target is kept in; `nil` means anywhere. (Google: `GMSMapView.cameraTargetBounds`.)
    public var targetBounds: CoordinateBounds?

    /// Creates the limits that every camera has.
    public init() {}

    /// Returns the greatest viewing angle at a zoom, in degrees: 30 up to zoom 10, rising linearly to 45 at zoom 14 and
    /// to 65 at zoom 16, and 65 above. (Google: "the maximum viewing angle depends on the zoom".)
    public static func viewingAngleCeiling(atZoom zoom: Double) -> Double {
        if zoom <= 10 { return 30 }
        if zoom <= 14 { return 30 + (zoom - 10) * (15.0 / 4) }
        if zoom < 16 { return 45 + (zoom - 14) * 10 }
        return 65
    }

    /// Returns the nearest allowed zoom and viewing angle, and the bearing in [0, 360).
    func constrain(_ view: View) -> View {
        let zoom = zoomRange.clamp(view.zoom)
        return View(
            zoom: zoom,
            bearing: wrap360(view.bearing),
            viewingAngle: view.viewingAngle.clamped(to: 0...Self.viewingAngleCeiling(atZoom: zoom)))
    }

    /// Returns the nearest allowed target, on each axis separately.
    @inline(__always)
    func constrain(target: LatLng) -> LatLng {
        let target = target.normalized
        return targetBounds?.clamp(target) ?? target
    }
}
