// What a trace has done to a camera, as a picture shows it: steps, marks, bars and limits, all on the trace's clock.
// Invariant: longitudes and bearings are unwrapped, so that neighbours differ by less than half a turn.

import CameraStreams
import Gestures
import MapCamera

/// Why a camera moves, as it is drawn.
enum Cause: CaseIterable, Sendable {
    /// Fingers are on the screen.
    case fingers
    /// What fingers have set going: a fling, inertia, a tap.
    case glide
    /// An animation that was requested.
    case animation
    /// A command that takes no time.
    case command
}

/// What a trace has done to a camera.
package struct CameraTimeline: Sendable {
    /// The camera at one time.
    struct Step: Sendable {
        /// Milliseconds of the trace's clock.
        let timeMs: Double
        /// The target on the Mercator plane; `x` is not wrapped.
        let place: MercatorPoint
        /// The longitude and the bearing are not wrapped.
        let position: CameraPosition
        /// What moved it here; `nil` where a movement begins.
        let cause: Cause?
    }

    /// What a gesture's fingers did, from their landing to their lifting.
    struct Bar {
        let kind: GestureKind
        let start: Double
        let end: Double
        let isCancelled: Bool
    }

    /// Where a finger went on the screen, or the middle of several.
    struct Track {
        /// Points of the screen.
        var points: [ScreenPoint]
        var isCancelled = false
    }

    /// The camera's limits and its screen, from a time on.
    struct Limits {
        let timeMs: Double
        /// `nil` if that is not known.
        let zoomRange: ZoomRange?
        let targetBounds: CoordinateBounds?
        let viewport: Viewport
    }

    /// What the picture is of.
    var title = ""
    /// Where the clock begins: milliseconds of the file's own.
    var originMs = 0.0
    /// Milliseconds of the trace's clock at the end, rest included.
    var durationMs = 0.0
    /// Lines that were taken.
    var events = 0
    /// Lines that were not.
    var rejected = 0
    /// How often the camera changed.
    var frames = 0

    private(set) var steps: [Step] = []
    /// When movements begin, and when the camera rests.
    private(set) var started: [Double] = []
    var idle: [Double] = []
    /// What gestures' fingers did; a tap ends when it begins.
    var bars: [Bar] = []
    /// When commands and settings were taken.
    var commands: [Double] = []
    /// The limits, from when they are known and each time they change.
    var limits: [Limits] = []
    /// Where fingers went, as far as that is known.
    var fingers: [Track] = []
    /// Where gestures were: a track for as long as any of them is active.
    private(set) var foci: [Track] = []

    private static let mostFoci = 500
    private static let mostFocusPoints = 20_000
    private var focusPoints = 0
    private var hasOpenFocus = false

    /// A timeline that has not begun.
    ///
    /// - Parameter other: another one that is drawn over it: it begins on the turn that is nearest to that one's beginning.
    init(from position: CameraPosition, near other: CameraTimeline? = nil) {
        add(position, at: 0, nil, near: other?.steps.first?.position)
    }

    /// What a stream tells, which knows neither fingers nor limits.
    init(of stream: CameraStream, near other: CameraTimeline? = nil) {
        self.init(from: stream.samples.first?.position ?? .initial, near: other)
        for sample in stream.samples.dropFirst() { moved(at: sample.timeMs, to: sample.position, .fingers) }
        (started, idle) = (stream.movements.map(\.startMs), stream.movements.compactMap(\.endMs))
        durationMs = stream.endMs
        limits = [Limits(timeMs: 0, zoomRange: nil, targetBounds: nil, viewport: stream.viewport)]
    }

    private mutating func add(
        _ position: CameraPosition, at timeMs: Double, _ cause: Cause?, near other: CameraPosition? = nil
    ) {
        var position = position
        if let last = steps.last?.position ?? other {
            position.bearing = last.bearing + wrap180(position.bearing - last.bearing)
            position.target.longitude =
                last.target.longitude + wrap180(position.target.longitude - last.target.longitude)
        }
        steps.append(Step(timeMs: timeMs, place: MercatorPoint(position.target), position: position, cause: cause))
    }

    // MARK: What happens

    /// A movement begins, or goes on for another reason.
    mutating func moveStarted(at timeMs: Double, from position: CameraPosition) {
        started.append(timeMs)
        add(position, at: timeMs, nil)
    }

    /// The camera has moved.
    mutating func moved(at timeMs: Double, to position: CameraPosition, _ cause: Cause) {
        add(position, at: timeMs, cause)
    }

    /// Gestures are about a point of the screen.
    mutating func focus(at point: ScreenPoint) {
        guard hasOpenFocus ? focusPoints < Self.mostFocusPoints : foci.count < Self.mostFoci else { return }
        if !hasOpenFocus { foci.append(Track(points: [])) }
        hasOpenFocus = true
        guard let last = foci.indices.last, foci[last].points.last != point else { return }
        foci[last].points.append(point)
        focusPoints += 1
    }

    /// No gesture is active any more.
    mutating func endFocus(isCancelled: Bool) {
        if hasOpenFocus, let last = foci.indices.last { foci[last].isCancelled = isCancelled }
        hasOpenFocus = false
    }

    // MARK: What there is

    /// When all is over.
    var endMs: Double { max(durationMs, steps.last?.timeMs ?? 0) }

    /// The limits at a time.
    func limits(at timeMs: Double) -> Limits? { limits.last { $0.timeMs <= timeMs } ?? limits.first }

    /// The camera at a time.
    func step(at timeMs: Double) -> Step? {
        var (low, high) = (0, steps.count)
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].timeMs <= timeMs { low = middle + 1 } else { high = middle }
        }
        return steps[..<low].last ?? steps.first
    }

    func has(_ cause: Cause) -> Bool { steps.contains { $0.cause == cause } }
}
