// What the broker retains of a node's cameras besides their states: the settings of each, and its lease if it has one.
// Invariant: the retained message of a camera is the one that the daemon reported last.

import GimbalProtocol

/// One retained message for each camera, or none.
final class RetainedMessages<Message: RetainedMessage & Equatable> {
    private let node: String
    /// Returns the topic of a camera's message.
    private let topic: (String) -> String
    private let outbox: BrokerOutbox
    private let claim: NodeClaim
    private var messages: [String: Message] = [:]
    /// Cameras whose retained message may be outdated.
    private var untold: Set<String> = []

    init(of node: String, at topic: @escaping (String) -> String, _ outbox: BrokerOutbox, _ claim: NodeClaim) {
        (self.node, self.topic, self.outbox, self.claim) = (node, topic, outbox, claim)
    }

    /// Notes a camera's message, or that it has none.
    func set(_ name: String, _ message: Message?) {
        guard messages[name] != message else { return }
        messages[name] = message
        retell(name)
    }

    /// Removes a camera's message, and whatever the broker retains of it.
    func remove(_ name: String) {
        messages[name] = nil
        retell(name)
    }

    /// Removes all messages, as the daemon is gone.
    func end() { for name in messages.keys.sorted() { set(name, nil) } }

    /// Notes that the broker retains a message of this camera, perhaps from an earlier run.
    func sawRetained(_ name: String) { if messages[name] == nil { retell(name) } }

    /// Publishes all messages again: what the broker still retains is uncertain.
    func opened() {
        untold.formUnion(messages.keys)
        for name in untold.sorted() { tell(name) }
    }

    /// Publishes what found no room before, as far as there is room now.
    func tellOn() {
        guard !untold.isEmpty, !outbox.isFull else { return }
        for name in untold.sorted() where !outbox.isFull { tell(name) }
    }

    private func retell(_ name: String) {
        untold.insert(name)
        tell(name)
    }

    private func tell(_ name: String) {
        guard outbox.isOpen else { return }
        let payload = messages[name]?.payload(claim.nextStamp(node)) ?? []
        if outbox.send(Publication(topic(name), payload, isRetained: true)) { untold.remove(name) }
    }
}
