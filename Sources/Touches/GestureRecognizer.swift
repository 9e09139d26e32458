// Fingers in, gesture reports out: what people mean on a map. Time comes in with the frames, so it runs over a recording
// and over a live surface alike.
//
// A grip is a set of fingers for as long as it stays the same. A grip is undecided until its fingers have moved past a
// threshold; then it is a pan, a tilt, a one-finger zoom, or pan, pinch and rotation together. What was moved until then
// is made good as the fingers move on: nothing is lost and nothing leaps. Where fingers land or lift, a new grip begins from
// where they are, so nothing jumps.

import Gestures
import MapCamera

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Recognizes the gestures of one surface.
public struct GestureRecognizer: Sendable {
    /// What a grip means.
    private enum Meaning: Sendable {
        case undecided, pan, transform, tilt, oneFingerZoom
    }

    private struct Finger: Sendable {
        var id: Int
        var start: ScreenPoint
        var position: ScreenPoint

        var way: ScreenPoint { position - start }
    }

    /// All fingers from the first that lands to the last that lifts.
    private struct Session: Sendable {
        var start: Double
        /// Where the first finger landed.
        var place: ScreenPoint
        var mostFingers = 1
        var isTap = true
        /// Where the first of two taps was, if this may be the second.
        var firstTap: ScreenPoint?
    }

    /// The reports of the last frame, in order: they belong into one frame of requests.
    public private(set) var events: [GestureEvent] = []

    private let thresholds: Thresholds
    private let turns: Bool

    private var session: Session?
    private var lastTap: (time: Double, place: ScreenPoint)?
    private var time = 0.0

    // The grip
    private var fingers: [Finger] = []
    private var meaning = Meaning.undecided
    private var moved = Movement()
    /// What had been moved before the grip got its meaning, how far the fingers had come, and how much of it has been made
    /// good, from 0 to 1.
    private var early = Movement()
    private var earlyReach = 0.0
    private var madeGood = 1.0
    /// What the grip before had not made good of a pan that goes on.
    private var owed = Movement()
    private var smallestSpan = 0.0
    /// When the first finger moved while the others may still rest.
    private var firstMove: Double?

    // What has begun
    private var active = KindSet()
    /// The pan's translation before this grip.
    private var panBefore = ScreenPoint(x: 0, y: 0)
    private var samples = SampleWindow()

    /// A recognizer that has seen nothing.
    ///
    /// - Parameter turns: whether angles can be trusted. A semi-multitouch touchpad tells only the box around two fingers.
    public init(_ thresholds: Thresholds = Thresholds(), turns: Bool = true) {
        self.thresholds = thresholds
        self.turns = turns
    }

    // MARK: Frames

    /// Takes a frame; ``events`` are then what it means.
    public mutating func take(_ frame: TouchFrame) {
        events.removeAll(keepingCapacity: true)
        let elapsed = frame.timeMs - time
        time = frame.timeMs
        if frame.isCancelled { cancel() }
        guard !(frame.touches.isEmpty && fingers.isEmpty) else { return }
        if isSameGrip(frame.touches) {
            move(frame.touches, after: elapsed)
        } else {
            change(frame.touches)
        }
    }

    private func isSameGrip(_ touches: [Touch]) -> Bool {
        touches.count == fingers.count && zip(touches, fingers).allSatisfy { $0.id == $1.id }
    }

    /// Ends what has begun: the fingers are lost.
    private mutating func cancel() {
        for kind in GestureKind.inOrder where active.contains(kind) { events.append(GestureEvent(kind, .cancelled)) }
        active = KindSet()
        owed = Movement()
        fingers = []
        session = nil
        lastTap = nil
    }

    // MARK: Fingers land and lift

