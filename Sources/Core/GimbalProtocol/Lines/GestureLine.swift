// Reads a line with one report of one gesture, as nearly every line is, straight from its bytes. This fast path beside
// `RequestDecoder` accepts what most clients write: the type first, no space except one after a colon or a comma, no
// escapes, and only members that such a report needs. Everything else, including errors, is left to the decoder.
// Invariant: the decoder reads the same from every line accepted here; a test compares the two.

import Gestures
import MapCamera

extension ByteRange {
    /// Creates the range of a string including its quotes.
    fileprivate init(quoting text: ByteRange) { self.init(Int(text.start) - 1, Int(text.end) + 1) }
}

/// A report of a gesture, and the other members of its line.
package struct GestureLine: Sendable {
    package private(set) var gesture = ClientRequest.Gesture(GestureEvent(.pan, .changed, nil))
    /// The id as written in the line; empty if there is none.
    package private(set) var id = ByteRange(0, 0)
    /// The range of the camera's name, without its quotes; empty if there is none. The name is not validated.
    package private(set) var camera = ByteRange(0, 0)

    package init() {}

    /// Reads a line without its LF; `false` if it may be something else or invalid: then this value is meaningless.
    ///
    /// Reads in place, since returning a copy would take longer than parsing most of the line.
    package mutating func read(_ line: Span<UInt8>) -> Bool {
        var position = 0
        guard Self.skip(name: "{\"type\":", line, &position), let kind = Self.kind(line, &position)
        else { return false }
        gesture.event.kind = kind
        // A tap may omit its phase.
        var phase = kind.isTap ? GesturePhase.ended : nil
        while Self.skip(name: ",", line, &position) {
            if Self.skip(name: "\"phase\":", line, &position) {
                guard phase == nil, let read = Self.phase(line, &position) else { return false }
                phase = read
            } else if Self.skip(name: "\"focus\":", line, &position) {
                guard gesture.event.focus == nil, let read = Self.point(line, &position) else { return false }
                gesture.event.focus = read
            } else if gesture.event.value == nil, let read = Self.value(of: kind, line, &position) {
                gesture.event.value = read
            } else if !readOther(line, &position) {
                return false
            }
        }
        guard Self.skip("}", line, &position), position == line.count, let phase else { return false }
        gesture.event.phase = phase
        return true
    }

    /// Reads a rarer member; `false` if it is none of them or a duplicate.
    private mutating func readOther(_ line: Span<UInt8>, _ position: inout Int) -> Bool {
        if Self.skip(name: "\"timeMs\":", line, &position) {
            guard gesture.event.time == nil else { return false }
            gesture.event.time = Self.number(line, &position, in: .times)
            return gesture.event.time != nil
        }
        if Self.skip(name: "\"camera\":", line, &position) {
            guard camera.count == 0, let read = Self.string(line, &position) else { return false }
            camera = read
            return true
        }
        if Self.skip(name: "\"id\":", line, &position) {
            guard id.count == 0,
                let read = Self.count(line, &position)?.digits
                    ?? Self.string(line, &position).map({ ByteRange(quoting: $0) })
            else { return false }
            id = read
            return true
        }
        if Self.skip(name: "\"gesture\":", line, &position) {
            guard case .none = gesture.label, let number = Self.count(line, &position)?.value else { return false }
            gesture.label = .number(number)
            return true
        }
        return false
    }

    // MARK: Words

    private static func kind(_ line: Span<UInt8>, _ position: inout Int) -> GestureKind? {
        if skip("\"pan\"", line, &position) { return .pan }
        if skip("\"pinch\"", line, &position) { return .pinch }
        if skip("\"rotate\"", line, &position) { return .rotate }
        if skip("\"tilt\"", line, &position) { return .tilt }
        if skip("\"one-finger-zoom\"", line, &position) { return .oneFingerZoom }
        if skip("\"double-tap\"", line, &position) { return .doubleTap }
        if skip("\"two-finger-tap\"", line, &position) { return .twoFingerTap }
        return nil
    }

    private static func phase(_ line: Span<UInt8>, _ position: inout Int) -> GesturePhase? {
        if skip("\"changed\"", line, &position) { return .changed }
        if skip("\"began\"", line, &position) { return .began }
        if skip("\"ended\"", line, &position) { return .ended }
        if skip("\"cancelled\"", line, &position) { return .cancelled }
        return nil
    }

    // MARK: Values

    /// Reads the member with the value of a gesture if it comes next and is in the usual form.
    private static func value(
        of kind: GestureKind, _ line: Span<UInt8>, _ position: inout Int
    ) -> GestureEvent.Value? {
        var end = position
        let value: GestureEvent.Value?
        switch kind {
        case .pan:
            guard skip(name: "\"translation\":", line, &end) else { return nil }
            value = point(line, &end).map { .pan($0) }
        case .pinch:
            guard skip(name: "\"scale\":", line, &end) else { return nil }
            value = number(line, &end, in: .scale).map { .pinch($0) }
        case .rotate:
            guard skip(name: "\"rotationDeg\":", line, &end) else { return nil }
            value = number(line, &end, in: .rotation).map { .rotate($0) }
        case .tilt:
            guard skip(name: "\"translation\":", line, &end) else { return nil }
            value = height(line, &end).map { .tilt($0) }
        case .oneFingerZoom:
            guard skip(name: "\"translation\":", line, &end) else { return nil }
            value = height(line, &end).map { .oneFingerZoom($0) }
        default:
            // Taps have no value, and lines with others are rare: they go to the general decoder.
            return nil
        }
        if value != nil { position = end }
        return value
    }

    /// Reads a translation and returns its y, the only value that counts.
    private static func height(_ line: Span<UInt8>, _ position: inout Int) -> Double? {
        guard skip(name: "{\"y\":", line, &position) else { return point(line, &position)?.y }
        guard let y = number(line, &position, in: .points), skip("}", line, &position) else { return nil }
        return y
    }

    private static func point(_ line: Span<UInt8>, _ position: inout Int) -> ScreenPoint? {
        guard skip(name: "{\"x\":", line, &position), let x = number(line, &position, in: .points),
            skip(name: ",", line, &position), skip(name: "\"y\":", line, &position),
            let y = number(line, &position, in: .points), skip("}", line, &position)
        else { return nil }
        return ScreenPoint(x: x, y: y)
    }

    @inline(__always)
    private static func number(
        _ line: Span<UInt8>, _ position: inout Int, in range: ClosedRange<Double>
    ) -> Double? {
        guard position < line.count, let (value, end) = try? JSONText.number(line, position), range.contains(value)
        else { return nil }
        position = end
        return value
    }

    /// Reads a non-negative integer.
    private static func count(
        _ line: Span<UInt8>, _ position: inout Int
    ) -> (value: Int64, digits: ByteRange)? {
        guard let (value, end) = JSONText.count(line, position) else { return nil }
        defer { position = end }
        return (value, ByteRange(position, end))
    }

    /// Reads a string of 1 to 64 bytes without escapes.
    private static func string(_ line: Span<UInt8>, _ position: inout Int) -> ByteRange? {
        guard skip("\"", line, &position) else { return nil }
        let end = JSONText.plainEnd(line, from: position)
        guard 1...64 ~= end - position, end < line.count, line[end] == UInt8(ascii: "\"") else { return nil }
        defer { position = end + 1 }
        return ByteRange(position, end)
    }

    // MARK: Text

    /// Moves past a text if it comes next. It is here and not in `JSONText`, since the compiler knows which text it is
    /// only within a module: elsewhere a line took 1,000 instructions more.
    @inline(__always)
    private static func skip(_ text: StaticString, _ line: Span<UInt8>, _ position: inout Int) -> Bool {
        let count = text.utf8CodeUnitCount
        guard line.count &- position >= count else { return false }
        let isThere = unsafe line.withUnsafeBufferPointer { bytes in
            // Sound: the guard above has checked that `count` bytes are there, and no position is below 0.
            guard let start = bytes.baseAddress else { return false }
            let there = unsafe UnsafeRawPointer(start + position)
            let wanted = unsafe UnsafeRawPointer(text.utf8Start)
            // Compares overlapping words, all of them within the text.
            if count >= 8 {
                var offset = 0
                while offset < count &- 8 {
                    guard unsafe Self.isEqual(there, wanted, at: offset, as: UInt64.self) else { return false }
                    offset &+= 8
                }
                return unsafe Self.isEqual(there, wanted, at: count &- 8, as: UInt64.self)
            }
            if count >= 4 {
                return unsafe Self.isEqual(there, wanted, at: 0, as: UInt32.self)
                    && Self.isEqual(there, wanted, at: count &- 4, as: UInt32.self)
            }
            for index in 0..<count {
                guard unsafe Self.isEqual(there, wanted, at: index, as: UInt8.self) else { return false }
            }
            return true
        }
        if isThere { position &+= count }
        return isThere
    }

    @inline(__always)
    private static func isEqual<Word: FixedWidthInteger & BitwiseCopyable>(
        _ there: UnsafeRawPointer, _ wanted: UnsafeRawPointer, at offset: Int, as: Word.Type
    ) -> Bool {
        unsafe there.loadUnaligned(fromByteOffset: offset, as: Word.self)
            == wanted.loadUnaligned(fromByteOffset: offset, as: Word.self)
    }

    /// Moves past a name and its colon, or a comma, and an optional space.
    @inline(__always)
    private static func skip(name text: StaticString, _ line: Span<UInt8>, _ position: inout Int) -> Bool {
        guard skip(text, line, &position) else { return false }
        if position < line.count, line[position] == UInt8(ascii: " ") { position &+= 1 }
        return true
    }
}
