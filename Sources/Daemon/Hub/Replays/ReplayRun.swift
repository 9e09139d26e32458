// Where a replay is in its trace, and the checkpoints that a seek starts from. They are values, since what follows
// depends only on the run, the camera's moment and the lines.

import GimbalProtocol
import MapCamera

/// The state of a replay, except for its camera's moment.
struct ReplayRun: Codable {
    /// The time of the last line or frame, in milliseconds of the trace.
    var time = 0.0
    /// The number of the next line.
    var line = 0
    /// The number of lines played, as reported to the trace's owner.
    var events: UInt64 = 0
    /// Whether the end of the trace has been played: its gestures are cancelled, and motions come to rest.
    var hasEnded = false
    /// The number of lines and frames so far.
    var steps: UInt64 = 0

    /// Whether the value is valid; it may come from another process.
    var isPossible: Bool { -1e15...1e15 ~= time && line >= 0 }

    mutating func lineWasPlayed() {
        line += 1
        events += 1
        steps += 1
    }

    /// The next step of a replay.
    enum Step {
        /// A frame of a motion.
        case frame(Double)
        /// A kept line.
        case kept(Double)
        /// The line that was just read and is not kept yet.
        case new(Double)
        /// The end of the trace.
        case end
        /// None: everything has been played and is at rest.
        case finished
        /// A step beyond the target of a seek.
        case goal
        /// Unknown: it depends on a line that has not been read.
        case unknown

        /// When the step is due, in milliseconds of the trace; `nil` if it is taken at once.
        var time: Double? {
            switch self {
            case .frame(let time), .kept(let time), .new(let time): time
            case .end, .finished, .goal, .unknown: nil
            }
        }
    }

    /// Returns the next step on a camera.
    ///
    /// - Parameters:
    ///   - new: the time of the line that was just read, if any.
    ///   - goal: the target of the seek, if any.
    func next(on camera: HostedCamera, _ lines: borrowing KeptLines, new: Double?, goal: PrintedTime?) -> Step {
        let step = next(on: camera, lines, new: new)
        guard let goal else { return step }
        if let time = step.time { return PrintedTime(time) > goal ? .goal : step }
        if case .finished = step, PrintedTime(time) >= goal { return .goal }
        return step
    }

    /// Returns the next step on a camera. A frame that is due exactly at the time of a line precedes the line.
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

/// A time as printed, with three decimals; times of a trace are compared in this form.
struct PrintedTime: Comparable {
    private let units: Int64

    init(_ time: Double) { units = FixedDecimal(time, places: 3).units }

    static func < (a: PrintedTime, b: PrintedTime) -> Bool { a.units < b.units }
}

/// The checkpoints of a replay, starting with its beginning as long as that is kept.
struct Checkpoints {
    struct Checkpoint: Codable {
        let run: ReplayRun
        var moment: HostedCamera.Moment

        var byteCount: Int { MemoryLayout<ReplayRun>.size + moment.byteCount }
    }

    /// The initial number of lines and frames between two checkpoints.
    private static let usualSpacing: UInt64 = 512

    private(set) var all: [Checkpoint] = []
    private(set) var byteCount = 0
    private var spacing = Self.usualSpacing

    init() {}

    /// Creates checkpoints from existing ones, oldest first.
    init(_ all: [Checkpoint]) { for checkpoint in all { append(checkpoint) } }

    private mutating func append(_ checkpoint: Checkpoint) {
        all.append(checkpoint)
        byteCount += checkpoint.byteCount
    }

    /// Adds a checkpoint if it is far enough from the last one. If they exceed the limit, drops every other one.
    mutating func add(_ run: ReplayRun, on camera: HostedCamera, limit: Int) {
        if let last = all.last, run.steps < last.run.steps + spacing { return }
        append(Checkpoint(run: run, moment: camera.moment))
        guard byteCount > limit, all.count > 2 else { return }
        let kept = all.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        (all, byteCount) = ([], 0)
        for checkpoint in kept { append(checkpoint) }
        spacing *= 2
    }

    /// Drops checkpoints whose next line is no longer kept.
    mutating func drop(before line: Int) {
        let count = all.prefix { $0.run.line < line }.count
        byteCount -= all[..<count].reduce(0) { $0 + $1.byteCount }
        all.removeFirst(count)
    }

    /// Returns the last checkpoint that is not after a time.
    func last(notAfter time: PrintedTime) -> Checkpoint? {
        all.prefix(all.partitioningIndex { PrintedTime($0.run.time) > time }).last
    }
}
