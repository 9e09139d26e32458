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
    /// The bytes of chronyd's tracking report, and of the request for it: chronyd sends no more than it has received.
    private static let trackingLength = 104
    /// The reference of a chronyd that takes its own clock as true, by `local`: it reports an error of 0.
    private static let ownClock: UInt32 = 0x7F7F_0101

    /// Returns a request for chronyd's tracking report, in version 6 of its command protocol (candm.h of chrony).
    ///
    /// - Parameter number: any number; the reply repeats it.
    package static func trackingRequest(_ number: UInt32) -> [UInt8] {
        // The version, a request, two reserved bytes, the command "tracking", and the attempt.
        let header: [UInt8] = [6, 1, 0, 0, 0, 33, 0, 0]
        let request = header + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        return request + [UInt8](repeating: 0, count: trackingLength - request.count)
    }

    /// Reads chronyd's reply to the request with a number; `nil` if it is not valid.
    ///
    /// - Parameter reply: big-endian. Used are the reference, from byte 28 on; the leap status at 54, where 3 is not
    ///   synchronized; and in seconds, the offset of the system's clock at 68, root delay at 92, and root dispersion at
    ///   96.
    package init?(tracking reply: [UInt8], to number: UInt32) {
        func integer(_ range: Range<Int>) -> UInt32 { reply[range].reduce(0) { $0 << 8 | UInt32($1) } }
        // 7 bits are the exponent, 25 the coefficient, both signed, so the result is at most 2^62.
        func seconds(_ start: Int) -> Double {
            let bits = Int32(bitPattern: integer(start..<start + 4))
            return abs(Double(sign: .plus, exponent: Int(bits >> 25) - 25, significand: Double((bits << 7) >> 7)))
        }
        // The version, a reply, two reserved bytes, the command "tracking", its report, and the status "success".
        guard reply.count == Self.trackingLength, reply.starts(with: [6, 2, 0, 0, 0, 33, 0, 5, 0, 0]),
            integer(16..<20) == number, integer(54..<56) <= 3
        else { return nil }
        self.init(
            isSynchronized: integer(54..<56) != 3 && ![0, Self.ownClock].contains(integer(28..<32)),
            maximumError: (seconds(68) + seconds(92) / 2 + seconds(96)) * 1e6)
    }
}
