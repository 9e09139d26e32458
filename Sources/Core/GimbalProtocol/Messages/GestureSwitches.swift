// The switches for gestures that move a camera: some of them, as in `set-gestures`, or all.

import Gestures

/// Gesture switches to set; `nil` leaves a switch unchanged. ``/Gestures/GestureSettings`` describes each.
public struct GestureSwitches: Equatable, Sendable {
    /// Pans; if off, the other gestures do not move the target.
    public var scroll: Bool?
    /// Pinches, taps and one-finger zooms.
    public var zoom: Bool?
    /// Rotations.
    public var rotate: Bool?
    /// Tilts.
    public var tilt: Bool?
    /// If off, zoom and rotation are about the target, and pans wait until they end.
    public var scrollDuringRotateOrZoom: Bool?
    /// Whether a pan continues after its finger has left the screen.
    public var fling: Bool?
    /// Whether a pinch and a rotation continue.
    public var inertia: Bool?

    /// Creates switches; omitted ones leave the setting unchanged.
    public init(
        scroll: Bool? = nil, zoom: Bool? = nil, rotate: Bool? = nil, tilt: Bool? = nil,
        scrollDuringRotateOrZoom: Bool? = nil, fling: Bool? = nil, inertia: Bool? = nil
    ) {
        self.scroll = scroll
        self.zoom = zoom
        self.rotate = rotate
        self.tilt = tilt
        self.scrollDuringRotateOrZoom = scrollDuringRotateOrZoom
        self.fling = fling
        self.inertia = inertia
    }

    /// Creates all switches from settings.
    public init(_ settings: GestureSettings) {
        self.init(
            scroll: settings.scroll, zoom: settings.zoom, rotate: settings.rotate, tilt: settings.tilt,
            scrollDuringRotateOrZoom: settings.scrollDuringRotateOrZoom, fling: settings.fling,
            inertia: settings.inertia)
    }

    /// Returns settings with these switches applied.
    public func applied(to settings: GestureSettings) -> GestureSettings {
        var settings = settings
        settings.scroll = scroll ?? settings.scroll
        settings.zoom = zoom ?? settings.zoom
        settings.rotate = rotate ?? settings.rotate
        settings.tilt = tilt ?? settings.tilt
        settings.scrollDuringRotateOrZoom = scrollDuringRotateOrZoom ?? settings.scrollDuringRotateOrZoom
        settings.fling = fling ?? settings.fling
        settings.inertia = inertia ?? settings.inertia
        return settings
    }
}

extension GestureSwitches: Described {
    package static let blank = GestureSwitches()

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.scroll, &scroll, .flag)
        try visitor.member(.zoom, &zoom, .flag)
        try visitor.member(.rotate, &rotate, .flag)
        try visitor.member(.tilt, &tilt, .flag)
        try visitor.member(.scrollDuringRotateOrZoom, &scrollDuringRotateOrZoom, .flag)
        try visitor.member(.fling, &fling, .flag)
        try visitor.member(.inertia, &inertia, .flag)
    }
}

extension GestureSettings: Described {
    package static let blank = GestureSettings()

    /// An omitted switch defaults to that of a new camera.
    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        var switches = GestureSwitches(self)
        try switches.describe(&visitor)
        self = switches.applied(to: GestureSettings())
    }
}
