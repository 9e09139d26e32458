// Whose turn it is. What the hub does for a peer is counted as work and charged to it; whoever has had least goes first.
//
// This is start-time fair queueing: a peer has a time of its own, which its work moves on, and the queue has one, which is
// that of the peer it served last. A peer that is not ahead of the queue is served as soon as its bytes come; one that is
// waits here. Invariant: a peer waits at most once.

/// Peers whose lines wait for their turn.
struct FairQueue {
    /// In the order in which they came.
    private(set) var waiting: [Peer] = []
    private var time: UInt64 = 0
    /// The time of the peer that is ahead of all others.
    private var latest: UInt64 = 0

    /// How much more work than others a peer may have had and still be served at once: some gestures.
    static let lightWork: UInt64 = 16

    var isEmpty: Bool { waiting.isEmpty }

    /// Whether a peer is to be served ahead of those that wait.
    func isLight(_ peer: Peer) -> Bool { peer.time <= time + Self.lightWork }

    mutating func charge(_ work: UInt64, to peer: Peer) {
        peer.time = max(peer.time, time) + work
        latest = max(latest, peer.time)
    }

    mutating func join(_ peer: Peer) {
        guard !peer.isWaiting, !peer.isGone else { return }
        peer.isWaiting = true
        waiting.append(peer)
    }

    /// Takes out the peer that has had the least work; among equals, the one that came first.
    ///
    /// - Parameter turn: whoever has been served in it waits on.
    mutating func next(in turn: UInt64) -> Peer? {
        waiting.removeAll(where: \.isGone)
        var least: Int?
        for index in waiting.indices where waiting[index].servedIn != turn {
            if let found = least, waiting[found].time <= waiting[index].time { continue }
            least = index
        }
        guard let least else { return nil }
        let peer = waiting.remove(at: least)
        peer.isWaiting = false
        time = max(time, peer.time)
        return peer
    }

    /// Ends a turn. One in which there was little to do leaves nobody in debt; and whoever asks for little in each is ahead
    /// of nobody, however many wait.
    mutating func endTurn(work: UInt64) {
        let isCalm = waiting.isEmpty && work <= Self.lightWork
        time = isCalm ? latest : min(time + Self.lightWorkPerTurn, latest)
    }

    /// How much work of a peer in each turn is no debt: a gesture in every eighth turn, which is some thousand a second.
    private static let lightWorkPerTurn: UInt64 = 2
}

/// How much the hub has done. The unit is what an ordinary request costs, some 0.3 µs; what costs more counts for more.
struct WorkMeter {
    private(set) var total: UInt64 = 0
    /// Where the turn began.
    private var turnStart: UInt64 = 0
    /// Where whoever is being served has had enough.
    private var grantEnd: UInt64 = 0

    /// The work of this turn.
    var ofTurn: UInt64 { total - turnStart }
    var isGrantUsedUp: Bool { total >= grantEnd }

    mutating func add(_ work: Int) { total &+= UInt64(truncatingIfNeeded: work) }

    /// Adds what copying or reading bytes costs.
    mutating func add(bytes: Int) { add(bytes >> 9) }

    mutating func grant(_ work: UInt64) { grantEnd = total + work }

    mutating func beginTurn() { turnStart = total }
}
