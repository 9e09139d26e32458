// `gimbal cut`, `join` and `record --append` in use: files in, files out, and the messages they print.

import Foundation
import TestSupport
import Testing

@Suite struct CutCommandTests {
    private let fling = """
        {"type":"trace","version":1,"speed":4,"position":{"target":{"latitude":10,"longitude":20},"zoom":9}}
        {"type":"pan","phase":"began","timeMs":1000}
        {"type":"pan","phase":"changed","timeMs":1050,"translation":{"x":30,"y":0}}
        {"type":"fly","timeMs":1060}
        {"type":"pan","phase":"ended","timeMs":1100,"translation":{"x":60,"y":0}}
        {"type":"double-tap","timeMs":9000}
        {"type":"trace-end"}

        """

    @Test func aCutIsATraceThatADaemonTakes() throws {
        let (status, trace, errors) = try gimbal(
            nil, ["cut", Files.sample("pinch-and-rotate"), "--from", "1s", "--until", "0:02"])
        #expect(status == 0 && errors.isEmpty, "\(errors)")
        #expect(try Schema.complaints(trace, from: .client) == "")
        let text = trace.joined(separator: "\n") + "\n"
        let check = try gimbal(nil, ["check", "-"], input: text)
        #expect(check.status == 0, "\(check.output)")
        let daemon = try DaemonProcess()
        let played = try gimbal(daemon, ["replay", "--speed", "max", "-"], input: text)
        #expect(try played.status == 0 && JSON(played.output.first ?? "")["durationMs"]?.number == 1000)
    }

    @Test func whereTheCutBeginsAndWhatIsLeftOutIsSaid() throws {
        let (status, trace, errors) = try gimbal(nil, ["cut", "-", "--from", "500ms"], input: fling)
        let said = errors.split(separator: "\n")
        #expect(status == 0 && said.count == 2 && said.first?.hasPrefix("-: left out 1 line") == true, "\(errors)")
        #expect(said.last == "-: the camera moves by itself at 0:00.500: the cut begins at 0:00.100")
        #expect(try JSON(trace.first ?? "")["speed"]?.number == 4)
        #expect(try trace.map { try JSON($0)["phase"]?.string } == [nil, "changed", "ended", "ended", nil])
        let quiet = try gimbal(nil, ["cut", "-", "--from", "0:05"], input: fling)
        #expect(quiet.status == 0 && quiet.errors.split(separator: "\n").count == 1)
    }

    @Test func whatCannotBeCutIsSaidInOneLine() throws {
        let late = try gimbal(nil, ["cut", "-", "--from", "1h"], input: fling)
        #expect(late.status == 65 && late.output.isEmpty && late.errors.contains("nothing happens"))
        let several = try gimbal(nil, ["cut", "-", "--from", "1s"], input: fling + fling)
        #expect(several.status == 65 && several.errors.contains("--trace"), "\(several.errors)")
        #expect(try gimbal(nil, ["cut", "-", "--from", "500ms", "--trace", "2"], input: fling + fling).status == 0)
        #expect(try gimbal(nil, ["cut", "/nonexistent", "--from", "1s"]).status == 66)
    }

    @Test func joinedTracesAreOneTrace() throws {
        let names = ["pan-fling", "pinch-and-rotate", "tilt"].map(Files.sample)
        let (status, trace, errors) = try gimbal(nil, ["join"] + names)
        #expect(status == 0 && errors.isEmpty, "\(errors)")
        #expect(try Schema.complaints(trace, from: .client) == "")
        #expect(try trace.count { try JSON($0)["type"]?.string == "trace" } == 1)
        let daemon = try DaemonProcess()
        let alone = try gimbal(daemon, ["replay", "--speed", "max"] + names).output.map { try JSON($0) }
        let joined = try gimbal(daemon, ["replay", "--speed", "max", "-"], input: trace.joined(separator: "\n") + "\n")
        let end = try JSON(joined.output.first ?? "")
        #expect(joined.status == 0 && end["rejected"]?.number == 0 && end["position"] == alone.last?["position"])
        for command in [["join", "-"], ["convert", "-", "--to", "web"]] {
            let told = try gimbal(nil, command, input: fling)
            #expect(told.status == 0 && told.errors.contains("left out 1 line that a daemon rejects"), "\(told.errors)")
        }
        let length = alone.reduce(0) { $0 + ($1["durationMs"]?.number ?? 0) }
        #expect((length...length + 3).contains(end["durationMs"]?.number ?? 0))
    }
}
