// `gimbal` as a user's shell sees it: in a pipe, with its exit status.

import Foundation
import Service
import TestSupport
import Testing

/// Runs `gimbal` with a daemon, or with a path where there is none.
func gimbal(
    _ daemon: DaemonProcess?, _ arguments: [String], input: String = ""
) throws -> (status: CInt, output: [String], errors: String) {
    let socket = daemon?.socket ?? "/nonexistent/gimbal.sock"
    let (status, output, errors) = try DaemonProcess.run(
        DaemonProcess.gimbal, arguments, input: Array(input.utf8), environment: ["GIMBAL_SOCKET": socket])
    return (status, output.split(separator: "\n").map(String.init), errors)
}

/// Runs `gimbal` with a line of words; returns its one line of JSON.
func answer(_ daemon: DaemonProcess, _ line: String) throws -> JSON {
    let (status, output, errors) = try gimbal(daemon, line.split(separator: " ").map(String.init))
    #expect(status == 0 && output.count == 1 && errors.isEmpty, "\(line): \(status) \(output) \(errors)")
    return try JSON(output.first ?? "")
}

/// Waits until a client of a daemon has subscribed.
func waitForSubscriber(_ daemon: DaemonProcess) throws {
    try waitUntil("a client has subscribed") { try daemon.ask(#"{"type":"stats"}"#)["subscriptions"]?.number == 1 }
}

/// Returns the subcommands that the help lists.
func subcommands() throws -> [String] {
    let help = try gimbal(nil, ["--help"]).output.drop { !$0.hasSuffix("SUBCOMMANDS:") }
    return help.compactMap { $0.firstMatch(of: /^ {2}([a-z-]+)\s/).map { String($0.1) } }
}

@Suite struct CommandLineTests {
    private let daemon: DaemonProcess

    init() throws { daemon = try DaemonProcess() }

    @Test func theFirstExamplesOfTheHelpWorkAsTheyArePrinted() throws {
        let folder = Folder()
        let help = try gimbal(nil, ["--help"]).output
        let examples = help.drop { $0 != "Examples:" }.dropFirst().prefix { $0.hasPrefix("  gimbal ") }
        #expect(examples.count == 3)
        for example in examples {
            let (status, _, errors) = try DaemonProcess.run(
                URL(fileURLWithPath: "/bin/sh"), ["-c", "cd \(folder.path) && \(example)"],
                environment: ["GIMBAL_SOCKET": daemon.socket, "PATH": "\(DaemonProcess.products.path):/usr/bin:/bin"])
            #expect(status == 0 && errors.isEmpty, "\(example): \(errors)")
        }
        #expect(try gimbal(daemon, ["get"]).output.first?.contains(#""zoom":14,"#) == true)
    }

    private func type(_ line: String) throws -> String? { try JSON(line)["type"]?.string }

    @Test func aReplayEndsWithItsSummary() throws {
        let traces = [Files.sample("tilt"), Files.sample("limits")]
        let (status, output, errors) = try gimbal(daemon, ["replay", "--speed", "max"] + traces)
        #expect(status == 0 && errors.isEmpty, "\(errors)")
        #expect(try output.map(type) == ["trace-ended", "trace-ended"])
    }

    @Test func followingPrintsTheSameBytesAtAnySpeed() throws {
        let fast = try gimbal(daemon, ["replay", "--follow", "--speed", "max", Files.sample("tilt")])
        let slow = try gimbal(daemon, ["replay", "--follow", "--speed", "40", Files.sample("tilt")])
        let named = try gimbal(
            daemon, ["replay", "--follow", "--speed", "max", "--camera", "other", Files.sample("tilt")])
        #expect(fast.output.count > 100 && fast.output == slow.output)
        #expect(named.output.map { $0.replacing("\"other\"", with: "\"main\"") } == fast.output)
        #expect(try Schema.complaints(fast.output, from: .server) == "")
    }

    @Test func aRejectedLineIsNamedAndTellsTheExitStatus() throws {
        let trace = """
            {"type":"trace","version":1,"speed":"max"}
            {"type":"pinch","phase":"began","timeMs":0}
            {"type":"pinch","phase":"changed","timeMs":10,"scale":0}
            {"type":"pinch","phase":"changed","timeMs":10,"scale":2}
            """
        let (status, output, errors) = try gimbal(daemon, ["replay", "-"], input: trace)
        #expect(status == 1)
        #expect(errors.contains(":3:") && errors.contains("scale"))
        let summary = try JSON(output.last ?? "")
        #expect(summary["rejected"]?.number == 1 && summary["position"]?["zoom"]?.number == 3)
    }

    @Test func whatIsNoTraceIsNotSent() throws {
        let (status, _, errors) = try gimbal(
            daemon, ["replay", "-"], input: #"{"type":"move","update":{"kind":"zoom-in"}}"#)
        #expect(status == 65 && !errors.isEmpty)
        #expect(try answer(daemon, "get")["position"]?["zoom"]?.number == 2)
    }

    @Test func linesAreSentAndAnswered() throws {
        let fine = try gimbal(daemon, ["send", #"{"type":"ping","id":1}"#, #"{"type":"ping","id":2}"#])
        #expect(fine.status == 0 && fine.output == [#"{"type":"pong","id":1}"#, #"{"type":"pong","id":2}"#])
        let wrong = try gimbal(daemon, ["send"], input: "{\"type\":\"fly\"}\n{\"type\":\"ping\"}\n")
        #expect(wrong.status == 1 && wrong.output.count == 2)
    }

    @Test func aDaemonThatGoesBeforeItHasAnsweredIsMissed() throws {
        let server = try StandIn { _, connection in
            var buffer = [UInt8](repeating: 0, count: 4096)
            _ = recv(connection, &buffer, buffer.count, 0)
        }
        let (status, output, errors) = try gimbal(nil, ["send", "--socket", server.path, #"{"type":"cameras"}"#])
        #expect(status == 69 && output.isEmpty && errors.contains("the daemon ended the connection"), "\(errors)")
    }

    @Test func aDaemonThatGoesBeforeATraceHasEndedIsMissed() throws {
        let sender = try RunningProgram(
            ["send", "--socket", daemon.socket, #"{"type":"trace","version":1}"#, #"{"type":"stop","timeMs":0}"#]
                + [#"{"type":"stop","timeMs":3600000}"#])
        try waitUntil("there is a replay") {
            try daemon.ask(#"{"type":"get-replay","id":1}"#)["type"]?.string != "error"
        }
        #expect(daemon.end(SIGKILL) == -SIGKILL)
        let (status, output, errors) = sender.wait()
        #expect(status == 69 && output.isEmpty && errors.contains("the daemon ended the connection"), "\(errors)")
    }

    @Test(arguments: [
        (
            "idle,camera-changed", #"{"type":"move","update":{"kind":"zoom-in"}}"#,
            ["camera-changed", "idle", "camera-changed", "idle"]
        ), ("marker", #"{"type":"marker","label":"here"}"#, ["marker", "marker"]),
    ])
    func aWatcherSeesWhatItAsksFor(events: String, line: String, seen: [String]) throws {
        let watcher = try RunningProgram(
            ["watch", "--events", events, "--count", "\(seen.count)", "--socket", daemon.socket])
        let client = try SocketClient(daemon.socket)
        try waitForSubscriber(daemon)
        for _ in 0..<2 { try client.send(line) }
        let (status, text, _) = watcher.wait()
        #expect(status == 0)
        #expect(try text.split(separator: "\n").map { try type(String($0)) } == seen)
    }

    @Test func aReplayThatAnotherEndsSaysSo() throws {
        let folder = Folder()
        let trace = try folder.write(
            "trace.ndjson",
            """
            {"type":"trace","version":1}
            {"type":"move","timeMs":0,"update":{"kind":"zoom-in"}}
            {"type":"move","timeMs":3600000,"update":{"kind":"zoom-in"}}
            {"type":"trace-end"}

            """)
        let replay = try RunningProgram(["replay", "--socket", daemon.socket, trace])
        let other = try SocketClient(daemon.socket)
        try waitUntil("there is a replay to be ended") {
            try other.ask(#"{"type":"end-replay","id":1}"#)["type"]?.string == "ok"
        }
        let (status, output, errors) = replay.wait()
        let told = try JSON(output)
        #expect(told["type"]?.string == "trace-ended" && told["cut"]?.bool == true)
        #expect(status == 69 && errors.contains("was ended early"))
    }

    @Test func whoWatchesACameraThatIsNotThereIsToldSo() throws {
        #expect(try gimbal(daemon, ["move", "--camera", "left", "--zoom", "9"]).status == 0)
        let watcher = try RunningProgram(
            ["watch", "--camera", "lefd", "--events", "idle", "--count", "1", "--socket", daemon.socket])
        try waitForSubscriber(daemon)
        _ = try answer(daemon, "move --camera lefd --zoom 5")
        let (status, output, errors) = watcher.wait()
        #expect(status == 0 && output.contains("idle"))
        #expect(errors.contains("no camera lefd; there is left. Did you mean left?; waiting for it"), "\(errors)")
    }

    @Test func aWatcherOfAllComesBackToTheNextDaemon() throws {
        let state = Folder()
        let daemon = try DaemonProcess(["--state-dir", state.path])
        let watcher = try RunningProgram(
            ["watch", "--all", "--reconnect", "--events", "idle", "--count", "4", "--socket", daemon.socket])
        // Without a terminal, notices about subscriptions are not printed: the first line is an event. Until the
        // watcher has subscribed, no client sees what the camera does.
        let first = try SocketClient(daemon.socket)
        try waitUntil("the watcher has subscribed to all") {
            try first.ask(#"{"type":"clients"}"#)["clients"]?.array?.contains { $0["all"]?.bool == true } == true
        }
        try first.send(#"{"type":"move","camera":"a","update":{"kind":"zoom-in"}}"#)
        try first.send(#"{"type":"move","camera":"b","update":{"kind":"zoom-in"}}"#)
        var text = Data()
        while text.count(where: { $0 == 0x0a }) < 2 { text += watcher.output.fileHandleForReading.availableData }
        #expect(daemon.end(SIGTERM) == 0)
        let next = try DaemonProcess(["--state-dir", state.path], socket: daemon.socket)
        let second = try SocketClient(next.socket)
        // Whether or not the watcher is back, nothing is lost.
        try second.send(#"{"type":"move","camera":"b","update":{"kind":"zoom-in"}}"#)
        try second.send(#"{"type":"move","camera":"a","update":{"kind":"zoom-in"}}"#)
        let (status, rest, said) = watcher.wait()
        #expect(status == 0)
        let lines = try (String(decoding: text, as: UTF8.self) + rest).split(separator: "\n").map { try JSON($0) }
        #expect(
            lines.map { $0["camera"]?.string } == ["a", "b", "b", "a"]
                || lines.map { $0["camera"]?.string } == ["a", "b", "a", "b"])
        #expect(lines.map { $0["seq"]?.number } == [3, 3, 6, 6])
        #expect(said.contains("waiting for it") && !said.contains("missed"))
    }

    /// Ends a watcher's daemon, keeps it away for several attempts to reconnect, and starts it again; returns the idle
    /// event that the watcher has seen, with its exit status.
    ///
    /// - Parameters:
    ///   - watcher: starts it, to end after one idle event.
    ///   - meanwhile: what happens while the daemon is away, at its socket's path.
    private func watched(
        from socket: String, by watcher: () throws -> RunningProgram, meanwhile: () throws -> Void
    ) throws -> (status: CInt, event: JSON?) {
        let daemon = try DaemonProcess(socket: socket)
        let running = try watcher()
        try waitForSubscriber(daemon)
        #expect(daemon.end(SIGTERM) == 0)
        try meanwhile()
        let next = try DaemonProcess(socket: socket)
        try waitUntil("the watcher is back, or has ended") {
            try !running.process.isRunning || next.ask(#"{"type":"stats"}"#)["subscriptions"]?.number == 1
        }
        _ = try next.ask(#"{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":5}}"#)
        let (status, output, _) = running.wait()
        return (status, try output.split(separator: "\n").last.map { try JSON(String($0)) })
    }

    /// Long enough for two attempts to reconnect.
    private func waitForAttempts() { usleep(500_000) }

    @Test func aWatcherWaitsForItsOwnDaemon() throws {
        let (own, other) = (Folder(), Folder())
        let another = try DaemonProcess(socket: other.path("gimbal.sock"))
        let (status, event) = try watched(from: own.path("gimbal.sock")) {
            try RunningProgram(
                ["watch", "--reconnect", "--events", "idle", "--count", "1"],
                environment: ["GIMBAL_SOCKET": "", "RUNTIME_DIRECTORY": own.path, "XDG_RUNTIME_DIR": other.path])
        } meanwhile: {
            waitForAttempts()
            // A watcher that has moved there ends with this.
            _ = try another.ask(#"{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":7}}"#)
        }
        #expect(status == 0 && event?["position"]?["zoom"]?.number == 5)
    }

    /// Between making its socket and admitting its group, a daemon refuses a member of that group. Here root is refused,
    /// without the capabilities by which it would ignore a file's mode.
    @Test(.needsRoot, .needs("setpriv")) func aWatcherWaitsForADaemonThatDoesNotAdmitItYet() throws {
        let folder = Folder()
        let socket = folder.path("gimbal.sock")
        let (status, event) = try watched(from: socket) {
            try RunningProgram(
                [
                    "--bounding-set=-all", DaemonProcess.gimbal.path, "watch", "--reconnect", "--events", "idle",
                    "--count", "1", "--socket", socket,
                ], of: URL(fileURLWithPath: "/usr/bin/setpriv"))
        } meanwhile: {
            let closed = try ListeningSocket(path: socket, mode: 0)
            waitForAttempts()
            closed.remove()
            close(closed.descriptor)
        }
        #expect(status == 0 && event?["position"]?["zoom"]?.number == 5)
    }

    @Test func noDaemonIsOneClearLine() throws {
        for arguments in [["get"], ["watch"], ["record"], ["send", "{}"], ["replay", Files.sample("tilt")]] {
            let (status, output, errors) = try gimbal(nil, arguments)
            #expect(status == 69 && output.isEmpty)
            #expect(errors.contains("/nonexistent/gimbal.sock") && errors.contains("gimbald"), "\(errors)")
        }
    }

    @Test func everyCommandHasExamplesInItsHelp() throws {
        let commands = try subcommands()
        #expect(Set(["replay", "watch", "send", "get", "move", "fit"]).isSubset(of: commands))
        for command in commands {
            let (status, output, _) = try gimbal(nil, ["help", command])
            #expect(status == 0)
            #expect(output.contains { $0.contains("  gimbal \(command)") && !$0.contains("USAGE") }, "\(command)")
        }
    }

    @Test func theReadmeNamesOnlyWhatThereIs() throws {
        let readme = try Files.text("README.md")
        let help = try gimbal(nil, ["--help"]).output.joined(separator: "\n")
        for match in readme.matches(of: /^gimbal ([a-z]+)/.anchorsMatchLineEndings()) {
            #expect(help.contains("  \(match.1)"), "gimbal \(match.1)")
        }
        for match in readme.matches(of: /`make ([a-z]+)`/) {
            #expect(try Files.text("Makefile").contains("\n\(match.1):"), "make \(match.1)")
        }
        for match in readme.matches(of: /\]\(([A-Za-z\/.]+)\)/) {
            let path = Files.root.appendingPathComponent(String(match.1)).path
            #expect(FileManager.default.fileExists(atPath: path), "\(match.1)")
        }
        // The daemon accepts the lines in the README.
        let lines = readme.split(separator: "\n").filter { $0.hasPrefix("{\"type\"") && !$0.contains("subscribe") }
        #expect(lines.count == 3)
        #expect(try gimbal(daemon, ["send"] + lines.map(String.init)).output.isEmpty)
    }

    @Test func theReadmesCommandsSucceedInTheirOrder() throws {
        let blocks = try Files.text("README.md").components(separatedBy: "\n```")
        let block = try #require(blocks.first { $0.contains("\ngimbal get\n") })
        let commands = block.split(separator: "\n").filter { $0.hasPrefix("gimbal ") }
        // Other tests run what goes on until ^C.
        let ending = commands.filter { !$0.contains("until ^C") }
        #expect(ending.count > 10 && ending.count == commands.count - 2)
        let folder = Folder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("Protocols"), withDestinationPath: Files.root.appendingPathComponent("Protocols").path)
        let programs = DaemonProcess.gimbal.deletingLastPathComponent().path
        for command in ending {
            let (status, _, errors) = try RunningProgram(
                ["-c", "cd '\(folder.path)' && PATH='\(programs)':$PATH && \(command)"],
                of: URL(fileURLWithPath: "/bin/sh"), environment: ["GIMBAL_SOCKET": daemon.socket]
            ).wait()
            #expect(status == 0, "\(command): \(errors)")
        }
    }

    /// Sends lines, one of which subscribes, then kills the daemon; returns how that ended.
    private func sendUntilTheDaemonGoes(_ lines: String...) throws -> (status: CInt, output: String, errors: String) {
        let sender = try RunningProgram(["send", "--socket", daemon.socket] + lines)
        try waitForSubscriber(daemon)
        #expect(daemon.end(SIGKILL) == -SIGKILL)
        return sender.wait()
    }

    @Test func aDaemonThatGoesIsMissedByWhoFollows() throws {
        let (status, output, errors) = try sendUntilTheDaemonGoes(#"{"type":"subscribe"}"#)
        #expect(status == 69 && output.contains("subscribed"))
        #expect(errors.contains("the daemon ended the connection"))
        let again = try DaemonProcess()
        #expect(try gimbal(again, ["send", #"{"type":"subscribe"}"#, #"{"type":"unsubscribe","id":1}"#]).status == 0)
    }

    @Test func aTraceThatAnotherClientEndsIsAnAnswer() throws {
        let sender = try RunningProgram([
            "send", "--socket", daemon.socket, #"{"type":"trace","version":1,"speed":1}"#,
            #"{"type":"move","timeMs":0,"update":{"kind":"zoom-in"}}"#,
            #"{"type":"move","timeMs":3600000,"update":{"kind":"zoom-in"}}"#,
        ])
        let other = try SocketClient(daemon.socket)
        try waitUntil("the trace plays") {
            try other.send(#"{"type":"end-replay","id":1}"#)
            return other.receive()?.contains(#""ok""#) == true
        }
        let (status, output, errors) = sender.wait()
        #expect(status == 0 && output.contains(#""cut":true"#) && errors == "")
    }

    @Test func anIdThatSaysUnsubscribeEndsNoSubscription() throws {
        let (status, _, errors) = try sendUntilTheDaemonGoes(
            #"{"type":"subscribe"}"#, #"{"type":"ping","id":"unsubscribe"}"#)
        #expect(status == 69 && errors.contains("the daemon ended the connection"))
    }

    @Test func anAnimationToWhereTheCameraIsIsOverSoon() throws {
        // Waiting for an hour would be noticed.
        let (status, output, _) = try gimbal(daemon, ["animate", "--zoom", "2", "--duration", "3600000"])
        #expect(status == 0 && output.count == 1)
    }

    @Test func whatIsTypedIsWhatIsSaid() throws {
        #expect(try gimbal(nil, ["replay", "--speed", "-1", "x"]).errors.contains("'-1'"))
        #expect(try answer(daemon, "get --camera -5 --create")["camera"]?.string == "-5")
        let none = try gimbal(nil, ["get", "--socket", "/etc/passwd"])
        #expect(none.status == 64 && none.errors.contains("/etc/passwd is not a socket"))
    }
}
