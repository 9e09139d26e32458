// What the daemon says, as values. A type or an error code that is not known yet is kept by its name, so that a newer
// daemon breaks no older client.

import Gestures
import MapCamera

/// A line from the daemon: what it says, and the request that it answers.
public struct ServerLine: Equatable, Sendable {
    /// The id of the request, if the line answers one that has an id.
    public let id: RequestID?
    /// What the line says.
    public let message: ServerMessage
}

/// What the daemon says in one line.
public enum ServerMessage: Equatable, Sendable {
    /// Tells what a camera does, or of the subscription to it.
    case event(CameraEvent)
    /// Answers ``ClientRequest/getCamera``.
    case camera(CameraState)
    /// Answers ``ClientRequest/cameraForBounds(_:insets:)``.
    case cameraForBounds(BoundsFit)
    /// Answers ``ClientRequest/project(_:)``.
    case point(ScreenPoint)
    /// Answers ``ClientRequest/unproject(_:)``.
    case coordinate(LatLng)
    /// Answers ``ClientRequest/visibleRegion``.
    case visibleRegion(VisibleRegion)
    /// Answers ``ClientRequest/cameras``: the names, sorted by their bytes.
    case cameras([String])
    /// Answers ``ClientRequest/stats``.
    case stats(DaemonStats)
    /// Answers ``ClientRequest/clients(after:)``.
    case clients(ClientPage)
    /// Answers ``ClientRequest/awaitIdle(timeoutMs:)``, when the camera rests.
    case atRest(CameraRest)
    /// Answers ``ClientRequest/trace(_:)``, when the replay is over.
    case traceEnded(TraceEnded)
    /// Answers ``ClientRequest/hello(version:)``.
    case hello(DaemonHello)
    /// Answers ``ClientRequest/ping``.
    case pong
    /// Answers what has no other answer, where it has an id.
    case ok
    /// A request was refused.
    case error(GimbalError)
    /// Nothing that this version knows, of this type.
    case unknown(type: String)
}

/// A request that the daemon refused. The camera is exactly what it was.
public struct GimbalError: Error, Equatable, Sendable, Decodable {
    /// What kind of error it is.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable {
        /// The code as the protocol writes it.
        public let rawValue: String

        /// A code as the protocol writes it.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The line is not strict JSON.
        public static let invalidJSON = Code(rawValue: "invalid-json")
        /// The line is longer than 65,536 bytes.
        public static let lineTooLong = Code(rawValue: "line-too-long")
        /// The daemon does not know this type of request.
        public static let unknownType = Code(rawValue: "unknown-type")
        /// A required field is not there.
        public static let missingField = Code(rawValue: "missing-field")
        /// A value is outside its range or of a wrong type, or the question has no answer.
        public static let invalidValue = Code(rawValue: "invalid-value")
        /// The daemon speaks another version of the protocol.
        public static let unsupportedVersion = Code(rawValue: "unsupported-version")
        /// In a replay, time went back.
        public static let timeReversed = Code(rawValue: "time-reversed")
        /// There is no such camera, and the request said that it is to make none.
        public static let unknownCamera = Code(rawValue: "unknown-camera")
        /// A replay runs on this camera.
        public static let busy = Code(rawValue: "busy")
        /// The daemon does not take this request from this connection.
        public static let denied = Code(rawValue: "denied")
        /// A limit was reached; the message names it.
        public static let limitReached = Code(rawValue: "limit-reached")
        /// No replay runs on this camera.
        public static let noReplay = Code(rawValue: "no-replay")
        /// What was waited for did not come in time.
        public static let timeout = Code(rawValue: "timeout")
        /// The camera that was waited for was removed.
        public static let removed = Code(rawValue: "removed")
        /// The daemon could not start; the message says why.
        public static let unavailable = Code(rawValue: "unavailable")
    }

    /// Counts the lines of the connection from 1; 0 is the connection itself.
    public let line: Int
    /// What kind of error it is.
    public let code: Code
    /// The field that is wrong as a dotted path, such as `update.zoom`, where one is to blame.
    public let field: String?
    /// What was wrong and what would be right, for people; it may change.
    public let message: String
}

extension GimbalError: CustomStringConvertible {
    /// The message, and the field where there is one that the message does not begin with.
    public var description: String {
        guard let field, !message.hasPrefix(field) else { return message }
        return "\(message) (\(field))"
    }
}

/// All that is to be known of a camera.
public struct CameraState: Equatable, Sendable {
    /// The camera's name.
    public let camera: String
    /// The number of its last event; 0 before the first.
    public let seq: Int
    /// Where it is.
    public let position: CameraPosition
    /// The zooms that it may have.
    public let zoomRange: ZoomRange
    /// Where its target is kept; `nil` is anywhere.
    public let targetBounds: CoordinateBounds?
    /// The size of its screen.
    public let viewport: Viewport
    /// Which gestures move it.
    public let gestures: GestureSettings
}

