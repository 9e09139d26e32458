// Plays a WebDriver script (W3C, section "Actions"): each source has an action for each tick, and a tick takes as long
// as its longest action. Moves that take time become 60 frames per second. A script that contains its viewport is for a
// browser: each tick takes whole frames there, one of which reports the moves.

import MapCamera

/// How long ticks last in a browser: whole frames, 30 per second. (Measured on chromedriver: a move that asks for 20 ms
/// takes 33.3, and one that asks for 33 takes 50; a rest takes 2 ms more than it asks for.)
package enum BrowserTick {
    /// The duration of a frame, in milliseconds.
    package static let frameMs = 100.0 / 3
    /// The duration to ask for, in milliseconds, so that a move takes one frame.
    package static let moveMs = 20

    /// Returns the duration to ask for, in milliseconds, so that a rest takes this many frames.
    package static func restMs(_ frames: Int) -> Int { Int(Double(frames) * frameMs) }

    /// Returns how long a tick lasts that asks for a duration, in milliseconds.
    static func lastingMs(_ askedMs: Double) -> Double { (askedMs / frameMs).rounded(.up) * frameMs }
}

/// A player of scripts, one after another.
struct WebDriverScript {
    /// A finger's move within a tick.
    private struct Move {
        let finger: Int
        let from: ScreenPoint
        let to: ScreenPoint
        let duration: Double
    }

    private var sources: [WebValue.Source] = []
    /// The names of the fingers' sources; names and positions outlast a script.
    private var names: [String] = []
    private var fingers: [ScreenPoint] = []
    /// The start of the next tick, in milliseconds.
    private var timeMs = 0.0
    /// Whether ticks take as long as in a browser.
    var isForBrowser = false

    private static let most = 64
    private static let frameMs = 1000.0 / 60
    /// An hour: longer than any script, but it bounds the number of frames.
    private static let longestMs = 3_600_000.0
    private static let types: Set = ["pause", "pointerMove", "pointerDown", "pointerUp", "pointerCancel"]

    /// Returns whether one of these sources has come already, so that another script begins.
    func has(_ others: [WebValue.Source]) -> Bool {
        others.contains { other in sources.contains { $0.id == other.id } }
    }

    /// Adds sources that play at the same time; those of keys and wheels are ignored.
    mutating func add(_ others: [WebValue.Source]) throws(Damaged) {
        let pointers = others.filter { $0.type == "pointer" }
        guard sources.count + pointers.count <= Self.most else { throw Damaged() }
        guard pointers.flatMap(\.actions).allSatisfy(Self.isPlayable),
            timeMs + duration(sources + pointers) <= Self.longestMs
        else { throw Damaged() }
        sources += pointers
    }

    /// Returns how long it takes to play sources, in milliseconds: each tick takes as long as its longest action.
    private func duration(_ sources: [WebValue.Source]) -> Double {
        var ticks: [Double] = []
        for source in sources {
            for (index, action) in source.actions.enumerated() {
                if index == ticks.count { ticks.append(0) }
                ticks[index] = max(ticks[index], duration(action))
            }
        }
        return ticks.reduce(0, +)
    }

    private func duration(_ action: WebValue.Action) -> Double {
        let asked = action.duration ?? 0
        return isForBrowser ? BrowserTick.lastingMs(asked) : asked
    }

    private static func isPlayable(_ action: WebValue.Action) -> Bool {
        guard types.contains(action.type), 0...longestMs ~= action.duration ?? 0 else { return false }
        guard action.type == "pointerMove" else { return true }
        guard let x = action.x, let y = action.y, abs(x) <= 1e6, abs(y) <= 1e6 else { return false }
        return ["viewport", "pointer"].contains(action.origin)
    }

    /// Plays the collected script.
    mutating func play(into frames: inout FingerFrames) {
        for tick in 0..<(sources.map(\.actions.count).max() ?? 0) { play(tick, &frames) }
        sources = []
    }

    private mutating func play(_ tick: Int, _ frames: inout FingerFrames) {
        var moves: [Move] = []
        var duration = 0.0
        var hasChanged = false
        for source in sources where tick < source.actions.count {
            let action = source.actions[tick]
            let finger = finger(source.id)
            duration = max(duration, action.type == "pause" || action.type == "pointerMove" ? self.duration(action) : 0)
            switch action.type {
            case "pointerDown":
                try? frames.land(Double(finger), fingers[finger].x, fingers[finger].y)
                hasChanged = true
            case "pointerUp":
                hasChanged = hasChanged || frames.isDown(Double(finger))
                frames.lift(Double(finger))
            case "pointerCancel":
                guard frames.isDown(Double(finger)) else { continue }
                frames.lose(Double(finger))
                frames.complete(at: timeMs, isCancelled: true)
                hasChanged = true
            case "pointerMove":
                moves.append(move(finger, action))
            default: break
            }
        }
        let atOnce = moves.filter { $0.duration == 0 }
        for move in atOnce { hasChanged = set(move, at: 0, &frames) || hasChanged }
        if hasChanged { frames.complete(at: timeMs) }
        let slow = moves.filter { $0.duration > 0 }
        if !slow.isEmpty { glide(slow, for: slow.map(\.duration).max() ?? 0, &frames) }
        timeMs += duration
    }

    private mutating func finger(_ name: String) -> Int {
        if let found = names.firstIndex(of: name) { return found }
        names.append(name)
        fingers.append(ScreenPoint(x: 0, y: 0))
        return names.count - 1
    }

    private func move(_ finger: Int, _ action: WebValue.Action) -> Move {
        let from = fingers[finger]
        var to = ScreenPoint(x: action.x ?? 0, y: action.y ?? 0)
        if action.origin == "pointer" { to = from + to }
        return Move(finger: finger, from: from, to: to, duration: duration(action))
    }

    /// Puts a finger where its move is at a time, in milliseconds since the tick began. Returns whether it is down.
    private mutating func set(_ move: Move, at time: Double, _ frames: inout FingerFrames) -> Bool {
        let share = move.duration > 0 ? min(time / move.duration, 1) : 1
        fingers[move.finger] = move.from.towards(move.to, share)
        try? frames.move(Double(move.finger), fingers[move.finger].x, fingers[move.finger].y)
        return frames.isDown(Double(move.finger))
    }

    private mutating func glide(_ moves: [Move], for duration: Double, _ frames: inout FingerFrames) {
        let frameMs = isForBrowser ? BrowserTick.frameMs : Self.frameMs
        let count = max(Int((duration / frameMs).rounded(.up)), 1)
        for step in 1...count {
            let time = step == count ? duration : Double(step) * frameMs
            var isDown = false
            for move in moves { isDown = set(move, at: time, &frames) || isDown }
            if isDown { frames.complete(at: timeMs + time) }
        }
    }
}
