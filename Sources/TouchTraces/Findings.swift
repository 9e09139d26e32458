// What a recording's fingers did, as a person would tell it.

import Gestures
import MapCamera

/// One gesture that was found.
public struct FoundGesture: Sendable {
    /// Which it was.
    public let kind: GestureKind
    /// When it began, in milliseconds since the first frame.
    public let startMs: Double
    /// When it ended, in milliseconds since the first frame; `nil` while it goes on.
    public fileprivate(set) var endMs: Double?
    /// What it came to; `nil` for a tap.
    public fileprivate(set) var value: GestureEvent.Value?
    /// Whether the fingers were lost, so that it was cancelled.
    public fileprivate(set) var isCancelled = false
}

/// What was found in a recording.
public struct Findings: Sendable {
    /// How many gestures are kept.
    public static let mostGestures = 1000

    /// How many frames there were.
    public private(set) var frames = 0
    /// Milliseconds from the first frame to the last.
    public private(set) var durationMs = 0.0
    /// How many fingers landed.
    public internal(set) var landed = 0
    /// How many were down at one time.
    public private(set) var mostFingers = 0
    /// The first gestures, in the order in which they began.
    public private(set) var gestures: [FoundGesture] = []
    /// How many gestures there were.
    public private(set) var gestureCount = 0

    package init() {}

    private var contacts: [Contact] = []
    /// Where in ``gestures`` those stand that have not ended.
    private var open: [(index: Int, feed: Int, label: GestureKey.Label)] = []

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
    ///   - landed: how many fingers have landed on a surface.
    ///   - down: how many are down on all.
    package mutating func addTouches(landed: Int, down: Int) {
        self.landed += landed
        mostFingers = max(mostFingers, down)
    }

    /// - Parameter feed: tells apart gestures that are told, and those that are made of the fingers of each surface.
    package mutating func add(
        _ event: GestureEvent, feed: Int = 0, _ label: GestureKey.Label = .none, at timeMs: Double
    ) {
        let found = open.firstIndex {
            $0.feed == feed && $0.label == label && gestures[$0.index].kind == event.kind
        }
        guard let found, event.phase != .began else {
            if let found { end(found, at: timeMs, isCancelled: false) }
            return begin(event, feed, label, at: timeMs)
        }
        let index = open[found].index
        gestures[index].value = event.value ?? gestures[index].value
        if event.phase != .changed { end(found, at: timeMs, isCancelled: event.phase == .cancelled) }
    }

    private mutating func begin(_ event: GestureEvent, _ feed: Int, _ label: GestureKey.Label, at timeMs: Double) {
        guard event.kind.isTap ? event.phase == .ended : event.phase == .began || event.phase == .changed else {
            return
        }
        gestureCount += 1
        guard gestures.count < Self.mostGestures else { return }
        gestures.append(FoundGesture(kind: event.kind, startMs: timeMs, endMs: event.kind.isTap ? timeMs : nil))
        if !event.kind.isTap { open.append((gestures.count - 1, feed, label)) }
    }

    private mutating func end(_ found: Int, at timeMs: Double, isCancelled: Bool) {
        gestures[open[found].index].endMs = timeMs
        gestures[open[found].index].isCancelled = isCancelled
        open.remove(at: found)
    }
}
