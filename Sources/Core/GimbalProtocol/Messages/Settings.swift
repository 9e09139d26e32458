// Settings of a camera: `set-gestures`, `set-zoom-range`, `set-target-bounds` and `set-viewport` (schema:
// client.set-gestures and so on).

import Gestures
import JSONLines
import MapCamera

/// Switches of gestures to be set; one that is `nil` stays as it is. ``/Gestures/GestureSettings`` says what each is for.
public struct GestureSwitches: Equatable, Sendable {
    /// Pans; without it the other gestures leave the target where it is.
    public var scroll: Bool?
    /// Pinches, taps and one-finger zooms.
    public var zoom: Bool?
    /// Rotations.
    public var rotate: Bool?
    /// Tilts.
    public var tilt: Bool?
    /// Without it zoom and rotation are about the target, and pans wait until they end.
    public var scrollDuringRotateOrZoom: Bool?
    /// Whether a pan goes on when its finger has left the screen.
    public var fling: Bool?
    /// Whether a pinch and a rotation do.
    public var inertia: Bool?

    /// Switches, of which those left out stay as they are.
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

    /// All switches as these settings have them.
    public init(_ settings: GestureSettings) {
        self.init(
            scroll: settings.scroll, zoom: settings.zoom, rotate: settings.rotate, tilt: settings.tilt,
            scrollDuringRotateOrZoom: settings.scrollDuringRotateOrZoom, fling: settings.fling,
            inertia: settings.inertia)
    }

    /// The settings with these switches set.
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

// MARK: In

extension RequestDecoder {
    func gestureSwitches(_ object: Int, _ path: FieldPath?) throws(WireError) -> GestureSwitches {
        var switches = GestureSwitches()
        switches.scroll = try flag(object, path, .scroll)
        switches.zoom = try flag(object, path, .zoom)
        switches.rotate = try flag(object, path, .rotate)
        switches.tilt = try flag(object, path, .tilt)
        switches.scrollDuringRotateOrZoom = try flag(object, path, .scrollDuringRotateOrZoom)
        switches.fling = try flag(object, path, .fling)
        switches.inertia = try flag(object, path, .inertia)
        return switches
    }

    func zoomRange(_ object: Int) throws(WireError) -> CameraSetup.Change {
        let (min, max) = try zoomLimits(object)
        if min == nil && max == nil { throw .missing(FieldPath(.minZoom), "minZoom, maxZoom or both are to be set") }
        return .zoomRange(min: min, max: max)
    }

    /// The two ends of a zoom range, as far as they stand there. That one is not above the other is checked here only
    /// where both do.
    func zoomLimits(_ object: Int) throws(WireError) -> (Double?, Double?) {
        let min = try number(object, FieldPath(.minZoom), .minZoom, in: ZoomRange.limits)
        let max = try number(object, FieldPath(.maxZoom), .maxZoom, in: ZoomRange.limits)
        if let min, let max, min > max { throw Self.reversedZoomRange }
        return (min, max)
    }

    /// The answer to a zoom range whose ends are the wrong way round.
    package static let reversedZoomRange = WireError(
        .invalidValue, field: "minZoom", "minZoom must not be above maxZoom")

    func targetBounds(_ object: Int) throws(WireError) -> CoordinateBounds? {
        if let node = child(object, .bounds), tape[node].kind == .null { return nil }
        return try bounds(object, FieldPath(.bounds), .bounds)
    }
}

// MARK: Out

extension LineWriter {
    /// Writes the switches that are named, without braces.
    mutating func switches(_ switches: GestureSwitches, isFirst: Bool) {
        let named: [(StaticString, Bool?)] = [
            ("scroll", switches.scroll), ("zoom", switches.zoom), ("rotate", switches.rotate), ("tilt", switches.tilt),
            ("scrollDuringRotateOrZoom", switches.scrollDuringRotateOrZoom), ("fling", switches.fling),
            ("inertia", switches.inertia),
        ]
        var isFirst = isFirst
        for case (let name, let isOn?) in named {
            write(isFirst ? "\"" : ",\"")
            write(name)
            write("\":")
            write(isOn)
            isFirst = false
        }
    }

    mutating func zoomRange(min: Double?, max: Double?) {
        if let min { member("minZoom", exact: min) }
        if let max { member("maxZoom", exact: max) }
    }

    mutating func targetBounds(_ bounds: CoordinateBounds?) {
        if let bounds { self.bounds("bounds", exact: bounds) } else { write(",\"bounds\":null") }
    }

    mutating func viewport(exact viewport: Viewport) {
        write(",")
        size(viewport)
    }
}

// MARK: From an answer

extension GestureSettings: MessageReadable {
    /// One that is left out is as a new camera has it.
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        let switches = GestureSwitches(
            scroll: try members.get(ifPresent: "scroll"), zoom: try members.get(ifPresent: "zoom"),
            rotate: try members.get(ifPresent: "rotate"), tilt: try members.get(ifPresent: "tilt"),
            scrollDuringRotateOrZoom: try members.get(ifPresent: "scrollDuringRotateOrZoom"),
            fling: try members.get(ifPresent: "fling"), inertia: try members.get(ifPresent: "inertia"))
        self = switches.applied(to: GestureSettings())
    }
}
