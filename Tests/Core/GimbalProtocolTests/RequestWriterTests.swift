// Written requests mean the same as those that were read.

import Gestures
import TestSupport
import Testing

@testable import GimbalProtocol

/// Returns what is written to a line, which has to grow on the way.
func written(_ write: (inout LineWriter) -> Void) -> String {
    var writer = LineWriter(capacity: 4)
    write(&writer)
    return writer.withBytes { bytes in String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self) }
}

/// Returns the requests of a line.
func decode(_ line: String) throws(Rejection) -> [Request] {
    try RequestDecoder.requests(of: Array(line.utf8).span)
}

@Suite struct RequestWriterTests {
    /// Returns what requests ask for; a gesture's time is its line's.
    private func meaning(_ requests: [Request]) -> [String] {
        requests.map { request in
            guard case .gesture(var gesture) = request.body else { return "\(request.body)" }
            gesture.event.time = nil
            return "\(gesture)"
        }
    }

    @Test func everyExampleIsWrittenAsItIsMeant() throws {
        var count = 0
        for kind in ["client", "trace"] {
            for line in try Files.fenced("json \(kind)", in: "Protocols/README.md") {
                let requests = try decode(line)
                let moving = requests.filter { request in
                    request.body.isCommand || { if case .gesture = $0 { true } else { false } }(request.body)
                }
                guard !moving.isEmpty, moving.count == requests.count else { continue }
                let again = written { $0.requests(requests.map(\.body), timeMs: 0.1) }
                #expect(try meaning(decode(again)) == meaning(requests), "\(again)")
                #expect(try decode(again)[0].timeMs == 0.1)
                count += 1
            }
        }
        #expect(count > 30)
    }

    @Test func numbersThatJSONCannotCarryAreRefused() throws {
        let largest = 1 << 53 - 1
        let line = String(decoding: try ClientRequest.ping.line(id: .number(-largest)), as: UTF8.self)
        #expect(line == "{\"type\":\"ping\",\"id\":-\(largest)}\n")
        #expect(throws: EncodingError.self) { try ClientRequest.ping.line(id: .number(largest + 1)) }
        let tap = GestureEvent(.doubleTap, .ended)
        #expect(throws: EncodingError.self) { try ClientRequest.gesture(tap, label: .number(.max)).line() }
        #expect(throws: EncodingError.self) { try ClientRequest.line(batch: [.ping], ids: [.number(.min)]) }
    }

    @Test func numbersAreReadBackUnharmed() throws {
        var random = Seeded(3)
        var numbers = [0, -0.0, 0.1, -1, 1e9, 0x1p53, 1e15, -1e15, .leastNonzeroMagnitude, 1e-9, .pi]
        for _ in 0..<2000 { numbers.append(random.number(-1...1) * [1e-6, 1, 180, 1e9, 1e15][random.integer(0...4)]) }
        for number in numbers {
            let text = written { $0.write(exact: number) }
            #expect(try JSON(text).number == number, "\(text)")
            #expect(number.magnitude >= 0x1p53 || !text.hasSuffix(".0"))
        }
    }
}
