// What a camera broadcasts: `move-started`, `camera-changed`, `idle`, `reset`, and `gesture`, its input (schema:
// server.move-started and so on). `touch` stands in Touches.swift, `replay` and `marker` in Replays.swift. Each event is
// encoded once, here, however many read it.

import JSONLines
import MapCamera

/// A line of a camera's subscription.
///
/// Movements match `(moveStarted cameraChanged+)+ idle`, over and over.
public enum CameraEvent: Equatable, Sendable {
    /// The subscription begins, and where the camera is now.
    case subscribed(Subscribed)
    /// The subscription to all cameras begins; this many of them follow, by a ``subscribed(_:)`` each. It comes again,
    /// with missed cameras, to a reader that was too slow for the daemon to announce new ones.
    case subscribedToAll(cameras: Int)
    /// The camera is about to move, and where from. Another one without ``idle(_:)`` says that the reason has changed.
    case moveStarted(CameraMove)
    /// The camera has moved.
    case cameraChanged(CameraMove)
    /// The camera rests; exactly once for each movement, at the position of the last change.
    case idle(CameraMove)
    /// The camera's input; only for subscribers to ``EventKind/gesture``.
    case input(InputLine)
    /// Fingers on a surface that feeds the camera have landed, moved or lifted; only for subscribers to
    /// ``EventKind/touch``.
    case touch(SurfaceTouches)
    /// A replay has set the camera anew; `seq` and clock are those of the place where it goes on.
    case reset(CameraReset)
    /// The state of the replay on the camera has changed; only for subscribers to ``EventKind/replay``.
    case replay(ReplayStatus)
    /// A marker is set; only for subscribers to ``EventKind/marker``.
    case marker(CameraMarker)
    /// Events were missed; the next ones follow from now.
    case lagged(Lagged)
    /// The camera of this name is no more, and the subscription is over.
    case removed(camera: String)
}

/// What moved the camera.
public enum MoveReason: String, Codable, Sendable {
    /// Fingers; a fling, inertia and what a tap does, too.
    case gesture
    /// An animation that a client requested.
    case animation
    /// A command that takes no time.
    case command
}

/// One step of a movement.
public struct CameraMove: Equatable, Sendable {
    /// The camera's name.
    public let camera: String
    /// Counts the camera's events from 1, with no gaps where they arise.
    public let seq: Int
    /// Milliseconds of the camera's clock.
    public let timeMs: Double
    /// What moved it.
    public let reason: MoveReason
    /// Where the camera is.
    public let position: CameraPosition
}

/// What a camera is fed: a line of a trace that makes the same camera.
public struct InputLine: Equatable, Sendable {
    /// The camera's name.
    public let camera: String
    /// Milliseconds of the camera's clock.
    public let timeMs: Double
    /// The line as JSON, without its LF. The first one is a trace's header.
    public let line: String
}

/// A camera that a replay has set anew.
public struct CameraReset: Equatable, Sendable {
    /// The camera's name.
    public let camera: String
    /// The number of the last event that an unbroken replay has sent there, where the next one follows; 0 at its beginning.
    public let seq: Int
    /// The time of that event in milliseconds of the trace's clock, which is now the camera's; 0 before the first.
    public let timeMs: Double
    /// Where the camera is.
    public let position: CameraPosition
    /// What is in the middle of moving it, where the replay goes on within a movement; `nil` at rest.
    public let moving: MoveReason?
    /// What `seq` counts in from now on; `nil` from an older daemon.
    public let epoch: String?
}

