// Where a replay is in its trace, and the checkpoints that a seek begins at: values, since what follows depends on nothing
// else than the run, the camera's moment and the lines.

import GimbalProtocol

/// Where a replay is, beside what the camera is then.
struct ReplayRun: Codable {
    /// The time of the last line or frame, in milliseconds of the trace.
    var time = 0.0
    /// The line that comes next.
    var line = 0
    /// How many lines have been played, as the trace's owner is told.
    var events: UInt64 = 0
    /// Whether the end of the trace has been played: its gestures are cancelled, and what moves comes to rest.
    var hasEnded = false
    /// How many lines and frames there have been.
    var steps: UInt64 = 0

    /// Whether it is one that a process leaves.
    var isPossible: Bool { -1e15...1e15 ~= time && line >= 0 }

    mutating func lineWasPlayed() {
        line += 1
        events += 1
        steps += 1
    }

    /// What comes next.
    enum Step {
        /// A frame of what moves by itself.
        case frame(Double)
        /// A line that has been kept.
        case kept(Double)
        /// The line that has just been read and is not kept yet.
        case new(Double)
        /// The end of the trace.
        case end
        /// Nothing: all is played, and rests.
        case finished
        /// What lies behind the time that a seek goes to.
        case goal
        /// It depends on a line that has not been read.
        case unknown

        /// When it comes, in milliseconds of the trace; `nil` for what comes at once.
        var time: Double? {
            switch self {
            case .frame(let time), .kept(let time), .new(let time): time
            case .end, .finished, .goal, .unknown: nil
            }
        }
    }

    /// What comes next on a camera.
    ///
    /// - Parameters:
    ///   - new: the time of the line that has just been read, if there is one.
    ///   - goal: the time that a seek goes to.
    func next(on camera: HostedCamera, _ lines: borrowing KeptLines, new: Double?, goal: PrintedTime?) -> Step {
        let step = next(on: camera, lines, new: new)
        guard let goal else { return step }
        switch step {
        case .frame(let time), .kept(let time), .new(let time): return PrintedTime(time) > goal ? .goal : step
        case .finished: return PrintedTime(time) < goal ? step : .goal
        case .end, .goal, .unknown: return step
        }
    }

    /// What comes next on a camera. A frame that is due at the very time of a line comes before it.
    private func next(on camera: HostedCamera, _ lines: borrowing KeptLines, new: Double?) -> Step {
        let frame = camera.nextTick
        if hasEnded { return frame.map { .frame($0) } ?? .finished }
        if line < lines.end {
            let time = lines.time(of: line)
            if let frame, frame <= time { return .frame(frame) }
            return .kept(time)
        }
        if lines.isComplete { return .end }
        guard let new else { return .unknown }
        if let frame, frame <= new { return .frame(frame) }
        return .new(new)
    }
}

/// A time as it is printed, with three decimals: by that times of a trace are compared.
struct PrintedTime: Comparable {
    private let units: Int64

    init(_ time: Double) { units = FixedDecimal(time, places: 3).units }

    static func < (a: PrintedTime, b: PrintedTime) -> Bool { a.units < b.units }
}

/// The moments of a replay that are kept, the first one its beginning.
struct Checkpoints {
    struct Checkpoint: Codable {
        let run: ReplayRun
        var moment: HostedCamera.Moment

        var byteCount: Int { MemoryLayout<ReplayRun>.size + moment.byteCount }
    }

    /// How many lines and frames are between two of them, at first.
    private static let usualSpacing: UInt64 = 512

    private(set) var all: [Checkpoint] = []
    private(set) var byteCount = 0
    private var spacing = Self.usualSpacing

    init() {}

    /// Those that another process has kept.
    init(_ all: [Checkpoint]) { for checkpoint in all { append(checkpoint) } }

    private mutating func append(_ checkpoint: Checkpoint) {
        all.append(checkpoint)
        byteCount += checkpoint.byteCount
    }

    /// Keeps a moment, if it is far enough behind the last one. Where they have become too many, every other one goes.
    mutating func add(_ run: ReplayRun, on camera: HostedCamera, limit: Int) {
        if let last = all.last, run.steps < last.run.steps + spacing { return }
        append(Checkpoint(run: run, moment: camera.moment))
        guard byteCount > limit, all.count > 2 else { return }
        let kept = all.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        (all, byteCount) = ([], 0)
        for checkpoint in kept { append(checkpoint) }
        spacing *= 2
    }

    /// Lets go of those whose next line is not there any more.
    mutating func drop(before line: Int) {
        while let first = all.first, first.run.line < line { byteCount -= all.removeFirst().byteCount }
    }

    /// The last one that is not after a time.
    func last(notAfter time: PrintedTime) -> Checkpoint? {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if PrintedTime(all[middle].run.time) <= time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : all[low - 1]
    }
}
