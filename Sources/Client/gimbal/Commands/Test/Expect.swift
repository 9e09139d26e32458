// `gimbal expect`: checks the camera of a trace, an app's log, or a camera of the daemon against what was expected.

import ArgumentParser
import CameraStreams
import GimbalClient
import Plotting

struct Expect: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Compare what a camera did with what was expected.",
        """
        Plays traces and recordings without a daemon, or reads an app's own camera log: events, lines of JSON with \
        timeMs and position, or a table with the columns time,latitude,longitude,zoom,bearing,angle. With --camera, it \
        follows a camera of the daemon until the camera rests as expected, or --timeout is over (default: 5 s).

        A golden file contains what "gimbal run" prints, and the same bytes are expected; with --tolerance, the camera \
        must be that near at the same time of the trace. Distances are points of the screen. --update rewrites the \
        golden file, and shows what has changed.

        Statements are options, or lines of a file: at MOMENT (start, end, or a time) target LAT,LNG zoom Z bearing B \
        angle A within TOLERANCE; idle-by TIME; never-outside SOUTH,WEST,NORTH,EAST; zoom-between LOW,HIGH; moves N; \
        golden FILE within TOLERANCE. Without any expectation, statements are read from the file beside the trace \
        whose name ends in .expect.

        The status is 0 if everything is as expected, 1 if not, 65 if a file is invalid, and 66 if it cannot be read. \
        A failure says where the camera first diverged, by how much, and in which units.

        Examples:
          gimbal expect pan.ndjson --golden pan.golden.ndjson
          gimbal expect a.ndjson --golden a.golden --tolerance 0.5pt,0.001zoom,0.1deg
          gimbal expect pan.ndjson --at end --target 48.8584,2.2945 --within 2pt
          gimbal expect app-camera.csv --golden pan.golden.ndjson --tolerance 2pt,50ms
          gimbal expect Tests/*.ndjson --junit results.xml --html results.html
          gimbal expect --camera main --timeout 5s --zoom 14 --within 0.01zoom
        """)

    @OptionGroup var expectations: ExpectationOptions

    @Flag(help: "Rewrite the golden file, and show what has changed.")
    var update = false

    @Option("Write the results as JUnit XML.", "file", completion: .file(extensions: ["xml"]))
    var junit: String?

    @Option(
        "Write the results as one page, with pictures, numbers and lines of golden files; JUnit's report names it.",
        "file", completion: .file(extensions: ["html"]))
    var html: String?

    @Flag(help: "Print the results in the format of the Test Anything Protocol.")
    var tap = false

    @Option(
        "Draw both cameras in one picture, and mark where they diverge.", "file",
        completion: .file(extensions: ["svg"]))
    var plot: String?

    @OptionGroup var recording: RecordingOptions

    @OptionGroup var selection: TraceNumber

    @OptionGroup var socket: SocketOptions

    @Option("Follow this camera of the daemon.", "name", completion: .cameras)
    var camera: CameraName?

    @Argument(help: "The traces, recordings or logs; - is standard input.", completion: .file())
    var files: [String] = []

    func validate() throws {
        guard files.isEmpty == (camera != nil) else {
            throw ValidationError("Name the traces or logs to check, or a camera of the daemon with --camera.")
        }
        if files.count > 1, expectations.golden != nil || plot != nil {
            throw ValidationError(
                "--golden and --plot are for one file; for several, write \"golden FILE\" in the .expect file of each.")
        }
        if plot != nil || update, expectations.hasAny, !expectations.mayHaveGolden {
            throw ValidationError("--plot and --update need a golden file: name it with --golden.")
        }
        if [junit, html, plot].contains("-") {
            throw ValidationError("Standard output is for the results: name a file with --junit, --html and --plot.")
        }
        if camera != nil, !expectations.hasAny {
            throw ValidationError("Say what is expected, such as --zoom 14.")
        }
        if update, camera != nil { throw ValidationError("--update is for files, not for a camera of the daemon.") }
    }

    func run() throws {
        let output = Output()
        let session = ExpectSession(self, output)
        var reports: [TestReport] = []
        if let camera {
            reports.append(try session.follow(camera))
        } else {
            for file in files {
                try Interrupt.check()
                reports.append(try session.report(on: file))
            }
        }
        if tap {
            output.add(PrintableText(lines: String(reports.tap.dropLast())))
        } else {
            for line in reports.flatMap(\.lines) { output.add(PrintableText(line)) }
        }
        try output.flush()
        var kept = session.inputs + (plot.map { [$0] } ?? [])
        if let junit {
            try OutputFile.write(reports.junit(page: html), to: junit, besides: kept)
            kept.append(junit)
        }
        if let html {
            try OutputFile.write(ComparisonPage.text(of: reports, session.compared), to: html, besides: kept)
        }
        if reports.contains(where: { !$0.failures.isEmpty }) { throw ExitCode(.rejected) }
    }
}

