// chronyd's own answer about the machine's clock, a datagram from its command port. Nothing needs to wait for it: each
// look at the clock reads the answer to the query that the look before has sent.

import Glibc
import Service

final class Chronyd {
    private static let address = "127.0.0.1:323"
    /// How long the first answer may take, in milliseconds.
    private static let patience: CInt = 200
    /// The time between two queries, in milliseconds; several mirrors may look at the clock in one turn.
    private static let shortestPause = 500.0
    /// How old an answer may be, in milliseconds. A mirror at rest looks at the clock once a minute.
    private static let longestUse = 100_000.0

    /// -1 if there is none: then there are no answers.
    private let socket: CInt
    private var query: (number: UInt32, time: Double) = (0, 0)
    private var answer: (quality: ClockQuality, time: Double)?

    /// Asks for the first time, and waits briefly for the answer. Where nothing listens, the system says so at once.
    init() {
        socket = (try? Views.connected(Self.address)) ?? -1
        ask(at: MonotonicClock.now)
        var ready = pollfd(fd: socket, events: CShort(POLLIN), revents: 0)
        if socket >= 0 { _ = unsafe poll(&ready, 1, Self.patience) }
    }

    deinit { if socket >= 0 { _ = close(socket) } }

    /// Returns the last answer, and asks again; `nil` if there is no chronyd, or it has not answered for too long.
    func quality(at now: Double) -> ClockQuality? {
        receive()
        if now - query.time >= Self.shortestPause { ask(at: now) }
        return answer.flatMap { now - $0.time <= Self.longestUse ? $0.quality : nil }
    }

    private func ask(at now: Double) {
        query = (.random(in: .min ... .max), now)
        let bytes = ClockQuality.trackingRequest(query.number)
        _ = unsafe send(socket, bytes, bytes.count, 0)
    }

    /// Reads what has arrived, but not more than a few datagrams: a flood of them must not hold up the loop.
    private func receive() {
        var bytes = [UInt8](repeating: 0, count: 512)
        for _ in 0..<8 {
            let count = unsafe recv(socket, &bytes, bytes.count, 0)
            guard count >= 0 else {
                // Most often, nothing listens there any more.
                if errno != EAGAIN { answer = nil }
                return
            }
            if let quality = ClockQuality(tracking: Array(bytes[..<count]), to: query.number) {
                answer = (quality, query.time)
            }
        }
    }
}
