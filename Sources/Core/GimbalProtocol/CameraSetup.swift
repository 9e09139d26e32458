// The settings of a camera, in one place for everything that stores or forwards them: the message `camera`, trace
// headers, saved state, a handover, mirrors, and the commands that change them. A new setting needs a property, a
// change and their members here.

import Gestures
import MapCamera

/// The settings of a camera besides its position: what the `set-…` commands change.
public struct CameraSetup: Equatable, Codable, Sendable {
    /// The size of the screen and its padding.
    public var viewport: Viewport
    /// The allowed zooms.
    public var zoomRange: ZoomRange
    /// The bounds that the target is kept in; `nil` means anywhere.
    public var targetBounds: CoordinateBounds?
    /// The gestures that move the camera.
    public var gestures: GestureSettings
    /// What the camera does after nothing has moved it for a time; `nil` means nothing.
    public var idleAction: IdleAction?

    /// Creates settings; omitted ones default to those of a new camera.
    public init(
        viewport: Viewport = .standard, zoomRange: ZoomRange = .all, targetBounds: CoordinateBounds? = nil,
        gestures: GestureSettings = GestureSettings(), idleAction: IdleAction? = nil
    ) {
        (self.viewport, self.zoomRange) = (viewport, zoomRange)
        (self.targetBounds, self.gestures, self.idleAction) = (targetBounds, gestures, idleAction)
    }

    /// The change of one setting: the content of a `set-…` command.
    public enum Change: Equatable, Sendable {
        /// Sets the size of the screen, 0.001 to 100,000 points, and its padding.
        case viewport(Viewport)
        /// Sets the ends of the zoom range, 2 to 21; an end that is `nil` stays unchanged. At least one is required.
        case zoomRange(min: Double?, max: Double?)
        /// Keeps the target inside bounds; `nil` removes them.
        case targetBounds(CoordinateBounds?)
        /// Switches gestures on and off.
        case gestures(GestureSwitches)
        /// Sets what the camera does after nothing has moved it for a time; `nil` means nothing.
        case idleAction(IdleAction?)
    }

    /// The changes that turn any setup into this one.
    public var changes: [Change] {
        [
            .viewport(viewport), .zoomRange(min: zoomRange.min, max: zoomRange.max), .targetBounds(targetBounds),
            .gestures(GestureSwitches(gestures)), .idleAction(idleAction),
        ]
    }

    /// Returns the changes that turn another setup into this one.
    public func changes(from other: CameraSetup) -> [Change] {
        zip(changes, other.changes).compactMap { $0 == $1 ? nil : $0 }
    }

    /// Returns the setup after a change; a change that would reverse the zoom range is ignored.
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

extension CameraSetup.Change {
    /// The `type` of the command for this change.
    var type: String {
        switch self {
        case .viewport: "set-viewport"
        case .zoomRange: "set-zoom-range"
        case .targetBounds: "set-target-bounds"
        case .gestures: "set-gestures"
        case .idleAction: "set-idle-action"
        }
    }
}

// MARK: Members

extension ZoomRange {
    /// Shows a visitor the two ends; an omitted one stays unchanged.
    fileprivate mutating func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ presence: Presence
    ) throws(V.Failure) {
        var (lowest, highest): (Double?, Double?) = (min, max)
        try Self.describe(&visitor, &lowest, &highest, presence)
        let range = ZoomRange(min: lowest ?? min, max: highest ?? max)
        try visitor.check(range != nil) { _ in CameraSetup.reversedZoomRange }
        self = range ?? self
    }

    /// Shows a visitor the two ends; checks their order only if both are given.
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

    /// The error for a zoom range with reversed ends.
    package static let reversedZoomRange = GimbalError(
        .invalidValue, field: "minZoom", "minZoom must not be above maxZoom")

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try zoomRange.describe(&visitor, .required(nil))
        try visitor.object(.targetBounds, &targetBounds, .nullable)
        try visitor.object(.viewport, &viewport)
        try visitor.object(.gestures, &gestures)
        try visitor.object(.idleAction, &idleAction)
    }

    /// Whether clients could set it; what another process hands over is checked.
    package var isPossible: Bool { viewport.isPossible && idleAction?.isPossible ?? true }

    /// Shows a visitor the members of a trace's header, which include the position; omitted ones default to a new
    /// camera's.
    mutating func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, withPosition position: inout CameraPosition
    ) throws(V.Failure) {
        try describeView(&visitor, &position)
        try visitor.object(.gestures, &gestures, default: GestureSettings())
        try visitor.object(.idleAction, &idleAction)
    }

    /// Shows a visitor the members that determine where the camera is and may be.
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
    /// One change of each kind, for decoding.
    static let blanks = CameraSetup.blank.changes

    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        switch self {
        case .viewport(let viewport): self = .viewport(try described(viewport, by: &visitor))
        case .zoomRange(var min, var max):
            try ZoomRange.describe(&visitor, &min, &max, .optional)
            try visitor.check(min != nil || max != nil) { path in
                .missing(path / .minZoom, "set minZoom, maxZoom or both")
            }
            self = .zoomRange(min: min, max: max)
        case .targetBounds(var bounds):
            try visitor.object(.bounds, &bounds, .nullable)
            self = .targetBounds(bounds)
        case .gestures(let switches): self = .gestures(try described(switches, by: &visitor))
        case .idleAction(var action):
            try IdleAction.describe(&visitor, &action)
            self = .idleAction(action)
        }
    }
}

extension Camera {
    /// Creates a camera at a position, brought within the constraints of a setup.
    package init(position: CameraPosition, _ setup: CameraSetup) {
        var constraints = CameraConstraints()
        (constraints.zoomRange, constraints.targetBounds) = (setup.zoomRange, setup.targetBounds)
        self.init(position: position, viewport: setup.viewport, constraints: constraints)
    }

    /// Applies the settings that belong to the camera itself; it moves inside new constraints at once.
    package mutating func set(_ setup: CameraSetup) {
        if viewport != setup.viewport { viewport = setup.viewport }
        if constraints.zoomRange != setup.zoomRange { setZoomRange(setup.zoomRange) }
        if constraints.targetBounds != setup.targetBounds { setTargetBounds(setup.targetBounds) }
    }
}
