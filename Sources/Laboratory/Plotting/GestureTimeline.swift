// Follows a trace's lines for a picture: since when gestures are active, what they are about, and what time it is.

import Gestures
import GimbalProtocol

/// Which gestures are active, as a trace's lines tell.
public struct GestureTimeline {
    private var reporter = GestureReporter()
    /// With the time when each began.
    private var active = ActiveGestures<Double>()
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
        hadFingers = !active.isEmpty
        hasGestures = false
        if let time = requests.lazy.compactMap(\.timeMs).first {
            let start = origin ?? time
            origin = start
            timeMs = max(timeMs, time - start)
        }
        var isSetting = false
        for request in requests {
            // The camera ignores the others.
            for report in reporter.reports(of: request, at: timeMs) where active.settings.allows(report.event.kind) {
                hasGestures = true
                handle(report, &timeline)
            }
            switch request.body {
            case .trace(let header): active = ActiveGestures(header.gestures)
            case .command(let command):
                timeline.command(at: timeMs)
                for gesture in active.handle(command) { close(gesture, isCancelled: true, &timeline) }
                isSetting = isSetting || command.isSetting
            case .gesture, .touch, .marker, .query, .subscribe, .unsubscribe, .subscribeAll, .unsubscribeAll,
                .awaitIdle, .steerReplay, .hello, .traceEnd:
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
        for gesture in active.cancelAll() { close(gesture, isCancelled: true, &timeline) }
        hadFingers = false
        hasGestures = false
    }

    private mutating func handle(_ report: GestureReport, _ timeline: inout CameraTimeline) {
        let (event, isCancelled) = (report.event, report.event.phase == .cancelled)
        if let focus = event.focus { timeline.focus(at: focus) }
        if event.kind.isTap { timeline.gesture(event.kind, from: timeMs, to: timeMs, isCancelled: false) }
        if let ended = active.handle(report, timeMs) { close(ended, isCancelled: isCancelled, &timeline) }
        if active.isEmpty { timeline.endFocus(isCancelled: isCancelled) }
    }

    private func close(
        _ gesture: ActiveGestures<Double>.Gesture, isCancelled: Bool, _ timeline: inout CameraTimeline
    ) {
        timeline.gesture(gesture.key.kind, from: gesture.value, to: timeMs, isCancelled: isCancelled)
    }
}
