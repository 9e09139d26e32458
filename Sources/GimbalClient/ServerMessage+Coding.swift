// Lines of the daemon read as values. Members that are not known are passed over, as the protocol asks.

import Gestures
import MapCamera

extension ServerLine: Decodable {
    /// Reads a line without its LF.
    ///
    /// - Throws: `DecodingError` for what is no message of the protocol.
    public init(line: some Collection<UInt8>) throws { self = try JSONLine.decode(ServerLine.self, line) }

    /// Reads `type`, `id`, and what belongs to the type.
    public init(from decoder: any Decoder) throws {
        id = try decoder.members().get(ifPresent: "id")
        message = try ServerMessage(from: decoder)
    }
}

extension ServerMessage: Decodable {
    /// Reads `type` and what belongs to it.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members()
        let type: String = try members.get("type")
        switch type {
        case "camera": self = .camera(try CameraState(from: decoder))
        case "camera-for-bounds": self = .cameraForBounds(try BoundsFit(from: decoder))
        case "point": self = .point(try members.get("point"))
        case "coordinate": self = .coordinate(try members.get("coordinate"))
        case "visible-region": self = .visibleRegion(try VisibleRegion(from: decoder))
        case "cameras": self = .cameras(try members.get("cameras"))
        case "stats": self = .stats(try DaemonStats(from: decoder))
        case "clients": self = .clients(try ClientPage(from: decoder))
        case "at-rest": self = .atRest(try CameraRest(from: decoder))
        case "trace-ended": self = .traceEnded(try TraceEnded(from: decoder))
        case "hello": self = .hello(try DaemonHello(from: decoder))
        case "pong": self = .pong
        case "ok": self = .ok
        case "error": self = .error(try GimbalError(from: decoder))
        default: self = try CameraEvent(type, from: decoder).map { .event($0) } ?? .unknown(type: type)
        }
    }
}

extension CameraEvent: Decodable {
    /// Reads `type` and what belongs to it.
    ///
    /// - Throws: `DecodingError` for any other message of the daemon.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members()
        guard let event = try Self(try members.get("type"), from: decoder) else {
            throw DecodingError.dataCorruptedError(forKey: "type", in: members, debugDescription: "it is no event")
        }
        self = event
    }

    /// Reads an event of a type; `nil` if the type is none of an event.
    fileprivate init?(_ type: String, from decoder: any Decoder) throws {
        switch type {
        case "subscribed":
            let members = try decoder.members()
            if try members.get("camera") == ClientRequest.allCameras {
                self = .subscribedToAll(cameras: try members.get("cameras"))
            } else {
                self = .subscribed(try Subscribed(from: decoder))
            }
        case EventKind.moveStarted.rawValue: self = .moveStarted(try CameraMove(from: decoder))
        case EventKind.cameraChanged.rawValue: self = .cameraChanged(try CameraMove(from: decoder))
        case EventKind.idle.rawValue: self = .idle(try CameraMove(from: decoder))
        case EventKind.gesture.rawValue: self = .fed(try FedLine(from: decoder))
        case "reset": self = .reset(try CameraReset(from: decoder))
        case "lagged": self = .lagged(try Lagged(from: decoder))
        case "removed": self = .removed(camera: try decoder.members().get("camera"))
        default: return nil
        }
    }
}

extension FedLine: Decodable {
    /// Reads the members of the message `gesture`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members()
        camera = try members.get("camera")
        timeMs = try members.get("timeMs")
        line = String(decoding: try JSONLine.encode(try members.get("line") as JSONValue), as: UTF8.self)
    }
}

extension CameraState: Decodable {
    /// Reads the members of the message `camera`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members()
        camera = try members.get("camera")
        seq = try members.get("seq")
        position = try members.get("position")
        guard let range = ZoomRange(min: try members.get("minZoom"), max: try members.get("maxZoom")) else {
            throw DecodingError.dataCorruptedError(
                forKey: "minZoom", in: members, debugDescription: "no zooms from minZoom to maxZoom")
        }
        zoomRange = range
        targetBounds = try members.get(ifPresent: "targetBounds")
        viewport = try members.get("viewport")
        gestures = try members.get("gestures")
    }
}
