// What the daemon says, as far as the program looks into it. A line is passed on as it came; only what is shown to people
// or decides something is decoded.

/// A line from the daemon.
struct Message {
    let bytes: ArraySlice<UInt8>
    /// Its `type`; empty for what is no message.
    let type: String

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        type = Self.leadingType(bytes) ?? Self.decode(Typed.self, bytes)?.type ?? ""
    }

    /// The type of a line that begins with it, as the daemon's lines do: thousands of them are only looked at.
    private static func leadingType(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.starts(with: opening) else { return nil }
        let rest = bytes.dropFirst(opening.count)
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private static let opening = Array(#"{"type":""#.utf8)

    private struct Typed: Decodable {
        var type: String
    }

    func decode<Body: Decodable>(_ body: Body.Type) -> Body? { Self.decode(body, bytes) }

    private static func decode<Body: Decodable>(_ body: Body.Type, _ bytes: ArraySlice<UInt8>) -> Body? {
        try? JSON.decode(body, bytes)
    }

    /// Whether it tells a movement of a camera.
    var isEvent: Bool { EventKind(rawValue: type) != nil || type == "reset" }
}

// MARK: From the daemon

struct Coordinate: Decodable {
    var latitude, longitude: Double
}

struct Position: Decodable {
    var target: Coordinate
    var zoom, bearing, viewingAngle: Double
}

/// An event, or what `subscribed` says of a camera.
struct CameraEvent: Decodable {
    var type: String
    var camera: String
    var seq: Int
    /// Milliseconds of the camera's clock.
    var timeMs: Double?
    var reason: String?
    var position: Position
}

struct Lagged: Decodable {
    var camera: String
    var missed: Int

    var text: String { "\(counted(missed, "event")) of camera \(camera) missed" }
}

struct Pong: Decodable {
    /// Not what another request's answer has, where that is no string.
    var id: String?
}

struct Removed: Decodable {
    var camera: String
}

struct TraceEnded: Decodable {
    var events, rejected, frames: Int
    var durationMs: Double
    var position: Position
}

struct ErrorReply: Decodable {
    /// Counts the lines of the connection from 1; 0 is the connection itself.
    var line: Int
    var code: String
    var field: String?
    var message: String

    /// The message, and the field where there is one.
    var text: String { field.map { "\(message) (\($0))" } ?? message }
}

struct CameraState: Decodable {
    struct Bounds: Decodable {
        var southWest, northEast: Coordinate
    }

    struct Padding: Decodable {
        var top, left, bottom, right: Double
    }

    struct Viewport: Decodable {
        var width, height: Double
        var padding: Padding
    }

    struct Gestures: Decodable {
        var scroll, zoom, rotate, tilt, scrollDuringRotateOrZoom: Bool
    }

    var camera: String
    var seq: Int
    var position: Position
    var minZoom, maxZoom: Double
    var targetBounds: Bounds?
    var viewport: Viewport
    var gestures: Gestures
}

// MARK: To the daemon

/// A request of the program's own.
struct Request: Encodable {
    var type: String
    var id: String?
    var camera: String?
    var events: [EventKind]?
    var delivery: String?

    init(
        _ type: String, id: String? = nil, camera: CameraName? = nil, events: [EventKind]? = nil,
        delivery: String? = nil
    ) {
        self.type = type
        self.id = id
        self.camera = camera?.text
        self.events = events
        self.delivery = delivery
    }

    /// The request as a line, its LF included.
    func line() throws -> [UInt8] { try JSON.encode(self) + [0x0a] }
}

/// The kinds of events that can be asked for.
enum EventKind: String, Codable, CaseIterable {
    case moveStarted = "move-started"
    case cameraChanged = "camera-changed"
    case idle
}
