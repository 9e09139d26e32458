// The clocks of a process. Each of its times is of the monotonic one, which nothing sets; the other is what people read.

import Glibc

package enum MonotonicClock {
    /// Milliseconds of the system's monotonic clock, which begins anywhere.
    package static var now: Double {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }
}

package enum RealtimeClock {
    /// Microseconds since 1970-01-01 00:00 UTC, as the system's clock of the time of day has them.
    package static var microseconds: Int {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }
}
