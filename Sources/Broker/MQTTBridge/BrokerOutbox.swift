// Messages on their way to the broker. Those that it acknowledges are kept in order until then, and sent again over the
// next connection. Invariant: they are limited; senders of events wait while the outbox is full.

package final class BrokerOutbox {
    /// The most unacknowledged messages that events may fill, and the most with replies, which come beside them.
    static let mostEvents = 256
    package static let mostMessages = 1024

    private unowned let outside: any Surroundings
    private var pending: [(token: Int, publication: Publication)] = []
    private var lastToken = 0
    /// How many messages found no room and are lost: replies. (Retained messages are published again.)
    private(set) var dropped = 0
    /// Whether messages go out: the broker is there, and this process is the node.
    private(set) var isOpen = false

    init(_ outside: any Surroundings) { self.outside = outside }

    /// Whether a message that is not acknowledged goes out at once: such ones never wait, for they grow old.
    var hasRoom: Bool { isOpen && outside.hasRoom }
    var isFull: Bool { !isOpen || pending.count >= Self.mostEvents }
    var count: Int { pending.count }

    /// Whether a message of a topic has not been acknowledged.
    func holds(_ topic: String) -> Bool { pending.contains { $0.publication.topic == topic } }

    /// Sends a message, now or when it is open.
    ///
    /// - Returns: whether there is room for it.
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
        if isOpen { outside.publish(publication, token: lastToken) }
        return true
    }

    /// The broker has taken a message, or never will.
    ///
    /// - Returns: the message.
    @discardableResult
    func acknowledged(_ token: Int) -> Publication? {
        // Nearly always the first one.
        guard let index = pending.firstIndex(where: { $0.token == token }) else { return nil }
        return pending.remove(at: index).publication
    }

    /// Sends again what was not acknowledged.
    func open() {
        isOpen = true
        for (token, publication) in pending { outside.publish(publication, token: token) }
    }

    /// The broker is away. Retained messages are not sent again: the node publishes the newest instead.
    func close() {
        isOpen = false
        pending.removeAll(where: \.publication.isRetained)
    }
}
