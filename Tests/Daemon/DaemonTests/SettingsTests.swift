// Settings in a file: applied, checked, and reloaded by a restart in place.

import Foundation
import TestSupport
import Testing

@Suite struct SettingsTests {
    private let folder = Folder()
    private var file: String { folder.path("gimbald.conf") }

    private func write(_ text: String) throws { try folder.write("gimbald.conf", text) }

    private func check(_ text: String) throws -> (status: CInt, output: String) {
        try write(text)
        let (status, output, _) = try DaemonProcess.run(DaemonProcess.gimbald, ["--check-config", file])
        return (status, output.replacing(file, with: "FILE"))
    }

    /// Whether a daemon accepts two cameras, but not three.
    private func takesTwoCameras(_ daemon: DaemonProcess) throws -> Bool {
        let client = try SocketClient(daemon.socket)
        let answers = try (1...3).map {
            try client.ask(#"{"type":"move","id":1,"camera":"c\#($0)","update":{"kind":"zoom-in"}}"#)
        }
        return answers.map { $0["type"]?.string } == ["ok", "ok", "error"]
    }

    @Test func settingsAreTakenWhereTheFileIsNamed() throws {
        try write("# Two of them\r\n\n  cameras=2  \nlog-level = debug\n")
        let daemon = try DaemonProcess([
            "--cameras", "1", "--config", file, "--log-level", "warning", "--log-level", "info",
        ])
        #expect(try takesTwoCameras(daemon))
        #expect(daemon.end(SIGTERM) == 0 && !daemon.log().contains("connected"))
    }

    @Test func whereThereIsNoFileNothingIsSet() throws {
        let daemon = try DaemonProcess(["--config", file])
        #expect(daemon.end(SIGTERM) == 0)
        let (status, output, _) = try DaemonProcess.run(DaemonProcess.gimbald, ["--check-config", file])
        #expect(status == 1 && output == "there is no \(file)\n")
    }

    @Test func eachWrongSettingIsToldWithItsLine() throws {
        let (status, output) = try check(
            "cameras = many\n\nmode=999\nnonsense\nhelp = yes\nconfig = /x\nmax-lines = 3\nallow-user = \u{1}no\nlimit = x\nsocket =\n"
        )
        #expect(status == 1)
        #expect(
            output.split(separator: "\n").map { $0.prefix(48) }
                == [
                    "FILE:1: cameras \"many\" must be 1 to 65536", "FILE:3: mode \"999\" must be octal, 0 to 0777",
                    "FILE:4: \"nonsense\" must be NAME = VALUE",
                    "FILE:5: unknown setting \"help\": it must be an optio",
                    "FILE:6: unknown setting \"config\": it must be an opt",
                    "FILE:7: unknown setting \"max-lines\": it must be an ",
                    "FILE:8: allow-user: there is no user \"\\u{01}no\"",
                    "FILE:9: limit \"x\" must be a limit's name and a num",
                    "FILE:10: socket needs a path",
                ].map { $0.prefix(48) })
        let same = try check("socket = /tmp/a\nwatch-socket = /tmp/a\n")
        #expect(same.status == 1 && same.output == "FILE: --socket and --watch-socket must not be the same\n")
    }

    @Test func aDaemonWithWrongSettingsDoesNotBegin() throws {
        try write("cameras = 0\n")
        let (status, _, errors) = try DaemonProcess.run(DaemonProcess.gimbald, ["--config", file])
        #expect(status == 64 && errors == "gimbald: \(file):1: cameras \"0\" must be 1 to 65536; see gimbald --help\n")
    }

    @Test func theFileToBeginWithHasEveryOptionAndLimit() throws {
        let (_, text, _) = try DaemonProcess.run(DaemonProcess.gimbald, ["--generate-config"])
        let (_, help, _) = try DaemonProcess.run(DaemonProcess.gimbald, ["--help"])
        let settings = text.matches(of: /\n#([a-z-]+) = ([^\n]+)/).map { (name: String($0.1), value: $0.2) }
        // An option with its help, or a limit.
        let told = help.matches(of: /\n  (?:--)?([a-z-]+)(?: [A-Z]+)? {2,}/).map { String($0.1) }
        let notSet = ["limit", "config", "check-config", "version"]
        #expect(settings.map(\.name).sorted() == told.filter { !notSet.contains($0) }.sorted())
        #expect(try check(text) == (0, ""))
        let limits = settings.filter { Int($0.value) != nil }.map { "\($0.name) = \($0.value)\n" }
        #expect(limits.count > 10)
        #expect(try check(limits.joined()) == (0, ""))
    }

    @Test func aRestartInPlaceReadsSettingsAnewAndRefusesWrongOnes() throws {
        let daemon = try DaemonProcess(["--config", file])
        let client = try SocketClient(daemon.socket)
        try write("cameras = none\n")
        kill(daemon.process.processIdentifier, SIGUSR2)
        #expect(daemon.logs("not restarting in place: \(file):1: cameras \"none\" must be 1 to 65536\n"))
        try write("cameras = 2\n")
        kill(daemon.process.processIdentifier, SIGUSR2)
        #expect(daemon.logs(" continue\n"))
        #expect(try client.ask(#"{"type":"ping"}"#)["type"]?.string == "pong")
        #expect(try takesTwoCameras(daemon))
        #expect(daemon.end(SIGTERM) == 0)
    }
}
