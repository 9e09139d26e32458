// A script in a form that other tools can perform without loss. Measured on chromedriver: positions arrive as whole
// pixels; a move takes whole frames, at most 33 ms if it asks for 20; of two fingers that change at once, some arrive
// incomplete. So: whole points, a grid of ticks, one finger that lands or lifts at a time while the others rest, and a
// rest before the last one lifts, which leaves no fling.

import MapCamera
import TouchTraces
import Touches

/// A script on a grid of ticks.
package struct CanonicalScript: Equatable, Sendable {
    /// What the fingers do in one tick.
    package struct Tick: Equatable, Sendable {
        /// When it ends, in milliseconds.
        package let timeMs: Double
        /// The number of frames of 33.3 ms that it takes.
        package let count: Int
        /// The fingers that are down before it and at its end, by slot; each stays in its slot until it lifts.
        package let before, fingers: [ScreenPoint?]
    }

    /// The screen, in points.
    package let viewport: Viewport
    /// The header of the trace that the fingers make, included in the output for readers.
    package let header: ToldHeader?
    package private(set) var ticks: [Tick] = []
    /// The number of fingers that lifted in motion, throwing the map, and now rest first.
    package private(set) var restedLifts = 0
    /// The number of positions outside the screen, moved to its edge.
    package private(set) var clamped = 0
    /// The maximum number of fingers at a time.
    package let slots: Int

    private static let tickMs = BrowserTick.frameMs
    /// How long fingers rest before the last one lifts, in milliseconds.
    private static let restMs = 200.0
    /// The maximum duration and movement of a tap, in milliseconds and points.
    private static let tap = (timeMs: 300.0, points: 8.0)

    private var fingers: [ScreenPoint?]
    private var numbers: [Int?]

    /// The maximum total time with fingers down, in milliseconds: each 33 ms take a tick.
    package static let longestMs = 36_000_000.0

    /// Puts a script on the grid; `nil` if its fingers are down for too long.
    package init?(_ script: FingerScript) {
        (viewport, header) = (script.viewport, script.header)
        let sessions = Self.sessions(script.frames)
        let touchedMs = sessions.reduce(0) { $0 + ($1.last?.timeMs ?? 0) - ($1.first?.timeMs ?? 0) }
        guard touchedMs <= Self.longestMs else { return nil }
        slots = sessions.joined().map { Set($0.touches.map(\.id)).count }.max() ?? 0
        (fingers, numbers) = (Array(repeating: nil, count: slots), Array(repeating: nil, count: slots))
        var previous: TouchFrame?
        var pause = 0.0
        for session in sessions {
            if let previous, let first = session.first { pause = max(first.timeMs - previous.timeMs, 0) }
            if pause > 0 {
                // Two taps must stay as close together as they were.
                let count = max(Int((pause / Self.tickMs).rounded(.down)), 1)
                if count <= 30 { for _ in 0..<count { tick() } } else { tick(count) }
            }
            perform(session)
            previous = session.last
        }
    }

    /// Splits frames into sessions, each from the first landing until all fingers have lifted.
    private static func sessions(_ frames: [TouchFrame]) -> [[TouchFrame]] {
        var sessions: [[TouchFrame]] = []
        var current: [TouchFrame] = []
        for frame in frames {
            if current.isEmpty, frame.touches.isEmpty { continue }
            current.append(frame)
            guard frame.touches.isEmpty else { continue }
            sessions.append(current)
            current = []
        }
        if let last = current.last { sessions.append(current + [TouchFrame(timeMs: last.timeMs, touches: [])]) }
        return sessions
    }

    // MARK: Ticks

    private mutating func tick(_ count: Int = 1) {
        let before = ticks.last?.fingers ?? Array(repeating: nil, count: slots)
        let timeMs = (ticks.last?.timeMs ?? 0) + Double(count) * Self.tickMs
        ticks.append(Tick(timeMs: timeMs, count: count, before: before, fingers: fingers))
    }

    private mutating func perform(_ session: [TouchFrame]) {
        guard let first = session.first, let last = session.last else { return }
        let isTap = last.timeMs - first.timeMs <= Self.tap.timeMs && Self.reach(session) <= Self.tap.points
        // Fingers that were lost must not tap.
        let restMs = last.isCancelled ? Self.tap.timeMs : isTap ? 0 : Self.restMs
        var start = 0
        while start < session.count {
            let ids = session[start].touches.map(\.id)
            change(to: session[start].touches, restMs: restMs, session)
            let end = session[start...].firstIndex { $0.touches.map(\.id) != ids } ?? session.count
            if !ids.isEmpty { move(Array(session[start..<end])) }
            start = end
        }
    }

    /// Returns the distance of the finger that went the farthest.
    private static func reach(_ session: [TouchFrame]) -> Double {
        var landed: [Int: ScreenPoint] = [:]
        var farthest = 0.0
        for touch in session.flatMap(\.touches) {
            let start = landed[touch.id] ?? touch.position
            landed[touch.id] = start
            farthest = max(farthest, Elementary.hypot(touch.position.x - start.x, touch.position.y - start.y))
        }
        return farthest
    }

    private mutating func change(to touches: [Touch], restMs: Double, _ session: [TouchFrame]) {
        let gone = numbers.indices.filter { index in
            numbers[index].map { number in !touches.contains { $0.id == number } } ?? false
        }
        for (count, index) in gone.enumerated() {
            if touches.isEmpty, count == gone.count - 1, restMs > 0 {
                if Self.isMoving(session) { restedLifts += 1 }
                for _ in 0..<Int((restMs / Self.tickMs).rounded(.up)) { tick() }
            }
            (fingers[index], numbers[index]) = (nil, nil)
            tick()
        }
        for touch in touches where !numbers.contains(touch.id) {
            guard let index = numbers.firstIndex(of: nil) else { continue }
            (numbers[index], fingers[index]) = (touch.id, whole(touch.position))
            tick()
        }
    }

    /// Returns whether the last fingers of a session still move when they lift.
    private static func isMoving(_ session: [TouchFrame]) -> Bool {
        guard let last = session.last, let end = session.dropLast().last?.touches else { return false }
        let before = session.last { last.timeMs - $0.timeMs >= 60 && !$0.touches.isEmpty }?.touches ?? []
        return end.contains { touch in
            before.contains { old in
                old.id == touch.id
                    && Elementary.hypot(old.position.x - touch.position.x, old.position.y - touch.position.y) > 3
            }
        }
    }

    private mutating func move(_ frames: [TouchFrame]) {
        guard let first = frames.first, let last = frames.last else { return }
        let least = first.touches == last.touches ? 0 : 1
        let count = max(Int(((last.timeMs - first.timeMs) / Self.tickMs).rounded(.up)), least)
        for step in 0..<count {
            let time = first.timeMs + Double(step + 1) * Self.tickMs
            for touch in step == count - 1 ? last.touches : Self.touches(frames, at: time) {
                if let index = numbers.firstIndex(of: touch.id) { fingers[index] = whole(touch.position) }
            }
            tick()
        }
    }

    /// Returns the fingers at a time between frames, by linear interpolation.
    private static func touches(_ frames: [TouchFrame], at time: Double) -> [Touch] {
        let index = min(frames.partitioningIndex { $0.timeMs >= time }, frames.count - 1)
        let (next, before) = (frames[index], frames[max(index - 1, 0)])
        guard next.timeMs > before.timeMs else { return next.touches }
        let share = min(max((time - before.timeMs) / (next.timeMs - before.timeMs), 0), 1)
        return zip(before.touches, next.touches).map { from, to in
            Touch(id: to.id, position: from.position.towards(to.position, share))
        }
    }

    /// Rounds a position to whole points of the screen.
    private mutating func whole(_ point: ScreenPoint) -> ScreenPoint {
        let inside = ScreenPoint(
            x: min(max(point.x.rounded(), 0), viewport.width.rounded(.up) - 1),
            y: min(max(point.y.rounded(), 0), viewport.height.rounded(.up) - 1))
        if abs(inside.x - point.x) > 1 || abs(inside.y - point.y) > 1 { clamped += 1 }
        return inside
    }

    // MARK: Result

    /// The fingers as they arrive, and as a recording would have them.
    package var script: FingerScript {
        var script = FingerScript(viewport: viewport)
        script.header = header
        script.frames = ticks.map { tick in
            let touches = tick.fingers.enumerated().compactMap { slot, position in
                position.map { Touch(id: slot, position: $0) }
            }
            return TouchFrame(timeMs: tick.timeMs, touches: touches)
        }
        return script
    }
}
