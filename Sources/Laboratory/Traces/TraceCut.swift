// Cuts a stretch out of a trace as a trace of its own. Invariant: when played, it produces the same positions as the
// whole trace does in that stretch, to the last digit. So it begins only where a header and gestures describe the
// camera completely: not in the middle of a fling or an animation, nor where a velocity is measured from before.

import Gestures
import GimbalProtocol

/// A stretch of a trace.
package struct TraceCut {
    /// The stretch, as a trace of its own.
    package let trace: Trace
    /// Where it begins, in milliseconds of the whole trace's clock: at the requested time or before.
    package let startMs: Double
    /// Why it begins before the requested time; `nil` if it does not.
    package let reason: Reason?
    /// The number of lines, up to the end of the stretch, that are omitted because they would be rejected.
    package let rejected: Int

    /// Why a stretch begins before the requested time.
    package enum Reason: Equatable, Sendable {
        /// Something other than gestures was moving the camera at that time.
        case moves
        /// A gesture that continues by itself ended right after that time; its velocity is measured from before.
        case measures
    }
}

extension Trace {
    /// Cuts a stretch out of the trace: what comes after one time, up to another.
    ///
    /// - Parameters:
    ///   - fromMs: milliseconds from the trace's first event; `nil` is the beginning of the trace. What happens at
    ///     exactly this time precedes the stretch.
    ///   - untilMs: likewise; `nil` is the end. What happens at exactly this time belongs to the stretch; what still
    ///     moves stops there.
    /// - Throws: `TraceError` if the header cannot be played.
    package func cut(fromMs: Double? = nil, untilMs: Double? = nil) throws -> TraceCut {
        let survey = try TraceSurvey(self, fromMs: fromMs, untilMs: untilMs)
        let start = survey.start
        let recorder = try TraceRecorder(header)
        if start.index == 0 { try recorder.record() }
        for (index, line) in survey.lines.enumerated() {
            if index == start.index, index > 0 { try recorder.record(from: start.timeMs) }
            if let untilMs, survey.times[index].isPrintedAfter(untilMs) { break }
            recorder.play(line.bytes, timeMs: line.clockMs, isFirst: index == 0)
        }
        if start.index == survey.lines.count, start.index > 0 { try recorder.record(from: start.timeMs) }
        if let untilMs {
            recorder.settle(at: untilMs)
            if survey.hasLinesAfter || recorder.movesByItself { recorder.stop(at: untilMs) }
        }
        recorder.finish()
        var lines = recorder.lines
        // If no gesture begins at once, the clock would not start before the next line.
        if let first = lines.first?.timeMs ?? untilMs, start.index > 0, first.isPrintedAfter(start.timeMs) {
            lines.insert(Line(TraceRecorder.nothing(at: start.timeMs)), at: 0)
        }
        return TraceCut(
            trace: Trace(header: try header(of: recorder), lines: lines), startMs: start.timeMs, reason: start.reason,
            rejected: survey.rejected)
    }

    /// Returns the trace's own header, with the camera that the recording began with. Its times no longer apply.
    private func header(of recorder: TraceRecorder) throws -> HeaderLine {
        var header = header
        let own = header.header ?? .blank
        let before = try ClientRequest.trace(TraceHeader(position: own.position, setup: own.setup)).line()
        let camera = try JSONValue(recorder.header ?? before)
        // What only the trace's own header says of the camera is removed.
        let members = try [camera, JSONValue(before)].flatMap { $0.object?.members ?? [] }
        try header.set(members.map { ($0.name, camera[$0.name]) })
        try header.set(["fromMs", "untilMs", "durationMs"].map { ($0, nil) })
        return header
    }
}

extension TraceRecorder {
    /// Advances the camera to a time, including what events would print with the same time.
    fileprivate func settle(at timeMs: Double) {
        advance(to: timeMs)
        if movesByItself { advance(to: timeMs.lastThatPrintsAlike) }
    }

    /// Records from a time on at which nothing but gestures moves the camera.
    fileprivate func record(from timeMs: Double) throws {
        settle(at: timeMs)
        try record()
    }
}

/// Finds the lines of a stretch that count, and where the stretch may begin.
private struct TraceSurvey {
    struct Start {
        /// The index of the line that the stretch begins before; the number of lines if it begins after all of them.
        var index: Int
        var timeMs: Double
        var reason: TraceCut.Reason?
    }

    /// The accepted lines that have a time, up to the end of the stretch.
    private(set) var lines: [Trace.Line] = []
    /// Their times, on the trace's clock.
    private(set) var times: [Double] = []
    /// Whether lines follow after the end of the stretch.
    private(set) var hasLinesAfter = false
    private(set) var rejected = 0
    private(set) var start = Start(index: 0, timeMs: 0, reason: nil)

