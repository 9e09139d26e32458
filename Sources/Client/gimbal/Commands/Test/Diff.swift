// `gimbal diff`: compares two streams, or the cameras that two traces produce.

import ArgumentParser
import CameraStreams
import Plotting

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Show where two cameras diverge.",
        """
        Each of the two is a trace, a recording, or what a camera did: events, an app's log or a table, as "gimbal \
        expect" reads them. They are compared by the time since they began, at every line of either. If the cameras \
        are the same all the time, nothing is printed and the status is 0; otherwise the command prints where they \
        first diverge, by how much and in which units, and the status is 1. It is also 1 if a line of a trace is \
        rejected. Without --tolerance, every digit counts.

        Examples:
          gimbal diff before.ndjson after.ndjson
          gimbal diff pan.ndjson app-camera.csv --tolerance 2pt,0.01zoom,50ms
          gimbal diff before.ndjson after.ndjson --plot apart.svg
        """)

    @Option("How far apart they may be, such as 0.5pt,0.001zoom,0.1deg,20ms (default: not at all).", "tolerance")
    var tolerance: Tolerance?

    @Option(
        "Draw both cameras in one picture, and mark where they diverge.", "file",
        completion: .file(extensions: ["svg"]))
    var plot: String?

    @OptionGroup var recording: RecordingOptions

    @Argument(help: "A trace, a recording or a stream; - is standard input.", completion: .file())
    var expected: String

    @Argument(help: "Another trace, recording or stream.", completion: .file())
    var found: String

    func validate() throws {
        if plot == "-" { throw ValidationError("Standard output is for the differences: name a file with --plot.") }
        if expected == "-", found == "-" { throw ValidationError("At most one of the two can be standard input.") }
    }

    func run() throws {
        var (one, other) = (try LoadedStream(expected, recording), try LoadedStream(found, recording))
        if !one.isRun, other.isRun { one.stream.viewport = other.stream.viewport }
        other.stream.viewport = one.stream.viewport
        let comparison = Comparison(expected: one.stream, found: other.stream, tolerance: tolerance ?? .none)
        if let plot {
            let picture = Picture(title: "\(expected) and \(found)", of: comparison)
            try OutputFile.write(picture.svg(), to: plot, besides: [expected, found])
        }
        let output = Output()
        let failure = comparison.failure
        if let failure {
            output.add("\(expected) and \(found): \(failure.summary)")
            for line in failure.details { output.add("  \(line)") }
            try output.flush()
        }
        if failure != nil || one.rejected + other.rejected > 0 { throw ExitCode(.rejected) }
    }
}
