// `gimbal edit` and `gimbal shrink` as a shell sees them.

import Foundation
import TestSupport
import Testing

@Suite struct EditCommandTests {
    private let sample = Files.sample("pinch-and-rotate")

    @Test func anEditedTraceIsARightOne() throws {
        let edited = try gimbal(
            nil,
            [
                "edit", sample, "--move-to", "-33.9,151.2", "--viewport", "412x915", "--speed", "2", "--trim-idle",
                "100ms",
                "--zoom-range", "3,15",
            ])
        #expect(edited.status == 0 && edited.errors.isEmpty)
        let header = try JSON(edited.output.first ?? "")
        #expect(header["position"]?["target"]?["latitude"]?.number == -33.9 && header["maxZoom"]?.number == 15)
        let checked = try gimbal(nil, ["check", "--strict", "-"], input: edited.output.joined(separator: "\n"))
        #expect(checked.status == 0 && checked.output.isEmpty)
    }

    @Test func aTraceIsMadeSmallForACommand() throws {
        let trace = """
            {"type":"trace","version":1}
            {"type":"move","timeMs":0,"update":{"kind":"zoom-to","zoom":4}}
            {"type":"pan","phase":"began","timeMs":10}
            {"type":"pan","phase":"ended","timeMs":20,"translation":{"x":10,"y":0}}
            {"type":"move","timeMs":30,"update":{"kind":"zoom-to","zoom":6}}
            {"type":"stop","timeMs":40}
            """
        let small = try gimbal(
            nil, ["shrink", "-", "--", DaemonProcess.gimbal.path, "expect", "{}", "--zoom-between", "2,5"], input: trace
        )
        #expect(small.status == 0 && small.output.count == 3, "\(small.output)")
        let fails = try gimbal(
            nil, ["expect", "-", "--zoom-between", "2,5"], input: small.output.joined(separator: "\n"))
        #expect(fails.status == 1)
        let never = try gimbal(nil, ["shrink", sample, "--", "true", "{}"])
        #expect(never.status == 1 && never.errors.contains("does not fail"))
    }

    @Test func theFileOfATrialIsInTheFolderForSuchFilesAndGoesWithTheCommand() throws {
        let folder = Folder()
        let trials = [(["sh", "-c", "echo {} >$TMPDIR/seen; exit 3"], 0), (["no-such-program", "{}"], 69)]
        for (command, status) in trials {
            let (found, _, errors) = try DaemonProcess.run(
                DaemonProcess.gimbal, ["shrink", "--limit", "1", sample, "--"] + command,
                environment: ["TMPDIR": folder.path])
            #expect(found == CInt(status), "\(errors)")
            #expect(folder.names == ["seen"])
        }
        let seen = try String(contentsOfFile: folder.path("seen"), encoding: .utf8)
        #expect(seen.hasPrefix(folder.path + "/gimbal-") && seen.hasSuffix(".ndjson\n"))
    }
}
