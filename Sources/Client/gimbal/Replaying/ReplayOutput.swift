// The result of a replay, in the daemon or in this process: a line for programs, rows for people.

import GimbalProtocol
import Glibc

extension Output {
    /// Adds the result of a replay.
    ///
    /// - Parameter name: the file that was played.
    func conclude(_ message: ReceivedLine, of name: String) {
        guard isTerminal, let ended = message.traceEnded else { return add(message.bytes) }
        let (style, columns) = (Style(STDOUT_FILENO), Terminal.columns(STDOUT_FILENO))
        // A path that is too long for the line is shortened to its last part, which matters most.
        let name = width("\(name):") <= columns ? name : InputFile.lastPart(of: name)
        let rejected: PrintableText = "\(grouped(ended.rejected)) rejected,"
        let facts = [
            Piece("\(name):", style.bold), Piece("\(counted(ended.events, "line")),"),
            ended.rejected > 0 ? Piece(rejected, style.yellow) : Piece(rejected),
            Piece("\(counted(ended.frames, "frame")),"), Piece("\(clock(milliseconds: ended.durationMs, 3))"),
        ]
        let position = folded(ended.position.facts.map { Piece($0) }, columns - 2)
        for line in folded(facts, columns) + position.map({ "  " + $0 }) { add(line) }
    }
}
