// Summarizes what a recording's fingers did.

import Gestures
import GimbalProtocol
import MapCamera

/// One gesture in a recording.
public struct FoundGesture: Sendable {
    /// The kind of gesture.
    public let kind: GestureKind
    /// When it began, in milliseconds of a replay's clock.
    public let startMs: Double
    /// When it ended, in milliseconds of a replay's clock; `nil` while it is active.
    public fileprivate(set) var endMs: Double?
    /// Its last value; `nil` for a tap.
    public fileprivate(set) var value: GestureEvent.Value?
    /// Whether it was cancelled because the fingers were lost.
    public fileprivate(set) var isCancelled = false
}

/// The gestures and counts of a recording.
public struct Findings: Sendable {
    /// The maximum number of gestures kept.
    public static let mostGestures = 1000

    /// The number of frames.
    public private(set) var frames = 0
    /// Milliseconds from the first frame to the last.
    public private(set) var durationMs = 0.0
    /// The number of fingers that landed.
    public internal(set) var landed = 0
    /// The maximum number of fingers down at a time.
    public private(set) var mostFingers = 0
    /// The first gestures, in the order they began.
    public private(set) var gestures: [FoundGesture] = []
    /// The number of gestures seen.
    public private(set) var gestureCount = 0

    package init() {}

    private var contacts: [Contact] = []
    /// The active gestures: their index in ``gestures``, if kept.
    private var open = ActiveGestures<Int?>(limit: mostGestures)

    mutating func add(_ frame: ContactFrame) {
        mostFingers = max(mostFingers, frame.contacts.count)
        landed += frame.landed(since: contacts)
        contacts.removeAll(keepingCapacity: true)
        contacts.append(contentsOf: frame.contacts)
    }

    package mutating func addFrame(at timeMs: Double) {
        frames += 1
        durationMs = timeMs
    }

    /// - Parameters:
    ///   - landed: how many fingers landed on a surface.
    ///   - down: how many are down on all surfaces.
    package mutating func addTouches(landed: Int, down: Int) {
        self.landed += landed
        mostFingers = max(mostFingers, down)
    }

    package mutating func add(_ report: GestureReport, at timeMs: Double) {
        let event = report.event
        if event.kind.isTap {
            if event.phase == .ended { _ = begin(event.kind, at: timeMs, endMs: timeMs) }
            return
        }
        let known = open[report.key]
        if event.phase != .began, let index = known ?? nil {
            gestures[index].value = event.value ?? gestures[index].value
        }
        let begins = event.phase == .began || event.phase == .changed && known == nil
        let ended = open.handle(report, begins ? begin(event.kind, at: timeMs) : nil)
        guard let index = ended?.value else { return }
        gestures[index].endMs = timeMs
        gestures[index].isCancelled = event.phase == .cancelled
    }

    /// - Returns: the gesture's index, if it is kept.
    private mutating func begin(_ kind: GestureKind, at timeMs: Double, endMs: Double? = nil) -> Int? {
        gestureCount += 1
        guard gestures.count < Self.mostGestures else { return nil }
        gestures.append(FoundGesture(kind: kind, startMs: timeMs, endMs: endMs))
        return gestures.count - 1
    }
}
