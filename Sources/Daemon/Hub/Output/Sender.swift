// What goes out: replies and events in the order in which they arose, in one write for each peer and turn.
// Nothing is copied for a subscriber but the rest of a line that was cut, and what stands before a reply of its own.

import GimbalProtocol

final class Sender {
    /// What became of sending to a peer.
    enum Outcome {
        /// There is nothing more for it.
        case sent
        /// It had as many bytes as one is sent in a turn, and is queued for the next.
        case unfinished
        /// Its connection takes no more for now.
        case blocked
        /// It reads no more.
        case broken
    }

    private let limits: Limits
    private let turns: Turns
    private let counters: Counters

    /// Cameras whose subscribers have been queued since they were last served.
    private var changed = CameraList(.changed)
    private var queue: [Peer] = []
    /// Peers that have had as many bytes as one is sent in a turn, and more to read.
    private var unfinished: [Peer] = []
    /// How often something was emitted.
    private var emissions: UInt64 = 0
    private let encoder = LineEncoder()
    private var offer = Offer()
    private var lastRun: LastRun?

    /// What is offered to a peer at a time. It is kept, so that nothing is allocated.
    @safe private struct Offer {
        // Sound: they point into logs and replies, and are not looked at any more once these have changed.
        var pieces: [UnsafeRawBufferPointer] = unsafe []
        var runs: [(subscription: Subscription, run: EventLog.Run)] = []

        mutating func removeAll() {
            unsafe pieces.removeAll(keepingCapacity: true)
            runs.removeAll(keepingCapacity: true)
        }
    }

    /// The run of a log that was sent last. Entries are numbered once and never change, so the same ones are the same bytes.
    private struct LastRun {
        let log: EventLog
        let entries: Range<UInt64>
    }

    init(limits: Limits, _ turns: Turns, _ counters: Counters) {
        (self.limits, self.turns, self.counters) = (limits, turns, counters)
    }

    // MARK: Events

