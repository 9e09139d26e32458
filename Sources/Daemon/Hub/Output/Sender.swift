// Sends replies and events in the order in which they arose, in one write per peer and turn. Nothing is copied for a
// subscriber except the rest of a line that was cut, and the events before one of its replies.

import GimbalProtocol

final class Sender {
    /// The outcome of sending to a peer.
    enum Outcome {
        /// Nothing is left to send.
        case sent
        /// The peer was sent the maximum of bytes per turn, and continues in a later turn.
        case unfinished
        /// The connection accepts no more for now.
        case blocked
        /// The peer reads no more.
        case broken
    }

    private let limits: Limits
    private let turns: Turns
    private let counters: Counters
    private let observer: ClientObserver

    /// Cameras whose subscribers have been queued since the queue was last served.
    private var changed = CameraList(.changed)
    private var queue: [Peer] = []
    /// Those being served that have had much work, or have fallen behind: they wait for the others.
    private var others: [Peer] = []
    /// Queued peers that have fallen behind. They share a part of each turn, the first one next.
    private var late: [Peer] = []
    /// The work of sending so far.
    private var work: UInt64 = 0
    /// The work for the late ones at a time: some 5 ms, and twice that in a turn in which other peers wait.
    private static let mostWorkForLate: UInt64 = 8192
    /// The number of times that peers are served at a time: what the end of a connection emits may end the next one.
    private static let mostRounds = 4
    /// One more than the number of times that something was emitted, so never 0.
    private var emissions: UInt64 = 1
    private let encoder = LineEncoder()
    private var offer = Offer()
    private var lastRun: LastRun?

    /// What is offered to a peer at a time, kept so that nothing is allocated.
    @safe private struct Offer {
        // Sound: the pieces point into logs and replies, and are not read once these have changed.
        var pieces: [UnsafeRawBufferPointer] = unsafe []
        var runs: [(subscription: Subscription, run: EventLog.Run)] = []

        mutating func removeAll() {
            unsafe pieces.removeAll(keepingCapacity: true)
            runs.removeAll(keepingCapacity: true)
        }
    }

    /// The run of a log that was sent last. Entries are numbered once and never change: equal ranges are equal bytes.
    private struct LastRun {
        let log: EventLog
        let entries: Range<UInt64>
    }

    init(limits: Limits, _ turns: Turns, _ counters: Counters, _ observer: ClientObserver) {
        (self.limits, self.turns, self.counters, self.observer) = (limits, turns, counters, observer)
    }

    // MARK: Events

    /// Queues the subscribers of a camera to be sent what it has emitted.
    func send(_ effects: HostedCamera.Effects, of camera: HostedCamera) {
        emissions += 1
        turns.add(newEvents: effects.lines)
        turns.add(work: effects.lines)
        counters.events += UInt64(effects.events)
        guard !camera.readers.subscriptions.isEmpty, changed.insert(camera) else { return }
        for subscription in camera.readers.subscriptions { enqueue(subscription) }
    }

    // MARK: Replies

    /// Acknowledges a request, if it has an id.
    func acknowledge(_ id: Span<UInt8>, to peer: Peer) {
        guard !id.isEmpty else { return }
        reply(.ok, id, to: peer)
    }

    /// Sends a peer an error about its current line.
    func refuse(_ error: GimbalError, _ id: Span<UInt8>, to peer: Peer) {
        reply(.error(error.at(line: peer.input.lineNumber)), id, to: peer)
    }

    /// Answers a request, as ``reply(to:_:)`` does.
    func reply(_ message: ServerMessage, _ id: Span<UInt8>, to peer: Peer) {
        reply(to: peer) { $0.answer(message, id) }
    }

    /// Writes a reply after the subscribed events that were emitted before it.
    func reply(to peer: Peer, _ write: (inout LineWriter) -> Void) {
        putEventsFirst(for: peer)
        append(to: peer, write)
    }

    /// Copies the events that wait in a peer's subscriptions to its replies; not those of subscriptions with `latest`,
    /// where at most one change may wait.
    func putEventsFirst(for peer: Peer) {
        guard peer.output.lastEmission != emissions else { return }
        turns.add(work: peer.output.pending.count >> 5)
        flush(peer.output.pending.lazy.filter { $0.delivery == .every }, of: peer)
        peer.output.lastEmission = emissions
    }

