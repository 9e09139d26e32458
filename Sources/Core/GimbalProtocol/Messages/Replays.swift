// Control of a replay from any connection, and markers (schema: client.pause-replay and so on, client.marker,
// server.replay, server.marker). The lines of a trace are in Traces.swift.

import MapCamera

// MARK: Types

/// The target of a seek.
public enum ReplayTarget: Equatable, Sendable {
    /// A time of the trace, in milliseconds from its first event; negative times count as 0.
    case time(Double)
    /// The first marker read so far with this label: 1 to 256 bytes.
    case marker(String)
    /// Milliseconds of the trace from the current position; backwards if negative.
    case offset(Double)
}

/// The state of a replay.
public enum ReplayState: String, CaseIterable, Sendable, ProtocolWord {
    /// The replay plays, at its speed.
    case playing
    /// Its clock is stopped.
    case paused
    /// The replay is seeking; the camera stays where it was until that is done.
    case seeking
    /// The trace has been played, and can be sought and played again until something else moves the camera.
    case atEnd = "at-end"
    /// The replay is over, and the camera is free.
    case ended
}

/// A named position in a trace.
public struct ReplayMarker: Equatable, Codable, Sendable {
    /// Milliseconds from the trace's first event.
    public package(set) var timeMs: Double
    /// The label: 1 to 256 bytes.
    public package(set) var label: String

    package init(timeMs: Double, label: String) { (self.timeMs, self.label) = (timeMs, label) }
}

/// The status of a replay. (The message `replay`.)
public struct ReplayStatus: Equatable, Sendable {
    /// The name of the replay's camera.
    public package(set) var camera: String
    /// The state.
    public package(set) var state: ReplayState
    /// The position, in milliseconds from the trace's first event; during a seek, the target.
    public package(set) var timeMs: Double
    /// The length of the trace in milliseconds, from its header; `nil` if that has none.
    public package(set) var durationMs: Double?
    /// Milliseconds of the trace per millisecond; infinite means as fast as possible.
    public package(set) var speed: Double
    /// The number of the current round, from 1.
    public package(set) var round: Int
    /// The name of the trace that the daemon plays on its own; such a replay yields to anything that moves the camera.
    public package(set) var trace: String?
    /// The markers read so far, in order; `nil` if the line only reports a change.
    public package(set) var markers: [ReplayMarker]?

    package init(
        camera: String, state: ReplayState, timeMs: Double, durationMs: Double?, speed: Double, round: Int,
        trace: String? = nil, markers: [ReplayMarker]?
    ) {
        (self.camera, self.state, self.timeMs, self.durationMs) = (camera, state, timeMs, durationMs)
        (self.speed, self.round, self.trace, self.markers) = (speed, round, trace, markers)
    }
}

/// A marker set by a trace or a client.
public struct CameraMarker: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// Milliseconds of the camera's clock.
    public package(set) var timeMs: Double
    /// The label: 1 to 256 bytes.
    public package(set) var label: String

    package init(camera: String, timeMs: Double, label: String) {
        (self.camera, self.timeMs, self.label) = (camera, timeMs, label)
    }
}

// MARK: Members

extension MemberRule where Self == TextRule {
    /// The label of a marker.
    static var markerLabel: Self { .text(bytes: 1...RequestDecoder.longestMarker) }
}

extension ReplayTarget {
    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        var (time, label, offset): (Double?, String?, Double?)
        switch self {
        case .time(let told): time = told
        case .marker(let told): label = told
        case .offset(let told): offset = told
        }
        try visitor.member(.toMs, &time, .number(in: .times))
        try visitor.member(.marker, &label, .markerLabel)
        try visitor.member(.byMs, &offset, .number(in: .times))
        let told: [(field: Field, target: ReplayTarget)] = [
            time.map { (.toMs, .time($0)) }, label.map { (.marker, .marker($0)) }, offset.map { (.byMs, .offset($0)) },
        ].compactMap(\.self)
        try visitor.check(!told.isEmpty) { path in
            .missing(path / .toMs, "a seek needs toMs, marker or byMs")
        }
        try visitor.check(told.count < 2) { path in
            .wrong(path / told[1].field, "must not be combined with \(told[0].field.name)")
        }
        if let first = told.first { self = first.target }
    }
}

extension ReplayMarker: Described {
    package static let blank = ReplayMarker(timeMs: 0, label: "")

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.timeMs, &timeMs, .time)
        try visitor.member(.label, &label, .text())
    }
}

extension CameraMarker: Described {
    package static let blank = CameraMarker(camera: "", timeMs: 0, label: "")

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.timeMs, &timeMs, .time)
        try visitor.member(.label, &label, .text())
    }
}

extension ReplayStatus: Described {
    package static let blank = ReplayStatus(
        camera: "", state: .playing, timeMs: 0, durationMs: nil, speed: 1, round: 1, markers: nil)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.state, &state, WordRule())
        try visitor.member(.timeMs, &timeMs, .time)
        try visitor.member(.durationMs, &durationMs, .number(places: 3))
        try visitor.member(.speed, &speed, SpeedRule())
        try visitor.member(.round, &round, .count)
        try visitor.member(.trace, &trace, .traceName)
        try visitor.list(.markers, &markers, ListRule(), .optional)
    }
}
