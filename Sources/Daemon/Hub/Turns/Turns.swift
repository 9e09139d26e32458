// Whose turn it is, and how much of it is left: the budgets of work and events, and the queue of waiting peers.
// Invariant: all work between two calls of `endTurn` counts toward one turn, and is charged to the peer being served.

final class Turns {
    private let limits: Limits
    private var queue = FairQueue()
    /// All work counted so far. The unit is the cost of an ordinary request, about 0.3 µs; what costs more counts for
    /// more.
    private(set) var work: UInt64 = 0
    /// The work at the start of the turn, and that at which the peer being served has used up its share.
    private var (turnStart, grantEnd): (UInt64, UInt64) = (0, 0)
    private var number: UInt64 = 1
    /// The number of events that have been emitted and not sent.
    private var unsentEvents = 0
    /// The lines among them that cameras have emitted: no reader that was up to date has more to read of them.
    private(set) var newEvents = 0

    /// The maximum work per turn for peers that are served as their bytes arrive: about 0.1 ms.
    private static let mostWorkAtOnce: UInt64 = 256

    init(limits: Limits) { self.limits = limits }

    // MARK: Counting

    func add(work: Int) { self.work &+= UInt64(truncatingIfNeeded: work) }

    /// Counts bytes that were read or copied.
    func add(bytes: Int) { add(work: bytes >> 9) }

    /// Counts events, and answers that cost as much as one.
    func add(events: Int) { unsentEvents += events }

    /// Counts lines that a camera has emitted.
    func add(newEvents: Int) {
        unsentEvents += newEvents
        self.newEvents += newEvents
    }

    /// Counts what is copied for a peer that has fallen behind.
    func add(copied bytes: Int, events: Int) {
        copiedBytes += bytes
        unsentEvents += events
    }

    /// The minimum cost of writing to a peer.
    static let workOfWrite: UInt64 = 4

    /// Notes that a peer will be written to at the end of the turn. The more that end costs, the more may be done
    /// before it: twice as much, up to four turns. So many subscribers are not written to for every few lines.
    func willWrite() {
        grantEnd = max(grantEnd, min(grantEnd + 2 * Self.workOfWrite, turnStart + 4 * grant))
    }

    /// Notes that events have been sent to those that were up to date, as far as they are read.
    ///
    /// - Parameter toAll: whether none of them waits for the next turn.
    func eventsWereSent(toAll: Bool) {
        unsentEvents = 0
        if toAll { newEvents = 0 }
    }

    func charge(_ work: UInt64, to peer: Peer) { queue.charge(work, to: peer) }

    // MARK: Budget

    /// Whether few events may be emitted, because a turn had no time for all readers that have fallen behind.
    var isShort = false

    /// Whether the peer being served has used up its share for now.
    var isUsedUp: Bool { work >= grantEnd || !hasRoomForEvents || isShort && newEvents >= shortEnd }

    /// The number of new events at which a share is used up while turns are short.
    private var shortEnd = 0
    private static let fewEvents = 32

    /// The bytes that were copied in this turn for those that have fallen behind.
    private var copiedBytes = 0

    /// Whether more may be copied for those that have fallen behind.
    var hasRoomForCopies: Bool { copiedBytes < 3 * limits.historyBytes }

    /// Whether more events may be emitted before subscribers are written to.
    var hasRoomForEvents: Bool { unsentEvents < limits.eventsPerTurn }

    // MARK: Serving

    var hasWaitingPeers: Bool { !queue.isEmpty }

    /// The peers that wait between two turns, in the order in which they arrived.
    var waiting: [Peer] { queue.waiting }

    /// Whether a peer has had no more work than others.
    func isWithinFairShare(_ peer: Peer) -> Bool { queue.isWithinFairShare(peer) }

    /// Whether a peer is served ahead of those that wait: it has had no more work, and the turn is still short.
    func isServedAtOnce(_ peer: Peer) -> Bool {
        !peer.share.isWaiting && queue.isWithinFairShare(peer) && work - turnStart < Self.mostWorkAtOnce
            && hasRoomForEvents
    }

    /// Makes a peer wait for its turn.
    func join(_ peer: Peer) { queue.join(peer) }

    private var grant: UInt64 { UInt64(limits.requestsPerTurn) }
    private var lightGrant: UInt64 { queue.isEmpty ? grant : min(2 * FairQueue.lightWork, grant) }

    /// Serves a peer as its bytes arrive, and charges it for the work done.
    @inline(__always)
    func serveAtOnce(_ peer: Peer, _ body: () -> Void) {
        grantEnd = work + lightGrant
        shortEnd = newEvents + Self.fewEvents
        serve(peer, body)
    }

    @inline(__always)
    private func serve(_ peer: Peer, _ body: () -> Void) {
        queue.serve(peer, in: number)
        let start = work
        body()
        queue.charge(work - start, to: peer)
    }

    /// Serves waiting peers, the least served first, until the turn is used up; it is twice as long for a single peer.
    func serveWaiting(_ body: (Peer) -> Void) {
        grantEnd = work + (queue.beginServing(in: number) == 1 ? 2 * grant : grant)
        shortEnd = newEvents + Self.fewEvents
        while !isUsedUp, let peer = queue.next() { serve(peer) { body(peer) } }
        queue.endServing()
    }

    /// Grants one of `count` that share a turn its part, without charging a peer.
    func grantPart(of count: Int) {
        grantEnd = work + max(grant / UInt64(count), 1)
        shortEnd = newEvents + max(Self.fewEvents / count, 1)
    }

    func endTurn() {
        number += 1
        copiedBytes = 0
        queue.endTurn(work: work - turnStart)
        turnStart = work
    }
}
