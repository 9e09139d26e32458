// One peer's subscription to one camera: a cursor into the camera's log, and what the peer wants of it. It costs the
// same however far behind it is.

import GimbalProtocol

/// What a subscriber wants to receive from a camera.
struct Interest: Codable {
    let events: EventKinds
    let delivery: EventDelivery

    init(_ kinds: Set<EventKind>?, _ delivery: EventDelivery?) {
        (events, self.delivery) = (EventKinds(kinds ?? EventKind.movements), delivery ?? .every)
    }
}

/// A subscription of a peer to a camera.
final class Subscription {
    // Both refer to the subscription until it ends.
    let peer: Peer
    let camera: HostedCamera
    /// The kinds that are sent; includes `gesture` once ``startInput()`` has been called.
    private(set) var kinds: EventKinds
    /// Whether it asks for the camera's input.
    let isRecorder: Bool
    /// Whether it asks for the input or the fingers, which are in a log of their own.
    let readsInputs: Bool
    /// Whether its trace begins only once its peer reads again.
    var isPutOff = false
    /// Whether it belongs to a subscription to all cameras.
    let isOfAll: Bool
    let log: EventLog
    /// Its index among the camera's subscriptions.
    var index = 0
    /// Its rank in the order in which subscriptions began.
    var number = 0
    var membership = PeerOutput.Membership()
    let delivery: EventDelivery
    /// The first entry that has not been sent.
    private(set) var cursor: UInt64 {
        didSet { if cursor < log.numberedFrom || oldValue < log.numberedFrom { countUnnumbered(since: oldValue) } }
    }
    /// The number of lines without a seq in the log before the cursor.
    private var unnumberedBefore: UInt64
    /// The kind of event that was sent last; with `latest`, it determines what may follow.
    private var lastSent: EventKinds = .idle
    /// Whether the waiting lines are dropped, and the peer will be told that it missed them.
    private var hasGivenUp = false

    init(_ interest: Interest, of peer: Peer, to camera: HostedCamera, limits: Limits, isOfAll: Bool = false) {
        self.peer = peer
        self.camera = camera
        self.isOfAll = isOfAll
        isRecorder = interest.events.contains(.gesture)
        readsInputs = !interest.events.isDisjoint(with: .inputs)
        kinds = interest.events.union(.reset).subtracting(.gesture)
        log = readsInputs ? camera.startInputLog(limits: limits) : camera.log
        delivery = interest.delivery
        cursor = log.end
        unnumberedBefore = log.unnumbered
    }

    /// What is handed over to the next process.
    struct Record: Codable {
        /// The camera's name.
        fileprivate let camera: String
        fileprivate let kinds: EventKinds
        fileprivate let isRecorder: Bool
        fileprivate let readsInputs: Bool
        fileprivate let isOfAll: Bool
        fileprivate let delivery: EventDelivery
        fileprivate let cursor: UInt64
        /// The number of lines without a seq that have not been sent.
        fileprivate let unnumbered: Int
        fileprivate let lastSent: EventKinds
        fileprivate let hasGivenUp: Bool
    }

    var record: Record {
        Record(
            camera: camera.name, kinds: kinds, isRecorder: isRecorder, readsInputs: readsInputs, isOfAll: isOfAll,
            delivery: delivery, cursor: cursor,
            unnumbered: Int(truncatingIfNeeded: log.unnumbered &- unnumberedBefore), lastSent: lastSent,
            hasGivenUp: hasGivenUp)
    }

    /// Resumes where another process left off.
    init(
        _ record: Record, of peer: Peer, _ cameras: [String: HostedCamera], limits: Limits
    ) throws(StateDecoder.Damage) {
        guard let camera = cameras[record.camera] else { throw StateDecoder.Damage() }
        (self.peer, self.camera) = (peer, camera)
        (isRecorder, readsInputs, isOfAll) = (record.isRecorder, record.readsInputs, record.isOfAll)
        (kinds, delivery, hasGivenUp) = (record.kinds, record.delivery, record.hasGivenUp)
        log = readsInputs ? camera.startInputLog(limits: limits) : camera.log
        cursor = min(record.cursor, log.end)
        unnumberedBefore = log.unnumbered &- UInt64(truncatingIfNeeded: record.unnumbered)
        lastSent = record.lastSent
    }

