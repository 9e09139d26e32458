// The counts in `stats`, from the first process on. Each is changed by the part that does what it counts.

final class Counters: Codable {
    var lines: UInt64 = 0
    var errors: UInt64 = 0
    var events: UInt64 = 0
    var bytesIn: UInt64 = 0
    var bytesOut: UInt64 = 0

    /// Continues the counts of another process.
    func goOn(from other: Counters) {
        (lines, errors, events) = (other.lines, other.errors, other.events)
        (bytesIn, bytesOut) = (other.bytesIn, other.bytesOut)
    }
}
