// Positions that have come after the time at which they were to be shown: counted, and told in the log.

import GimbalProtocol
import Service

struct Lateness {
    private var count = 0
    /// How late the latest of them came, in milliseconds.
    private var worst = 0.0
    /// When the log may have the next line; `nil` while there is nothing to tell.
    private(set) var deadline: Double?
    /// Milliseconds from one line of the log to the next, at least.
    private static let interval = 10_000.0

    /// Notes when a position is to be shown that comes now.
    mutating func note(_ time: WallTime, at now: WallTime, _ clock: Double) {
        let delay = now.milliseconds(since: time)
        guard delay > 0 else { return }
        (count, worst) = (count + 1, max(worst, delay))
        deadline = deadline ?? clock + Self.interval
    }

    /// What to log about those since the last line; `nil` if there is nothing, or it is not time.
    mutating func takeText(at now: Double) -> PrintableText? {
        guard let end = deadline, end <= now else { return nil }
        defer { self = Lateness() }
        let worst = Int(worst.rounded(.up))
        let late = "\(counted(count, "position")) came late, by up to \(worst) ms"
        return "\(late): the play-out is too short, or the clocks differ"
    }
}
