// A file dropped on a page becomes a trace of one camera; the cost of hostile recordings is counted in decoded lines.

import Testing

@testable import WebServer

@Suite struct RecordingTests {
    private static let header = #"{"type":"trace","version":1}"# + "\n"

    private func trace(_ text: String) throws(HTTPRefusal) -> String {
        String(decoding: try Recording.trace(of: Array(text.utf8), for: "left") { _ in }, as: UTF8.self)
    }

    private func refusal(of text: String) throws -> HTTPRefusal {
        let refusal = try #require(throws: HTTPRefusal.self) { _ = try trace(text) }
        #expect(refusal.status == .unprocessableContent)
        return refusal
    }

    @Test func aTraceGetsItsCameraAndItsLength() throws {
        let made = try trace(
            """
            {"type":"trace","version":1,"camera":"elsewhere"}
            [{"type":"pan","phase":"began","timeMs":500},{"type":"pinch","phase":"began"}]
            {"type":"marker","timeMs":1700.5,"label":"end"}
            """)
        let lines = made.split(separator: "\n")
        let header = try #require(lines.first)
        #expect(header.contains(#""camera":"left""#) && header.contains(#""durationMs":1200.5"#), "\(header)")
        #expect(lines.count == 4)
    }

    @Test(arguments: [
        "", #"{"type":"marker","timeMs":0,"label":"\"trace-end\""}"# + "\n", #"{"type":"trace-end"}"#,
        #"{"type":"trace-end"}"# + "\n\n" + String(repeating: " ", count: 100) + "\n",
    ])
    func aTraceHasOneEnd(lines: String) throws {
        let made = try trace(Self.header + lines)
        #expect(made.split(separator: "\n").count { $0 == #"{"type":"trace-end"}"# } == 1)
    }

