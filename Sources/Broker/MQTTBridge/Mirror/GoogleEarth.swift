// A camera for Google Earth: a KML document that looks there, and the datagrams of ViewSync, which a wall of it takes, and
// which tell where the eye is.

import EarthViews
import JSONLines
import MapCamera

extension EarthView {
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
        \(lookAt(indent: "    "))
          </NetworkLinkControl>
        </kml>

        """
    }
}