    /// A pinch or a rotation that ended: the lines in which it began and ended, and when it ended.
    private var releases: [(began: Int, ended: Int, timeMs: Double)] = []
    /// How far back a velocity is measured, in milliseconds, plus a margin for rounding.
    private static let measured = 100.001

    /// Whether a gesture of this kind may continue by itself, with a velocity that a recording does not contain.
    private static func isMeasured(_ kind: GestureKind) -> Bool { kind == .pinch || kind == .rotate }

    init(_ trace: Trace, fromMs: Double?, untilMs: Double?) throws {
        let recorder = try TraceRecorder(trace.header)
        var origin: Double?
        // Where the stretch begins if nothing prevents it.
        var wanted: Int?
        var moves = false
        func arrive() {
            guard wanted == nil, let fromMs else { return }
            wanted = lines.count
            recorder.advance(to: fromMs.lastThatPrintsAlike)
            moves = recorder.movesByItself
        }
        for line in trace.lines {
            guard let raw = line.clockMs else {
                if line.requests.isEmpty { rejected += 1 }
                continue
            }
            let time = raw - (origin ?? raw)
            if let untilMs, time.isPrintedAfter(untilMs) {
                hasLinesAfter = true
                // Gestures that end right after the beginning decide whether it may be there.
                if time > (fromMs ?? 0) + Self.measured { break }
            }
            if let fromMs, time.isPrintedAfter(fromMs) { arrive() }
            guard recorder.play(line.bytes, timeMs: raw, isFirst: origin == nil) else {
                rejected += 1
                continue
            }
            origin = origin ?? raw
            lines.append(line)
            times.append(time)
        }
        if let fromMs, fromMs.isPrintedAfter(0) || origin == nil {
            arrive()
            note(trace.header)
            try choose(trace.header, wanted ?? 0, fromMs, moves)
        }
    }

    // MARK: The beginning

    /// Chooses the last moment, not after the requested one, at which the stretch may begin.
    private mutating func choose(_ header: HeaderLine, _ wanted: Int, _ fromMs: Double, _ moves: Bool) throws {
        start = Start(index: wanted, timeMs: fromMs, reason: moves ? .moves : nil)
        if !moves, !measures(start) { return }
        if !moves { start.reason = .measures }
        let still = try stillness(header, before: wanted)
        for index in (0..<wanted).reversed() {
            start.index = index
            start.timeMs = times[index]
            if index == 0 || still[index] && !measures(start) { break }
        }
    }

    /// Returns whether nothing but gestures moves the camera right before each of the first lines.
    private func stillness(_ header: HeaderLine, before end: Int) throws -> [Bool] {
        let recorder = try TraceRecorder(header)
        return lines[..<end].enumerated().map { index, line in
            if recorder.movesByItself { recorder.advance(to: times[index]) }
            defer { recorder.play(line.bytes, timeMs: line.clockMs, isFirst: index == 0) }
            return !recorder.movesByItself
        }
    }

    /// Whether a velocity is measured across the beginning.
    private func measures(_ start: Start) -> Bool {
        releases.contains {
            $0.began < start.index && start.index <= $0.ended && $0.timeMs <= start.timeMs + Self.measured
        }
    }

    /// Notes gestures whose velocity is measured: pinches and rotations, if inertia is ever on. A recording contains
    /// the velocity of a pan.
    private mutating func note(_ header: HeaderLine) {
        var reporter = GestureReporter()
        var active = ActiveGestures<Int>(header.header?.gestures ?? GestureSettings())
        var hasInertia = active.settings.inertia
        for (index, line) in lines.enumerated() {
            for request in line.requests {
                for report in reporter.reports(of: request, at: times[index]) {
                    let ended = active.handle(report, index)
                    guard let ended, report.event.phase == .ended, Self.isMeasured(report.event.kind) else { continue }
                    releases.append((ended.value, index, times[index]))
                }
                active.handle(request.body)
                hasInertia = hasInertia || active.settings.inertia
            }
        }
        if !hasInertia { releases = [] }
    }
}

extension Double {
    /// The time as events print it, in thousandths of a millisecond.
    private var printed: Double { (self * 1000).rounded() }

    /// Whether an event at this time is printed with a later time than one at the other.
    func isPrintedAfter(_ other: Double) -> Bool { printed > other.printed }

    /// The last time, or nearly, that is printed the same as this one.
    fileprivate var lastThatPrintsAlike: Double { (printed + 0.4999) / 1000 }
}
