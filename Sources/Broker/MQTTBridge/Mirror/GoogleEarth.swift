// A camera for Google Earth: a KML document with its view, and ViewSync datagrams, which carry the position of
// the eye to a wall of Google Earths.

import EarthViews
import JSONLines

extension EarthView {
    /// The seconds from the start of ViewSync's time, the year 1, to that of Unix time.
    private static let unixEpoch = 62_135_596_800

    /// Returns a ViewSync datagram: counter; the eye's place, altitude, heading, tilt and roll; begin and end of the
    /// time shown; and the planet, which is empty for the earth.
    ///
    /// - Parameter unixTime: the current time, in seconds.
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

    /// A KML document with this view.
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
