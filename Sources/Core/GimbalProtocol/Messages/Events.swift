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
    /// A client has taken a lease of the camera, or prolonged it; only for subscribers to ``EventKind/lease``.
    case leaseTaken(CameraLease)
    /// The lease of the camera has ended; only for subscribers to ``EventKind/lease``.
    case leaseEnded(LeaseEnd)
    /// Which time of the wall clock a time of the camera's clock is; only for subscribers to ``EventKind/clock``.
    case clock(CameraClock)
    /// Something moves the camera by itself from now on, or does no more. It has no ``seq``.
    case motion(CameraMotion)
    /// A client has told where the camera is to be at a time of the wall clock. It has no ``seq``.
    case present(CameraPresentation)
    /// Events were missed; the next ones follow from now.
    case lagged(Lagged)
    /// The camera of this name is no more, and the subscription is over.
    case removed(camera: String)
}

/// What moved the camera.
public enum MoveReason: String, CaseIterable, Codable, Sendable, ProtocolWord {
    /// Fingers; a fling, inertia and what a tap does, too.
    case gesture
    /// An animation that a client requested.
    case animation
    /// A command that takes no time.
    case command
    /// The camera's way home, once nothing has moved it for a time.
    case home
    /// A trace that the daemon plays by itself then, and the way to its beginning.
    case attract
}

/// One step of a movement.
public struct CameraMove: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// Counts the camera's events from 1, with no gaps where they arise.
    public package(set) var seq: Int
    /// Milliseconds of the camera's clock.
    public package(set) var timeMs: Double
    /// What moved it.
    public package(set) var reason: MoveReason
    /// Where the camera is.
    public package(set) var position: CameraPosition
}

/// What a camera is fed: a line of a trace that makes the same camera.
public struct InputLine: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// Milliseconds of the camera's clock.
    public package(set) var timeMs: Double
    /// The line as JSON, without its LF. The first one is a trace's header.
    public package(set) var line: String
}

/// A camera that a replay has set anew.
public struct CameraReset: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// The number of the last event that an unbroken replay has sent there, where the next one follows; 0 at its beginning.
    public package(set) var seq: Int
    /// The time of that event in milliseconds of the trace's clock, which is now the camera's; 0 before the first.
    public package(set) var timeMs: Double
    /// Where the camera is.
    public package(set) var position: CameraPosition
    /// What is in the middle of moving it, where the replay goes on within a movement; `nil` at rest.
    public package(set) var moving: MoveReason?
    /// What `seq` counts in from now on; `nil` from an older daemon.
    public package(set) var epoch: String?
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
        case .leaseTaken(let lease): lease.camera
        case .leaseEnded(let end): end.camera
        case .clock(let clock): clock.camera
        case .motion(let motion): motion.camera
        case .present(let told): told.camera
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
        default: nil
        }
    }

    /// The number of the camera's last event as of now, where the line tells it.
    public var seq: Int? {
        switch self {
        case .subscribed(let subscribed): subscribed.seq
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): move.seq
        case .reset(let reset): reset.seq
        case .lagged(let lagged): lagged.seq
        default: nil
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
        case .leaseTaken(let lease): lease.timeMs
        case .leaseEnded(let end): end.timeMs
        case .clock(let clock): clock.timeMs
        case .motion(let motion): motion.timeMs
        default: move?.timeMs
        }
    }

    /// The step, if it is one of a movement.
    public var move: CameraMove? {
        switch self {
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): move
        default: nil
        }
    }

    /// Whether the camera moves from now on; `nil` where the event says nothing of that.
    package var isMoving: Bool? {
        switch self {
        case .moveStarted, .cameraChanged: true
        case .idle: false
        case .reset(let reset): reset.moving != nil
        default: nil
        }
    }

    /// The kind, if it is one that a subscriber chooses.
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
        case .home: write(",\"reason\":\"home\",\"position\":")
        case .attract: write(",\"reason\":\"attract\",\"position\":")
        }
        view.write(event.position, to: &self)
        write("}\n")
    }
}

extension LineWriter {
    /// Writes the line that tells what a camera is fed: requests of one frame, as a line of a trace.
    package mutating func input(_ frame: [ClientRequest], camera: String, timeMs: Double) {
        openInput(camera, timeMs)
        requests(frame, timeMs: timeMs)
        close()
    }

    /// Writes the line that tells how a trace of what a camera is fed begins.
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
    ///   - timeMs: its time.
    ///   - moving: why the camera moves, where that is in the middle of a movement.
    package init(
        camera: String, seq: UInt64 = 0, timeMs: Double = 0, position: CameraPosition, moving: MoveReason? = nil,
        epoch: String?
    ) {
        (self.camera, self.seq, self.timeMs) = (camera, Int(clamping: seq), timeMs)
        (self.position, self.moving, self.epoch) = (position, moving, epoch)
    }

    /// The epoch stands last: all before it follows from the trace.
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
    var type: MessageType {
        switch self {
        case .subscribed, .subscribedToAll: .subscribed
        case .moveStarted: .moveStarted
        case .cameraChanged: .cameraChanged
        case .idle: .idle
        case .input: .gesture
        case .touch: .touch
        case .reset: .reset
        case .replay: .replay
        case .marker: .marker
        case .leaseTaken: .leaseTaken
        case .leaseEnded: .leaseEnded
        case .clock: .clock
        case .motion: .motion
        case .present: .present
        case .lagged: .lagged
        case .removed: .removed
        }
    }

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
            // Its line is written and read as it stands.
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

/// A value after a visitor has been shown its members.
func described<Value: Described, V: MemberVisitor & ~Copyable>(
    _ value: Value, by visitor: inout V
) throws(V.Failure) -> Value {
    var value = value
    try value.describe(&visitor)
    return value
}
