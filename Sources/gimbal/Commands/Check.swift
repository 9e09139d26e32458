// `gimbal check`: a trace held against the protocol, line by line, without a daemon. What the daemon would refuse is found
// by the daemon's own mind; what it would take, though nobody means it, is found here.

import ArgumentParser
import Gestures
import GimbalClient
import GimbalProtocol
import TouchTraces

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Hold a trace against the protocol.",
        discussion: """
            No daemon is needed. An error is a line that a daemon rejects; a warning is one that it takes, but hardly as it \
            was meant: gestures that change before they begin, or never end; lines behind the trace's end; times that \
            jump by more than an hour.

              pan.ndjson:12: error: scale must be a number from 1e-09 to 1000000000 (scale)

            The status is 65 where there is an error, or with --strict a warning; otherwise 0. At most as many findings as \
            --limit says are printed; all are counted. Of a file that is no trace it says what it is.

            Examples:
              gimbal check session.ndjson
              gimbal check --no-warnings --json traces/*.ndjson | jq -r .code | sort | uniq -c
              gimbal convert pinch.evemu | gimbal check -
            """
    )

    @Flag(help: "Print the findings as lines of JSON.")
    var json = false

    @Flag(help: "Say what a daemon rejects, and nothing else.")
    var noWarnings = false

    @Flag(help: "End with status 65 for warnings, too.")
    var strict = false

    @Option(help: ArgumentHelp("How many findings to print of each trace.", valueName: "n"))
    var limit = 100

    @Argument(help: "The traces; - is standard input.", completion: .file(extensions: ["ndjson"]))
    var traces: [String]

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    }

    func run() throws {
        let output = Output()
        var isWrong = false
        for trace in traces where !Interrupt.hasCome {
            let session = try CheckSession(trace, self, output)
            try session.run()
            isWrong = isWrong || session.errors > 0 || strict && session.findings > 0
        }
        if isWrong { throw ExitCode(.dataError) }
    }
}

/// One trace's way through the hub.
private final class CheckSession {
    private let name: String
    private let options: Check
    private let output: Output
    private let file: InputFile
    private var played: TraceRun?
    private var rules = TraceRules()
    /// How much was found, and how much of it are errors.
    private(set) var findings = 0
    private(set) var errors = 0
    /// The beginning of a line that has not come to its end.
    private var rest: [UInt8] = []
    /// Lines that were put in front of the trace's own.
    private var linesBefore = 0
    private var lines = 0
    private var frames = 0
    private var durationMs = 0.0

    init(_ name: String, _ options: Check, _ output: Output) throws {
        self.name = name
        self.options = options
        self.output = output
        file = try InputFile(name, endsBySignal: true)
    }

    /// Checks all of it.
    func run() throws {
        var bar = ProgressBar(name, isWanted: !output.isTerminal)
        var bytes = 0
        defer { bar.clear() }
        guard let beginning = try beginning() else { return try conclude() }
        try take(beginning)
        bytes += beginning.count
        while case let piece = try file.read(), !piece.isEmpty {
            try take(piece)
            try output.flush()
            bytes += piece.count
            bar.update { ProgressState(frames: frames, share: file.size.map { Double(bytes) / Double(max($0, 1)) }) }
        }
        if !rest.isEmpty { try play() }
        try finish()
        bar.clear()
        try conclude()
    }

