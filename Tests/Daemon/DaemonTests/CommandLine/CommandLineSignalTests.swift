// Signals and files on the command line: what an interrupted command leaves behind, and what it refuses to overwrite.

import Foundation
import TestSupport
import Testing

@Suite struct CommandLineSignalTests {
    private let folder = Folder()

    @Test(arguments: [["edit", "--speed", "2"], ["cut", "--until", "1s"], ["run"], ["shrink"]])
    func whatIsMadeOfAPipeThatASignalEndsTakesNoFilesPlace(_ words: [String]) throws {
        let file = try folder.write("whole.ndjson", "what was there\n")
        let output = words == ["run"] ? [] : ["-o", file, "--force"]
        let command = words == ["shrink"] ? ["--", "false", "{}"] : []
        let running = try RunningProgram(words + ["-"] + output + command, readsPipe: true)
        let line = #"{"type":"move","timeMs":0,"update":{"kind":"zoom-in"}}"#
        try running.write("{\"type\":\"trace\",\"version\":1}\n\(line)\n")
        let (status, _, _) = running.end(SIGINT)
        #expect(status == -SIGINT || status == 130)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "what was there\n")
        #expect(folder.names == ["whole.ndjson"])
    }

    /// A camera that the command has not moved yet stays in motion.
    @Test func anAnimationThatWasNotSentStopsNothing() throws {
        let folder = folder
        let server = try StandIn { _, connection in
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = recv(connection, &buffer, buffer.count, 0), count > 0 {
                received += buffer[..<count]
                _ = try? folder.write("received", String(decoding: received, as: UTF8.self))
            }
            _ = try? folder.write("ended", "")
        }
        let running = try RunningProgram(["animate", "--zoom", "9", "--socket", server.path])
        try waitUntil("it has asked for events") { folder.names.contains("received") }
        #expect(running.end(SIGINT).status == -SIGINT)
        try waitUntil("it has gone") { folder.names.contains("ended") }
        let received = try String(contentsOfFile: folder.path("received"), encoding: .utf8)
        #expect(received.contains("subscribe") && !received.contains("stop"), "\(received)")
    }

    /// A trace that keeps any of the commands busy long enough to be interrupted.
    private static let longTrace: String = {
        var text = #"{"type":"trace","version":1}"# + "\n"
        for step in 0..<300_000 {
            text += #"{"type":"pan","phase":"changed","translation":{"x":\#(step % 90)},"timeMs":\#(step * 10)}"# + "\n"
        }
        return text
    }()

    @Test(arguments: [
        (["plot", "in.ndjson", "-o", "out.svg"], SIGINT), (["plot", "in.ndjson", "-o", "out.svg"], SIGTERM),
        (["check", "in.ndjson"], SIGINT), (["inspect", "in.ndjson"], SIGINT),
        (["convert", "in.ndjson", "-o", "out.ndjson"], SIGINT), (["convert", "in.ndjson", "-o", "out.ndjson"], SIGHUP),
    ])
    func aSignalEndsWhatReadsALargeFileAndNothingUnfinishedStays(_ words: [String], _ signal: CInt) throws {
        // A trace is copied, not converted, which takes too little time.
        let isConverted = words.first == "convert"
        let text = isConverted ? String(repeating: getevent, count: 2000) : Self.longTrace
        let input = try folder.write("in.ndjson", text)
        let running = try RunningProgram(words.map { $0.contains(".") ? folder.path($0) : $0 })
        try waitUntil("it has begun to read") { running.hasRead(input) }
        let (status, output, _) = running.end(signal)
        // It had not finished, and it did not continue to its end.
        #expect(status == -signal && output.isEmpty)
        #expect(folder.names == ["in.ndjson"])
    }

    /// The events of an endless getevent: a finger that pans.
    private let getevent: String = {
        var lines = ["add device 1: /dev/input/event2", "  name:     \"touch\"", "  events:", "    ABS (0003): "]
        for (code, most) in [
            ("ABS_MT_SLOT", 9), ("ABS_MT_TRACKING_ID", 65535), ("ABS_MT_POSITION_X", 1079), ("ABS_MT_POSITION_Y", 1919),
        ] {
            lines.append("                \(code)         : value 0, min 0, max \(most), fuzz 0, flat 0, resolution 0")
        }
        func event(_ time: Double, _ type: String, _ code: String, _ value: Int) {
            let hex = String(value, radix: 16)
            let digits = String(repeating: "0", count: 8 - hex.count) + hex
            lines.append(String(format: "[%8.6f] /dev/input/event2: ", time) + "\(type) \(code) \(digits)")
        }
        event(1, "EV_ABS", "ABS_MT_TRACKING_ID", 1)
        for step in 0..<40 {
            event(1 + Double(step) / 100, "EV_ABS", "ABS_MT_POSITION_X", 100 + step * 10)
            event(1 + Double(step) / 100, "EV_ABS", "ABS_MT_POSITION_Y", 500)
            event(1 + Double(step) / 100, "EV_SYN", "SYN_REPORT", 0)
        }
        return lines.joined(separator: "\n") + "\n"
    }()

