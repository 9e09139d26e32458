// Messages on their way to the broker. Those that need an acknowledgement are kept in order until it comes, and sent
// again over the next connection. Invariant: their number is limited; senders of events wait while the outbox is full.

package final class BrokerOutbox {
    /// The most unacknowledged messages while events still find room, and the most in total, replies included.
    static let mostEvents = 256
    package static let mostMessages = 1024
    /// The number of connections over which a message is sent, if they end before it is acknowledged.
    static let mostTries = 3

    private unowned let outside: any Surroundings
    private var pending: [(token: Int, publication: Publication)] = []
    private var lastToken = 0
    /// The last message that went out over this connection.
    private var lastSent = 0
    /// The oldest message that was not acknowledged when the last connection ended, and how many ended so in a row.
    private var unacknowledged = (token: 0, times: 0)
    /// How many messages were dropped. Retained messages do not count, as they are published again.
    private(set) var dropped = 0
    /// Whether messages go out: the broker is connected, and this process is the node.
    private(set) var isOpen = false
    /// Messages up to this one go out one by one, each once the one before is acknowledged: connections have ended
    /// again and again, and the broker may have ended them because of one of these messages.
    private var carefulUntil = 0

    init(_ outside: any Surroundings) { self.outside = outside }

    /// Whether a message without acknowledgement goes out at once. Such messages never wait, or they would be stale.
    var hasRoom: Bool { isOpen && carefulUntil == 0 && outside.hasRoom }
    var isFull: Bool { !isOpen || pending.count >= Self.mostEvents }
    var count: Int { pending.count }

    /// Whether a message to a topic is not acknowledged yet.
    func holds(_ topic: String) -> Bool { pending.contains { $0.publication.topic == topic } }

    /// Sends a message, now or once the outbox is open.
    ///
    /// - Returns: whether there was room for it.
    @discardableResult
    func send(_ publication: Publication) -> Bool {
        guard publication.qos == .atLeastOnce else {
            guard hasRoom else { return false }
            outside.publish(publication, token: nil)
            return true
        }
        guard pending.count < Self.mostMessages else {
            if !publication.isRetained { dropped += 1 }
            return false
        }
        lastToken += 1
        pending.append((lastToken, publication))
        if isOpen, carefulUntil == 0 { publish(publication, lastToken) }
        return true
    }

    /// Removes a message that the broker has taken or refused.
    ///
    /// - Returns: the message.
    @discardableResult
    func acknowledged(_ token: Int) -> Publication? {
        // Nearly always the first one.
        guard let index = pending.firstIndex(where: { $0.token == token }) else { return nil }
        let publication = pending.remove(at: index).publication
        if isOpen, carefulUntil > 0, index == 0 { sendPending() }
        return publication
    }

    private func sendPending() {
        if pending.first?.token ?? .max > carefulUntil { carefulUntil = 0 }
        for (token, publication) in pending.prefix(carefulUntil > 0 ? 1 : pending.count) {
            publish(publication, token)
        }
    }

    private func publish(_ publication: Publication, _ token: Int) {
        if outside.publish(publication, token: token) { lastSent = token }
    }

    /// Sends everything, although the broker has acknowledged nothing for long.
    func endCare() {
        guard isOpen, carefulUntil > 0 else { return }
        carefulUntil = 0
        sendPending()
    }

    /// Opens the outbox, and sends again what was not acknowledged.
    func open() {
        (isOpen, lastSent) = (true, 0)
        carefulUntil = unacknowledged.times > 1 ? pending.last?.token ?? 0 : 0
        sendPending()
    }

    /// Closes the outbox: the broker is gone. Retained messages are dropped, as the node publishes the newest instead.
    /// The oldest message, if several connections in a row have ended with it, is dropped: the broker may end them
    /// because of it.
    func close() {
        defer { isOpen = false }
        pending.removeAll(where: \.publication.isRetained)
        guard isOpen else { return }
        guard let oldest = pending.first?.token else { return unacknowledged = (0, 0) }
        guard oldest <= lastSent else { return }
        unacknowledged = (oldest, oldest == unacknowledged.token ? unacknowledged.times + 1 : 1)
        guard unacknowledged.times == Self.mostTries else { return }
        pending.removeFirst()
        dropped += 1
    }
}
