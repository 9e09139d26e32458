// Plays a trace in this process, and records its camera's input from any moment on, as the daemon's recorder does: the
// recorded lines make the same camera from there. Cuts and joins use it.

import GimbalProtocol

/// A run that can be recorded.
final class TraceRecorder {
    private let run: TraceRun
    /// The `timeMs` of a line at the beginning of the trace's clock.
    private var origin = 0.0
    /// The time of the trace's clock, as far as its lines determine it.
    private(set) var clock = 0.0
    private var isRecording = false
    /// The header that the recording begins with; `nil` before it begins.
    private(set) var header: [UInt8]?
    /// The recorded lines, with times of the trace's clock.
    private(set) var lines: [Trace.Line] = []
    /// The result of the trace, once it has ended.
    private(set) var ended: TraceEnded?

    /// - Throws: `TraceError` if the header cannot be played.
    init(_ header: HeaderLine) throws {
        run = try TraceRun(camera: header.camera)
        play(try header.asAWhole().bytes)
    }

    // MARK: Playing

    /// Whether something other than gestures is moving the camera.
    var movesByItself: Bool { run.movesByItself }

    /// Plays a line.
    ///
    /// - Parameter timeMs: the line's own time, if it has one.
    /// - Returns: whether the line was accepted.
    @discardableResult
    func play(_ line: [UInt8], timeMs: Double? = nil, isFirst: Bool = false) -> Bool {
        var isTaken = true
        if isFirst, let timeMs { origin = timeMs }
        run.play(line) {
            for message in $0.messages {
                if message.type == .error { isTaken = false }
                handle(message)
            }
        }
        if isTaken, let timeMs { clock = max(clock, timeMs - origin) }
        return isTaken
    }

    /// Advances the camera to a time of the trace's clock, without recording that.
    func advance(to timeMs: Double) {
        let recorded = lines.count
        play(Self.nothing(at: origin + max(timeMs, clock)), timeMs: origin + max(timeMs, clock))
        lines.removeSubrange(recorded...)
    }

    /// Returns a line that moves nothing, but advances the clock to its time.
    static func nothing(at timeMs: Double) -> [UInt8] {
        var line = LineWriter()
        line.request(.set(.gestures(GestureSwitches())), timeMs: timeMs)
        return line.bytes
    }

    /// Stops the camera at a time of the trace's clock.
    func stop(at timeMs: Double) {
        var line = LineWriter()
        line.request(.stop, timeMs: origin + max(timeMs, clock))
        play(line.bytes, timeMs: origin + max(timeMs, clock))
    }

    /// Ends the trace: its gestures are cancelled, and what moves comes to rest.
    func finish() { run.finish { $0.messages.forEach(handle) } }

    // MARK: Recording

    /// Starts recording. Nothing but gestures may be moving the camera.
    func record() throws {
        isRecording = true
        header = nil
        try run.ask(.subscribe(kinds: [.gesture])).forEach(handle)
    }

    private func handle(_ message: ReceivedLine) {
        switch message.type {
        case .traceEnded: ended = message.traceEnded
        case .gesture where isRecording:
            guard case .input(let input)? = message.event else { return }
            if header == nil {
                header = Array(input.line.utf8)
            } else {
                lines.append(Trace.Line(Array(input.line.utf8)))
            }
        default: break
        }
    }
}

extension Trace.Line {
    /// The time to which the line advances the trace's clock; `nil` if it takes no time, whatever `timeMs` it has.
    var clockMs: Double? {
        requests.lazy.filter(\.body.isOfTraces).compactMap(\.timeMs).first
    }
}
