// Makes up fingers: they move from point to point with minimum jerk, tremble a little, and are sampled as a screen
// samples them. Everything derives from a seed: the same seed makes the same bytes on every machine.

import MapCamera
import Touches

/// Random numbers derived from a seed. (SplitMix64, by Steele, Lea and Flood.)
package struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns a uniformly distributed number in a range.
    package mutating func number(_ range: ClosedRange<Double>) -> Double {
        // Uses 53 bits itself, because the standard library does not specify how it draws from a range.
        let share = Double(next() >> 11) / 9_007_199_254_740_992
        return range.lowerBound + share * (range.upperBound - range.lowerBound)
    }

    /// Returns one of the values.
    package mutating func one<Value>(of values: [Value]) -> Value { values[Int(next() % UInt64(values.count))] }
}

/// A gesture that fingers can be made for.
package enum MadeGesture: String, CaseIterable, Sendable {
    case pan, fling, pinch, rotate, tilt, tap
    case doubleTap = "double-tap"
    case twoFingerTap = "two-finger-tap"
    case oneFingerZoom = "one-finger-zoom"
    /// A random mix of all of them, one after another.
    case random
}

/// The parameters of a made gesture; those that are `nil` are chosen at random.
package struct GestureShape: Sendable {
    /// Where the finger or the centre of the fingers lands, in points.
    package var from: ScreenPoint?
    /// Where it goes.
    package var to: ScreenPoint?
    /// The scale of a pinch.
    package var scale: Double?
    /// The angle of a rotation, clockwise, in degrees.
    package var degrees: Double?
    /// The duration, in milliseconds.
    package var durationMs: Double?

    package init() {}
}

