// `gimbal expect` and `gimbal diff` as a test suite's shell sees them: what passes, what one changed number causes, and
// the output for other programs.

import Foundation
import TestSupport
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite struct ExpectTests {
    private let folder = Folder()
    private let sample = Files.sample("pinch-and-rotate")
    private let golden: String

    /// The sample's golden file, which is made once for all tests.
    private static let made: Result<String, any Error> = Result {
        let folder = Folder()
        let golden = folder.path("new.ndjson")
        let made = try gimbal(nil, ["expect", Files.sample("pinch-and-rotate"), "--golden", golden, "--update"])
        try #require(made.status == 0 && made.errors.contains("is new"), "\(made.errors)")
        return try String(contentsOfFile: golden, encoding: .utf8)
    }

    /// Each test has its own trace and golden file.
    init() throws {
        golden = try folder.write("pinch.golden.ndjson", Self.made.get())
        try FileManager.default.copyItem(atPath: sample, toPath: folder.path("pinch.ndjson"))
    }

    private func path(_ name: String) -> String { folder.path(name) }

    private func write(_ text: String, to name: String) throws -> String { try folder.write(name, text) }

    private func lines(_ file: String) throws -> [String] {
        try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Returns the trace with one number changed: the finger is 3 points further right in one report.
    private func changedTrace() throws -> String {
        var trace = try lines(sample)
        let index = try #require(trace.indices.first { $0 > 20 && trace[$0].contains(#""focus":{"x":"#) })
        let match = try #require(trace[index].firstMatch(of: /"translation":\{"x":(-?[0-9.]+)/))
        let number = try #require(Double(match.1))
        trace[index].replaceSubrange(match.1.startIndex..<match.1.endIndex, with: "\(number + 3)")
        return try write(trace.joined(separator: "\n") + "\n", to: "changed.ndjson")
    }

    // MARK: Golden files

    @Test func aGoldenFileIsWhatRunPrints() throws {
        #expect(try gimbal(nil, ["run", sample]).output == lines(golden))
        let same = try gimbal(nil, ["expect", sample, "--golden", golden])
        #expect(same.status == 0 && same.errors.isEmpty && same.output == ["ok \(sample): 1 expectation"])
    }

    @Test func oneChangedNumberIsNamedWithItsPlace() throws {
        let changed = try changedTrace()
        for tolerance in [[], ["--tolerance", "0.5pt,0.001zoom,0.1deg"]] {
            let result = try gimbal(nil, ["expect", changed, "--golden", golden] + tolerance)
            #expect(result.status == 1 && result.output.count <= 10, "\(result.output)")
            let report = result.output.joined(separator: "\n")
            #expect(report.contains("first apart") && report.contains(" s") && report.contains("points"), "\(report)")
        }
        #expect(try gimbal(nil, ["expect", changed, "--golden", golden, "--tolerance", "3.5pt"]).status == 0)
    }

    @Test func updatingShowsWhatChanges() throws {
        let changed = try changedTrace()
        let updated = try gimbal(nil, ["expect", changed, "--golden", golden, "--update"])
        #expect(updated.status == 0 && updated.errors.contains("first apart"), "\(updated.errors)")
        #expect(try gimbal(nil, ["expect", changed, "--golden", golden]).status == 0)
        #expect(try gimbal(nil, ["expect", sample, "--golden", golden]).status == 1)
        let again = try gimbal(nil, ["expect", changed, "--golden", golden, "--update"])
        #expect(again.errors.contains("is unchanged"))
    }

    @Test func updatingReplacesNoFileButAGoldenOne() throws {
        let changed = try changedTrace()
        let other = try write("what is not to be lost\n", to: "notes.txt")
        let refused = try gimbal(nil, ["expect", changed, "--golden", other, "--update"])
        #expect(refused.status == 1 && refused.output.joined().contains("not a golden file"), "\(refused)")
        #expect(try lines(other) == ["what is not to be lost"])
    }

    @Test(arguments: [
        ["--golden", "pinch.golden.ndjson", "--junit", "pinch.golden.ndjson"],
        ["--golden", "pinch.golden.ndjson", "--update", "--html", "pinch.golden.ndjson"],
        ["--html", "pinch.expect"], ["--plot", "pinch.expect"],
        ["--statements", "pinch.expect", "--junit", "pinch.expect"],
        ["--junit", "report", "--html", "report"],
        ["--golden", "pinch.golden.ndjson", "--plot", "report", "--html", "report"],
    ])
    func aReportReplacesNeitherWhatWasReadNorAnother(_ options: [String]) throws {
        let statements = try write("golden pinch.golden.ndjson\n", to: "pinch.expect")
        let before = try lines(golden)
        let words = options.map { $0.hasPrefix("--") ? $0 : path($0) }
        let refused = try gimbal(nil, ["expect", path("pinch.ndjson")] + words)
        #expect(refused.status == 73, "\(refused)")
        #expect(try lines(golden) == before && lines(statements) == ["golden pinch.golden.ndjson"])
    }

    @Test func moreStatementsThanAreReadAreRefusedAndNotLeftOut() throws {
        let text = String(repeating: "# a comment\n", count: 100_000) + "moves 777\n"
        let file = try write(text, to: "long.expect")
        let refused = try gimbal(nil, ["expect", sample, "--statements", file])
        #expect(refused.status == 65 && refused.errors.contains("1 MiB"), "\(refused)")
    }

    /// A table from an app that samples rarely and has its own clock.
    @Test func anAppsLogIsHeldAgainstAGoldenFile() throws {
        var table = "time,latitude,longitude,zoom,bearing,angle\n"
        for (index, line) in try lines(golden).enumerated() {
            let event = try JSON(line)
            guard let time = event["timeMs"]?.number, let position = event["position"], index % 3 == 0 else { continue }
            let target = position["target"]
            let numbers = [
                time + 1.6e12, target?["latitude"]?.number ?? 0, target?["longitude"]?.number ?? 0,
                position["zoom"]?.number ?? 0, position["bearing"]?.number ?? 0, position["viewingAngle"]?.number ?? 0,
            ]
            table += numbers.map { "\($0)" }.joined(separator: ",") + "\n"
        }
        let log = try write(table, to: "log.csv")
        let near = try gimbal(nil, ["expect", log, "--golden", golden, "--tolerance", "2pt,0.02zoom,1deg,40ms"])
        #expect(near.status == 0, "\(near.output) \(near.errors)")
        #expect(try gimbal(nil, ["expect", log, "--golden", golden, "--tolerance", "0.001pt,0zoom,0deg"]).status == 1)
        let wrong = try write("time,latitude\n0,1\n", to: "wrong.csv")
        let refused = try gimbal(nil, ["expect", wrong, "--golden", golden])
        #expect(refused.status == 65, "\(refused.errors)")
    }

    // MARK: Statements

    @Test func statementsAreOptionsOrAFileBesideTheTrace() throws {
        let zoom = ["--zoom", "14.70948", "--bearing", "327.3", "--within", "0.001zoom"]
        let options = try gimbal(nil, ["expect", sample, "--at", "end", "--idle-by", "5s", "--moves", "2"] + zoom)
        let moves = try lines(golden).count { $0.contains(#""idle""#) }
        #expect(options.status == (moves == 2 ? 0 : 1), "\(options.output)")
        _ = try write(
            "# what the fingers do\nmoves \(moves)\nat end zoom 14.7 within 0.1zoom\ngolden pinch.golden.ndjson within 1pt\n",
            to: "pinch.expect")
        let file = try gimbal(nil, ["expect", path("pinch.ndjson")])
        #expect(file.status == 0 && file.output == ["ok \(path("pinch.ndjson")): 3 expectations"], "\(file.errors)")
        let wrong = try gimbal(nil, ["expect", sample, "--target", "-33.9,151.2", "--within", "2pt"])
        #expect(wrong.status == 1 && wrong.output.joined().contains("points"))
    }

    @Test func ofSeveralTracesInAFileOneIsChosenAndNoneLeftOutUnsaid() throws {
        let both = try write(String(contentsOfFile: sample, encoding: .utf8) + "\n\n", to: "one.ndjson")
        #expect(try gimbal(nil, ["expect", both, "--golden", golden]).status == 0)
        let twice = try write(
            String(contentsOfFile: both, encoding: .utf8) + "\n" + String(contentsOfFile: sample, encoding: .utf8),
            to: "two.ndjson")
        for command in [["expect", twice, "--golden", golden], ["diff", golden, twice]] {
            let refused = try gimbal(nil, command)
            #expect(refused.status == 65 && refused.errors.contains("several traces"), "\(refused.errors)")
        }
        #expect(try gimbal(nil, ["expect", twice, "--trace", "2", "--golden", golden]).status == 0)
        // What untilMs leaves out is of the same trace.
        let short = try write(
            String(contentsOfFile: sample, encoding: .utf8).replacing(
                "\"version\":1", with: "\"version\":1,\"untilMs\":1", maxReplacements: 1), to: "short.ndjson")
        #expect(try gimbal(nil, ["expect", short, "--moves", "0"]).errors == "")
        let more = try write(
            String(contentsOfFile: short, encoding: .utf8) + String(contentsOfFile: sample, encoding: .utf8),
            to: "more.ndjson")
        #expect(try gimbal(nil, ["expect", more, "--moves", "0"]).errors.contains("several traces"))
    }

    @Test func aByteOrderMarkIsNoPartOfAFile() throws {
        let marked = try write("\u{feff}" + String(contentsOfFile: golden, encoding: .utf8), to: "marked.ndjson")
        #expect(try gimbal(nil, ["expect", sample, "--golden", marked]).status == 0)
        #expect(try gimbal(nil, ["diff", sample, marked]).errors == "")
        let statements = try write("\u{feff}moves 999\n", to: "marked.expect")
        #expect(try gimbal(nil, ["expect", sample, "--statements", statements]).status == 1)
        let daemon = try DaemonProcess()
        let sent = try gimbal(daemon, ["send"], input: "\u{feff}{\"type\":\"ping\",\"id\":1}\n")
        #expect(sent.status == 0 && sent.output == [#"{"type":"pong","id":1}"#], "\(sent)")
    }

    @Test func whatIsNoExpectationIsRefused() throws {
        #expect(try gimbal(nil, ["expect", sample]).status == 64)
        #expect(try gimbal(nil, ["expect", sample, "--golden", "/nonexistent"]).status == 66)
        #expect(try gimbal(nil, ["expect", "/nonexistent", "--moves", "1"]).status == 66)
        let statements = try write("moves 1\nfly high\n", to: "wrong.expect")
        let refused = try gimbal(nil, ["expect", sample, "--statements", statements])
        #expect(refused.status == 65 && refused.errors.contains("wrong.expect:2: "), "\(refused.errors)")
        let empty = try gimbal(nil, ["expect", sample, "--statements", write("# nothing\n", to: "empty.expect")])
        #expect(empty.status == 65 && empty.errors.contains("no statement"), "\(empty)")
    }

    // MARK: Output for other programs

    @Test(.needs("python3")) func resultsAreReadByOtherPrograms() throws {
        _ = try write("moves 99\nat end zoom 14.7 within 0.1zoom\n", to: "pinch.expect")
        let result = try gimbal(
            nil, ["expect", path("pinch.ndjson"), "--tap", "--junit", path("results.xml"), "--golden", golden])
        #expect(result.status == 0 && result.output.prefix(2) == ["TAP version 14", "1..1"])
        let failing = try gimbal(nil, ["expect", path("pinch.ndjson"), "--tap", "--junit", path("results.xml")])
        #expect(failing.status == 1 && failing.output[2].hasPrefix("not ok 1 - "))
        let script = """
            import sys, xml.etree.ElementTree as tree
            suite = tree.parse(sys.argv[1]).getroot()[0]
            print([case.find("failure") is None for case in suite], suite.get("failures"))
            """
        let (status, output, _) = try DaemonProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"), ["-c", script, path("results.xml")])
        #expect(status == 0 && output == "[False, True] 1\n")
    }

    @Test func bothWaysAreDrawn() throws {
        let picture = path("apart.svg")
        let result = try gimbal(
            nil, ["expect", try changedTrace(), "--golden", golden, "--tolerance", "0.5pt", "--plot", picture])
        #expect(result.status == 1)
        let svg = try String(contentsOfFile: picture, encoding: .utf8)
        #expect(XMLParser(data: Data(svg.utf8)).parse())
        // For each: the path, its start and end with the views there, and three curves.
        for role in ["expected", "found"] {
            #expect(svg.matches(of: try Regex("<path class=\"way \(role)\"")).count == 2, "with the legend")
            #expect(svg.matches(of: try Regex("<circle class=\"dot \(role)\"")).count == 2)
            #expect(svg.matches(of: try Regex("<path class=\"view \(role)\"")).count == 2)
            #expect(svg.matches(of: try Regex("<path class=\"curve \(role)\"")).count == 3)
        }
        for text in ["zoom<", "bearing<", "viewing angle<", "distance<", "N</text>", " km</text>", "first apart at"] {
            #expect(svg.contains(text), "\(text)")
        }
        #expect(svg.matches(of: /<circle class="apart"/).count == 2)
    }

    @Test func aPageShowsThePictureTheNumbersAndTheLinesAround() throws {
        let (page, report) = (path("results.html"), path("results.xml"))
        let changed = try changedTrace()
        let result = try gimbal(
            nil, ["expect", changed, "--golden", golden, "--moves", "9", "--html", page, "--junit", report])
        #expect(result.status == 1)
        let html = try String(contentsOfFile: page, encoding: .utf8)
        let line = try #require(
            zip(try lines(golden), try gimbal(nil, ["run", changed]).output).enumerated().first {
                $0.element.0 != $0.element.1
            })
        #expect(html.contains("<title>gimbal expect: 2 of 2 not as expected</title>"))
        for text in [line.element.0, line.element.1] {
            let shown = "<tr class=\"there\"><th>\(line.offset + 1)</th><td><code>\(escaped(text))</code>"
            #expect(html.contains(shown), "\(shown)")
        }
        #expect(html.contains("<svg") && html.contains("class=\"curve expected\"") && html.contains("most apart"))
        #expect(html.contains(", not 9"), "what is no golden file is told, too")
        // The page is a single file.
        #expect(!html.contains("<script") && html.matches(of: /(src|href)=(?!"#\d)/).isEmpty)
        #expect(html.matches(of: /url\((?!#map1\))/).isEmpty)
        let attachment = "<system-out>[[ATTACHMENT|\(page)]]</system-out>"
        #expect(
            try String(contentsOfFile: report, encoding: .utf8).matches(
                of: try Regex(NSRegularExpression.escapedPattern(for: attachment))
            ).count == 2)
        #expect(try gimbal(nil, ["expect", sample, "--golden", golden, "--html", golden]).status == 73)
    }

    @Test func whatFilesSayIsNoMarkupOfThePage() throws {
        let evil = "</code></pre></svg></style><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}&\"'"
        let position = #""position":{"target":{"latitude":1,"longitude":2},"zoom":3,"bearing":0,"viewingAngle":0}"#
        let quoted = JSON.string(evil).text
        let log = try write(
            #"{"type":"camera-changed","timeMs":0,"note":\#(quoted),\#(position)}"# + "\n", to: "a<b>&\"c'.ndjson")
        let golden = try write(
            #"{"type":"camera-changed","timeMs":0,"note":\#(quoted),\#(position.replacing("3,", with: "4,"))}"# + "\n",
            to: "<i>golden.ndjson")
        let page = path("results.html")
        #expect(try gimbal(nil, ["expect", log, "--golden", golden, "--html", page]).status == 1)
        let html = try String(contentsOfFile: page, encoding: .utf8)
        #expect(html.contains("alert(1)") && html.contains("&lt;script&gt;") && html.contains("a&lt;b&gt;&amp;&quot;c"))
        let tags = Set(html.matches(of: /<([a-zA-Z]+)/).map { String($0.1) })
        #expect(tags.isDisjoint(with: ["script", "img", "i"]), "\(tags)")
        #expect(!html.contains("\u{202e}") && html.contains("default-src 'none'"))
    }

    private func escaped(_ text: String) -> String { text.replacing("\"", with: "&quot;") }

    // MARK: Comparing two

    @Test func twoCamerasAreHeldAgainstEachOther() throws {
        let same = try gimbal(nil, ["diff", sample, golden])
        #expect(same.status == 0 && same.output.isEmpty && same.errors.isEmpty)
        let changed = try changedTrace()
        let apart = try gimbal(nil, ["diff", sample, changed, "--plot", path("apart.svg")])
        #expect(apart.status == 1 && apart.output.count <= 10 && apart.output[0].contains("first apart at"))
        #expect(FileManager.default.fileExists(atPath: path("apart.svg")))
        #expect(try gimbal(nil, ["diff", sample, changed, "--tolerance", "3.5pt"]).status == 0)
        let rejected = try write(
            String(contentsOfFile: sample, encoding: .utf8).replacing("{\"type\":\"trace-end\"}", with: "{}"),
            to: "rejected.ndjson")
        let refused = try gimbal(nil, ["diff", sample, rejected])
        #expect(refused.status == 1 && refused.output.isEmpty && refused.errors.contains("rejected.ndjson:"))
        // A picture replaces no input file.
        let before = try String(contentsOfFile: changed, encoding: .utf8)
        #expect(try gimbal(nil, ["diff", sample, changed, "--plot", changed]).status == 73)
        let held = ["expect", changed, "--golden", golden, "--tolerance", "1pt"]
        for option in [["--plot", changed], ["--plot", golden], ["--junit", changed]] {
            #expect(try gimbal(nil, held + option).status == 73, "\(option)")
        }
        #expect(try gimbal(nil, ["expect", sample, "--golden", golden]).status == 0)
        #expect(try String(contentsOfFile: changed, encoding: .utf8) == before)
    }

    // MARK: Live

    @Test func aCameraOfTheDaemonsIsWaitedFor() throws {
        let daemon = try DaemonProcess()
        _ = try gimbal(daemon, ["move", "--zoom", "4"])
        let there = try gimbal(daemon, ["expect", "--camera", "main", "--zoom", "4"])
        #expect(there.status == 0 && there.output == ["ok camera main: 1 expectation"], "\(there.errors)")
        // The camera is still moving when the wait begins.
        _ = try gimbal(daemon, ["animate", "--zoom", "9", "--duration", "400ms", "--no-wait"])
        let reached = try gimbal(daemon, ["expect", "--camera", "main", "--timeout", "1m", "--zoom", "9"])
        #expect(reached.status == 0, "\(reached.output)")
        // These wait until their time is up, which must not be before the daemon has told of the camera.
        // A golden file is read once, however often the camera is checked.
        let golden = try gimbal(nil, ["run", "-"], input: #"{"type":"trace","version":1}"# + "\n").output
        let pipe = Files.temporary().path
        #expect(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        let writer = Thread { try? Data(golden.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: pipe)) }
        writer.start()
        let other = try gimbal(daemon, ["expect", "--camera", "main", "--timeout", "3s", "--golden", pipe])
        #expect(other.status == 1 && other.output.joined().contains("golden \(pipe)"), "\(other)")

        let never = try gimbal(daemon, ["expect", "--camera", "main", "--timeout", "3s", "--zoom", "10"])
        #expect(never.status == 1 && never.output.joined().contains("1 zoom"), "\(never.output)")
        // An hour would be noticed.
        let running = try RunningProgram(
            ["expect", "--socket", daemon.socket, "--camera", "main", "--timeout", "1h", "--zoom", "10"])
        try waitForSubscriber(daemon)
        _ = try gimbal(daemon, ["remove", "main"])
        let removed = running.wait()
        #expect(removed.status == 69 && removed.errors.contains("camera main was removed"), "\(removed)")
        let nowhere = try gimbal(daemon, ["expect", "--camera", "lfet", "--timeout", "3s", "--zoom", "10"])
        #expect(nowhere.status == 1 && nowhere.errors.contains("lfet"), "\(nowhere.errors)")
    }
}
