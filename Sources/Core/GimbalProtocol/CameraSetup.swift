// What a camera is set to, once for all that keeps it or passes it on: the message `camera`, the header of a trace, saved
// state, a process that takes over, mirrors. A new setting gets a property here, its change, and its line in
// `Messages/Settings.swift`, where it is read and written.

import Gestures
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

    /// What a camera is set to; what is left out is as a new camera has it.
    public init(
        viewport: Viewport = .standard, zoomRange: ZoomRange = .all, targetBounds: CoordinateBounds? = nil,
        gestures: GestureSettings = GestureSettings()
    ) {
        (self.viewport, self.zoomRange) = (viewport, zoomRange)
        (self.targetBounds, self.gestures) = (targetBounds, gestures)
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
    }

    /// The changes that make this of any other.
    public var changes: [Change] {
        [
            .viewport(viewport), .zoomRange(min: zoomRange.min, max: zoomRange.max), .targetBounds(targetBounds),
            .gestures(GestureSwitches(gestures)),
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
        }
        return setup
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
