// `gimbal check`: checks a trace against the protocol, line by line, without a daemon. The daemon's own hub finds what
// a daemon would reject; `TraceRules` finds what it would accept but what is hardly meant.

import ArgumentParser
import GimbalProtocol
import TouchTraces
import Traces

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Check a trace against the protocol.",
        """
        No daemon is needed. An error is a line that a daemon rejects; a warning is a line that it accepts, but that \
        is probably a mistake: gestures that change before they begin, or never end; lines after the trace's end; \
        times that jump by more than an hour.

          pan.ndjson:12: error: scale must be a number from 1e-09 to 1000000000 (scale)

        The status is 65 if there is an error, or with --strict a warning; otherwise it is 0. At most --limit findings \
        of each trace are printed; all are counted. If a file is not a trace, the command says what it is.

        Examples:
          gimbal check session.ndjson
          gimbal check --json traces/*.ndjson | jq -r .code | sort | uniq -c
          gimbal convert pinch.evemu | gimbal check -
        """)

    @Flag(help: "Print the findings as lines of JSON.")
    var json = false

    @Flag(help: "Print only what a daemon rejects.")
    var noWarnings = false

    @Flag(help: "Exit with status 65 for warnings, too.")
    var strict = false

    @Option("How many findings of each trace to print.", "n")
    var limit = 100

    @Argument(help: "The traces; - is standard input.", completion: .file(extensions: ["ndjson"]))
    var traces: [String]

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    }

    func run() throws {
        let output = Output()
        var isWrong = false
        for (index, trace) in traces.enumerated() {
            // A signal ends a pipe that is being read; the traces named after it are not checked.
            if let interrupt = Interrupt.last {
                for trace in traces[index...] { say("\(trace) is not checked") }
                throw interrupt
            }
            let session = try CheckSession(trace, self, output)
            try session.run()
            isWrong = isWrong || session.errors > 0 || strict && session.findings > 0
        }
        if isWrong { throw ExitCode(.dataError) }
    }
}

/// The check of one trace, by playing it in a hub.
private final class CheckSession {
    private let name: String
    private let options: Check
    private let output: Output
    private let file: InputFile
    private var played: TraceRun?
    private var rules = TraceRules()
    /// The number of findings, and how many of them are errors.
    private(set) var findings = 0
    private(set) var errors = 0
    private var splitter = LineSplitter()
    private var decoder = RequestDecoder()
    private var lines = 0
    private var frames = 0
    private var durationMs = 0.0

    init(_ name: String, _ options: Check, _ output: Output) throws {
        self.name = name
        self.options = options
        self.output = output
        file = try InputFile(name, endsBySignal: true)
    }

    /// Checks the whole trace.
    func run() throws {
        var bar = StatusLine(isWanted: !output.isTerminal)
        var bytes = 0
        defer { bar.clear() }
        guard var piece = try beginning() else { return try conclude() }
        repeat {
            try splitter.read(piece) { try play($0) }
            try output.flush()
            bytes += piece.count
            let share = file.size.map { Double(bytes) / Double(max($0, 1)) }
            bar.update { ProgressState(name: name, frames: frames, share: share).text($0) }
            piece = try file.read()
        } while !piece.isEmpty
        try splitter.finish { try play($0) }
        try finish()
        bar.clear()
        try conclude()
    }

