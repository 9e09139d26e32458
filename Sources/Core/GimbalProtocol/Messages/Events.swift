// The events of a camera: `move-started`, `camera-changed`, `idle`, `reset`, and `gesture`, its input (schema:
// server.move-started and so on). `touch` is in Touches.swift, `replay` and `marker` are in Replays.swift. Each event
// is encoded here once, for all its subscribers.

import MapCamera

/// A line of a camera's subscription.
///
/// Movements match `(moveStarted cameraChanged+)+ idle`, over and over.
public enum CameraEvent: Equatable, Sendable {
    /// The beginning of the subscription, with the camera's current position.
    case subscribed(Subscribed)
    /// The beginning of a subscription to all cameras; a ``subscribed(_:)`` for each of them follows. A subscriber that
    /// reads too slowly to be told of new cameras gets it again.
    case subscribedToAll(cameras: Int)
    /// The camera is about to move from this position. A second one before ``idle(_:)`` means that the reason has
    /// changed.
    case moveStarted(CameraMove)
    /// The camera has moved.
    case cameraChanged(CameraMove)
    /// The camera is at rest, at the position of the last change; sent exactly once per movement.
    case idle(CameraMove)
    /// The camera's input; only for subscribers to ``EventKind/gesture``.
    case input(InputLine)
    /// Fingers on a surface that feeds the camera have landed, moved or lifted; only for subscribers to
    /// ``EventKind/touch``.
    case touch(SurfaceTouches)
    /// A replay has reset the camera; `seq` and clock are those of the place where it resumes.
    case reset(CameraReset)
    /// The state of the replay on the camera has changed; only for subscribers to ``EventKind/replay``.
    case replay(ReplayStatus)
    /// A marker is set; only for subscribers to ``EventKind/marker``.
    case marker(CameraMarker)
    /// A client has taken or prolonged a lease of the camera; only for subscribers to ``EventKind/lease``.
    case leaseTaken(CameraLease)
    /// The lease of the camera has ended; only for subscribers to ``EventKind/lease``.
    case leaseEnded(LeaseEnd)
    /// Relates the camera's clock to the wall clock; only for subscribers to ``EventKind/clock``.
    case clock(CameraClock)
    /// A motion of the camera has begun or ended. It has no ``seq``.
    case motion(CameraMotion)
    /// A client has sent a position for a time of the wall clock. It has no ``seq``.
    case present(CameraPresentation)
    /// The subscriber has missed events; the next ones start from now.
    case lagged(Lagged)
    /// The camera of this name was removed, and the subscription has ended.
    case removed(camera: String)
}

/// The cause of a movement.
public enum MoveReason: String, CaseIterable, Codable, Sendable, ProtocolWord {
    /// Fingers, including flings, inertia and the effects of taps.
    case gesture
    /// An animation requested by a client.
    case animation
    /// A command with an immediate effect.
    case command
    /// The flight home of an idle camera.
    case home
    /// A trace that the daemon plays on an idle camera, and the flight to its beginning.
    case attract
}

/// One step of a movement.
public struct CameraMove: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// The number of the event, from 1; the camera numbers its events without gaps.
    public package(set) var seq: Int
    /// Milliseconds of the camera's clock.
    public package(set) var timeMs: Double
    /// What moved it.
    public package(set) var reason: MoveReason
    /// Where the camera is.
    public package(set) var position: CameraPosition
}

/// A line of a camera's input. Together, these lines are a trace that makes the same camera.
public struct InputLine: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// Milliseconds of the camera's clock.
    public package(set) var timeMs: Double
    /// The line as JSON, without its LF. The first line is a trace's header.
    public package(set) var line: String
}

/// A camera that a replay has reset.
public struct CameraReset: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// The number of the last event that an unbroken replay would have sent up to there; 0 at its beginning.
    public package(set) var seq: Int
    /// The time of that event in milliseconds of the trace's clock, which becomes the camera's; 0 before the first
    /// event.
    public package(set) var timeMs: Double
    /// Where the camera is.
    public package(set) var position: CameraPosition
    /// The reason of the movement in which the replay resumes; `nil` at rest.
    public package(set) var moving: MoveReason?
    /// The new epoch of `seq`; `nil` from an older daemon.
    public package(set) var epoch: String?
}

