// Streams read back and compared with each other and with statements: equal ones pass, and one changed number is
// reported with its place, its size and its units.

import CameraStreams
import Foundation
import GimbalProtocol
import MapCamera
import TestSupport
import Testing

/// Returns a stream of lines of text.
func stream(_ lines: String) throws -> CameraStream {
    let reader = StreamReader()
    for (index, line) in lines.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
        try reader.read(Array(line.utf8)[...], number: index + 1)
    }
    return reader.stream
}

/// Returns a log of frames 20 ms apart that moves east by one point per frame, at zoom 10.
func eastward(_ count: Int, zoom: Double = 10, step: Double = 20, startMs: Double = 0) -> String {
    let point = 360 / (256 * exp2(zoom))
    return "time,latitude,longitude,zoom,bearing,angle\n"
        + (0..<count).map { "\(startMs + Double($0) * step),0,\(Double($0) * point),\(zoom),0,0" }
        .joined(separator: "\n")
}

@Suite struct StreamTests {
    private let events = """
        {"type":"reset","camera":"main","seq":0,"timeMs":0,"position":{"target":{"latitude":10,"longitude":20},"zoom":3,"bearing":0,"viewingAngle":0}}
        {"type":"move-started","camera":"main","seq":1,"timeMs":5,"reason":"gesture","position":{"target":{"latitude":10,"longitude":20},"zoom":3,"bearing":0,"viewingAngle":0}}
        {"type":"camera-changed","camera":"main","seq":2,"timeMs":15,"reason":"gesture","position":{"target":{"latitude":10,"longitude":20},"zoom":4,"bearing":350,"viewingAngle":5}}
        {"type":"idle","camera":"main","seq":3,"timeMs":30,"reason":"gesture","position":{"target":{"latitude":10,"longitude":20},"zoom":4,"bearing":350,"viewingAngle":5}}
        {"type":"trace-ended","events":2,"rejected":0,"frames":1,"durationMs":40,"position":{"target":{"latitude":10,"longitude":20},"zoom":4,"bearing":350,"viewingAngle":5}}
        """

    // MARK: Reading

    @Test func eventsAreRead() throws {
        let stream = try stream(events)
        #expect(stream.samples.map(\.timeMs) == [0, 5, 15, 30] && stream.samples.map(\.line) == [1, 2, 3, 4])
        #expect(stream.last?.position.bearing == 350 && stream.last?.position.viewingAngle == 5)
        #expect(stream.endMs == 40 && stream.isAtRest)
        #expect(stream.movements.map(\.startMs) == [5] && stream.movements.map(\.endMs) == [30])
    }

    @Test func logsInJSONAndTablesAreRead() throws {
        let json = try stream(
            """
            {"timeMs":1000,"position":{"target":{"latitude":1,"longitude":2},"zoom":3,"bearing":4,"viewingAngle":5}}

            {"time":1020,"latitude":1.5,"longitude":2,"zoom":3,"bearing":4,"angle":6,"own":[{}]}
            """)
        let table = try stream("T;Lat;Lng;Zoom;Bearing;Pitch\r\n1000;1;2;3;4;5\r\n# a comment\r\n1020;1.5;2;3;4;6\r\n")
        #expect(json.samples.map(\.position) == table.samples.map(\.position) && json.samples.count == 2)
        #expect(json.samples.map(\.timeMs) == [0, 20] && table.samples.map(\.timeMs) == [0, 20])
        #expect(json.last?.position.viewingAngle == 6 && json.movements.count == 1)
    }

    @Test(arguments: [
        #"{"timeMs":0,"latitude":1,"longitude":2,"zoom":3,"heading":40,"tilt":50}"#,
        #"{"timestamp":0,"lat":1,"lng":2,"zoom":3,"bearing":40,"pitch":50}"#,
        #"{"t":0,"position":{"target":{"lat":1,"lon":2},"zoom":3,"heading":40,"angle":50}}"#,
    ])
    func logsInJSONHaveTheNamesOfTables(_ line: String) throws {
        let position = CameraPosition(
            target: LatLng(latitude: 1, longitude: 2), zoom: 3, bearing: 40, viewingAngle: 50)
        #expect(try stream(line).last?.position == position)
    }

