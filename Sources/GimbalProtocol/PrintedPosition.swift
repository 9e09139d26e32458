// A camera position as subscribers see it: rounded. Two positions are the same movement's one if they print alike.

import JSONLines
import MapCamera

/// A camera position in whole units of its last printed places.
package struct PrintedPosition: Equatable, Sendable {
    private let latitude: Int64
    private let longitude: Int64
    private let zoom: Int64
    private let bearing: Int64
    private let viewingAngle: Int64

    /// Rounds a position; what rounds to the open end of its range becomes the other end.
    package init(_ position: CameraPosition) {
        latitude = Self.round(position.target.latitude * 1e9)
        longitude = Self.wrap(Self.round(position.target.longitude * 1e9), at: 180_000_000_000, to: -180_000_000_000)
        zoom = Self.round(position.zoom * 1e6)
        bearing = Self.wrap(Self.round(position.bearing * 1e6), at: 360_000_000, to: 0)
        viewingAngle = Self.round(position.viewingAngle * 1e6)
    }

    /// Half away from zero. A constrained position is small enough for this to be exact; the C library would be called.
    @inline(__always)
    private static func round(_ value: Double) -> Int64 {
        let whole = Int64(value)
        let rest = value - Double(whole)
        return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0)
    }

    private static func wrap(_ units: Int64, at end: Int64, to start: Int64) -> Int64 { units == end ? start : units }

    /// What the longest one takes.
    static let longest = 256

    @inline(__always)
    func write(to line: inout LineRoom) {
        line.write("{\"target\":{\"latitude\":")
        line.write(FixedDecimal(units: latitude, places: 9))
        line.write(",\"longitude\":")
        line.write(FixedDecimal(units: longitude, places: 9))
        line.write("},\"zoom\":")
        line.write(FixedDecimal(units: zoom, places: 6))
        line.write(",\"bearing\":")
        line.write(FixedDecimal(units: bearing, places: 6))
        line.write(",\"viewingAngle\":")
        line.write(FixedDecimal(units: viewingAngle, places: 6))
        line.write("}")
    }
}

extension LineWriter {
    mutating func write(_ position: PrintedPosition) {
        withRoom(PrintedPosition.longest) { position.write(to: &$0) }
    }
}

/// A coordinate in an answer, rounded like a position's target.
func write(_ coordinate: LatLng, to line: inout LineWriter) {
    let longitude = FixedDecimal(coordinate.longitude, places: 9)
    line.write("{\"latitude\":")
    line.write(FixedDecimal(coordinate.latitude, places: 9))
    line.write(",\"longitude\":")
    line.write(longitude.units == 180_000_000_000 ? FixedDecimal(units: -180_000_000_000, places: 9) : longitude)
    line.write("}")
}
