// The kept lines of a trace, compared with a plain list.

import GimbalProtocol
import TestSupport
import Testing

@testable import Hub

@Suite struct KeptLinesTests {
    private func line(_ number: Int, length: Int) -> [UInt8] {
        Array(#"{"type":"marker","label":"\#(number)"\#(String(repeating: " ", count: length))}"#.utf8)
    }

    private func label(_ line: Int, of lines: KeptLines) throws -> String {
        var decoder = RequestDecoder()
        guard case .marker(let label) = try #require(lines.requests(of: line, &decoder).requests.first).body else {
            return ""
        }
        return label
    }

    private func copy(_ lines: KeptLines) throws -> KeptLines {
        let copy = try StateDecoder.decode(KeptLines.self, from: StateEncoder.encode(lines))
        #expect(copy.isPossible)
        return copy
    }

    @Test(arguments: UInt64(1)...8) func everyLineThatIsKeptIsTheOneThatWasRead(seed: UInt64) throws {
        var random = Seeded(seed)
        var lines = KeptLines()
        for number in 0..<1500 {
            let length = random.chance(0.1) ? random.integer(0...9000) : 9
            lines.append(line(number, length: length).span, at: Double(number))
            if random.chance(0.02) { _ = lines.dropOldest() }
            if random.chance(0.01) { lines = try copy(lines) }
        }
        #expect(lines.end == 1500 && lines.first > 0 && lines.first < 1500)
        for number in lines.first..<lines.end {
            #expect(lines.time(of: number) == Double(number))
            #expect(try label(number, of: lines) == "\(number)")
        }
    }

    @Test func longLinesAreLetGoOfButForTheLastOnes() {
        var lines = KeptLines()
        for number in 0..<300 { lines.append(line(number, length: 60_000).span, at: 0) }
        while lines.dropOldest() {}
        #expect(lines.byteCount < 3 * 64 << 10)
    }
}
