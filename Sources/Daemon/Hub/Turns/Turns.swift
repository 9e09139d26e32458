// Whose turn it is, and how much of the turn is left: the budgets of work and of events, and the queue of waiting
// peers.
// Invariant: all work between two calls of `endTurn` counts to one turn, and is charged to the peer being served.

final class Turns {
    private let limits: Limits
    private var queue = FairQueue()
    private var meter = WorkMeter()
    private var number: UInt64 = 1
    /// Events that have been emitted and not been sent.
    private var unsentEvents = 0

    /// What all peers that are served as their bytes come may cost in a turn: some 0.1 ms.
    private static let mostWorkAtOnce: UInt64 = 256

    init(limits: Limits) { self.limits = limits }

    // MARK: What is done is counted

    /// All work that was ever counted.
    var work: UInt64 { meter.total }

    func add(work: Int) { meter.add(work) }

    /// Counts bytes that were read or copied.
    func add(bytes: Int) { meter.add(bytes: bytes) }

    /// Counts events, and answers that are as much work as one.
    func add(events: Int) { unsentEvents += events }

    /// What writing to a peer costs at least.
    static let workOfWrite: UInt64 = 4

    /// A peer is to be written to at the end of the turn. The more that end costs, the more may be done before it: twice as much,
    /// up to four turns. So many subscribers are not written to for every few lines.
    func willWrite() { meter.prolong(by: 2 * Self.workOfWrite, upTo: 4 * grant) }

    /// All events have been sent, as far as they are read.
    func eventsWereSent() { unsentEvents = 0 }

    func charge(_ work: UInt64, to peer: Peer) { queue.charge(work, to: peer) }

    // MARK: How much is left

    /// Whether the peer being served has used up its share for now.
    var isUsedUp: Bool { meter.isGrantUsedUp || !hasRoomForEvents }

    /// Whether more events may be emitted before subscribers are written to.
    var hasRoomForEvents: Bool { unsentEvents < limits.eventsPerTurn }

    // MARK: Who is served

    var isAnybodyWaiting: Bool { !queue.isEmpty }

    /// The peers that wait between two turns, in the order in which they came.
    var waiting: [Peer] { queue.waiting }

    /// Whether a peer has had no more work than others.
    func isWithinFairShare(_ peer: Peer) -> Bool { queue.isWithinFairShare(peer) }

    /// Whether a peer goes ahead of those that wait: it has had no more than they, and the turn is not long yet.
    func isServedAtOnce(_ peer: Peer) -> Bool {
        !peer.share.isWaiting && queue.isWithinFairShare(peer) && meter.ofTurn < Self.mostWorkAtOnce && hasRoomForEvents
    }

    /// Has a peer wait for its turn.
    func join(_ peer: Peer) { queue.join(peer) }

    private var grant: UInt64 { UInt64(limits.requestsPerTurn) }
    private var lightGrant: UInt64 { queue.isEmpty ? grant : min(2 * FairQueue.lightWork, grant) }

    /// Serves a peer as its bytes come, and charges it for what is done meanwhile.
    @inline(__always)
    func serveAtOnce(_ peer: Peer, _ body: () -> Void) {
        meter.grant(lightGrant)
        serve(peer, body)
    }

    @inline(__always)
    private func serve(_ peer: Peer, _ body: () -> Void) {
        queue.serve(peer, in: number)
        let start = meter.total
        body()
        queue.charge(meter.total - start, to: peer)
    }

    /// Serves those that wait, the least served first, until the turn is used up. It is twice as long for one that waits alone.
    func serveWaiting(_ body: (Peer) -> Void) {
        meter.grant(queue.beginServing(in: number) == 1 ? 2 * grant : grant)
        while !isUsedUp, let peer = queue.next() { serve(peer) { body(peer) } }
        queue.endServing()
    }

    /// Grants one of several that share a turn its part, without charging a peer.
    func grantPart(of count: Int) { meter.grant(max(grant / UInt64(count), 1)) }

    func endTurn() {
        number += 1
        queue.endTurn(work: meter.ofTurn)
        meter.beginTurn()
    }
}
