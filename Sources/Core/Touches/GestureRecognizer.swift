// Fingers in, gesture reports out: what people mean on a map. Time comes in with the frames, so it runs over a recording
// and over a live surface alike.
//
// A grip is undecided until its fingers have moved past a threshold; then it is a pan, a tilt, a one-finger zoom, or pan,
// pinch and rotation together. What was moved until then is made good as the fingers move on, and whatever is left of it
// when a finger lands or lifts: nothing is lost, and nothing leaps by more than a threshold. The next grip begins from
// where its fingers are, so nothing jumps.

import Gestures
import MapCamera

/// Recognizes the gestures of one surface.
public struct GestureRecognizer: Codable, Sendable {
    /// The reports of the last frame, in order: they belong into one frame of requests.
    public private(set) var events: [GestureEvent] = []

    /// Whether angles can be trusted. A semi-multitouch touchpad tells only the box around two fingers.
    public var recognizesRotation: Bool

    private let thresholds: Thresholds
    private var time = 0.0
    private var taps: TapDetector

    // The grip
    private(set) var grip = Grip()
    /// `nil` while it is undecided.
    private var meaning: Meaning?
    /// What the grip had moved where the reports begin to count.
    private var origin = Movement()
    /// What the grip had moved when it last tilted.
    private var tilted = Movement()
    private var slack = Slack()

    // What is reported
    private var active: Set<GestureKind> = []
    /// The pan's translation before this grip.
    private var panBefore = ScreenPoint(x: 0, y: 0)
    /// The last 100 ms of the fingers' mean, for the velocity that a pan ends with.
    private var path = SampleWindow()
    /// The last 100 ms of what was reported of a pinch and a rotation: levels in x, degrees in y.
    private var pinches = SampleWindow()
    /// Until when the map may go on by what the fingers left it with.
    private var glideEnd = -Double.infinity

    /// A recognizer that has seen nothing.
    ///
    /// - Parameters:
    ///   - thresholds: when fingers are taken for gestures.
    ///   - recognizesRotation: whether angles can be trusted.
    public init(_ thresholds: Thresholds = Thresholds(), recognizesRotation: Bool = true) {
        self.thresholds = thresholds
        self.recognizesRotation = recognizesRotation
        taps = TapDetector(thresholds)
    }

    /// How many bytes it takes beside its own size, roughly.
    var byteCount: Int { path.byteCount + pinches.byteCount + grip.fingers.count * MemoryLayout<Grip.Finger>.stride }

    // MARK: Frames

    /// Follows the fingers into a frame; ``events`` are then what it means. They may stand in any order.
    public mutating func handle(_ frame: TouchFrame) {
        events.removeAll(keepingCapacity: true)
        let elapsed = frame.timeMs - time
        time = frame.timeMs
        if frame.isCancelled { cancel() }
        if let touches = grip.order(frame.touches) {
            if !touches.isEmpty { move(to: touches, after: elapsed) }
        } else {
            change(to: frame.touches)
        }
    }

    /// Whether it would take the fingers of a frame at a time as one does that has seen nothing.
    package func isNew(at time: Double) -> Bool {
        grip.count == 0 && active.isEmpty && time >= glideEnd && !taps.remembers(at: time)
    }

    /// Whether the last fingers tapped, and those that land in time may make a double tap of it.
    package var waitsForSecondTap: Bool { grip.count == 0 && taps.lastTap != nil }

    /// Ends what has begun: the fingers are lost.
    private mutating func cancel() {
        for kind in GestureKind.allCases where active.contains(kind) { add(kind, .cancelled) }
        active = []
        grip = Grip()
        taps.cancel()
    }

    // MARK: Fingers land and lift

