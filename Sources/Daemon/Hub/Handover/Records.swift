// What cameras, clients and replays hand over to the next process: each has a record, and resumes from one. A record
// has what cannot be derived. Logs and subscriptions have theirs in their own files, which alone know their members.
// Invariant: what is read is checked before it is used.

import GimbalProtocol

// MARK: Cameras

extension HostedCamera {
    struct Record: Codable {
        let name: String
        let epoch: String
        let isEphemeral: Bool
        /// The hub's time at which the camera's clock was 0.
        let clockStart: Double
        let firstSeq: UInt64
        let log: EventLog.Record
        let inputLog: InputLog.Record?
        let moment: Moment
        /// Missing in a handover from an earlier version.
        let leases: Leases.Record?
        let motion: KnownMotion.Record?
        let toldClockStart: WallTime?
    }

    var record: Record {
        Record(
            name: name, epoch: epoch, isEphemeral: isEphemeral, clockStart: clockStart, firstSeq: firstSeq,
            log: log.record, inputLog: inputLog?.record, moment: moment, leases: leases.record,
            motion: motionRecord,
            // With a trace's times it may be so far away that no record holds it; then it is told once more.
            toldClockStart: toldClockStart.flatMap { $0.microseconds.magnitude < 1 << 53 ? $0 : nil })
    }

    convenience init(_ record: Record, _ environment: Environment) throws(StateDecoder.Damage) {
        guard Request.isCameraName(record.name.utf8), record.epoch.utf8.count <= 64, -1e15...1e15 ~= record.clockStart
        else { throw StateDecoder.Damage() }
        let (limits, memory) = (environment.limits, environment.memory)
        guard record.leases?.isPossible != false else { throw StateDecoder.Damage() }
        var moment = record.moment
        try moment.adopt(limits)
        let log = try EventLog(record.log, limits: limits, maximumBytes: limits.mostHistoryBytes, memory: memory)
        var inputLog: InputLog?
        if let inputs = record.inputLog {
            inputLog = try InputLog(
                inputs, of: record.name, encoder: environment.encoder, limits: limits, memory: memory)
        }
        self.init(
            name: record.name, epoch: record.epoch, moment, clockStart: record.clockStart, log: log,
            inputLog: inputLog, firstSeq: record.firstSeq, environment)
        try resume(record.motion)
        toldClockStart = record.toldClockStart
        if record.isEphemeral { registration = CameraRegistry.Registration(.ephemeral) }
    }
}

// MARK: Clients

extension Peer {
    struct Record: Codable {
        /// Identifies its connection in the next process.
        let key: UInt64
        let number: Int
        let about: String?
        let lineNumber: UInt64
        let isSkipping: Bool
        let input: PeerInput.State
        /// Input that has been read and not handled.
        let bytes: [UInt8]
        let isBroken: Bool
        let isBlocked: Bool
        /// Replies that have not been sent.
        let replies: [UInt8]
        let subscriptions: [Subscription.Record]
        let toAll: AllCameras?
        let waits: [RestWait.Record]
        /// The names of the cameras that it has fed.
        let fedCameras: [String]
        /// The camera of a trace that has ended while its lines still arrive.
        let endedTrace: String?
    }

    func record(_ key: UInt64, about: String?) -> Record {
        let ended: String? = if case .passedOver(let camera) = sentTrace.state { camera } else { nil }
        return Record(
            key: key, number: number, about: about, lineNumber: input.lineNumber,
            isSkipping: input.isSkipping, input: input.state, bytes: Array(input.waiting),
            isBroken: output.isBroken, isBlocked: isBlocked, replies: Array(output.replies[output.sentBytes...]),
            subscriptions: subscriptions.all.map(\.record), toAll: subscriptions.toAll, waits: waits.map(\.record),
            fedCameras: fedCameras.cameras.map(\.name), endedTrace: ended)
    }

    /// Resumes where another process left off; after an error, ``forgetRecord()`` must be called.
    func restore(
        _ record: Record, _ cameras: [String: HostedCamera], limits: Limits
    ) throws(StateDecoder.Damage) {
        input = PeerInput(
            record.input, lineNumber: record.lineNumber, isSkipping: record.isSkipping, bytes: record.bytes)
        let state: PeerOutput.State =
            record.isBroken ? .broken(isQueued: false) : record.isBlocked ? .blocked : .idle
        output = PeerOutput(state, replies: record.replies)
        for wait in record.waits {
            guard let camera = cameras[wait.camera] else { throw StateDecoder.Damage() }
            add(RestWait(wait, for: camera, of: self))
        }
        var all: [Subscription] = []
        for subscription in record.subscriptions {
            all.append(try Subscription(subscription, of: self, cameras, limits: limits))
        }
        subscriptions = PeerSubscriptions(all: all, toAll: record.toAll)
    }

