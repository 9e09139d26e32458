// Questions about a camera and their answers: `get-camera`, `camera-for-bounds`, `project`, `unproject`, `visible-region`
// and `cameras` (schema: client.get-camera and server.camera, and so on).

import Gestures
import JSONLines
import MapCamera

/// All that is to be known of a camera. (The message `camera`, which rounds its numbers.)
@dynamicMemberLookup
public struct CameraState: Equatable, Sendable {
    /// The camera's name.
    public let camera: String
    /// The number of its last event; 0 before the first.
    public let seq: Int
    /// Where it is.
    public let position: CameraPosition
    /// What it is set to.
    public let setup: CameraSetup

    package init(camera: String, seq: Int, position: CameraPosition, setup: CameraSetup) {
        (self.camera, self.seq, self.position, self.setup) = (camera, seq, position, setup)
    }

    /// One of its settings, such as ``CameraSetup/viewport``.
    public subscript<Setting>(dynamicMember setting: KeyPath<CameraSetup, Setting>) -> Setting {
        setup[keyPath: setting]
    }
}

/// How bounds fit into a camera's viewport.
public struct BoundsFit: Equatable, Sendable {
    /// Where the camera would be; `nil` if padding and insets leave nothing of the viewport.
    public let position: CameraPosition?
    /// Whether all of the bounds would be seen.
    public let fits: Bool
}

// MARK: Out

extension LineWriter {
    package mutating func camera(_ state: CameraState, _ id: Span<UInt8>) {
        open(.camera, id)
        member("camera", state.camera)
        member("seq", UInt64(state.seq))
        member("position", PrintedPosition(state.position))
        setup(state.setup)
        close()
    }

    /// Writes what a camera is set to as members that follow others, rounded.
    package mutating func setup(_ setup: CameraSetup) {
        member("minZoom", setup.zoomRange.min)
        member("maxZoom", setup.zoomRange.max)
        member("targetBounds")
        if let bounds = setup.targetBounds { self.bounds(bounds) } else { write("null") }
        member("viewport")
        viewport(setup.viewport)
        member("gestures")
        gestures(setup.gestures)
    }

    private mutating func bounds(_ bounds: CoordinateBounds) {
        write("{\"southWest\":")
        edge(bounds.southWest)
        write(",\"northEast\":")
        edge(bounds.northEast)
        write("}")
    }

    /// A corner of bounds: here 180 is an eastern edge and is not wrapped.
    private mutating func edge(_ corner: LatLng) {
        write("{\"latitude\":")
        write(FixedDecimal(corner.latitude, places: 9))
        member("longitude", corner.longitude, places: 9)
        write("}")
    }

    private mutating func viewport(_ viewport: Viewport) {
        write("{\"width\":")
        write(FixedDecimal(viewport.width, places: 6))
        member("height", viewport.height)
        write(",\"padding\":{\"top\":")
        write(FixedDecimal(viewport.padding.top, places: 6))
        member("left", viewport.padding.left)
        member("bottom", viewport.padding.bottom)
        member("right", viewport.padding.right)
        write("}}")
    }

    private mutating func gestures(_ settings: GestureSettings) {
        write("{\"scroll\":")
        write(settings.scroll)
        member("zoom")
        write(settings.zoom)
        member("rotate")
        write(settings.rotate)
        member("tilt")
        write(settings.tilt)
        member("scrollDuringRotateOrZoom")
        write(settings.scrollDuringRotateOrZoom)
        member("fling")
        write(settings.fling)
        member("inertia")
        write(settings.inertia)
        write("}")
    }

    package mutating func cameraForBounds(_ position: PrintedPosition?, fits: Bool, _ id: Span<UInt8>) {
        open(.cameraForBounds, id)
        member("position")
        if let position { write(position) } else { write("null") }
        member("fits")
        write(fits)
        close()
    }

    package mutating func point(_ point: ScreenPoint, _ id: Span<UInt8>) {
        open(.point, id)
        write(",\"point\":{\"x\":")
        write(FixedDecimal(point.x, places: 6))
        member("y", point.y)
        write("}")
        close()
    }

    package mutating func coordinate(_ coordinate: LatLng, _ id: Span<UInt8>) {
        open(.coordinate, id)
        member("coordinate", coordinate)
        close()
    }

    private mutating func member(_ name: StaticString, _ coordinate: LatLng) {
        member(name)
        write(coordinate)
    }

    package mutating func visibleRegion(_ region: VisibleRegion, _ id: Span<UInt8>) {
        open(.visibleRegion, id)
        member("nearLeft", region.nearLeft)
        member("nearRight", region.nearRight)
        member("farLeft", region.farLeft)
        member("farRight", region.farRight)
        close()
    }

    /// - Parameter names: an array of JSON.
    package mutating func cameras(_ names: Span<UInt8>, _ id: Span<UInt8>) {
        open(.cameras, id)
        write(",\"cameras\":")
        write(names)
        close()
    }
}

// MARK: In

extension CameraState: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        camera = try members.get("camera")
        seq = try members.get("seq")
        position = try members.get("position")
        setup = try CameraSetup(json)
    }
}

extension CameraSetup: MessageReadable {
    package init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        guard let range = ZoomRange(min: try members.get("minZoom"), max: try members.get("maxZoom")) else {
            throw .wrong("there are no zooms from minZoom to maxZoom")
        }
        self.init(
            viewport: try members.get("viewport"), zoomRange: range,
            targetBounds: try members.get(ifPresent: "targetBounds"), gestures: try members.get("gestures"))
    }
}

extension BoundsFit: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        position = try members.get(ifPresent: "position")
        fits = try members.get("fits")
    }
}

extension VisibleRegion: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        self.init(
            nearLeft: try members.get("nearLeft"), nearRight: try members.get("nearRight"),
            farLeft: try members.get("farLeft"), farRight: try members.get("farRight"))
    }
}
