// What a page drops, as a trace of one camera.

import Testing

@testable import WebServer

@Suite struct RecordingTests {
    private func ends(_ lines: String) throws -> Int {
        let trace = try Recording.trace(Array((#"{"type":"trace","version":1}"# + "\n" + lines).utf8), camera: "left")
        return String(decoding: trace, as: UTF8.self).split(separator: "\n").count { $0 == #"{"type":"trace-end"}"# }
    }

    @Test(arguments: [
        "", #"{"type":"marker","timeMs":0,"label":"\"trace-end\""}"# + "\n", #"{"type":"trace-end"}"#,
        #"{"type":"trace-end"}"# + "\n\n" + String(repeating: " ", count: 100) + "\n",
    ])
    func aTraceHasOneEnd(lines: String) throws {
        #expect(try ends(lines) == 1)
    }

    @Test(arguments: [
        #"{"type":"remove-camera","camera":"other"}"#, #"{"type":"trace","version":1,"camera":"other"}"#, "{",
    ])
    func whatStandsBehindTheEndOfATraceIsRefusedSinceItWouldBeTakenLive(line: String) throws {
        let error = try #require(throws: HTTPRefusal.self) { _ = try ends(#"{"type":"trace-end"}"# + "\n" + line) }
        #expect(error.status == .unprocessableContent && "\(error)".contains("behind its trace-end"), "\(error)")
    }
}