extension CameraEvent {
    /// The camera's name; `"*"` in ``subscribedToAll(cameras:)``.
    public var camera: String {
        switch self {
        case .subscribedToAll: Request.allCameras
        case .subscribed(let subscribed): subscribed.camera
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): move.camera
        case .input(let input): input.camera
        case .touch(let touch): touch.camera
        case .reset(let reset): reset.camera
        case .replay(let status): status.camera
        case .marker(let marker): marker.camera
        case .lagged(let lagged): lagged.camera
        case .removed(let camera): camera
        }
    }

    /// Where the camera is; `nil` if it is no more.
    public var position: CameraPosition? {
        switch self {
        case .subscribed(let subscribed): subscribed.position
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): move.position
        case .reset(let reset): reset.position
        case .lagged(let lagged): lagged.position
        case .input, .touch, .replay, .marker, .removed, .subscribedToAll: nil
        }
    }

    /// The number of the camera's last event as of now, where the line tells it.
    public var seq: Int? {
        switch self {
        case .subscribed(let subscribed): subscribed.seq
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): move.seq
        case .reset(let reset): reset.seq
        case .lagged(let lagged): lagged.seq
        case .input, .touch, .replay, .marker, .removed, .subscribedToAll: nil
        }
    }

    /// Milliseconds of the camera's clock, where the line tells them.
    public var timeMs: Double? {
        switch self {
        case .reset(let reset): reset.timeMs
        case .input(let input): input.timeMs
        case .replay(let status): status.timeMs
        case .marker(let marker): marker.timeMs
        case .touch(let touch): touch.timeMs
        default: move?.timeMs
        }
    }

    /// The step, if it is one of a movement.
    public var move: CameraMove? {
        switch self {
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): move
        case .subscribed, .subscribedToAll, .input, .touch, .reset, .replay, .marker, .lagged, .removed: nil
        }
    }

    /// Whether the camera moves from now on; `nil` where the event says nothing of that.
    package var isMoving: Bool? {
        switch self {
        case .moveStarted, .cameraChanged: true
        case .idle: false
        case .reset(let reset): reset.moving != nil
        case .subscribed, .subscribedToAll, .input, .touch, .replay, .marker, .lagged, .removed: nil
        }
    }

    /// The kind, if it is one that a subscriber chooses.
    public var kind: EventKind? {
        switch self {
        case .moveStarted: .moveStarted
        case .cameraChanged: .cameraChanged
        case .idle: .idle
        case .input: .gesture
        case .replay: .replay
        case .marker: .marker
        case .touch: .touch
        case .subscribed, .subscribedToAll, .reset, .lagged, .removed: nil
        }
    }
}

// MARK: Out

/// One event of one camera.
package struct Event: Sendable {
    package enum Kind: Sendable {
        case moveStarted, cameraChanged, idle

        package var mask: EventKinds {
            switch self {
            case .moveStarted: .moveStarted
            case .cameraChanged: .cameraChanged
            case .idle: .idle
            }
        }
    }

    package var kind: Kind
    package var seq: UInt64
    /// Milliseconds of the camera's clock.
    package var timeMs: Double
    package var reason: MoveReason
    package var position: PrintedPosition

    /// What the longest line takes, the camera's name not counted.
    package static let longest = 256 + PrintedPosition.longest

    package init(kind: Kind, seq: UInt64, timeMs: Double, reason: MoveReason, position: PrintedPosition) {
        self.kind = kind
        self.seq = seq
        self.timeMs = timeMs
        self.reason = reason
        self.position = position
    }
}

extension LineRoom {
    /// Writes an event line of a camera, LF included.
    ///
    /// - Parameter view: the text of the camera's view, kept for the next event.
    package mutating func event(_ event: Event, camera: Span<UInt8>, _ view: inout ViewText) {
        switch event.kind {
        case .moveStarted: write("{\"type\":\"move-started\",\"camera\":\"")
        case .cameraChanged: write("{\"type\":\"camera-changed\",\"camera\":\"")
        case .idle: write("{\"type\":\"idle\",\"camera\":\"")
        }
        write(camera)
        write("\",\"seq\":")
        write(event.seq)
        write(",\"timeMs\":")
        write(FixedDecimal(event.timeMs, places: 3))
        switch event.reason {
        case .gesture: write(",\"reason\":\"gesture\",\"position\":")
        case .animation: write(",\"reason\":\"animation\",\"position\":")
        case .command: write(",\"reason\":\"command\",\"position\":")
        }
        view.write(event.position, to: &self)
        write("}\n")
    }
}

