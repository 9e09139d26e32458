// What a camera is set to, once for all that keeps it or passes it on: the message `camera`, the header of a trace, saved
// state, a process that takes over, mirrors; and the commands that set it. A new setting gets a property, its change and
// their members here.

import Gestures
import JSONLines
import MapCamera

/// What a camera is set to, beside its position: what the commands `set-…` change.
public struct CameraSetup: Equatable, Codable, Sendable {
    /// The size of the screen, and its padding.
    public var viewport: Viewport
    /// The zooms that the camera may have.
    public var zoomRange: ZoomRange
    /// Where the target is kept; `nil` is anywhere.
    public var targetBounds: CoordinateBounds?
    /// Which gestures move the camera.
    public var gestures: GestureSettings
    /// What the camera does once nothing has moved it for a time; `nil` is nothing.
    public var idleAction: IdleAction?

    /// What a camera is set to; what is left out is as a new camera has it.
    public init(
        viewport: Viewport = .standard, zoomRange: ZoomRange = .all, targetBounds: CoordinateBounds? = nil,
        gestures: GestureSettings = GestureSettings(), idleAction: IdleAction? = nil
    ) {
        (self.viewport, self.zoomRange) = (viewport, zoomRange)
        (self.targetBounds, self.gestures, self.idleAction) = (targetBounds, gestures, idleAction)
    }

    /// The change of one setting: what a command `set-…` says.
    public enum Change: Equatable, Sendable {
        /// Sets the size of the screen, 0.001 to 100,000 points, and its padding.
        case viewport(Viewport)
        /// Sets the ends of the zoom range, 2 to 21; an end that is `nil` stays as it is. One of the two must be there.
        case zoomRange(min: Double?, max: Double?)
        /// Keeps the target inside of bounds; `nil` lets it go anywhere.
        case targetBounds(CoordinateBounds?)
        /// Switches gestures on and off.
        case gestures(GestureSwitches)
        /// Has the camera do something once nothing has moved it for a time; `nil` is nothing.
        case idleAction(IdleAction?)
    }

    /// The changes that make this of any other.
    public var changes: [Change] {
        [
            .viewport(viewport), .zoomRange(min: zoomRange.min, max: zoomRange.max), .targetBounds(targetBounds),
            .gestures(GestureSwitches(gestures)), .idleAction(idleAction),
        ]
    }

    /// The changes that make this of another one.
    public func changes(from other: CameraSetup) -> [Change] {
        zip(changes, other.changes).compactMap { $0 == $1 ? nil : $0 }
    }

    /// This with a change made; a zoom range whose ends would be the wrong way round stays as it is.
    public func with(_ change: Change) -> CameraSetup {
        var setup = self
        switch change {
        case .viewport(let viewport): setup.viewport = viewport
        case .zoomRange(let min, let max):
            setup.zoomRange = ZoomRange(min: min ?? zoomRange.min, max: max ?? zoomRange.max) ?? zoomRange
        case .targetBounds(let bounds): setup.targetBounds = bounds
        case .gestures(let switches): setup.gestures = switches.applied(to: gestures)
        case .idleAction(let action): setup.idleAction = action
        }
        return setup
    }
}

// MARK: Members

extension ZoomRange {
    /// Shows a visitor the two ends; one that is left out stays as it is.
    fileprivate mutating func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ presence: Presence
    ) throws(V.Failure) {
        var (lowest, highest): (Double?, Double?) = (min, max)
        try Self.describe(&visitor, &lowest, &highest, presence)
        let range = ZoomRange(min: lowest ?? min, max: highest ?? max)
        try visitor.check(range != nil) { _ in CameraSetup.reversedZoomRange }
        self = range ?? self
    }

    /// That one end is not above the other is checked here only where both are told.
    fileprivate static func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ min: inout Double?, _ max: inout Double?, _ presence: Presence
    ) throws(V.Failure) {
        try visitor.scalar(.minZoom, &min, .number(in: ZoomRange.limits), presence)
        try visitor.scalar(.maxZoom, &max, .number(in: ZoomRange.limits), presence)
        try visitor.check((min ?? 0) <= (max ?? .infinity)) { _ in CameraSetup.reversedZoomRange }
    }
}

extension CameraSetup: Described {
    package static let blank = CameraSetup()

    /// The answer to a zoom range whose ends are the wrong way round.
    package static let reversedZoomRange = WireError(
        .invalidValue, field: "minZoom", "minZoom must not be above maxZoom")

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try zoomRange.describe(&visitor, .required(nil))
        try visitor.object(.targetBounds, &targetBounds, .nullable)
        try visitor.object(.viewport, &viewport)
        try visitor.object(.gestures, &gestures)
        try visitor.object(.idleAction, &idleAction)
    }

    /// Shows a visitor the members of a trace's header, where the position stands between, and what is left out is as a new
    /// camera has it.
    mutating func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, withPosition position: inout CameraPosition
    ) throws(V.Failure) {
        try describeView(&visitor, &position)
        try visitor.object(.gestures, &gestures, default: GestureSettings())
        try visitor.object(.idleAction, &idleAction)
    }

    /// Shows a visitor the members that say where the camera is and may be.
    mutating func describeView<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ position: inout CameraPosition
    ) throws(V.Failure) {
        try visitor.object(.viewport, &viewport, default: .standard)
        try visitor.object(.position, &position, default: .initial)
        try zoomRange.describe(&visitor, .optional)
        try visitor.object(.targetBounds, &targetBounds, .optionalOrNull)
    }
}

extension CameraSetup.Change {
    /// The `type` of the command that makes it.
    var type: String {
        switch self {
        case .viewport: "set-viewport"
        case .zoomRange: "set-zoom-range"
        case .targetBounds: "set-target-bounds"
        case .gestures: "set-gestures"
        case .idleAction: "set-idle-action"
        }
    }

    /// One of each, before its members are read.
    static let blanks: [Self] = [
        .viewport(.blank), .zoomRange(min: nil, max: nil), .targetBounds(nil), .gestures(.blank),
        .idleAction(.blank),
    ]

    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        switch self {
        case .viewport(var viewport):
            try viewport.describe(&visitor)
            self = .viewport(viewport)
        case .zoomRange(var min, var max):
            try ZoomRange.describe(&visitor, &min, &max, .optional)
            try visitor.check(min != nil || max != nil) { path in
                .missing(path / .minZoom, "minZoom, maxZoom or both are to be set")
            }
            self = .zoomRange(min: min, max: max)
        case .targetBounds(var bounds):
            try visitor.object(.bounds, &bounds, .nullable)
            self = .targetBounds(bounds)
        case .gestures(var switches):
            try switches.describe(&visitor)
            self = .gestures(switches)
        case .idleAction(var action):
            try IdleAction.describe(&visitor, &action)
            self = .idleAction(action)
        }
    }
}

extension Camera {
    /// A camera at a position, brought within the constraints that it is set to.
    package init(position: CameraPosition, _ setup: CameraSetup) {
        var constraints = CameraConstraints()
        (constraints.zoomRange, constraints.targetBounds) = (setup.zoomRange, setup.targetBounds)
        self.init(position: position, viewport: setup.viewport, constraints: constraints)
    }

    /// Sets the camera, as far as it is its own; it moves inside of new constraints at once.
    package mutating func set(_ setup: CameraSetup) {
        if viewport != setup.viewport { viewport = setup.viewport }
        if constraints.zoomRange != setup.zoomRange { setZoomRange(setup.zoomRange) }
        if constraints.targetBounds != setup.targetBounds { setTargetBounds(setup.targetBounds) }
    }
}
