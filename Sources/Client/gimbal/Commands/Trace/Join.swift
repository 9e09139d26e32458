// `gimbal join`: joins traces, one after the other, into one.

import ArgumentParser
import Traces

struct Join: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Join traces, one after the other.",
        """
        Each trace begins when the camera has come to rest after the one before: its times are shifted to there and, \
        if its header describes a different camera, a command sets that up. The joined trace has the header of the \
        first one, with its speed and its camera's name. All lines count: fromMs and untilMs of a header do not. \
        Lines are written as "gimbal record" writes them, and those that a daemon would reject are omitted.

        Examples:
          gimbal join pan.ndjson pinch.ndjson tilt.ndjson -o all.ndjson
          gimbal join pinch.evemu swipe.evemu | gimbal replay -
        """)

    @OptionGroup var destination: OutputOptions

    @Argument(help: "The traces or recordings; - is standard input.", completion: .file())
    var traces: [String]

    func run() throws {
        let file = try OutputFile(destination)
        let read = try traces.map { try Trace(file: $0) }
        let joined = try about("the joined trace") { try Trace.joined(read) }
        for (name, rejected) in zip(traces, joined.rejected) { sayRejected(rejected, in: name) }
        try file.finish(joined.trace.bytes)
    }
}