package struct MadeFingers {
    /// The fingers so far.
    package private(set) var script: FingerScript
    private var numbers: SeededNumbers
    private var timeMs = 0.0
    private var landed = 0

    /// The interval between a screen's reports, in milliseconds, and its jitter.
    private static let frame = (ms: 1000.0 / 120, jitterMs: 1.0)
    /// The amplitude of fingers' tremble, in points.
    private static let tremor = 0.3
    /// How long a finger rests before it lifts without a fling, in milliseconds.
    private static let restMs = 140.0

    package init(viewport: Viewport, seed: UInt64) {
        script = FingerScript(viewport: viewport)
        numbers = SeededNumbers(seed: seed)
    }

    // MARK: Gestures

    /// Makes a gesture, a moment after the previous one.
    package mutating func make(_ gesture: MadeGesture, _ shape: GestureShape = GestureShape()) {
        let durationMs = shape.durationMs ?? numbers.number(250...900)
        let from = shape.from ?? randomPoint(0.25)
        switch gesture {
        case .pan: drag(from, shape.to ?? randomPoint(0.1), durationMs, isThrown: false)
        case .fling:
            drag(from, shape.to ?? randomPoint(0.1), shape.durationMs ?? numbers.number(120...300), isThrown: true)
        case .pinch:
            let scale = shape.scale ?? Elementary.exp2(numbers.one(of: [-1, 1]) * numbers.number(0.4...1.6))
            pair(from, shape.to ?? from, scale, shape.degrees ?? 0, durationMs)
        case .rotate:
            let degrees = shape.degrees ?? numbers.one(of: [-1, 1]) * numbers.number(20...120)
            pair(from, shape.to ?? from, shape.scale ?? 1, degrees, durationMs)
        case .tilt:
            let way = numbers.one(of: [-1, 1]) * numbers.number(0.1...0.35) * script.viewport.height
            let to = shape.to ?? ScreenPoint(x: from.x, y: from.y + way)
            let half = ScreenPoint(x: numbers.number(45...80), y: 0)
            perform([[from - half, to - half], [from + half, to + half]], durationMs, restMs: Self.restMs)
        case .tap: tap([from])
        case .doubleTap:
            tap([from])
            timeMs += numbers.number(70...150)
            tap([from + ScreenPoint(x: numbers.number(-8...8), y: numbers.number(-8...8))])
        case .twoFingerTap:
            let half = ScreenPoint(x: numbers.number(25...60), y: numbers.number(-15...15))
            tap([from - half, from + half])
        case .oneFingerZoom:
            tap([from])
            timeMs += numbers.number(60...120)
            let way = numbers.one(of: [-1, 1]) * numbers.number(60...200)
            drag(from, shape.to ?? ScreenPoint(x: from.x, y: from.y + way), durationMs, isThrown: false)
        case .random:
            make(numbers.one(of: MadeGesture.allCases.filter { $0 != .random }))
            // Sometimes a finger lands while the map still glides.
            timeMs += numbers.number(0...1) < 0.3 ? numbers.number(20...200) : numbers.number(350...1500)
            return
        }
        timeMs += numbers.number(350...900)
    }

    /// Makes gestures until this much time has passed, in milliseconds.
    package mutating func makeRandom(for durationMs: Double) {
        repeat { make(.random) } while timeMs < durationMs
    }

    // MARK: Fingers

    /// Returns a random point of the screen, with a margin as a fraction of its size.
    private mutating func randomPoint(_ margin: Double) -> ScreenPoint {
        ScreenPoint(
            x: numbers.number(margin...(1 - margin)) * script.viewport.width,
            y: numbers.number(margin...(1 - margin)) * script.viewport.height)
    }

    private mutating func drag(_ from: ScreenPoint, _ to: ScreenPoint, _ durationMs: Double, isThrown: Bool) {
        // A finger that throws lifts in full motion.
        let way = to - from
        let beyond = isThrown ? from + ScreenPoint(x: way.x / 0.6, y: way.y / 0.6) : to
        perform([[from, beyond]], durationMs / (isThrown ? 0.56 : 1), restMs: isThrown ? nil : Self.restMs)
    }

    private mutating func pair(
        _ from: ScreenPoint, _ to: ScreenPoint, _ scale: Double, _ degrees: Double, _ durationMs: Double
    ) {
        let least = min(script.viewport.width, script.viewport.height)
        let span = min(0.35 * least, 0.8 * least / max(scale, 1)) / min(max(scale, 0.05), 1)
        let landing = min(max(span, 40 / min(scale, 1)), 0.8 * least)
        let angle = numbers.number(50...130)
        // Each finger's path has enough points for a turn, rather than a shortcut.
        let steps = max(Int(abs(degrees) / 10), 1)
        var ways: [[ScreenPoint]] = [[], []]
        for step in 0...steps {
            let share = Double(step) / Double(steps)
            let middle = from.towards(to, share)
            let arm = landing * Elementary.exp2(Elementary.log2(scale) * share) / 2
            let (sine, cosine) = Elementary.sineAndCosine(angle + degrees * share)
            let offset = ScreenPoint(x: cosine * arm, y: sine * arm)
            ways[0].append(middle - offset)
            ways[1].append(middle + offset)
        }
        perform(ways, durationMs, restMs: Self.restMs)
    }

    private mutating func tap(_ points: [ScreenPoint]) {
        perform(points.map { [$0] }, numbers.number(40...90), restMs: 0, trembles: false)
    }

    /// Moves fingers through their points, evenly spread along the path.
    ///
    /// - Parameter restMs: how long they rest before they lift; `nil` if they lift in full motion.
    private mutating func perform(
        _ ways: [[ScreenPoint]], _ durationMs: Double, restMs: Double?, trembles: Bool = true
    ) {
        let ids = ways.indices.map { landed + $0 }
        landed += ways.count
        let delays = ways.indices.map { $0 == 0 ? 0 : numbers.number(4...25) }
        let waves = ways.map { _ in (0..<4).map { _ in wave() } }
        let end = restMs.map { durationMs + $0 } ?? durationMs * 0.56
        var elapsed = 0.0
        while elapsed < end {
            let touches = ways.indices.filter { delays[$0] <= elapsed }.map { index -> Touch in
                var point = Self.point(on: ways[index], at: max(elapsed - (delays.last ?? 0), 0) / durationMs)
                if trembles { point = point + tremble(waves[index], elapsed) }
                return Touch(id: ids[index], position: Self.rounded(point))
            }
            script.frames.append(TouchFrame(timeMs: stamp(elapsed), touches: touches))
            elapsed += Self.frame.ms + numbers.number(-Self.frame.jitterMs...Self.frame.jitterMs)
        }
        // Fingers lift one after another, within a few milliseconds.
        for lifted in ids.indices.dropFirst() {
            guard var touches = script.frames.last?.touches else { continue }
            touches.removeAll { $0.id == ids[ids.count - lifted] }
            script.frames.append(TouchFrame(timeMs: stamp(elapsed), touches: touches))
            elapsed += numbers.number(2...20)
        }
        script.frames.append(TouchFrame(timeMs: stamp(elapsed), touches: []))
        timeMs += elapsed
    }

    private func stamp(_ elapsed: Double) -> Double { ((timeMs + elapsed) * 1000).rounded() / 1000 }

    /// Rounds to hundredths of a point, the best that screens report.
    private static func rounded(_ point: ScreenPoint) -> ScreenPoint {
        ScreenPoint(x: (point.x * 100).rounded() / 100, y: (point.y * 100).rounded() / 100)
    }

    /// Returns where a finger is after a fraction of its time, on a minimum-jerk path.
    private static func point(on way: [ScreenPoint], at share: Double) -> ScreenPoint {
        let part = min(max(share, 0), 1)
        let done = part * part * part * (10 - 15 * part + 6 * part * part) * Double(way.count - 1)
        let index = min(Int(done), max(way.count - 2, 0))
        guard index + 1 < way.count else { return way[index] }
        return way[index].towards(way[index + 1], done - Double(index))
    }

    private typealias Wave = (hertz: Double, phase: Double, amplitude: Double)

    private mutating func wave() -> Wave {
        (numbers.number(7...12), numbers.number(0...360), numbers.number(0.4...1) * Self.tremor)
    }

    private func tremble(_ waves: [Wave], _ elapsed: Double) -> ScreenPoint {
        // A finger lands firmly, and begins to tremble later.
        let strength = min(elapsed / 80, 1)
        func value(_ wave: Wave) -> Double {
            strength * wave.amplitude * Elementary.sine(360 * wave.hertz * elapsed / 1000 + wave.phase)
        }
        return ScreenPoint(x: value(waves[0]) + value(waves[1]), y: value(waves[2]) + value(waves[3]))
    }
}

