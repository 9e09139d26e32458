// Counts positions that arrived after the time at which they were to be shown, for the log.

import GimbalProtocol
import Service

struct Lateness {
    private var count = 0
    /// How late the latest of them came, in milliseconds.
    private var worst = 0.0
    /// When the next log line is due; `nil` if there is nothing to log.
    private(set) var deadline: Double?
    /// The shortest time between two log lines, in milliseconds.
    private static let interval = 10_000.0

    /// Notes a position that arrives now and is to be shown at `time`.
    mutating func note(_ time: WallTime, at now: WallTime, _ clock: Double) {
        let delay = now.milliseconds(since: time)
        guard delay > 0 else { return }
        (count, worst) = (count + 1, max(worst, delay))
        deadline = deadline ?? clock + Self.interval
    }

    /// Returns the log text about late positions since the last line; `nil` if there are none, or it is too soon.
    mutating func takeText(at now: Double) -> PrintableText? {
        guard let end = deadline, end <= now else { return nil }
        defer { self = Lateness() }
        let worst = Int(worst.rounded(.up))
        let late = "\(counted(count, "position")) came late, by up to \(worst) ms"
        return "\(late): the play-out is too short, or the clocks differ"
    }
}