    private mutating func change(_ touches: [Touch]) {
        let remain = touches.contains { touch in fingers.contains { $0.id == touch.id } }
        if !fingers.isEmpty, !remain { endSession(isLifted: touches.isEmpty) }
        guard !touches.isEmpty else {
            fingers = []
            return
        }
        var session = self.session ?? newSession(touches[0].position)
        session.mostFingers = max(session.mostFingers, touches.count)
        endGrip(remaining: touches.count)
        fingers.removeAll(keepingCapacity: true)
        for touch in touches { fingers.append(Finger(id: touch.id, start: touch.position, position: touch.position)) }
        meaning = .undecided
        moved = Movement()
        early = Movement()
        firstMove = nil
        smallestSpan = span
        samples = SampleWindow()
        samples.append(centroid, at: time, arrival: time)
        if touches.count == 2, session.mostFingers == 2 { session.place = centroid }
        self.session = session
    }

    /// Zooming, turning and tilting end with their fingers; a pan goes on by those that are left, but not by the last
    /// alone: that one only lifts later than the others.
    private mutating func endGrip(remaining: Int) {
        for kind in GestureKind.inOrder where active.contains(kind) {
            if kind == .pan, remaining > 1 {
                panBefore = panBefore + applied.way
                owed = Movement(way: moved.way + owed.way - applied.way)
            } else {
                end(kind, velocity: ScreenPoint(x: 0, y: 0))
            }
        }
    }

    private mutating func end(_ kind: GestureKind, velocity: ScreenPoint? = nil) {
        active.remove(kind)
        if kind == .pan { owed = Movement() }
        events.append(GestureEvent(kind, .ended, focus: focus, velocity: kind == .pan ? velocity : nil))
    }

    private mutating func newSession(_ place: ScreenPoint) -> Session {
        var session = Session(start: time, place: place)
        guard let lastTap else { return session }
        let distance = hypot(place.x - lastTap.place.x, place.y - lastTap.place.y)
        if time - lastTap.time <= thresholds.tapTime, distance <= thresholds.tapDistance {
            session.firstTap = lastTap.place
        }
        self.lastTap = nil
        return session
    }

    private mutating func endSession(isLifted: Bool) {
        // Only one finger throws the map: of several, the last to lift would say how fast.
        let velocity =
            isLifted && meaning == .pan && session?.mostFingers == 1
            ? samples.velocity(of: centroid, at: time, arrival: time).map(Self.bounded) : nil
        for kind in GestureKind.inOrder where active.contains(kind) {
            end(kind, velocity: velocity ?? ScreenPoint(x: 0, y: 0))
        }
        if let session, session.isTap, time - session.start <= thresholds.tapTime { tap(session) }
        session = nil
    }

    /// No finger is faster than this, whatever a clock says, in points per second on each axis.
    private static let greatestSpeed = 1e6

    private static func bounded(_ velocity: ScreenPoint) -> ScreenPoint {
        ScreenPoint(
            x: min(max(velocity.x, -greatestSpeed), greatestSpeed),
            y: min(max(velocity.y, -greatestSpeed), greatestSpeed))
    }

    private mutating func tap(_ session: Session) {
        switch (session.mostFingers, session.firstTap) {
        case (1, let place?): events.append(GestureEvent(.doubleTap, .ended, focus: place))
        case (1, nil): lastTap = (time, session.place)
        case (2, _): events.append(GestureEvent(.twoFingerTap, .ended, focus: session.place))
        default: break
        }
    }

    // MARK: Fingers move

    private mutating func move(_ touches: [Touch], after elapsed: Double) {
        let (before, reach) = (moved, self.reach)
        let step = follow(touches)
        if fingers.contains(where: { hypot($0.way.x, $0.way.y) >= thresholds.slop }) { session?.isTap = false }
        if meaning == .undecided {
            decide(before, reach)
        } else if madeGood < 1 {
            // No faster than the fingers themselves, or else slowly; a pause must not make it a leap.
            madeGood = min(1, madeGood + max(step / earlyReach, min(max(elapsed, 0), 20) / thresholds.catchUp))
        }
        report(.changed)
        samples.append(centroid, at: time, arrival: time)
    }

