// Publishes the leases of a node's cameras. A camera without a lease has no message.
// Invariant: the retained lease of a camera is the one that the daemon reported last.

import GimbalProtocol

/// The leases of a node's cameras, as retained messages.
final class NodeLeases {
    private let topics: NodeTopics
    private let outbox: BrokerOutbox
    private let claim: NodeClaim
    private var leases: [String: CameraLease] = [:]
    /// Cameras whose retained lease may be outdated.
    private var untold: Set<String> = []

    init(_ topics: NodeTopics, _ outbox: BrokerOutbox, _ claim: NodeClaim) {
        (self.topics, self.outbox, self.claim) = (topics, outbox, claim)
    }

    /// Handles an event; `false` if it is not about a lease.
    func handle(_ event: CameraEvent) -> Bool {
        switch event {
        case .leaseTaken(let lease): set(lease.camera, lease)
        case .leaseEnded(let end): set(end.camera, nil)
        default: return false
        }
        return true
    }

    /// Notes a camera's lease, or that it has none.
    func set(_ name: String, _ lease: CameraLease?) {
        guard leases[name] != lease else { return }
        leases[name] = lease
        untold.insert(name)
        tell(name)
    }

    /// Removes all leases, as the daemon is gone.
    func end() { for name in leases.keys.sorted() { set(name, nil) } }

    /// Notes that the broker retains a lease of this camera, perhaps from an earlier run.
    func sawRetained(_ name: String) {
        guard leases[name] == nil else { return }
        untold.insert(name)
        tell(name)
    }

    /// Publishes all leases again: what the broker still retains is uncertain.
    func opened() {
        untold.formUnion(leases.keys)
        tellOn()
    }

    /// Publishes what found no room before.
    func tellOn() { for name in untold.sorted() { tell(name) } }

    private func tell(_ name: String) {
        guard outbox.isOpen else { return }
        let payload = leases[name]?.payload(claim.nextStamp(topics.node)) ?? []
        if outbox.send(Publication(topics.lease(name), payload, isRetained: true)) { untold.remove(name) }
    }
}