    @Test(arguments: [(SIGINT, CInt(0)), (SIGTERM, -SIGTERM)])
    func aLiveRecordingIsWholeWhenASignalEndsIt(_ signal: CInt, _ expected: CInt) throws {
        let running = try RunningProgram(["convert", "-", "-o", folder.path("out.ndjson")], readsPipe: true)
        try running.write(String(getevent.prefix(10)))
        // The data in the pipe when the signal arrives is still used.
        try running.input.fileHandleForWriting.write(contentsOf: Data(getevent.dropFirst(10).utf8))
        let (status, _, errors) = running.end(signal)
        #expect(status == expected, "\(errors)")
        #expect(folder.names == ["out.ndjson"])
        let lines = try String(contentsOfFile: folder.path("out.ndjson"), encoding: .utf8).split(separator: "\n")
        #expect(lines.count > 10 && lines.last == #"{"type":"trace-end"}"#)
        #expect(try gimbal(nil, ["check", folder.path("out.ndjson")]).status == 0)
    }

    @Test func whatCameUntilTheSignalIsInspected() throws {
        let running = try RunningProgram(["inspect", "-", "--json"], readsPipe: true)
        try running.write(getevent)
        let (status, output, _) = running.end(SIGINT)
        #expect(status == 0)
        // The same as from a file of these bytes: the signal loses nothing.
        let file = try folder.write("touch.getevent", getevent)
        let whole = try JSON(gimbal(nil, ["inspect", file, "--json"]).output.first ?? "")
        let frames = try #require(whole["frames"]?.number)
        #expect(frames >= 40)
        #expect(try JSON(output)["frames"]?.number == frames)
    }

