// `gimbal replay` on a terminal: its keys steer the real daemon, and the terminal is restored however it ends.

import Foundation
import TestSupport
import Testing

@Suite struct PlayerTests {
    private let folder = Folder()
    private let daemon: DaemonProcess

    init() throws { daemon = try DaemonProcess() }

    /// Writes a minute of a pan that moves every 50 ms, with two markers, to a file.
    private func minute() throws -> String {
        var lines = [#"{"type":"trace","version":1}"#]
        for step in 0...1200 {
            let time = step * 50
            if time == 20_000 || time == 40_000 {
                lines.append(#"{"type":"marker","timeMs":\#(time),"label":"at \#(time)"}"#)
            }
            let phase = step == 0 ? "began" : "changed"
            lines.append(
                #"{"type":"pan","phase":"\#(phase)","timeMs":\#(time),"translation":{"x":\#(step % 60),"y":0}}"#
            )
        }
        return try folder.write("minute.ndjson", lines.joined(separator: "\n") + "\n")
    }

    private func player(_ arguments: [String], columns: Int = 80) throws -> PseudoTerminal {
        try PseudoTerminal(
            DaemonProcess.gimbal, ["replay"] + arguments, columns: columns,
            environment: ["GIMBAL_SOCKET": daemon.socket])
    }

    /// Returns the replay's status from the daemon.
    private func status() throws -> JSON { try daemon.ask(#"{"type":"get-replay"}"#) }

    /// Waits until the replay has the expected status.
    private func wait(_ isSo: (JSON) -> Bool) throws -> JSON {
        var last = JSON.null
        try waitUntil("the replay stands as it should, and not as \(last.text)") {
            last = try status()
            return isSo(last)
        }
        return last
    }

    private func time(_ status: JSON) -> Double { status["timeMs"]?.number ?? -1 }

    // MARK: Keys

    @Test func eachKeySteersTheReplay() throws {
        let terminal = try player(["--paused", try minute()])
        try terminal.wait(for: "paused  0:00.000/1:00.000 ")
        #expect(terminal.isRaw)
        // The bar has a tick for each marker before the daemon has read that far.
        #expect(terminal.output.contains("┃"))
        // What a key means can depend on what the player shows: it must know what the one before has done.
        let keys: [(keys: String, shown: String, isSo: (JSON) -> Bool)] = [
            ("\u{1b}[C", "0:05.000/", { time($0) == 5000 }), ("\u{1b}OC", "0:10.000/", { time($0) == 10_000 }),
            ("\u{1b}[D", "0:05.000/", { time($0) == 5000 }), ("\u{1b}[D\u{1b}[D", "0:00.000/", { time($0) == 0 }),
            ("5", "0:30.000/", { time($0) == 30_000 }), ("]", "0:40.000/", { time($0) == 40_000 }),
            ("[", "0:20.000/", { time($0) == 20_000 }), ("0", "0:00.000/", { time($0) == 0 }),
            ("]", "0:20.000/", { time($0) == 20_000 }),
            (".", "0:20.0", { time($0) > 20_000 && time($0) <= 20_050 }),
            ("\u{1b}[A", "×2", { $0["speed"]?.number == 2 }),
            ("\u{1b}[B\u{1b}[B", "×0.5", { $0["speed"]?.number == 0.5 }),
            (" ", "playing", { $0["state"]?.string == "playing" }),
            (" ", "paused", { $0["state"]?.string == "paused" }),
        ]
        for (keys, shown, isSo) in keys {
            terminal.press(keys)
            let status = try wait(isSo)
            #expect(isSo(status), "\(keys.debugDescription): \(status.text)")
            try terminal.wait(for: shown)
        }
        terminal.press("q")
        #expect(try terminal.end() == 0)
        #expect(try status()["code"]?.string == "no-replay")
    }

    @Test func whatWasPlayedIsKeptUntilSomethingElseMovesTheCamera() throws {
        let terminal = try player(["--pause-at-end", "--speed", "max", try minute()])
        try terminal.wait(for: "at-end")
        terminal.press("5")
        #expect(time(try wait { $0["state"]?.string == "paused" }) == 30_000)
        terminal.press(" ")
        #expect(time(try wait { $0["state"]?.string == "at-end" }) == 60_000)
        func epoch() throws -> String? { try daemon.ask(#"{"type":"subscribe"}"#)["epoch"]?.string }
        let before = try epoch()
        terminal.press(" ")
        try waitUntil("it is played again") { try epoch() != before }
        _ = try wait { $0["state"]?.string == "at-end" }
        let moved = try daemon.ask(#"{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":7}}"#)
        #expect(moved["type"]?.string == "ok")
        #expect(try terminal.end() == 0)
        #expect(try status()["code"]?.string == "no-replay")
    }

    @Test func theCameraAndItsGestureAreShown() throws {
        let terminal = try player(["--paused", try minute()])
        try terminal.wait(for: "  0.0000,    0.0000 zoom  2.00 bearing   0.0 angle  0.0")
        terminal.press("5")
        try terminal.wait(for: "zoom  2.00 bearing   0.0 angle  0.0 pan")
        terminal.press("q")
        #expect(try terminal.end() == 0)
    }

    @Test func theKeysAreShownAndHiddenAgain() throws {
        let terminal = try player(["--paused", try minute()], columns: 40)
        try terminal.wait(for: "paused")
        terminal.press("?")
        try terminal.wait(for: "previous, next marker")
        try terminal.wait(for: "paused")
        terminal.press("?[")
        try terminal.wait(for: "no marker before")
        terminal.press("q")
        #expect(try terminal.end() == 0)
        // Output after the final status line is not drawn over.
        let line = terminal.drawn.prefix { !$0.contains("0 lines") }
        #expect(line.count > 10 && line.filter { $0.count > 39 } == [])
    }

    @Test func theLineFitsTheTerminalWhateverItsWidth() throws {
        let terminal = try player(["--paused", try minute()], columns: 200)
        try terminal.wait(for: "minute.ndjson paused")
        for columns in [40, 80, 20, 120] {
            terminal.resize(columns: columns)
            try terminal.wait(for: "\r\u{1b}[J\r")
            terminal.press("?")
            try terminal.wait(for: "[ ]  ")
            terminal.press("?")
            try terminal.wait(for: "paused")
            let line = terminal.drawn.last { $0.contains("paused") } ?? ""
            #expect(line.count < columns && line.count > columns / 2, "\(columns): \(line)")
        }
        terminal.press("q")
        #expect(try terminal.end() == 0)
    }

    @Test func aMarkGoesIntoWhatIsRecorded() throws {
        let terminal = try player(["--paused", try minute()])
        try terminal.wait(for: "paused")
        let client = try daemon.subscriber(#","events":["marker"]"#)
        terminal.press("5")
        _ = try wait { time($0) == 30_000 && $0["state"]?.string == "paused" }
        terminal.press("m")
        let marker = try JSON(client.receive(until: "marker").last ?? "")
        #expect(marker["label"]?.string == "mark 1" && time(marker) == 30_000, "\(marker.text)")
        try terminal.wait(for: "mark 1 set")
        terminal.press("q")
        #expect(try terminal.end() == 0)
    }

    @Test func aTraceInAPipeIsSteeredByTheTerminalBehindIt() throws {
        let command = "cat \"$1\" | \"$0\" replay --paused -"
        let terminal = try PseudoTerminal(
            URL(fileURLWithPath: "/bin/sh"), ["-c", command, DaemonProcess.gimbal.path, try minute()],
            environment: ["GIMBAL_SOCKET": daemon.socket])
        try terminal.wait(for: "paused")
        terminal.press("\u{1b}[C")
        _ = try wait { time($0) == 5000 }
        terminal.press("q")
        #expect(try terminal.end() == 0)
    }

    // MARK: Endings

    enum End { case key, interrupt, hangUp, terminate, twice, daemon }

    @Test(arguments: [
        (End.key, 0), (.interrupt, 130), (.hangUp, 129), (.terminate, 143), (.twice, 143), (.daemon, 69),
    ])
    func theTerminalIsAsItWasHoweverTheReplayEnds(_ end: End, status: Int) throws {
        // The shell keeps the terminal and prints its settings; the signal that ends the player does not end the shell.
        let script = """
            trap : INT HUP TERM; before=$(stty -g); "$0" replay --paused "$1"; echo "status $?"
            [ "$before" = "$(stty -g)" ] && echo as it was
            """
        let terminal = try PseudoTerminal(
            URL(fileURLWithPath: "/bin/bash"), ["-c", script, DaemonProcess.gimbal.path, try minute()],
            environment: ["GIMBAL_SOCKET": daemon.socket])
        try terminal.wait(for: "paused  0:00.0")
        #expect(terminal.isRaw)
        switch end {
        case .key: terminal.press("q")
        case .interrupt: terminal.press("\u{03}")
        case .hangUp: terminal.signal(SIGHUP)
        case .terminate: terminal.signal(SIGTERM)
        case .twice:
            terminal.signal(SIGTERM)
            terminal.signal(SIGTERM)
        case .daemon: _ = daemon.end(SIGKILL)
        }
        // The line is removed, and the cursor is shown again.
        try terminal.wait(for: "\r\u{1b}[J")
        try terminal.wait(for: "\u{1b}[?25h")
        try terminal.wait(for: "status \(status)")
        try terminal.wait(for: "\nas it was")
        _ = try terminal.end()
    }

    @Test func aStoppedPlayerLeavesTheTerminalAndPausesTheReplay() throws {
        let terminal = try PseudoTerminal(
            URL(fileURLWithPath: "/bin/bash"), ["--norc", "--noprofile", "-i"], columns: 400,
            environment: ["GIMBAL_SOCKET": daemon.socket, "PS1": "ready> ", "HISTFILE": ""])
        try terminal.wait(for: "ready> ")
        terminal.press("'\(DaemonProcess.gimbal.path)' replay '\(try minute())'; echo over $?\n")
        try terminal.wait(for: "playing")
        terminal.press("\u{1a}")
        try terminal.wait(for: "Stopped")
        try terminal.wait(for: "ready> ")
        let stopped = try wait { $0["state"]?.string == "paused" }
        #expect(time(stopped) < 60_000)
        terminal.press("stty -a | grep -o -- '-*icanon'\n")
        try terminal.wait(for: "\ricanon")
        terminal.press("fg\n")
        try terminal.wait(for: "playing")
        #expect(terminal.isRaw)
        _ = try wait { $0["state"]?.string == "playing" }
        terminal.press("q")
        try terminal.wait(for: "ready> ")
        terminal.press("exit\n")
        _ = try terminal.end()
    }

    @Test func inTheBackgroundItLeavesTheTerminalAlone() throws {
        let terminal = try PseudoTerminal(
            URL(fileURLWithPath: "/bin/bash"), ["--norc", "--noprofile", "-i"], columns: 400,
            environment: ["GIMBAL_SOCKET": daemon.socket, "PS1": "ready> ", "HISTFILE": ""])
        try terminal.wait(for: "ready> ")
        terminal.press("'\(DaemonProcess.gimbal.path)' replay '\(try minute())' &\n")
        _ = try wait { $0["state"]?.string == "playing" && time($0) > 500 }
        terminal.press("fg\n")
        try terminal.wait(for: "playing")
        terminal.press("q")
        try terminal.wait(for: "ready> ")
        terminal.press("exit\n")
        _ = try terminal.end()
    }

    // MARK: Not on a terminal

    @Test func inAPipeNoKeysAreReadAndTheOutputIsWhatItWas() throws {
        let arguments = ["replay", "--follow", "--speed", "max", Files.sample("tilt")]
        let quiet = try gimbal(daemon, arguments)
        let typing = try gimbal(daemon, arguments, input: "q q q")
        #expect(quiet.status == 0 && quiet.output == typing.output && quiet.errors == typing.errors)
        #expect(quiet.output.count > 10 && quiet.errors.isEmpty)
    }

    // MARK: Steering from another process

    @Test func thePlayerCommandSteersTheReplayOfAnother() throws {
        let terminal = try player(["--paused", try minute()])
        try terminal.wait(for: "paused")
        let steps: [(words: [String], isSo: (JSON) -> Bool)] = [
            (["seek", "0:12.5"], { time($0) == 12_500 }), (["seek", "-2s"], { time($0) == 10_500 }),
            (["seek", "+1s"], { time($0) == 11_500 }),
            (["step", "3"], { time($0) > 11_500 && time($0) < 12_000 }),
            (["speed", "0.25x"], { $0["speed"]?.number == 0.25 }),
            (["resume"], { $0["state"]?.string == "playing" }),
            (["pause"], { $0["state"]?.string == "paused" }), (["seek", "40s"], { time($0) == 40_000 }),
            (["seek", "--marker", "at 20000"], { time($0) == 20_000 }),
        ]
        for (words, isSo) in steps {
            let (status, output, errors) = try gimbal(daemon, ["player"] + words)
            #expect(status == 0 && output.isEmpty && errors.isEmpty, "\(words): \(errors)")
            _ = try wait(isSo)
        }
        let json = try answer(daemon, "player status --json")
        #expect(json["state"]?.string == "paused" && json["markers"]?.array?.count == 2)
        #expect(try gimbal(daemon, ["player", "end"]).status == 0)
        #expect(try terminal.end() == 69)
        let none = try gimbal(daemon, ["player", "pause"])
        #expect(none.status == 1 && none.errors.contains("no replay"))
    }

    @Test func theOptionsOfAReplayAreTheHeadersMembers() throws {
        let trace = try minute()
        let part = try gimbal(
            daemon,
            [
                "replay", "--speed", "max", "--follow", "--from", "1s", "--until", "0:02", "--loop", "2",
                trace,
            ])
        #expect(part.status == 0, "\(part.errors)")
        let types = try part.output.map { try JSON($0)["type"]?.string }
        #expect(types.count { $0 == "reset" } == 2 && types.last == "trace-ended")
        let times = try part.output.compactMap { try JSON($0)["timeMs"]?.number }
        #expect(times.min() ?? 0 >= 950 && times.max() == 2000)
        let time = try gimbal(daemon, ["convert", "--from", "2s", trace])
        #expect(time.status == 64 && time.errors.contains("Unknown option '--from'. Did you mean '--from-"), "\(time)")
    }
}