    /// Reads on until it is seen what the file is: the beginning of what may be a trace, or `nil` if it is none, which is
    /// a finding then.
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
            // A line of JSON may be meant for one of a trace; so may nothing at all.
            let first = bytes.first { ![0x20, 0x09, 0x0d, 0x0a].contains($0) }
            guard let first, !"{[\u{feff}".utf8.contains(first), recognizer.format == nil else {
                return unmarked(bytes)
            }
            add(Finding(line: 1, isError: true, code: "not-a-trace", message: "\(error)"))
            return nil
        }
        guard let format = recognizer.format, format != .trace else { return unmarked(bytes) }
        let message = "this is no trace but a recording (\(format.rawValue)): gimbal convert makes a trace of it"
        add(Finding(line: 1, isError: true, code: "not-a-trace", message: message))
        return nil
    }

    /// Leaves out a byte order mark, as all commands do that read traces.
    private func unmarked(_ bytes: [UInt8]) -> [UInt8] {
        bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : bytes
    }

    private func take(_ piece: [UInt8]) throws {
        var start = 0
        while let end = piece[start...].firstIndex(of: 0x0a) {
            rest += piece[start...end]
            start = end + 1
            try play()
        }
        rest += piece[start...]
        // A line that is too long is refused by its beginning.
        if rest.count > RequestDecoder.longestLine + 1 { try play() }
    }

    /// Plays what has come of a line.
    private func play() throws {
        defer { rest.removeAll(keepingCapacity: true) }
        let isBlank = rest.allSatisfy { [0x20, 0x09, 0x0d, 0x0a].contains($0) }
        if played == nil, isBlank, rest.last == 0x0a {
            linesBefore -= 1
            return
        }
        guard let played else { return try begin() }
        try played.play(readyForPlay(rest), take)
    }

    /// A header that may follow another trace plays at the highest speed, too; any other line is as it is.
    private func readyForPlay(_ line: [UInt8]) -> [UInt8] {
        guard line.count <= RequestDecoder.longestLine, rules.isOver,
            var header = try? HeaderLine(trimmed(line), of: name),
            (try? header.set(speed: Speed(factor: .infinity), camera: nil, of: name)) != nil
        else { return line }
        return header.bytes + [0x0a]
    }

    private func trimmed(_ line: [UInt8]) -> [UInt8] {
        Array(line.prefix(line.count - line.reversed().prefix { $0 == 0x0a || $0 == 0x0d }.count))
    }

    // MARK: The first line

    /// Begins with the header; what is none, or not right, is told, and the rest is held against a new camera.
    private func begin() throws {
        let line = trimmed(rest)
        let number = 1 - linesBefore
        var decoder = RequestDecoder()
        do {
            let requests = try decoder.decode(line.span)
            if requests.count == 1, case .trace = requests[0].body {
                var header = try HeaderLine(line, of: name)
                try header.set(speed: Speed(factor: .infinity), camera: nil, of: name)
                return try start(header.camera, header.bytes + [0x0a])
            }
        } catch let rejection as Rejection where rejection.isHeader {
            add(Finding(line: number, rejection.error))
            return try start(.main, try Self.header)
        } catch is Rejection {
            // No header, and wrong besides: the hub says so, too.
        }
        add(Finding(line: number, Self.noHeader))
        linesBefore += 1
        try start(.main, try Self.header)
        try played?.play(rest, take)
    }

    private func start(_ camera: CameraName, _ header: [UInt8]) throws {
        let played = try TraceRun(camera: camera.text)
        self.played = played
        try played.play(header, take)
    }

    /// What a trace is played behind that has no header of its own.
    private static var header: [UInt8] { get throws { try ClientRequest.trace(TraceHeader(speed: .infinity)).line() } }
    private static let noHeader = WireError(
        .missingField, field: "type", "the first line of a trace is its header, {\"type\":\"trace\",\"version\":1,…}")

    // MARK: What is found

    private func take(_ line: TraceRun.Line) {
        let number = line.number - linesBefore
        lines = max(lines, number)
        var isRejected = false
        for message in line.messages {
            switch message.type {
            case .error:
                isRejected = true
                if let error = message.error { add(Finding(line: number, error)) }
            case .traceEnded:
                guard let ended = message.traceEnded else { continue }
                frames += ended.frames
                durationMs += ended.durationMs
            default: break
            }
        }
        if !isRejected { rules.take(line.requests, number) { add($0) } }
    }

    private func finish() throws {
        guard let played else { return add(Finding(line: 1, Self.noHeader)) }
        try played.finish(take)
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
            output.add(printable("\(name):\(finding.line): \(finding.text)"))
        }
    }

    private func conclude() throws {
        if !options.json {
            if findings > options.limit { output.add("\(name): \(counted(findings - options.limit, "finding")) more") }
            let gestures = rules.counts.sorted { $0.key < $1.key }.map { "\(grouped($0.value)) \($0.key)" }
            let facts = [
                counted(lines, "line"), counted(frames, "frame"), clock(milliseconds: durationMs, 3),
                gestures.isEmpty ? "no gestures" : gestures.joined(separator: ", "), counted(findings, "finding"),
            ]
            if output.isTerminal { output.add(printable("\(name): \(facts.joined(separator: "; "))")) }
        }
        try output.flush()
    }
}

/// Something that is wrong with a trace, or looks so.
struct Finding {
    let line: Int
    let isError: Bool
    /// The protocol's code of an error, or what the warning is about.
    let code: String
    let field: String?
    let message: String

    init(line: Int, _ error: WireError) {
        self.init(line: line, isError: true, code: error.code.rawValue, field: error.field, message: error.message)
    }

    init(line: Int, _ error: GimbalError) {
        self.init(line: line, isError: true, code: error.code.rawValue, field: error.field, message: error.message)
    }

    init(line: Int, isError: Bool = false, code: String, field: String? = nil, message: String) {
        (self.line, self.isError, self.code, self.field, self.message) = (line, isError, code, field, message)
    }

    var text: String { "\(isError ? "error" : "warning"): \(message)\(field.map { " (\($0))" } ?? "")" }

    func json(file: String) -> JSONValue {
        var members: JSONObject = [
            "file": .string(file), "line": .number(Double(line)), "severity": .string(isError ? "error" : "warning"),
            "code": .string(code), "message": .string(message),
        ]
        if let field { members["field"] = .string(field) }
        return .object(members)
    }
}
