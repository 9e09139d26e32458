// Follows a trace line by line for a picture: what each line requests, and how the camera responds.

import Gestures
import GimbalProtocol
import MapCamera

/// What a trace does to a camera, as far as the trace has been followed.
package struct TraceTimeline {
    package private(set) var camera = CameraTimeline(from: .initial)
    private var reporter = GestureReporter()
    /// The active gestures, each with the time when it began.
    private var active = ActiveGestures<Double>()
    private var origin: Double?
    /// Milliseconds of the trace's clock at the last line.
    private var timeMs = 0.0
    /// Whether the last line had gestures.
    private var hasGestures = false
    /// Whether fingers were down before the last line.
    private var hadFingers = false

    /// Creates an empty timeline.
    package init() {}

    /// Follows a line.
    ///
    /// - Parameters:
    ///   - requests: the line's requests; empty if it was rejected.
    ///   - messages: the answers and events that it produced.
    ///   - state: returns the camera's state after the line.
    package mutating func follow(
        _ requests: [Request], _ messages: [ReceivedLine], _ state: () throws -> CameraState?
    ) rethrows {
        let isSetting = handle(requests)
        for message in messages {
            switch message.content {
            case .event(.reset(let reset)):
                camera = CameraTimeline(from: reset.position)
                try learnLimits(state)
            case .event(let event): handle(event)
            case .traceEnded(let ended):
                // Gestures that are still active are cancelled.
                for gesture in active.cancelAll() { close(gesture, isCancelled: true) }
                (hadFingers, hasGestures) = (false, false)
                camera.durationMs = ended.durationMs
                (camera.events, camera.rejected) = (ended.events, ended.rejected)
            default: break
            }
        }
        if isSetting { try learnLimits(state) }
    }

    /// Sets the picture's title, and adds the paths of fingers.
    package mutating func add(title: String, fingers: [(points: [ScreenPoint], isCancelled: Bool)]) {
        (camera.title, camera.originMs) = (title, origin ?? 0)
        camera.fingers += fingers.map { CameraTimeline.Track(points: $0.points, isCancelled: $0.isCancelled) }
    }

    private mutating func learnLimits(_ state: () throws -> CameraState?) rethrows {
        guard let state = try state() else { return }
        camera.limits.append(
            CameraTimeline.Limits(
                timeMs: timeMs, zoomRange: state.zoomRange, targetBounds: state.targetBounds, viewport: state.viewport))
    }

    // MARK: The camera

    private mutating func handle(_ event: CameraEvent) {
        switch event {
        case .moveStarted(let move): camera.moveStarted(at: move.timeMs, from: move.position)
        case .cameraChanged(let move):
            camera.moved(at: move.timeMs, to: move.position, cause(of: move))
            camera.frames += 1
        case .idle(let move): camera.idle.append(move.timeMs)
        // Gestures are read from the trace's own lines.
        default: break
        }
    }

    /// Returns why the camera moved. A movement by gestures is due to fingers if they were down, or if the last line
    /// has gestures and the movement is not before it; otherwise it was already under way.
    private func cause(of move: CameraMove) -> Cause {
        switch move.reason {
        case .gesture: hadFingers || hasGestures && move.timeMs >= (timeMs * 1000).rounded() / 1000 ? .fingers : .glide
        case .animation, .home, .attract: .animation
        case .command: .command
        }
    }

    // MARK: The line

    /// - Returns: whether it may have changed the camera's limits.
    private mutating func handle(_ requests: [Request]) -> Bool {
        hadFingers = !active.isEmpty
        hasGestures = false
        if let time = requests.lazy.compactMap(\.timeMs).first {
            let start = origin ?? time
            origin = start
            timeMs = max(timeMs, time - start)
        }
        var isSetting = false
        for request in requests {
            // The camera ignores gestures that its settings do not allow.
            for report in reporter.reports(of: request, at: timeMs) where active.settings.allows(report.event.kind) {
                hasGestures = true
                handle(report)
            }
            if case .trace(let header) = request.body { active = ActiveGestures(header.gestures) }
            guard request.body.isCommand else { continue }
            camera.commands.append(timeMs)
            for gesture in active.handle(request.body) { close(gesture, isCancelled: true) }
            isSetting = isSetting || request.body.isSetting
        }
        return isSetting
    }

    private mutating func handle(_ report: GestureReport) {
        let (event, isCancelled) = (report.event, report.event.phase == .cancelled)
        if let focus = event.focus { camera.focus(at: focus) }
        if event.kind.isTap {
            camera.bars.append(CameraTimeline.Bar(kind: event.kind, start: timeMs, end: timeMs, isCancelled: false))
        }
        if let ended = active.handle(report, timeMs) { close(ended, isCancelled: isCancelled) }
        if active.isEmpty { camera.endFocus(isCancelled: isCancelled) }
    }

    private mutating func close(_ gesture: ActiveGestures<Double>.Gesture, isCancelled: Bool) {
        camera.bars.append(
            CameraTimeline.Bar(kind: gesture.key.kind, start: gesture.value, end: timeMs, isCancelled: isCancelled))
    }
}
