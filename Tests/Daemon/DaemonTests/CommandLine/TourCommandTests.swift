// `gimbal tour` in use: files of every kind, a daemon's camera, traces, and the effects on a live camera.

import Foundation
import TestSupport
import Testing

@Suite struct TourCommandTests {
    private static let samples = ["alps.json", "alps.kml", "lake.gpx"]

    private func sample(_ name: String) -> String {
        Files.root.appendingPathComponent("Protocols/examples/tours/\(name)").path
    }

    /// Returns a tour of two places that takes a fraction of a second.
    private func tour(_ durationMs: Int = 60) -> String {
        """
        {"type":"gimbal-tour","version":1,"keyframes":[
        {"position":{"target":{"latitude":1,"longitude":2},"zoom":5},"durationMs":0},
        {"position":{"target":{"latitude":1,"longitude":3},"zoom":6,"bearing":40,"viewingAngle":20},"durationMs":\(durationMs)}]}
        """
    }

    @Test func aTourIsFlownToItsEndAndSaysWhereTheCameraIs() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.subscriber(#","camera":"left""#)
        let (status, output, errors) = try gimbal(daemon, ["tour", "-", "--camera", "left"], input: tour())
        #expect(status == 0 && output.count == 1 && errors.isEmpty, "\(errors)")
        let position = try JSON(output.first ?? "")["position"]
        #expect(position?["zoom"]?.number == 6 && position?["target"]?["longitude"]?.number == 3)
        let events = try client.receive(until: "idle").map { try JSON($0) }
        #expect(events.first?["reason"]?.string == "animation" && events.count > 4)
    }

    @Test func withoutWaitingNothingIsPrintedAndTheCameraGoesOn() throws {
        let daemon = try DaemonProcess()
        let (status, output, errors) = try gimbal(daemon, ["tour", "-", "--no-wait"], input: tour(3_600_000))
        #expect(status == 0 && output.isEmpty && errors.isEmpty)
        #expect(try gimbal(daemon, ["wait", "--timeout", "0"]).status == 75)
    }

    @Test(arguments: samples) func aSampleIsATraceThatRuns(_ name: String) throws {
        let (status, trace, errors) = try gimbal(nil, ["tour", sample(name), "--trace", "--viewport", "600x400"])
        #expect(status == 0 && trace.count == 3 && errors.isEmpty, "\(errors)")
        #expect(try JSON(trace.first ?? "")["viewport"]?["width"]?.number == 600)
        let run = try gimbal(nil, ["run", "--summary", "-"], input: trace.joined(separator: "\n") + "\n")
        let summary = try JSON(run.output.last ?? "")
        #expect(
            trace.dropFirst().first?.contains(name == "alps.kml" ? #""durationMs":2000"# : #""durationMs":0"#) == true)
        #expect(run.status == 0 && summary["rejected"]?.number == 0 && (summary["durationMs"]?.number ?? 0) > 2000)
    }

    @Test(arguments: samples) func aSampleIsTheSameTourInAnyFormAndTheSameBytesAgain(_ name: String) throws {
        let json = try gimbal(nil, ["tour", sample(name), "--to", "json"])
        #expect(json.status == 0)
        let text = json.output.joined(separator: "\n") + "\n"
        #expect(try gimbal(nil, ["tour", "-", "--to", "json"], input: text).output == json.output)
        let kml = try gimbal(nil, ["tour", "-", "--to", "kml"], input: text)
        let back = try gimbal(nil, ["tour", "-", "--to", "kml"], input: kml.output.joined(separator: "\n") + "\n")
        #expect(kml.status == 0 && back.output == kml.output && back.errors.isEmpty)
    }

    @Test func theTourOfTheDocumentationIsOne() throws {
        let text = try Files.fenced("json tour", in: "Protocols/tours.md").joined(separator: "\n")
        let (status, output, errors) = try gimbal(nil, ["tour", "-", "--to", "json"], input: text)
        #expect(status == 0 && output.count == 5 && errors.isEmpty, "\(errors)")
    }

    @Test func whatIsLeftOutAndWhatIsWrongIsSaidWithItsLine() throws {
        let folder = Folder()
        let kml = try String(contentsOfFile: sample("alps.kml"), encoding: .utf8)
        let sound = try folder.write(
            "a.kml", kml.replacingOccurrences(of: "<gx:Wait>", with: "<gx:SoundCue/><gx:Wait>"))
        let left = try gimbal(nil, ["tour", sound, "--to", "json"])
        #expect(left.status == 0 && left.errors == "\(sound):17: a <gx:SoundCue> is left out: a camera only moves\n")
        let wrong = try folder.write("b.kml", kml.replacingOccurrences(of: "9000", with: "far"))
        let refused = try gimbal(nil, ["tour", wrong, "--to", "json", "-o", "-"])
        #expect(
            refused.status == 65 && refused.output.isEmpty
                && refused.errors == "gimbal: \(wrong):14: <range> must be a number from 0.001 to 1000000000\n")
        let other = try gimbal(nil, ["tour", sample("alps.kml"), "--from", "gpx", "--trace"])
        #expect(other.status == 65 && other.errors.contains("alps.kml:2: <kml> is not <gpx>"), "\(other.errors)")
        let trace = try gimbal(nil, ["tour", Files.sample("tilt"), "--trace"])
        #expect(trace.status == 65)
        #expect(trace.errors.hasSuffix("tilt.ndjson: this is a trace: \"gimbal replay\" plays it\n"), "\(trace.errors)")
    }

