// Measures the hub's work. The unit is the cost of an ordinary request, about 0.3 µs; what costs more counts for more.

struct WorkMeter {
    private(set) var total: UInt64 = 0
    /// The total at the start of the turn.
    private var turnStart: UInt64 = 0
    /// The total at which the peer being served has used up its share.
    private var grantEnd: UInt64 = 0

    /// The work of this turn.
    var ofTurn: UInt64 { total - turnStart }
    var isGrantUsedUp: Bool { total >= grantEnd }

    mutating func add(_ work: Int) { total &+= UInt64(truncatingIfNeeded: work) }

    /// Adds the cost of copying or reading bytes.
    mutating func add(bytes: Int) { add(bytes >> 9) }

    mutating func grant(_ work: UInt64) { grantEnd = total + work }

    /// Extends the share of the peer being served, as long as the turn has cost no more than a limit by then.
    mutating func prolong(by work: UInt64, upTo limit: UInt64) {
        grantEnd = max(grantEnd, min(grantEnd + work, turnStart + limit))
    }

    mutating func beginTurn() { turnStart = total }
}
