// What `stats` counts, from the first process on. Each count is changed by the part that does what is counted.

final class Counters: Codable {
    var lines: UInt64 = 0
    var errors: UInt64 = 0
    var events: UInt64 = 0
    var bytesIn: UInt64 = 0
    var bytesOut: UInt64 = 0

    /// Counts on from those of another process.
    func goOn(from other: Counters) {
        (lines, errors, events) = (other.lines, other.errors, other.events)
        (bytesIn, bytesOut) = (other.bytesIn, other.bytesOut)
    }
}