    @Test(.needs("unzip", "python3")) func aKMZFileIsReadByItsNameAndOneFromAPipeIsRefused() throws {
        let folder = Folder()
        let script = #"cp "$1" "$2/doc.kml" && cd "$2" && python3 -m zipfile -c alps.kmz doc.kml && "$0" tour"#
        func run(_ rest: String) throws -> (status: CInt, output: String, errors: String) {
            let words = [DaemonProcess.products.path + "/gimbal", sample("alps.kml"), folder.url.path]
            let ended = try DaemonProcess.run(URL(fileURLWithPath: "/bin/bash"), ["-c", "\(script) \(rest)"] + words)
            return (ended.status, ended.output, ended.errors)
        }
        let read = try run("alps.kmz --to json")
        let plain = try gimbal(nil, ["tour", sample("alps.kml"), "--to", "json"]).output
        #expect(read.output == plain.joined(separator: "\n") + "\n" && read.status == 0, "\(read.errors)")
        let piped = try run("- --to json < <(cat alps.kmz)")
        #expect(piped.status == 65 && piped.errors.contains("name the KMZ file itself"), "\(piped.errors)")
    }

    @Test func whatIsWrongWithAFileIsSaidBeforeADaemonIsAskedFor() throws {
        let words = ["tour", "-", "--socket", "/nonexistent/socket"]
        #expect(try gimbal(nil, words, input: "<kml><a></kml>").status == 65)
        #expect(try gimbal(nil, words, input: tour()).status == 69)
        let named = try gimbal(nil, ["tour", sample("alps.json"), "--name", "Four lakes", "--trace"])
        #expect(named.status == 65 && named.errors.contains("there are: Three lakes"), "\(named.errors)")
    }

    @Test func optionsOfLinesAreForLines() throws {
        let (status, _, errors) = try gimbal(nil, ["tour", sample("alps.kml"), "--speed-up", "2", "--trace"])
        #expect(status == 64 && errors.contains("are for lines that are followed"), "\(errors)")
    }

    @Test(arguments: ["json", "kml"]) func aLiveCameraLeavesATourThatBringsItToTheSamePlaces(_ format: String) throws {
        let daemon = try DaemonProcess()
        let folder = Folder()
        let file = folder.path("recorded")
        let running = try RunningProgram(
            ["tour", "--record", "--to", format, "-o", file], environment: ["GIMBAL_SOCKET": daemon.socket])
        try waitForSubscriber(daemon)
        for zoom in [5, 7, 6] {
            let words = ["animate", "--zoom", "\(zoom)", "--target", "\(zoom),20", "--duration", "50"]
            #expect(try gimbal(daemon, words).status == 0)
        }
        let ended = running.end(SIGINT)
        #expect(ended.status == 0, "\(ended)")
        let json = try gimbal(nil, ["tour", file, "--to", "json"])
        let tour = try JSON(json.output.joined())
        let keyframes = tour["keyframes"]?.array ?? []
        let zooms = keyframes.compactMap { $0["position"]?["zoom"]?.number?.rounded() }
        #expect(zooms == [2, 5, 7, 6])
        #expect(keyframes.dropFirst().allSatisfy { (0...50).contains($0["durationMs"]?.number ?? -1) })
    }
}
