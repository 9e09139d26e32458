// `gimbal run` compared with the real daemon: the same bytes from the same traces, valid or not.

import Foundation
import TestSupport
import Testing

@Suite struct RunTests {
    private let folder = Folder()

    /// Compares the output of both for these files, and their errors for invalid lines.
    private func compare(_ files: [String]) throws -> String {
        let daemon = try DaemonProcess()
        let run = try gimbal(nil, ["run"] + files)
        let replay = try gimbal(daemon, ["replay", "--follow", "--speed", "max"] + files)
        #expect(run.output.count == replay.output.count && run.status == replay.status)
        let apart = zip(run.output, replay.output).first { $0 != $1 }
        #expect(apart == nil, "\(apart.map { "\($0)" } ?? "")")
        #expect(run.errors == replay.errors)
        return run.output.joined(separator: "\n")
    }

    @Test func theSamplesMakeTheDaemonsBytes() throws {
        let samples = Files.list("Protocols/examples/traces", "ndjson").map(\.path)
        #expect(samples.count >= 5)
        let output = try compare(samples)
        #expect(output.matches(of: /"trace-ended"/).count == samples.count)
        #expect(try Schema.complaints(output.split(separator: "\n").map(String.init), from: .server) == "")
    }

    /// Invalid lines, several traces in one file, other cameras, times that begin anywhere: everything in the cases.
    @Test func theConformanceCasesMakeTheDaemonsBytes() throws {
        // A paused replay would wait for a client to resume it.
        let traces = try ConformanceCase.all().compactMap(\.trace).filter { !$0.contains("\"pause") }
        let files = try traces.enumerated().map { try folder.write("\(1000 + $0).ndjson", $1) }
        #expect(files.count > 90)
        _ = try compare(files)
    }

    @Test func recordingsOfFingersMakeTheDaemonsBytes() throws {
        let names = ["pinch.evemu", "web.ndjson", "webdriver.json", "pan.getevent", "tap.evtest"]
        let output = try compare(names.map { Files.root.appendingPathComponent("Tests/Fuzz/Recordings/\($0)").path })
        #expect(output.matches(of: /"trace-ended"/).count == names.count)
    }

    @Test func whatAHeaderSaysOfPlayingMakesTheDaemonsBytes() throws {
        let sample = try Files.text("Protocols/examples/traces/tilt.ndjson")
        func file(_ members: String) throws -> String {
            let text = sample.replacing(#""type":"trace""#, with: #""type":"trace",\#(members)"#)
            return try folder.write("\(UUID().uuidString).ndjson", text)
        }
        let part = try compare([file(#""loop":2,"fromMs":100,"untilMs":200,"idleTimeLimitMs":5,"durationMs":9"#)])
        #expect(part.matches(of: /"type":"reset"/).count == 2)
        // No client resumes a paused replay or ends an endless one.
        let whole = try gimbal(nil, ["run", file(#""durationMs":1"#)])
        let paused = try gimbal(
            nil, ["run", file(#""paused":true,"pauseOnMarkers":true,"pauseAtEnd":true,"loop":true"#)])
        #expect(whole.status == 0 && whole.output.count > 10 && paused.output == whole.output)
    }

    @Test func anotherCameraAndASummaryAreAskedFor() throws {
        let sample = Files.sample("tilt")
        let plain = try gimbal(nil, ["run", sample])
        let named = try gimbal(nil, ["run", "--camera", "left", sample])
        #expect(named.output.map { $0.replacing("\"left\"", with: "\"main\"") } == plain.output)
        let summary = try gimbal(nil, ["run", "--summary", sample])
        #expect(summary.status == 0 && summary.output == plain.output.suffix(1))
    }

    @Test func whatIsNoTraceIsNotPlayed() throws {
        let nothing = try gimbal(nil, ["run", "-"], input: "{\"type\":\"ping\"}\n")
        #expect(nothing.status == 65 && nothing.output.isEmpty && nothing.errors.contains("header"))
        let wrong = try gimbal(nil, ["run", "-"], input: "{\"type\":\"trace\",\"version\":2}\n")
        #expect(wrong.status == 65 && wrong.output.isEmpty && wrong.errors.contains(":1:"), "\(wrong.errors)")
        let missing = try gimbal(nil, ["run", "/nonexistent"])
        #expect(missing.status == 66)
    }
}
