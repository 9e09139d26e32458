// A replay from process to process: it goes on where it was, with its lines, checkpoints and markers.
// Invariant: what is read is checked before it is played: a replay whose lines are not those of its checkpoints is over.

import GimbalProtocol

extension ReplayRun {
    fileprivate func write(to out: inout FieldWriter) {
        out.put(RunField.time, time)
        out.put(RunField.line, line)
        out.put(RunField.events, events)
        out.put(RunField.hasEnded, hasEnded)
        out.put(RunField.steps, steps)
    }
}

extension KeptLines {
    fileprivate func write(to out: inout FieldWriter) {
        out.put(ReplayField.firstLine, first)
        out.put(ReplayField.isComplete, isComplete)
        forEachPart { text, entries in
            out.put(ReplayField.lines) { out in
                out.put(KeptLinesField.text, text)
                out.put(KeptLinesField.entries, doubles: entries)
            }
        }
    }
}

/// A run, and the moment of its camera, as they are read.
fileprivate struct SavedRun {
    var run = ReplayRun()
    var moment: HostedCamera.Moment?
    var target = 0.0

    init() {}

    init(_ row: FieldReader, limits: Limits) throws(FieldReader.Damage) {
        var row = row
        while let (tag, field) = try row.next(RunField.self) {
            switch tag {
            case .time: run.time = try field.time()
            case .line: run.line = try field.integer()
            case .events: run.events = try field.count()
            case .hasEnded: run.hasEnded = try field.flag()
            case .steps: run.steps = try field.count()
            case .moment: moment = try HostedCamera.Moment(field.record(), limits: limits)
            case .target: target = try field.double()
            }
        }
    }
}

extension Replays {
    func write(_ replay: Replay, to out: inout FieldWriter) {
        out.put(ReplayField.camera, replay.cameraName)
        if let peer = replay.peer { out.put(ReplayField.peer, peer.number) }
        out.put(ReplayField.feed, replay.feed)
        out.put(ReplayField.id, replay.id)
        var header = LineWriter()
        header.request(.trace(TraceHeader(playback: replay.playback)))
        out.put(ReplayField.header, header.bytes)
        replay.clock.write(to: &out)
        switch replay.phase {
        case .playing, .cut, .over: break
        case .paused: out.put(ReplayField.isPaused, true)
        case .stepping(let left): out.put(ReplayField.stepsLeft, left)
        }
        out.put(ReplayField.round, replay.round)
        out.put(ReplayField.rejected, replay.rejected)
        out.put(ReplayField.isCut, replay.isCut)
        out.put(ReplayField.passesOver, replay.passesOver)
        out.put(ReplayField.run) { replay.run.write(to: &$0) }
        if let seek = replay.seek {
            out.put(ReplayField.seek) { out in
                seek.run.write(to: &out)
                out.put(RunField.target, seek.target)
                out.put(RunField.moment) { seek.camera.moment.write(to: &$0) }
            }
        }
        for checkpoint in replay.checkpoints.all {
            out.put(ReplayField.checkpoint) { out in
                checkpoint.run.write(to: &out)
                out.put(RunField.moment) { checkpoint.moment.write(to: &$0) }
            }
        }
        replay.lines.write(to: &out)
        for marker in replay.markers {
            out.put(ReplayField.marker) { out in
                out.put(MarkerField.time, marker.timeMs)
                out.put(MarkerField.label, marker.label)
            }
        }
    }

    func write(_ trace: EndedTrace, from peer: Peer, to out: inout FieldWriter) {
        out.put(ReplayField.camera, trace.camera)
        out.put(ReplayField.peer, peer.number)
        out.put(ReplayField.isOver, true)
    }

    /// Goes on with a replay that another process has left.
    ///
    /// - Parameter peers: those that are still there, by their numbers.
    func restore(_ saved: SavedReplay, peers: [Int: Peer]) {
        let peer = saved.peer.flatMap { peers[$0] }
        if case .over = saved.phase, let name = saved.camera {
            if let peer { assign(EndedTrace(camera: name), to: peer) }
            return
        }
        guard let camera = saved.camera.flatMap({ camera(named: $0) }), camera.replay == nil else {
            // Nothing of a trace is ever taken for live input.
            if let peer { discardInput(of: peer) }
            return
        }
        let replay = Replay(saved, of: camera, from: peer)
        if let peer { assign(replay, to: peer) }
        (replay.round, replay.markers) = (saved.round, saved.markers)
        replay.run = saved.run.run
        addRunning(replay)
        let lines = saved.lines
        let known = { (run: ReplayRun) in (lines?.first ?? 0)...(lines?.end ?? 0) ~= run.line }
        replay.checkpoints = Checkpoints(saved.checkpoints.filter { known($0.run) })
        guard let lines, saved.seek != nil || known(replay.run) else { return abandon(replay) }
        replay.lines = lines
        if let seek = saved.seek, let moment = seek.moment, known(seek.run) {
            replay.seek = Replay.Seek(to: seek.target, from: seek.run, on: scratchCamera(for: camera, from: moment))
        } else if !known(replay.run) {
            return abandon(replay)
        }
        // Its owner went meanwhile.
        guard let peer else { return abandon(replay) }
        // Nor may its owner feed any more, by the options of this process.
        if peer.isWatchOnly { cutShort(replay) }
    }
}