/// The expectations, as options.
struct ExpectationOptions: ParsableArguments {
    @Option("The golden file: what \"gimbal run\" printed.", "file", completion: .file())
    var golden: String?

    @Option(
        "How far it may be from the golden file, such as 0.5pt,0.001zoom,0.1deg,20ms (default: exact).", "tolerance")
    var tolerance: Tolerance?

    @Option("When the camera must be there: start, end (the default) or a time.", "moment")
    var at: String?

    @Option("Where it must be.", "lat,lng")
    var target: String?

    @Option("The zoom that it must have.", "level")
    var zoom: String?

    @Option("The bearing that it must have.", "degrees")
    var bearing: String?

    @Option("The viewing angle that it must have.", "degrees")
    var angle: String?

    @Option("How far it may be from there (default: 1pt,0.01zoom,0.1deg).", "tolerance")
    var within: String?

    @Option("It must rest from this time on.", "time")
    var idleBy: String?

    @Option("Its target must never leave these bounds.", "south,west,north,east")
    var neverOutside: String?

    @Option("Its zoom must never leave this range.", "low,high")
    var zoomBetween: String?

    @Option("It must move this many times.", "n")
    var moves: String?

    @Option(
        "Read statements from this file, instead of the one beside the trace.", "file",
        completion: .file(extensions: ["expect"]))
    var statements: String?

    /// Whether anything is expected.
    var hasAny: Bool { golden != nil || statements != nil || !words.isEmpty }

    /// Whether there may be a golden file: a file of statements may name one.
    var mayHaveGolden: Bool { golden ?? statements != nil }

    func validate() throws {
        if tolerance != nil, golden == nil { throw ValidationError("--tolerance is for --golden.") }
        if at ?? within != nil, view.isEmpty {
            throw ValidationError("--at and --within are about --target, --zoom, --bearing and --angle.")
        }
        for words in words {
            do { _ = try Statement(words) } catch {
                throw ValidationError("--\(words.joined(separator: " ")): \(error).")
            }
        }
    }

    /// What the options expect, each as the words of a statement.
    private var words: [[String]] {
        var words: [[String]] = []
        if !view.isEmpty {
            words.append(["at", at ?? "end"] + view + (within.map { ["within", $0] } ?? []))
        }
        let others = [
            ("idle-by", idleBy), ("never-outside", neverOutside), ("zoom-between", zoomBetween), ("moves", moves),
        ]
        words += others.compactMap { name, value in value.map { [name, $0] } }
        return words.map { $0.map(NegativeNumbers.unshielded) }
    }

    private var view: [String] {
        [("target", target), ("zoom", zoom), ("bearing", bearing), ("angle", angle)].flatMap { name, value in
            value.map { [name, $0] } ?? []
        }
    }

    /// Returns the options' statements, and those in the file that they name.
    func all() throws -> [Statement] {
        var all = try words.map { try Statement($0) }
        if let golden { all.insert(Statement(.golden(file: golden, tolerance), text: "golden \(golden)"), at: 0) }
        if let statements { all += try Statement.read(named: statements) }
        return all
    }
}

extension Tolerance: TypedArgument {
    init(typed text: String) throws {
        guard let tolerance = Tolerance(text) else { throw ValidationError("\(Self.usage).") }
        self = tolerance
    }
}

extension Statement {
    private static let longestFile = 1 << 20

