// A growing camera history: how much memory it takes, and how often it is moved.

import GimbalProtocol
import TestSupport
import Testing

@testable import Hub

@Suite struct EventLogTests {
    /// Memory for long histories that records the requested sizes.
    private final class CountingMemory: HistoryMemory {
        private(set) var sizes: [Int] = []

        func allocate(_ count: Int) -> HistoryRegion? {
            guard count >= 64 << 10 else { return nil }
            sizes.append(count)
            return unsafe HistoryRegion(.allocate(byteCount: count, alignment: 1), count: count, offset: 0)
        }

        func adopt(at offset: UInt64, count: Int) -> HistoryRegion? { nil }
        func free(_ region: HistoryRegion) { unsafe region.start.deallocate() }
    }

    private let memory = CountingMemory()

    private func append(_ count: Int, of length: Int, to log: EventLog) {
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: length)
        for _ in 0..<count { log.append(line.span, kind: .cameraChanged) }
    }

    @Test func aHistoryThatBecomesLongHasAllItsRoomAtOnceAndIsNotMovedAgain() throws {
        let log = EventLog(limits: Limits(), memory: memory)
        append(100, of: 222, to: log)
        #expect(memory.sizes.isEmpty, "a short one lies elsewhere")
        append(20_000, of: 222, to: log)
        #expect(memory.sizes.count == 1)
        let held = log.byteCount(from: log.first)
        #expect(held >= Limits().historyBytes)
        #expect(try #require(memory.sizes.first) <= held * 9 / 8)
    }

    @Test func aHistoryWhoseLinesBecomeLongerGrowsAFewTimesAndHoldsWhatItMust() {
        let log = EventLog(limits: Limits(), memory: memory)
        for length in stride(from: 200, through: 1000, by: 10) { append(500, of: length, to: log) }
        append(10_000, of: 1000, to: log)
        #expect(memory.sizes.count <= 10)
        #expect(log.end - log.first >= UInt64(Limits().historyEvents))
        #expect(memory.sizes.last.map { $0 < log.byteCount(from: log.first) * 3 / 2 } == true)
        let last = unsafe log.run(from: log.end - 1, to: log.end).bytes
        #expect(unsafe last.count == 1000 && last.allSatisfy { $0 == UInt8(ascii: "x") })
    }

    @Test func aSmallHistoryTakesNoLongMemory() {
        var limits = Limits()
        (limits.historyEvents, limits.historyBytes) = (16, 4096)
        let log = EventLog(limits: limits, memory: memory)
        append(10_000, of: 222, to: log)
        #expect(memory.sizes.isEmpty)
    }

    @Test func eachKindOfLineIsHandedOver() throws {
        let log = EventLog(limits: Limits(), memory: nil)
        let kinds = EventKind.allCases.map { EventKinds([$0]).subtracting(.reset) } + [.reset]
        for kind in kinds {
            let line = Array("\(kind.rawValue)\n".utf8)
            if EventKinds.unnumbered.isDisjoint(with: kind) {
                log.append(line.span, kind: kind)
            } else {
                log.append(unnumbered: line.span, kind: kind)
            }
        }
        let next = try EventLog(log.record, limits: Limits(), memory: nil)
        #expect((next.first..<next.end).map(next.kind(of:)) == kinds)
    }
}
