// `gimbal check`: what it finds in invalid traces of every kind, and that it finds nothing in valid ones.

import Foundation
import TestSupport
import Testing

@Suite struct CheckTests {
    private let header = #"{"type":"trace","version":1}"#

    private func check(
        _ lines: [String], _ arguments: [String] = []
    ) throws -> (status: CInt, findings: [String], errors: String) {
        let (status, output, errors) = try gimbal(
            nil, ["check", "-", "--json"] + arguments, input: lines.joined(separator: "\n"))
        let findings = try output.map { line in
            let json = try JSON(line)
            #expect(json["message"]?.string?.isEmpty == false && json["file"]?.string == "-")
            let severity = json["severity"]?.string == "error" ? "error" : "warning"
            return
                "\(json["line"]?.number ?? -1) \(severity) \(json["code"]?.string ?? "") \(json["field"]?.string ?? "")"
                .replacing(".0 ", with: " ")
        }
        return (status, findings, errors)
    }

    @Test func nothingIsFoundInTheSamples() throws {
        let samples = Files.list("Protocols/examples/traces", "ndjson").map(\.path)
        #expect(samples.count >= 5)
        let (status, output, errors) = try gimbal(nil, ["check"] + samples)
        #expect(status == 0 && output.isEmpty && errors.isEmpty, "\(output)\(errors)")
    }

