// The fast path for reading a line gives the same result as the general decoder.

import Foundation
import Gestures
import TestSupport
import Testing

@testable import GimbalProtocol

@Suite struct GestureLineTests {
    /// Lines that the fast path reads, and near misses.
    private static let lines: [String] = [
        #"{"type":"pan","phase":"changed","focus":{"x":195.5,"y":420},"translation":{"x":-12.625,"y":3.5}}"#,
        #"{"type": "pan", "phase": "began", "focus": {"x": 0, "y": -0.0}, "translation": {"x": 1, "y": 2}}"#,
        #"{"type":"pan","camera":"left","phase":"ended","translation":{"x":1e2,"y":2}}"#,
        #"{"type":"pinch","phase":"changed","scale":1.0625,"focus":{"x":1,"y":2},"timeMs":1234.5,"id":17}"#,
        #"{"type":"rotate","timeMs":-7,"id":"a-b","phase":"changed","rotationDeg":-0.123456789}"#,
        #"{"type":"tilt","phase":"changed","translation":{"y":-12345678.12345678}}"#,
        #"{"type":"one-finger-zoom","phase":"began","gesture":3,"translation":{"x":1,"y":123456789012345}}"#,
        #"{"type":"double-tap","focus":{"x":12.0000000000000001,"y":0.1}}"#,
        #"{"type":"two-finger-tap","phase":"ended","camera":"c.1_2-3"}"#,
    ]

    /// Returns a line's meaning according to the general decoder.
    private func general(_ line: [UInt8], _ decoder: inout RequestDecoder) -> String {
        var requests: [Request] = []
        do throws(Rejection) {
            try decoder.decodeAny(line.span, into: &requests)
            return "\(requests)"
        } catch {
            return "\(error)"
        }
    }

    /// Compares both on a line that the fast path reads; returns whether it does.
    private func compare(_ line: [UInt8], _ decoder: inout RequestDecoder) -> Bool {
        guard GestureLine(line.span) != nil else { return false }
        let wanted = general(line, &decoder)
        do throws(Rejection) {
            let read = "\(try decoder.decode(line.span))"
            if read != wanted {
                Issue.record("\(String(decoding: line, as: UTF8.self)): \(read), and the decoder reads \(wanted)")
            }
        } catch {
            // A line whose camera name is invalid is left to the decoder after all.
            let text = String(decoding: line, as: UTF8.self)
            if "\(error)" != wanted { Issue.record("\(text): \(error), not \(wanted)") }
        }
        return true
    }

    @Test func readsMutatedLinesAsTheDecoderDoes() {
        let seeds = Self.lines.map { Array($0.utf8) }
        let alphabet = Array("{}[]:,\"\\ \t0123456789eE+-.xyutfnalsrd*\u{0}\u{1f}é".utf8)
        let pieces = [
            #","phase":"changed""#, #","focus":{"x":1,"y":2}"#, #","id":1"#, #","id":"x""#, #","gesture":2"#,
            #","timeMs":0"#, #","translation":{"x":1,"y":2}"#, #","scale":2"#, #","camera":"*""#, #","create":false"#,
            #","velocity":{}"#, " ",
        ].map { Array($0.utf8) }
        var random = Seeded(1)
        var decoder = RequestDecoder()
        var (read, left) = (0, 0)
        for _ in 0..<40_000 {
            var line = seeds.randomElement(using: &random)!
            for _ in 0..<random.integer(1...2) {
                let place = random.integer(0...(line.count - 1))
                switch random.integer(0...5) {
                case 0: line[place] = alphabet.randomElement(using: &random)!
                case 1: line.insert(alphabet.randomElement(using: &random)!, at: place)
                case 2: line.remove(at: place)
                case 3: line.insert(line[random.integer(0...(line.count - 1))], at: place)
                case 4:
                    let ends = line.indices.filter { [UInt8(ascii: ","), UInt8(ascii: "}")].contains(line[$0]) }
                    if let comma = ends.randomElement(using: &random) {
                        line.insert(contentsOf: pieces.randomElement(using: &random)!, at: comma)
                    }
                default:
                    let digit = line.indices.filter { (0x30...0x39).contains(line[$0]) }.randomElement(using: &random)
                    if let digit { line[digit] = UInt8(random.integer(0x30...0x39)) }
                }
            }
            if compare(line, &decoder) { read += 1 } else { left += 1 }
        }
        #expect(read > 4_000 && left > 10_000, "\(read) read, \(left) left to the decoder")
    }

    @Test func readsTheLinesOfCasesAndTracesAsTheDecoderDoes() throws {
        var decoder = RequestDecoder()
        var lines = try Files.list("Protocols/conformance", "json").flatMap { file in
            let cases = try JSON(String(contentsOf: file, encoding: .utf8))["cases"]?.array ?? []
            return cases.flatMap { $0["steps"]?.array ?? [] }.compactMap { $0["send"].map { $0.string ?? $0.text } }
        }
        for file in Files.list("Protocols/examples/traces", "ndjson") {
            lines += try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        let read = lines.count { compare(Array($0.utf8), &decoder) }
        #expect(read > 300, "of \(lines.count) lines")
    }

    @Test(arguments: [
        #"{"type":"pan","phase":"changed"}"#, #"{"type":"pan","phase":"cancelled","camera":"a","gesture":12,"id":"b"}"#,
        #"{"type":"pinch","phase":"began","scale":1e-9}"#, #"{"type":"tilt","phase":"ended","translation":{"y":1}}"#,
        #"{"type":"double-tap"}"#, #"{"type": "rotate", "rotationDeg": 0.5, "phase": "changed"}"#,
        #"{"type":"rotate","phase":"changed","rotationDeg":-123456789.12345678901234567890}"#,
    ])
    func readsALineThatMostClientsWrite(_ line: String) {
        #expect(GestureLine(Array(line.utf8).span) != nil)
    }

    @Test(arguments: [
        #"{"type":"pan"}"#, #"{"type":"move","update":{"kind":"zoom-in"}}"#,
        #"{"type":"pinch","phase":"changed","scale":0}"#,
        #"{"type":"pan","phase":"changed","phase":"changed"}"#, #"{"type":"pan","phase":"changed","id":1,"id":2}"#,
        #"{"type":"pan","phase":"changed","focus":{"x":1}}"#, #"{"type":"pan","phase":"changed","id":01}"#,
        #"{"type":"pan","phase":"changed","id":1.5}"#, #"{"type":"pan","phase":"changed","translation":"id":1}"#,
        #"{"type":"pan","phase":"changed","focus":{"x":1e10,"y":0}}"#, #"{"type":"pan","phase":"changed"}}"#,
        #"{"type":"pan","phase":"changed""#, #"{"type":"pan","phase":"changed",}"#,
        #"[{"type":"pan","phase":"changed"}]"#,
        #"{"type":"pan","phase":"changed","camera":""}"#, #"{"type":"pan","phase":"changed","camera":"\u0061"}"#, "",
        "{",
    ])
    func leavesToTheDecoderWhatIsWrongOrElse(_ line: String) {
        #expect(GestureLine(Array(line.utf8).span) == nil)
    }
}

extension GestureLine {
    fileprivate init?(_ line: Span<UInt8>) {
        self.init()
        guard read(line) else { return nil }
    }
}
