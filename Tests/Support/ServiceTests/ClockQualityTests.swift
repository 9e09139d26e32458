// The quality of a clock according to the kernel and chronyd, as values and in words.

import CLinux
import Service
import Testing

@Suite struct ClockQualityTests {
    // MARK: The kernel

    private func quality(_ state: CInt = TIME_OK, status: CInt = STA_PLL, maximum: Int = 35) -> ClockQuality {
        var answer = timex()
        (answer.status, answer.esterror, answer.maxerror) = (status, 4, maximum)
        return ClockQuality(state: state, answer)
    }

    @Test func aClockThatTheKernelKnowsToBeKeptIsSynchronized() {
        #expect(quality() == ClockQuality(isSynchronized: true, maximumError: 35))
        for state in [TIME_INS, TIME_DEL, TIME_OOP, TIME_WAIT] { #expect(quality(state).isSynchronized) }
    }

    @Test func anUnsynchronizedStatusAndAnErrorAreEachEnough() {
        #expect(!quality(status: STA_PLL | STA_UNSYNC).isSynchronized)
        #expect(!quality(TIME_ERROR).isSynchronized)
        #expect(!quality(TIME_ERROR, status: STA_UNSYNC).isSynchronized)
    }

    @Test func anErrorBelowNothingIsNone() { #expect(quality(maximum: -1).maximumError == 0) }

    // MARK: chronyd

    /// Replies of chronyd 4.3 to request 0x12345678: with a server, without one, and with only "local stratum 10".
    private static let kept = bytes(
        "060200000021000500000000000000001234567800000000000000007f0000017f00000100000000000000000000000000010000"
            + "000b0000000000006b09ba0a08614005dd564ac5d4c171c4d48b61e9fc9a810af897870b029ae2a7e0ce870cdca0fb28fc82e3d6"
    )
    private static let alone = bytes(
        "06020000002100050000000000000000123456780000000000000000000000000000000000000000000000000000000000000000"
            + "00000003000000000000000000000000000000000000000000000000000000000000000000000000048000000480000000000000"
    )
    private static let local = bytes(
        "060200000021000500000000000000001234567800000000000000007f7f01010000000000000000000000000000000000000000"
            + "000a0000000000006b09ba090cb316a7000000000000000000000000000000000000000000000000000000000000000000000000"
    )
    /// What it replies to a request that is too short.
    private static let refusal = bytes("06020000002100010013000000000000123456780000000000000000")

    private static func bytes(_ digits: String) -> [UInt8] {
        let digits = digits.compactMap(\.hexDigitValue).map(UInt8.init)
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private func read(_ reply: [UInt8]) -> ClockQuality? { ClockQuality(tracking: reply, to: 0x1234_5678) }

    @Test func theRequestHasItsNumberAndRoomForTheReply() {
        let request = ClockQuality.trackingRequest(0x1234_5678)
        #expect(request == Self.bytes("060100000021000012345678") + [UInt8](repeating: 0, count: 92))
    }

    @Test func theErrorIsTheOffsetHalfTheDelayAndTheDispersion() throws {
        let quality = try #require(read(Self.kept))
        #expect(quality.isSynchronized)
        // As chronyc prints them: an offset of -1.264 µs, 6.155 µs and 1.199 µs.
        #expect(abs(quality.maximumError - (1.264 + 6.155 / 2 + 1.199)) < 0.001)
        #expect(quality.text.description == "synchronized, off by at most 6 µs")
    }

    @Test func aLeapSecondToComeChangesNothing() {
        for leap: UInt8 in [1, 2] {
            var reply = Self.kept
            reply[55] = leap
            #expect(read(reply) == read(Self.kept))
        }
    }

    @Test func aChronydWithoutAnotherClockKeepsNone() throws {
        var unsynchronized = Self.kept
        unsynchronized[55] = 3
        var withoutReference = Self.kept
        withoutReference.replaceSubrange(28..<32, with: [0, 0, 0, 0])
        for reply in [Self.alone, Self.local, unsynchronized, withoutReference] {
            let quality = try #require(read(reply))
            #expect(!quality.isSynchronized && quality.text.description == "not synchronized")
        }
    }

    @Test func whatIsNoReplyIsNone() {
        #expect(read(Self.refusal) == nil)
        #expect(read(Self.kept + [0]) == nil)
        for count in 0..<Self.kept.count { #expect(read(Array(Self.kept.prefix(count))) == nil) }
        // The version up to the status, the number, and the leap status.
        for index in Array(0..<10) + Array(16..<20) + [54] {
            var reply = Self.kept
            reply[index] ^= 0x80
            #expect(read(reply) == nil, "byte \(index)")
        }
        var reply = Self.kept
        reply[55] = 4
        #expect(read(reply) == nil)
    }

    @Test func anyNumbersMakeAnError() throws {
        // From 2^38 to the highest and lowest, and the next to nothing.
        for (word, seconds): ([UInt8], Double) in [
            ([0x7E, 0, 0, 1], 0x1p38), ([0x7E, 0xFF, 0xFF, 0xFF], 0x0.ffffffp62), ([0x7F, 0, 0, 0], 0x1p62),
            ([0x80, 0, 0, 1], 0x1p-89), ([0xFF, 0xFF, 0xFF, 0xFF], 0x1p-26),
        ] {
            var reply = Self.kept
            for start in [68, 92, 96] { reply.replaceSubrange(start..<start + 4, with: word) }
            let quality = try #require(read(reply))
            #expect(quality.maximumError == seconds * 2.5 * 1e6)
            #expect(quality.text.description.hasPrefix("synchronized, off by at most "))
        }
    }

    // MARK: Words

    @Test(arguments: [
        (0, "0 µs"), (0.2, "1 µs"), (34.1, "35 µs"), (999.5, "1000 µs"), (1000, "1.0 ms"), (32_501, "32.6 ms"),
        (1_000_000, "1.0 s"), (15_999_999, "16.0 s"),
    ]) func anErrorAtTheMostIsRoundedUp(_ error: Double, _ words: String) {
        let quality = ClockQuality(isSynchronized: true, maximumError: error)
        #expect(quality.text.description == "synchronized, off by at most \(words)")
    }
}