    /// Has the subscribers of a camera sent what it has emitted.
    func send(_ effects: HostedCamera.Effects, of camera: HostedCamera) {
        emissions += 1
        turns.add(events: effects.lines)
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

    /// Tells a peer what is wrong with its line, or with that of a request that waited.
    func refuse(_ error: WireError, line: UInt64? = nil, _ id: Span<UInt8>, to peer: Peer) {
        let number = line ?? peer.input.framer.lineNumber
        reply(.error(GimbalError(error, line: number)), id, to: peer)
    }

    /// Answers a request, as ``reply(to:_:)`` does.
    func reply(_ message: ServerMessage, _ id: Span<UInt8>, to peer: Peer) {
        reply(to: peer) { $0.answer(message, id) }
    }

    /// Writes a reply, behind what the peer has subscribed to and was emitted before.
    func reply(to peer: Peer, _ write: (inout LineWriter) -> Void) {
        putEventsFirst(for: peer)
        append(to: peer, write)
    }

    /// Puts what a peer has subscribed to and was emitted before among its replies. With `latest` it does not: there, never
    /// more than one change is to wait.
    func putEventsFirst(for peer: Peer) {
        guard peer.output.lastEmission != emissions else { return }
        turns.add(work: peer.output.pending.count >> 5)
        var backlog = peer.backlog
        for subscription in peer.output.pending where subscription.delivery == .every {
            flush(subscription, backlog: &backlog)
        }
        peer.output.lastEmission = emissions
    }

    /// Writes lines to a peer, wherever they come among events.
    func append(to peer: Peer, _ write: (inout LineWriter) -> Void) {
        encoder.encode(write) { bytes in
            guard peer.output.isOpen else { return }
            turns.add(bytes: bytes.count)
            peer.output.append(bytes)
            enqueue(peer)
        }
    }

    /// Puts what a subscription has waiting among its peer's replies. A peer that reads nothing misses it: a copy for each
    /// reply would cost more and more.
    func flush(_ subscription: Subscription) {
        var backlog = subscription.peer.backlog
        flush(subscription, backlog: &backlog)
    }

    /// Puts what all of a peer's subscriptions have waiting among its replies.
    func flushAll(of peer: Peer) {
        var backlog = peer.backlog
        for subscription in peer.subscriptions.all { flush(subscription, backlog: &backlog) }
    }

    /// - Parameter backlog: how many events wait in all of the peer's subscriptions; those of this one do no longer.
    private func flush(_ subscription: Subscription, backlog: inout UInt64) {
        guard subscription.backlog > 0 else { return }
        let peer = subscription.peer
        let own = subscription.delivery == .every ? subscription.backlog : 0
        defer { backlog -= min(own, backlog) }
        let isCostly =
            backlog > UInt64(limits.historyEvents) || peer.output.unreadBytes > limits.unreadReplies
        let bytes = subscription.backlogBytes
        if isCostly || subscription.readsInputs && bytes > limits.historyBytes { subscription.giveUp() }
        announce(subscription)
        if bytes > 16 << 10, !subscription.hasMissed { peer.output.reserve(bytes) }
        var end = subscription.cursor
        subscription.gather(room: .max) { run in
            turns.add(bytes: unsafe run.bytes.count)
            unsafe peer.output.append(run.bytes)
            end = run.entries.upperBound
        }
        if end > subscription.cursor { subscription.sent(upTo: end) }
    }

    /// Puts what goes ahead of a subscription's lines among the peer's replies.
    private func announce(_ subscription: Subscription) {
        guard subscription.hasMissed else { return }
        append(to: subscription.peer) { subscription.catchUp(&$0) }
    }

    // MARK: The end of the turn

    /// Has a subscription's peer sent what its camera has emitted.
    private func enqueue(_ subscription: Subscription) {
        let peer = subscription.peer
        peer.output.insert(subscription)
        enqueue(peer)
    }

    /// Has a peer sent what it has to read, at the end of the turn.
    func enqueue(_ peer: Peer) {
        guard peer.output.enqueue() else { return }
        queue.append(peer)
        turns.willWrite()
    }

    /// Whether some peers have had as many bytes as one is sent in a turn, and more to read.
    var hasUnfinished: Bool { !unfinished.isEmpty }

    /// Those whose sending was not finished in the last turn have their turn again.
    func resumeUnfinished() {
        guard !unfinished.isEmpty else { return }
        queue.append(contentsOf: unfinished)
        unfinished.removeAll(keepingCapacity: true)
    }

    /// Serves every queued peer; those with little to receive do not wait for those with much.
    ///
    /// - Parameter serve: sends to a peer. That can bring more: if the peer turns out to be gone, its gestures end.
    func serveQueue(_ serve: (Peer) -> Void) {
        while !queue.isEmpty {
            var batch: [Peer] = []
            swap(&batch, &queue)
            changed.removeAll()
            for peer in batch where turns.isWithinFairShare(peer) && peer.output.dequeue() { serve(peer) }
            for peer in batch where peer.output.dequeue() { serve(peer) }
            batch.removeAll(keepingCapacity: true)
            if queue.isEmpty { swap(&batch, &queue) }
        }
        changed.removeAll()
        turns.eventsWereSent()
    }

    /// Sends a peer what there is for it.
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
            if sent >= limits.bytesPerTurn, peer.output.enqueue() {
                unfinished.append(peer)
                return .unfinished
            }
            peer.output.removeSent(butFor: offer.runs.last?.subscription)
            if offered == 0 || !peer.output.hasUnsentEvents { return .sent }
        }
    }

    /// Sends what nearly every peer has waiting, and nothing else: all new lines of one camera, as they stand in its log.
    ///
    /// - Returns: whether that is all. Otherwise what was taken is noted.
    private func sendRun(_ peer: Peer) -> Bool {
        guard peer.output.pending.count == 1, peer.output.unreadBytes == 0 else { return false }
        let subscription = peer.output.pending[0]
        guard let run = subscription.wholeRun else { return false }
        let isRepeated = isLastRun(run.entries, of: subscription.log)
        let taken = unsafe peer.outlet.send(run.bytes, isRepeated: isRepeated)
        turns.charge(Self.work(ofSending: taken, pieces: 1), to: peer)
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

    /// Notes which run is being sent; says whether it is the one before, as it is for all but one of a camera's subscribers.
    private func isLastRun(_ entries: Range<UInt64>, of log: EventLog) -> Bool {
        if let lastRun, lastRun.log === log, lastRun.entries == entries { return true }
        lastRun = LastRun(log: log, entries: entries)
        return false
    }

    private static func work(ofSending bytes: Int, pieces: Int) -> UInt64 {
        Turns.workOfWrite + UInt64(truncatingIfNeeded: pieces / 4 + max(bytes, 0) >> 9)
    }

    /// Offers a peer all that it has waiting; says how many bytes that were, and how many it took.
    private func sendAll(_ peer: Peer) -> (offered: Int, taken: Int) {
        for subscription in peer.output.pending { announce(subscription) }
        offer.removeAll()
        return unsafe peer.output.replies.withUnsafeBytes { replies in
            var offered = replies.count - peer.output.sentBytes
            if offered > 0 { unsafe offer.pieces.append(.init(rebasing: replies[peer.output.sentBytes...])) }
            for subscription in peer.output.pending where offered < limits.bytesPerTurn {
                subscription.gather(room: 256) { run in
                    unsafe offer.pieces.append(run.bytes)
                    offer.runs.append((subscription, run))
                    offered += unsafe run.bytes.count
                }
            }
            guard offered > 0 else { return (0, 0) }
            let taken = unsafe peer.outlet.send(offer.pieces)
            turns.charge(unsafe Self.work(ofSending: taken, pieces: offer.pieces.count), to: peer)
            return (offered, taken)
        }
    }

    /// Records what has been sent. A line that was cut keeps its rest among the replies, so that cursors stand between lines.
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
            let cut = subscription.entry(at: left, of: run)
            unsafe peer.output.append(UnsafeRawBufferPointer(rebasing: run.bytes[left..<cut.end]))
            return subscription.sent(upTo: cut.entry + 1)
        }
    }
}
