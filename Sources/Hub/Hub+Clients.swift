// `clients`: who is connected, and how far behind each is. Told in pages, since they may be many.

import Wire

extension Hub {
    /// How many clients an answer tells of, and how many subscriptions of each.
    private static let page = (clients: 64, subscriptions: 16)

    func forgetClient(_ peer: Peer) {
        let index = place(after: peer.number - 1)
        if index < peers.count, peers[index] === peer { peers.remove(at: index) }
    }

    /// Where the clients begin whose numbers are greater.
    private func place(after number: Int) -> Int {
        var (low, high) = (0, peers.count)
        while low < high {
            let middle = (low + high) / 2
            if peers[middle].number <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Writes the answer to `clients`.
    func tellClients(after number: Int, _ asking: Peer, _ id: Span<UInt8>) {
        let start = place(after: number)
        let end = min(start + Self.page.clients, peers.count)
        // So many were looked at, and others are to have their turn as well.
        turnEvents += end - start
        line.clients(
            peers[start..<end].map { summary(of: $0, for: asking) }, hasMore: end < peers.count, id)
    }

    private func summary(of peer: Peer, for asking: Peer) -> ClientSummary {
        var summary = ClientSummary()
        summary.number = peer.number
        summary.isSelf = peer === asking
        // Who may only watch is not told whose fingers they are.
        if !asking.isWatchOnly || summary.isSelf {
            summary.user = peer.identity?.user
            summary.process = peer.identity?.process
        }
        summary.isWatchOnly = peer.isWatchOnly
        summary.replay = peer.replay?.camera.name
        summary.followsAll = peer.all != nil
        summary.subscriptionCount = peer.subscriptions.count
        summary.subscriptions = peer.subscriptions.prefix(Self.page.subscriptions).map {
            .init(camera: $0.camera.name, delivery: $0.delivery, behind: $0.backlog)
        }
        summary.waits = peer.waits.all.count
        summary.unreadBytes = peer.unreadReplies
        return summary
    }
}
