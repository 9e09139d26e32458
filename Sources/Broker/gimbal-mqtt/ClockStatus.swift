// `--status`: how good this machine's clock is. Unlike the bridge, it may start a program and wait for it.

import GimbalProtocol
import Glibc
import Service

enum ClockStatus {
    /// The exit status where the clock is not synchronized.
    private static let unsynchronized: CInt = 1

    /// Prints how good this machine's clock is, according to chronyd, or to the kernel if there is no chronyd.
    ///
    /// - Returns: the exit status.
    /// - Throws: the reason if the kernel does not say it.
    static func tell() throws -> CInt {
        let own = chronyd()
        let quality = try own ?? ClockQuality.kernel()
        let teller: PrintableText = own == nil ? "the kernel" : "chronyd"
        ("This machine's clock is \(quality.text), according to \(teller).\n" as PrintableText).write(to: STDOUT_FILENO)
        // A bridge can only ask the kernel.
        if own?.isSynchronized == true, (try? ClockQuality.kernel())?.isSynchronized == false {
            let advice: PrintableText =
                "The kernel does not know, so neither does a bridge: set rtcsync in chrony.conf.\n"
            advice.write(to: STDOUT_FILENO)
        }
        return quality.isSynchronized ? 0 : unsynchronized
    }

    /// Returns what chronyd says; `nil` if there is none, or it does not answer.
    private static func chronyd() -> ClockQuality? {
        guard let output = unsafe popen("exec chronyc -c -n tracking 2>/dev/null", "re") else { return nil }
        var line = [CChar](repeating: 0, count: 1024)
        let isThere = unsafe fgets(&line, CInt(line.count), output) != nil
        guard unsafe pclose(output) == 0, isThere else { return nil }
        let bytes = line.prefix { $0 != 0 && $0 != CChar(bitPattern: UInt8(ascii: "\n")) }
        return ClockQuality(tracking: String(decoding: bytes.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}
