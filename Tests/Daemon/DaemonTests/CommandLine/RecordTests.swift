// `gimbal record` with a real daemon: its output can be played, however it ends.

import Foundation
import TestSupport
import Testing

@Suite struct RecordTests {
    /// A recorder that has subscribed.
    private final class Recorder {
        let process = Process()
        private let output = Pipe()
        private let errors = Pipe()

        init(_ daemon: DaemonProcess, _ arguments: [String] = [], watch: SocketClient) throws {
            process.executableURL = DaemonProcess.products.appendingPathComponent("gimbal")
            process.arguments = ["record", "--socket", daemon.socket] + arguments
            process.standardOutput = output
            process.standardError = errors
            try process.run()
            try waitUntil("it has subscribed") { try watch.counter("subscriptions") == 1 }
        }

        func end(_ signal: CInt? = nil) throws -> (status: CInt, lines: [String], errors: String) {
            if let signal { kill(process.processIdentifier, signal) }
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            let status = process.terminationStatus
            return (
                process.terminationReason == .exit ? status : -status, text.split(separator: "\n").map(String.init),
                said
            )
        }
    }

    /// Sends lines one after another, each when the previous one has been answered.
    private func feed(_ client: SocketClient, _ lines: [String]) throws {
        for line in lines {
            try client.send(#"{"id":1,"#.appending(line.dropFirst()))
            let answer = client.receive() ?? "nothing"
            #expect(answer.contains(#""ok""#), "\(answer)")
        }
    }

    private let session = [
        #"{"type":"set-viewport","width":400,"height":800}"#,
        #"{"type":"move","update":{"kind":"set-camera","position":{"target":{"latitude":48.8584,"longitude":2.2945},"zoom":14.123456789}}}"#,
        #"{"type":"pinch","phase":"began","focus":{"x":100,"y":300}}"#,
        #"{"type":"pinch","phase":"changed","focus":{"x":100,"y":300},"scale":1.7}"#,
        #"{"type":"rotate","phase":"began","focus":{"x":100,"y":300}}"#,
        #"{"type":"rotate","phase":"changed","focus":{"x":100,"y":300},"rotationDeg":31.7}"#,
        #"{"type":"pinch","phase":"ended"}"#,
        #"{"type":"rotate","phase":"ended"}"#,
        #"{"type":"pan","phase":"began"}"#,
        #"{"type":"pan","phase":"ended","translation":{"x":50},"velocity":{"x":400,"y":-90}}"#,
    ]

    /// Plays a recording into a daemon's camera; returns the summaries.
    private func replayed(_ lines: [String], _ daemon: DaemonProcess) throws -> [JSON] {
        let program = DaemonProcess.products.appendingPathComponent("gimbal")
        let fast = lines.map { $0.replacing(#"{"type":"trace","#, with: #"{"type":"trace","speed":"max","#) }
        let (status, output, errors) = try DaemonProcess.run(
            program, ["replay", "-", "--socket", daemon.socket, "--camera", "again"],
            input: Array((fast.joined(separator: "\n") + "\n").utf8))
        #expect(status == 0 && errors.isEmpty, "\(errors)")
        return try output.split(separator: "\n").map { try JSON($0) }
    }

    @Test func whatWasRecordedMakesTheSameCamera() throws {
        let daemon = try DaemonProcess()
        let client = try SocketClient(daemon.socket)
        let recorder = try Recorder(daemon, watch: client)
        let follower = try daemon.subscriber(#","events":["idle"]"#)
        try feed(client, session)
        // No wait is needed: requests applied before the signal are in the recording.
        let (status, lines, errors) = try recorder.end(SIGINT)
        #expect(status == 0 && errors.isEmpty, "\(errors)")
        #expect(lines.count == session.count + 2)
        #expect(lines.first?.hasPrefix(#"{"type":"trace","#) == true && lines.last == #"{"type":"trace-end"}"#)
        #expect(try Schema.complaints(lines, from: .client) == "")
        let summary = try replayed(lines, daemon)
        #expect(summary.count == 1 && summary[0]["events"]?.number == Double(session.count))
        // The camera rests after the move, after the fingers, and after the fling.
        var rest: JSON?
        for _ in 0..<3 { rest = try JSON(follower.receive(until: "idle").last ?? "") }
        #expect(summary[0]["position"] == rest?["position"])
    }

    @Test func aTraceThatIsPlayedBeginsAnew() throws {
        let daemon = try DaemonProcess()
        let client = try SocketClient(daemon.socket)
        let file = URL(fileURLWithPath: daemon.socket).deletingLastPathComponent().appendingPathComponent("out.ndjson")
        let recorder = try Recorder(daemon, ["-o", file.path], watch: client)
        let trace = [
            #"{"type":"trace","version":1,"speed":"max","minZoom":4}"#,
            #"{"type":"move","timeMs":100,"update":{"kind":"zoom-to","zoom":5}}"#, #"{"type":"trace-end"}"#,
        ]
        for line in trace { try client.send(line) }
        _ = try client.receive(until: "trace-ended")
        try feed(client, [#"{"type":"move","update":{"kind":"zoom-to","zoom":6}}"#])
        for line in trace { try client.send(line) }
        _ = try client.receive(until: "trace-ended")
        let (status, printed, _) = try recorder.end(SIGINT)
        #expect(status == 0 && printed.isEmpty)
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        // The header before the first trace had no lines and is omitted.
        let types = try lines.map { try JSON($0)["type"]?.string ?? "" }
        #expect(types == ["trace", "move", "move", "trace-end", "trace", "move", "trace-end"])
        #expect(try lines.allSatisfy { try JSON($0)["type"]?.string != "trace" || JSON($0)["minZoom"]?.number == 4 })
        let zooms = try replayed(lines, daemon).map { $0["position"]?["zoom"]?.number }
        #expect(zooms == [6, 5])
    }

    @Test func aRecordingOfNothingIsATrace() throws {
        let daemon = try DaemonProcess()
        let program = DaemonProcess.products.appendingPathComponent("gimbal")
        let (status, text, _) = try DaemonProcess.run(
            program, ["record", "--duration", "1", "--socket", daemon.socket])
        let lines = text.split(separator: "\n").map(String.init)
        #expect(status == 0 && lines.count == 2)
        #expect(try replayed(lines, daemon).first?["events"]?.number == 0)
    }

    @Test(arguments: [
        "", "\n", "\n   \n", #"{"type":"trace","version":1}"#, "\u{feff}" + #"{"type":"trace","version":1}"#,
        #"{"type":"trace","version":1}"# + "\n" + #"{"type":"trace-end"\#(String(repeating: " ", count: 3000))}"#
            + "\n \t\n",
    ])
    func whatIsAppendedToATraceIsATraceBehindIt(_ before: String) throws {
        let daemon = try DaemonProcess()
        let file = daemon.socket + ".ndjson"
        try before.write(toFile: file, atomically: false, encoding: .utf8)
        let words = ["record", "--append", "-o", file, "--duration", "1ms", "--socket", daemon.socket]
        let program = DaemonProcess.products.appendingPathComponent("gimbal")
        #expect(try DaemonProcess.run(program, words).status == 0)
        #expect(try DaemonProcess.run(program, ["check", file]).status == 0)
        let headers = try String(contentsOfFile: file, encoding: .utf8).matches(of: /"type":"trace"/).count
        #expect(headers == before.matches(of: /"type":"trace"/).count + 1)
    }

    @Test(arguments: ["E: 0.000000 0003 0039 0001\n", "\u{1f}\u{8b}\u{8}", "notes\n"])
    func whatIsNoTraceIsNotAppendedTo(_ before: String) throws {
        let daemon = try DaemonProcess()
        let file = daemon.socket + ".other"
        try before.write(toFile: file, atomically: false, encoding: .utf8)
        let words = ["record", "--append", "-o", file, "--duration", "1ms", "--socket", daemon.socket]
        let program = DaemonProcess.products.appendingPathComponent("gimbal")
        let (status, _, errors) = try DaemonProcess.run(program, words)
        #expect(status == 65 && errors.contains("is not a trace"), "\(errors)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
    }

    @Test func itEndsWithTheCameraOrTheDaemon() throws {
        let daemon = try DaemonProcess()
        let client = try SocketClient(daemon.socket)
        let recorder = try Recorder(daemon, watch: client)
        try feed(client, [#"{"type":"stop"}"#, #"{"type":"remove-camera"}"#])
        let removed = try recorder.end()
        #expect(removed.status == 69 && removed.errors.contains("removed") && removed.lines.count == 3)
        let another = try Recorder(daemon, watch: client)
        try feed(client, [#"{"type":"stop"}"#])
        _ = daemon.end(SIGTERM)
        let gone = try another.end()
        let types = try gone.lines.map { try JSON($0)["type"]?.string }
        // A daemon that ends may stop a motion, and reports it.
        #expect(gone.status == 69 && types.starts(with: ["trace", "stop"]), "\(types) \(gone.errors)")
        #expect(types.last == "trace-end")
    }

    @Test func wrongUsageIsTold() throws {
        let program = DaemonProcess.products.appendingPathComponent("gimbal")
        for arguments in [["--duration", "-5"], ["--duration", "soon"], ["--camera", "a b"]] {
            #expect(try DaemonProcess.run(program, ["record"] + arguments).status == 64)
        }
        let (status, _, errors) = try DaemonProcess.run(program, ["record", "--socket", "/nonexistent/gimbal.sock"])
        #expect(status == 69 && errors.contains("no daemon"))
    }
}
