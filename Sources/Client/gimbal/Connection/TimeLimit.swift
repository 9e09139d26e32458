// How long a command waits: for an answer of the daemon, or altogether, as --timeout says; and how long it records.

/// A time at which a command stops what it does.
struct TimeLimit {
    private let end: ContinuousClock.Instant
    private let milliseconds: Double

    /// How long the daemon has to answer without --timeout, in milliseconds.
    static let usualAnswer = 5000.0

    init(milliseconds: Double) {
        end = .now + .milliseconds(milliseconds)
        self.milliseconds = milliseconds
    }

    /// The milliseconds that are left, at least 0.
    var left: Int { Int(max((end - .now) / .milliseconds(1), 0).rounded(.up)) }

    /// Returns the failure of a command whose time is up.
    ///
    /// - Parameter isUnanswered: whether the daemon owes an answer.
    func failure(isUnanswered: Bool) -> Failure {
        isUnanswered
            ? Failure(.unavailable, "the daemon does not answer: nothing came within \(spoken(milliseconds))")
            : Failure(.busy, "not done within the --timeout of \(spoken(milliseconds))")
    }
}