    /// Moves the fingers, and adds up what that is; says how far the one went that went farthest.
    private mutating func follow(_ touches: [Touch]) -> Double {
        let (centroid, span, angle) = (self.centroid, self.span, self.angle)
        var farthest = 0.0
        for index in fingers.indices {
            let step = touches[index].position - fingers[index].position
            farthest = max(farthest, hypot(step.x, step.y))
            fingers[index].position = touches[index].position
        }
        moved.way = moved.way + (self.centroid - centroid)
        guard fingers.count == 2 else { return farthest }
        smallestSpan = min(smallestSpan, self.span)
        moved.levels += log2(self.span / span)
        if turns { moved.turn += (self.angle - angle).remainder(dividingBy: 2 * .pi) }
        return farthest
    }

    /// How far the finger is from where it landed that is farthest.
    private var reach: Double { fingers.reduce(0) { max($0, hypot($1.way.x, $1.way.y)) } }

    private var centroid: ScreenPoint {
        let sum = fingers.reduce(ScreenPoint(x: 0, y: 0)) { $0 + $1.position }
        let count = Double(max(fingers.count, 1))
        return ScreenPoint(x: sum.x / count, y: sum.y / count)
    }

    /// The distance of two fingers in points; where they touch each other, they have one of 8.
    private var span: Double {
        guard fingers.count == 2 else { return 0 }
        let way = fingers[1].position - fingers[0].position
        return max(hypot(way.x, way.y), 8)
    }

    /// The direction from one finger to the other in radians, clockwise since y points down.
    private var angle: Double {
        guard fingers.count == 2 else { return 0 }
        let way = fingers[1].position - fingers[0].position
        return atan2(way.y, way.x)
    }

    // MARK: What it means

    /// - Parameters:
    ///   - before: what had been moved until the frame before.
    ///   - reach: how far the fingers had come until then.
    private mutating func decide(_ before: Movement, _ reach: Double) {
        let isPair = fingers.count == 2 && session?.mostFingers == 2
        let isFar = hypot(moved.way.x, moved.way.y) >= (isPair ? thresholds.twoFingerSlop : thresholds.slop)
        let found: Meaning
        switch fingers.count {
        case 1:
            guard isFar else { return }
            found = session?.firstTap != nil && abs(moved.way.y) > abs(moved.way.x) ? .oneFingerZoom : .pan
        case 2 where isPair:
            let zooms = abs(moved.levels) >= thresholds.pinch
            let rotates = abs(moved.turn) * smallestSpan / 2 >= thresholds.arc
            guard isFar || zooms || rotates, let decided = decideTwo(zooms || rotates) else { return }
            found = decided
        default:
            guard isFar else { return }
            found = .pan
        }
        session?.isTap = false
        meaning = found
        moved = moved + owed
        early = before + owed
        earlyReach = max(reach, hypot(owed.way.x, owed.way.y))
        owed = Movement()
        madeGood = earlyReach > 0 ? 0 : 1
        begin()
    }

    /// Two fingers that go up or down side by side tilt; `nil` if the second may still follow the first.
    private mutating func decideTwo(_ isTransform: Bool) -> Meaning? {
        let (a, b) = (fingers[0].way, fingers[1].way)
        let between = fingers[1].start - fingers[0].start
        let isSideBySide = abs(between.x) > abs(between.y)
        let (isFirst, isSecond) = (isVertical(a), isVertical(b))
        guard !isTransform, isSideBySide else { return .transform }
        if isFirst, isSecond { return (a.y > 0) == (b.y > 0) ? .tilt : .transform }
        guard isFirst && !hasMoved(b) || isSecond && !hasMoved(a) else { return .transform }
        let since = firstMove ?? time
        firstMove = since
        return time - since < thresholds.tiltGrace ? nil : .transform
    }

