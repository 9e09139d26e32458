// Turns fingers into gesture reports by what people mean on a map. Time comes with the frames, so recordings and live
// surfaces are handled alike.
//
// A grip is undecided until its fingers have moved past a threshold; then it is a pan, a tilt, a one-finger zoom, or
// pan, pinch and rotation together. The movement before that is caught up with as the fingers move on, and the rest of
// it when a finger lands or lifts: nothing is lost, and nothing jumps by more than a threshold. The next grip begins
// where its fingers are, so it causes no jump.

import Gestures
import MapCamera

/// Recognizes the gestures of one surface.
public struct GestureRecognizer: Codable, Sendable {
    /// The reports of the last frame of fingers, in order: they belong in one batch of requests.
    public private(set) var events: [GestureEvent] = []

    /// Whether angles can be trusted. A semi-multitouch touchpad reports only the box around two fingers.
    public var recognizesRotation: Bool

    private let thresholds: Thresholds
    private var time = 0.0
    private var taps: TapDetector

    // The grip
    private(set) var grip = Grip()
    /// `nil` while it is undecided.
    private var meaning: Meaning?
    /// The grip's movement from which the reports count.
    private var origin = Movement()
    /// The grip's movement when it last tilted.
    private var tilted = Movement()
    private var slack = Slack()

    // What is reported
    private var active: Set<GestureKind> = []
    /// The pan's translation before this grip.
    private var panBefore = ScreenPoint(x: 0, y: 0)
    /// The last 100 ms of the fingers' mean, for the final velocity of a pan.
    private var path = SampleWindow()
    /// The last 100 ms of the reported pinch and rotation: levels in x, degrees in y.
    private var pinches = SampleWindow()
    /// Until when the map may glide after the fingers have left it.
    private var glideEnd = -Double.infinity

    /// Creates a recognizer that has seen no frame.
    ///
    /// - Parameters:
    ///   - thresholds: when fingers are recognized as gestures.
    ///   - recognizesRotation: whether angles can be trusted.
    public init(_ thresholds: Thresholds = Thresholds(), recognizesRotation: Bool = true) {
        self.thresholds = thresholds
        self.recognizesRotation = recognizesRotation
        taps = TapDetector(thresholds)
    }

    /// Roughly how many bytes it takes beyond its own size.
    var byteCount: Int { path.byteCount + pinches.byteCount + grip.fingers.count * MemoryLayout<Grip.Finger>.stride }

    // MARK: Frames

    /// Handles a frame of fingers, in any order; afterwards, ``events`` has the frame's reports.
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

    /// Whether it would handle fingers that land at a time as a new recognizer would.
    package func isNew(at time: Double) -> Bool {
        grip.count == 0 && active.isEmpty && time >= glideEnd && !taps.remembers(at: time)
    }

    /// Whether the last fingers tapped, and a second tap in time would make it a double tap.
    package var waitsForSecondTap: Bool { grip.count == 0 && taps.lastTap != nil }

    /// Cancels all active gestures: the fingers are lost.
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
        // A finger that lands stops a gliding map: this is a pan that begins at once. While the finger rests, the map
        // does, too; if the finger lifts soon, that still counts as a tap.
        if lands, time < glideEnd { begin(.pan) }
    }

    /// Ends the gestures of a grip. A zoom, rotation or tilt ends with its fingers; a pan continues with the remaining
    /// ones, but not with a single one, which only lifts later than the others.
    private mutating func endGrip(remaining: Int) {
        end(except: remaining > 1 ? .pan : nil)
        panBefore = panBefore + applied.translation
    }

    private mutating func endSession(isLifted: Bool) {
        // Only a single finger flings the map: with several, the last to lift would determine the velocity.
        let isThrown = isLifted && meaning == .pan && taps.mostFingers == 1
        let velocity = isThrown ? path.velocity(of: grip.centroid, at: time, arrival: time) : nil
        end(velocity: velocity.map(Self.bounded) ?? ScreenPoint(x: 0, y: 0))
        if let tap = taps.lift(at: time) { add(tap.kind, .ended, focus: tap.focus) }
    }

    /// The greatest speed of a finger, whatever a clock says, in points per second on each axis.
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
    ///   - before: the movement up to the frame before.
    ///   - reach: how far the fingers had come by then.
    private mutating func decide(_ before: Movement, _ reach: Double) {
        let isPair = grip.count == 2 && taps.mostFingers == 2
        let found =
            isPair
            ? grip.meaningOfTwo(at: time, thresholds)
            : grip.meaning(afterTap: taps.firstTap != nil, thresholds)
        guard let found else { return }
        taps.exclude()
        // These exclude others: a pan from the grip before does not continue beside them.
        if found == .tilt || found == .oneFingerZoom { end() }
        slack = Slack(before, reach: reach)
        recognize(found)
    }

    /// Lets tilting fingers become a pinch. Their movement apart and around since they last tilted counts; their
    /// translation has already tilted the map, and does not pan it.
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

    /// The reported part of the grip's movement: without what the map has yet to catch up with.
    private var applied: Movement {
        meaning == nil ? Movement() : grip.moved - origin - slack.remaining
    }

    /// The centroid of the fingers, as far as the map has caught up with them.
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

    /// Begins the gestures of a meaning.
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

    /// Begins a gesture, unless it continues from the grip before. This stops a glide.
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

    /// Ends the active gestures, except a kind that continues in the next grip. The last report includes what the map
    /// has yet to catch up with.
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

    /// Returns how long the map may glide after the fingers have left it, in milliseconds. A pinch and a rotation glide
    /// only if the camera's settings say so, which the recognizer does not know.
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