    @Test(arguments: [
        #"{"type":"remove-camera","camera":"other"}"#, #"{"type":"trace","version":1,"camera":"other"}"#, "{",
    ])
    func whatStandsBehindTheEndOfATraceIsRefusedSinceItWouldBeTakenLive(line: String) throws {
        let refusal = try refusal(of: Self.header + #"{"type":"trace-end"}"# + "\n\n" + line)
        #expect(refusal.message.contains("line 4 comes after trace-end"), "\(refusal)")
    }

    @Test(arguments: [
        #"{"type":"subscribe"}"#, #"{"type":"subscribe","camera":"*"}"#, #"{"type":"unsubscribe"}"#,
        #"{"type":"unsubscribe","camera":"*"}"#, #"[{"type":"stop","timeMs":2},{"type":"subscribe"}]"#,
        #"{"type":"hello","version":1}"#, #"{"type":"ping"}"#, #"{"type":"clients"}"#, #"{"type":"get-camera"}"#,
        #"{"type":"project","coordinate":{"latitude":1,"longitude":1}}"#, #"{"type":"await-idle"}"#,
        #"{"type":"pause-replay"}"#, #"{"type":"end-replay"}"#, #"{"type":"trace","version":1}"#,
        #"{"type":"trace","version":9}"#, #"{"type":"trace","version":1"#, #"[{"type":"trace","version":1}]"#,
    ])
    func whatIsNoRecordingsBusinessIsRefusedByItsLine(line: String) throws {
        let refusal = try refusal(of: Self.header + #"{"type":"stop","timeMs":1}"# + "\n" + line + "\n")
        #expect(refusal.message.hasPrefix("line 3 "), "\(refusal)")
    }

    // MARK: Work

    private static let much = 1 << 20

    private static func lines(_ line: String) -> [UInt8] {
        Array((header + String(repeating: line + "\n", count: much / (line.utf8.count + 1))).utf8)
    }

    @Test(arguments: [
        "{}", #"{"type":"nothing"}"#, "{", "\u{1}", "[]", #"{"type":"pan","phase":"over","timeMs":1}"#,
        #"{"type":"tra"#,
    ])
    func aTraceWithTooManyBadLinesIsGivenUpWhereTheyAreTooMany(line: String) throws {
        var recording = Recording(for: "left")
        let refusal = try #require(throws: HTTPRefusal.self) { _ = try recording.read(Self.lines(line)) { _ in } }
        #expect(refusal.status == .unprocessableContent && refusal.message.contains("line 1002"), "\(refusal)")
        #expect(recording.decodedLines == Recording.mostBadLines + 1)
    }

    @Test func linesThatAreNoUTF8AreBadOnes() throws {
        var bytes = Array(Self.header.utf8)
        for _ in 0..<10_000 {
            bytes += Array(#"{"type":"marker","timeMs":1,"label":""#.utf8) + [0xc3, 0x28] + Array("\"}\n".utf8)
        }
        var recording = Recording(for: "left")
        #expect(throws: HTTPRefusal.self) { _ = try recording.read(bytes) { _ in } }
        #expect(recording.decodedLines == Recording.mostBadLines + 1)
    }

    @Test func aFewBadLinesAreLeftToTheDaemon() throws {
        let bad = String(repeating: "{}\n", count: Recording.mostBadLines)
        #expect(try trace(Self.header + bad).contains("{}\n{}\n"))
    }

    @Test func nothingBehindTheEndOfATraceIsDecoded() throws {
        var recording = Recording(for: "left")
        let bytes =
            Array((Self.header + #"{"type":"trace-end"}"# + "\n").utf8) + Self.lines(#"{"type":"stop","timeMs":1}"#)
        #expect(throws: HTTPRefusal.self) { _ = try recording.read(bytes) { _ in } }
        #expect(recording.decodedLines == 1)
    }

    @Test(arguments: ["", " ", "\t\r"])
    func blankLinesAreNotDecoded(line: String) throws {
        var recording = Recording(for: "left")
        _ = try recording.read(Self.lines(line)) { _ in }
        #expect(recording.decodedLines == 0)
    }

    @Test(arguments: ["[", "[[", #"[{"type":"stop"},"#, "x", "\r"])
    func aLineThatDoesNotEndIsNotDecoded(part: String) throws {
        var recording = Recording(for: "left")
        let line = String(repeating: part, count: Self.much / part.utf8.count)
        let refusal = try #require(throws: HTTPRefusal.self) {
            _ = try recording.read(Array((Self.header + line).utf8)) { _ in }
        }
        #expect(refusal.message.contains("line 2 has more than"), "\(refusal)")
        #expect(recording.decodedLines == 0)
    }

    @Test(arguments: [
        "E: 0.000001 0000 0000 0000\nE: no event\n", "N: a touchscreen\nE: no event\n",
        #"{"type":"touchstart","timeStamp":0,"touches":[]}"# + "\n{\n",
    ])
    func aRecordingWithTooManyBadLinesIsGivenUp(beginning: String) throws {
        let end = beginning.split(separator: "\n").last.map { $0 + "\n" } ?? ""
        let bytes = Array((beginning + String(repeating: end, count: Self.much / end.utf8.count)).utf8)
        var recording = Recording(for: "left")
        #expect(throws: HTTPRefusal.self) { _ = try recording.read(bytes) { _ in } }
        // Bad lines of the current piece are still read to its end.
        #expect(recording.badLines <= Recording.mostBadLines + 4096)
    }

    @Test(arguments: ["{}\n", "\n", "no recording\n", "[", "{\"a\":1}"])
    func whatIsNoRecordingIsGivenUpSoon(part: String) throws {
        var furthest = 0.0
        var recording = Recording(for: "left")
        let bytes = Array(String(repeating: part, count: 4 * Self.much / part.utf8.count).utf8)
        #expect(throws: HTTPRefusal.self) { _ = try recording.read(bytes) { furthest = $0 } }
        #expect(furthest < 0.5 && recording.decodedLines == 0, "\(part.debugDescription): \(furthest)")
    }

    @Test func aShortRecordingCannotMakeALongTrace() throws {
        var text = ""
        for number in 0..<1000 {
            let touch = #"{"identifier":0,"clientX":\#(number),"clientY":9}"#
            let type = number == 0 ? "touchstart" : "touchmove"
            text += #"{"type":"\#(type)","timeStamp":\#(number * 16),"touches":[\#(touch)]}"# + "\n"
        }
        var whole = Recording(for: "left")
        let trace = try whole.read(Array(text.utf8)) { _ in }
        var recording = Recording(for: "left", mostTraceBytes: trace.count / 2)
        let refusal = try #require(throws: HTTPRefusal.self) { _ = try recording.read(Array(text.utf8)) { _ in } }
        #expect(refusal.message.contains("the trace of this recording has more than"), "\(refusal)")
    }
}
