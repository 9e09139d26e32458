// What a client may ask, as values. A request borrows nothing: only its id and epoch are places in the line it came from.

import Gestures
import MapCamera

/// One object of one line.
public struct Request: Sendable {
    /// The id as it is written in the line.
    public var id: Slice?
    /// The camera's name; `nil` if the line names none.
    public var camera: String?
    /// The line's own time in milliseconds.
    public var timeMs: Double?
    /// Whether it makes its camera if that is not there.
    public var creates = true
    public var body: Body

    public enum Body: Sendable {
        case gesture(Gesture)
        case command(Command)
        case query(Query)
        case subscribe(Subscribe)
        case unsubscribe
        /// To all cameras, those to come included; with where some of them have been read up to.
        case subscribeAll(Subscribe, since: [ResumePoint])
        case unsubscribeAll
        /// Answered when the camera rests; after so many milliseconds with an error, if there are any.
        case awaitIdle(timeoutMs: Double?)
        /// Ends the replay of another connection.
        case endReplay
        case hello
        /// Rare, and larger than all others.
        indirect case trace(TraceHeader)
        case traceEnd
    }

    /// A report, and which of several gestures of its kind it is about.
    public struct Gesture: Sendable {
        public var event: GestureEvent
        public var label: GestureKey.Label

        public init(_ event: GestureEvent, label: GestureKey.Label) {
            self.event = event
            self.label = label
        }
    }

    public enum Command: Sendable {
        case move(CameraUpdate)
        case animate(CameraUpdate, durationMs: Double, easing: Easing)
        case stop
        case setGestures(GestureSettingsChange)
        case setZoomRange(min: Double?, max: Double?)
        case setTargetBounds(CoordinateBounds?)
        case setViewport(Viewport)
        case removeCamera
    }

    public enum Query: Sendable {
        case getCamera
        case cameraForBounds(CoordinateBounds, insets: EdgeInsets)
        case project(LatLng)
        case unproject(ScreenPoint)
        case visibleRegion
        case cameras
        case stats
        /// Clients whose numbers are greater.
        case clients(after: Int)
        case ping
    }
}

/// The kinds of event, as a subscriber chooses them.
public struct EventKinds: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let moveStarted = EventKinds(rawValue: 1)
    public static let cameraChanged = EventKinds(rawValue: 2)
    public static let idle = EventKinds(rawValue: 4)
    /// What the camera is fed: only for who names it.
    public static let gesture = EventKinds(rawValue: 8)
    /// Goes to every subscriber, whatever it chose.
    public static let reset = EventKinds(rawValue: 16)
    /// What a subscriber gets that names none.
    public static let all: EventKinds = [.moveStarted, .cameraChanged, .idle, .reset]
}

public struct Subscribe: Sendable {
    public enum Delivery: Sendable {
        case every, latest
    }

    public var events: EventKinds = .all
    public var delivery = Delivery.every
    /// Resend what came after this event of this epoch.
    public var since: (seq: UInt64, epoch: Slice)?
}

extension Subscribe {
    /// A subscription from now on.
    public init(_ events: EventKinds, _ delivery: Delivery) { self.init(events: events, delivery: delivery) }
}

/// How far a camera's events have been read.
public struct ResumePoint: Sendable {
    public var camera: String
    public var seq: UInt64
    public var epoch: Slice
}

/// The gesture settings that a line names.
public struct GestureSettingsChange: Sendable {
    public var scroll: Bool?
    public var zoom: Bool?
    public var rotate: Bool?
    public var tilt: Bool?
    public var scrollDuringRotateOrZoom: Bool?
    public var fling: Bool?
    public var inertia: Bool?

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

extension GestureSettingsChange {
    /// A change to these settings, whatever they were.
    init(_ settings: GestureSettings) {
        self.init(
            scroll: settings.scroll, zoom: settings.zoom, rotate: settings.rotate, tilt: settings.tilt,
            scrollDuringRotateOrZoom: settings.scrollDuringRotateOrZoom, fling: settings.fling,
            inertia: settings.inertia)
    }
}

/// The first line of a trace: the camera that the trace begins with, and how fast it is played.
public struct TraceHeader: Sendable {
    /// Trace milliseconds per millisecond; infinite for `"max"`.
    public var speed = 1.0
    public var viewport = Viewport.standard
    public var position = CameraPosition.initial
    public var constraints = CameraConstraints()
    public var gestures = GestureSettingsChange()
}

extension TraceHeader {
    /// The header of a trace that begins with a camera as it is.
    public init(_ camera: Camera, _ settings: GestureSettings) {
        self.init()
        viewport = camera.viewport
        position = camera.position
        constraints = camera.constraints
        gestures = GestureSettingsChange(settings)
    }
}