    /// Whether it shows the fingers.
    var showsTouches: Bool { readsInputs && kinds.contains(.touch) }

    /// The number of entries not yet sent.
    var backlog: UInt64 { log.end - cursor }

    private func countUnnumbered(since old: UInt64) {
        unnumberedBefore &+= log.unnumbered(from: old, to: cursor) &- log.unnumbered(from: cursor, to: old)
    }

    /// The number of lines missed by a reader that misses the whole backlog: events with a seq or, if there are none,
    /// the other lines that it has asked for.
    private var missedCount: UInt64 {
        let events = backlog &- (log.unnumbered &- unnumberedBefore)
        return events > 0 || kinds.isDisjoint(with: .unnumbered) ? events : backlog
    }

    /// Whether something has not been sent.
    var hasUnsent: Bool { backlog > 0 || hasMissed }

    /// The size of the backlog in bytes.
    var backlogBytes: Int { log.byteCount(from: max(cursor, log.first)) }
    /// How many of them a reader gets in any case: with `latest`, positions are left out.
    var copiedBytes: Int { delivery == .every ? backlogBytes : 0 }

    /// Sends the camera's input from now on; what was waiting has been flushed.
    func startInput() {
        kinds.insert(.gesture)
        cursor = log.end
    }

    /// Whether it receives the camera's input.
    var hasTraceHeader: Bool { kinds.contains(.gesture) }

    /// Waits for the beginning of a trace again.
    func stopInput() { kinds.remove(.gesture) }

    /// Resumes from an entry; the peer has read everything before it.
    func resume(from entry: UInt64) {
        noteLast(before: entry, butNotBefore: log.first)
        cursor = entry
    }

    func sent(upTo entry: UInt64) {
        noteLast(before: entry, butNotBefore: max(cursor, log.first))
        cursor = entry
    }

    /// Notes the kind of the last event with a seq, which only `latest` depends on. Entries that were sent are not
    /// examined again, so that no reader counts the markers of a history.
    private func noteLast(before entry: UInt64, butNotBefore first: UInt64) {
        guard delivery == .latest else { return }
        var entry = entry
        while entry > first {
            let kind = log.kind(of: entry - 1)
            if EventKinds.unnumbered.isDisjoint(with: kind) {
                lastSent = kind
                return
            }
            entry -= 1
        }
    }

    /// Drops the backlog; the peer will be told that it missed it.
    func giveUp() { hasGivenUp = delivery == .every }

    // MARK: Sending

    /// Whether the peer has missed lines and must be told.
    var hasMissed: Bool { cursor < log.first || hasGivenUp }

    /// Writes what precedes the log's own lines: that events were missed, and those that must not be missed.
    ///
    /// The cursor is then at the end of the log with `every`, and at the oldest entry with `latest`.
    func catchUp(_ line: inout LineWriter) {
        guard hasMissed else { return }
        hasGivenUp = false
        // With `every`, the whole log is skipped; with `latest`, what it still holds is sent from there.
        let isSkipped = delivery == .every || log.lastReset.entry < log.first
        if log.lastReset.entry >= cursor, isSkipped, !log.lastReset.line.isEmpty {
            let reset = log.lastReset.line
            line.write(reset.span)
            lastSent = .idle
        }
        switch delivery {
        case .every:
            if missedCount > 0 { camera.writeGap(of: missedCount, to: &line) }
            if showsTouches { camera.writeTouches(at: nil, to: &line) }
            camera.writeState(of: kinds, at: nil, to: &line)
            cursor = log.end
            unnumberedBefore = log.unnumbered
        case .latest:
            let started = log.lastMoveStarted
            // The log has only the rest of a movement that the peer does not know of yet.
            let isGone = started.entry >= max(cursor, log.lastReset.entry) && started.entry < log.first
            if lastSent == .idle || lastSent == .reset, isGone {
                let text = started.line
                if kinds.contains(.moveStarted) { line.write(text.span) }
                lastSent = .moveStarted
            }
            camera.writeState(of: kinds, at: nil, to: &line)
            cursor = log.first
        }
    }

