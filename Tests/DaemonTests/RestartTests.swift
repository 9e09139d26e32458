// The daemon begins anew while clients are connected: none of them notices.

import Foundation
import TestSupport
import Testing

@Suite struct RestartTests {
    private func subscriber(_ daemon: DaemonProcess, _ members: String = "") throws -> SocketClient {
        let client = try SocketClient(daemon.socket)
        try client.send(#"{"type":"subscribe"\#(members)}"#)
        _ = client.receive()
        return client
    }

    private func move(_ number: Int) -> String {
        #"{"type":"move","id":\#(number),"update":{"kind":"set-bearing","bearing":\#(number % 359 + 1)}}"# + "\n"
    }

    private func beginAnew(_ daemon: DaemonProcess) { kill(daemon.process.processIdentifier, SIGUSR2) }

    /// How often a daemon that has ended had begun anew.
    private func restarts(_ log: String) -> Int { log.components(separatedBy: " continue\n").count - 1 }

    @Test func underLoadNobodyIsLostAndNoEvent() throws {
        let daemon = try DaemonProcess()
        let subscribers = try (0..<6).map { _ in try subscriber(daemon) }
        let (slow, latest) = (try subscriber(daemon), try subscriber(daemon, #","delivery":"latest""#))
        let feed = try SocketClient(daemon.socket)
        var isAnswered = true
        for round in 0..<6 {
            let numbers = round * 100..<(round + 1) * 100
            try feed.send(Array(numbers.map(move).joined().utf8))
            beginAnew(daemon)
            for number in numbers { isAnswered = feed.receive() == #"{"type":"ok","id":\#(number)}"# && isAnswered }
        }
        #expect(isAnswered)
        for client in subscribers + [slow] {
            var seqs: [Double] = []
            while seqs.count < 1800, let line = client.receive() { seqs.append(try JSON(line)["seq"]?.number ?? 0) }
            #expect(seqs == (1...1800).map(Double.init))
        }
        var checker = StreamChecker(isEvery: false)
        while let line = latest.receive() {
            #expect(checker.take(try JSON(line)) == nil, "\(line)")
            if try JSON(line)["seq"]?.number == 1800 { break }
        }
        #expect(daemon.end(SIGTERM) == 0)
        #expect(restarts(daemon.log()) > 1)
        #expect(!FileManager.default.fileExists(atPath: daemon.socket))
    }

    @Test func whatIsOnItsWayArrives() throws {
        let daemon = try DaemonProcess()
        let (halfClosed, feed) = (try subscriber(daemon), try SocketClient(daemon.socket))
        halfClosed.halfClose()
        // Half a line before, half a line after.
        let bytes = Array(move(1).utf8)
        try feed.send(Array(bytes[..<20]))
        beginAnew(daemon)
        let other = try SocketClient(daemon.socket)
        try other.send(#"{"type":"hello","version":1,"id":1}"#)
        #expect(other.receive()?.contains("hello") == true)
        try feed.send(Array(bytes[20...]))
        #expect(feed.receive() == #"{"type":"ok","id":1}"#)
        #expect(try halfClosed.receive(until: "idle").count == 3)
        // The line number goes on, too.
        try feed.send("{")
        #expect(try JSON(feed.receive() ?? "")["line"]?.number == 2)
        #expect(daemon.end(SIGTERM) == 0)
        #expect(restarts(daemon.log()) == 1)
    }

    @Test func whatMovesIsWaitedFor() throws {
        let daemon = try DaemonProcess()
        let client = try subscriber(daemon)
        try client.send(#"{"type":"animate","durationMs":300,"update":{"kind":"zoom-to","zoom":5}}"#)
        beginAnew(daemon)
        let end = try JSON(client.receive(until: "idle").last ?? "")
        #expect(end["position"]?["zoom"]?.number == 5)
        #expect(daemon.end(SIGTERM) == 0)
    }

    @Test func aStrangeInheritanceIsNone() throws {
        for file in ["0", "1000", "-1", "x"] {
            let daemon = try DaemonProcess(environment: ["GIMBAL_HANDOVER": file])
            let client = try SocketClient(daemon.socket)
            try client.send(#"{"type":"ping"}"#)
            #expect(client.receive() == #"{"type":"pong"}"#)
        }
    }
}
