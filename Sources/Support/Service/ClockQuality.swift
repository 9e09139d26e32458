// How good the machine's wall clock is, as those say who know: the kernel, which whatever keeps the clock tells it, and chronyd
// itself. Nothing here reads the time.

import CLinux
import GimbalProtocol
import JSONLines
import UnixSocket

/// How far the machine's wall clock may be off.
package struct ClockQuality: Equatable, Sendable {
    /// Whether a better clock keeps this one.
    package let isSynchronized: Bool
    /// How far it is off at the most, in microseconds from 0 on. It means nothing where the clock is not synchronized.
    package let maximumError: Double

    package init(isSynchronized: Bool, maximumError: Double) {
        (self.isSynchronized, self.maximumError) = (isSynchronized, maximumError)
    }

    /// For people, as the rest of a sentence: "synchronized, off by 35 µs at the most".
    package var text: PrintableText {
        isSynchronized ? "synchronized, off by \(Self.amount(maximumError)) at the most" : "not synchronized"
    }

    /// Microseconds in the unit that suits them, rounded up: what is true at the most stays so.
    private static func amount(_ error: Double) -> String {
        if error < 1000 { return "\(Int(error.rounded(.up))) µs" }
        if error < 1_000_000 { return "\((error / 100).rounded(.up) / 10) ms" }
        return "\((error / 100_000).rounded(.up) / 10) s"
    }
}

// MARK: Messages

extension ClockQuality {
    /// As messages have it: `errorMs` is in milliseconds.
    package var json: JSONValue {
        var object: JSONObject = ["synchronized": .bool(isSynchronized)]
        if isSynchronized { object["errorMs"] = .number(maximumError / 1000) }
        return .object(object)
    }

    /// Reads what messages have; `nil` if it is none.
    package init?(_ members: JSONObject) {
        guard let isSynchronized = members["synchronized"]?.bool else { return nil }
        let error = (members["errorMs"]?.number).flatMap { $0 >= 0 ? $0 * 1000 : nil }
        self.init(isSynchronized: isSynchronized, maximumError: error ?? .infinity)
    }
}

// MARK: The kernel

extension ClockQuality {
    /// What the kernel knows. It raises the maximum error by 500 µs a second until what keeps the clock sets it anew.
    ///
    /// - Throws: `EPERM` or `ENOSYS` where the process may not ask: it is in a sandbox that takes asking for setting.
    package static func kernel() throws(SystemError) -> ClockQuality {
        // Its `modes` are 0: nothing is set.
        var answer = timex()
        let state = unsafe adjtimex(&answer)
        guard state >= 0 else { throw SystemError("adjtimex") }
        return ClockQuality(state: state, answer)
    }

    /// Takes the kernel's answer (adjtimex(2)).
    ///
    /// - Parameter state: what the call has returned: `TIME_ERROR` where the clock cannot be relied on, whatever else is said.
    package init(state: CInt, _ answer: timex) {
        self.init(
            isSynchronized: answer.status & STA_UNSYNC == 0 && state != TIME_ERROR,
            maximumError: Double(max(answer.maxerror, 0)))
    }
}

// MARK: chronyd

extension ClockQuality {
    /// The reference of a chronyd that takes its own clock for the true one, by `local`: it says "Normal", and an error of 0.
    private static let ownClock: UInt32 = 0x7F7F_0101

    /// Takes chronyd's answer, as `chronyc -c -n tracking` prints it (chronyc(1)); `nil` if it is none.
    ///
    /// - Parameter line: 14 members with commas between them. Of them count the reference, in hexadecimal digits, how far the
    ///   system's clock is off, root delay and root dispersion, in seconds, and the leap status.
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
