// The quality of the machine's wall clock, as chronyd or the kernel reports it (the kernel has it from the program that
// keeps the clock). Nothing here reads the time.

import CLinux
import GimbalProtocol
import JSONLines
import UnixSocket

/// How far the machine's wall clock may be off.
package struct ClockQuality: Equatable, Sendable {
    /// Whether the clock is synchronized to a better one.
    package let isSynchronized: Bool
    /// How far the clock is off at most, in microseconds from 0 on. Has no meaning if the clock is not synchronized.
    package let maximumError: Double

    package init(isSynchronized: Bool, maximumError: Double) {
        (self.isSynchronized, self.maximumError) = (isSynchronized, maximumError)
    }

    /// The quality as the end of a sentence: "synchronized, off by at most 35 µs".
    package var text: PrintableText {
        isSynchronized ? "synchronized, off by at most \(Self.amount(maximumError))" : "not synchronized"
    }

    /// Returns microseconds in the unit that suits them, rounded up, so that an upper bound stays one.
    private static func amount(_ error: Double) -> String {
        if error < 1000 { return "\(Int(error.rounded(.up))) µs" }
        if error < 1_000_000 { return "\((error / 100).rounded(.up) / 10) ms" }
        return "\((error / 100_000).rounded(.up) / 10) s"
    }
}

// MARK: Messages

extension ClockQuality {
    /// The quality as in messages; `errorMs` is in milliseconds.
    package var json: JSONValue {
        var object: JSONObject = ["synchronized": .bool(isSynchronized)]
        if isSynchronized { object["errorMs"] = .number(maximumError / 1000) }
        return .object(object)
    }

    /// Reads the members of a message; `nil` if they are not valid.
    package init?(_ members: JSONObject) {
        guard let isSynchronized = members["synchronized"]?.bool else { return nil }
        let error = (members["errorMs"]?.number).flatMap { $0 >= 0 ? $0 * 1000 : nil }
        self.init(isSynchronized: isSynchronized, maximumError: error ?? .infinity)
    }
}

// MARK: The kernel

extension ClockQuality {
    /// Returns the kernel's estimate. Its maximum error grows by 500 µs a second until the clock's keeper sets it anew.
    ///
    /// - Throws: `EPERM` or `ENOSYS` if the process may not ask: some sandboxes mistake a query for setting the clock.
    package static func kernel() throws(SystemError) -> ClockQuality {
        // `modes` is 0, so nothing is set.
        var answer = timex()
        let state = unsafe adjtimex(&answer)
        guard state >= 0 else { throw SystemError("adjtimex") }
        return ClockQuality(state: state, answer)
    }

    /// Reads the kernel's answer (adjtimex(2)).
    ///
    /// - Parameter state: the call's result: with `TIME_ERROR` the clock is unreliable, whatever the answer says.
    package init(state: CInt, _ answer: timex) {
        self.init(
            isSynchronized: answer.status & STA_UNSYNC == 0 && state != TIME_ERROR,
            maximumError: Double(max(answer.maxerror, 0)))
    }
}

// MARK: chronyd

extension ClockQuality {
    /// The reference of a chronyd that takes its own clock as true, by `local`: it reports "Normal", and an error of 0.
    private static let ownClock: UInt32 = 0x7F7F_0101

    /// Reads chronyd's answer, as `chronyc -c -n tracking` prints it (chronyc(1)); `nil` if it is not valid.
    ///
    /// - Parameter line: 14 members separated by commas. Used are the reference, in hexadecimal digits; the offset of
    ///   the system's clock, root delay and root dispersion, in seconds; and the leap status.
    package init?(tracking line: some StringProtocol) {
        let members = line.split(separator: ",", omittingEmptySubsequences: false)
        guard members.count >= 14, members[0].utf8.count == 8, members[0].allSatisfy(\.isHexDigit),
            let reference = UInt32(members[0], radix: 16)
        else { return nil }
        let seconds = [4, 10, 11].compactMap { Double(members[$0]) }.filter(\.isFinite).map(abs)
        guard seconds.count == 3,
            ["Normal", "Insert second", "Delete second", "Not synchronised"].contains(members[13])
        else { return nil }
        self.init(
            isSynchronized: members[13] != "Not synchronised" && reference != 0 && reference != Self.ownClock,
            maximumError: (seconds[0] + seconds[1] / 2 + seconds[2]) * 1e6)
    }
}
