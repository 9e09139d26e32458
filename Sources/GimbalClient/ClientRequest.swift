// What a client may ask, as values, and the words that they are made of beside the camera's own.

import Gestures
import MapCamera

/// A request of the protocol: a gesture, a command, a query, a subscription, or a part of a trace.
///
/// ``line(camera:id:timeMs:creates:)`` makes the line that the daemon reads; ``RemoteCamera`` sends it and waits for the
/// answer.
public enum ClientRequest: Sendable {
    /// A report of a gesture; the label tells apart two gestures of one kind on one connection.
    case gesture(GestureEvent, label: GestureKey.Label = .none)

    /// Changes the camera at once.
    case move(CameraUpdate)
    /// Changes the camera over a time: 0 to 3,600,000 ms.
    case animate(CameraUpdate, durationMs: Double = CameraAnimation.usualDuration, easing: EasingName = .default)
    /// Ends animation, fling and active gestures where they are.
    case stop
    /// Switches gestures on and off.
    case setGestures(GestureSwitches)
    /// Sets the ends of the zoom range, 2 to 21; an end that is `nil` stays as it is. One of the two must be there.
    case setZoomRange(min: Double? = nil, max: Double? = nil)
    /// Keeps the target inside of bounds; `nil` lets it go anywhere.
    case setTargetBounds(CoordinateBounds?)
    /// Sets the size of the screen, 0.001 to 100,000 points, and its padding.
    case setViewport(Viewport)
    /// Frees the camera's name.
    case removeCamera

    /// Asks for a ``CameraState``.
    case getCamera
    /// Asks for the ``BoundsFit`` of bounds inside of insets.
    case cameraForBounds(CoordinateBounds, insets: EdgeInsets = EdgeInsets())
    /// Asks for the point of the screen that shows a place.
    case project(LatLng)
    /// Asks for the place that a point of the screen shows.
    case unproject(ScreenPoint)
    /// Asks for the corners of what the screen shows.
    case visibleRegion
    /// Asks for the names of all cameras.
    case cameras
    /// Asks for the daemon's ``DaemonStats``.
    case stats
    /// Asks for the clients whose ``Client/number`` is greater: 64 of them at the most.
    case clients(after: Int = 0)
    /// Asks for a ``CameraRest`` when the camera rests; after 0 to 3,600,000 ms for an error, `nil` is never.
    case awaitIdle(timeoutMs: Double? = nil)
    /// Asks for a `pong`.
    case ping

    /// Says which version of the protocol this side speaks.
    case hello(version: Int = 1)
    /// Asks for a camera's events: those of ``EventKind/movements`` where no kinds are named, each of them where no
    /// delivery is.
    case subscribe(kinds: Set<EventKind>? = nil, delivery: EventDelivery? = nil, since: ResumePoint? = nil)
    /// Ends a subscription.
    case unsubscribe
    /// Asks for the events of all cameras, those to come included, in place of all subscriptions of the connection;
    /// with how far each camera's have been read, by its name. What cameras are fed cannot be asked for.
    case subscribeAll(
        kinds: Set<EventKind>? = nil, delivery: EventDelivery? = nil, since: [String: ResumePoint] = [:])
    /// Ends all subscriptions of the connection.
    case unsubscribeAll

    /// Begins a replay.
    case trace(TraceHeader)
    /// Ends a replay.
    case traceEnd
    /// Ends the replay that another connection plays into the camera.
    case endReplay
}

/// What a request is known by in its reply: a number within ±(2^53−1), or a text of at most 256 bytes as JSON writes
/// it.
public enum RequestID: Hashable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// A number.
    case number(Int)
    /// A text.
    case text(String)

    /// An id that is a number.
    public init(integerLiteral number: Int) { self = .number(number) }
    /// An id that is a text.
    public init(stringLiteral text: String) { self = .text(text) }
}

/// The paces that an animation may have. (CSS: `animation-timing-function`, with the same names.)
public enum EasingName: String, CaseIterable, Codable, Sendable {
    /// Quick at first, then slow: cubic-bezier(.25, .1, .25, 1).
    case `default`
    /// As fast all the way.
    case linear
    /// Slow at first.
    case easeIn = "ease-in"
    /// Slow at the end.
    case easeOut = "ease-out"
    /// Slow at both ends.
    case easeInOut = "ease-in-out"

    /// The curve of this name.
    public var easing: Easing {
        switch self {
        case .default: .default
        case .linear: .linear
        case .easeIn: .easeIn
        case .easeOut: .easeOut
        case .easeInOut: .easeInOut
        }
    }
}

/// Switches of gestures to be set; one that is `nil` stays as it is. ``/Gestures/GestureSettings`` says what each is for.
public struct GestureSwitches: Equatable, Sendable, Codable {
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

/// The kinds of events that a subscriber chooses from.
public enum EventKind: String, Codable, CaseIterable, Sendable {
    /// A movement begins.
    case moveStarted = "move-started"
    /// The camera is somewhere else.
    case cameraChanged = "camera-changed"
    /// The movement is over.
    case idle
    /// The camera is fed. A header says where that begins; the lines after it make the same camera. Every one of them is
    /// delivered, or missed: nothing is resent after ``CameraEvent/lagged(_:)``.
    case gesture

    /// The kinds that tell what the camera does.
    public static let movements: Set<EventKind> = [.moveStarted, .cameraChanged, .idle]
}

/// What a subscriber that reads slowly is to get.
public enum EventDelivery: String, Codable, CaseIterable, Sendable {
    /// Each event, in order; who falls behind the camera's history is told by ``CameraEvent/lagged(_:)``.
    case every
    /// The newest position; older ones are skipped, and `seq` shows it.
    case latest
}

/// How far a camera's events have been read: what comes after it can be asked for again.
public struct ResumePoint: Equatable, Sendable {
    /// The `seq` of the last event that was read, from 0.
    public var seq: Int
    /// The epoch that it counts in.
    public var epoch: String

    /// A place in an epoch, at most 64 bytes long.
    public init(seq: Int, epoch: String) {
        self.seq = seq
        self.epoch = epoch
    }
}

/// The first line of a trace: the camera that it begins with, and how fast it is played.
public struct TraceHeader: Equatable, Sendable {
    /// Milliseconds of the trace per millisecond, above 0; infinite is as fast as possible.
    public var speed: Double
    /// The size of the screen.
    public var viewport: Viewport
    /// Where the camera begins.
    public var position: CameraPosition
    /// The zooms that it may have.
    public var zoomRange: ZoomRange
    /// Where the target is kept; `nil` is anywhere.
    public var targetBounds: CoordinateBounds?
    /// Which gestures move it.
    public var gestures: GestureSwitches

    /// A header; what is left out is as a new camera has it.
    public init(
        speed: Double = 1, viewport: Viewport = .standard, position: CameraPosition = .initial,
        zoomRange: ZoomRange = .all, targetBounds: CoordinateBounds? = nil,
        gestures: GestureSwitches = GestureSwitches()
    ) {
        self.speed = speed
        self.viewport = viewport
        self.position = position
        self.zoomRange = zoomRange
        self.targetBounds = targetBounds
        self.gestures = gestures
    }
}