    @Test func whatIsNamedBehindAPipeThatASignalEndsIsSaidNotToBeChecked() throws {
        let trace = try folder.write("wrong.ndjson", "{}\n")
        let running = try RunningProgram(["check", "-", trace], readsPipe: true)
        try running.write(#"{"type":"trace","version":1}"# + "\n")
        let (status, output, errors) = running.end(SIGINT)
        #expect(status == -SIGINT || status == 130)
        #expect(output.isEmpty)
        #expect(errors == "\(trace) is not checked\n")
    }

    @Test func aSecondSignalEndsAtOnceAndLeavesNothing() throws {
        let input = try folder.write("in.ndjson", Self.longTrace)
        let running = try RunningProgram(["plot", input, "-o", folder.path("out.svg")])
        try waitUntil("it has begun to read") { running.hasRead(input) }
        kill(running.process.processIdentifier, SIGSTOP)
        kill(running.process.processIdentifier, SIGINT)
        kill(running.process.processIdentifier, SIGTERM)
        let (status, _, _) = running.end(SIGCONT)
        #expect(status == -SIGINT || status == -SIGTERM)
        #expect(folder.names == ["in.ndjson"])
    }

    /// A program that shares the pipe may have made it non-blocking.
    @Test func aPipeThatDoesNotBlockIsWaitedFor() throws {
        let trace = try folder.write("in.ndjson", Self.longTrace)
        let running = try RunningProgram(["convert", trace], outputBlocks: false)
        try running.waitUntilFull()
        let (status, output, errors) = running.wait()
        let isWhole = output == Self.longTrace
        #expect(status == 0 && isWhole, "\(errors)")
        let stopped = try RunningProgram(["convert", trace], outputBlocks: false)
        try stopped.waitUntilFull()
        #expect(stopped.end(SIGTERM).status == -SIGTERM)
    }

    @Test func anIgnoredHangUpStaysIgnored() throws {
        let daemon = try DaemonProcess()
        let watcher = try RunningProgram(
            ["-c", #"trap "" HUP; exec "$0" watch --count 1"#, DaemonProcess.gimbal.path],
            of: URL(fileURLWithPath: "/bin/bash"), environment: ["GIMBAL_SOCKET": daemon.socket])
        try waitForSubscriber(daemon)
        kill(watcher.process.processIdentifier, SIGHUP)
        _ = try answer(daemon, "move --zoom 4")
        let (status, output, _) = watcher.wait()
        #expect(status == 0 && output.contains("move-started"))
    }

    @Test(arguments: [["animate", "--zoom", "9", "--duration", "1h"], ["tour", "FILE"]])
    func aCameraWhoseMovementIsInterruptedStops(_ words: [String]) throws {
        let daemon = try DaemonProcess()
        let position = #"{"target":{"latitude":1,"longitude":3},"zoom":9,"bearing":40}"#
        let keyframe = #"{"position":\#(position),"durationMs":3600000}"#
        let tour = try folder.write("tour.json", #"{"type":"gimbal-tour","version":1,"keyframes":[\#(keyframe)]}"#)
        let client = try daemon.subscriber()
        let running = try RunningProgram(
            words.map { $0 == "FILE" ? tour : $0 }, environment: ["GIMBAL_SOCKET": daemon.socket])
        _ = try client.receive(until: "move-started")
        #expect(running.end(SIGINT).status == -SIGINT)
        let rest = try JSON(client.receive(until: "idle").last ?? "")
        #expect((rest["position"]?["zoom"]?.number ?? 9) < 9)
    }

    // MARK: Output files

    @Test(arguments: ["convert", "plot", "record"])
    func aFileThatIsThereIsReplacedByForceOnly(_ command: String) throws {
        let daemon = try DaemonProcess()
        let trace = try folder.write(
            "in.ndjson",
            #"{"type":"trace","version":1}"# + "\n" + #"{"type":"move","timeMs":0,"update":{"kind":"zoom-in"}}"# + "\n")
        let output = try folder.write("out.svg", "old")
        let words =
            command == "record" ? ["record", "--duration", "1ms", "-o", output] : [command, trace, "-o", output]
        let refused = try gimbal(daemon, words)
        #expect(refused.status == 73 && refused.errors.contains("out.svg already exists: --force"), "\(refused)")
        #expect(try String(contentsOfFile: output, encoding: .utf8) == "old")
        let replaced = try gimbal(daemon, words + ["--force"])
        #expect(replaced.status == 0, "\(replaced.errors)")
        #expect(
            try String(contentsOfFile: output, encoding: .utf8).hasPrefix(
                command == "plot" ? "<svg" : #"{"type":"trace""#))
        #expect(folder.names == ["in.ndjson", "out.svg"])
    }

    /// In a container, each run of a program often has the same process number.
    @Test func whatAnEndedProcessLeftBehindIsNotInTheWayOfTheNextWithItsNumber() throws {
        let script = #"cd "$1" && touch out.ndjson.$$.part && exec "$0" make pinch -o out.ndjson"#
        let (status, _, errors) = try DaemonProcess.run(
            URL(fileURLWithPath: "/bin/bash"), ["-c", script, DaemonProcess.gimbal.path, folder.path])
        #expect(status == 0, "\(errors)")
        #expect(folder.names.count == 2 && folder.names.first == "out.ndjson")
    }

    @Test func aRecordingThatCannotBeWrittenFailsAtOnce() throws {
        let daemon = try DaemonProcess()
        let none = try gimbal(daemon, ["record", "-o", folder.path("no/where.ndjson")])
        #expect(none.status == 74 && none.errors.contains("where.ndjson"))
        // A failure for another reason neither leaves a file behind nor removes one.
        let old = try folder.write("old.ndjson", "old")
        for name in ["new.ndjson", "old.ndjson"] {
            #expect(try gimbal(nil, ["record", "-o", folder.path(name), "--force"]).status == 69)
        }
        #expect(folder.names == ["old.ndjson"])
        #expect(try String(contentsOfFile: old, encoding: .utf8) == "old")
    }

    @Test func aRecordingGrowsInItsPlaceAndEndsWholeOnHangUp() throws {
        let daemon = try DaemonProcess()
        let client = try SocketClient(daemon.socket)
        let running = try RunningProgram(
            ["record", "-o", folder.path("out.ndjson")], environment: ["GIMBAL_SOCKET": daemon.socket])
        try waitForSubscriber(daemon)
        try client.send(#"{"type":"stop"}"#)
        let path = folder.path("out.ndjson")
        func text() -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        try waitUntil("something is written") { text().contains(#""stop""#) }
        #expect(running.end(SIGHUP).status == -SIGHUP)
        #expect(text().hasSuffix(#"{"type":"trace-end"}"# + "\n"))
    }

    @Test func aLinkedFileIsReplacedAndTheLinkStays() throws {
        let trace = try folder.write("in.ndjson", #"{"type":"trace","version":1}"# + "\n")
        let target = try folder.write("target.ndjson", "old")
        let link = folder.path("link.ndjson")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target.ndjson")
        #expect(try gimbal(nil, ["convert", trace, "-o", link, "--force"]).status == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "target.ndjson")
        #expect(try String(contentsOfFile: target, encoding: .utf8).hasPrefix(#"{"type":"trace""#))
    }
}