    /// Writes lines to a peer, regardless of their order among events.
    func append(to peer: Peer, _ write: (inout LineWriter) -> Void) {
        encoder.encode(write) { bytes in
            guard peer.output.isOpen else { return }
            turns.add(bytes: bytes.count)
            peer.output.append(bytes)
            enqueue(peer)
        }
    }

    /// Copies the events that wait in some of a peer's subscriptions to its replies. A peer that reads nothing misses
    /// them: copies for each reply would cost more and more.
    func flush(_ subscriptions: some Collection<Subscription>, of peer: Peer) {
        let isLate = isLate(peer)
        // What waits for a peer that is not late is new in this turn, which is limited.
        let bytes = isLate ? subscriptions.reduce(0) { $0 + $1.copiedBytes } : 0
        var backlog = (events: peer.backlog, bytes: bytes)
        // Whole histories, copied for hundreds of peers that have fallen behind, would delay all others.
        let isTooMuch =
            isLate && !turns.hasRoomForCopies && (backlog.events > Self.few || bytes > 16 << 10)
        let isFull = isTooMuch || peer.output.unreadBytes > limits.unreadReplies
        let isWhole = !isFull && backlog.events <= UInt64(limits.historyEvents) && bytes <= limits.mostHistoryBytes
        if isWhole, bytes > 16 << 10 { peer.output.reserve(bytes) }
        for subscription in subscriptions { flush(subscription, backlog: &backlog, isLate, isFull) }
    }

    /// Copies the events that wait in a camera's subscriptions to the replies of their peers, the fewest first.
    func flushAll(_ subscriptions: [Subscription]) {
        for subscription in subscriptions.sorted(by: { $0.backlog < $1.backlog }) {
            flush([subscription], of: subscription.peer)
        }
    }

    /// Whether a peer has fallen behind, or reads nothing for now.
    func isLate(_ peer: Peer) -> Bool { peer.output.state == .blocked || isBehind(peer) }

    /// So many events may wait for a peer that is up to date.
    private static let few: UInt64 = 64

    /// Whether a peer has clearly more to read than what is new in this turn.
    private func isBehind(_ peer: Peer) -> Bool {
        guard peer.output.unreadBytes <= limits.bytesPerTurn else { return true }
        var room = UInt64(turns.newEvents) + Self.few
        for subscription in peer.output.pending {
            guard subscription.backlog <= room else { return true }
            room -= subscription.backlog
        }
        return false
    }

    /// - Parameters:
    ///   - backlog: what waits in all of the peer's subscriptions; decreased by this one's.
    ///   - isLate: whether the peer has fallen behind.
    ///   - isFull: whether too much was kept before this, for the peer or for all.
    private func flush(
        _ subscription: Subscription, backlog: inout (events: UInt64, bytes: Int), _ isLate: Bool, _ isFull: Bool
    ) {
        guard subscription.backlog > 0 else { return }
        let peer = subscription.peer
        let own = subscription.delivery == .every ? subscription.backlog : 0
        let bytes = subscription.copiedBytes
        defer { backlog = (backlog.events - min(own, backlog.events), backlog.bytes - min(bytes, backlog.bytes)) }
        let isCostly =
            isFull || backlog.events > UInt64(limits.historyEvents) || backlog.bytes > limits.mostHistoryBytes
        if isCostly || subscription.readsInputs && bytes > limits.historyBytes { subscription.giveUp() }
        announce(subscription)
        var end = subscription.cursor
        subscription.gather(room: .max) { run in
            turns.add(bytes: unsafe run.bytes.count)
            if isLate { turns.add(copied: unsafe run.bytes.count, events: run.entries.count) }
            unsafe peer.output.append(run.bytes)
            end = run.entries.upperBound
        }
        if end > subscription.cursor { subscription.sent(upTo: end) }
    }

    /// Writes to the peer's replies what must precede the lines of a subscription that has missed some.
    private func announce(_ subscription: Subscription) {
        guard subscription.hasMissed else { return }
        append(to: subscription.peer) { subscription.catchUp(&$0) }
    }

    // MARK: Errors

    /// The work of an error, whose texts are built for it alone.
    private static let workOfError = 8

