// `gimbal join`: joins traces, one after the other, into one.

import ArgumentParser
import Traces

struct Join: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put traces one behind the other.",
        discussion: """
            Each trace begins when the camera has come to rest after the one before: its times move there, and where its \
            header tells another camera, a command makes that. The joined trace has the first one's header, with its speed \
            and its camera's name. Lines are written as "gimbal record" writes them, and those that a daemon would reject are \
            left out.

            Examples:
              gimbal join pan.ndjson pinch.ndjson tilt.ndjson -o all.ndjson
              gimbal join pinch.evemu swipe.evemu | gimbal replay -
            """
    )

    @OptionGroup var destination: OutputOptions

    @Argument(help: "The traces or recordings; - is standard input.", completion: .file())
    var traces: [String]

    func run() throws {
        let file = try OutputFile(destination)
        let traces = try traces.map { try Trace(file: $0) }
        try file.write(about("what is joined") { try Trace.joined(traces) }.bytes)
        try file.finish()
    }
}
