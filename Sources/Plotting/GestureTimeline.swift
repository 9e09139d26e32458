// Follows the fingers that a trace's lines tell of: which gestures are active, since when, and what time it is.

import Gestures
import GimbalProtocol
import Touches

/// Which gestures are active, as a trace's lines tell.
public struct GestureTimeline {
    private struct Open {
        let key: GestureKey
        let start: Double
    }

    private var open: [Open] = []
    /// Which gestures move the camera.
    private var settings = GestureSettings()
    private var surfaces = TouchSurfaces()
    private var origin: Double?
    /// Milliseconds of the trace's clock at the last line.
    public private(set) var timeMs = 0.0
    /// Whether the last line had gestures.
    private var hasGestures = false
    /// Whether fingers were down before the last line.
    private var hadFingers = false

    /// A timeline with nothing in it.
    public init() {}

    /// Follows a line that was not rejected.
    ///
    /// - Returns: whether it may have changed the camera's limits.
    package mutating func handle(_ requests: [Request], into timeline: inout CameraTimeline) -> Bool {
        hadFingers = !open.isEmpty
        hasGestures = false
        if let time = requests.lazy.compactMap(\.timeMs).first {
            let start = origin ?? time
            origin = start
            timeMs = max(timeMs, time - start)
        }
        var isSetting = false
        for request in requests {
            switch request.body {
            case .gesture(let gesture):
                // The camera ignores the others.
                guard settings.allows(gesture.event.kind) else { break }
                hasGestures = true
                let key = GestureKey(feed: 0, kind: gesture.event.kind, label: gesture.label)
                handle(gesture.event, key, &timeline)
            case .touch(let fingers): handle(fingers, &timeline)
            case .trace(let header): settings = header.gestures.applied(to: GestureSettings())
            case .command(let command):
                timeline.command(at: timeMs)
                isSetting = handle(command, &timeline) || isSetting
            case .marker, .query, .subscribe, .unsubscribe, .subscribeAll, .unsubscribeAll, .awaitIdle, .steerReplay,
                .hello, .traceEnd:
                break
            }
        }
        return isSetting
    }

    /// Why the camera moved by gestures at a time, in the answer to the last line: fingers that were down, or that line's;
    /// what comes before its time was on its way already.
    public func cause(at eventTime: Double) -> Cause {
        hadFingers || hasGestures && eventTime >= (timeMs * 1000).rounded() / 1000 ? .fingers : .glide
    }

    /// The trace is over: what is still active is cancelled.
    public mutating func finish(_ timeline: inout CameraTimeline) {
        closeAll(&timeline)
        hadFingers = false
        hasGestures = false
    }

    private mutating func handle(_ fingers: Request.Fingers, _ timeline: inout CameraTimeline) {
        let outcome = surfaces.handle(
            fingers.touches, of: SurfaceKey(feed: 0, label: fingers.surface), at: fingers.surfaceTimeMs ?? timeMs,
            isCancelled: fingers.isCancelled, tellsAngles: fingers.tellsAngles)
        guard let outcome else { return }
        for event in outcome.events where settings.allows(event.kind) {
            hasGestures = true
            handle(event, GestureKey(feed: outcome.surface.gestureFeed, kind: event.kind), &timeline)
        }
    }

    private mutating func handle(_ event: GestureEvent, _ key: GestureKey, _ timeline: inout CameraTimeline) {
        if let focus = event.focus { timeline.focus(at: focus) }
        defer { if open.isEmpty { timeline.endFocus(isCancelled: event.phase == .cancelled) } }
        let found = open.firstIndex { $0.key == key }
        switch event.phase {
        case _ where event.kind.isTap:
            timeline.gesture(event.kind, from: timeMs, to: timeMs, isCancelled: false)
        case .began, .changed:
            if found == nil { open.append(Open(key: key, start: timeMs)) }
        case .ended, .cancelled:
            guard let found else { return }
            close(open.remove(at: found), isCancelled: event.phase == .cancelled, &timeline)
        }
    }

    /// Says whether a command is a setting.
    private mutating func handle(_ command: Request.Command, _ timeline: inout CameraTimeline) -> Bool {
        switch command {
        case .move, .animate, .stop:
            closeAll(&timeline)
            return false
        case .setGestures(let change):
            settings = change.applied(to: settings)
            for gesture in open where !settings.allows(gesture.key.kind) {
                close(gesture, isCancelled: true, &timeline)
            }
            open.removeAll { !settings.allows($0.key.kind) }
            return true
        default:
            // Every other command is a setting.
            return true
        }
    }

    private mutating func closeAll(_ timeline: inout CameraTimeline) {
        for gesture in open { close(gesture, isCancelled: true, &timeline) }
        open = []
    }

    private func close(_ gesture: Open, isCancelled: Bool, _ timeline: inout CameraTimeline) {
        timeline.gesture(gesture.key.kind, from: gesture.start, to: timeMs, isCancelled: isCancelled)
    }
}
