// What a daemon takes in a trace, though it is hardly meant: the rules of `gimbal check` beside the protocol's own.
// Costs as much as there are gestures down at one time, however long the trace is.

import Gestures
import GimbalClient
import GimbalProtocol
import Touches

struct TraceRules {
    private struct Down {
        let key: GestureKey
        let line: Int
    }

    /// Whether `trace-end` has been read, and no header since.
    private(set) var isOver = false
    /// How many gestures of each type there are.
    private(set) var counts: [String: Int] = [:]
    private var down: [Down] = []
    private var lastTime: Double?
    private var surfaces = TouchSurfaces()
    /// In which line the first finger of each surface landed that has fingers.
    private var touched: [GestureKey.Label: Int] = [:]

    /// A pause that nobody makes between two gestures, in milliseconds.
    private static let longestPause = 3_600_000.0

    /// Looks at the requests of a line that was taken.
    mutating func check(_ requests: [Request], _ line: Int, _ add: (Finding) -> Void) {
        for request in requests {
            switch request.body {
            case .gesture(let gesture):
                follow(request.timeMs, line, add)
                let key = GestureKey(feed: 0, kind: gesture.event.kind, label: gesture.label)
                check(gesture.event, key, line, add)
            case .touch(let fingers):
                follow(request.timeMs, line, add)
                check(fingers, at: request.timeMs ?? lastTime ?? 0, line)
            case .command, .marker: follow(request.timeMs, line, add)
            case .trace: (isOver, lastTime) = (false, nil)
            case .traceEnd:
                end(add)
                isOver = true
            case .query, .subscribe, .unsubscribe, .subscribeAll, .unsubscribeAll, .awaitIdle, .steerReplay, .hello:
                break
            }
        }
    }

    /// Looks at what is left at the end of a trace.
    mutating func end(_ add: (Finding) -> Void) {
        for gesture in down {
            let message = "this \(gesture.key.kind.type) never ends; it is cancelled with the trace"
            add(Finding(line: gesture.line, code: "never-ended", field: "phase", message: message))
        }
        down = []
        for line in touched.values.sorted() {
            let message = "the fingers of this surface never lift; they are cancelled with the trace"
            add(Finding(line: line, code: "never-ended", field: "touches", message: message))
        }
        (touched, surfaces) = ([:], TouchSurfaces())
    }

    /// Counts the gestures that are made of fingers, and notes which fingers are down.
    private mutating func check(_ fingers: Request.Fingers, at time: Double, _ line: Int) {
        let outcome = surfaces.handle(
            fingers.touches, of: SurfaceKey(feed: 0, label: fingers.surface), at: fingers.surfaceTimeMs ?? time,
            isCancelled: fingers.isCancelled, tellsAngles: fingers.tellsAngles)
        for event in outcome?.events ?? [] where event.kind.isTap || event.phase == .began {
            counts[event.kind.type, default: 0] += 1
        }
        if fingers.touches.isEmpty {
            touched[fingers.surface] = nil
        } else if touched[fingers.surface] == nil || fingers.isCancelled {
            touched[fingers.surface] = line
        }
    }

    private mutating func follow(_ time: Double?, _ line: Int, _ add: (Finding) -> Void) {
        if isOver {
            let message = "this stands behind trace-end: it is no part of the trace, but taken live"
            add(Finding(line: line, code: "after-end", field: "type", message: message))
        }
        guard let time else { return }
        if let lastTime, time - lastTime > Self.longestPause {
            let pause = clock(milliseconds: time - lastTime, 0)
            add(Finding(line: line, code: "time-jump", field: "timeMs", message: "timeMs jumps by \(pause)"))
        }
        lastTime = time
    }

    private mutating func check(_ event: GestureEvent, _ key: GestureKey, _ line: Int, _ add: (Finding) -> Void) {
        let found = down.firstIndex { $0.key == key }
        func warn(_ code: String, _ message: String) {
            add(Finding(line: line, code: code, field: "phase", message: message))
        }
        if event.kind.isTap {
            counts[event.kind.type, default: 0] += 1
            return
        }
        switch event.phase {
        case .began:
            if let found {
                warn("began-again", "this \(key.kind.type) began in line \(down[found].line) and has not ended")
                down.remove(at: found)
            }
            begin(key, line)
        case .changed:
            guard found == nil else { return }
            warn("not-begun", "this \(key.kind.type) has not begun: it begins here, and changes nothing yet")
            begin(key, line)
        case .ended, .cancelled:
            if let found {
                down.remove(at: found)
            } else {
                warn("not-begun", "this \(key.kind.type) has not begun: its end does nothing")
            }
        }
    }

    private mutating func begin(_ key: GestureKey, _ line: Int) {
        counts[key.kind.type, default: 0] += 1
        down.append(Down(key: key, line: line))
    }
}