    private mutating func change(to touches: [Touch]) {
        let lands = touches.contains { !grip.contains($0.id) }
        if touches.contains(where: { grip.contains($0.id) }) {
            endGrip(remaining: touches.count)
        } else if grip.count > 0 {
            endSession(isLifted: touches.isEmpty)
        }
        grip = Grip(touches)
        meaning = nil
        (origin, slack) = (Movement(), Slack())
        guard !touches.isEmpty else { return }
        path = SampleWindow()
        path.append(grip.centroid, at: time, arrival: time)
        taps.change(touches, centroid: grip.centroid, at: time)
        if lands { stopGlide() }
    }

    /// A finger that lands on a map that glides stops it: that is a pan which begins at once. As long as the finger rests,
    /// so does the map; and if it lifts soon, that is a tap nevertheless.
    private mutating func stopGlide() {
        if time < glideEnd { begin(.pan) }
    }

    /// Zooming, rotating and tilting end with their fingers; a pan goes on by those that are left, but not by the last
    /// alone: that one only lifts later than the others.
    private mutating func endGrip(remaining: Int) {
        end(except: remaining > 1 ? .pan : nil)
        panBefore = panBefore + applied.translation
    }

    private mutating func endSession(isLifted: Bool) {
        // Only one finger throws the map: of several, the last to lift would say how fast.
        let isThrown = isLifted && meaning == .pan && taps.mostFingers == 1
        let velocity = isThrown ? path.velocity(of: grip.centroid, at: time, arrival: time) : nil
        end(velocity: velocity.map(Self.bounded) ?? ScreenPoint(x: 0, y: 0))
        if let tap = taps.lift(at: time) { add(tap.kind, .ended, focus: tap.focus) }
    }

    /// No finger is faster than this, whatever a clock says, in points per second on each axis.
    private static let greatestSpeed = 1e6

    private static func bounded(_ velocity: ScreenPoint) -> ScreenPoint {
        ScreenPoint(
            x: min(max(velocity.x, -greatestSpeed), greatestSpeed),
            y: min(max(velocity.y, -greatestSpeed), greatestSpeed))
    }

    // MARK: Fingers move

    private mutating func move(to touches: [Touch], after elapsed: Double) {
        let (before, reach) = (grip.moved, grip.reach)
        let step = grip.move(to: touches, rotates: recognizesRotation)
        if grip.reach >= thresholds.slop { taps.exclude() }
        if meaning == nil {
            decide(before, reach)
        } else {
            slack.catchUp(step: step, elapsed: elapsed, longest: thresholds.catchUp)
            if meaning == .tilt { reconsiderTilt(before) }
        }
        report()
        path.append(grip.centroid, at: time, arrival: time)
    }

    /// - Parameters:
    ///   - before: what had been moved until the frame before.
    ///   - reach: how far the fingers had come until then.
    private mutating func decide(_ before: Movement, _ reach: Double) {
        let isPair = grip.count == 2 && taps.mostFingers == 2
        let found =
            isPair
            ? grip.meaningOfTwo(at: time, thresholds)
            : grip.meaning(afterTap: taps.firstTap != nil, thresholds)
        guard let found else { return }
        taps.exclude()
        // These are alone: a pan of the grip before does not go on beside them.
        if found == .tilt || found == .oneFingerZoom { end() }
        slack = Slack(before, reach: reach)
        recognize(found)
    }

    /// Fingers that tilt may go over to a pinch. What they went apart and around since they last tilted counts, but where
    /// they went meanwhile has tilted the map and pans it no more.
    private mutating func reconsiderTilt(_ before: Movement) {
        let found = grip.meaningOfTilt(since: tilted, thresholds)
        if found == .tilt { tilted = grip.moved }
        guard found == .transform else { return }
        end()
        origin = tilted
        origin.translation = grip.moved.translation
        var early = before - origin
        early.translation = ScreenPoint(x: 0, y: 0)
        slack = Slack(early, reach: thresholds.twoFingerSlop)
        recognize(.transform)
    }

    // MARK: Reports

