// How a replay went, in the daemon or in this process: a line for programs, rows for people.

import GimbalProtocol
import Glibc

extension Output {
    /// Adds how a replay went.
    ///
    /// - Parameter name: the file that was played.
    func conclude(_ message: ReceivedLine, of name: String) {
        guard isTerminal, let ended = message.traceEnded else { return add(message.bytes) }
        let style = Style(STDOUT_FILENO)
        let rejected: PrintableText = "\(grouped(ended.rejected)) rejected"
        let counts: [PrintableText] = [
            "\(counted(ended.events, "event"))", ended.rejected > 0 ? style.yellow(rejected) : rejected,
            "\(counted(ended.frames, "frame"))", "\(clock(milliseconds: ended.durationMs, 3))",
        ]
        add("\(style.bold(PrintableText(name))): \(counts.joined(separator: ", "))")
        add("  \(ended.position.text)")
    }
}
