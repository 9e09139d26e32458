// What a trace did to a camera, as a picture shows it: steps, marks, bars and limits, all on the trace's clock.
// Invariant: longitudes and bearings are unwrapped, so that neighbours differ by less than half a turn.

import CameraStreams
import Gestures
import MapCamera

/// Why a camera moves, as pictures distinguish it; also the CSS class of what is drawn for it.
enum Cause: String, CaseIterable, Sendable {
    /// Fingers are on the screen.
    case fingers
    /// Motion that fingers started: a fling, inertia, a tap.
    case glide
    /// A requested animation.
    case animation
    /// A command that takes effect at once.
    case command = "snap"
}

/// What a trace did to a camera.
package struct CameraTimeline: Sendable {
    /// The camera at one time.
    struct Step: Sendable {
        /// Milliseconds of the trace's clock.
        let timeMs: Double
        /// The target on the Mercator plane; `x` is not wrapped.
        let place: MercatorPoint
        /// The longitude and the bearing are not wrapped.
        let position: CameraPosition
        /// What moved the camera here; `nil` where a movement begins.
        let cause: Cause?
    }

    /// A gesture, from the landing of its fingers to their lifting.
    struct Bar {
        let kind: GestureKind
        let start: Double
        let end: Double
        let isCancelled: Bool
    }

    /// The path of a finger on the screen, or of the midpoint of several.
    struct Track {
        var points: [ScreenPoint]
        var isCancelled = false
    }

    /// The camera's limits and its screen, from a time on.
    struct Limits {
        let timeMs: Double
        /// `nil` if unknown.
        let zoomRange: ZoomRange?
        let targetBounds: CoordinateBounds?
        let viewport: Viewport
    }

    var title = ""
    /// Where the clock begins, in milliseconds of the file's own clock.
    var originMs = 0.0
    /// The end in milliseconds of the trace's clock, including the time until the camera rests.
    var durationMs = 0.0
    /// Lines that were accepted.
    var events = 0
    /// Lines that were rejected.
    var rejected = 0
    /// How often the camera changed.
    var frames = 0

    private(set) var steps: [Step] = []
    /// When movements begin, and when the camera rests.
    private(set) var started: [Double] = []
    var idle: [Double] = []
    /// The gestures; a tap ends when it begins.
    var bars: [Bar] = []
    /// When commands and settings were applied.
    var commands: [Double] = []
    /// The limits, from when they are known, and each time they change.
    var limits: [Limits] = []
    /// The paths of fingers, as far as they are known.
    var fingers: [Track] = []
    /// Where gestures took place: one track for as long as any of them is active.
    private(set) var foci: [Track] = []

    private static let mostFoci = 500
    private static let mostFocusPoints = 20_000
    private var focusPoints = 0
    private var hasOpenFocus = false

    /// Creates a timeline that has not begun.
    ///
    /// - Parameter other: a timeline in the same picture; this one begins on the turn of the globe nearest to it.
    init(from position: CameraPosition, near other: CameraTimeline? = nil) {
        moved(at: 0, to: position, nil, near: other?.steps.first?.position)
    }

    /// Creates a timeline from a stream, which has neither fingers nor limits.
    init(of stream: CameraStream, near other: CameraTimeline? = nil) {
        self.init(from: stream.samples.first?.position ?? .initial, near: other)
        for sample in stream.samples.dropFirst() { moved(at: sample.timeMs, to: sample.position, .fingers) }
        (started, idle) = (stream.movements.map(\.startMs), stream.movements.compactMap(\.endMs))
        durationMs = stream.endMs
        limits = [Limits(timeMs: 0, zoomRange: nil, targetBounds: nil, viewport: stream.viewport)]
    }

    /// Records where the camera is, and what moved it there.
    mutating func moved(
        at timeMs: Double, to position: CameraPosition, _ cause: Cause?, near other: CameraPosition? = nil
    ) {
        var position = position
        if let last = steps.last?.position ?? other {
            position.bearing = last.bearing + wrap180(position.bearing - last.bearing)
            position.target.longitude =
                last.target.longitude + wrap180(position.target.longitude - last.target.longitude)
        }
        steps.append(Step(timeMs: timeMs, place: MercatorPoint(position.target), position: position, cause: cause))
    }

    // MARK: Events

    /// Records that a movement begins, or continues for another reason.
    mutating func moveStarted(at timeMs: Double, from position: CameraPosition) {
        started.append(timeMs)
        moved(at: timeMs, to: position, nil)
    }

    /// Records the point of the screen that gestures are centred on.
    mutating func focus(at point: ScreenPoint) {
        guard hasOpenFocus ? focusPoints < Self.mostFocusPoints : foci.count < Self.mostFoci else { return }
        if !hasOpenFocus { foci.append(Track(points: [])) }
        hasOpenFocus = true
        guard let last = foci.indices.last, foci[last].points.last != point else { return }
        foci[last].points.append(point)
        focusPoints += 1
    }

    /// Ends the track of the focus: no gesture is active any more.
    mutating func endFocus(isCancelled: Bool) {
        if hasOpenFocus, let last = foci.indices.last { foci[last].isCancelled = isCancelled }
        hasOpenFocus = false
    }

    // MARK: Queries

    /// When everything is over.
    var endMs: Double { max(durationMs, steps.last?.timeMs ?? 0) }

    /// Returns the limits at a time.
    func limits(at timeMs: Double) -> Limits? { limits.last { $0.timeMs <= timeMs } ?? limits.first }

    /// Returns the camera at a time.
    func step(at timeMs: Double) -> Step? {
        steps.prefix(steps.partitioningIndex { $0.timeMs > timeMs }).last ?? steps.first
    }
}
