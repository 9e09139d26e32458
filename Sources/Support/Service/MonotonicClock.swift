// The clock that every time of a process is of: what people set, and where time is kept better, does not move it.

import Glibc

package enum MonotonicClock {
    /// Milliseconds of the system's monotonic clock, which begins anywhere.
    package static var now: Double {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }
}