    /// Answers a request that failed when it was applied.
    func refuse(_ error: GimbalError, _ id: Span<UInt8>, about camera: String, to peer: Peer) {
        count(error, camera, of: peer)
        refuse(error, id, to: peer)
    }

    /// Answers a request that waited in vain.
    func refuse(_ error: GimbalError, _ id: Span<UInt8>, ofLine line: UInt64, to peer: Peer) {
        counters.errors += 1
        reply(.error(error.at(line: line)), id, to: peer)
    }

    /// Answers every request of a rejected line that can be answered.
    func reject(_ rejection: Rejection, _ text: Span<UInt8>, from peer: Peer) {
        count(rejection.error, peer.lastCamera?.name, of: peer)
        turns.add(work: Self.workOfError * max(rejection.ids.count, 1))
        var isAnswered = false
        for (index, id) in rejection.ids.enumerated() {
            let isWrong = rejection.index.map { $0 == index } ?? (rejection.ids.count == 1)
            guard isWrong || id != nil else { continue }
            let error = isWrong ? rejection.error : rejection.error.ofOtherRequest
            refuse(error, text.extracting(id?.range ?? 0..<0), to: peer)
            isAnswered = true
        }
        if !isAnswered { refuse(rejection.error, Span(), to: peer) }
    }

    /// Counts an error, and reports it to the log if one is kept.
    private func count(_ error: GimbalError, _ camera: String?, of peer: Peer) {
        counters.errors += 1
        peer.replay?.lineWasRejected()
        observer.report(.refused(error, line: peer.input.lineNumber, camera: camera), of: peer)
    }

    // MARK: End of the turn

    /// Queues a subscription's peer to be sent what the camera has emitted.
    private func enqueue(_ subscription: Subscription) {
        let peer = subscription.peer
        peer.output.insert(subscription)
        enqueue(peer)
    }

    /// Queues a peer to be sent what it has to read, at the end of the turn.
    func enqueue(_ peer: Peer) {
        guard peer.output.enqueue() else { return }
        queue.append(peer)
        turns.willWrite()
    }

    /// Whether some peers wait for the next turn.
    var hasUnfinished: Bool { !late.isEmpty || !queue.isEmpty }

    /// Serves every queued peer that is up to date, so that none that keeps up ever lags, and then those that have
    /// fallen behind, as far as there is time.
    ///
    /// - Parameter serve: sends to a peer. This may queue more: if the peer turns out to be gone, its gestures end.
    func serveQueue(_ serve: (Peer) -> Void) {
        serveUpToDate(serve)
        turns.isShort = false
        if !late.isEmpty { serveLate(serve) }
        turns.eventsWereSent(toAll: queue.isEmpty)
    }

    /// Serves the queued peers; those that have had little work do not wait for the others. Notes who is late.
    private func serveUpToDate(_ serve: (Peer) -> Void) {
        for _ in 0..<Self.mostRounds where !queue.isEmpty {
            var batch: [Peer] = []
            swap(&batch, &queue)
            changed.removeAll()
            for peer in batch {
                if turns.isWithinFairShare(peer), !isBehind(peer) {
                    serveQueued(peer, serve)
                } else {
                    others.append(peer)
                }
            }
            for peer in others where peer.output.isQueued {
                if isBehind(peer) { late.append(peer) } else { serveQueued(peer, serve) }
            }
            others.removeAll(keepingCapacity: true)
            batch.removeAll(keepingCapacity: true)
            if queue.isEmpty { swap(&batch, &queue) }
        }
    }

    /// Serves a queued peer. If this emits something, such as the end of a lease with the end of a connection, it is
    /// still to be sent to those that have been served.
    @inline(__always)
    private func serveQueued(_ peer: Peer, _ serve: (Peer) -> Void) {
        guard peer.output.dequeue() else { return }
        serve(peer)
        if !changed.isEmpty { changed.removeAll() }
    }

    /// Serves each late peer once, until there is no time left. Then turns are short until there is: what others emit
    /// must not leave the late ones ever further behind.
    private func serveLate(_ serve: (Peer) -> Void) {
        let (start, count) = (work, late.count)
        var index = 0
        while index < count, work - start < Self.mostWorkForLate {
            let peer = late[index]
            index += 1
            serveQueued(peer, serve)
        }
        late.removeFirst(index)
        turns.isShort = index < count
        serveUpToDate(serve)
    }

