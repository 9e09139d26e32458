// The loop's turn: news from the broker, lines from the daemon, signals and timers go to the node and the mirrors, and
// their output goes out. It is all that they need from outside.

import GimbalProtocol
import Glibc
import Libevent
import MQTTBridge
import Service
import UnixSocket

final class Program: Surroundings {
    /// Exit statuses of sysexits.h: the name is taken; the system has failed.
    static let (unavailable, osError): (CInt, CInt) = (69, 71)
    /// How long the broker has to acknowledge the node's last state, in milliseconds.
    private static let longestLastWord = 2000.0

    private let loop: EventLoop
    private let daemon: DaemonSocket
    private let broker: Broker
    private let log: Log
    private let chronyd = Chronyd()
    private var node: Node?
    private var mirrors: [CameraMirror] = []
    private var watchers: [Watcher] = []
    private var timer: ClosureWatcher?
    private var tokens: [CInt: Int] = [:]
    private var filters: [CInt: String] = [:]
    /// Subscriptions that the broker has refused, and when to try them again.
    private var refused: [String: (next: Double, backoff: Backoff)] = [:]
    private var retired: [SocketConnection] = []
    private var waiting: [SocketConnection] = []
    private var isConnected = false
    private var lastReason: String?
    private var lastRefusal: String?
    private var ending: Ending?

    /// How the program ends.
    private enum Ending {
        /// As soon as the broker has the node's last state, or at this time.
        case lastWord(until: Double)
        /// At once. If it is sudden, the broker is to publish the will.
        case atOnce(status: CInt, isSudden: Bool)
    }

    init(_ daemon: DaemonSocket, broker: Broker.Settings, _ log: Log) throws {
        loop = try EventLoop()
        self.broker = try Broker(broker, loop)
        (self.daemon, self.log) = (daemon, log)
    }

    /// Milliseconds of the monotonic clock.
    var now: Double { MonotonicClock.now }

    // MARK: The loop

    /// Runs until a signal ends it.
    ///
    /// - Returns: the exit status.
    func run(_ node: Node?, _ mirrors: [CameraMirror]) throws -> CInt {
        (self.node, self.mirrors) = (node, mirrors)
        for number in [SIGTERM, SIGINT] {
            watchers.append(try ClosureWatcher.signal(loop, number) { [unowned self] in beginEnd() })
        }
        let timer = ClosureWatcher(loop) {}
        self.timer = timer
        while !isOver {
            let now = now
            for news in broker.advance(to: now) { handle(news, at: now) }
            // A connection that has more lines comes again in the next turn.
            var connections: [SocketConnection] = []
            swap(&connections, &waiting)
            for connection in connections { connection.deliver() }
            node?.advance(to: now)
            for mirror in mirrors { mirror.advance(to: now) }
            askAgain(at: now)
            retired.removeAll()
            if let next = deadline {
                try timer.wait(for: .timeout, milliseconds: next - self.now)
            } else {
                timer.stop()
            }
            try loop.turn(waits: broker.connection?.mayWait() != false && waiting.isEmpty)
        }
        return end()
    }

    /// Disconnects from the broker, so that it publishes the will if it does not have the node's last state.
    ///
    /// - Returns: the exit status.
    private func end() -> CInt {
        switch ending {
        case .atOnce(let status, let isSudden):
            broker.end(publishesWill: isSudden)
            return status
        case .lastWord, nil:
            broker.end(publishesWill: hasUnacknowledged || node?.lacksLastState == true)
            return 0
        }
    }

    /// Whether the broker has not taken everything from the node; one that is not the owner publishes nothing.
    private var hasUnacknowledged: Bool { node.map { $0.isOwner && $0.hasUnacknowledged } ?? false }

    private var deadline: Double? {
        var end: Double?
        if case .lastWord(let time) = ending { end = time }
        let times = [broker.deadline, node?.deadline, end, refused.values.map(\.next).min()] + mirrors.map(\.deadline)
        return times.compactMap { $0 }.filter(\.isFinite).min()
    }