extension CameraEvent {
    /// The camera's name; `"*"` in ``subscribedToAll(cameras:)``.
    public var camera: String { facts.camera }

    /// The camera's position; `nil` for events without one.
    public var position: CameraPosition? { facts.position }

    /// The number of the camera's last event; `nil` for events without it.
    public var seq: Int? { facts.seq }

    /// Milliseconds of the camera's clock; `nil` for events without a time.
    public var timeMs: Double? { facts.timeMs }

    /// The type of its line.
    var type: MessageType { facts.type }

    /// Its type, and what it has in common with other events, as far as it has it.
    @inline(__always)
    private var facts: (type: MessageType, camera: String, timeMs: Double?, seq: Int?, position: CameraPosition?) {
        switch self {
        case .subscribed(let subscribed): (.subscribed, subscribed.camera, nil, subscribed.seq, subscribed.position)
        case .subscribedToAll: (.subscribed, Request.allCameras, nil, nil, nil)
        case .moveStarted(let move): (.moveStarted, move.camera, move.timeMs, move.seq, move.position)
        case .cameraChanged(let move): (.cameraChanged, move.camera, move.timeMs, move.seq, move.position)
        case .idle(let move): (.idle, move.camera, move.timeMs, move.seq, move.position)
        case .input(let input): (.gesture, input.camera, input.timeMs, nil, nil)
        case .touch(let touch): (.touch, touch.camera, touch.timeMs, nil, nil)
        case .reset(let reset): (.reset, reset.camera, reset.timeMs, reset.seq, reset.position)
        case .replay(let status): (.replay, status.camera, status.timeMs, nil, nil)
        case .marker(let marker): (.marker, marker.camera, marker.timeMs, nil, nil)
        case .leaseTaken(let lease): (.leaseTaken, lease.camera, lease.timeMs, nil, nil)
        case .leaseEnded(let end): (.leaseEnded, end.camera, end.timeMs, nil, nil)
        case .clock(let clock): (.clock, clock.camera, clock.timeMs, nil, nil)
        case .motion(let motion): (.motion, motion.camera, motion.timeMs, nil, nil)
        case .present(let told): (.present, told.camera, nil, nil, nil)
        case .lagged(let lagged): (.lagged, lagged.camera, nil, lagged.seq, lagged.position)
        case .removed(let camera): (.removed, camera, nil, nil, nil)
        }
    }

    /// The step, if the event is part of a movement.
    public var move: CameraMove? {
        switch self {
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): move
        default: nil
        }
    }

    /// Whether the camera is moving after this event; `nil` if the event does not say.
    package var isMoving: Bool? {
        switch self {
        case .moveStarted, .cameraChanged: true
        case .idle: false
        case .reset(let reset): reset.moving != nil
        default: nil
        }
    }

    /// The kind, if subscribers can choose it.
    public var kind: EventKind? { type.eventKind }
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

    /// The length of the longest line in bytes, not counting the camera's name.
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
    /// - Parameter view: the text of the camera's view, cached for the next event.
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
        case .home: write(",\"reason\":\"home\",\"position\":")
        case .attract: write(",\"reason\":\"attract\",\"position\":")
        }
        view.write(event.position, to: &self)
        write("}\n")
    }
}

extension LineWriter {
    /// Writes a line of a camera's input: a request or a batch, as a line of a trace.
    package mutating func input(_ batch: [ClientRequest], camera: String, timeMs: Double) {
        openInput(camera, timeMs)
        requests(batch, timeMs: timeMs)
        close()
    }

    /// Writes the first line of a camera's input, the header of its trace.
    package mutating func input(_ header: TraceHeader, camera: String, timeMs: Double) {
        openInput(camera, timeMs)
        request(.trace(header))
        close()
    }

