// `gimbal shrink`: finds the smallest trace with which a command still fails.

import ArgumentParser
import Glibc
import Service
import Traces
import UnixSocket

struct Shrink: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Shrink a trace that makes a command fail.",
        """
        The command runs with a file in place of {}, and fails if its status is not 0. Whole gestures are removed, \
        then lines, then members of batches and of the header except its position, as long as the command ends with \
        the same status as with the whole trace. The output of the command is not shown.

        Examples:
          gimbal shrink long.ndjson -- gimbal expect {} --never-outside 48,2,49,3
          gimbal shrink random.ndjson -- sh -c 'gimbal run {} | my-map-test'
        """)

    @Option("How many times the command may be run.", "n")
    var limit = 2000

    @OptionGroup var selection: TraceNumber

    @OptionGroup var destination: OutputOptions

    @Argument(help: "The trace or recording.", completion: .file())
    var trace: String

    @Argument(parsing: .postTerminator, help: "The command, with {} in place of the trace's file.")
    var command: [String] = []

    func validate() throws {
        guard let program = command.first else {
            throw ValidationError("Name the command after --, such as: -- ./test {}")
        }
        guard command.dropFirst().contains(where: { $0.contains("{}") }) else {
            throw ValidationError("Write {} where \(program) takes the trace.")
        }
        if limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() throws {
        let file = try OutputFile(destination)
        let whole = try Trace(file: trace, number: selection.number)
        let trial = try Trial(command)
        let status = try trial.status(of: whole)
        guard status != 0 else { throw Failure(.rejected, "\(trace): the command does not fail with it") }
        var shrinker = Shrinker(most: limit)
        let smallest = try shrinker.shrink(whole) { try trial.status(of: $0) == status }
        try file.finish(smallest.bytes)
        say(
            """
            \(trace): \(counted(whole.lines.count, "line")) reduced to \(grouped(smallest.lines.count)) in \
            \(counted(shrinker.asked, "run")), status \(status)
            """)
    }
}

/// A command that runs with one trace after another, each in the same temporary file in `$TMPDIR`, or else /tmp.
private final class Trial {
    private let command: [String]
    private let program: String
    private let file: UnfinishedFile
    private let descriptor: CInt

    init(_ command: [String]) throws {
        guard let program = Program.find(command[0]) else {
            throw Failure(.unavailable, "there is no program \(command[0])")
        }
        self.program = program
        let folder = SocketPath.environmentValue("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        do throws(SystemError) {
            let made = try TemporaryFile.make(in: folder, named: "gimbal", ending: ".ndjson")
            (file, descriptor) = (UnfinishedFile(made.path), made.descriptor)
        } catch {
            throw Failure(.ioError, "\(error)")
        }
        self.command = command.dropFirst().map { [file] in $0.replacing("{}", with: file.name) }
    }

    deinit { _ = close(descriptor) }

    /// Returns the command's exit status with a trace.
    func status(of trace: Trace) throws -> CInt {
        try Interrupt.check()
        let bytes = trace.bytes
        let written = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard written == bytes.count, ftruncate(descriptor, bytes.count) == 0 else {
            throw Failure(.ioError, "\(SystemError(file.name))")
        }
        let process = try Program.start(program, command, input: nil, output: nil, isSilent: true)
        return try Program.status(of: process)
    }
}
