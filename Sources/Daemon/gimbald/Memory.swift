// Returns freed memory to the system. Thousands of clients come and go, and their freed memory is scattered between
// what stays: malloc would keep most of it, and that would look like a leak.

import CLinux
import Libevent

/// Returns to the system the memory that clients have freed.
@safe final class Memory {
    /// Milliseconds between two trims: each looks at all that is free, half a millisecond for 100 MiB.
    private static let interval = 1000.0

    private var timer: ClosureWatcher?
    private var isDue = false

    /// Sets up malloc; must be called before anything large is allocated.
    static func prepare() {
        // Histories are large and come and go: mapped one by one, they return to the system and leave no holes. Without
        // a fixed threshold, malloc maps ever fewer of them.
        _ = mallopt(M_MMAP_THRESHOLD, 128 << 10)
    }

    init(_ loop: EventLoop) {
        timer = ClosureWatcher(loop) { [unowned self] in
            isDue = false
            _ = malloc_trim(0)
        }
    }

    /// Schedules a trim after a client has gone.
    func clientWent() {
        guard !isDue, let timer else { return }
        isDue = (try? timer.wait(for: .timeout, milliseconds: Self.interval)) != nil
    }
}
