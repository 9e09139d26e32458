// Traces in memory: lines from bytes that are split anywhere, edited headers, and runs.

import Foundation
import GimbalProtocol
import TestSupport
import Testing
import Traces

/// Runs that a header repeats several times.
@Suite struct RepeatedTraceTests {
    private let lines = (0..<50).map {
        #"{"type":"move","timeMs":\#($0),"update":{"kind":"zoom-to","zoom":\#(3 + $0 % 9)}}"#
    }

    private func header(_ loop: Int) -> String { #"{"type":"trace","version":1,"speed":"max","loop":\#(loop)}"# }

    @Test func whatManyRoundsBringIsHandedOverInParts() throws {
        let run = try TraceRun(camera: "main")
        var (parts, largest, resets) = (0, 0, 0)
        func take(_ played: TraceRun.Line) {
            parts += 1
            largest = max(largest, played.messages.reduce(0) { $0 + $1.bytes.count })
            resets += played.messages.count { $0.type == .reset }
        }
        for line in [header(500)] + lines { run.play(Array(line.utf8), take) }
        run.finish(take)
        #expect(resets == 500 && parts > 52 && largest < 3 << 20)
    }

    @Test func whatIsComparedIsPlayedOnce() throws {
        let once = try TraceRun.events(of: Trace(Data(([header(1)] + lines).joined(separator: "\n").utf8)))
        let often = try TraceRun.events(of: Trace(Data(([header(3)] + lines).joined(separator: "\n").utf8)))
        #expect(once == often)
    }
}

@Suite struct TraceTests {
    private let sample = #"{"type":"trace","version":1,"camera":"left","speed":2,"own":[1,{"a":null}]}"#

    private func sampleBytes() throws -> [UInt8] { try Files.data("Protocols/examples/traces/pinch-and-rotate.ndjson") }

    // MARK: Lines

    @Test func linesAreTheSameHoweverTheBytesAreCut() {
        let long = [UInt8](repeating: 0x61, count: RequestDecoder.longestLine + 7)
        let bytes = Array("one\r\n\n\ttwo\n".utf8) + long + Array("\nthree".utf8)
        for size in [1, 2, 3, 7, 4096, bytes.count] {
            var splitter = LineSplitter()
            var lines: [LineSplitter.Line] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                splitter.read(bytes[start..<min(start + size, bytes.count)]) { lines.append($0) }
            }
            splitter.finish { lines.append($0) }
            #expect(lines.map(\.number) == [1, 2, 3, 4, 5], "\(size)")
            #expect(lines.map(\.isTooLong) == [false, false, false, true, false])
            #expect(lines.map(\.isBlank) == [false, true, false, false, false])
            #expect(lines[0].raw == Array("one\r\n".utf8)[...] && lines[0].text == Array("one".utf8)[...])
            #expect(lines[3].text.count > RequestDecoder.longestLine)
            #expect(lines[4].raw == Array("three".utf8)[...] && lines[4].ended == Array("three\n".utf8))
        }
    }

    // MARK: Headers

    @Test func aHeaderKeepsWhatIsNotSet() throws {
        var header = try HeaderLine(Array(sample.utf8))
        #expect(header.isRight && header.camera == "left" && header.header?.speed == 2)
        try header.set([("camera", .string("right")), ("speed", nil)])
        #expect(
            String(decoding: header.bytes, as: UTF8.self)
                == #"{"type":"trace","version":1,"camera":"right","own":[1,{"a":null}]}"#)
        #expect(header.camera == "right" && header.header?.speed == 1)
        #expect(try header.atHighestSpeed().header?.speed == .infinity)
    }

    @Test func aHeaderThatWouldNotBeRightIsRefused() throws {
        var header = try HeaderLine(Array(sample.utf8))
        #expect(throws: TraceError.self) { try header.set([("speed", .string("fast"))]) }
        #expect(header.header?.speed == 2)
        #expect(throws: TraceError.noHeader) { try HeaderLine(Array(#"{"type":"ping"}"#.utf8)) }
        #expect(try !HeaderLine(Array(#"{"type":"trace","version":2}"#.utf8)).isRight)
    }

    // MARK: Traces

    @Test func aTraceIsReadAndWrittenAsItIs() throws {
        let bytes = try sampleBytes()
        let trace = try Trace(bytes)
        #expect(trace.bytes == bytes)
        #expect(trace.lines.count == bytes.count { $0 == 0x0a } - 2)
        #expect(trace.startMs == 1067.182 && trace.endMs == 2477.182)
    }

    @Test func whatIsNoSingleTraceIsRefused() throws {
        let bytes = try sampleBytes()
        #expect(throws: TraceError.empty) { try Trace("\n \n".utf8) }
        #expect(throws: TraceError.noHeader) { try Trace("{\"type\":\"ping\"}".utf8) }
        #expect(throws: TraceError.self) { try Trace(bytes + bytes) }
        #expect(throws: TraceError.self) { try Trace(#"{"type":"trace","version":1,"speed":0}"#.utf8) }
        #expect(try Trace(bytes + [0x0a, 0x20, 0x0a]).bytes == bytes)
    }

    // MARK: Runs

    @Test func aRunTellsWhatEachLineBrings() throws {
        let run = try TraceRun(camera: "main")
        var types: [[MessageType?]] = []
        for line in [
            #"{"type":"trace","version":1,"speed":"max"}"#, #"{"type":"move","timeMs":5,"update":{"kind":"zoom-in"}}"#,
            #"{"type":"fly","timeMs":5}"#,
        ] { run.play(Array(line.utf8)) { types.append($0.messages.map(\.type)) } }
        #expect(types == [[.reset], [.moveStarted, .cameraChanged, .idle], [.error]])
        guard case .camera(let state)? = try run.ask(.getCamera()).first?.content else {
            Issue.record("no answer")
            return
        }
        #expect(state.position.zoom == 3)
        run.finish { types.append($0.messages.map(\.type)) }
        #expect(types.last == [.traceEnded])
    }
}
