// Reads a line from its beginning on, where it is known how it was written: by a daemon or by a bridge. What is written in
// another way is for a reader of any JSON.

import GimbalProtocol
import Glibc
import MapCamera

struct LineReader {
    private let line: [UInt8]
    private var position = 0

    init(_ line: [UInt8]) { self.line = line }

    var isAtEnd: Bool { position == line.count }

    /// Moves behind a text if it comes next.
    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard line.count - position >= count else { return false }
        let isThere = unsafe line.withUnsafeBytes { bytes in
            // Sound: so many bytes have just been seen to be there, and no position is below 0.
            guard let start = bytes.baseAddress else { return false }
            return unsafe memcmp(start + position, text.utf8Start, count) == 0
        }
        if isThere { position += count }
        return isThere
    }

    /// What stands before a byte, which is not skipped.
    mutating func word(upTo end: Character) -> ArraySlice<UInt8> {
        let (first, end) = (position, end.asciiValue)
        while position < line.count, line[position] != end { position += 1 }
        return line[first..<position]
    }

    /// An integer of 1 to 15 digits.
    mutating func count() -> Int? {
        guard let (value, end) = JSONText.count(line.span, position) else { return nil }
        position = end
        return Int(value)
    }

    mutating func number() -> Double? {
        guard position < line.count, let (value, end) = try? JSONText.number(line.span, position) else { return nil }
        position = end
        return value
    }

    /// An object with a position's members, in the daemon's order.
    mutating func place() -> CameraPosition? {
        guard skip("{\"target\":{\"latitude\":"), let latitude = number(), skip(",\"longitude\":"),
            let longitude = number(), skip("},\"zoom\":"), let zoom = number(), skip(",\"bearing\":"),
            let bearing = number(), skip(",\"viewingAngle\":"), let viewingAngle = number(), skip("}")
        else { return nil }
        return CameraPosition(
            target: LatLng(latitude: latitude, longitude: longitude), zoom: zoom, bearing: bearing,
            viewingAngle: viewingAngle)
    }
}