    /// Reads until the file's format is known. Returns the beginning of what may be a trace, or `nil` if it is none,
    /// which is added as a finding.
    private func beginning() throws -> [UInt8]? {
        var recognizer = RecordingReader()
        var bytes: [UInt8] = []
        do {
            while recognizer.format == nil {
                let piece = try file.read()
                bytes += piece
                if piece.isEmpty { try recognizer.finish { _ in } } else { try recognizer.read(piece.span) { _ in } }
            }
        } catch let error as RecordingError {
            // A line of JSON may be meant as a line of a trace; an empty file may be meant as a trace.
            let first = bytes.first { ![0x20, 0x09, 0x0d, 0x0a].contains($0) }
            let isStream = LoadedStream.isStream(bytes)
            guard let first, isStream || !"{[\u{feff}".utf8.contains(first), recognizer.format == nil else {
                return bytes.withoutByteOrderMark
            }
            let reason = isStream ? RecordingError.stream : error
            add(Finding(line: 1, isError: true, code: "not-a-trace", message: "\(reason)"))
            return nil
        }
        guard let format = recognizer.format, format != .trace else { return bytes.withoutByteOrderMark }
        let message = "this is a recording (\(format.rawValue)), not a trace: gimbal convert makes a trace of it"
        add(Finding(line: 1, isError: true, code: "not-a-trace", message: message))
        return nil
    }

    private func play(_ line: LineSplitter.Line) throws {
        try Interrupt.check()
        lines = line.number
        if let played {
            played.play(line, judge)
        } else if !line.isBlank {
            try begin(line)
        }
    }

    // MARK: The first line

    /// Begins with the header. Reports a missing or invalid one, and checks the rest against a new camera.
    private func begin(_ line: LineSplitter.Line) throws {
        do {
            let requests = try decoder.decode(line.text.span)
            if requests.count == 1, case .trace = requests[0].body {
                let header = try about(name) { try HeaderLine(Array(line.text)).asAWhole() }
                return try start(header.camera, line.with(header.bytes))
            }
        } catch let rejection as Rejection where rejection.isHeader {
            add(Finding(line: line.number, rejection.error))
            return try start("main", nil)
        } catch is Rejection {
            // Not a header, and invalid as well: the hub reports that, too.
        }
        add(Finding(line: line.number, Self.noHeader))
        try start("main", nil)
        played?.play(line, judge)
    }

    /// Starts a run of a camera with a header, or with an empty one if the trace has none.
    private func start(_ camera: String, _ header: LineSplitter.Line?) throws {
        let played = try TraceRun(camera: camera) { try $0.asAWhole() }
        self.played = played
        if let header { return played.play(header, judge) }
        played.play(try ClientRequest.trace(TraceHeader(speed: .infinity)).line()) { _ in }
    }

    private static let noHeader = GimbalError(
        .missingField, field: "type", "the first line of a trace is its header, {\"type\":\"trace\",\"version\":1,…}")

    // MARK: Findings

    private func judge(_ played: TraceRun.Line) {
        let number = played.line?.number ?? lines
        for message in played.messages {
            if let error = message.error { add(Finding(line: number, error)) }
            if message.type == .traceEnded, let ended = message.traceEnded {
                frames += ended.frames
                durationMs += ended.durationMs
            }
        }
        rules.check(played.requests(&decoder), number) { add($0) }
    }

    private func finish() throws {
        guard let played else { return add(Finding(line: 1, Self.noHeader)) }
        played.finish(judge)
        rules.end { add($0) }
    }

    private func add(_ finding: Finding) {
        guard finding.isError || !options.noWarnings else { return }
        findings += 1
        if finding.isError { errors += 1 }
        guard findings <= options.limit else { return }
        if options.json {
            output.add(finding.json(file: name).bytes[...])
        } else {
            output.add("\(name):\(finding.line): \(finding.text)")
        }
    }

    private func conclude() throws {
        if !options.json {
            if findings > options.limit { output.add("\(name): \(counted(findings - options.limit, "more finding"))") }
            let gestures = rules.counts.sorted { $0.key < $1.key }.map { "\(grouped($0.value)) \($0.key)" }
            let facts = [
                counted(lines, "line"), counted(frames, "frame"), clock(milliseconds: durationMs, 3),
                gestures.isEmpty ? "no gestures" : gestures.joined(separator: ", "), counted(findings, "finding"),
            ]
            if output.isTerminal { output.add("\(name): \(facts.joined(separator: "; "))") }
        }
        try output.flush()
    }
}
