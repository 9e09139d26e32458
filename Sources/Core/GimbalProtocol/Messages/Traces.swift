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
    /// Whether it is kept when it has been played, to be sought and played again, until something else moves the camera.
    public var pauseAtEnd: Bool {
        get { pausesAtEnd ?? false }
        set { pausesAtEnd = newValue ? true : nil }
    }
    // What an earlier process hands over lacks it.
    private var pausesAtEnd: Bool?
    /// How long the trace is, from 0 to 1e14 milliseconds, for clients that show it.
    public var durationMs: Double?

    /// A trace that is played from its beginning to its end, once.
    public init() {}
}

/// How a replay went.
public struct TraceEnded: Equatable, Sendable {
    /// Lines of gestures, commands and settings that were taken.
    public package(set) var events: Int
    /// Lines that were answered by an error.
    public package(set) var rejected: Int
    /// How often the camera changed.
    public package(set) var frames: Int
    /// Milliseconds of the trace's clock at the end, rest included.
    public package(set) var durationMs: Double
    /// Where the camera is.
    public package(set) var position: CameraPosition
    /// `true` where another client ended it, or a restart, before its own end.
    public package(set) var cut: Bool?

    package init(events: Int, rejected: Int, frames: Int, durationMs: Double, position: CameraPosition, cut: Bool?) {
        (self.events, self.rejected, self.frames) = (events, rejected, frames)
        (self.durationMs, self.position, self.cut) = (durationMs, position, cut)
    }
}

// MARK: Members

extension TraceHeader: Described {
    package static let blank = TraceHeader()

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        var version = RequestDecoder.version
        try visitor.version(&version)
        try visitor.member(.speed, &speed, SpeedRule(), unless: 1)
        try playback.describe(&visitor)
        try setup.describe(&visitor, withPosition: &position)
    }
}

extension TracePlayback {
    fileprivate mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.paused, &paused, .flag, unless: false)
        try visitor.member(.fromMs, &fromMs, .number(in: .ofTraces))
        try visitor.member(.untilMs, &untilMs, .number(in: .ofTraces))
        try visitor.check((fromMs ?? 0) <= (untilMs ?? .infinity)) { path in
            .wrong(path / .untilMs, "must not be before fromMs")
        }
        try visitor.member(.loop, &loop, LoopRule(), unless: .times(1))
        try visitor.member(.idleTimeLimitMs, &idleTimeLimitMs, .number(in: .ofTraces))
        try visitor.member(.pauseOnMarkers, &pauseOnMarkers, .flag, unless: false)
        try visitor.member(.pauseAtEnd, &pauseAtEnd, .flag, unless: false)
        try visitor.member(.durationMs, &durationMs, .number(in: .ofTraces))
    }
}

extension TraceEnded: Described {
    package static let blank = TraceEnded(
        events: 0, rejected: 0, frames: 0, durationMs: 0, position: .blank, cut: nil)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.events, &events, .count)
        try visitor.member(.rejected, &rejected, .count)
        try visitor.member(.frames, &frames, .count)
        try visitor.member(.durationMs, &durationMs, .number(places: 3))
        try visitor.object(.position, &position)
        try visitor.member(.cut, &cut, .flag)
    }
}

// MARK: Out

extension LineWriter {
    /// Writes the first line of a trace that is made of a recording, LF included: sizes and the position are rounded, and
    /// what a new camera has is left out.
    package mutating func traceHeader(viewport: Viewport, position: CameraPosition) {
        isRounded = true
        var (version, width, height) = (RequestDecoder.version, viewport.width, viewport.height)
        open(ClientRequest.trace(.blank).type)
        self.version(&version)
        member(.viewport)
        write("{")
        member(.width, &width, .number())
        member(.height, &height, .number())
        write("}")
        member(.position)
        write(position)
        close()
    }

    /// Writes the last line of a trace, LF included.
    package mutating func traceEnd() {
        request(.traceEnd)
        write("\n")
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