    @Test(arguments: [
        ("time,latitude,zoom\n", 1, "longitude"), ("time,lat,lng,zoom\n0,1,2,3\n20,1,x,3", 3, "longitude"),
        ("time,lat,lng,zoom\n20,1,2,3\n0,1,2,3", 3, "back"), (#"{"type":"idle","timeMs":1}"#, 1, "position"),
        (#"{"position":{"latitude":1,"longitude":2,"zoom":3}}"#, 1, "timeMs"),
        (#"{"timeMs":1,"position":{"target":{"latitude":1},"zoom":3}}"#, 1, "longitude"),
        (#"{"timeMs":1,"latitude":1,"longitude":2,"zoom":3,"bearing":"4"}"#, 1, "bearing must be a number"),
        (#"{"timeMs":1,"latitude":1,"longitude":2,"zoom":3,"tilt":"4"}"#, 1, "tilt must be a number"),
        (#"{"type":"lagged","missed":3}"#, 1, "missed"), ("{", 1, "column"),
    ])
    func whatIsNoStreamIsNamed(_ text: String, line: Int, word: String) throws {
        let error = #expect(throws: StreamError.self) { try stream(text) }
        #expect(error?.line == line && error?.message.contains(word) == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func aFileIsKnownByItsFirstLine() {
        func recognizes(_ text: String) -> Bool { StreamReader.recognizes(Array(text.utf8)[...]) }
        #expect(recognizes(String(events.prefix { $0 != "\n" })) && recognizes("time,lat,lng,zoom"))
        #expect(recognizes(#"{"timeMs":0,"position":{}}"#))
        #expect(!recognizes(#"{"type":"trace","version":1}"#) && !recognizes("E: 0.000001 0003 0039 0001"))
        #expect(!recognizes(#"{"viewport":{"width":390,"height":844}}"#) && !recognizes(""))
    }

    // MARK: Comparing

    @Test func distancesAreThoseOnTheScreen() {
        // The same nine degrees are one point here and a thousand there.
        let viewport = Viewport.standard
        func apart(zoom: Double, latitude: Double, longitude: Double) -> Double {
            let a = CameraPosition(target: LatLng(latitude: latitude, longitude: 179.9), zoom: zoom)
            let b = CameraPosition(target: LatLng(latitude: latitude, longitude: longitude), zoom: zoom)
            return Difference(from: a, to: b, viewport: viewport).points
        }
        let degrees = 0.2
        #expect(abs(apart(zoom: 3, latitude: 0, longitude: -179.9) - degrees / 360 * 256 * 8) < 1e-9)
        #expect(abs(apart(zoom: 3, latitude: 60, longitude: -179.9) - degrees / 360 * 256 * 8) < 1e-9)
        let (north, east) = (
            CameraPosition(target: LatLng(latitude: 0, longitude: 0), zoom: 5, bearing: 359),
            CameraPosition(target: LatLng(latitude: 0, longitude: 0), zoom: 5.5, bearing: 2, viewingAngle: 1)
        )
        let difference = Difference(from: north, to: east, viewport: viewport)
        #expect(difference.points == 0 && difference.zoom == 0.5 && difference.degrees == 3)
    }

    @Test func theSameWayAtOtherTimesIsTheSame() throws {
        // 50 frames a second compared with 20: positions between two frames are on the path.
        let point = 360 / (256 * 1024.0)
        let often = try stream(eastward(51))
        let seldom = try stream(
            "time,lat,lng,zoom\n"
                + (0...20).map { "\($0 * 50),0,\(Double($0) * 2.5 * point),10" }.joined(separator: "\n"))
        let same = Comparison(expected: often, found: seldom, tolerance: Tolerance(points: 1e-6))
        #expect(same.isSame && same.apartMs == 0 && same.lengthMs == 1000, "\(same.failure?.details ?? [])")
        let slower = Comparison(
            expected: often, found: try stream(eastward(21, step: 50)), tolerance: Tolerance(points: 0.5))
        #expect(!slower.isSame && slower.first?.timeMs == 20)
        let later = Comparison(expected: often, found: try stream(eastward(51, startMs: 7_000_000)), tolerance: .none)
        #expect(later.isSame)
    }

    @Test func oneChangedNumberIsNamedWithItsPlaceAndSize() throws {
        var lines = eastward(51).split(separator: "\n").map(String.init)
        var cells = lines[11].split(separator: ",").map(String.init)
        cells[1] = "\(3 * 360 / (256 * 1024.0))"
        lines[11] = cells.joined(separator: ",")
        let comparison = Comparison(
            expected: try stream(eastward(51)), found: try stream(lines.joined(separator: "\n")),
            tolerance: Tolerance(points: 0.5))
        let first = try #require(comparison.first)
        #expect(first.timeMs == 200 && first.found.line == 12 && abs(first.difference.points - 3) < 1e-3)
        #expect(comparison.apartMs == 20)
        let failure = try #require(comparison.failure)
        #expect(failure.summary.contains("0.2 s") && failure.summary.contains("line 12"))
        #expect(failure.details.count <= 9 && failure.details.contains { $0.hasPrefix("apart by  3") })
        #expect(
            Comparison(
                expected: try stream(eastward(51)), found: try stream(lines.joined(separator: "\n")),
                tolerance: Tolerance(points: 3.01)
            ).isSame)
    }

    @Test func aCameraMayBeEarlierOrLater() throws {
        let on = try stream(eastward(51))
        var late = eastward(51, startMs: 60).split(separator: "\n").map(String.init)
        late.insert("0,0,0,10,0,0", at: 1)
        let there = try stream(late.joined(separator: "\n"))
        #expect(!Comparison(expected: on, found: there, tolerance: Tolerance(points: 0.5)).isSame)
        #expect(Comparison(expected: on, found: there, tolerance: Tolerance(points: 0.5, timeMs: 60)).isSame)
        #expect(!Comparison(expected: on, found: there, tolerance: Tolerance(points: 0.5, timeMs: 40)).isSame)
    }

    @Test func tolerancesAreReadWithTheirUnits() {
        let whole = Tolerance(points: 0.5, zoom: 0.001, degrees: 0.1, timeMs: 20)
        #expect(Tolerance("0.5pt,0.001zoom,0.1deg,20ms") == whole)
        #expect(Tolerance("2px") == Tolerance(points: 2))
        for wrong in ["", "2", "-1pt", "1pt,", "1 m", "nanpt", "infzoom"] {
            #expect(Tolerance(wrong) == nil, "\(wrong)")
        }
    }

    // MARK: Statements

    private func failure(_ statement: String) throws -> Outcome.Failure? {
        try Statement(statement.split(separator: " ").map(String.init)).outcome(of: stream(events)).failure
    }

    @Test(arguments: [
        "at end target 10,20 zoom 4 bearing 350 angle 5", "at start zoom 3", "at 15ms zoom 4", "at 0.014s zoom 3",
        "idle-by 30ms", "idle-by 1:05", "never-outside 9,19,11,21", "never-outside 9,170,11,21", "zoom-between 3,4",
        "moves 1",
        "at end bearing 352 within 2deg",
    ])
    func whatIsSoPasses(_ statement: String) throws { #expect(try failure(statement) == nil) }

    @Test(arguments: [
        ("at end target 10,21 zoom 4", "points"), ("at end zoom 4.1", "0.1 zoom"), ("at end bearing 352", "2 degrees"),
        ("at 1s zoom 4", "ended"), ("idle-by 29ms", "1 ms too late"), ("never-outside 9,21,11,22", "line 1"),
        ("zoom-between 3,3.5", "0.5 zoom"), ("moves 2", "1 movement, not 2"), ("at start angle 1", "1 degree"),
    ])
    func whatIsNotSoSaysByHowMuch(_ statement: String, word: String) throws {
        let failure = try #require(try failure(statement))
        #expect(failure.summary.contains(word), "\(failure.summary)")
        #expect(failure.details.count < 9)
    }

    @Test func oneIsNoPlural() throws {
        let failure = try #require(try failure("at start angle 1"))
        #expect(failure.summary.hasSuffix(" by 0 points, 0 zoom, 1 degree"), "\(failure.summary)")
        #expect(failure.details.last == "allowed   1 point, 0.01 zoom, 0.1 degrees")
    }

    @Test(arguments: [
        "at", "at end", "at noon zoom 3", "at end zoom x", "at end height 3", "idle-by soon", "never-outside 1,2",
        "never-outside 9,0,1,2", "zoom-between 4,3", "moves -1", "fly", "moves 1 2", "golden", "golden a within 2",
    ])
    func whatIsNoStatementIsRefused(_ statement: String) {
        #expect(throws: StatementError.self) { try Statement(statement.split(separator: " ").map(String.init)) }
    }

    @Test func aFileOfStatementsNamesItsLines() throws {
        let text = "# first\n\nmoves 1 # one\r\n at end zoom 4\ngolden a.ndjson within 1pt"
        let statements = try Statement.read(file: text)
        #expect(statements.map(\.text) == ["moves 1", "at end zoom 4", "golden a.ndjson within 1pt"])
        #expect(statements.last?.kind == .golden(file: "a.ndjson", Tolerance(points: 1)))
        let error = #expect(throws: StatementError.self) { try Statement.read(file: "moves 1\nmove 2") }
        #expect(error?.description.hasPrefix("2: ") == true)
    }

    // MARK: Reports

    private let reports = [
        TestReport(
            subject: "a&b.ndjson",
            outcomes: [
                Outcome("moves 1"),
                Outcome("at end zoom <4>", Outcome.Failure("apart \"here\"", ["expected \u{1b}[1m", "found"], at: 20)),
            ], duration: 0.25)
    ]

    @Test func aReportIsReadableAsTAP() {
        #expect(
            reports.tap == """
                TAP version 14
                1..2
                ok 1 - a&b.ndjson: moves 1
                not ok 2 - a&b.ndjson: at end zoom <4>
                  ---
                  message: |
                    apart "here"
                    expected \u{1b}[1m
                    found
                  ...

                """)
    }

    /// Python's parser is independent of the project.
    @Test(.needs("python3")) func aReportIsReadableAsXML() throws {
        let script = """
            import sys, xml.etree.ElementTree as tree
            suites = tree.fromstring(sys.stdin.buffer.read())
            cases = suites.findall("./testsuite/testcase")
            failure = cases[1].find("failure")
            print(suites.get("tests"), suites.get("failures"), suites[0].get("name"), cases[0].get("classname"))
            print(cases[1].get("name"), failure.get("message"), len(failure.text.splitlines()), cases[0].find("failure"))
            """
        let (status, output, errors) = try DaemonProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"), ["-c", script],
            input: Array(reports.junit().utf8))
        #expect(status == 0, "\(errors)")
        #expect(output == "2 1 a&b.ndjson a&b.ndjson\nat end zoom <4> apart \"here\" 3 None\n")
    }
}
