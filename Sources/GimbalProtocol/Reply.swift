// The lines that answer a request. Each opens with its type and the request's id as it was written; an empty id is none.

import Gestures
import JSONLines
import MapCamera

/// What `get-camera` tells.
package struct CameraState: Sendable {
    package var name: String
    package var seq: UInt64
    package var camera: Camera
    package var gestures: GestureSettings

    package init(name: String, seq: UInt64, camera: Camera, gestures: GestureSettings) {
        self.name = name
        self.seq = seq
        self.camera = camera
        self.gestures = gestures
    }
}

/// What `trace-ended` tells.
package struct TraceSummary: Sendable {
    package var events: UInt64 = 0
    package var rejected: UInt64 = 0
    package var frames: UInt64 = 0
    package var durationMs = 0.0
    /// Whether it was ended before its own end.
    package var isCut = false

    package init() {}
}

/// What `clients` tells of one client.
package struct ClientSummary: Sendable {
    /// A subscription, and how many events its client has not been sent.
    package struct Following: Sendable {
        package var camera: String
        package var delivery: Subscribe.Delivery
        package var behind: UInt64

        package init(camera: String, delivery: Subscribe.Delivery, behind: UInt64) {
            (self.camera, self.delivery, self.behind) = (camera, delivery, behind)
        }
    }

    package var number = 0
    /// Whether it is the one that asks.
    package var isSelf = false
    /// `nil` where that is not known, or not to be told.
    package var user: UInt32?
    package var process: UInt32?
    package var isWatchOnly = false
    /// The camera that it plays a trace into.
    package var replay: String?
    /// Whether it has subscribed to all cameras.
    package var followsAll = false
    package var subscriptionCount = 0
    /// The first of them.
    package var subscriptions: [Following] = []
    package var waits = 0
    package var unreadBytes = 0

    package init() {}
}

extension LineWriter {
    private mutating func open(_ type: StaticString, _ id: Span<UInt8>) {
        write("{\"type\":\"")
        write(type)
        write("\"")
        guard !id.isEmpty else { return }
        write(",\"id\":")
        write(id)
    }

    private mutating func member(_ name: StaticString, _ position: PrintedPosition) {
        member(name)
        write(position)
    }

    private mutating func member(_ name: StaticString, _ string: String) {
        member(name)
        write(string: string)
    }

    private mutating func member(_ name: StaticString, _ count: UInt64) {
        member(name)
        write(count)
    }

    private mutating func member(_ name: StaticString, _ value: Double, places: Int = 6) {
        member(name)
        write(FixedDecimal(value, places: places))
    }

    mutating func member(_ name: StaticString) {
        write(",\"")
        write(name)
        write("\":")
    }

    private mutating func close() { write("}\n") }

    // MARK: Replies

    package mutating func ok(_ id: Span<UInt8>) {
        open("ok", id)
        close()
    }

    package mutating func error(_ error: WireError, line: UInt64, _ id: Span<UInt8>) {
        open("error", id)
        member("line", line)
        member("code", error.code.rawValue)
        if let field = error.field { member("field", field) }
        member("message", error.message)
        close()
    }

    package mutating func hello(server: String, _ id: Span<UInt8>) {
        open("hello", id)
        member("version", 1)
        member("server", server)
        close()
    }

    package mutating func pong(_ id: Span<UInt8>) {
        open("pong", id)
        close()
    }

    package mutating func subscribed(
        camera: String, epoch: String, seq: UInt64, position: PrintedPosition, _ id: Span<UInt8>
    ) {
        open("subscribed", id)
        member("camera", camera)
        member("epoch", epoch)
        member("seq", seq)
        member("position", position)
        close()
    }

    /// Tells that the subscription to all cameras stands, and how many cameras are told of next.
    package mutating func subscribedAll(cameras: Int, _ id: Span<UInt8>) {
        open("subscribed", id)
        member("camera", "*")
        member("cameras", UInt64(cameras))
        close()
    }

    package mutating func lagged(
        camera: String, missed: UInt64, position: PrintedPosition, seq: UInt64, epoch: String
    ) {
        open("lagged", Span())
        member("camera", camera)
        member("missed", missed)
        member("position", position)
        member("seq", seq)
        member("epoch", epoch)
        close()
    }

    package mutating func removed(camera: String) {
        open("removed", Span())
        member("camera", camera)
        close()
    }

