// How far apart two cameras appear on the screen, and how far apart they may be.

import GimbalProtocol
import MapCamera

/// How far one camera is from another.
package struct Difference: Equatable, Sendable {
    /// How far from the middle of the screen one camera shows the other's target, in points of the screen.
    package var points: Double
    /// Zoom levels.
    package var zoom: Double
    /// Degrees of the bearing or of the viewing angle, whichever differs more.
    package var degrees: Double

    /// - Parameter viewport: the screen that the distance is measured on.
    package init(from expected: CameraPosition, to found: CameraPosition, viewport: Viewport) {
        zoom = abs(found.zoom - expected.zoom)
        let turn = abs(wrap180(found.bearing - expected.bearing))
        degrees = max(turn, abs(found.viewingAngle - expected.viewingAngle))
        points = 0
        guard found.target != expected.target else { return }
        let middle = viewport.center
        if let point = Projection(expected, viewport: viewport).point(for: found.target) {
            points = Elementary.hypot(point.x - middle.x, point.y - middle.y)
        } else {
            // The target is behind the camera: the distance on the ground counts.
            let (a, b) = (MercatorPoint(expected.target), MercatorPoint(found.target))
            let scale = 256 / (2 * Double.pi) * Elementary.exp2(expected.zoom)
            points = Elementary.hypot(wrap180((b.x - a.x) * 180 / .pi) * .pi / 180, b.y - a.y) * scale
        }
    }

    /// In words, such as `12.3 points, 0.01 zoom, 0 degrees`.
    package var text: String {
        "\(counted(number(points, 3), "point")), \(number(zoom, 6)) zoom, \(counted(number(degrees, 4), "degree"))"
    }
}

/// How far a camera may be from what is expected.
package struct Tolerance: Equatable, Sendable {
    /// Points of the screen.
    package var points: Double
    /// Zoom levels.
    package var zoom: Double
    /// Degrees of bearing and of viewing angle.
    package var degrees: Double
    /// How much earlier or later the camera may be there, in milliseconds.
    package var timeMs = 0.0

    package init(points: Double = 1, zoom: Double = 0.01, degrees: Double = 0.1, timeMs: Double = 0) {
        (self.points, self.zoom, self.degrees, self.timeMs) = (points, zoom, degrees, timeMs)
    }

    /// The tolerance that allows no difference.
    package static let none = Tolerance(points: 0, zoom: 0, degrees: 0)

    /// Parses numbers with their units, such as `0.5pt,0.001zoom,0.1deg,20ms`. Omitted ones are 1pt, 0.01zoom, 0.1deg
    /// and 0ms.
    package init?(_ text: String) {
        self.init()
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let unit = Self.units.first(where: { part.hasSuffix($0.name) }),
                let value = Double(part.dropLast(unit.name.count)), value >= 0, value.isFinite
            else { return nil }
            self[keyPath: unit.path] = value
        }
    }

    /// What to write instead of an invalid tolerance.
    package static let usage = "write numbers with their units, such as 0.5pt,0.001zoom,0.1deg or 2pt,50ms"

    private static var units: [(name: String, path: WritableKeyPath<Tolerance, Double>)] {
        [("pt", \.points), ("px", \.points), ("zoom", \.zoom), ("deg", \.degrees), ("ms", \.timeMs)]
    }

    package func allows(_ difference: Difference) -> Bool { excess(difference) <= 1 }

    /// Returns the worst ratio of a difference to what is allowed; 0 if all of it is allowed.
    func excess(_ difference: Difference) -> Double {
        func ratio(_ value: Double, _ most: Double) -> Double {
            value <= most ? 0 : most > 0 ? value / most : .infinity
        }
        return max(ratio(difference.points, points), ratio(difference.zoom, zoom), ratio(difference.degrees, degrees))
    }

    /// In words, such as `0.5 points, 0.001 zoom, 0.1 degrees`.
    package var text: String {
        let time = timeMs > 0 ? ", \(number(timeMs, 3)) ms" : ""
        let (points, degrees) = (counted(number(points, 6), "point"), counted(number(degrees, 6), "degree"))
        return "\(points), \(number(zoom, 6)) zoom, \(degrees)\(time)"
    }
}

/// Formats a number with at most `places` decimals.
func number(_ value: Double, _ places: Int) -> String { FixedDecimal(value, places: places).text }

/// Returns a formatted number and what it counts.
package func counted(_ number: String, _ noun: String) -> String { "\(number) \(noun)\(number == "1" ? "" : "s")" }

extension CameraPosition {
    /// In words, such as `48.858400, 2.294500  zoom 14  bearing 0  angle 0`.
    package var words: String {
        "\(number(target.latitude, 7)), \(number(target.longitude, 7))  zoom \(number(zoom, 5))  "
            + "bearing \(number(bearing, 4))  angle \(number(viewingAngle, 4))"
    }
}

/// Formats a time for people: seconds with milliseconds.
package func seconds(_ timeMs: Double) -> String { "\(number(timeMs / 1000, 3)) s" }
