// `motion` (schema: server.motion): the start of a motion without input, so that clients can compute the camera's
// position at any time themselves.

import MapCamera

/// The start or the end of a motion without input. (The message `motion`.)
public struct CameraMotion: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// The start, or the last frame of a motion that has ended, in milliseconds of the camera's clock.
    public package(set) var timeMs: Double
    /// The start of the motion; `nil` if the camera no longer moves on its own.
    public package(set) var motion: MotionStart?

    package init(camera: String, timeMs: Double, motion: MotionStart?) {
        (self.camera, self.timeMs, self.motion) = (camera, timeMs, motion)
    }
}

/// The start of a motion: everything that its frames depend on. (Part of the message `motion`.)
public struct MotionStart: Equatable, Sendable {
    /// The wall-clock time of the start.
    public package(set) var wallTime: WallTime
    /// The camera's position at the start.
    public package(set) var position: CameraPosition
    /// The camera's settings: viewport, zoom range and target bounds.
    public package(set) var setup: CameraSetup
    /// The cause of the motion.
    public package(set) var cause: MotionCause

    package init(at wallTime: WallTime, _ position: CameraPosition, _ setup: CameraSetup, _ cause: MotionCause) {
        (self.wallTime, self.position, self.cause) = (wallTime, position, cause)
        self.setup = CameraSetup(
            viewport: setup.viewport, zoomRange: setup.zoomRange, targetBounds: setup.targetBounds)
    }

    /// The camera's positions at the start and in each following frame.
    public var frames: MotionFrames { MotionFrames(self) }

    /// The camera's position at a time, and before the start that at the start, as on the way.
    package func position(at time: WallTime) -> Presentation {
        var frames = frames
        frames.skip(to: time)
        if let next = frames.nextTime, next <= time { _ = frames.next() }
        return Presentation(frames.camera.position, at: max(time, wallTime), isMoving: true)
    }
}

/// What moves a camera without input.
public enum MotionCause: Equatable, Sendable {
    /// ``ClientRequest/animate(_:durationMs:easing:)``, ``ClientRequest/fly(_:_:durationMs:easing:)`` or
    /// ``ClientRequest/tour(_:)``; no other request.
    case request(ClientRequest)
    /// Fingers that have left the screen.
    case glide(Momentum)

    /// Returns the motion of a camera that starts at a time in milliseconds; `nil` if the camera would not move.
    package func motion(of camera: Camera, at time: Double) -> Motion? {
        switch self {
        case .request(.animate(let update, let duration, let easing)):
            CameraAnimation(update, of: camera, duration: duration, easing: easing.easing)
                .map { Motion($0, at: time) }
        case .request(.fly(let update, let flight, let duration, let easing)):
            CameraAnimation(update, of: camera, flight: flight, duration: duration, easing: easing.easing)
                .map { Motion($0, at: time) }
        case .request(.tour(let keyframes)): Tour(keyframes.map(\.stop), of: camera).map { Motion($0, at: time) }
        case .request: nil
        case .glide(let momentum): Glide(momentum, of: camera).map { Motion($0, at: time) }
        }
    }

    /// The camera update of an animation or a flight.
    package var update: CameraUpdate? {
        switch self {
        case .request(.animate(let update, _, _)), .request(.fly(let update, _, _, _)): update
        default: nil
        }
    }
}

/// The camera's positions at the start of a motion and in its frames, 1000/60 ms apart; a tour's waits have none.
public struct MotionFrames: Sequence, IteratorProtocol {
    /// The camera's position at a time, and whether it stays there.
    public typealias Element = Presentation

    private let start: WallTime
    private var isAtStart = true
    fileprivate var camera: Camera
    private var motion: Motion?

    fileprivate init(_ start: MotionStart) {
        self.start = start.wallTime
        camera = Camera(position: start.position, start.setup)
        motion = start.cause.motion(of: camera, at: 0)
    }

    /// The time of the next frame; `nil` after the last.
    public var nextTime: WallTime? {
        isAtStart ? start : motion.map { start.adding(milliseconds: $0.nextFrame) }
    }

    /// Skips the frames before a time, but never the final one.
    public mutating func skip(to time: WallTime) {
        let elapsed = time.milliseconds(since: start)
        guard let first = motion?.nextFrame, first < elapsed else { return }
        isAtStart = false
        motion?.skip(to: elapsed, &camera)
    }

    /// Returns the next frame; `nil` after the last.
    public mutating func next() -> Presentation? {
        guard let time = nextTime else { return nil }
        if isAtStart {
            isAtStart = false
        } else if motion?.step(&camera) != true {
            motion = nil
        }
        return Presentation(camera.position, at: time, isMoving: motion != nil)
    }
}

// MARK: Members

extension CameraMotion: Described {
    package static let blank = CameraMotion(camera: "", timeMs: 0, motion: nil)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.timeMs, &timeMs, .time)
        try visitor.object(.motion, &motion)
    }
}

extension MotionStart: Described {
    package static let blank = MotionStart(
        at: WallTime(microseconds: 0), .blank, .blank, .glide(.blank))

    /// Rounded numbers would produce other frames than the daemon's.
    package static var isInput: Bool { true }
    package var isPossible: Bool { position.isPossible && setup.isPossible }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        var (request, glide): (MotionRequest?, Momentum?)
        switch cause {
        case .request(let known): request = MotionRequest(known)
        case .glide(let known): glide = known
        }
        try visitor.member(.wallTime, &wallTime, .wallTime)
        try setup.describeView(&visitor, &position)
        try visitor.object(.request, &request)
        try visitor.object(.glide, &glide)
        let isOne = (request == nil) != (glide == nil)
        try visitor.check(isOne) { path in .missing(path / .request, "a motion has either request or glide") }
        cause = request.map { .request($0.request) } ?? .glide(glide ?? .blank)
    }
}

/// A request that moves a camera over a time.
private struct MotionRequest: Described {
    private enum Kind: String, ProtocolWord { case animate, tour }

    var request: ClientRequest

    init(_ request: ClientRequest) { self.request = request }

    static let blank = MotionRequest(.animate(.blank))

    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        var kind: Kind = if case .tour = request { .tour } else { .animate }
        let known = kind
        try visitor.member(.type, &kind, WordRule(isQuoted: true))
        if kind != known { request = .tour([]) }
        try request.describe(&visitor)
    }
}

extension Momentum: Described {
    package static let blank = Momentum()

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.object(.focus, &focus)
        try visitor.object(.velocity, &pan)
        try visitor.object(.anchor, &anchor)
        try visitor.member(.zoom, &zoom, .number())
        try visitor.member(.bearing, &bearing, .number())
    }
}