    package mutating func traceEnded(_ summary: TraceSummary, position: PrintedPosition, _ id: Span<UInt8>) {
        open("trace-ended", id)
        member("events", summary.events)
        member("rejected", summary.rejected)
        member("frames", summary.frames)
        member("durationMs", summary.durationMs, places: 3)
        member("position", position)
        if summary.isCut { write(",\"cut\":true") }
        close()
    }

    /// Answers `await-idle`. A camera that is nowhere yet has no epoch.
    package mutating func atRest(
        camera: String, epoch: String, seq: UInt64, position: PrintedPosition, _ id: Span<UInt8>
    ) {
        open("at-rest", id)
        member("camera", camera)
        if !epoch.isEmpty { member("epoch", epoch) }
        member("seq", seq)
        member("position", position)
        close()
    }

    // MARK: Answers to queries

    package mutating func camera(_ state: CameraState, _ id: Span<UInt8>) {
        open("camera", id)
        member("camera", state.name)
        member("seq", state.seq)
        member("position", PrintedPosition(state.camera.position))
        member("minZoom", state.camera.constraints.zoomRange.min)
        member("maxZoom", state.camera.constraints.zoomRange.max)
        member("targetBounds")
        if let bounds = state.camera.constraints.targetBounds { self.bounds(bounds) } else { write("null") }
        member("viewport")
        viewport(state.camera.viewport)
        member("gestures")
        gestures(state.gestures)
        close()
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
        open("camera-for-bounds", id)
        member("position")
        if let position { write(position) } else { write("null") }
        member("fits")
        write(fits)
        close()
    }

    package mutating func point(_ point: ScreenPoint, _ id: Span<UInt8>) {
        open("point", id)
        write(",\"point\":{\"x\":")
        write(FixedDecimal(point.x, places: 6))
        member("y", point.y)
        write("}")
        close()
    }

    package mutating func coordinate(_ coordinate: LatLng, _ id: Span<UInt8>) {
        open("coordinate", id)
        member("coordinate", coordinate)
        close()
    }

    private mutating func member(_ name: StaticString, _ coordinate: LatLng) {
        member(name)
        GimbalProtocol.write(coordinate, to: &self)
    }

    package mutating func visibleRegion(_ region: VisibleRegion, _ id: Span<UInt8>) {
        open("visible-region", id)
        member("nearLeft", region.nearLeft)
        member("nearRight", region.nearRight)
        member("farLeft", region.farLeft)
        member("farRight", region.farRight)
        close()
    }

    /// - Parameter names: an array of JSON.
    package mutating func cameras(_ names: Span<UInt8>, _ id: Span<UInt8>) {
        open("cameras", id)
        write(",\"cameras\":")
        write(names)
        close()
    }

    /// Writes one page of clients.
    ///
    /// - Parameter hasMore: whether clients with greater numbers are left out.
    package mutating func clients(_ clients: [ClientSummary], hasMore: Bool, _ id: Span<UInt8>) {
        open("clients", id)
        write(",\"clients\":[")
        for (index, client) in clients.enumerated() {
            if index > 0 { write(",") }
            self.client(client)
        }
        write("]")
        if hasMore { write(",\"more\":true") }
        close()
    }

    private mutating func client(_ client: ClientSummary) {
        write("{\"number\":")
        write(UInt64(client.number))
        if client.isSelf { write(",\"self\":true") }
        if let user = client.user { member("user", UInt64(user)) }
        if let process = client.process { member("process", UInt64(process)) }
        member("role", client.isWatchOnly ? "watch-only" : "everything")
        if let camera = client.replay { member("replay", camera) }
        if client.followsAll { write(",\"all\":true") }
        member("subscriptionCount", UInt64(client.subscriptionCount))
        write(",\"subscriptions\":[")
        for (index, subscription) in client.subscriptions.enumerated() {
            write(index > 0 ? ",{\"camera\":" : "{\"camera\":")
            write(string: subscription.camera)
            member("delivery", subscription.delivery == .every ? "every" : "latest")
            member("behind", subscription.behind)
            write("}")
        }
        write("]")
        member("waits", UInt64(client.waits))
        member("unreadBytes", UInt64(client.unreadBytes))
        write("}")
    }

    /// Writes counters in the order given.
    package mutating func stats(_ counters: [(name: StaticString, count: UInt64)], _ id: Span<UInt8>) {
        open("stats", id)
        for (name, count) in counters { member(name, count) }
        close()
    }
}
