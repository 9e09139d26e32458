// The output of a replay, in the daemon or in this process: lines for programs, rows for people.

import GimbalProtocol
import Glibc

/// Prints what a replay brings.
final class ReplayOutput {
    private let name: String
    private let output: Output
    private var table: EventTable?

    /// - Parameters:
    ///   - name: the file that is played.
    ///   - camera: the one that is followed; `nil` if none is.
    init(_ name: String, following camera: String?, _ output: Output) {
        self.name = name
        self.output = output
        table = output.isTerminal ? camera.map { EventTable(cameras: [$0]) } : nil
    }

    /// Whether events are rows that scroll by.
    var hasRows: Bool { table != nil }

    /// Prints a row for people, where the event makes one, or the line: the same byte for byte on every run.
    func show(_ message: ReceivedLine) {
        guard table != nil else { return output.add(message.withoutEpoch) }
        for line in table?.lines(message) ?? [] { output.add(line) }
    }

    /// Prints how the replay went.
    func conclude(_ message: ReceivedLine) {
        guard output.isTerminal, let ended = message.traceEnded else { return output.add(message.bytes) }
        let style = Style(STDOUT_FILENO)
        let rejected: PrintableText = "\(grouped(ended.rejected)) rejected"
        let counts: [PrintableText] = [
            "\(counted(ended.events, "event"))", ended.rejected > 0 ? style.yellow(rejected) : rejected,
            "\(counted(ended.frames, "frame"))", "\(clock(milliseconds: ended.durationMs, 3))",
        ]
        output.add("\(style.bold(PrintableText(name))): \(counts.joined(separator: ", "))")
        output.add("  \(ended.position.text)")
    }
}
