// A camera in the words of Google Earth: KML's `LookAt`, which looks at a target, and the datagrams of ViewSync, which a wall
// of it takes, and which tell where the eye is. Angles are alike: KML's tilt is the viewing angle, its heading the bearing.

import GimbalProtocol
import MapCamera

/// A position as Google Earth has it.
package struct EarthView: Equatable, Sendable {
    package let position: CameraPosition
    /// Metres from the eye to the target.
    package let range: Double

    /// - Parameter height: that of the viewport, in points: the eye is 1.5 times as far away.
    package init(_ position: CameraPosition, viewportHeight height: Double) {
        self.position = position
        let circle = Globe.equator * Elementary.cosine(position.target.latitude)
        range = 1.5 * height * circle / (256 * Elementary.exp2(position.zoom))
    }

    /// Where the eye is, and how it looks from there: under it north and the vertical are others than at the target.
    package struct Eye: Equatable, Sendable {
        package let place: LatLng
        /// Metres above the ellipsoid.
        package let altitude: Double
        /// Degrees.
        package let heading, tilt, roll: Double
    }

    /// The eye: R·sin θ behind the target and R·cos θ above it, on the plane that touches the earth there.
    package var eye: Eye {
        let (bearing, angle) = (
            Elementary.sineAndCosine(position.bearing), Elementary.sineAndCosine(position.viewingAngle)
        )
        let target = Globe.axes(at: position.target)
        let ahead = target.east * bearing.sine + target.north * bearing.cosine
        let right = target.east * bearing.cosine + target.north * -bearing.sine
        let look = ahead * angle.sine + target.up * -angle.cosine
        let (place, altitude) = Globe.place(of: Globe.point(at: position.target) + look * -range)
        let there = Globe.axes(at: place)
        // How far it looks from straight down, along the ground, is the sine of the tilt.
        let aside = Elementary.hypot(look.dot(there.east), look.dot(there.north))
        let tilt = Elementary.atan2(y: aside, x: -look.dot(there.up))
        // Looking straight down has no direction: then the screen's right edge decides.
        let heading =
            aside > 1e-6
            ? Elementary.atan2(y: look.dot(there.east), x: look.dot(there.north))
            : Elementary.atan2(y: -right.dot(there.north), x: right.dot(there.east))
        let (turn, lean) = (Elementary.sineAndCosine(heading), Elementary.sineAndCosine(tilt))
        let level = there.east * turn.cosine + there.north * -turn.sine
        let above =
            there.east * (lean.cosine * turn.sine) + there.north * (lean.cosine * turn.cosine) + there.up * lean.sine
        let roll = Elementary.atan2(y: right.dot(above), x: right.dot(level))
        return Eye(place: place, altitude: altitude, heading: wrap180(heading), tilt: tilt, roll: roll)
    }

    /// The seconds between the beginnings of ViewSync's time, the year 1, and of Unix time.
    private static let unixEpoch = 62_135_596_800

    /// A datagram of ViewSync: counter, place, altitude, heading, tilt and roll of the eye, begin and end of the time that is
    /// shown, and the planet, of which the earth's name is empty.
    ///
    /// - Parameter unixTime: the present, in seconds.
    package func datagram(number: Int, unixTime: Int) -> String {
        let eye = eye
        let parts = [
            FixedDecimal(eye.place.latitude, places: 9), FixedDecimal(eye.place.longitude, places: 9),
            FixedDecimal(eye.altitude, places: 3), FixedDecimal(eye.heading, places: 6),
            FixedDecimal(eye.tilt, places: 6), FixedDecimal(eye.roll, places: 6),
        ].map(\.text)
        let time = Self.unixEpoch + unixTime
        return "\(number)," + parts.joined(separator: ",") + ",\(time),\(time),"
    }

    /// A KML document that looks there.
    package var kml: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <kml xmlns="http://www.opengis.net/kml/2.2">
          <NetworkLinkControl>
            <LookAt>
              <longitude>\(FixedDecimal(position.target.longitude, places: 9).text)</longitude>
              <latitude>\(FixedDecimal(position.target.latitude, places: 9).text)</latitude>
              <altitude>0</altitude>
              <heading>\(FixedDecimal(position.bearing, places: 6).text)</heading>
              <tilt>\(FixedDecimal(position.viewingAngle, places: 6).text)</tilt>
              <range>\(FixedDecimal(range, places: 3).text)</range>
              <altitudeMode>relativeToGround</altitudeMode>
            </LookAt>
          </NetworkLinkControl>
        </kml>

        """
    }
}

/// The earth as it is: the ellipsoid of WGS 84.
private enum Globe {
    /// The equator, in metres: what a map of the whole world is wide.
    static let equator = 40_075_016.686
    private static let (radius, eccentricitySquared) = (6_378_137.0, 6.69437999014e-3)

    /// Metres from the middle of the earth, or a direction.
    struct Vector {
        var x, y, z: Double

        static func + (a: Vector, b: Vector) -> Vector { Vector(x: a.x + b.x, y: a.y + b.y, z: a.z + b.z) }
        static func * (a: Vector, factor: Double) -> Vector {
            Vector(x: a.x * factor, y: a.y * factor, z: a.z * factor)
        }
        func dot(_ other: Vector) -> Double { x * other.x + y * other.y + z * other.z }
    }

    static func axes(at place: LatLng) -> (east: Vector, north: Vector, up: Vector) {
        let (north, east) = (Elementary.sineAndCosine(place.latitude), Elementary.sineAndCosine(place.longitude))
        return (
            Vector(x: -east.sine, y: east.cosine, z: 0),
            Vector(x: -north.sine * east.cosine, y: -north.sine * east.sine, z: north.cosine),
            Vector(x: north.cosine * east.cosine, y: north.cosine * east.sine, z: north.sine)
        )
    }

    /// A place on the ellipsoid.
    static func point(at place: LatLng) -> Vector {
        let up = axes(at: place).up
        let normal = radius / (1 - eccentricitySquared * up.z * up.z).squareRoot()
        return Vector(x: normal * up.x, y: normal * up.y, z: normal * (1 - eccentricitySquared) * up.z)
    }

    /// The place of a point and its height above the ellipsoid, by Bowring's formula, repeated until it stands.
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
}
