// `gimbal cut`: cuts a section out of a trace, as a trace of its own.

import ArgumentParser
import Traces

struct Cut: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Cut a section out of a trace.",
        """
        The cut is a trace of its own: its header is the camera at --from, it begins the gestures that are active \
        there, and when played, it makes the same positions as that section of the whole. What happens at exactly \
        --from comes before the cut, except at 0, the beginning; what happens at exactly --until is part of it; what \
        still moves then is stopped.

        If a fling, an animation or a tap moves the camera at --from, no header can describe it completely: the cut \
        then begins at the last moment before, which is reported on standard error. Lines are written as "gimbal \
        record" writes them, and those that a daemon would reject are omitted.

        Times count from the trace's first event: \(Milliseconds.note) The header's fromMs and untilMs do not count, and \
        the cut has none.

        Examples:
          gimbal cut session.ndjson --from 2s --until 1:05 -o part.ndjson
          gimbal cut session.ndjson --until 10s | gimbal replay -
          gimbal cut pinch.evemu --from 500ms >end.ndjson
        """)

    @Option("Begin after what happens at this time (default: the beginning).", "time")
    var from: Milliseconds?

    @Option("End with what happens at this time (default: the end).", "time")
    var until: Milliseconds?

    @OptionGroup var selection: TraceNumber

    @OptionGroup var destination: OutputOptions

    @Argument(help: "The trace or recording; - is standard input.", completion: .file())
    var trace: String

    func validate() throws {
        try from?.checkRange("--from")
        try until?.checkRange("--until")
        if let from, let until, until.milliseconds <= from.milliseconds {
            throw ValidationError("--until must be after --from.")
        }
    }

    func run() throws {
        let file = try OutputFile(destination)
        let whole = try Trace(file: trace, number: selection.number)
        let cut = try about(trace) { try whole.cut(fromMs: from?.milliseconds, untilMs: until?.milliseconds) }
        guard !cut.trace.lines.isEmpty else { throw Failure(.dataError, "\(trace): nothing happens in that time") }
        sayRejected(cut.rejected, in: trace)
        if let reason = cut.reason, let from {
            let why =
                switch reason {
                case .moves: "the camera moves by itself"
                case .measures: "a gesture whose velocity is already being measured is active"
                }
            let start = clock(milliseconds: cut.startMs, 3)
            say("\(trace): \(why) at \(clock(milliseconds: from.milliseconds, 3)): the cut begins at \(start)")
        }
        try file.finish(cut.trace.bytes)
    }
}
