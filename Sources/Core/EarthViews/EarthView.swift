// A camera in the terms of Google Earth: KML's `LookAt` looks at a target, KML's `Camera` places the eye. Angles are
// the same: KML's tilt is the viewing angle, its heading the bearing. There are no mountains: the ground is the
// ellipsoid.

import JSONLines
import MapCamera

/// A position as Google Earth describes it.
package struct EarthView: Equatable, Sendable {
    package let position: CameraPosition
    /// Metres from the eye to the target.
    package let range: Double

    /// - Parameter height: the viewport's height in points; the eye is 1.5 times as far away.
    package init(_ position: CameraPosition, viewportHeight height: Double) {
        self.position = position
        range = 1.5 * height * Self.metresPerPoint(at: position.target, zoom: position.zoom)
    }

    /// Creates the view of a target on the ground.
    ///
    /// - Parameters:
    ///   - range: metres from the eye to the target, above 0.
    ///   - height: the viewport's height in points.
    package init(
        target: LatLng, heading: Double, tilt: Double, range: Double, viewportHeight height: Double
    ) {
        let zoom = Elementary.log2(1.5 * height * Self.metresPerPoint(at: target, zoom: 0) / range)
        position = CameraPosition(
            target: target, zoom: ZoomRange.all.clamp(zoom), bearing: wrap360(heading), viewingAngle: tilt)
        self.range = range
    }

    /// Returns the view of what an eye sees on the ground in the middle of its picture.
    ///
    /// An eye that looks further up than a camera can (``CameraConstraints/viewingAngleCeiling(atZoom:)``) stays where
    /// it is and looks further down. A camera has no roll.
    ///
    /// - Parameter height: the viewport's height in points.
    /// - Returns: `nil` if the eye is not above the ground.
    package static func seen(by eye: Eye, viewportHeight height: Double) -> (view: EarthView, isLowered: Bool)? {
        if let view = EarthView(eye: eye, tilt: eye.tilt, height), view.isPossible { return (view, false) }
        // The higher it looks, the farther away its target, and the lower the ceiling of the viewing angle there.
        var (view, low, high) = (EarthView(eye: eye, tilt: 0, height), 0.0, min(eye.tilt, 90))
        for _ in 0..<48 {
            let middle = (low + high) / 2
            if let found = EarthView(eye: eye, tilt: middle, height), found.isPossible {
                (view, low) = (found, middle)
            } else {
                high = middle
            }
        }
        return view.map { ($0, true) }
    }

    /// Returns the eye that looks at a point above the ground.
    ///
    /// - Parameters:
    ///   - altitude: the point's metres above the ground.
    ///   - range: metres from the eye to the point.
    package static func eye(
        lookingAt point: LatLng, altitude: Double, heading: Double, tilt: Double, range: Double
    ) -> Eye {
        let there = Globe.axes(at: point)
        return eye(of: Globe.point(at: point) + altitude * there.up, there, heading, tilt, range)
    }

    /// Returns the metres on the ground that one point of the screen covers at a place.
    package static func metresPerPoint(at place: LatLng, zoom: Double) -> Double {
        Globe.equator * Elementary.cosine(place.latitude) / (256 * Elementary.exp2(zoom))
    }

    /// Whether a camera may have this viewing angle.
    private var isPossible: Bool {
        position.viewingAngle <= CameraConstraints.viewingAngleCeiling(atZoom: position.zoom)
    }

    private init?(eye: Eye, tilt: Double, _ height: Double) {
        let there = Globe.axes(at: eye.place)
        let (turn, lean, roll) = (
            Elementary.sineAndCosine(eye.heading), Elementary.sineAndCosine(tilt), Elementary.sineAndCosine(eye.roll)
        )
        let ahead = turn.sine * there.east + turn.cosine * there.north
        let look = lean.sine * ahead + -lean.cosine * there.up
        let start = Globe.point(at: eye.place) + eye.altitude * there.up
        guard let range = Globe.distance(from: start, along: look) else { return nil }
        let target = Globe.place(of: start + range * look).0
        let here = Globe.axes(at: target)
        let aside = Elementary.hypot(look.dot(here.east), look.dot(here.north))
        // Looking straight down has no direction, so the screen's right edge decides; a roll turns it.
        let level = turn.cosine * there.east + -turn.sine * there.north
        let right = roll.cosine * level + roll.sine * (lean.cosine * ahead + lean.sine * there.up)
        let heading =
            aside > 1e-6
            ? Elementary.atan2(y: look.dot(here.east), x: look.dot(here.north))
            : Elementary.atan2(y: -right.dot(here.north), x: right.dot(here.east))
        self.init(
            target: target, heading: heading, tilt: Elementary.atan2(y: aside, x: -look.dot(here.up)), range: range,
            viewportHeight: height)
    }

    /// The eye's position and direction; north and the vertical there differ from those at the target.
    package struct Eye: Equatable, Sendable {
        package let place: LatLng
        /// Metres above the ellipsoid.
        package let altitude: Double
        /// Degrees.
        package let heading, tilt, roll: Double

        /// Creates an eye at a place and a height in metres above the ellipsoid; the angles are in degrees.
        package init(place: LatLng, altitude: Double, heading: Double, tilt: Double, roll: Double) {
            (self.place, self.altitude) = (place, altitude)
            (self.heading, self.tilt, self.roll) = (heading, tilt, roll)
        }
    }

    /// The eye: R·sin θ behind the target and R·cos θ above it, on the plane tangent to the earth there.
    package var eye: Eye {
        Self.eye(
            of: Globe.point(at: position.target), Globe.axes(at: position.target), position.bearing,
            position.viewingAngle, range)
    }

    private static func eye(
        of point: Globe.Vector, _ target: Globe.Axes, _ bearing: Double, _ viewingAngle: Double, _ range: Double
    ) -> Eye {
        let (bearing, angle) = (Elementary.sineAndCosine(bearing), Elementary.sineAndCosine(viewingAngle))
        let ahead = bearing.sine * target.east + bearing.cosine * target.north
        let right = bearing.cosine * target.east + -bearing.sine * target.north
        let look = angle.sine * ahead + -angle.cosine * target.up
        let (place, altitude) = Globe.place(of: point + -range * look)
        let there = Globe.axes(at: place)
        // The sine of the tilt is the part of the direction that is along the ground.
        let aside = Elementary.hypot(look.dot(there.east), look.dot(there.north))
        let tilt = Elementary.atan2(y: aside, x: -look.dot(there.up))
        // Looking straight down has no direction, so the screen's right edge decides.
        let heading =
            aside > 1e-6
            ? Elementary.atan2(y: look.dot(there.east), x: look.dot(there.north))
            : Elementary.atan2(y: -right.dot(there.north), x: right.dot(there.east))
        let (turn, lean) = (Elementary.sineAndCosine(heading), Elementary.sineAndCosine(tilt))
        let level = turn.cosine * there.east + -turn.sine * there.north
        let above =
            (lean.cosine * turn.sine) * there.east + (lean.cosine * turn.cosine) * there.north + lean.sine * there.up
        let roll = Elementary.atan2(y: right.dot(above), x: right.dot(level))
        return Eye(place: place, altitude: altitude, heading: wrap180(heading), tilt: tilt, roll: roll)
    }

    /// Returns the view as KML's `LookAt`.
    ///
    /// - Parameter indent: the prefix of each line.
    package func lookAt(indent: String) -> String {
        """
        <LookAt>
          <longitude>\(FixedDecimal(position.target.longitude, places: 9).text)</longitude>
          <latitude>\(FixedDecimal(position.target.latitude, places: 9).text)</latitude>
          <altitude>0</altitude>
          <heading>\(FixedDecimal(position.bearing, places: 6).text)</heading>
          <tilt>\(FixedDecimal(position.viewingAngle, places: 6).text)</tilt>
          <range>\(FixedDecimal(range, places: 3).text)</range>
          <altitudeMode>relativeToGround</altitudeMode>
        </LookAt>
        """.split(separator: "\n").map { indent + $0 }.joined(separator: "\n")
    }
}