extension Replay {
    fileprivate convenience init(_ saved: SavedReplay, of camera: HostedCamera, from peer: Peer?) {
        self.init(
            of: camera, from: peer, feed: saved.feed, id: saved.id, saved.playback,
            ReplayClock(saved.clock, longestWait: saved.playback.idleTimeLimitMs), saved.phase,
            rejected: saved.rejected, passesOver: saved.passesOver)
    }
}

/// A replay as it is read, before anything goes on with it.
struct SavedReplay {
    private(set) var camera: String?
    /// The number of the peer that sends it.
    private(set) var peer: Int?
    private(set) var feed = 0
    private(set) var id: [UInt8] = []
    private(set) var playback = TracePlayback()
    private(set) var clock = ReplayClock.Saved()
    private(set) var phase = Replay.Phase.playing
    private(set) var (round, rejected): (Int, UInt64) = (1, 0)
    private(set) var passesOver = false
    fileprivate private(set) var (run, seek) = (SavedRun(), SavedRun?.none)
    private(set) var checkpoints: [Checkpoints.Checkpoint] = []
    /// `nil` where they are not what they were.
    private(set) var lines: KeptLines?
    private(set) var markers: [ReplayMarker] = []

    /// Reads what ``Replays/write(_:to:)`` wrote.
    init(_ row: FieldReader, limits: Limits) throws(FieldReader.Damage) {
        var row = row
        var feed: Int?
        var (firstLine, isComplete) = (0, false)
        var parts: [(text: [UInt8], entries: [Double])] = []
        while let (tag, field) = try row.next(ReplayField.self) {
            switch tag {
            case .camera: camera = try field.text()
            case .peer: peer = try field.integer()
            case .feed: feed = try field.integer()
            case .id: id = Array(try field.bytes())
            case .header: playback = Self.playback(try field.bytes())
            case .speed: clock.speed = try field.double()
            case .origin: clock.origin = try field.time()
            case .start: clock.start = try field.double()
            case .held: clock.held = try field.double()
            case .lastStep: clock.lastStep = try field.double()
            case .isPaused: phase = .paused
            case .stepsLeft: phase = .stepping(left: try field.count())
            case .round: round = try field.integer()
            case .rejected: rejected = try field.count()
            case .isCut: if try field.flag() { phase = .cut }
            case .passesOver: passesOver = try field.flag()
            case .isOver: if try field.flag() { phase = .over }
            case .run: run = try SavedRun(field.record(), limits: limits)
            case .seek: seek = try SavedRun(field.record(), limits: limits)
            case .checkpoint:
                let checkpoint = try SavedRun(field.record(), limits: limits)
                if let moment = checkpoint.moment { checkpoints.append(.init(run: checkpoint.run, moment: moment)) }
            case .firstLine: firstLine = try field.integer()
            case .isComplete: isComplete = try field.flag()
            case .lines: parts.append(try Self.part(field.record()))
            case .marker: if let marker = try Self.marker(field.record()) { markers.append(marker) }
            }
        }
        self.feed = feed ?? peer ?? 0
        lines = KeptLines(from: firstLine, parts, isComplete: isComplete)
    }

    private static func playback(_ header: ArraySlice<UInt8>) -> TracePlayback {
        var decoder = RequestDecoder()
        let line = Array(header)
        guard let request = try? decoder.decode(line.span).first, case .trace(let header) = request.body else {
            return TracePlayback()
        }
        return header.playback
    }

    private static func part(_ row: FieldReader) throws(FieldReader.Damage) -> (text: [UInt8], entries: [Double]) {
        var row = row
        var (text, entries): ([UInt8], [Double]) = ([], [])
        while let (tag, field) = try row.next(KeptLinesField.self) {
            switch tag {
            case .text: text = Array(try field.bytes())
            case .entries: entries = try field.doubles()
            }
        }
        return (text, entries)
    }

    private static func marker(_ row: FieldReader) throws(FieldReader.Damage) -> ReplayMarker? {
        var row = row
        var (time, label): (Double?, String?)
        while let (tag, field) = try row.next(MarkerField.self) {
            switch tag {
            case .time: time = try field.double()
            case .label: label = try field.text()
            }
        }
        guard let time, let label else { return nil }
        return ReplayMarker(timeMs: time, label: label)
    }
}
