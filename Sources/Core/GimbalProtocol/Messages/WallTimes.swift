// Wall-clock times, by which machines with synchronized clocks show the same picture: `present`, a camera's future
// position, and `clock`, the reading of a camera's clock (schema: client.present, server.present, server.clock).

import MapCamera

/// A wall-clock time. Messages have it in milliseconds, with at most three decimals.
public struct WallTime: Hashable, Comparable, Codable, Sendable {
    /// Microseconds since 1970-01-01 00:00 UTC as the system counts them (POSIX: `CLOCK_REALTIME`), without leap
    /// seconds: the clock repeats or stretches one.
    public var microseconds: Int

    /// Creates a time from microseconds since 1970.
    public init(microseconds: Int) { self.microseconds = microseconds }

    /// Creates a time from milliseconds since 1970; `nil` if out of range.
    fileprivate init?(milliseconds: Double) {
        guard ClosedRange.times ~= milliseconds else { return nil }
        microseconds = Int((milliseconds * 1000).rounded())
    }

    /// Milliseconds since 1970.
    fileprivate var milliseconds: Double { Double(microseconds) / 1000 }

    /// Returns the milliseconds from another time to this one.
    public func milliseconds(since other: WallTime) -> Double { Double(microseconds - other.microseconds) / 1000 }

    /// Returns the time so many milliseconds later, rounded to microseconds.
    public func adding(milliseconds: Double) -> WallTime {
        WallTime(microseconds: microseconds + Int((milliseconds * 1000).rounded()))
    }

    /// Whether the first time is before the second.
    public static func < (a: WallTime, b: WallTime) -> Bool { a.microseconds < b.microseconds }

    private static let framesPerSecond = 60

    /// The time of the first frame that is not before this time; frames are numbered from 1970 on.
    package var nextFrame: WallTime {
        var number = microseconds * Self.framesPerSecond / 1_000_000
        func time() -> WallTime { WallTime(microseconds: number * 1_000_000 / Self.framesPerSecond) }
        while time() < self { number += 1 }
        return time()
    }

    /// The time of the last frame that is not after this time.
    package var lastFrame: WallTime {
        let next = nextFrame
        return next == self ? self : WallTime(microseconds: microseconds - 1_000_000 / Self.framesPerSecond).nextFrame
    }
}

/// A camera's position at a time. (The request `present`.)
public struct Presentation: Equatable, Sendable {
    /// The time.
    public var presentAt: WallTime
    /// The position.
    public var position: CameraPosition
    /// Whether the camera then moves on, straight to its next position; otherwise it rests there.
    public var isMoving: Bool

    /// Creates a position at a time.
    public init(_ position: CameraPosition, at presentAt: WallTime, isMoving: Bool) {
        (self.position, self.presentAt, self.isMoving) = (position, presentAt, isMoving)
    }

    /// The longest way between two positions, in milliseconds: after a finger's rest, the camera waits at the first.
    private static let longestWay = 50.0

    /// Returns when the camera leaves this position for the next.
    private func wayStart(to next: Presentation) -> WallTime {
        max(presentAt, next.presentAt.adding(milliseconds: -Self.longestWay))
    }

    /// Returns where a camera that moves from here to the next position is at a time before that position's.
    package func position(at time: WallTime, onWayTo next: Presentation) -> CameraPosition {
        let start = wayStart(to: next)
        guard time > start else { return position }
        return position.toward(
            next.position, time.milliseconds(since: start) / next.presentAt.milliseconds(since: start))
    }

    /// Returns when a camera that was shown on its way from here to the next position is to be shown again.
    package func nextFrame(after shown: WallTime, onWayTo next: Presentation) -> WallTime {
        guard isMoving else { return next.isMoving ? next.presentAt.nextFrame : next.presentAt }
        let frame = WallTime(microseconds: max(shown, wayStart(to: next)).microseconds + 1).nextFrame
        return next.isMoving ? frame : min(frame, next.presentAt)
    }
}

/// A camera's position at a time, for subscribers. (The message `present`.)
public struct CameraPresentation: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// The position and time, which replace all sent for that time or later; `nil` cancels everything sent.
    public package(set) var presentation: Presentation?

    package init(camera: String, presentation: Presentation?) {
        (self.camera, self.presentation) = (camera, presentation)
    }
}

/// The wall-clock time of a time of the camera's clock. (The message `clock`.)
public struct CameraClock: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// Milliseconds of the camera's clock.
    public package(set) var timeMs: Double
    /// The same instant on the wall clock.
    public package(set) var wallTime: WallTime

    package init(camera: String, timeMs: Double, wallTime: WallTime) {
        (self.camera, self.timeMs, self.wallTime) = (camera, timeMs, wallTime)
    }

    /// Returns the wall-clock time of another time of the camera's clock.
    public func wallTime(of timeMs: Double) -> WallTime { wallTime.adding(milliseconds: timeMs - self.timeMs) }
}

// MARK: Members

package struct WallTimeRule: MemberRule {
    private let milliseconds = NumberRule(range: .ofTraces, places: 3)

    package static var asksForIntegers: Bool { false }
    package func read(_ json: JSONValue) -> WallTime? {
        milliseconds.read(json).flatMap(WallTime.init(milliseconds:))
    }
    package func allows(_ value: WallTime) -> Bool { milliseconds.allows(value.milliseconds) }
    package func write(_ value: WallTime, to line: inout LineWriter) {
        line.write(FixedDecimal(value.milliseconds, places: 3))
    }
    package var wanted: String { "\(milliseconds.wanted): milliseconds since 1970" }
    package var hint: String { "it is in milliseconds since 1970" }
}

extension MemberRule where Self == WallTimeRule {
    package static var wallTime: Self { WallTimeRule() }
}

extension Presentation: Described {
    package static let blank = Presentation(.blank, at: WallTime(microseconds: 0), isMoving: false)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.presentAt, &presentAt, .wallTime)
        try visitor.object(.position, &position)
        try visitor.member(.moving, &isMoving, .flag, unless: false)
    }
}

extension CameraPresentation: Described {
    package static let blank = CameraPresentation(camera: "", presentation: nil)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.object(.presentation, &presentation)
    }
}

extension CameraClock: Described {
    package static let blank = CameraClock(camera: "", timeMs: 0, wallTime: WallTime(microseconds: 0))

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.timeMs, &timeMs, .time)
        try visitor.member(.wallTime, &wallTime, .wallTime)
    }
}
