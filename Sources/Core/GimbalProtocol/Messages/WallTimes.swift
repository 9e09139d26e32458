// Times of the wall clock, by which machines whose clocks agree show one picture at one time: `present`, where a camera is to be
// at such a time, and `clock`, which such time a camera's own clock means (schema: client.present, server.present, server.clock).

import JSONLines
import MapCamera

/// A time of the wall clock. In a message it is in milliseconds, with three decimals at the most.
public struct WallTime: Hashable, Comparable, Codable, Sendable {
    /// Microseconds since 1970-01-01 00:00 UTC as the system counts them (POSIX: `CLOCK_REALTIME`), which has no leap seconds:
    /// the clock repeats or stretches one.
    public var microseconds: Int

    /// A time of so many microseconds since 1970.
    public init(microseconds: Int) { self.microseconds = microseconds }

    /// A time of so many milliseconds since 1970; `nil` for one that no clock has.
    fileprivate init?(milliseconds: Double) {
        guard ClosedRange.times ~= milliseconds else { return nil }
        microseconds = Int((milliseconds * 1000).rounded())
    }

    /// Milliseconds since 1970.
    fileprivate var milliseconds: Double { Double(microseconds) / 1000 }

    /// The milliseconds from another time to this one.
    public func milliseconds(since other: WallTime) -> Double { Double(microseconds - other.microseconds) / 1000 }

    /// The time so many milliseconds later, to the microsecond.
    public func adding(milliseconds: Double) -> WallTime {
        WallTime(microseconds: microseconds + Int((milliseconds * 1000).rounded()))
    }

    /// Whether a time is before another.
    public static func < (a: WallTime, b: WallTime) -> Bool { a.microseconds < b.microseconds }
}

/// Where a camera is to be at a time. (The request `present`.)
public struct Presentation: Equatable, Sendable {
    /// The time at which it is to be there.
    public var presentAt: WallTime
    /// Where it is to be.
    public var position: CameraPosition
    /// Whether it moves on from there, straight to where it is to be next; otherwise it rests there.
    public var isMoving: Bool

    /// A position at a time.
    public init(_ position: CameraPosition, at presentAt: WallTime, isMoving: Bool) {
        (self.position, self.presentAt, self.isMoving) = (position, presentAt, isMoving)
    }
}

/// Where a camera is to be at a time, as its subscribers are told. (The message `present`.)
public struct CameraPresentation: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// Where it is to be, in place of all that was told for that time or later; `nil` if nothing that was told counts any more.
    public package(set) var presentation: Presentation?

    package init(camera: String, presentation: Presentation?) {
        (self.camera, self.presentation) = (camera, presentation)
    }
}

/// Which time of the wall clock a time of a camera's clock is. (The message `clock`.)
public struct CameraClock: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// Milliseconds of the camera's clock.
    public package(set) var timeMs: Double
    /// The same time of the wall clock.
    public package(set) var wallTime: WallTime

    package init(camera: String, timeMs: Double, wallTime: WallTime) {
        (self.camera, self.timeMs, self.wallTime) = (camera, timeMs, wallTime)
    }

    /// The time of the wall clock that another time of the camera's clock is.
    public func wallTime(of timeMs: Double) -> WallTime { wallTime.adding(milliseconds: timeMs - self.timeMs) }
}

// MARK: Members

struct WallTimeRule: MemberRule {
    private let milliseconds = NumberRule(range: .ofTraces, places: 3)

    static var asksForIntegers: Bool { false }
    func read(_ scalar: JSONScalar) -> WallTime? {
        milliseconds.read(scalar).flatMap(WallTime.init(milliseconds:))
    }
    func allows(_ value: WallTime) -> Bool { milliseconds.allows(value.milliseconds) }
    func write(_ value: WallTime, to line: inout LineWriter) { line.write(value) }
    var wanted: String { "\(milliseconds.wanted): milliseconds since 1970" }
    var hint: String { "it is in milliseconds since 1970" }
}

extension LineWriter {
    /// Writes a time as messages have it.
    package mutating func write(_ time: WallTime) { write(FixedDecimal(time.milliseconds, places: 3)) }
}

extension WallTime {
    /// Reads a time as messages have it; `nil` if it is none.
    package init?(_ json: JSONValue) {
        guard let number = json.number else { return nil }
        self.init(milliseconds: number)
    }
}

extension MemberRule where Self == WallTimeRule {
    static var wallTime: Self { WallTimeRule() }
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
