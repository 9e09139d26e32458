// Fair shares of the hub's time: the hub counts its work for a peer and charges it to that peer, and the peer with the
// least goes first.
//
// This is start-time fair queueing: a peer has a virtual time of its own, which its work moves on, and the queue has one,
// which is that of the peer it served last. A peer that is not ahead of the queue is served as soon as its bytes come; one
// that is waits here. Invariant: a peer waits at most once.

/// Peers whose lines wait for their turn.
struct FairQueue {
    /// What the queue knows of a peer. It is kept in the peer, and only the queue changes it.
    struct Share {
        fileprivate(set) var isWaiting = false
        /// In which order peers came that wait: later ones have higher numbers.
        fileprivate var arrival: UInt64 = 0
        /// How much work the peer has had, in the queue's virtual time.
        fileprivate var time: UInt64 = 0
        /// The turn in which it was last served.
        fileprivate var servedIn: UInt64 = 0
    }

    private var peers: [Peer] = []
    /// Those that are being served, the next one last; empty between two turns. (It is kept, so that nothing is allocated.)
    private var order: [Peer] = []
    private var lastArrival: UInt64 = 0
    private var time: UInt64 = 0
    /// The time of the peer that is ahead of all others.
    private var latest: UInt64 = 0

    /// How much more work than others a peer may have had and still be served at once: some gestures.
    static let lightWork: UInt64 = 16

    var isEmpty: Bool { peers.isEmpty }

    /// Those that wait between two turns, in the order in which they came.
    var waiting: [Peer] { peers.sorted { $0.share.arrival < $1.share.arrival } }

    /// Whether a peer is to be served ahead of those that wait.
    func isWithinFairShare(_ peer: Peer) -> Bool { peer.share.time <= time + Self.lightWork }

    mutating func charge(_ work: UInt64, to peer: Peer) {
        peer.share.time = max(peer.share.time, time) + work
        latest = max(latest, peer.share.time)
    }

    mutating func join(_ peer: Peer) {
        guard !peer.share.isWaiting, !peer.isClosed else { return }
        lastArrival += 1
        (peer.share.isWaiting, peer.share.arrival) = (true, lastArrival)
        peers.append(peer)
    }

    /// Notes that a peer is served in a turn.
    func serve(_ peer: Peer, in turn: UInt64) { peer.share.servedIn = turn }

    /// Sorts the waiting peers for ``next()``: least work first, then first come, first served. A peer that joins
    /// meanwhile waits for the next turn.
    ///
    /// - Parameter turn: peers already served in it keep waiting.
    /// - Returns: how many are to be served.
    mutating func beginServing(in turn: UInt64) -> Int {
        peers.removeAll(where: \.isClosed)
        let end = peers.partition { $0.share.servedIn != turn }
        order.append(contentsOf: peers[end...])
        order.sort { ($1.share.time, $1.share.arrival) < ($0.share.time, $0.share.arrival) }
        peers.removeSubrange(end...)
        return order.count
    }

    /// Removes the peer that is to be served next.
    mutating func next() -> Peer? {
        while let peer = order.popLast() {
            peer.share.isWaiting = false
            if peer.isClosed { continue }
            time = max(time, peer.share.time)
            return peer
        }
        return nil
    }

    /// Has those that were not served wait on.
    mutating func endServing() {
        peers += order
        order.removeAll(keepingCapacity: true)
    }

    /// Ends a turn. A turn with little work leaves no peer in debt; and a peer that asks for little in each is ahead of
    /// no other, however many wait.
    mutating func endTurn(work: UInt64) {
        let isCalm = peers.isEmpty && work <= Self.lightWork
        time = isCalm ? latest : min(time + Self.freeWorkPerTurn, latest)
    }

    /// How much work of a peer in each turn is no debt: a gesture in every eighth turn, which is some thousand a second.
    private static let freeWorkPerTurn: UInt64 = 2
}
