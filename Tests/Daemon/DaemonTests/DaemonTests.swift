// The daemon over a real socket: the protocol's cases, foreign clients, signals, and how it starts and ends.

import Foundation
import TestSupport
import Testing

@Suite struct DaemonTests {
    // MARK: The protocol

    @Test func everyConformanceCaseHoldsOverASocket() throws {
        var emitted: [String] = []
        for testCase in try ConformanceCase.all() {
            let daemon = try DaemonProcess(watches: true)
            do {
                let connect = { try SocketClient($0 ? daemon.watchSocket : daemon.socket) }
                try testCase.play(connect, emitted: { emitted.append($0) })
            } catch {
                Issue.record("\(error); it wrote: \(daemon.end(SIGTERM)) \(daemon.log())")
            }
        }
        #expect(try Schema.complaints(emitted, from: .server) == "")
    }

    @Test func everySubscriberGetsTheSameBytesAsEveryOther() throws {
        let daemon = try DaemonProcess()
        let subscribers = try (0..<20).map { _ in try daemon.subscriber() }
        for trace in try Files.list("Protocols/examples/traces", "ndjson").map({ try Data(contentsOf: $0) }) {
            let feed = try SocketClient(daemon.socket)
            let end = try #require(trace.firstIndex(of: 0x0a))
            guard case .object(var header) = try JSON(String(decoding: trace[..<end], as: UTF8.self)) else {
                Issue.record("a trace has no header")
                continue
            }
            header["speed"] = .string("max")
            try feed.send(Array(JSON.object(header).text.utf8) + trace[end...])
            feed.halfClose()
            _ = try feed.receive(until: "trace-ended")
            let last = try daemon.ask(#"{"type":"get-camera"}"#)["seq"]
            let streams = try subscribers.map { subscriber -> [String] in
                var lines: [String] = []
                while let line = subscriber.receive() {
                    lines.append(line)
                    if try JSON(line)["seq"] == last { break }
                }
                return lines
            }
            #expect(streams.allSatisfy { $0 == streams[0] } && streams[0].count > 10)
        }
    }

    @Test(.needs("socat")) func socatPlaysATraceAndSeesItsEvents() throws {
        let socat = URL(fileURLWithPath: "/usr/bin/socat")
        let daemon = try DaemonProcess()
        let trace = try Files.data("Protocols/examples/traces/pinch-and-rotate.ndjson")
        let input = Array("{\"type\":\"subscribe\"}\n".utf8) + trace + Array("{\"type\":\"unsubscribe\"}\n".utf8)
        let (status, output, _) = try DaemonProcess.run(
            socat, ["-t", "30", "-", "UNIX-CONNECT:\(daemon.socket)"], input: input)
        let lines = output.split(separator: "\n")
        #expect(status == 0 && lines.count > 50)
        #expect(lines.contains { $0.hasPrefix(#"{"type":"trace-ended""#) })
    }

    /// A trace that exceeds the read-ahead, so that the daemon does not read while it plays. The socket takes the rest
    /// at once, on any kernel: the test does not wait here.
    private var longTrace: [UInt8] {
        var lines = [#"{"type":"trace","version":1}"#]
        for time in 0..<2300 {
            lines.append(#"{"type":"rotate","phase":"changed","timeMs":\#(time * 100),"rotationDeg":\#(time)}"#)
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    private func waitUntilReplays(_ client: SocketClient, are count: Double) throws {
        try waitUntil("\(count) replays") { try client.counter("replays") == count }
    }

    @Test func whoVanishesIsNoticedEvenWhileNothingIsReadFromIt() throws {
        let daemon = try DaemonProcess()
        let (feed, other) = (try SocketClient(daemon.socket), try SocketClient(daemon.socket))
        try feed.send(longTrace)
        try waitUntilReplays(other, are: 1)
        feed.close()
        try waitUntilReplays(other, are: 0)
    }

    /// Queries repeatedly: each query is a turn of the loop, which sees everything sent or closed before.
    private func keepsPlaying(_ other: SocketClient) throws -> Bool {
        try (0..<100).allSatisfy { _ in try other.counter("replays") == 1 }
    }

    @Test func aReplayOfTheLeastSpeedGoesOn() throws {
        let daemon = try DaemonProcess()
        let (feed, other) = (try SocketClient(daemon.socket), try SocketClient(daemon.socket))
        try feed.send(#"{"type":"trace","version":1,"speed":1e-300}"#)
        try feed.send(#"{"type":"rotate","phase":"began","timeMs":-4e13}"#)
        try feed.send(#"{"type":"rotate","phase":"changed","timeMs":5e13}"#)
        try waitUntilReplays(other, are: 1)
        try waitUntil("it has come to a thousandth of a millisecond") {
            (try? other.ask(#"{"type":"get-replay"}"#)["timeMs"]?.number).map { $0 >= 0.001 } ?? false
        }
    }

    @Test func whoSaysThatItSendsNoMoreMayGoWhileItsReplayGoesOn() throws {
        let daemon = try DaemonProcess()
        let (feed, other) = (try SocketClient(daemon.socket), try SocketClient(daemon.socket))
        try feed.send(longTrace)
        feed.halfClose()
        try waitUntilReplays(other, are: 1)
        #expect(try keepsPlaying(other))
        feed.close()
        #expect(try keepsPlaying(other))
    }

    @Test func whoHalfClosesMayGoWithoutReadingItsAnswers() throws {
        let daemon = try DaemonProcess()
        let (feed, other) = (try SocketClient(daemon.socket), try SocketClient(daemon.socket))
        let moves = (0..<4000).map {
            "{\"type\":\"move\",\"id\":1,\"timeMs\":\(Double($0) / 4),\"update\":{\"kind\":\"set-bearing\",\"bearing\":\($0 % 360)}}\n"
        }
        try feed.send(Array(("{\"type\":\"trace\",\"version\":1}\n" + moves.joined()).utf8))
        feed.halfClose()
        try waitUntilReplays(other, are: 1)
        feed.close()
        try waitUntilReplays(other, are: 0)
        #expect(try other.ask(#"{"type":"get-camera"}"#)["position"]?["bearing"]?.number == Double(3999 % 360))
    }

    @Test func whoWritesAndClosesHasAllOfItTaken() throws {
        let daemon = try DaemonProcess()
        for isReading in [true, false] {
            let (feed, other) = (try SocketClient(daemon.socket), try SocketClient(daemon.socket))
            let camera = "written-\(isReading)"
            // Without answers, and with some that are never read.
            let id = isReading ? "" : ",\"id\":1"
            let lines = (1...5000).map {
                "{\"type\":\"move\",\"camera\":\"\(camera)\"\(id),\"update\":{\"kind\":\"set-bearing\",\"bearing\":\($0 % 360)}}\n"
            }
            try feed.send(Array(lines.joined().utf8))
            feed.close()
            var seq: Double?
            try waitUntil("all lines are taken, and not \(seq ?? 0) of 15000 events told") {
                seq = try other.ask("{\"type\":\"get-camera\",\"camera\":\"\(camera)\"}")["seq"]?.number
                return seq == 15000
            }
        }
    }

    @Test func manyClientsComeAndGo() throws {
        let daemon = try DaemonProcess()
        for round in 0..<20 {
            let clients = try (0..<50).map { _ in try SocketClient(daemon.socket) }
            for (index, client) in clients.enumerated() {
                try client.send(#"{"type":"subscribe","camera":"c\#(index % 7)"}"#)
                try client.send(
                    #"{"type":"rotate","phase":"changed","camera":"c\#(index % 7)","rotationDeg":\#(round)}"#)
                if index % 3 == 0 { try client.send(Array("{\"type\":\"pan\"".utf8)) }
            }
            for client in clients { client.close() }
        }
        let client = try SocketClient(daemon.socket)
        try waitUntil("nobody else is connected") { try client.counter("connections") == 1 }
        #expect(try client.counter("subscriptions") == 0)
    }

    // MARK: Starting

    @Test(arguments: [
        (["--mode", "9"], "--mode"), (["--max-cameras=0"], "--max-cameras"), (["--nonsense"], "--nonsense"),
        (["x"], "\"x\""), (["--socket"], "--socket"), (["--log-level", "loud"], "--log-level"),
        (["--socket-group", "no such group"], "--socket-group"), (["--watch-group=4294967295"], "--watch-group"),
        (["--allow-user", "no such user"], "--allow-user"), (["--allow-group", ""], "--allow-group"),
        (["--watch-mode", "8"], "--watch-mode"), (["--watch-socket", ""], "--watch-socket"),
        (["--socket", "/tmp/same", "--watch-socket", "/tmp/same"], "--socket"),
    ])
    func aWrongOptionIsOneLineAndExitCode64(arguments: [String], named: String) throws {
        let (status, output, errors) = try DaemonProcess.run(DaemonProcess.gimbald, arguments)
        #expect(status == 64 && output.isEmpty)
        #expect(errors.split(separator: "\n").count == 1 && errors.contains(named))
    }

    @Test func whatClientsLeaveIsGivenBack() throws {
        let daemon = try DaemonProcess()
        let status = "/proc/\(daemon.process.processIdentifier)/status"
        func residentKiB() throws -> Int {
            let lines = try String(contentsOfFile: status, encoding: .utf8).split(separator: "\n")
            return try #require(Int(lines.first { $0.hasPrefix("VmRSS:") }?.filter(\.isNumber) ?? ""))
        }
        let before = try residentKiB()
        var crowd = try (0..<300).map { _ in try SocketClient(daemon.socket) }
        for client in crowd { try client.send([UInt8](repeating: 0x20, count: 40_000)) }
        try waitUntil("10,000 KiB are taken") { try residentKiB() > before + 10_000 }
        // The latest allocation keeps malloc from returning the memory before it by itself.
        let stays = try daemon.subscriber()
        crowd = []
        try waitUntil("all but 4000 KiB of them are given back") { try residentKiB() < before + 4000 }
        withExtendedLifetime(stays) {}
    }

    @Test func versionAndHelpAreWrittenToStandardOutput() throws {
        let version = try DaemonProcess.run(DaemonProcess.gimbald, ["--version"])
        #expect(version.status == 0 && version.output.hasPrefix("gimbald ") && version.errors.isEmpty)
        let help = try DaemonProcess.run(DaemonProcess.gimbald, ["--help"])
        for option in [
            "--socket", "--mode", "--limit", "\n  cameras  ", "\n  connections  ", "--log-level", "--version", "--help",
        ] {
            #expect(help.output.contains(option))
        }
    }

    @Test func aLivingDaemonsSocketIsNotTaken() throws {
        let daemon = try DaemonProcess()
        let (status, _, errors) = try DaemonProcess.run(DaemonProcess.gimbald, ["--socket", daemon.socket])
        #expect(status == 69 && errors.split(separator: "\n").count == 1)
        #expect(try SocketClient(daemon.socket).answersPing())
    }

    @Test func aStaleSocketIsReplaced() throws {
        let daemon = try DaemonProcess()
        #expect(daemon.end(SIGKILL) == -SIGKILL)
        #expect(FileManager.default.fileExists(atPath: daemon.socket))
        let next = try DaemonProcess(socket: daemon.socket)
        #expect(next.end(SIGTERM) == 0)
        #expect(!FileManager.default.fileExists(atPath: daemon.socket))
        #expect(!FileManager.default.fileExists(atPath: daemon.socket + ".lock"))
    }

    @Test func anotherKindOfFileIsLeftAlone() throws {
        let folder = Folder()
        let path = try folder.write("file", "mine")
        let (status, _, errors) = try DaemonProcess.run(DaemonProcess.gimbald, ["--socket", path])
        #expect(status == 73 && errors.contains("not a socket"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    @Test func anotherProgramsSocketIsLeftAlone() throws {
        let folder = Folder()
        let other = try NotifySocket(at: folder.path("datagrams"))
        defer { withExtendedLifetime(other) {} }
        #expect(try DaemonProcess.run(DaemonProcess.gimbald, ["--socket", other.path]).status == 69)
        // Its socket is not removed, and no file of ours is there.
        #expect(folder.names == ["datagrams"])
    }

    @Test(arguments: [([], 0o660), (["--mode", "0600"], 0o600), (["--mode=666"], 0o666)])
    func theSocketHasTheModeAskedFor(arguments: [String], mode: Int) throws {
        let daemon = try DaemonProcess(arguments)
        let attributes = try FileManager.default.attributesOfItem(atPath: daemon.socket)
        #expect(attributes[.posixPermissions] as? Int == mode)
    }

    @Test func connectionsBeyondTheLimitAreToldWhy() throws {
        let daemon = try DaemonProcess(["--max-connections", "3"])
        var clients = try (0..<3).map { _ in try SocketClient(daemon.socket) }
        for client in clients { #expect(try client.ask(#"{"type":"ping"}"#)["type"]?.string == "pong") }
        let fourth = try SocketClient(daemon.socket)
        #expect(try JSON(fourth.receive() ?? "")["code"]?.string == "limit-reached")
        #expect(fourth.isClosed())
        clients.removeLast().close()
        try waitUntil("a place becomes free") { (try? SocketClient(daemon.socket).answersPing()) == true }
    }

    // MARK: Ending

    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalEndsItOnceEverybodyHasEverything(signal: CInt) throws {
        let daemon = try DaemonProcess()
        let subscriber = try daemon.subscriber()
        let feed = try SocketClient(daemon.socket)
        for bearing in 1...200 {
            try feed.send(#"{"type":"move","update":{"kind":"set-bearing","bearing":\#(bearing)}}"#)
        }
        #expect(try feed.answersPing())
        #expect(daemon.end(signal) == 0)
        var lines = 0
        while subscriber.receive() != nil { lines += 1 }
        #expect(lines == 600)
        #expect(!FileManager.default.fileExists(atPath: daemon.socket))
    }

    @Test func hangUpIsHarmless() throws {
        let daemon = try DaemonProcess()
        kill(daemon.process.processIdentifier, SIGHUP)
        #expect(try SocketClient(daemon.socket).answersPing())
        #expect(daemon.end(SIGTERM) == 0)
        #expect(daemon.log().contains("SIGHUP"))
    }

    // MARK: The service manager

    @Test func itTellsTheServiceManager() throws {
        let manager = try NotifySocket()
        let daemon = try DaemonProcess(environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"])
        #expect(manager.next()?.hasPrefix("READY=1\nSTATUS=") == true)
        #expect(manager.next()?.hasPrefix("WATCHDOG=1\n") == true)
        #expect(manager.next()?.hasPrefix("WATCHDOG=1\n") == true)
        kill(daemon.process.processIdentifier, SIGTERM)
        #expect(manager.receive() == "STOPPING=1")
        manager.readToTheEnd()
    }

    @Test(.needs("systemd-socket-activate")) func itTakesTheSocketThatIsPassed() throws {
        let activate = URL(fileURLWithPath: "/usr/bin/systemd-socket-activate")
        let path = Files.temporary().path
        let daemon = try RunningProgram(["--listen=\(path)", DaemonProcess.gimbald.path], of: activate)
        defer {
            _ = daemon.end(SIGTERM)
            unlink(path)
        }
        #expect(try SocketClient.whenListening(path).ask(#"{"type":"ping"}"#)["type"]?.string == "pong")
    }
}