    private var isOver: Bool {
        switch ending {
        case nil: false
        case .lastWord(let end): !isConnected || !hasUnacknowledged || now >= end
        case .atOnce: true
        }
    }

    private func beginEnd() {
        guard ending == nil else { return }
        let now = now
        ending = .lastWord(until: now + Self.longestLastWord)
        node?.end(at: now)
        for mirror in mirrors { mirror.close() }
    }

    private func handle(_ news: BrokerNews, at now: Double) {
        switch news {
        case .connected:
            log(.info, "connected to the broker")
            (isConnected, lastReason, lastRefusal) = (true, nil, nil)
            node?.connected(at: now)
            for mirror in mirrors { mirror.connected(at: now) }
        case .disconnected(let reason):
            if lastReason != reason { log(.warning, "no broker: \(reason)") }
            lastReason = reason
            tokens = [:]
            filters = [:]
            refused = [:]
            guard isConnected else { return }
            isConnected = false
            node?.disconnected(at: now)
            for mirror in mirrors { mirror.disconnected(at: now) }
        case .acknowledged(let number, let refusal):
            if let refusal, refusal != lastRefusal { log(.error, "the broker refused a message: \(refusal)") }
            lastRefusal = refusal ?? lastRefusal
            guard let token = tokens.removeValue(forKey: number) else { return }
            if refusal == nil { node?.acknowledged(token) } else { node?.refused(token, at: now) }
        case .subscribed(let number, let isRefused):
            guard let filter = filters.removeValue(forKey: number) else { return }
            if isRefused { noteRefusal(of: filter, at: now) } else { refused[filter] = nil }
        case .delivery(let delivery):
            node?.received(delivery, at: now)
            for mirror in mirrors { mirror.received(delivery, at: now) }
        }
    }

    /// Schedules another attempt: a cluster that has lost a server may refuse what it accepts a moment later.
    private func noteRefusal(of filter: String, at now: Double) {
        log(refused[filter] == nil ? .error : .debug, "the broker refused the subscription to \(filter)")
        var backoff = refused[filter]?.backoff ?? Backoff(first: 1000, longest: 10_000)
        let next = now + backoff.next()
        refused[filter] = (next, backoff)
    }

    private func askAgain(at now: Double) {
        for (filter, asked) in refused where asked.next <= now {
            refused[filter]?.next = .infinity
            subscribe(filter)
        }
    }

    // MARK: Surroundings

    func connect(_ reader: any DaemonReader) throws -> any DaemonConnection {
        try SocketConnection(loop, daemon, reader, self)
    }

    var hasRoom: Bool { broker.connection?.hasRoom ?? false }

    func publish(_ publication: Publication, token: Int?) -> Bool {
        guard let number = broker.connection?.publish(publication) else { return false }
        if let token { tokens[number] = token }
        return true
    }

    func subscribe(_ filter: String) {
        if let number = broker.connection?.subscribe(filter) { filters[number] = filter }
    }

    func unsubscribe(_ filter: String) {
        refused[filter] = nil
        broker.connection?.unsubscribe(filter)
    }

    var wallTime: WallTime { WallTime(microseconds: RealtimeClock.microseconds) }

    var clockQuality: ClockQuality? { chronyd.quality(at: now) ?? (try? ClockQuality.kernel()) }

    func say(_ level: LogLevel, _ text: @autoclosure () -> PrintableText) { log(level, text()) }

    func refuse(_ reason: String) {
        log(.error, "\(reason)")
        ending = .atOnce(status: Self.unavailable, isSudden: false)
    }

    // MARK: Connections to the daemon

    /// Makes a connection deliver what it has read, in the next turn.
    func later(_ connection: SocketConnection) { waiting.append(connection) }

    /// Releases a connection when the turn is over.
    func retire(_ connection: SocketConnection) { retired.append(connection) }

    func fail(_ reason: String) {
        log(.error, "\(reason)")
        ending = .atOnce(status: Self.osError, isSudden: true)
    }
}
