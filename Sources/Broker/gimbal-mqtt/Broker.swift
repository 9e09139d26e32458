// The broker as the program's loop sees it: a connection, or the attempts to make one. Each connection has a new
// client, so nothing from an earlier one is sent unnoticed. Invariant: one attempt or one connection at a time, and
// what has ended is freed between turns of the loop.

import CMosquitto
import Glibc
import Libevent
import MQTTBridge
import UnixSocket

/// What comes from the broker.
enum BrokerNews {
    case connected
    case disconnected(String)
    /// The broker has taken a message, or refused it for a reason.
    case acknowledged(CInt, refusal: String?)
    case subscribed(CInt, isRefused: Bool)
    case delivery(Publication)
}

final class Broker {
    struct Settings: Sendable {
        /// The brokers of one cluster: when one of them is gone, the next is tried.
        var addresses: [BrokerAddress]
        var credentials = Credentials()
        var certificates = Certificates()
        var clientID: String
        var will: Publication?
        var keepalive: CInt = 10
        /// MQTT 5; otherwise 3.1.1.
        var isVersion5 = true
    }

    private enum Phase {
        case waiting(until: Double)
        case connecting(ConnectionAttempt, until: Double)
        case connected(BrokerConnection)
    }

    /// How long an attempt takes at most, in milliseconds.
    private static let longestAttempt = 20_000.0

    private let settings: Settings
    private let loop: EventLoop
    private var phase = Phase.waiting(until: -.infinity)
    private var backoff = Backoff(first: 100, longest: longestDelay)
    private static let longestDelay = 10_000.0
    /// When the connection has lasted long enough for quick attempts again: a broker that accepts connections and soon
    /// drops them counts as unreachable.
    private var settlesAt = Double.infinity
    /// How many attempts have ended; each uses the next address.
    private var attempts = 0
    /// A pipe by which an attempt's thread reports that it is done.
    private let pipe: (readable: CInt, writable: CInt)
    private var watcher: ClosureWatcher?

    init(_ settings: Settings, _ loop: EventLoop) throws {
        (self.settings, self.loop) = (settings, loop)
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe2(&ends, O_NONBLOCK | O_CLOEXEC) == 0 else { throw SystemError("pipe2") }
        pipe = (ends[0], ends[1])
        _ = mosquitto_lib_init()
        let watcher = ClosureWatcher(loop, pipe.readable) { [pipe] in
            var byte: UInt8 = 0
            _ = unsafe read(pipe.readable, &byte, 1)
        }
        try watcher.wait(for: [.read, .persist])
        self.watcher = watcher
    }

    /// The connection, while there is one.
    var connection: BrokerConnection? { if case .connected(let connection) = phase { connection } else { nil } }

    // MARK: The turn

    var deadline: Double? {
        switch phase {
        case .waiting(let end): end
        case .connecting(_, let end): end
        case .connected(let connection): connection.deadline
        }
    }

    /// Does what is due, and returns what has come. Call it between turns of the loop.
    func advance(to now: Double) -> [BrokerNews] {
        switch phase {
        case .waiting(let end):
            guard end <= now else { return [] }
            let attempt = ConnectionAttempt(
                settings, settings.addresses[attempts % settings.addresses.count], pipe.writable)
            phase = .connecting(attempt, until: now + Self.longestAttempt)
            attempt.begin()
            return []
        case .connecting(let attempt, let end):
            switch attempt.takeOutcome() {
            case nil:
                guard end <= now else { return [] }
                attempt.abandon()
                return [lost("\(attempt.address): no answer", at: now)]
            case .refused(let reason)?: return [lost("\(attempt.address): \(reason)", at: now)]
            case .accepted(let client)?:
                do {
                    phase = unsafe .connected(
                        try BrokerConnection(
                            loop, client, attempt.address, isVersion5: settings.isVersion5, at: now))
                    settlesAt = now + Self.longestDelay
                    return [.connected]
                } catch {
                    return [lost("\(error)", at: now)]
                }
            }
        case .connected(let connection):
            if settlesAt <= now { backoff.reset() }
            connection.advance(to: now)
            let news = connection.takeNews()
            guard let reason = connection.failure else { return news }
            return news + [lost("\(connection.address): \(reason)", at: now)]
        }
    }

    /// Schedules the next attempt, at a random time: clients that were cut off together come back one by one.
    private func lost(_ reason: String, at now: Double) -> BrokerNews {
        attempts += 1
        phase = .waiting(until: now + backoff.next() * Double.random(in: 0.5...1))
        return .disconnected(reason)
    }

    /// Ends the connection: properly, so that the broker publishes no will, or by closing it.
    func end(publishesWill: Bool) {
        if case .connecting(let attempt, _) = phase { attempt.abandon() }
        if !publishesWill { connection?.disconnect() }
    }
}