    /// Reads a file of statements; golden files that it names are relative to its folder.
    static func read(named name: String) throws -> [Statement] {
        let bytes = try InputFile(name).readAll(upTo: longestFile + 1)
        guard bytes.count <= longestFile else {
            throw Failure(.dataError, "\(name) has more than \(longestFile >> 20) MiB of statements")
        }
        let folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? ""
        let statements = try about(name) { try read(file: String(decoding: bytes.withoutByteOrderMark, as: UTF8.self)) }
        guard !statements.isEmpty else { throw Failure(.dataError, "\(name): it contains no statement") }
        return statements.map { statement in
            guard case .golden(let golden, let tolerance) = statement.kind, !golden.hasPrefix("/") else {
                return statement
            }
            return Statement(.golden(file: folder + golden, tolerance), text: statement.text)
        }
    }
}

/// The check of files and cameras against expectations, one at a time.
private final class ExpectSession {
    private let options: Expect
    private let output: Output
    private let clock = ContinuousClock()
    private var goldens: [String: LoadedStream] = [:]
    /// The streams that were compared with golden files, if a page is to show them.
    private(set) var compared: [ComparedStreams] = []

    /// The files that were read, and golden files that were written: no report replaces them.
    private(set) var inputs: [String]

    init(_ options: Expect, _ output: Output) {
        self.options = options
        self.output = output
        inputs = options.files + (options.expectations.statements.map { [$0] } ?? [])
    }

    // MARK: Files

    /// Checks a trace, a recording or a log against its expectations.
    func report(on name: String) throws -> TestReport {
        let start = clock.now
        let statements = try self.statements(of: name)
        let found = try LoadedStream(name, options.recording, number: options.selection.number)
        let outcomes = try statements.map { try outcome($0, found) }
        let rejected = found.rejected
        let refusal = Outcome(
            "every line is accepted",
            rejected > 0 ? Outcome.Failure("\(counted(rejected, "line")) of the trace rejected") : nil)
        return TestReport(
            subject: name, outcomes: (rejected > 0 ? [refusal] : []) + outcomes, duration: duration(since: start))
    }

    private func duration(since start: ContinuousClock.Instant) -> Double { (clock.now - start) / .seconds(1) }

    private func statements(of name: String) throws -> [Statement] {
        guard !options.expectations.hasAny else { return try options.expectations.all() }
        let file = InputFile.lastPart(of: name)
        let stem = file.lastIndex(of: ".").flatMap { $0 > file.startIndex ? file[..<$0] : nil } ?? file[...]
        let beside = String(name.dropLast(file.count)) + stem + ".expect"
        guard InputFile.isThere(beside) else {
            throw Failure(.usage, "\(name): nothing is expected: name a golden file or a statement, or write \(beside)")
        }
        inputs.append(beside)
        return try Statement.read(named: beside)
    }

    private func outcome(_ statement: Statement, _ found: LoadedStream) throws -> Outcome {
        guard case .golden(let file, let tolerance) = statement.kind else { return statement.outcome(of: found.stream) }
        if options.update {
            defer { inputs.append(file) }
            return try update(file, found, statement.text)
        }
        let golden = try golden(file, on: found.stream.viewport)
        if options.plot ?? options.html != nil {
            let comparison = Comparison(expected: golden.stream, found: found.stream, tolerance: tolerance ?? .none)
            if let plot = options.plot {
                let picture = Picture(title: InputFile.title(of: found.name), of: comparison)
                try OutputFile.write(picture.svg(), to: plot, besides: inputs)
            }
            if options.html != nil {
                compared.append(
                    ComparedStreams(
                        subject: found.name, expectation: statement.text, comparison,
                        isExact: tolerance == nil && found.isRun, expectedLines: golden.allLines,
                        foundLines: found.allLines))
            }
        }
        return Outcome(statement.text, failure(golden, found, tolerance))
    }

    /// Returns a golden file. It is read once, although a camera is compared with it each time that it rests.
    private func golden(_ file: String, on viewport: Viewport) throws -> LoadedStream {
        var golden = try goldens[file] ?? LoadedStream(reading: InputFile(file))
        if goldens.updateValue(golden, forKey: file) == nil { inputs.append(file) }
        golden.stream.viewport = viewport
        return golden
    }

