// `gimbal record` with a real daemon: its output can be played, however it ends.

import Foundation
import TestSupport
import Testing

@Suite struct RecordTests {
    private let daemon: DaemonProcess

    init() throws { daemon = try DaemonProcess() }

    /// Returns a recorder that has subscribed.
    private func recorder(_ arguments: [String] = []) throws -> RunningProgram {
        let recorder = try RunningProgram(["record", "--socket", daemon.socket] + arguments)
        try waitForSubscriber(daemon)
        return recorder
    }

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

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
    private func replayed(_ lines: [String]) throws -> [JSON] {
        let fast = lines.map { $0.replacing(#"{"type":"trace","#, with: #"{"type":"trace","speed":"max","#) }
        let (status, output, errors) = try gimbal(
            daemon, ["replay", "-", "--camera", "again"], input: fast.joined(separator: "\n") + "\n")
        #expect(status == 0 && errors.isEmpty, "\(errors)")
        return try output.map { try JSON($0) }
    }

    @Test func whatWasRecordedMakesTheSameCamera() throws {
        let client = try SocketClient(daemon.socket)
        let recorder = try recorder()
        let follower = try daemon.subscriber(#","events":["idle"]"#)
        try feed(client, session)
        // No wait is needed: requests applied before the signal are in the recording.
        let (status, output, errors) = recorder.end(SIGINT)
        let lines = lines(output)
        #expect(status == 0 && errors.isEmpty, "\(errors)")
        #expect(lines.count == session.count + 2)
        #expect(lines.first?.hasPrefix(#"{"type":"trace","#) == true && lines.last == #"{"type":"trace-end"}"#)
        #expect(try Schema.complaints(lines, from: .client) == "")
        let summary = try replayed(lines)
        #expect(summary.count == 1 && summary[0]["events"]?.number == Double(session.count))
        // The camera rests after the move, after the fingers, and after the fling.
        var rest: JSON?
        for _ in 0..<3 { rest = try JSON(follower.receive(until: "idle").last ?? "") }
        #expect(summary[0]["position"] == rest?["position"])
    }

    @Test func aTraceThatIsPlayedBeginsAnew() throws {
        let client = try SocketClient(daemon.socket)
        let file = URL(fileURLWithPath: daemon.socket).deletingLastPathComponent().appendingPathComponent("out.ndjson")
        let recorder = try recorder(["-o", file.path])
        let trace = [
            #"{"type":"trace","version":1,"speed":"max","minZoom":4}"#,
            #"{"type":"move","timeMs":100,"update":{"kind":"zoom-to","zoom":5}}"#, #"{"type":"trace-end"}"#,
        ]
        for line in trace { try client.send(line) }
        _ = try client.receive(until: "trace-ended")
        try feed(client, [#"{"type":"move","update":{"kind":"zoom-to","zoom":6}}"#])
        for line in trace { try client.send(line) }
        _ = try client.receive(until: "trace-ended")
        let (status, printed, _) = recorder.end(SIGINT)
        #expect(status == 0 && printed.isEmpty)
        let lines = lines(try String(contentsOf: file, encoding: .utf8))
        // The header before the first trace had no lines and is omitted.
        let types = try lines.map { try JSON($0)["type"]?.string ?? "" }
        #expect(types == ["trace", "move", "move", "trace-end", "trace", "move", "trace-end"])
        #expect(try lines.allSatisfy { try JSON($0)["type"]?.string != "trace" || JSON($0)["minZoom"]?.number == 4 })
        let zooms = try replayed(lines).map { $0["position"]?["zoom"]?.number }
        #expect(zooms == [6, 5])
    }

    @Test func aRecordingOfNothingIsATrace() throws {
        let (status, lines, _) = try gimbal(daemon, ["record", "--duration", "1"])
        #expect(status == 0 && lines.count == 2)
        #expect(try replayed(lines).first?["events"]?.number == 0)
    }

    @Test(arguments: [
        "", "\n", "\n   \n", #"{"type":"trace","version":1}"#, "\u{feff}" + #"{"type":"trace","version":1}"#,
        #"{"type":"trace","version":1}"# + "\n" + #"{"type":"trace-end"\#(String(repeating: " ", count: 3000))}"#
            + "\n \t\n",
    ])
    func whatIsAppendedToATraceIsATraceBehindIt(_ before: String) throws {
        let file = daemon.socket + ".ndjson"
        try before.write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try gimbal(daemon, ["record", "--append", "-o", file, "--duration", "1ms"]).status == 0)
        #expect(try gimbal(nil, ["check", file]).status == 0)
        let headers = try String(contentsOfFile: file, encoding: .utf8).matches(of: /"type":"trace"/).count
        #expect(headers == before.matches(of: /"type":"trace"/).count + 1)
    }

    @Test(arguments: ["E: 0.000000 0003 0039 0001\n", "\u{1f}\u{8b}\u{8}", "notes\n"])
    func whatIsNoTraceIsNotAppendedTo(_ before: String) throws {
        let file = daemon.socket + ".other"
        try before.write(toFile: file, atomically: false, encoding: .utf8)
        let (status, _, errors) = try gimbal(daemon, ["record", "--append", "-o", file, "--duration", "1ms"])
        #expect(status == 65 && errors.contains("is not a trace"), "\(errors)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
    }

    @Test func itEndsWithTheCameraOrTheDaemon() throws {
        let client = try SocketClient(daemon.socket)
        let recorder = try recorder()
        try feed(client, [#"{"type":"stop"}"#, #"{"type":"remove-camera"}"#])
        let removed = recorder.wait()
        #expect(removed.status == 69 && removed.errors.contains("removed") && lines(removed.output).count == 3)
        let another = try self.recorder()
        try feed(client, [#"{"type":"stop"}"#])
        _ = daemon.end(SIGTERM)
        let gone = another.wait()
        let types = try lines(gone.output).map { try JSON($0)["type"]?.string }
        // A daemon that ends may stop a motion, and reports it.
        #expect(gone.status == 69 && types.starts(with: ["trace", "stop"]), "\(types) \(gone.errors)")
        #expect(types.last == "trace-end")
    }

    /// A limit on file sizes acts like a full disk: a write is cut short, and the next one fails.
    @Test(arguments: ["", "--append"]) func whatFitsOnAFullDiskIsATrace(_ option: String) throws {
        let file = daemon.socket + ".ndjson"
        let script = #"trap "" XFSZ; ulimit -f 4; exec "$0" record -o "$1" $2"#
        let recorder = try RunningProgram(
            ["-c", script, DaemonProcess.gimbal.path, file, option], of: URL(fileURLWithPath: "/bin/bash"),
            environment: ["GIMBAL_SOCKET": daemon.socket])
        try waitForSubscriber(daemon)
        let client = try SocketClient(daemon.socket)
        for _ in 0..<200 { try client.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#) }
        let (status, _, errors) = recorder.wait()
        #expect(status == 74 && errors.contains("File too large"), "\(errors)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.utf8.count > 3800 && text.hasSuffix("}\n"))
        let (damaged, findings, _) = try gimbal(nil, ["check", file])
        #expect(damaged == 0, "\(findings)")
    }
}