    private mutating func openInput(_ camera: String, _ timeMs: Double) {
        isRounded = true
        var (camera, timeMs) = (camera, timeMs)
        open(.gesture, Span())
        member(.camera, &camera, .cameraName)
        member(.timeMs, &timeMs, .time)
        member(.line)
    }
}

// MARK: Members

extension CameraMove: Described {
    package static let blank = CameraMove(camera: "", seq: 0, timeMs: 0, reason: .gesture, position: .blank)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.seq, &seq, .seq)
        try visitor.member(.timeMs, &timeMs, .time)
        try visitor.member(.reason, &reason, WordRule())
        try visitor.object(.position, &position)
    }
}

extension CameraReset: Described {
    package static let blank = CameraReset(camera: "", position: .blank, epoch: nil)

    /// - Parameters:
    ///   - seq: the number of the last event of an unbroken replay.
    ///   - timeMs: the time of that event.
    ///   - moving: the reason, in the middle of a movement.
    package init(
        camera: String, seq: UInt64 = 0, timeMs: Double = 0, position: CameraPosition, moving: MoveReason? = nil,
        epoch: String?
    ) {
        (self.camera, self.seq, self.timeMs) = (camera, Int(clamping: seq), timeMs)
        (self.position, self.moving, self.epoch) = (position, moving, epoch)
    }

    /// The epoch comes last: everything before it depends only on the trace.
    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.seq, &seq, .seq)
        try visitor.member(.timeMs, &timeMs, .time)
        try visitor.object(.position, &position)
        try visitor.member(.moving, &moving, WordRule())
        try visitor.member(.epoch, &epoch, .text())
    }
}

extension CameraEvent {
    /// One of each type, before its members are read.
    static let blanks: [CameraEvent] = [
        .subscribed(.blank), .moveStarted(.blank), .cameraChanged(.blank), .idle(.blank),
        .input(InputLine(camera: "", timeMs: 0, line: "")), .touch(.blank), .reset(.blank), .replay(.blank),
        .marker(.blank), .leaseTaken(.blank), .leaseEnded(.blank), .clock(.blank), .motion(.blank), .present(.blank),
        .lagged(.blank), .removed(camera: ""),
    ]

    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        switch self {
        case .subscribed(let value): self = .subscribed(try described(value, by: &visitor))
        case .subscribedToAll(var count):
            var camera = Request.allCameras
            try visitor.member(.camera, &camera, .text())
            try visitor.member(.cameras, &count, .count)
            self = .subscribedToAll(cameras: count)
        case .moveStarted(let value): self = .moveStarted(try described(value, by: &visitor))
        case .cameraChanged(let value): self = .cameraChanged(try described(value, by: &visitor))
        case .idle(let value): self = .idle(try described(value, by: &visitor))
        case .input(var input):
            // The line itself is written and read verbatim.
            try visitor.member(.camera, &input.camera, .cameraName)
            try visitor.member(.timeMs, &input.timeMs, .time)
            self = .input(input)
        case .touch(let value): self = .touch(try described(value, by: &visitor))
        case .reset(let value): self = .reset(try described(value, by: &visitor))
        case .replay(let value): self = .replay(try described(value, by: &visitor))
        case .marker(let value): self = .marker(try described(value, by: &visitor))
        case .leaseTaken(let value): self = .leaseTaken(try described(value, by: &visitor))
        case .leaseEnded(let value): self = .leaseEnded(try described(value, by: &visitor))
        case .clock(let value): self = .clock(try described(value, by: &visitor))
        case .motion(let value): self = .motion(try described(value, by: &visitor))
        case .present(let value): self = .present(try described(value, by: &visitor))
        case .lagged(let value): self = .lagged(try described(value, by: &visitor))
        case .removed(var camera):
            try visitor.member(.camera, &camera, .cameraName)
            self = .removed(camera: camera)
        }
    }
}

/// Shows a visitor the members of a value, and returns the result.
func described<Value: Described, V: MemberVisitor & ~Copyable>(
    _ value: Value, by visitor: inout V
) throws(V.Failure) -> Value {
    var value = value
    try value.describe(&visitor)
    return value
}