    /// Breaks the reference cycles of a peer with its waits and subscriptions.
    func forgetRecord() {
        subscriptions = PeerSubscriptions()
        waits = []
    }
}

// MARK: Replays

extension Replay {
    struct Record: Codable {
        /// The camera's name.
        let camera: String
        /// The number of the peer that sends it, as long as that is connected.
        let peer: Int?
        let feed: Int
        let id: [UInt8]
        let playback: TracePlayback
        /// Missing in a handover from an earlier version.
        let storedTrace: StoredTrace.Identity?
        let clock: ReplayClock
        let phase: Phase
        let round: Int
        /// Missing in a handover from an earlier version.
        let roundStart: Double?
        let rejected: UInt64
        let passesOver: Bool
        let run: ReplayRun
        fileprivate(set) var seek: Seek?
        /// Empty for a stored trace, which the next process has itself.
        let lines: KeptLines
        fileprivate(set) var checkpoints: [Checkpoints.Checkpoint]
        let markers: [ReplayMarker]

        struct Seek: Codable {
            let target: Double
            let run: ReplayRun
            fileprivate(set) var moment: HostedCamera.Moment
        }
    }

    var record: Record {
        Record(
            camera: cameraName, peer: peer?.number, feed: feed, id: id, playback: playback,
            storedTrace: storedTrace, clock: clock, phase: phase, round: round,
            roundStart: roundStart.isFinite ? roundStart : nil, rejected: rejected, passesOver: passesOver, run: run,
            seek: seek.map { Record.Seek(target: $0.target, run: $0.run, moment: $0.camera.moment) },
            lines: isAttract ? KeptLines() : lines,
            checkpoints: checkpoints.all, markers: markers)
    }

    convenience init(_ record: Record, _ lines: KeptLines, of camera: HostedCamera, from peer: Peer?) {
        self.init(
            of: camera, from: peer, feed: record.feed, id: record.id, record.playback, record.clock,
            record.storedTrace, rejected: record.rejected, passesOver: record.passesOver)
        (phase, round, run, self.lines, markers) = (record.phase, record.round, record.run, lines, record.markers)
        roundStart = record.roundStart ?? -.infinity
        checkpoints = Checkpoints(record.checkpoints.filter { lines.have($0.run) })
    }
}

extension Replay.Record {
    /// Adopts the limits of this process; throws if no process leaves such a record.
    mutating func adopt(_ limits: Limits) throws(StateDecoder.Damage) {
        if case .over = phase { throw StateDecoder.Damage() }
        guard playback.isPossible, clock.isPossible, lines.isPossible, run.isPossible, seek?.run.isPossible ?? true,
            checkpoints.allSatisfy(\.run.isPossible), -1e15...1e15 ~= roundStart ?? 0
        else { throw StateDecoder.Damage() }
        try seek?.moment.adopt(limits)
        for index in checkpoints.indices { try checkpoints[index].moment.adopt(limits) }
    }
}

extension TracePlayback {
    /// Whether a header can have these values.
    fileprivate var isPossible: Bool {
        if case .times(let times) = loop, times < 1 { return false }
        return [fromMs, untilMs, idleTimeLimitMs, durationMs].allSatisfy { 0...ReplayClock.longest ~= $0 ?? 0 }
    }
}

extension KeptLines {
    /// Whether they include the line that a run continues with.
    fileprivate func have(_ run: ReplayRun) -> Bool { first...end ~= run.line }
}

extension Replays {
    /// Resumes a replay that another process has left.
    ///
    /// - Parameter peers: the peers that are still connected, by number.
    func restore(_ record: Replay.Record, peers: [Int: Peer], _ traces: StoredTraces) {
        let peer = record.peer.flatMap { peers[$0] }
        guard let camera = camera(named: record.camera), camera.replay == nil else {
            // Lines of a trace are never taken for live input.
            if let peer { discardInput(of: peer) }
            return
        }
        let stored = record.storedTrace.flatMap { identity in
            traces[identity.info.trace].flatMap { peer == nil && $0.identity == identity ? $0 : nil }
        }
        let replay = Replay(record, stored?.lines ?? record.lines, of: camera, from: peer)
        addRunning(replay)
        if let seek = record.seek, replay.lines.have(seek.run) {
            let scratch = scratchCamera(for: camera, from: seek.moment)
            replay.seek = Replay.Seek(to: seek.target, from: seek.run, on: scratch)
        } else if !replay.lines.have(replay.run) {
            return abandon(replay)
        }
        // Its owner has disconnected meanwhile.
        guard let peer else { return stored != nil ? () : abandon(replay) }
        // By the options of this process, its owner may no longer feed cameras.
        if peer.isWatchOnly { cutShort(replay) }
    }
}
