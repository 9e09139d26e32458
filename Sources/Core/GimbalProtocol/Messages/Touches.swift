// `touch`: the fingers on a surface, both as a request that feeds a camera and as the event that shows them to
// subscribers (schema: client.touch, server.touch).

import Gestures
import MapCamera
import Touches

/// All fingers on a surface at one instant.
public struct Fingers: Equatable, Sendable {
    /// The fingers, at most 256; empty if all have lifted.
    public var touches: [Touch]
    /// The surface, if the connection has several; a text has at most 64 bytes.
    public var surface: GestureKey.Label
    /// Whether the previous fingers were lost rather than lifted.
    public var isCancelled: Bool
    /// The time in milliseconds of the surface's own clock; `nil` is the time of arrival.
    public var timeMs: Double?
    /// Whether the angle between two fingers is reliable.
    package var tellsAngles: Bool
    /// The surface's own time in milliseconds, if it differs from the line's.
    package var surfaceTimeMs: Double?

    /// Creates the complete set of fingers on a surface.
    public init(
        _ touches: [Touch], timeMs: Double? = nil, surface: GestureKey.Label = .none, isCancelled: Bool = false
    ) {
        self.init(touches, timeMs: timeMs, surface: surface, isCancelled: isCancelled, tellsAngles: true)
    }

    package init(
        _ touches: [Touch], timeMs: Double? = nil, surface: GestureKey.Label = .none, isCancelled: Bool = false,
        tellsAngles: Bool, surfaceTimeMs: Double? = nil
    ) {
        (self.touches, self.timeMs, self.surface, self.isCancelled) = (touches, timeMs, surface, isCancelled)
        (self.tellsAngles, self.surfaceTimeMs) = (tellsAngles, surfaceTimeMs)
    }
}

extension Fingers: Described {
    package static let blank = Fingers([])

    package static let tooMany = GimbalError(
        .limitReached, field: "touches", "a line may have at most \(RequestDecoder.mostFingers) fingers")

    /// Why the protocol cannot express the fingers; `nil` if it can.
    var problem: String? {
        guard touches.allSatisfy({ IntegerRule.exact.contains($0.id) }) else {
            return "a finger's id must be a number within ±(2^53−1)"
        }
        return surface.problem
    }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.surface, &surface, LabelRule(), unless: .none)
        try visitor.member(.surfaceTimeMs, &surfaceTimeMs, .time)
        var fingers: [Touch]? = touches
        let rule = ListRule(
            wanted: "must be an array of fingers: objects with id, x and y",
            limit: (RequestDecoder.mostFingers, Self.tooMany))
        try visitor.list(.touches, &fingers, rule, .optional)
        try visitor.member(.cancelled, &isCancelled, .flag, unless: false)
        try visitor.check(fingers != nil || isCancelled) { path in
            .missing(path / .touches, "it is an array of all fingers now on the surface, [] for none")
        }
        touches = fingers ?? []
        let ids = Set(touches.map(\.id))
        try visitor.check(ids.count == touches.count) { path in
            let twice = ids.sorted().first { id in touches.count { $0.id == id } > 1 } ?? 0
            return .wrong(path / .touches / .id, "must be different for each finger: \(twice) appears twice")
        }
        try visitor.member(.rotate, &tellsAngles, .flag, unless: true)
    }
}

extension Touch: Described {
    package static let blank = Touch(id: 0, position: .blank)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        let rule = IntegerRule.integer(IntegerRule.exact, "must be an integer")
        try visitor.member(.id, &id, rule, hint: "it is an integer that identifies the finger")
        try position.describe(&visitor)
    }
}

/// The fingers on a surface that feeds a camera, after they have landed, moved or lifted.
public struct SurfaceTouches: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// Milliseconds of the camera's clock.
    public package(set) var timeMs: Double
    /// Distinguishes the surfaces of all connections that feed the camera. A surface that reappears gets a new number.
    public package(set) var number: Int
    /// The label of the surface on its connection.
    public package(set) var surface: GestureKey.Label
    /// All fingers on the surface, in points of the camera's viewport.
    public package(set) var touches: [Touch]
    /// Whether the previous fingers were lost rather than lifted.
    public package(set) var isCancelled: Bool
}

extension SurfaceTouches: Described {
    package static let blank = SurfaceTouches(.blank, number: 0, camera: "", timeMs: 0)

    package init(_ fingers: Fingers, number: Int, camera: String, timeMs: Double) {
        (self.camera, self.timeMs, self.number, surface) = (camera, timeMs, number, fingers.surface)
        (touches, isCancelled) = (fingers.touches, fingers.isCancelled)
    }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.timeMs, &timeMs, .time)
        try visitor.member(.number, &number, .count)
        try visitor.member(.surface, &surface, LabelRule(), unless: .none)
        try visitor.list(.touches, &touches)
        try visitor.member(.cancelled, &isCancelled, .flag, unless: false)
    }
}

extension LineWriter {
    /// Writes the fingers of one frame of a recording as a line of a trace, LF included. The time is rounded to 3
    /// decimals, as in ``frame(_:timeMs:camera:)``; positions keep all their digits.
    package mutating func touchFrame(_ fingers: Fingers, timeMs: Double, camera: String? = nil) {
        request(.touch(fingers), camera: camera, timeMs: (timeMs * 1000).rounded() / 1000)
        write("\n")
    }
}