extension LineWriter {
    /// Writes the line that tells what a camera is fed: requests of one frame, as a line of a trace.
    package mutating func input(_ frame: [Request.Body], camera: String, timeMs: Double) {
        openInput(camera, timeMs)
        requests(frame, timeMs: timeMs)
        write("}\n")
    }

    /// Writes the line that tells how a trace of what a camera is fed begins.
    package mutating func input(_ header: TraceHeader, camera: String, timeMs: Double) {
        openInput(camera, timeMs)
        request(.trace(header))
        write("}\n")
    }

    private mutating func openInput(_ camera: String, _ timeMs: Double) {
        write("{\"type\":\"gesture\",\"camera\":")
        write(string: camera)
        write(",\"timeMs\":")
        write(FixedDecimal(timeMs, places: 3))
        write(",\"line\":")
    }

    /// Writes the line that tells of a replay's new camera. The epoch stands last: all before it follows from the trace.
    ///
    /// - Parameters:
    ///   - seq: the number of the last event of an unbroken replay.
    ///   - timeMs: its time.
    ///   - moving: why the camera moves, where that is in the middle of a movement.
    package mutating func reset(
        camera: String, seq: UInt64 = 0, timeMs: Double = 0, position: PrintedPosition, moving: MoveReason? = nil,
        epoch: String
    ) {
        write("{\"type\":\"reset\",\"camera\":")
        write(string: camera)
        member("seq", seq)
        member("timeMs", timeMs, places: 3)
        member("position", position)
        if let moving { member("moving", moving.rawValue) }
        write(",\"epoch\":")
        write(string: epoch)
        write("}\n")
    }
}

// MARK: In

extension MoveReason: MessageReadable {}

extension CameraMove: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        camera = try members.get("camera")
        seq = try members.get("seq")
        timeMs = try members.get("timeMs")
        reason = try members.get("reason")
        position = try members.get("position")
    }
}

extension CameraReset: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        camera = try members.get("camera")
        seq = try members.get("seq")
        timeMs = try members.get("timeMs")
        position = try members.get("position")
        moving = try members.get(ifPresent: "moving")
        epoch = try members.get(ifPresent: "epoch")
    }
}

extension CameraEvent {
    /// Reads an event of a type; `nil` if the type is none of an event.
    init?(_ type: MessageType, _ json: JSONValue, of line: [UInt8]) throws(DecodingError) {
        switch type {
        case .subscribed:
            let members = try json.members()
            if try members.get("camera") == Request.allCameras {
                self = .subscribedToAll(cameras: try members.get("cameras"))
            } else {
                self = .subscribed(try Subscribed(json))
            }
        case .moveStarted: self = .moveStarted(try CameraMove(json))
        case .cameraChanged: self = .cameraChanged(try CameraMove(json))
        case .idle: self = .idle(try CameraMove(json))
        case .gesture: self = .input(try InputLine(json, of: line))
        case .touch: self = .touch(try SurfaceTouches(json))
        case .reset: self = .reset(try CameraReset(json))
        case .replay: self = .replay(try ReplayStatus(json))
        case .marker: self = .marker(try CameraMarker(json))
        case .lagged: self = .lagged(try Lagged(json))
        case .removed: self = .removed(camera: try json.members().get("camera"))
        case .camera, .cameraForBounds, .point, .coordinate, .visibleRegion, .cameras, .stats, .clients, .atRest,
            .traceEnded, .hello, .pong, .ok, .error:
            return nil
        }
    }
}

extension InputLine {
    fileprivate init(_ json: JSONValue, of line: [UInt8]) throws(DecodingError) {
        let members = try json.members()
        camera = try members.get("camera")
        timeMs = try members.get("timeMs")
        guard let text = members.text(of: "line") else { throw .wrong("line is missing") }
        self.line = String(decoding: line[text], as: UTF8.self)
    }
}
