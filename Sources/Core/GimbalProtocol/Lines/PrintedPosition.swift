// A camera position as subscribers see it: rounded. Positions that print alike count as no movement.

import MapCamera

/// A camera position in integer units of the last printed decimal.
package struct PrintedPosition: Equatable, Codable, Sendable {
    private let latitude: Int64
    private let longitude: Int64
    fileprivate let view: PrintedView

    /// Rounds a position; a value that rounds to the open end of its range wraps to the other end.
    package init(_ position: CameraPosition) {
        latitude = rounded(position.target.latitude * 1e9)
        longitude = wrapped(rounded(position.target.longitude * 1e9), at: 180_000_000_000, to: -180_000_000_000)
        view = PrintedView(position)
    }

    /// The position whose printed form is this one.
    package var position: CameraPosition {
        CameraPosition(
            target: LatLng(latitude: Double(latitude) / 1e9, longitude: Double(longitude) / 1e9),
            zoom: Double(view.zoom) / 1e6,
            bearing: Double(view.bearing) / 1e6, viewingAngle: Double(view.viewingAngle) / 1e6)
    }

    /// The length of the longest position.
    static let longest = 256

    @inline(__always)
    func write(to line: inout LineRoom) {
        writeTarget(to: &line)
        view.write(to: &line)
    }

    @inline(__always)
    fileprivate func writeTarget(to line: inout LineRoom) {
        line.write("{\"target\":{\"latitude\":")
        line.write(FixedDecimal(units: latitude, places: 9))
        line.write(",\"longitude\":")
        line.write(FixedDecimal(units: longitude, places: 9))
    }
}

/// A position without its target: the part that a pan does not change.
private struct PrintedView: Equatable, Codable, Sendable {
    let zoom: Int64
    let bearing: Int64
    let viewingAngle: Int64

    init(_ position: CameraPosition) {
        zoom = rounded(position.zoom * 1e6)
        bearing = wrapped(rounded(position.bearing * 1e6), at: 360_000_000, to: 0)
        viewingAngle = rounded(position.viewingAngle * 1e6)
    }

    @inline(__always)
    func write(to line: inout LineRoom) {
        line.write("},\"zoom\":")
        line.write(FixedDecimal(units: zoom, places: 6))
        line.write(",\"bearing\":")
        line.write(FixedDecimal(units: bearing, places: 6))
        line.write(",\"viewingAngle\":")
        line.write(FixedDecimal(units: viewingAngle, places: 6))
        line.write("}")
    }
}

/// Rounds half away from zero. Constrained positions are small enough for this to be exact, without a C library call.
@inline(__always)
private func rounded(_ value: Double) -> Int64 {
    let whole = Int64(value)
    let rest = value - Double(whole)
    return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0)
}

private func wrapped(_ units: Int64, at end: Int64, to start: Int64) -> Int64 { units == end ? start : units }

/// The text of a camera's view as last written, reused while only the target moves.
package struct ViewText: Sendable {
    private var view: PrintedView?
    private var text: [UInt8] = []

    package init() {}

    /// Writes a position as ``PrintedPosition`` does.
    @inline(__always)
    mutating func write(_ position: PrintedPosition, to line: inout LineRoom) {
        position.writeTarget(to: &line)
        if view == position.view { line.write(text.span) } else { writeAnew(position.view, to: &line) }
    }

    @inline(never)
    private mutating func writeAnew(_ view: PrintedView, to line: inout LineRoom) {
        text.reserveCapacity(PrintedPosition.longest)
        line.write(copyingTo: &text) { view.write(to: &$0) }
        self.view = view
    }
}

extension LineWriter {
    package mutating func write(_ position: PrintedPosition) {
        withRoom(PrintedPosition.longest) { position.write(to: &$0) }
    }
}
