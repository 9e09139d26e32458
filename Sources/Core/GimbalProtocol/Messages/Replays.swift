// Steering a replay from any connection, and its markers (schema: client.pause-replay and so on, client.marker,
// server.replay, server.marker). The replay's own lines stand in Traces.swift.

import JSONLines
import MapCamera

// MARK: Types

/// Where in a replay to go.
public enum ReplayTarget: Equatable, Sendable {
    /// A time of the trace, in milliseconds from its first event; one before it is 0.
    case time(Double)
    /// The first marker of this label that has been read: 1 to 256 bytes.
    case marker(String)
    /// So many milliseconds of the trace from where the replay is; back, if negative.
    case offset(Double)
}

/// What a client wants of a replay that runs.
package enum ReplaySteering: Sendable {
    case pause
    case resume
    /// Plays until so many more `camera-changed` have been sent.
    case step(count: Int)
    case seek(ReplayTarget)
    /// Infinite is as fast as possible.
    case setSpeed(Double)
    case end
}

/// What a replay does.
public enum ReplayState: String, CaseIterable, Sendable {
    /// It plays, at its speed.
    case playing
    /// Its clock is stopped.
    case paused
    /// It is on its way to another place; the camera stays where it was until it is there.
    case seeking
    /// It is over, and the camera is free.
    case ended
}

/// A place in a trace that has a name.
public struct ReplayMarker: Equatable, Codable, Sendable {
    /// Milliseconds from the trace's first event.
    public let timeMs: Double
    /// What it is called: 1 to 256 bytes.
    public let label: String

    package init(timeMs: Double, label: String) { (self.timeMs, self.label) = (timeMs, label) }
}

/// How a replay stands. (The message `replay`.)
public struct ReplayStatus: Equatable, Sendable {
    /// The name of the camera that it moves.
    public let camera: String
    /// What it does.
    public let state: ReplayState
    /// Where it is, in milliseconds from the trace's first event; while it seeks, where it goes.
    public let timeMs: Double
    /// How long the trace is, in milliseconds, as its header says; `nil` where that does not.
    public let durationMs: Double?
    /// Milliseconds of the trace per millisecond; infinite is as fast as possible.
    public let speed: Double
    /// Which time it plays, from 1.
    public let round: Int
    /// The markers that have been read, in their order; `nil` where the line only tells of a change.
    public let markers: [ReplayMarker]?

    package init(
        camera: String, state: ReplayState, timeMs: Double, durationMs: Double?, speed: Double, round: Int,
        markers: [ReplayMarker]?
    ) {
        (self.camera, self.state, self.timeMs, self.durationMs) = (camera, state, timeMs, durationMs)
        (self.speed, self.round, self.markers) = (speed, round, markers)
    }
}

/// A marker that a trace or a client has set.
public struct CameraMarker: Equatable, Sendable {
    /// The camera's name.
    public let camera: String
    /// Milliseconds of the camera's clock.
    public let timeMs: Double
    /// What it is called: 1 to 256 bytes.
    public let label: String
}

// MARK: Requests in

extension RequestDecoder {
    /// The longest label of a marker, in bytes.
    package static let longestMarker = 256
    /// The most that is stepped at once.
    static let longestStep = 1_000_000

