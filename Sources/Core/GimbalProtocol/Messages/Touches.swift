// `touch`: the fingers on a surface, as a request that feeds a camera, and as the event that shows them to subscribers
// (schema: client.touch, server.touch).

import Gestures
import JSONLines
import MapCamera
import Touches

extension Request {
    /// All fingers on a surface at one instant.
    package struct Fingers: Sendable {
        package var touches: [Touch]
        /// Whether those that were down before are lost and not lifted.
        package var isCancelled: Bool
        /// Which of several surfaces of one connection it is.
        package var surface: GestureKey.Label
        /// Whether the angle between two fingers can be trusted.
        package var tellsAngles: Bool
        /// The surface's own time in milliseconds, where that is not the line's.
        package var surfaceTimeMs: Double?

        package init(
            _ touches: [Touch], isCancelled: Bool = false, surface: GestureKey.Label = .none, tellsAngles: Bool = true,
            surfaceTimeMs: Double? = nil
        ) {
            self.touches = touches
            self.isCancelled = isCancelled
            self.surface = surface
            self.tellsAngles = tellsAngles
            self.surfaceTimeMs = surfaceTimeMs
        }
    }
}

extension Request.Fingers {
    /// Why the protocol has no words for it; `nil` if it has.
    var problem: String? {
        guard touches.allSatisfy({ RequestID.numbers.contains($0.id) }) else {
            return "a finger's id is a number within ±(2^53−1)"
        }
        return surface.problem
    }
}

/// The fingers on a surface that feeds a camera, after they have landed, moved or lifted.
public struct SurfaceTouches: Equatable, Sendable {
    /// The camera's name.
    public let camera: String
    /// Milliseconds of the camera's clock.
    public let timeMs: Double
    /// Tells apart the surfaces of all connections that feed the camera. One that was gone has another when it is back.
    public let number: Int
    /// What the connection that it belongs to calls it.
    public let surface: GestureKey.Label
    /// All fingers that are on it, in points of the camera's viewport.
    public let touches: [Touch]
    /// Whether those that were there before are lost, and have not lifted.
    public let isCancelled: Bool
}

// MARK: In

extension RequestDecoder {
    /// The most fingers of one surface.
    package static let mostFingers = 256

    func fingers(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Request.Fingers {
        let isCancelled = try flag(object, nil, .cancelled) ?? false
        let touches: [Touch]
        if let array = child(object, .touches) {
            touches = try self.touches(array, line)
        } else if isCancelled {
            touches = []
        } else {
            throw .missing(FieldPath(.touches), "an array of all fingers that are on the surface now, [] of none")
        }
        return Request.Fingers(
            touches, isCancelled: isCancelled, surface: try label(object, .surface, line),
            tellsAngles: try flag(object, nil, .rotate) ?? true,
            surfaceTimeMs: try number(object, FieldPath(.surfaceTimeMs), .surfaceTimeMs, in: .times))
    }

    private func touches(_ array: Int, _ line: Span<UInt8>) throws(WireError) -> [Touch] {
        func wrong() -> WireError {
            .wrong(FieldPath(.touches), "must be an array of fingers, objects with id, x and y")
        }
        guard tape[array].kind == .array else { throw wrong() }
        let path = FieldPath(.touches)
        var touches: [Touch] = []
        var finger = array + 1
        while finger < Int(tape[array].next) {
            guard tape[finger].kind == .object else { throw wrong() }
            guard touches.count < Self.mostFingers else { throw Self.tooManyFingers }
            guard let node = child(finger, .id) else { throw .missing(path / .id, "an integer tells fingers apart") }
            guard let id = integer(node, line) else { throw .wrong(path / .id, "must be an integer") }
            guard !touches.contains(where: { $0.id == id }) else {
                throw .wrong(path / .id, "must be another one for each finger: \(id) stands twice")
            }
            let position = ScreenPoint(
                x: try requiredNumber(finger, path / .x, .x, in: .points),
                y: try requiredNumber(finger, path / .y, .y, in: .points))
            touches.append(Touch(id: Int(id), position: position))
            finger = Int(tape[finger].next)
        }
        return touches
    }

    package static let tooManyFingers = WireError(
        .limitReached, field: "touches", "a line has at most \(mostFingers) fingers")
}

extension SurfaceTouches: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        camera = try members.get("camera")
        timeMs = try members.get("timeMs")
        number = try members.get("number")
        surface = try members.get(ifPresent: "surface") ?? .none
        touches = try members.get("touches")
        isCancelled = try members.get(ifPresent: "cancelled") ?? false
    }
}

extension Touch: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        self.init(id: try members.get("id"), position: try ScreenPoint(json))
    }
}

extension GestureKey.Label: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        if case .string(let text) = json { self = .text(text) } else { self = .number(Int64(try Int(json))) }
    }
}

// MARK: Out

extension LineWriter {
    /// Writes the members of a request behind those that any request may have.
    mutating func fingers(_ fingers: Request.Fingers) {
        label("surface", fingers.surface)
        if let time = fingers.surfaceTimeMs { member("surfaceTimeMs", exact: time) }
        touches(fingers.touches, isCancelled: fingers.isCancelled, .exact)
        if !fingers.tellsAngles { write(",\"rotate\":false") }
    }

    /// Writes the fingers of one frame as a line of a trace that is made of a recording, LF included. Its time is rounded to
    /// 3 decimals, as that of ``frame(_:timeMs:camera:)`` is; positions have all their digits.
    package mutating func touchFrame(_ fingers: Request.Fingers, timeMs: Double, camera: String? = nil) {
        open(.touch)
        member("timeMs", timeMs, places: 3)
        self.fingers(fingers)
        if let camera { member("camera", camera) }
        close()
    }

    /// Writes the event that shows the fingers of a surface, LF included.
    ///
    /// - Parameter number: tells it from the camera's other surfaces.
    package mutating func touch(_ fingers: Request.Fingers, number: Int, camera: String, timeMs: Double) {
        write("{\"type\":\"touch\",\"camera\":")
        write(string: camera)
        member("timeMs", timeMs, places: 3)
        member("number", UInt64(number))
        label("surface", fingers.surface)
        touches(fingers.touches, isCancelled: fingers.isCancelled, .rounded)
        close()
    }

    private mutating func touches(_ touches: [Touch], isCancelled: Bool, _ precision: Precision) {
        write(",\"touches\":[")
        for (index, touch) in touches.enumerated() {
            write(index > 0 ? ",{\"id\":" : "{\"id\":")
            write(exact: Double(touch.id))
            member("x", touch.position.x, places: 6, precision)
            member("y", touch.position.y, places: 6, precision)
            write("}")
        }
        write("]")
        if isCancelled { write(",\"cancelled\":true") }
    }
}
