// `--status`: how good this machine's clock is.

import GimbalProtocol
import Glibc
import Service

enum ClockStatus {
    /// The exit status where the clock is not synchronized.
    private static let unsynchronized: CInt = 1

    /// Prints how good this machine's clock is, according to chronyd, or to the kernel if chronyd does not answer.
    ///
    /// - Returns: the exit status.
    /// - Throws: the reason if the kernel does not say it.
    static func tell() throws -> CInt {
        let own = Chronyd().quality(at: MonotonicClock.now)
        let quality = try own ?? ClockQuality.kernel()
        let teller: PrintableText = own == nil ? "the kernel" : "chronyd"
        ("This machine's clock is \(quality.text), according to \(teller).\n" as PrintableText).write(to: STDOUT_FILENO)
        return quality.isSynchronized ? 0 : unsynchronized
    }
}
