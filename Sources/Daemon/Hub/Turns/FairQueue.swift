// Fair shares of the hub's time: the hub counts its work for a peer and charges it to that peer, and the peer with the
// least goes first.
//
// This is start-time fair queueing: each peer has a virtual time, which its work advances, and the queue's virtual time
// is that of the peer it served last. A peer that is not ahead of the queue is served as soon as its bytes arrive; one
// that is ahead waits here. Invariant: a peer waits at most once.

/// Peers whose lines wait for their turn.
struct FairQueue {
    /// What the queue knows of a peer. It is stored in the peer; only the queue changes it.
    struct Share {
        /// The order in which waiting peers arrived: later ones have higher numbers. 0 if the peer does not wait.
        fileprivate var arrival: UInt64 = 0
        /// The work done for the peer, in the queue's virtual time.
        fileprivate var time: UInt64 = 0
        /// The turn in which it was last served.
        fileprivate var servedIn: UInt64 = 0

        var isWaiting: Bool { arrival != 0 }
    }

    private var peers: [Peer] = []
    /// Peers that are being served, the next one last; empty between two turns, but kept so that nothing is allocated.
    private var order: [Peer] = []
    private var lastArrival: UInt64 = 0
    private var time: UInt64 = 0
    /// The time of the peer that is ahead of all others.
    private var latest: UInt64 = 0

    /// How much more work than others a peer may have had and still be served at once: a few gestures.
    static let lightWork: UInt64 = 16

    var isEmpty: Bool { peers.isEmpty }

    /// The peers that wait between two turns, in the order in which they arrived.
    var waiting: [Peer] { peers.sorted { $0.share.arrival < $1.share.arrival } }

    /// Whether a peer is served ahead of those that wait.
    func isWithinFairShare(_ peer: Peer) -> Bool { peer.share.time <= time + Self.lightWork }

    mutating func charge(_ work: UInt64, to peer: Peer) {
        peer.share.time = max(peer.share.time, time) + work
        latest = max(latest, peer.share.time)
    }

    mutating func join(_ peer: Peer) {
        guard !peer.share.isWaiting, !peer.isClosed else { return }
        lastArrival += 1
        peer.share.arrival = lastArrival
        peers.append(peer)
    }

    /// Notes that a peer is served in a turn.
    func serve(_ peer: Peer, in turn: UInt64) { peer.share.servedIn = turn }

    /// Sorts the waiting peers for ``next()``: least work first, then first come, first served. A peer that joins
    /// meanwhile waits for the next turn.
    ///
    /// - Parameter turn: peers already served in it keep waiting.
    /// - Returns: the number of peers to be served.
    mutating func beginServing(in turn: UInt64) -> Int {
        peers.removeAll(where: \.isClosed)
        let end = peers.partition { $0.share.servedIn != turn }
        order.append(contentsOf: peers[end...])
        order.sort { ($1.share.time, $1.share.arrival) < ($0.share.time, $0.share.arrival) }
        peers.removeSubrange(end...)
        return order.count
    }

    /// Removes and returns the next peer to be served.
    mutating func next() -> Peer? {
        while let peer = order.popLast() {
            peer.share.arrival = 0
            if peer.isClosed { continue }
            time = max(time, peer.share.time)
            return peer
        }
        return nil
    }

    /// Keeps the peers waiting that were not served.
    mutating func endServing() {
        peers += order
        order.removeAll(keepingCapacity: true)
    }

    /// Ends a turn. A turn with little work leaves no peer in debt, and a peer that asks for little in each turn is
    /// never ahead of another, however many wait.
    mutating func endTurn(work: UInt64) {
        let isCalm = peers.isEmpty && work <= Self.lightWork
        time = isCalm ? latest : min(time + Self.freeWorkPerTurn, latest)
    }

    /// The work for a peer in each turn that is no debt: a gesture without an answer, for its line and its event.
    private static let freeWorkPerTurn: UInt64 = 2
}