/// The start of a random session.
package struct MadeBeginning {
    package var position: CameraPosition
    package var bounds: CoordinateBounds?

    package init(position: CameraPosition, bounds: CoordinateBounds? = nil) {
        (self.position, self.bounds) = (position, bounds)
    }

    /// Returns a place where maps tend to break, chosen by the seed.
    package static func edge(_ seed: UInt64) -> MadeBeginning {
        func at(_ latitude: Double, _ longitude: Double, _ zoom: Double, angle: Double = 0) -> CameraPosition {
            CameraPosition(
                target: LatLng(latitude: latitude, longitude: longitude), zoom: zoom, bearing: angle * 3,
                viewingAngle: angle)
        }
        let paris = at(48.8584, 2.2945, 14)
        let corners = CoordinateBounds(
            southWest: LatLng(latitude: 48.855, longitude: 2.29), northEast: LatLng(latitude: 48.862, longitude: 2.3))
        let edges = [
            MadeBeginning(position: paris), MadeBeginning(position: at(-17.7, 179.999, 9)),
            MadeBeginning(position: at(84.99, -30, 5)),
            MadeBeginning(position: at(-84.99, 60, 8, angle: 20)),
            MadeBeginning(position: at(35.36, 138.73, 20.9, angle: 60)),
            MadeBeginning(position: at(0, 0, 2)), MadeBeginning(position: paris, bounds: corners),
            MadeBeginning(position: at(45.98, 7.66, 16, angle: 65)),
        ]
        return edges[Int(seed % UInt64(edges.count))]
    }
}
