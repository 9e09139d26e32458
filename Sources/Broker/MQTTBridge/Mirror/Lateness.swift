// How long before their time positions arrive, and which arrive too late: for the log, and for the screen's node.

import GimbalProtocol
import Service

struct Lateness {
    private(set) var late = 0
    /// How long before its time the least early one came, in milliseconds; negative if it came too late.
    private(set) var lead: Double?
    /// Whether the times of all are known, and the daemon has accepted all.
    var isWhole = true
    /// When the next reading is due; `nil` before the first position.
    private(set) var deadline: Double?

    /// Notes a position that arrives now, and is to be shown at `time` if its source's clock can be right.
    mutating func note(_ time: WallTime?, isOnTheWay: Bool, at now: WallTime, _ clock: Double) {
        deadline = deadline ?? clock + Screens.interval
        guard isOnTheWay else { return }
        guard let lead = time?.milliseconds(since: now) else { return isWhole = false }
        if lead < 0 { late += 1 }
        self.lead = min(self.lead ?? lead, lead)
    }

    /// Returns what was noted since the last time; `nil` if it is too soon.
    mutating func take(at now: Double) -> Lateness? {
        guard let end = deadline, end <= now else { return nil }
        defer {
            self = Lateness()
            deadline = now + Screens.interval
        }
        return self
    }

    /// The log text about late positions; `nil` if there are none.
    var text: PrintableText? {
        guard late > 0, let lead else { return nil }
        let late = "\(counted(late, "position")) came late, by up to \(Int((-lead).rounded(.up))) ms"
        return "\(late): the play-out is too short, or the clocks differ"
    }
}