    /// Everything that is to be sent, if that is a single run of the log; otherwise `nil`.
    var wholeRun: EventLog.Run? {
        guard isWhole, cursor < log.end, !hasMissed else { return nil }
        let run = log.run(from: cursor, to: log.end)
        return run.entries.upperBound == log.end ? run : nil
    }

    /// Whether every line of the log is sent.
    private var isWhole: Bool {
        delivery == .every && kinds == .usual && !readsInputs && cursor >= log.numberedFrom
    }

    /// Passes on the runs of the log that are to be sent, in order. `room` is the maximum number of runs.
    func gather(room: Int, _ add: (EventLog.Run) -> Void) {
        guard cursor < log.end else { return }
        switch delivery {
        case .every: gatherEvery(room: room, add)
        case .latest: gatherLatest(add)
        }
    }

    private func gatherEvery(room: Int, _ add: (EventLog.Run) -> Void) {
        let isWhole = isWhole
        var (entry, room) = (cursor, room)
        while entry < log.end, room > 0 {
            guard isWhole || !kinds.isDisjoint(with: log.kind(of: entry)) else {
                if entry == cursor { cursor += 1 }
                entry += 1
                continue
            }
            var stop = isWhole ? log.end : entry + 1
            while stop < log.end, !kinds.isDisjoint(with: log.kind(of: stop)) { stop += 1 }
            let run = log.run(from: entry, to: stop)
            add(run)
            entry = run.entries.upperBound
            room -= 1
        }
    }

    /// Passes on the newest position, with the `move-started` before it and the `idle` after it where the grammar
    /// requires them, and the positions announced ahead, none of which replaces another.
    private func gatherLatest(_ add: (EventLog.Run) -> Void) {
        var reset: UInt64?
        var (started, changed, idle): (UInt64?, UInt64?, UInt64?)
        // The newest entry of each kind without a seq, and the positions announced ahead.
        var (others, ahead): ([UInt16: UInt64], [UInt64]) = ([:], [])
        for entry in cursor..<log.end {
            let kind = log.kind(of: entry)
            switch kind {
            case .reset:
                reset = entry
                (started, changed, idle) = (nil, nil, nil)
            case .moveStarted: (started, changed, idle) = (entry, nil, nil)
            case .cameraChanged: changed = entry
            case .idle: idle = entry
            case .present: ahead.append(entry)
            case _ where !EventKinds.unnumbered.isDisjoint(with: kind): others[kind.rawValue] = entry
            default: break  // What the camera is fed: for readers of every line alone.
            }
        }
        if reset == nil, lastSent == .moveStarted { started = nil }
        var isEmpty = true
        func addIfAsked(_ entry: UInt64?) {
            guard let entry, !kinds.isDisjoint(with: log.kind(of: entry)) else { return }
            add(log.run(from: entry, to: entry + 1))
            isEmpty = false
        }
        if others.isEmpty, ahead.isEmpty {
            // This is their order in the log; nothing is allocated.
            addIfAsked(reset)
            addIfAsked(started)
            addIfAsked(changed)
            addIfAsked(idle)
        } else {
            let newest = [reset, started, changed, idle].compactMap { $0 } + others.values + ahead.suffix(PlayOut.most)
            for entry in newest.sorted() { addIfAsked(entry) }
        }
        if isEmpty { sent(upTo: log.end) }
    }
}