    @Test func whatADaemonRejectsIsAnError() throws {
        let (status, findings, _) = try check([
            "", header, #"{"type":"pan","phase":"began"}"#, #"{"type":"pinch","phase":"began","timeMs":100}"#, "{",
            #"{"type":"pinch","phase":"changed","timeMs":110,"scale":0}"#, #"{"type":"swipe","timeMs":110}"#, "",
            #"{"type":"pinch","phase":"changed","timeMs":90,"scale":2}"#,
            #"[{"type":"pinch","phase":"ended","timeMs":120},{"type":"move","update":{"kind":"fly"}}]"#,
            #"{"type":"move","camera":"other","timeMs":120,"update":{"kind":"zoom-in"}}"#, header,
            "\"" + String(repeating: "x", count: 200_000) + "\"", #"{"type":"pinch","phase":"ended","timeMs":130}"#,
        ])
        #expect(status == 65)
        #expect(
            findings == [
                "3 error missing-field timeMs", "5 error invalid-json ", "6 error invalid-value scale",
                "7 error unknown-type type", "9 error time-reversed timeMs", "10 error invalid-value update.kind",
                "11 error invalid-value camera", "12 error invalid-value type", "13 error line-too-long ",
            ])
    }

    @Test func whatIsHardlyMeantIsAWarning() throws {
        let lines = [
            header, #"{"type":"pan","phase":"changed","timeMs":0}"#, #"{"type":"tilt","phase":"ended","timeMs":0}"#,
            #"{"type":"pan","phase":"began","timeMs":10}"#, #"{"type":"pan","phase":"ended","timeMs":3700000}"#,
            #"{"type":"rotate","phase":"began","timeMs":3700000,"gesture":"a"}"#,
            #"{"type":"double-tap","timeMs":3700001}"#,
            #"{"type":"trace-end"}"#, #"{"type":"stop"}"#,
        ]
        let (status, findings, _) = try check(lines)
        #expect(status == 0)
        #expect(try check(lines, ["--strict"]).status == 65)
        #expect(try check(lines, ["--strict", "--no-warnings"]).status == 0)
        #expect(
            findings == [
                "2 warning not-begun phase", "3 warning not-begun phase", "4 warning began-again phase",
                "5 warning time-jump timeMs", "6 warning never-ended phase", "9 warning after-end type",
            ])
        let quiet = try check(lines, ["--no-warnings"])
        #expect(quiet.status == 0 && quiet.findings.isEmpty)
    }

    /// A command cancels the gesture; its fingers may stay down and continue.
    @Test func whatACommandCancelsHasEndedAndMayGoOn() throws {
        let stop = #"{"type":"stop","timeMs":0}"#
        func pan(_ phase: String) -> String { #"{"type":"pan","phase":"\#(phase)","timeMs":0}"# }
        for lines in [
            [pan("began"), stop], [pan("began"), stop, pan("began"), pan("ended")],
            [pan("began"), stop, pan("changed"), pan("ended")], [pan("began"), stop, pan("ended")],
        ] {
            #expect(try check([header] + lines + [#"{"type":"trace-end"}"#]).findings == [], "\(lines)")
        }
        let twice = [header, pan("began"), stop, pan("changed"), pan("ended"), pan("ended")]
        #expect(try check(twice).findings == ["6 warning not-begun phase"])
    }

    @Test func fingersThatNeverLiftAreAWarning() throws {
        func touch(_ time: Int, _ fingers: String, _ surface: String) -> String {
            #"{"type":"touch","timeMs":\#(time),"surface":"\#(surface)","touches":[\#(fingers)]}"#
        }
        let finger = #"{"id":1,"x":2,"y":3}"#
        let (status, findings, _) = try check([
            header, touch(0, finger, "a"), touch(0, finger, "b"), touch(20, "", "a"), touch(30, finger, "a"),
            touch(40, "", "a"), touch(50, "{}", "a"), #"{"type":"trace-end"}"#,
        ])
        #expect(status == 65)
        #expect(findings == ["7 error missing-field touches.id", "3 warning never-ended touches"])
    }

    @Test func whatHasNoHeaderIsCheckedAllTheSame() throws {
        let gesture = #"{"type":"pan","phase":"cancelled"}"#
        #expect(
            try check([gesture, gesture], ["--no-warnings"]).findings == [
                "1 error missing-field type", "1 error missing-field timeMs", "2 error missing-field timeMs",
            ])
        #expect(
            try check([#"{"type":"trace","version":2}"#, gesture], ["--no-warnings"]).findings == [
                "1 error unsupported-version version", "2 error missing-field timeMs",
            ])
        #expect(try check([]).findings == ["1 error missing-field type"])
    }

    @Test func anotherTraceMayFollow() throws {
        let slow = #"{"type":"trace","version":1,"speed":0.001}"#
        let wrong = #"{"type":"move","timeMs":9000,"update":{}}"#
        let lines = [slow, #"{"type":"stop","timeMs":0}"#, wrong, #"{"type":"trace-end"}"#]
        #expect(try check(lines + lines).findings.map { $0.prefix(2) } == ["3 ", "7 "])
    }

    @Test func findingsAreBoundedAndCounted() throws {
        let lines = [header] + Array(repeating: "{", count: 5000)
        #expect(try check(lines).findings.count == 100)
        let (status, said, _) = try gimbal(nil, ["check", "--limit", "2", "-"], input: lines.joined(separator: "\n"))
        #expect(status == 65 && said.count == 3 && said[0].hasPrefix("-:2: error: ") && said[2].contains("4,998"))
    }

    /// Once, not for each of its lines.
    @Test func ofWhatIsNoTraceItSaysWhatItIs() throws {
        let events = Array(repeating: "E: 1.0 0003 0035 5", count: 500)
        #expect(try check(events).findings == ["1 error not-a-trace "])
        let (status, output, _) = try gimbal(nil, ["check", "-"], input: events.joined(separator: "\n"))
        let said = output.joined(separator: "\n")
        #expect(status == 65 && said.contains("evemu") && said.contains("gimbal convert"), "\(said)")
        #expect(try check(Array(repeating: "hello", count: 5000)).findings == ["1 error not-a-trace "])
        #expect(try check(["[", #"{"type":"touchend","timeStamp":1,"touches":[]}"#, "]"]).findings.count == 1)
        let stream = try gimbal(nil, ["run", Files.sample("tilt")]).output
        #expect(try check(stream).findings == ["1 error not-a-trace "])
        let golden = try gimbal(nil, ["check", "-"], input: stream.joined(separator: "\n"))
        #expect(golden.output.joined().contains("this is a camera's stream, not a trace"), "\(golden.output)")
    }

    /// Compressed or not, with or without a byte order mark.
    @Test func aTraceIsCheckedHoweverItComes() throws {
        let lines = [header, #"{"type":"stop","timeMs":0}"#, "{"]
        #expect(try check(["\u{feff}" + lines[0]] + lines[1...]).findings == ["3 error invalid-json "])
        let script = "gzip -c | '\(DaemonProcess.gimbal.path)' check -"
        let (status, output, errors) = try DaemonProcess.run(
            URL(fileURLWithPath: "/bin/bash"), ["-c", script], input: Array(lines.joined(separator: "\n").utf8))
        #expect(status == 65 && output.hasPrefix("-:3: error: "), "\(output)\(errors)")
    }

    @Test func whatCannotBeReadIsNoFinding() throws {
        #expect(try gimbal(nil, ["check", "/nonexistent"]).status == 66)
    }
}