    private func failure(
        _ golden: LoadedStream, _ found: LoadedStream, _ tolerance: Tolerance?
    ) -> Outcome.Failure? {
        guard tolerance == nil, found.isRun else {
            return Comparison(expected: golden.stream, found: found.stream, tolerance: tolerance ?? .none).failure
        }
        if golden.bytes == found.bytes { return nil }
        let comparison = Comparison(expected: golden.stream, found: found.stream, tolerance: .none)
        return exactFailure(expected: golden.lines, found: found.lines, comparison)
    }

    /// Rewrites a golden file if it differs, and shows what has changed.
    private func update(_ file: String, _ found: LoadedStream, _ name: String) throws -> Outcome {
        guard found.rejected == 0 else { return Outcome(name, Outcome.Failure("not written: lines were rejected")) }
        if InputFile.isThere(file) {
            // Statements may come from elsewhere, so a file that they name is replaced only if it is a golden file.
            guard InputFile.isRegular(file), var golden = try? LoadedStream(reading: InputFile(file)) else {
                return Outcome(name, Outcome.Failure("not written: \(file) exists and is not a golden file"))
            }
            golden.stream.viewport = found.stream.viewport
            guard let change = failure(golden, found, nil) else {
                say("\(file) is unchanged")
                return Outcome(name)
            }
            say("\(file): \(change.summary)")
            for line in change.details { say("  \(line)") }
        } else {
            say("\(file) is new")
        }
        try OutputFile.write(String(decoding: found.bytes, as: UTF8.self), to: file, besides: [found.name])
        return Outcome(name)
    }

    // MARK: Cameras of the daemon

    /// Follows a camera until it rests as expected, or the time is up.
    func follow(_ camera: CameraName) throws -> TestReport {
        let start = clock.now
        let limit = TimeLimit(milliseconds: options.socket.timeout?.milliseconds ?? TimeLimit.usualAnswer)
        let statements = try options.expectations.all()
        let follower = try CameraFollower(camera, options.socket)
        while true {
            let left = limit.left
            // The camera is judged only when it rests, or when the time is up.
            if follower.isAtRest || left == 0, let stream = follower.stream {
                compared = []
                var outcomes = try statements.map { try outcome($0, LoadedStream(camera.text, stream)) }
                if left == 0 || outcomes.allSatisfy({ $0.failure == nil }) {
                    if !follower.isAtRest {
                        outcomes.append(Outcome("rests", Outcome.Failure("it is still moving when the time is up")))
                    }
                    return TestReport(
                        subject: "camera \(camera.text)", outcomes: outcomes, duration: duration(since: start))
                }
            }
            guard left > 0 else { throw Failure(.unavailable, "the daemon did not report camera \(camera.text)") }
            try follower.wait(milliseconds: left)
        }
    }
}

/// The stream of a camera of the daemon, from now on.
private final class CameraFollower {
    private let connection: DaemonConnection
    private var reader = StreamReader()
    private var lineNumber = 0
    private var hasRested = false

    init(_ camera: CameraName, _ options: SocketOptions) throws {
        connection = try DaemonConnection(options, isLimited: false)
        connection.queue(try ClientRequest.subscribe().line(camera: camera.text, creates: false))
        connection.queue(try ClientRequest.awaitIdle().line(camera: camera.text, creates: false))
    }

    /// The stream; `nil` before the daemon has sent the camera's position.
    var stream: CameraStream? { reader.stream.last == nil ? nil : reader.stream }

    /// Whether nothing moves the camera.
    var isAtRest: Bool { hasRested && reader.stream.isAtRest }

    /// Waits for the next lines of the daemon, and reads them.
    func wait(milliseconds: Int) throws {
        let turn = try connection.turn(timeout: milliseconds, handle)
        if turn.end != nil { throw Failure.daemonWentAway }
    }

    private func handle(_ message: ReceivedLine) throws {
        lineNumber += 1
        if let error = message.error { throw Failure(error) }
        if case .removed(let camera)? = message.event {
            throw Failure(.unavailable, "camera \(camera) was removed")
        }
        if message.type == .atRest { hasRested = true }
        // A replay begins, with a clock of its own.
        if message.type == .reset { (reader, lineNumber) = (StreamReader(), 1) }
        guard message.isOfStream || message.type == .subscribed || message.type == .lagged else { return }
        do throws(StreamError) {
            try reader.read(message.bytes, number: lineNumber)
        } catch {
            throw Failure(.dataError, "what the daemon sent cannot be read: line \(error)")
        }
    }
}