    private mutating func add(
        _ kind: GestureKind, _ phase: GesturePhase, _ value: GestureEvent.Value? = nil, focus: ScreenPoint? = nil,
        velocity: ScreenPoint? = nil
    ) {
        events.append(GestureEvent(kind, phase, value, focus: focus, velocity: velocity))
    }

    /// What is reported of the grip: what it has moved, less what the map is still behind by.
    private var applied: Movement {
        meaning == nil ? Movement() : grip.moved - origin - slack.remaining
    }

    /// Where the fingers are, as far as the map follows them.
    private var focus: ScreenPoint { grip.centroid - slack.remaining.translation }

    private func focus(of kind: GestureKind) -> ScreenPoint? { kind == .oneFingerZoom ? taps.firstTap : focus }

    private var rotationDegrees: Double { applied.rotation * (180 / .pi) }

    private func value(of kind: GestureKind) -> GestureEvent.Value? {
        switch kind {
        case .pan: .pan(panBefore + applied.translation)
        case .pinch: .pinch(Elementary.exp2(applied.levels))
        case .rotate: .rotate(rotationDegrees)
        case .tilt: .tilt(applied.translation.y)
        case .oneFingerZoom: .oneFingerZoom(applied.translation.y)
        default: nil  // The others do not go on while fingers move.
        }
    }

    /// Begins what the fingers are found to do.
    private mutating func recognize(_ found: Meaning) {
        meaning = found
        switch found {
        case .pan: begin(.pan)
        case .transform:
            begin(.pan)
            begin(.pinch)
            if recognizesRotation { begin(.rotate) }
            pinches = SampleWindow()
            pinches.append(ScreenPoint(x: 0, y: 0), at: time, arrival: time)
        case .tilt:
            begin(.tilt)
            tilted = grip.moved
        case .oneFingerZoom: begin(.oneFingerZoom)
        }
    }

    /// Begins a gesture, unless it goes on from the grip before. Whatever glides is stopped by it.
    private mutating func begin(_ kind: GestureKind) {
        guard active.insert(kind).inserted else { return }
        if kind == .pan { panBefore = ScreenPoint(x: 0, y: 0) }
        glideEnd = -.infinity
        add(kind, .began, focus: focus(of: kind))
    }

    private mutating func report() {
        guard meaning != nil else { return }
        for kind in GestureKind.allCases where active.contains(kind) {
            add(kind, .changed, value(of: kind), focus: focus(of: kind))
        }
        if meaning == .transform {
            pinches.append(ScreenPoint(x: applied.levels, y: rotationDegrees), at: time, arrival: time)
        }
    }

    /// Ends active gestures, except a kind that continues in the next grip. The last report includes what the map is
    /// still behind by.
    private mutating func end(
        except lasting: GestureKind? = nil, velocity: ScreenPoint = ScreenPoint(x: 0, y: 0)
    ) {
        let isBehind = !slack.isEmpty
        slack = Slack()
        if lasting == nil { glideEnd = time + glideDuration(velocity) }
        for kind in GestureKind.allCases where active.contains(kind) {
            let last = isBehind ? value(of: kind) : nil
            if kind != lasting {
                active.remove(kind)
                add(kind, .ended, last, focus: focus, velocity: kind == .pan ? velocity : nil)
            } else if isBehind {
                add(kind, .changed, last, focus: focus)
            }
        }
    }

    /// How long the map may go on by what the fingers leave it with, in milliseconds. A pinch and a rotation leave none
    /// unless a camera's settings say so; the recognizer does not know them.
    private func glideDuration(_ velocity: ScreenPoint) -> Double {
        var momentum = Momentum(pan: velocity)
        if meaning == .transform {
            let pinch = ScreenPoint(x: applied.levels, y: rotationDegrees)
            let speed = pinches.velocity(of: pinch, at: time, arrival: time)
            (momentum.zoom, momentum.bearing) = (speed?.x ?? 0, speed?.y ?? 0)
        }
        return momentum.duration
    }
}