    /// Sends a peer what is waiting for it.
    func send(to peer: Peer) -> Outcome {
        if sendRun(peer) { return .sent }
        var sent = 0
        while true {
            let (offered, taken) = sendAll(peer)
            guard taken >= 0 else { return .broken }
            recordSent(taken, to: peer)
            if taken < offered {
                peer.output.block()
                return .blocked
            }
            sent += taken
            peer.output.removeSent(butFor: offer.runs.last?.subscription)
            if offered == 0 || !peer.output.hasUnsentEvents { return .sent }
            if sent >= limits.bytesPerTurn, isBehind(peer) {
                if peer.output.enqueue() { late.append(peer) }
                return .unfinished
            }
        }
    }

    /// Handles the usual case, in which only new lines of one camera are waiting: sends them straight from its log.
    ///
    /// - Returns: whether that was all. Otherwise, what was taken is recorded.
    private func sendRun(_ peer: Peer) -> Bool {
        guard peer.output.pending.count == 1, peer.output.unreadBytes == 0 else { return false }
        let subscription = peer.output.pending[0]
        guard let run = subscription.wholeRun else { return false }
        let isRepeated = isLastRun(run.entries, of: subscription.log)
        let taken = unsafe peer.outlet.send(run.bytes, isRepeated: isRepeated)
        charge(Self.work(ofSending: taken, pieces: 1), to: peer)
        if unsafe taken == run.bytes.count {
            counters.bytesOut += UInt64(taken)
            subscription.sent(upTo: run.entries.upperBound)
            return true
        }
        offer.removeAll()
        offer.runs.append((subscription, run))
        recordSent(max(taken, 0), to: peer)
        return false
    }

    /// Notes which run is sent; returns whether it is the previous one again, as for all but one of a camera's readers.
    private func isLastRun(_ entries: Range<UInt64>, of log: EventLog) -> Bool {
        if let lastRun, lastRun.log === log, lastRun.entries == entries { return true }
        lastRun = LastRun(log: log, entries: entries)
        return false
    }

    private func charge(_ work: UInt64, to peer: Peer) {
        self.work += work
        turns.charge(work, to: peer)
    }

    private static func work(ofSending bytes: Int, pieces: Int) -> UInt64 {
        Turns.workOfWrite + UInt64(truncatingIfNeeded: pieces / 4 + max(bytes, 0) >> 9)
    }

    /// Offers a peer everything that is waiting for it; returns how many bytes that was, and how many the peer took.
    private func sendAll(_ peer: Peer) -> (offered: Int, taken: Int) {
        for subscription in peer.output.pending { announce(subscription) }
        offer.removeAll()
        return unsafe peer.output.replies.withUnsafeBytes { replies in
            var offered = replies.count - peer.output.sentBytes
            if offered > 0 { unsafe offer.pieces.append(.init(rebasing: replies[peer.output.sentBytes...])) }
            for subscription in peer.output.pending where offered < limits.bytesPerTurn {
                // Each entry may be looked at.
                charge(subscription.backlog >> 7, to: peer)
                subscription.gather(room: 256) { run in
                    unsafe offer.pieces.append(run.bytes)
                    offer.runs.append((subscription, run))
                    offered += unsafe run.bytes.count
                }
            }
            guard offered > 0 else { return (0, 0) }
            let taken = unsafe peer.outlet.send(offer.pieces)
            charge(unsafe Self.work(ofSending: taken, pieces: offer.pieces.count), to: peer)
            return (offered, taken)
        }
    }

    /// Records what was sent. The rest of a line that was cut moves to the replies, so that cursors stay between lines.
    private func recordSent(_ bytes: Int, to peer: Peer) {
        counters.bytesOut += UInt64(bytes)
        guard var left = peer.output.removeSent(bytes) else { return }
        for (subscription, run) in offer.runs {
            guard left > 0 else { return }
            let length = unsafe run.bytes.count
            if left >= length {
                left -= length
                subscription.sent(upTo: run.entries.upperBound)
                continue
            }
            let cut = subscription.log.entry(at: left, of: run)
            unsafe peer.output.append(UnsafeRawBufferPointer(rebasing: run.bytes[left..<cut.end]))
            return subscription.sent(upTo: cut.entry + 1)
        }
    }
}
