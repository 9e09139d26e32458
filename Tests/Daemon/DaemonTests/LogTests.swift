// What the daemon logs, and its message when it cannot start.

import Foundation
import Service
import TestSupport
import Testing

@testable import gimbald

@Suite struct LogTests {
    @Test func debugNamesUserProcessCameraAndRefusedLines() throws {
        let daemon = try DaemonProcess(["--log-level", "debug"])
        let client = try SocketClient(daemon.socket)
        try client.send(#"{"type":"get-camera","camera":"shop"}"#)
        try client.send(#"{"type":"pinch","camera":"shop","phase":"changed","scale":-1}"#)
        try client.send(#"{"type":"remove-camera","camera":"shop","id":1}"#)
        while let line = client.receive(), try JSON(line)["id"]?.number != 1 {}
        client.close()
        #expect(daemon.end(SIGTERM) == 0)
        let log = daemon.log()
        let who = #"\(user \#(getuid())( "[^"]+")?, process \#(getpid())( "[^"]+")?\)"#
        for text in [
            "client [0-9]+ \(who) connected: [12] now", "client [0-9]+ \(who) created camera \"shop\"",
            "client [0-9]+ \(who) had line 2 refused, camera \"shop\": invalid-value in scale: scale must be ",
            "client [0-9]+ \(who) removed camera \"shop\"", "client [0-9]+ \(who) disconnected: 0 now",
        ] {
            #expect(log.range(of: text, options: .regularExpression) != nil, "\(text) is not in \(log)")
        }
    }

    @Test func atOtherLevelsNothingOfClientsIsLogged() throws {
        let daemon = try DaemonProcess()
        let client = try SocketClient(daemon.socket)
        try client.send(#"{"type":"nonsense"}"#)
        #expect(client.receive()?.contains("unknown-type") == true)
        #expect(daemon.end(SIGTERM) == 0)
        #expect(!daemon.log().contains("client"))
    }

    @Test func aClientThatErrsWithoutEndFillsNoLog() throws {
        let daemon = try DaemonProcess(["--log-level", "debug"])
        let client = try SocketClient(daemon.socket)
        for _ in 0..<20 {
            try client.send(Array(String(repeating: "{\n", count: 500).utf8))
            for _ in 0..<500 { #expect(client.receive() != nil) }
        }
        #expect(daemon.end(SIGTERM) == 0)
        let lines = daemon.log().split(separator: "\n")
        let told = lines.count { $0.contains(" refused") }
        #expect(told >= 90 && told < 10_000)
    }

    @Test func aRateLimitAdmitsItsBurstAndCountsTheRest() {
        var limit = RateLimit(burst: 2, windowMs: 1000)
        #expect([0, 1, 2, 999].map { limit.admit(at: $0) } == [0, 0, nil, nil])
        #expect([1000, 1001, 1002, 5000].map { limit.admit(at: $0) } == [2, 0, nil, 1])
    }

    @Test func countedNounsAreSingularForOneAlone() {
        #expect(["0 clients", "1 client", "2 clients"] == (0...2).map { counted($0, "client") })
    }

    // MARK: Starting

    @Test(.needs("systemd-socket-activate")) func whoWaitsForADaemonThatCannotStartIsToldWhy() throws {
        let activate = URL(fileURLWithPath: "/usr/bin/systemd-socket-activate")
        let path = Files.temporary().path
        defer { unlink(path) }
        let daemon = try RunningProgram(["--listen=\(path)", DaemonProcess.gimbald.path, "--nonsense"], of: activate)
        defer { if daemon.process.isRunning { daemon.process.terminate() } }
        let client = try SocketClient.whenListening(path)
        try? client.send(#"{"type":"ping","id":1}"#)
        let answer = try JSON(client.receive() ?? "")
        #expect(answer["type"]?.string == "error" && answer["line"]?.number == 0)
        #expect(answer["code"]?.string == "unavailable")
        #expect(answer["message"]?.string?.contains("--nonsense") == true)
        #expect(client.isClosed())
        #expect(daemon.wait().status == 64)
    }

    @Test(.needs("systemd-socket-activate")) func aModeThatAPassedSocketDoesNotTakeIsTold() throws {
        let path = Files.temporary().path
        defer { unlink(path) }
        let (process, errors) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/systemd-socket-activate")
        process.arguments = [
            "--listen=\(path)", DaemonProcess.gimbald.path, "--socket-group", "\(getgid())", "--mode", "0600",
            "--watch-mode", "0600",
        ]
        process.standardError = errors
        try process.run()
        defer { if process.isRunning { process.terminate() } }
        #expect(try SocketClient.whenListening(path).answersPing())
        process.terminate()
        let log = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let ignored = log.components(separatedBy: "ignored: ").dropFirst()
        #expect(ignored.count == 1 && ignored.first?.hasPrefix("--mode, --socket-group. ") == true, "\(log)")
    }

    @Test func theServiceManagersStatusSaysWhyTheDaemonCannotStart() throws {
        let manager = try NotifySocket()
        let (status, _, errors) = try DaemonProcess.run(
            DaemonProcess.gimbald, ["--max-cameras", "0"], environment: ["NOTIFY_SOCKET": manager.path])
        #expect(status == 64 && errors.hasPrefix("gimbald: --max-cameras"))
        #expect(manager.receive()?.hasPrefix("STATUS=--max-cameras \"0\" must be") == true)
    }

    @Test func aFolderThatIsMissingIsNamed() throws {
        let (status, _, errors) = try DaemonProcess.run(DaemonProcess.gimbald, ["--socket", "/nonexistent/sock"])
        #expect(status == 73)
        #expect(errors == "gimbald: the folder of /nonexistent/sock: No such file or directory\n")
        let daemon = try DaemonProcess(["--trace-dir", "/nonexistent"])
        #expect(daemon.logs("no trace can be played by name: open /nonexistent: No such file or directory"))
    }

    @Test func whoeverDoesNotReadTheLogKeepsNobodyWaiting() throws {
        let daemon = try DaemonProcess(["--log-level", "debug"])
        daemon.narrowLog()
        // Each connection logs two lines, and all of them are more than the log has room for.
        for _ in 0..<50 { #expect(try SocketClient(daemon.socket).answersPing()) }
        #expect(daemon.logs("connected"))
        #expect(daemon.end(SIGTERM) == 0 && daemon.log().contains("lines of this log: standard error was full"))
    }

    @Test(arguments: ["</dev/null", "<."]) func aDescriptorThatNobodyCanConnectToIsNamed(_ file: String) throws {
        let shell = URL(fileURLWithPath: "/bin/sh")
        let words = ["-c", "export LISTEN_FDS=1 LISTEN_PID=$$; exec 3\(file); exec \"$0\"", DaemonProcess.gimbald.path]
        let (status, _, errors) = try DaemonProcess.run(shell, words)
        #expect(status != 0 && errors.contains("descriptor 3 from the service manager"), "\(errors)")
    }

    @Test func aRestartInPlaceIsAReloadForTheServiceManager() throws {
        let manager = try NotifySocket()
        let daemon = try DaemonProcess(environment: ["NOTIFY_SOCKET": manager.path])
        #expect(manager.receive()?.hasPrefix("READY=1\n") == true)
        kill(daemon.process.processIdentifier, SIGUSR2)
        let reloading = manager.receive() ?? ""
        #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        // Before and after it hands everything over to the next process it asks for the time that this takes.
        var said = manager.receive()
        #expect(said?.hasPrefix("EXTEND_TIMEOUT_USEC=") == true && said?.contains("\nWATCHDOG=1") == true)
        while said?.hasPrefix("EXTEND_TIMEOUT_USEC=") == true { said = manager.receive() }
        #expect(said?.hasPrefix("READY=1\n") == true)
        kill(daemon.process.processIdentifier, SIGTERM)
        manager.readToTheEnd()
        daemon.process.waitUntilExit()
        #expect(daemon.process.terminationStatus == 0)
    }
}
