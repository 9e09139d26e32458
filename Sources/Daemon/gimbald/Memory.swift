// What malloc keeps. Thousands of clients come and go, and what they leave lies in pieces between what stays: malloc would
// keep most of it, and it could not be told from a leak.

import CMalloc
import Libevent

/// Gives back to the system what clients have left.
@safe final class Memory {
    /// Milliseconds from one giving back to the next: each looks at all that is free, half a millisecond for 100 MiB.
    private static let interval = 1000.0

    private var timer: ClosureWatcher?
    private var isDue = false

    /// To be called before anything large is allocated.
    static func prepare() {
        // Histories are large and come and go: mapped one by one they go back to the system, and leave no holes.
        // Without a fixed threshold, malloc maps ever fewer of them.
        _ = mallopt(M_MMAP_THRESHOLD, 128 << 10)
    }

    init(_ loop: EventLoop) {
        timer = ClosureWatcher(loop) { [unowned self] in
            isDue = false
            _ = malloc_trim(0)
        }
    }

    /// Takes note that a client has left something.
    func clientWent() {
        guard !isDue, let timer else { return }
        isDue = (try? timer.wait(for: .timeout, milliseconds: Self.interval)) != nil
    }
}
