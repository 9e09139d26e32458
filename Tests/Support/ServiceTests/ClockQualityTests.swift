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

    /// Output of chronyd 4.3 with a server in the same network.
    private static let kept =
        "C0A80001,192.168.0.1,2,1795651709.986240685,-0.000012000,0.000003021,0.000008112,-6.123,0.002,0.031,"
        + "0.000020000,0.000013000,16.2,Normal"
    /// Its output without a server, and with only "local stratum 10".
    private static let alone =
        "00000000,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,1.000000000,1.000000000,0.0,"
        + "Not synchronised"
    private static let local =
        "7F7F0101,,10,1795651709.986240685,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,0.000000000,"
        + "0.000000000,0.0,Normal"

    @Test func theErrorIsTheOffsetHalfTheDelayAndTheDispersion() throws {
        let quality = try #require(ClockQuality(tracking: Self.kept))
        #expect(quality.isSynchronized)
        #expect(quality.maximumError == (0.000012 + 0.00002 / 2 + 0.000013) * 1e6)
        #expect(quality.text.description == "synchronized, off by at most 35 µs")
    }

    @Test(arguments: ["Insert second", "Delete second"]) func aLeapSecondToComeChangesNothing(_ leap: String) {
        let line = Self.kept.replacing("Normal", with: leap)
        #expect(ClockQuality(tracking: line) == ClockQuality(tracking: Self.kept))
    }

    @Test(arguments: [alone, local, kept.replacing("Normal", with: "Not synchronised")])
    func aChronydWithoutAnotherClockKeepsNone(_ line: String) throws {
        let quality = try #require(ClockQuality(tracking: line))
        #expect(!quality.isSynchronized && quality.text.description == "not synchronized")
    }

    @Test func whatIsNoAnswerIsNone() {
        for garbage in ["", "\n", "506 Cannot talk to daemon", String(repeating: ",", count: 13)] {
            #expect(ClockQuality(tracking: garbage) == nil)
        }
        let members = Self.kept.split(separator: ",").map(String.init)
        #expect(ClockQuality(tracking: members.dropLast().joined(separator: ",")) == nil)
        // Each relevant member in turn.
        for index in [0, 4, 10, 11, 13] {
            for wrong in ["", "x", "nan", "inf", "C0A8000", "+C0A8000"] {
                var members = members
                members[index] = wrong
                #expect(ClockQuality(tracking: members.joined(separator: ",")) == nil, "\(index): \(wrong)")
            }
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
