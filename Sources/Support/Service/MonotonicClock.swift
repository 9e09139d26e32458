// The clocks of a process. Its own times are by the monotonic clock, which is never set; the other is for people.

import Glibc

package enum MonotonicClock {
    /// Milliseconds of the system's monotonic clock, which has an arbitrary origin.
    package static var now: Double {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }
}

package enum RealtimeClock {
    /// Microseconds since 1970-01-01 00:00 UTC, by the system's wall clock.
    package static var microseconds: Int {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }
}
