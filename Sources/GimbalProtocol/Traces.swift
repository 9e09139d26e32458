// `trace`, `trace-end` and `trace-ended` (schema: client.trace, client.trace-end, server.trace-ended): the lines around a
// trace, whether it is sent, recorded, saved or made of a recording, and how a replay went.

import Gestures
import JSONLines
import MapCamera

/// The first line of a trace: the camera that it begins with, and how fast it is played.
public struct TraceHeader: Equatable, Sendable {
    /// Milliseconds of the trace per millisecond, above 0; infinite is as fast as possible.
    public var speed: Double
    /// The size of the screen.
    public var viewport: Viewport
    /// Where the camera begins.
    public var position: CameraPosition
    /// The zooms that it may have.
    public var zoomRange: ZoomRange
    /// Where the target is kept; `nil` is anywhere.
    public var targetBounds: CoordinateBounds?
    /// Which gestures move it.
    public var gestures: GestureSwitches

    /// A header; what is left out is as a new camera has it.
    public init(
        speed: Double = 1, viewport: Viewport = .standard, position: CameraPosition = .initial,
        zoomRange: ZoomRange = .all, targetBounds: CoordinateBounds? = nil,
        gestures: GestureSwitches = GestureSwitches()
    ) {
        self.speed = speed
        self.viewport = viewport
        self.position = position
        self.zoomRange = zoomRange
        self.targetBounds = targetBounds
        self.gestures = gestures
    }
}

extension TraceHeader {
    /// The header of a trace that begins with a camera as it is.
    package init(_ camera: Camera, _ settings: GestureSettings) {
        self.init(
            viewport: camera.viewport, position: camera.position, zoomRange: camera.constraints.zoomRange,
            targetBounds: camera.constraints.targetBounds, gestures: GestureSwitches(settings))
    }

    /// What keeps the camera that the trace begins with.
    package var constraints: CameraConstraints {
        get {
            var constraints = CameraConstraints()
            constraints.zoomRange = zoomRange
            constraints.targetBounds = targetBounds
            return constraints
        }
        set { (zoomRange, targetBounds) = (newValue.zoomRange, newValue.targetBounds) }
    }
}

/// What the message `trace-ended` is written from, as it is counted while a replay runs.
package struct TraceSummary: Sendable {
    package var events: UInt64 = 0
    package var rejected: UInt64 = 0
    package var frames: UInt64 = 0
    package var durationMs = 0.0
    /// Whether it was ended before its own end.
    package var isCut = false

    package init() {}
}

/// How a replay went.
public struct TraceEnded: Equatable, Sendable {
    /// Lines of gestures, commands and settings that were taken.
    public let events: Int
    /// Lines that were answered by an error.
    public let rejected: Int
    /// How often the camera changed.
    public let frames: Int
    /// Milliseconds of the trace's clock at the end, rest included.
    public let durationMs: Double
    /// Where the camera is.
    public let position: CameraPosition
    /// `true` where somebody else ended it, or a restart, before its own end.
    public let cut: Bool?
}

// MARK: In

extension RequestDecoder {
    private static let speeds = Words(["max"], \.self)

    func header(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> TraceHeader {
        try version(object)
        var header = TraceHeader()
        if let node = child(object, .speed) {
            let number = tape[node].kind == .number ? tape[node].number : 0
            let isMax = tape[node].kind == .string && word(node, Self.speeds, line) != nil
            guard isMax || (number > 0 && number.isFinite) else {
                throw .wrong(FieldPath(.speed), "must be a number above 0, or \"max\"")
            }
            header.speed = isMax ? .infinity : number
        }
        if let inner = try self.object(object, FieldPath(.viewport), .viewport) {
            header.viewport = try viewport(inner, FieldPath(.viewport))
        }
        if child(object, .position) != nil { header.position = try position(object, FieldPath(.position)) }
        let (min, max) = try zoomLimits(object)
        header.zoomRange = ZoomRange(min: min ?? ZoomRange.all.min, max: max ?? ZoomRange.all.max) ?? .all
        if let node = child(object, .targetBounds), tape[node].kind != .null {
            header.targetBounds = try bounds(object, FieldPath(.targetBounds), .targetBounds)
        }
        if let inner = try self.object(object, FieldPath(.gestures), .gestures) {
            header.gestures = try gestureSwitches(inner, FieldPath(.gestures))
        }
        return header
    }
}

extension TraceEnded: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        events = try members.get("events")
        rejected = try members.get("rejected")
        frames = try members.get("frames")
        durationMs = try members.get("durationMs")
        position = try members.get("position")
        cut = try members.get(ifPresent: "cut")
    }
}

// MARK: Out

extension LineWriter {
    /// Writes the members of a header behind those that any request may have; a speed of 1 is left out.
    mutating func header(_ header: TraceHeader) {
        member("version", UInt64(RequestDecoder.version))
        if header.speed == .infinity {
            write(",\"speed\":\"max\"")
        } else if header.speed != 1 {
            member("speed", exact: header.speed)
        }
        write(",\"viewport\":{")
        size(header.viewport)
        write("}")
        position(exact: header.position)
        member("minZoom", exact: header.zoomRange.min)
        member("maxZoom", exact: header.zoomRange.max)
        if let bounds = header.targetBounds { self.bounds("targetBounds", exact: bounds) }
        write(",\"gestures\":{")
        switches(header.gestures, isFirst: true)
        write("}")
    }

    /// Writes the first line of a trace that is made of a recording, LF included: sizes and the position are rounded, and
    /// what a new camera has is left out.
    package mutating func traceHeader(viewport: Viewport, position: CameraPosition) {
        open(.trace)
        member("version", UInt64(RequestDecoder.version))
        write(",\"viewport\":{\"width\":")
        write(FixedDecimal(viewport.width, places: 6))
        member("height", viewport.height)
        write("}")
        member("position", PrintedPosition(position))
        write("}\n")
    }

    /// Writes the last line of a trace, LF included.
    package mutating func traceEnd() {
        open(.traceEnd)
        write("}\n")
    }

    package mutating func traceEnded(_ summary: TraceSummary, position: PrintedPosition, _ id: Span<UInt8>) {
        open(.traceEnded, id)
        member("events", summary.events)
        member("rejected", summary.rejected)
        member("frames", summary.frames)
        member("durationMs", summary.durationMs, places: 3)
        member("position", position)
        if summary.isCut { write(",\"cut\":true") }
        close()
    }
}

extension Request {
    /// The line that ends a trace, its LF included.
    package static let traceEndLine: [UInt8] = {
        var line = LineWriter()
        line.traceEnd()
        return line.bytes
    }()
}
