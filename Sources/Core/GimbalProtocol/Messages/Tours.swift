// `tour` (schema: client.tour): a camera's way through a series of keyframes.

import MapCamera

/// A stop of a tour: its position, how the camera gets there, and how long it stays.
public struct TourKeyframe: Equatable, Sendable {
    /// How the camera gets from the previous keyframe to this one.
    public enum Path: String, CaseIterable, Sendable, ProtocolWord {
        /// On a smooth line through this keyframe and its neighbours, which only stops where there is a wait.
        case smooth
        /// Each value separately, as an animation.
        case straight
        /// Out, over and in, as a flight.
        case flight
    }

    /// The camera's position.
    public var position: CameraPosition
    /// How long the camera takes to get there, 0 to 3,600,000 ms; `nil`, for flights only, to use their speed.
    public var durationMs: Double?
    /// How long the camera stays, 0 to 3,600,000 ms.
    public var waitMs: Double
    /// How the camera gets there.
    public var path: Path
    /// The pace on a straight path or a flight; a smooth path has its own.
    public var easing: EasingName
    /// Full turns of the bearing in addition to the shorter arc, -100 to 100; clockwise if positive.
    public var turns: Int

    /// Creates a keyframe; without a duration, its path is a flight.
    public init(
        _ position: CameraPosition, durationMs: Double? = nil, waitMs: Double = 0, path: Path? = nil,
        easing: EasingName = .default, turns: Int = 0
    ) {
        (self.position, self.durationMs, self.waitMs) = (position, durationMs, waitMs)
        self.path = path ?? (durationMs == nil ? .flight : .smooth)
        (self.easing, self.turns) = (easing, turns)
    }
}

extension TourKeyframe {
    /// The maximum number of keyframes in a tour.
    package static let most = 256
    /// The maximum duration of a tour, in milliseconds: one that is cut short is played to its end at once.
    package static let longestMs = ClosedRange.durations.upperBound

    /// Returns the total of the given durations and waits, in milliseconds.
    package static func lastingMs(_ keyframes: [TourKeyframe]) -> Double {
        keyframes.reduce(0) { $0 + ($1.durationMs ?? 0) + $1.waitMs }
    }

    private static let tooMany = GimbalError(
        .limitReached, field: "keyframes", "a tour may have at most \(most) keyframes")

    /// Shows a visitor all keyframes of a tour.
    static func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ keyframes: inout [TourKeyframe]
    ) throws(V.Failure) {
        let rule = ListRule(
            wanted: "must be an array of 1 to \(most) keyframes: objects with a position", limit: (most, tooMany))
        var list: [TourKeyframe]? = keyframes
        try visitor.list(.keyframes, &list, rule, .required(nil))
        keyframes = list ?? []
        let isEmpty = keyframes.isEmpty
        try visitor.check(!isEmpty) { path in .wrong(path / .keyframes, rule.wanted) }
        let lasting = lastingMs(keyframes)
        try visitor.check(lasting <= longestMs) { path in
            .wrong(path / .keyframes, "must last at most an hour, durations and waits together")
        }
    }

    /// The stop for the camera's tour.
    package var stop: Tour.Stop {
        let way: Tour.Stop.Path =
            switch path {
            case .smooth: .smooth(duration: durationMs ?? 0)
            case .straight: .straight(duration: durationMs ?? 0, easing.easing)
            case .flight: .flight(Flight(), duration: durationMs, easing.easing)
            }
        return Tour.Stop(position, way, turns: turns, wait: waitMs)
    }
}

extension TourKeyframe: Described {
    package static let blank = TourKeyframe(.blank)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.object(.position, &position)
        try visitor.member(.durationMs, &durationMs, .number(in: .durations))
        try visitor.member(.waitMs, &waitMs, .number(in: .durations), unless: 0)
        try visitor.member(
            .path, &path, WordRule(isQuoted: true), unless: durationMs == nil ? .flight : .smooth)
        try visitor.member(.easing, &easing, WordRule(), unless: .default)
        try visitor.member(
            .turns, &turns, .integer(-100...100, "must be an integer from -100 to 100"), unless: 0)
        let isTimed = durationMs != nil || path == .flight
        try visitor.check(isTimed) { path in
            .missing(path / .durationMs, "only a flight may omit it")
        }
    }
}
