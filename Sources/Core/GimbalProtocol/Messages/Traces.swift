// `trace`, `trace-end` and `trace-ended` (schema: client.trace, client.trace-end, server.trace-ended): the first and
// last lines of a trace, whether it is sent, recorded, saved or made from a recording, and the result of a replay.

import Gestures
import MapCamera

/// The first line of a trace: the camera at the start, and how to play the trace.
@dynamicMemberLookup
public struct TraceHeader: Equatable, Sendable {
    /// Milliseconds of the trace per millisecond, above 0; infinite means as fast as possible.
    public var speed: Double
    /// The camera's position at the start.
    public var position: CameraPosition
    /// The camera's settings.
    public var setup: CameraSetup
    /// How the trace is played, such as which part and how often.
    public var playback: TracePlayback

    /// Creates a header; omitted parameters default to those of a new camera.
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

/// How a trace is played, besides its speed; by default from beginning to end, once.
public struct TracePlayback: Equatable, Codable, Sendable {
    /// How many times a trace is played.
    public enum Loop: Equatable, Codable, Sendable {
        /// This many times, from 1.
        case times(Int)
        /// Until the replay is ended.
        case forever
    }

    /// Whether the replay starts paused.
    public var paused = false
    /// The start, 0 to 1e14 milliseconds after the trace's first event; earlier lines are applied without being shown.
    public var fromMs: Double?
    /// The end, likewise; not before ``fromMs``.
    public var untilMs: Double?
    /// How many times it is played.
    public var loop = Loop.times(1)
    /// The longest wait between two lines or frames, 0 to 1e14 milliseconds.
    public var idleTimeLimitMs: Double?
    /// Whether the replay pauses after each marker.
    public var pauseOnMarkers = false
    /// Whether the replay stays at its end, to be sought and played again, until something else moves the camera.
    public var pauseAtEnd: Bool {
        get { pausesAtEnd ?? false }
        set { pausesAtEnd = newValue ? true : nil }
    }
    // Optional because a handover from an older process lacks it.
    private var pausesAtEnd: Bool?
    /// The length of the trace for clients that show it, 0 to 1e14 milliseconds.
    public var durationMs: Double?

    /// Creates the default playback: from beginning to end, once.
    public init() {}
}

/// The result of a replay.
public struct TraceEnded: Equatable, Sendable {
    /// The number of accepted lines: gestures, commands and settings.
    public package(set) var events: Int
    /// The number of lines answered with an error.
    public package(set) var rejected: Int
    /// How often the camera changed.
    public package(set) var frames: Int
    /// The trace's clock at the end in milliseconds, including the time until the camera rests.
    public package(set) var durationMs: Double
    /// The camera's position at the end.
    public package(set) var position: CameraPosition
    /// `true` if another client or a restart ended the replay early.
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

// MARK: Writing

extension LineWriter {
    /// Writes the first line of a trace made from a recording, LF included: sizes and the position are rounded, and
    /// members with a new camera's values are omitted.
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
}

extension Request {
    /// The last line of a trace, LF included.
    package static let traceEndLine = (try? ClientRequest.traceEnd.line()) ?? []
}
