// Finds fingers that make a trace's gestures, so that the recognizer returns the same pan, pinch, rotation and tilt. A
// pan is one finger; a zoom or rotation is two, one above the other, so as not to look like a tilt; a tilt is two side
// by side. Fingers that the trace has are performed as they are. What fingers cannot do (commands, gestures that
// overlap) is omitted, and counted.

import Gestures
import GimbalProtocol
import MapCamera
import Touches
import Traces

package struct GestureFingers {
    /// The arrangement of fingers for a gesture.
    private enum Grip {
        case one, pair, tilt, zoomer
    }

    /// The script so far.
    package private(set) var script: FingerScript
    /// The number of requests in the trace that fingers cannot make.
    package private(set) var unperformed = 0

    private var active: Set<GestureKind> = []
    private var grip: Grip?
    /// Values since the gestures began.
    private var translation = ScreenPoint(x: 0, y: 0)
    private var scale = 1.0
    private var rotation = 0.0
    private var slide = 0.0
    /// The centre of the gestures when they began.
    private var origin = ScreenPoint(x: 0, y: 0)
    private var focus: ScreenPoint?
    /// The distance between two landing fingers, in points.
    private var span = 160.0
    private let spans: [Double]
    private var session = 0
    /// The surface whose fingers are down; `nil` if the trace's own fingers are not.
    private var surface: GestureKey.Label?

    /// Makes the fingers for the gestures of a trace.
    package init(_ trace: Trace) {
        let viewport = trace.header.header?.viewport ?? .standard
        script = FingerScript(viewport: viewport)
        spans = Self.spans(trace, viewport)
        for line in trace.lines {
            guard let time = line.timeMs else { continue }
            handle(line.requests, at: time)
        }
        if !active.isEmpty, let time = trace.endMs { lift(at: time) }
        if surface != nil, let time = trace.endMs { add([], at: time, isCancelled: true) }
    }

    /// Returns how far apart two fingers must land in each session so that they stay on the screen.
    private static func spans(_ trace: Trace, _ viewport: Viewport) -> [Double] {
        var spans: [Double] = []
        var (active, largest, smallest) = (Set<GestureKind>(), 1.0, 1.0)
        for request in trace.lines.flatMap(\.requests) {
            guard case .gesture(let gesture) = request.body, !gesture.event.kind.isTap else { continue }
            let event = gesture.event
            if active.isEmpty { (largest, smallest) = (1, 1) }
            if case .pinch(let scale)? = event.value {
                (largest, smallest) = (max(largest, scale), min(smallest, scale))
            }
            switch event.phase {
            case .began, .changed: active.insert(event.kind)
            case .ended, .cancelled:
                guard active.remove(event.kind) != nil, active.isEmpty else { continue }
                let most = 0.8 * min(viewport.width, viewport.height) / largest
                spans.append(max(min(0.4 * min(viewport.width, viewport.height), most), 24 / smallest))
            }
        }
        return spans
    }

    // MARK: Lines

    private mutating func handle(_ requests: [Request], at time: Double) {
        var events: [GestureEvent] = []
        let (before, isNew) = (grip, active.isEmpty)
        for request in requests {
            guard case .gesture(let gesture) = request.body else {
                if case .touch(let fingers) = request.body { perform(fingers, at: time) }
                if request.body.isCommand { unperformed += 1 }
                continue
            }
            let event = gesture.event
            if event.kind.isTap {
                tap(event, at: time)
            } else if gesture.label == .none, fits(event.kind) {
                if !active.contains(event.kind) {
                    guard event.phase == .began || event.phase == .changed else { continue }
                    begin(event)
                }
                events.append(event)
            } else if event.phase == .began {
                unperformed += 1
            }
        }
        guard !events.isEmpty else { return }
        // Fingers land at the beginning of the gesture before they move.
        if isNew || grip != before { addFrame(at: time) }
        for event in events {
            note(event)
            if event.phase == .ended || event.phase == .cancelled { active.remove(event.kind) }
        }
        addFrame(at: time)
        if active.isEmpty { lift(at: time) }
    }

    /// Returns whether the fingers that are down can make a gesture; what they cannot is counted as unperformed.
    private func fits(_ kind: GestureKind) -> Bool {
        guard surface == nil else { return false }
        return switch grip {
        case nil: [GestureKind.pan, .pinch, .rotate, .tilt, .oneFingerZoom].contains(kind)
        case .one, .pair: kind == .pan || kind == .pinch || kind == .rotate
        case .tilt: kind == .tilt
        case .zoomer: kind == .oneFingerZoom
        }
    }

    private mutating func begin(_ event: GestureEvent) {
        let kind = event.kind
        if active.isEmpty {
            (translation, scale, rotation, slide) = (ScreenPoint(x: 0, y: 0), 1, 0, 0)
            origin = event.focus ?? script.viewport.center
            focus = nil
            span = session < spans.count ? spans[session] : 160
            session += 1
        }
        active.insert(kind)
        switch kind {
        case .pan: grip = grip ?? .one
        case .pinch, .rotate: grip = .pair
        case .tilt: grip = .tilt
        case .oneFingerZoom: grip = .zoomer
        default: break  // The others take no grip that lasts.
        }
    }

    private mutating func note(_ event: GestureEvent) {
        switch event.value {
        case .pan(let way): translation = way
        case .pinch(let factor): scale = factor
        case .rotate(let degrees): rotation = degrees
        case .tilt(let way), .oneFingerZoom(let way): slide = way
        default: break
        }
        focus = event.focus ?? focus
    }

    // MARK: Fingers

    private var touches: [Touch] {
        var middle = origin + translation
        if !active.contains(.pan), let focus, translation == ScreenPoint(x: 0, y: 0) { middle = focus }
        switch grip {
        case nil: return []
        case .one: return [Touch(id: 0, position: middle)]
        case .zoomer: return [Touch(id: 0, position: origin + ScreenPoint(x: 0, y: slide))]
        case .tilt:
            let half = min(0.2 * script.viewport.width, 80)
            return [-half, half].enumerated().map { index, x in
                Touch(id: index, position: origin + ScreenPoint(x: x, y: slide))
            }
        case .pair:
            let (sine, cosine) = Elementary.sineAndCosine(90 + rotation)
            let arm = ScreenPoint(x: cosine * span * scale / 2, y: sine * span * scale / 2)
            return [Touch(id: 0, position: middle - arm), Touch(id: 1, position: middle + arm)]
        }
    }

    private mutating func addFrame(at time: Double) {
        if grip == .zoomer, script.frames.last?.touches.isEmpty ?? true {
            // A tap precedes the zoom.
            let first = Touch(id: 0, position: origin)
            add([first], at: time - 120)
            add([], at: time - 80)
        }
        // When a pan becomes a pinch, its finger lifts, and two others land.
        if let last = script.frames.last?.touches, !last.isEmpty, last.count != touches.count { add([], at: time) }
        add(touches, at: time)
    }

    private mutating func lift(at time: Double) {
        add([], at: time)
        active = []
        grip = nil
    }

    private mutating func tap(_ event: GestureEvent, at time: Double) {
        guard event.phase == .ended, active.isEmpty, surface == nil else { return unperformed += 1 }
        let middle = event.focus ?? script.viewport.center
        let pair = [-20.0, 20].enumerated().map { index, x in
            Touch(id: index, position: middle + ScreenPoint(x: x, y: 0))
        }
        let fingers = event.kind == .twoFingerTap ? pair : [Touch(id: 0, position: middle)]
        if event.kind == .doubleTap {
            add(fingers, at: time - 180)
            add([], at: time - 140)
        }
        add(fingers, at: time - 40)
        add([], at: time)
    }

    /// Performs the fingers of a surface, if no others are down.
    private mutating func perform(_ fingers: Fingers, at time: Double) {
        guard active.isEmpty, surface == nil || surface == fingers.surface else { return unperformed += 1 }
        if fingers.isCancelled { add([], at: time, isCancelled: true) }
        if !fingers.isCancelled || !fingers.touches.isEmpty { add(fingers.touches, at: time) }
        surface = fingers.touches.isEmpty ? nil : fingers.surface
    }

    private mutating func add(_ touches: [Touch], at time: Double, isCancelled: Bool = false) {
        let time = max(time, script.frames.last?.timeMs ?? time)
        script.frames.append(TouchFrame(timeMs: time, touches: touches, isCancelled: isCancelled))
    }
}
