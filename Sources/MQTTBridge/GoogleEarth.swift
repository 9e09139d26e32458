// A camera in the words of Google Earth: KML's `LookAt`, which looks at a target, and the datagrams of ViewSync, which a wall
// of it takes, and which tell where the eye is. Angles are alike: KML's tilt is the viewing angle, its heading the bearing.

import GimbalProtocol
import MapCamera

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A position as Google Earth has it.
package struct EarthView: Equatable, Sendable {
    /// The radius of Web Mercator's globe in metres.
    static let radius = 6_378_137.0

    package let position: CameraPosition
    /// Metres from the eye to the target.
    package let range: Double

    /// - Parameter height: that of the viewport, in points: the eye is 1.5 times as far away.
    package init(_ position: CameraPosition, viewportHeight height: Double) {
        self.position = position
        let circle = 2 * Double.pi * Self.radius * cos(position.target.latitude * .pi / 180)
        range = 1.5 * height * circle / (256 * exp2(position.zoom))
    }

    /// Metres of the eye above the ground: R·cos θ.
    package var altitude: Double { range * cos(position.viewingAngle * .pi / 180) }

    /// The place below the eye: R·sin θ behind the target, on the globe.
    package var eye: LatLng {
        let angle = range * sin(position.viewingAngle * .pi / 180) / Self.radius
        let back = (position.bearing + 180) * .pi / 180
        let latitude = position.target.latitude * .pi / 180
        let sine = sin(latitude) * cos(angle) + cos(latitude) * sin(angle) * cos(back)
        let east = atan2(sin(back) * sin(angle) * cos(latitude), cos(angle) - sin(latitude) * sine)
        return LatLng(
            latitude: asin(min(max(sine, -1), 1)) * 180 / .pi,
            longitude: wrap180(position.target.longitude + east * 180 / .pi))
    }

    /// A datagram of ViewSync: counter, place, altitude, heading, tilt and roll of the eye, two times and the planet's name,
    /// of which the last three may be empty.
    package func datagram(number: Int) -> String {
        let eye = eye
        let parts = [
            FixedDecimal(eye.latitude, places: 9), FixedDecimal(eye.longitude, places: 9),
            FixedDecimal(altitude, places: 3), FixedDecimal(wrap180(position.bearing), places: 6),
            FixedDecimal(position.viewingAngle, places: 6),
        ]
        return "\(number)," + parts.map(\.text).joined(separator: ",") + ",0,,,"
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
