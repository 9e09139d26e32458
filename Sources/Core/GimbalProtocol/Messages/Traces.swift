// `trace`, `trace-end` and `trace-ended` (schema: client.trace, client.trace-end, server.trace-ended): the lines around a
// trace, whether it is sent, recorded, saved or made of a recording, and how a replay went.

import Gestures
import JSONLines
import MapCamera

/// The first line of a trace: the camera that it begins with, and how fast it is played.
@dynamicMemberLookup
public struct TraceHeader: Equatable, Sendable {
    /// Milliseconds of the trace per millisecond, above 0; infinite is as fast as possible.
    public var speed: Double
    /// Where the camera begins.
    public var position: CameraPosition
    /// What the camera is set to.
    public var setup: CameraSetup
    /// Whether it begins paused, and from where to where and how often it is played.
    public var playback: TracePlayback

    /// A header; what is left out is as a new camera has it.
    public init(
        speed: Double = 1, position: CameraPosition = .initial, setup: CameraSetup = CameraSetup(),
        playback: TracePlayback = TracePlayback()
    ) {
        (self.speed, self.position, self.setup, self.playback) = (speed, position, setup, playback)
    }

    /// One of the camera's settings, such as ``CameraSetup/viewport``.
    public subscript<Setting>(dynamicMember setting: WritableKeyPath<CameraSetup, Setting>) -> Setting {
        get { setup[keyPath: setting] }
        set { setup[keyPath: setting] = newValue }
    }
}

/// How a trace is played beside its speed; what is left out is played from its beginning to its end, once.
public struct TracePlayback: Equatable, Codable, Sendable {
    /// How many times a trace is played.
    public enum Loop: Equatable, Codable, Sendable {
        /// So many times, from 1.
        case times(Int)
        /// Until it is ended.
        case forever
    }

    /// Whether it begins paused.
    public var paused = false
    /// Where it begins, from 0 to 1e14 milliseconds after the trace's first event; what comes before is applied unseen.
    public var fromMs: Double?
    /// Where it ends, likewise; not before ``fromMs``.
    public var untilMs: Double?
    /// How many times it is played.
    public var loop = Loop.times(1)
    /// How long it waits at the most between two lines or frames, from 0 to 1e14 milliseconds.
    public var idleTimeLimitMs: Double?
    /// Whether it pauses after each marker.
    public var pauseOnMarkers = false
    /// How long the trace is, from 0 to 1e14 milliseconds, for clients that show it.
    public var durationMs: Double?

    /// A trace that is played from its beginning to its end, once.
    public init() {}
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
    /// `true` where another client ended it, or a restart, before its own end.
    public let cut: Bool?
}

// MARK: In

extension RequestDecoder {
    private static let speeds = Words(["max"], \.self)

    func header(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> TraceHeader {
        try version(object)
        var header = TraceHeader()
        header.speed = try speed(object, line) ?? 1
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
            header.gestures = try gestureSwitches(inner, FieldPath(.gestures)).applied(to: GestureSettings())
        }
        header.playback = try playback(object, line)
        return header
    }

    /// A speed; infinite for `"max"`.
    func speed(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Double? {
        guard let node = child(object, .speed) else { return nil }
        let number = tape[node].kind == .number ? tape[node].number : 0
        let isMax = tape[node].kind == .string && word(node, Self.speeds, line) != nil
        guard isMax || (number > 0 && number.isFinite) else {
            throw .wrong(FieldPath(.speed), "must be a number above 0, or \"max\"")
        }
        return isMax ? .infinity : number
    }

    private func playback(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> TracePlayback {
        func time(_ field: Field) throws(WireError) -> Double? {
            try number(object, FieldPath(field), field, in: 0...1e14)
        }
        var playback = TracePlayback()
        playback.paused = try flag(object, nil, .paused) ?? false
        (playback.fromMs, playback.untilMs) = (try time(.fromMs), try time(.untilMs))
        if let from = playback.fromMs, let until = playback.untilMs, until < from {
            throw .wrong(FieldPath(.untilMs), "must not be before fromMs")
        }
        if let node = child(object, .loop) { playback.loop = try loop(node, line) }
        playback.idleTimeLimitMs = try time(.idleTimeLimitMs)
        playback.pauseOnMarkers = try flag(object, nil, .pauseOnMarkers) ?? false
        playback.durationMs = try time(.durationMs)
        return playback
    }

    private func loop(_ node: Int, _ line: Span<UInt8>) throws(WireError) -> TracePlayback.Loop {
        if tape[node].kind == .true { return .forever }
        guard let times = integer(node, line), times >= 1 else {
            throw .wrong(FieldPath(.loop), "must be an integer from 1 to 2^53 - 1, or true")
        }
        return .times(Int(times))
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
        if header.speed != 1 { speed(header.speed) }
        playback(header.playback)
        write(",\"viewport\":{")
        size(header.viewport)
        write("}")
        position(exact: header.position)
        member("minZoom", exact: header.zoomRange.min)
        member("maxZoom", exact: header.zoomRange.max)
        if let bounds = header.targetBounds { self.bounds("targetBounds", exact: bounds) }
        write(",\"gestures\":{")
        switches(GestureSwitches(header.gestures), isFirst: true)
        write("}")
    }

    private mutating func playback(_ playback: TracePlayback) {
        if playback.paused { write(",\"paused\":true") }
        if let from = playback.fromMs { member("fromMs", exact: from) }
        if let until = playback.untilMs { member("untilMs", exact: until) }
        switch playback.loop {
        case .times(1): break
        case .times(let times): member("loop", UInt64(clamping: times))
        case .forever: write(",\"loop\":true")
        }
        if let limit = playback.idleTimeLimitMs { member("idleTimeLimitMs", exact: limit) }
        if playback.pauseOnMarkers { write(",\"pauseOnMarkers\":true") }
        if let duration = playback.durationMs { member("durationMs", exact: duration) }
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
