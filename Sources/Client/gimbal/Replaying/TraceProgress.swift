// How far a replay has come, as well as the client can know. At "max" that is how much has been sent; otherwise the daemon
// sets the pace, reads ahead, and the clock tells.

import GimbalProtocol
import Traces

/// How far a trace has come.
struct ProgressState {
    /// Frames that the camera has made of it.
    var frames = 0
    /// The trace's clock, milliseconds.
    var time: Double?
    /// The trace's length, milliseconds.
    var duration: Double?
    /// Whether the last line has been played, and what moves comes to rest.
    var isResting = false
    /// The share that is done, 0 to 1.
    var share: Double?
    /// Trace time per time.
    var speed: Double?
}

/// When a trace begins and ends, as far as that is seen without reading all of it.
struct TraceLength {
    /// The `timeMs` of its first line that has one.
    private(set) var firstTime: Double?
    private var endTime: Double?
    /// The most that a header may say.
    private static let longest = 1e14

    init() {}

    init(_ opening: TraceReader.Opening, of reader: TraceReader) {
        firstTime = TraceTime.first(in: opening.rest)
        endTime = reader.lastTime()
    }

    /// How long it is, in milliseconds.
    var durationMs: Double? {
        guard let firstTime, let endTime, endTime > firstTime else { return nil }
        // A last line that no daemon takes may say anything.
        return endTime - firstTime <= Self.longest ? endTime - firstTime : nil
    }

    /// What its header says of that, where it does not say it itself.
    func members(of header: HeaderLine) -> [(name: String, value: JSONValue?)] {
        guard let durationMs, header.header?.playback.durationMs == nil else { return [] }
        return [("durationMs", .number(durationMs))]
    }

    /// The times of its markers, in milliseconds from its beginning.
    func markers(of reader: TraceReader) -> [Double] {
        guard let firstTime else { return [] }
        return reader.markers().map { max($0 - firstTime, 0) }
    }
}

struct TraceProgress {
    private let speed: Double
    private let started = ContinuousClock.now
    private let length: TraceLength
    private var sentTime: Double?
    /// Frames that the camera has made of it so far.
    var frames = 0
    /// What was sent last and not looked into: that happens a few times a second only.
    private var newest: [UInt8] = []

    /// - Parameter isWanted: whether anybody will ask.
    init(_ opening: TraceReader.Opening, _ length: TraceLength, isWanted: Bool) {
        speed = opening.header.header?.speed ?? 1
        self.length = isWanted ? length : TraceLength()
    }

    /// Takes note of a piece that is sent.
    mutating func note(_ piece: [UInt8]) {
        if !piece.isEmpty { newest = piece }
    }

    mutating func state(of reader: TraceReader, unsent: Int) -> ProgressState {
        if let firstTime = length.firstTime, let time = TraceTime.last(in: newest) {
            sentTime = max(time - firstTime, 0)
        }
        newest = []
        var state = ProgressState(frames: frames)
        state.duration = length.durationMs
        let elapsed = (ContinuousClock.now - started) / .milliseconds(1)
        if speed.isFinite {
            let played = elapsed * speed
            state.speed = speed
            state.isResting = reader.isAtEnd && sentTime.map { $0 < played } ?? false
            state.time = sentTime.map { state.isResting ? played : min($0, played) }
            if let time = state.time, let duration = state.duration { state.share = min(time / duration, 1) }
        } else {
            state.time = sentTime
            state.speed = sentTime.map { $0 / elapsed }
            let done = reader.bytes - (reader.isTrace ? unsent : 0)
            if let size = reader.size, size > 0 { state.share = min(max(Double(done) / Double(size), 0), 1) }
        }
        return state
    }
}