    func step(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> ReplaySteering {
        guard let node = child(object, .count) else { return .step(count: 1) }
        guard let count = integer(node, line), (1...Self.longestStep).contains(Int(count)) else {
            throw .wrong(FieldPath(.count), "must be an integer from 1 to \(Self.longestStep)")
        }
        return .step(count: Int(count))
    }

    func seek(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> ReplaySteering {
        var targets: [(field: Field, target: ReplayTarget)] = []
        if let time = try number(object, FieldPath(.toMs), .toMs, in: .times) {
            targets.append((.toMs, .time(time)))
        }
        if child(object, .marker) != nil { targets.append((.marker, .marker(try label(object, .marker, line)))) }
        if let offset = try number(object, FieldPath(.byMs), .byMs, in: .times) {
            targets.append((.byMs, .offset(offset)))
        }
        guard let first = targets.first else {
            throw .missing(FieldPath(.toMs), "a seek goes to toMs, to a marker, or byMs from where the replay is")
        }
        guard targets.count == 1 else {
            throw .wrong(FieldPath(targets[1].field), "must not stand beside \(first.field.name)")
        }
        return .seek(first.target)
    }

    func replaySpeed(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> ReplaySteering {
        guard let speed = try speed(object, line) else {
            throw .missing(FieldPath(.speed), "it is a number above 0, or \"max\"")
        }
        return .setSpeed(speed)
    }

    /// The label of a marker.
    func label(_ object: Int, _ field: Field, _ line: Span<UInt8>) throws(WireError) -> String {
        func wrong() -> WireError {
            .wrong(FieldPath(field), "must be a string of 1 to \(Self.longestMarker) bytes")
        }
        guard let node = child(object, field) else { throw .missing(FieldPath(field), "it says what the marker is") }
        guard tape[node].kind == .string else { throw wrong() }
        let label = text(node, line)
        guard (1...Self.longestMarker).contains(label.utf8.count) else { throw wrong() }
        return label
    }
}

// MARK: Requests out

extension LineWriter {
    mutating func steering(_ steering: ReplaySteering) {
        switch steering {
        case .step(let count): if count != 1 { member("count", UInt64(clamping: count)) }
        case .seek(.time(let time)): member("toMs", exact: time)
        case .seek(.marker(let label)): member("marker", label)
        case .seek(.offset(let offset)): member("byMs", exact: offset)
        case .setSpeed(let speed): self.speed(speed)
        case .pause, .resume, .end: break
        }
    }

    /// Writes a speed, of which an infinite one is `"max"`.
    mutating func speed(_ speed: Double) {
        if speed == .infinity { write(",\"speed\":\"max\"") } else { member("speed", exact: speed) }
    }
}

extension ReplaySteering {
    var word: RequestType.Word {
        switch self {
        case .pause: .pauseReplay
        case .resume: .resumeReplay
        case .step: .stepReplay
        case .seek: .seekReplay
        case .setSpeed: .setReplaySpeed
        case .end: .endReplay
        }
    }
}

// MARK: Out

extension LineWriter {
    /// Writes the state of a replay. The answer to a query has the markers.
    package mutating func replay(_ status: ReplayStatus, _ id: Span<UInt8>) {
        open(.replay, id)
        member("camera", status.camera)
        member("state", status.state.rawValue)
        member("timeMs", status.timeMs, places: 3)
        if let duration = status.durationMs { member("durationMs", duration, places: 3) }
        speed(status.speed)
        member("round", UInt64(clamping: status.round))
        if let markers = status.markers {
            write(",\"markers\":[")
            for (index, marker) in markers.enumerated() {
                write(index == 0 ? "{\"timeMs\":" : ",{\"timeMs\":")
                write(FixedDecimal(marker.timeMs, places: 3))
                member("label", marker.label)
                write("}")
            }
            write("]")
        }
        close()
    }

    /// Tells of a marker at a time of the camera's clock.
    package mutating func marker(_ label: String, camera: String, timeMs: Double) {
        open(.marker, Span())
        member("camera", camera)
        member("timeMs", timeMs, places: 3)
        member("label", label)
        close()
    }
}

// MARK: In

extension ReplayState: MessageReadable {}

extension ReplayMarker: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        self.init(timeMs: try members.get("timeMs"), label: try members.get("label"))
    }
}

extension CameraMarker: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        camera = try members.get("camera")
        timeMs = try members.get("timeMs")
        label = try members.get("label")
    }
}

extension ReplayStatus: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        let speed: Double = if json["speed"]?.string == "max" { .infinity } else { try members.get("speed") }
        self.init(
            camera: try members.get("camera"), state: try members.get("state"), timeMs: try members.get("timeMs"),
            durationMs: try members.get(ifPresent: "durationMs"), speed: speed, round: try members.get("round"),
            markers: try members.get(ifPresent: "markers"))
    }
}
