// A trace played in this process, with its camera's input recorded from any moment on: the lines of a trace that makes
// the same camera from there, as from the daemon's recorder. Cuts and joins use it.

import GimbalProtocol

/// A run that can be recorded.
final class TraceRecorder {
    /// A line that the camera was sent.
    struct Line {
        /// Milliseconds of the trace's clock.
        let timeMs: Double
        /// The line without its line feed.
        let bytes: [UInt8]
    }

    private let run: TraceRun
    /// What a line's `timeMs` is at the beginning of the trace's clock.
    private var origin = 0.0
    /// Where the trace's clock is, as far as its lines tell.
    private(set) var clock = 0.0
    private var isRecording = false
    /// The header that the recording begins with, once it has begun.
    private(set) var header: [UInt8]?
    /// What has been recorded.
    private(set) var lines: [Line] = []
    /// How the trace went, once it is over.
    private(set) var ended: TraceEnded?

    /// - Throws: `TraceError` if the header cannot be played.
    init(_ header: HeaderLine) throws {
        run = try TraceRun(camera: header.camera)
        play(try header.asAWhole().bytes)
    }

    // MARK: Playing

    /// Whether something other than gestures moves the camera at the moment.
    var movesByItself: Bool { run.movesByItself }

    /// Plays a line.
    ///
    /// - Parameter timeMs: its own time, if it has one.
    /// - Returns: whether it was taken.
    @discardableResult
    func play(_ line: [UInt8], timeMs: Double? = nil, isFirst: Bool = false) -> Bool {
        var isTaken = true
        if isFirst, let timeMs { origin = timeMs }
        run.play(line + [0x0a]) {
            for message in $0.messages {
                if message.type == .error { isTaken = false }
                handle(message)
            }
        }
        if isTaken, let timeMs { clock = max(clock, timeMs - origin) }
        return isTaken
    }

    /// Lets the camera move on to a time of the trace's clock; nothing of that is recorded.
    func advance(to timeMs: Double) {
        let recorded = lines.count
        play(Self.nothing(at: origin + max(timeMs, clock)), timeMs: origin + max(timeMs, clock))
        lines.removeSubrange(recorded...)
    }

    /// A line that moves nothing, and has the clock go on to its time.
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

    /// Records from now on. Nothing but gestures may move the camera.
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
                lines.append(Line(timeMs: input.timeMs, bytes: Array(input.line.utf8)))
            }
        default: break
        }
    }
}

extension Trace.Line {
    /// The time that the trace's clock goes on to by it; `nil` for what takes no time, whatever it says.
    var clockMs: Double? {
        requests.lazy.filter(\.body.isOfTraces).compactMap(\.timeMs).first
    }
}