/// How bounds fit into a camera's viewport.
public struct BoundsFit: Equatable, Sendable, Decodable {
    /// Where the camera would be; `nil` if padding and insets leave nothing of the viewport.
    public let position: CameraPosition?
    /// Whether all of the bounds would be seen.
    public let fits: Bool
}

/// A camera at rest: no gesture is active, and nothing moves it.
public struct CameraRest: Equatable, Sendable, Decodable {
    /// The camera's name.
    public let camera: String
    /// What `seq` counts in; another one than before where a replay has set the camera anew. `nil` for a camera that is not
    /// there.
    public let epoch: String?
    /// The `seq` of the camera's last event; 0 before the first.
    public let seq: Int
    /// Where it rests.
    public let position: CameraPosition
}

/// A client of the daemon.
public struct Client: Equatable, Sendable, Decodable {
    /// What a client may do.
    public enum Role: String, Sendable, Decodable {
        /// Feeds and commands cameras, watches and asks.
        case everything
        /// Watches and asks.
        case watchOnly = "watch-only"
    }

    /// A subscription of a client.
    public struct Following: Equatable, Sendable, Decodable {
        /// The camera's name.
        public let camera: String
        /// Which events are sent.
        public let delivery: EventDelivery
        /// Events that have not been sent yet.
        public let behind: Int
    }

    /// Counts connections from 1.
    public let number: Int
    /// Whether it is the connection that asks.
    public let isSelf: Bool
    /// The number of its user as it connected; `nil` where that is not told.
    public let user: Int?
    /// The number of its process as it connected; `nil` where that is not told.
    public let process: Int?
    /// What it may do.
    public let role: Role
    /// The camera that it plays a trace into.
    public let replay: String?
    /// How many subscriptions it has.
    public let subscriptionCount: Int
    /// The first 16 of them.
    public let subscriptions: [Following]
    /// How many of its requests wait for a camera's rest.
    public let waits: Int
    /// Bytes of answers that it has not been sent yet.
    public let unreadBytes: Int

    private enum CodingKeys: String, CodingKey {
        case number, user, process, role, replay, subscriptionCount, subscriptions, waits, unreadBytes
        case isSelf = "self"
    }

    /// Reads a client of the message `clients`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        number = try members.decode(Int.self, forKey: .number)
        isSelf = try members.decodeIfPresent(Bool.self, forKey: .isSelf) ?? false
        user = try members.decodeIfPresent(Int.self, forKey: .user)
        process = try members.decodeIfPresent(Int.self, forKey: .process)
        role = try members.decode(Role.self, forKey: .role)
        replay = try members.decodeIfPresent(String.self, forKey: .replay)
        subscriptionCount = try members.decode(Int.self, forKey: .subscriptionCount)
        subscriptions = try members.decode([Following].self, forKey: .subscriptions)
        waits = try members.decode(Int.self, forKey: .waits)
        unreadBytes = try members.decode(Int.self, forKey: .unreadBytes)
    }
}

/// Some of the clients of the daemon, sorted by their numbers.
public struct ClientPage: Equatable, Sendable, Decodable {
    /// At most 64.
    public let clients: [Client]
    /// Whether there are clients with greater numbers.
    public let hasMore: Bool

    private enum CodingKeys: String, CodingKey {
        case clients
        case hasMore = "more"
    }

    /// Reads the message `clients`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        clients = try members.decode([Client].self, forKey: .clients)
        hasMore = try members.decodeIfPresent(Bool.self, forKey: .hasMore) ?? false
    }
}

/// How a replay went.
public struct TraceEnded: Equatable, Sendable, Decodable {
    /// Lines of gestures, commands and settings that were taken.
    public let events: Int
    /// Lines that were answered by an error.
    public let rejected: Int
    /// How often the camera changed.
    public let frames: Int
    /// Milliseconds of the trace's clock at the end, rest included.
    public let durationMs: Double
    /// Where the camera is.
    public let position: CameraPosition
    /// `true` where somebody else ended it, or a restart, before its own end.
    public let cut: Bool?
}

/// Counters of the daemon, since it started where nothing else is said.
public struct DaemonStats: Equatable, Sendable, Decodable {
    /// Milliseconds that it has been running.
    public let uptimeMs: Double
    /// Connections now.
    public let connections: Int
    /// Connections that there were.
    public let connectionsTotal: Int
    /// Cameras now.
    public let cameras: Int
    /// Subscriptions now.
    public let subscriptions: Int
    /// Replays that run now.
    public let replays: Int
    /// Lines that came in.
    public let lines: Int
    /// Errors that were answered.
    public let errors: Int
    /// Events that cameras emitted.
    public let events: Int
    /// Bytes that came in.
    public let bytesIn: Int
    /// Bytes that went out.
    public let bytesOut: Int
}

/// Who answers.
public struct DaemonHello: Equatable, Sendable, Decodable {
    /// The version of the protocol: 1.
    public let version: Int
    /// The program and its version.
    public let server: String
}
