// What a camera does, as its subscribers are told.

import MapCamera

/// A line of a camera's subscription.
///
/// Movements match `(moveStarted cameraChanged+)+ idle`, over and over.
public enum CameraEvent: Equatable, Sendable {
    /// The subscription begins, and where the camera is now.
    case subscribed(Subscribed)
    /// The subscription to all cameras begins; so many of them are told of next, by ``subscribed(_:)`` each. It comes again,
    /// with those that were missed, to a reader that was so slow that it could not be told of new ones.
    case subscribedToAll(cameras: Int)
    /// The camera is about to move, and where from. Another one without ``idle(_:)`` says that the reason has changed.
    case moveStarted(CameraMove)
    /// The camera has moved.
    case cameraChanged(CameraMove)
    /// The camera rests; exactly once for each movement, at the position of the last change.
    case idle(CameraMove)
    /// The camera is fed; told only to who asks for ``EventKind/gesture``.
    case fed(FedLine)
    /// A replay has set the camera anew; `seq` and clock start again.
    case reset(CameraReset)
    /// Events were missed; the next ones follow from now.
    case lagged(Lagged)
    /// The camera of this name is no more, and the subscription is over.
    case removed(camera: String)
}

/// What moved the camera.
public enum MoveReason: String, Codable, Sendable {
    /// Fingers; a fling, inertia and what a tap does, too.
    case gesture
    /// An animation that was asked for.
    case animation
    /// A command that takes no time.
    case command
}

/// One step of a movement.
public struct CameraMove: Equatable, Sendable, Decodable {
    /// The camera's name.
    public let camera: String
    /// Counts the camera's events from 1, with no gaps where they arise.
    public let seq: Int
    /// Milliseconds of the camera's clock.
    public let timeMs: Double
    /// What moved it.
    public let reason: MoveReason
    /// Where the camera is.
    public let position: CameraPosition
}

/// What a camera is fed: a line of a trace that makes the same camera.
public struct FedLine: Equatable, Sendable {
    /// The camera's name.
    public let camera: String
    /// Milliseconds of the camera's clock.
    public let timeMs: Double
    /// The line as JSON, without its LF. The first one is a trace's header.
    public let line: String
}

/// The beginning of a subscription.
public struct Subscribed: Equatable, Sendable, Decodable {
    /// The camera's name.
    public let camera: String
    /// Changes when the camera is made or reset; `seq` counts within it.
    public let epoch: String
    /// The `seq` of the camera's last event; 0 before the first.
    public let seq: Int
    /// Where the camera is.
    public let position: CameraPosition
}

/// A camera that a replay has set anew.
public struct CameraReset: Equatable, Sendable, Decodable {
    /// The camera's name.
    public let camera: String
    /// 0: the next event is the first.
    public let seq: Int
    /// 0, in milliseconds: the clock is the trace's own.
    public let timeMs: Double
    /// Where the trace begins.
    public let position: CameraPosition
    /// What `seq` counts in from now on; `nil` from an older daemon.
    public let epoch: String?
}

/// A gap in a subscription.
public struct Lagged: Equatable, Sendable, Decodable {
    /// The camera's name.
    public let camera: String
    /// How many events were missed up to now.
    public let missed: Int
    /// Where the camera is now.
    public let position: CameraPosition
    /// The `seq` of the camera's last event; `nil` from an older daemon.
    public let seq: Int?
    /// What `seq` counts in; `nil` from an older daemon.
    public let epoch: String?
}

extension CameraEvent {
    /// The camera's name; `"*"` in ``subscribedToAll(cameras:)``.
    public var camera: String {
        switch self {
        case .subscribedToAll: ClientRequest.allCameras
        case .subscribed(let subscribed): subscribed.camera
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): move.camera
        case .fed(let fed): fed.camera
        case .reset(let reset): reset.camera
        case .lagged(let lagged): lagged.camera
        case .removed(let camera): camera
        }
    }

    /// Where the camera is; `nil` if it is no more.
    public var position: CameraPosition? {
        switch self {
        case .subscribed(let subscribed): subscribed.position
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): move.position
        case .reset(let reset): reset.position
        case .lagged(let lagged): lagged.position
        case .fed, .removed, .subscribedToAll: nil
        }
    }

    /// The number of the camera's last event as of now, where the line tells it.
    public var seq: Int? {
        switch self {
        case .subscribed(let subscribed): subscribed.seq
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): move.seq
        case .reset(let reset): reset.seq
        case .lagged(let lagged): lagged.seq
        case .fed, .removed, .subscribedToAll: nil
        }
    }

    /// Milliseconds of the camera's clock, where the line tells them.
    public var timeMs: Double? {
        switch self {
        case .reset(let reset): reset.timeMs
        case .fed(let fed): fed.timeMs
        default: move?.timeMs
        }
    }

    /// The step, if it is one of a movement.
    public var move: CameraMove? {
        switch self {
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): move
        case .subscribed, .subscribedToAll, .fed, .reset, .lagged, .removed: nil
        }
    }

    /// The kind, if it is one that a subscriber chooses.
    public var kind: EventKind? {
        switch self {
        case .moveStarted: .moveStarted
        case .cameraChanged: .cameraChanged
        case .idle: .idle
        case .fed: .gesture
        case .subscribed, .subscribedToAll, .reset, .lagged, .removed: nil
        }
    }
}