    private func hasMoved(_ way: ScreenPoint) -> Bool { hypot(way.x, way.y) >= thresholds.tiltMove }

    private func isVertical(_ way: ScreenPoint) -> Bool { hasMoved(way) && abs(way.y) > abs(way.x) }

    // MARK: Reports

    /// What the grip has moved, less what is not made good yet.
    private var applied: Movement {
        meaning == .undecided ? Movement() : moved - early * (1 - madeGood)
    }

    /// Where the fingers are, as far as the map follows them.
    private var focus: ScreenPoint { centroid - (moved.way - applied.way) }

    private mutating func begin() {
        switch meaning {
        case .undecided: break
        case .pan: begin(.pan)
        case .transform:
            begin(.pan)
            begin(.pinch)
            if turns { begin(.rotate) }
        case .tilt:
            if active.contains(.pan) { end(.pan, velocity: ScreenPoint(x: 0, y: 0)) }
            begin(.tilt)
        case .oneFingerZoom: begin(.oneFingerZoom)
        }
    }

    private mutating func begin(_ kind: GestureKind) {
        guard !active.contains(kind) else { return }
        active.insert(kind)
        if kind == .pan { panBefore = ScreenPoint(x: 0, y: 0) }
        events.append(GestureEvent(kind, .began, focus: kind == .oneFingerZoom ? session?.firstTap : focus))
    }

    private mutating func report(_ phase: GesturePhase) {
        guard meaning != .undecided else { return }
        let applied = applied
        for kind in GestureKind.inOrder where active.contains(kind) {
            let value: GestureEvent.Value
            switch kind {
            case .pan: value = .pan(panBefore + applied.way)
            case .pinch: value = .pinch(exp2(applied.levels))
            case .rotate: value = .rotate(applied.turn * (180 / .pi))
            case .tilt: value = .tilt(applied.way.y)
            case .oneFingerZoom: value = .oneFingerZoom(applied.way.y)
            case .doubleTap, .twoFingerTap: continue
            }
            events.append(
                GestureEvent(kind, phase, value, focus: kind == .oneFingerZoom ? session?.firstTap : focus))
        }
    }
}

/// Some kinds of gestures.
private struct KindSet: Sendable {
    private var bits: UInt8 = 0

    func contains(_ kind: GestureKind) -> Bool { bits & kind.bit != 0 }
    mutating func insert(_ kind: GestureKind) { bits |= kind.bit }
    mutating func remove(_ kind: GestureKind) { bits &= ~kind.bit }
}

/// What a grip has moved since it began.
private struct Movement: Sendable {
    /// Points of the mean of its fingers.
    var way = ScreenPoint(x: 0, y: 0)
    /// Zoom levels: how often the distance of two fingers has doubled.
    var levels = 0.0
    /// Radians, clockwise.
    var turn = 0.0

    static func + (a: Movement, b: Movement) -> Movement {
        Movement(way: a.way + b.way, levels: a.levels + b.levels, turn: a.turn + b.turn)
    }

    static func - (a: Movement, b: Movement) -> Movement {
        Movement(way: a.way - b.way, levels: a.levels - b.levels, turn: a.turn - b.turn)
    }

    static func * (a: Movement, share: Double) -> Movement {
        Movement(
            way: ScreenPoint(x: a.way.x * share, y: a.way.y * share), levels: a.levels * share, turn: a.turn * share)
    }
}

extension GestureKind {
    /// Pan first: what zooms and turns does so about the focus that the pan has brought its place to.
    fileprivate static let inOrder: [GestureKind] = [.pan, .pinch, .rotate, .tilt, .oneFingerZoom]

    fileprivate var bit: UInt8 {
        switch self {
        case .pan: 1
        case .pinch: 2
        case .rotate: 4
        case .tilt: 8
        case .oneFingerZoom: 16
        case .doubleTap: 32
        case .twoFingerTap: 64
        }
    }
}
