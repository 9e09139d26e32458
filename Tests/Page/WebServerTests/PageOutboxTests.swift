// Data that waits for a page: the newest state of what moves, up to a limit.

import Testing

@testable import WebServer

@Suite struct PageOutboxTests {
    /// A page's outbox, and the totals of all events.
    private final class Outbox {
        private let outbox = PageOutbox()
        private var totals = EventTotals()

        func add(_ line: PageLine) {
            totals.add(line)
            outbox.add(line, totals)
        }

        @discardableResult
        func add(reply: [UInt8]) -> Bool { outbox.add(reply: reply) }
        func take() -> PageOutbox.Batch? { outbox.take(totals) }
        func begin(with introduction: [UInt8]) { outbox.begin(with: introduction) }
        func finish() { outbox.finish() }
    }

    private let outbox = Outbox()

    private func moved(_ seq: Int, camera: String = "main") -> PageLine {
        PageLine(bytes: Array("c\(seq) ".utf8), camera: camera, subject: .position(camera: camera), isCounted: true)
    }

    private func boundary(_ name: String, camera: String = "main") -> PageLine {
        PageLine(bytes: Array("\(name) ".utf8), camera: camera, isCounted: true, isBoundary: true)
    }

    private func text(_ batch: PageOutbox.Batch?) -> String? {
        guard let batch, batch.missed == nil else { return nil }
        return String(decoding: batch.bytes, as: UTF8.self)
    }

    @Test func ofPositionsOnlyTheNewestWaits() {
        for seq in 1...3 { outbox.add(moved(seq)) }
        outbox.add(moved(9, camera: "left"))
        #expect(text(outbox.take()) == "c3 c9 ")
        #expect(outbox.take() == PageOutbox.Batch())
    }

    @Test func aPositionStaysBetweenTheBeginningAndTheEndOfItsMovement() {
        for line in [boundary("began"), moved(1), moved(2), boundary("idle"), boundary("began"), moved(3), moved(4)] {
            outbox.add(line)
        }
        #expect(text(outbox.take()) == "began c2 idle began c4 ")
    }

    @Test func aPageThatDoesNotReadIsToldHowMuchItMissed() {
        for seq in 0..<PageOutbox.mostLines { outbox.add(boundary("b\(seq)")) }
        #expect(text(outbox.take())?.isEmpty == false)
        for seq in 0..<(3 * PageOutbox.mostLines) { outbox.add(boundary("b\(seq)")) }
        outbox.add(moved(1, camera: "left"))
        #expect(outbox.take() == PageOutbox.Batch(missed: ["main": 3 * PageOutbox.mostLines, "left": 1]))
        #expect(outbox.take() == PageOutbox.Batch())
        outbox.add(moved(2))
        #expect(text(outbox.take()) == "c2 ")
    }

    @Test func whatOthersWereToldBeforeIsNothingThatAPageMissed() {
        let (early, late) = (PageOutbox(), PageOutbox())
        var totals = EventTotals()
        for seq in 0..<10 {
            totals.add(moved(seq))
            early.add(moved(seq), totals)
        }
        for seq in 0...PageOutbox.mostLines {
            totals.add(boundary("b\(seq)"))
            late.add(boundary("b\(seq)"), totals)
        }
        totals.add(moved(7, camera: "left"))
        #expect(late.take(totals) == PageOutbox.Batch(missed: ["main": PageOutbox.mostLines + 1, "left": 1]))
        #expect(early.take(totals) == PageOutbox.Batch(bytes: Array("c9 ".utf8)))
    }

    @Test func aPageThatBeginsHasMissedNothing() {
        outbox.begin(with: Array("page ".utf8))
        outbox.add(boundary("began"))
        outbox.add(reply: Array("ok\n".utf8))
        #expect(outbox.take() == PageOutbox.Batch(bytes: Array("page ok\n".utf8), missed: [:]))
        outbox.add(boundary("idle"))
        #expect(text(outbox.take()) == "idle ")
        outbox.finish()
        outbox.begin(with: [])
        #expect(outbox.take() == nil)
    }

    @Test func manyBytesAreAsMuchAsManyLines() {
        let large = PageLine(
            bytes: Array(repeating: 0x20, count: PageOutbox.mostBytes / 4), camera: "main", isCounted: true)
        for _ in 0..<5 { outbox.add(large) }
        #expect(outbox.take() == PageOutbox.Batch(missed: ["main": 5]))
    }

    @Test func repliesAreKeptWhileAPageIsBehind() {
        for seq in 0...PageOutbox.mostLines { outbox.add(boundary("b\(seq)")) }
        outbox.add(reply: Array("ok\n".utf8))
        let missed = ["main": PageOutbox.mostLines + 1]
        #expect(outbox.take() == PageOutbox.Batch(bytes: Array("ok\n".utf8), missed: missed))
    }

    @Test func aPageThatReadsNoReplyIsLetGo() {
        let reply = Array(repeating: UInt8(ascii: "x"), count: PageOutbox.mostReplyBytes / 2)
        #expect((0..<4).map { _ in outbox.add(reply: reply) } == [true, true, false, false])
        #expect(outbox.take() == nil)
    }

    @Test func linesThatAreReplacedForEverTakeNoRoom() {
        for seq in 0..<100_000 { outbox.add(moved(seq)) }
        #expect(text(outbox.take()) == "c99999 ")
    }
}
