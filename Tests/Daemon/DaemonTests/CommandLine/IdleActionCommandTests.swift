// `gimbal home`, `attract` and `traces` with a real daemon that has a folder of traces.

import Foundation
import TestSupport
import Testing

@Suite struct IdleActionCommandTests {
    private let folder = Folder()
    private let daemon: DaemonProcess

    init() throws {
        let header =
            #"{"type":"trace","version":1,"position":{"target":{"latitude":30,"longitude":20},"zoom":7}}"# + "\n"
        let zoom = #"{"type":"animate","timeMs":0,"update":{"kind":"zoom-to","zoom":9},"durationMs":600000}"# + "\n"
        for (name, text) in [
            ("tour.ndjson", header + zoom), ("bad.ndjson", header + "{}\n"), (".hidden", header),
            ("not a name", header),
        ] {
            try folder.write(name, text)
        }
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        daemon = try DaemonProcess(["--trace-dir", folder.path])
    }

    @Test func homeIsSetShownKeptAndRemoved() throws {
        let set = try answer(daemon, "home 48.8584,2.2945,14 --after 5m --duration 2s")["idleAction"]
        #expect(set?["afterMs"]?.number == 300_000 && set?["action"]?["durationMs"]?.number == 2000)
        #expect(set?["action"]?["position"]?["zoom"]?.number == 14)
        // The delay stays as it was set.
        let next = try answer(daemon, "home -33.9,151.2,9,-30,25")["idleAction"]
        #expect(next?["afterMs"]?.number == 300_000)
        #expect(next?["action"]?["position"]?["viewingAngle"]?.number == 25)
        #expect(try answer(daemon, "home")["idleAction"] == next)
        #expect(try answer(daemon, "home --none")["idleAction"] == nil)
    }

    @Test func tracesOfTheFolderArePlayedAndARestartInPlaceReadsThemAnew() throws {
        #expect(try answer(daemon, "traces")["traces"]?.array?.compactMap { $0["trace"]?.string } == ["tour.ndjson"])
        #expect(daemon.logs("bad.ndjson is skipped: line 2: ") && daemon.logs("pipe is skipped: "))
        #expect(try gimbal(daemon, ["attract", "bad.ndjson"]).status == 1)
        let watcher = try daemon.subscriber()
        let attract = try answer(daemon, "attract tour.ndjson --after 1s")["idleAction"]
        #expect(attract?["action"]?["trace"]?.string == "tour.ndjson")
        let way = try watcher.receive(until: "reset").map { try JSON($0) }
        #expect(way.dropLast().allSatisfy { $0["reason"]?.string == "attract" })
        #expect(way.last?["position"]?["zoom"]?.number == 7)
        try FileManager.default.copyItem(atPath: folder.path("tour.ndjson"), toPath: folder.path("again.ndjson"))
        kill(daemon.process.processIdentifier, SIGUSR2)
        try waitUntil("the next process has two traces") { try answer(daemon, "traces")["traces"]?.array?.count == 2 }
        // The replay continues.
        #expect(try answer(daemon, "player status")["trace"]?.string == "tour.ndjson")
        #expect(try answer(daemon, "move --zoom 5")["position"]?["zoom"]?.number == 5)
    }
}
