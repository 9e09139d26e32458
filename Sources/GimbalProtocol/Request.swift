// What a client may ask, as values. A request borrows nothing: only its id and epoch are places in the line it came from.

import Gestures
import JSONLines
import MapCamera

/// One object of one line.
package struct Request: Sendable {
    /// The id as it is written in the line.
    package var id: ByteRange?
    /// The camera's name; `nil` if the line names none.
    package var camera: String?
    /// The line's own time in milliseconds.
    package var timeMs: Double?
    /// Whether it makes its camera if that is not there.
    package var creates = true
    package var body: Body

    package enum Body: Sendable {
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
    package struct Gesture: Sendable {
        package var event: GestureEvent
        package var label: GestureKey.Label

        package init(_ event: GestureEvent, label: GestureKey.Label) {
            self.event = event
            self.label = label
        }
    }

    package enum Command: Sendable {
        case move(CameraUpdate)
        case animate(CameraUpdate, durationMs: Double, easing: Easing)
        case stop
        case setGestures(GestureSettingsChange)
        case setZoomRange(min: Double?, max: Double?)
        case setTargetBounds(CoordinateBounds?)
        case setViewport(Viewport)
        case removeCamera
    }

    package enum Query: Sendable {
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
package struct EventKinds: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let moveStarted = EventKinds(rawValue: 1)
    package static let cameraChanged = EventKinds(rawValue: 2)
    package static let idle = EventKinds(rawValue: 4)
    /// What the camera is fed: only for who names it.
    package static let gesture = EventKinds(rawValue: 8)
    /// Goes to every subscriber, whatever it chose.
    package static let reset = EventKinds(rawValue: 16)
    /// What a subscriber gets that names none.
    package static let all: EventKinds = [.moveStarted, .cameraChanged, .idle, .reset]
}

package struct Subscribe: Sendable {
    package enum Delivery: Sendable {
        case every, latest
    }

    package var events: EventKinds = .all
    package var delivery = Delivery.every
    /// Resend what came after this event of this epoch.
    package var since: (seq: UInt64, epoch: ByteRange)?
}

extension Subscribe {
    /// A subscription from now on.
    package init(_ events: EventKinds, _ delivery: Delivery) { self.init(events: events, delivery: delivery) }
}

/// How far a camera's events have been read.
package struct ResumePoint: Sendable {
    package var camera: String
    package var seq: UInt64
    package var epoch: ByteRange
}

/// The gesture settings that a line names.
package struct GestureSettingsChange: Sendable {
    package var scroll: Bool?
    package var zoom: Bool?
    package var rotate: Bool?
    package var tilt: Bool?
    package var scrollDuringRotateOrZoom: Bool?
    package var fling: Bool?
    package var inertia: Bool?

    package func applied(to settings: GestureSettings) -> GestureSettings {
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
package struct TraceHeader: Sendable {
    /// Trace milliseconds per millisecond; infinite for `"max"`.
    package var speed = 1.0
    package var viewport = Viewport.standard
    package var position = CameraPosition.initial
    package var constraints = CameraConstraints()
    package var gestures = GestureSettingsChange()
}

extension TraceHeader {
    /// The header of a trace that begins with a camera as it is.
    package init(_ camera: Camera, _ settings: GestureSettings) {
        self.init()
        viewport = camera.viewport
        position = camera.position
        constraints = camera.constraints
        gestures = GestureSettingsChange(settings)
    }
}
