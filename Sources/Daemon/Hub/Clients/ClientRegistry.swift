// All clients by number, and the connections that only wait for their end.

import GimbalProtocol
import MapCamera

final class ClientRegistry {
    /// All clients, sorted by number.
    private(set) var peers: [Peer] = []
    /// Clients whose input is discarded: they have some time to close.
    private var lingering: [Peer] = []
    /// What clients tell others about themselves, by number; few do.
    var abouts: [Int: String] = [:]
    /// The highest number so far.
    private(set) var lastNumber = 0
    /// How many clients have ever connected.
    private(set) var total: UInt64 = 0

    var count: Int { peers.count }

    // MARK: Connecting and disconnecting

    func connect(_ outlet: any Outlet, _ role: Role) -> Peer {
        lastNumber += 1
        total += 1
        let peer = Peer(number: lastNumber, outlet: outlet, role: role)
        peers.append(peer)
        return peer
    }

    func remove(_ peer: Peer) {
        let index = index(after: peer.number - 1)
        if index < peers.count, peers[index] === peer { peers.remove(at: index) }
        abouts[peer.number] = nil
    }

    /// Stops handling a peer's input, and gives it time to read its replies and close.
    func linger(_ peer: Peer) {
        peer.input.discard()
        lingering.append(peer)
    }

    /// When the next lingering connection is due to be closed; infinite if none is.
    var deadline: Double {
        lingering.isEmpty ? .infinity : lingering.reduce(.infinity) { min($0, $1.input.closeTime) }
    }

    /// Returns the clients that have lingered long enough, each of them once.
    func takeOverdue(at now: Double) -> [Peer] {
        guard !lingering.isEmpty else { return [] }
        let overdue = lingering.filter { !$0.isClosed && $0.input.closeTime <= now }
        lingering.removeAll { $0.isClosed || $0.input.closeTime <= now }
        return overdue
    }

    /// Takes over the clients of another process; the registry must be empty.
    ///
    /// - Parameter lastNumber: the highest number so far: a client's number distinguishes its gestures from others'.
    func restore(_ restored: [Peer], lastNumber: Int, total: UInt64) {
        peers = restored.sorted { $0.number < $1.number }
        self.lastNumber = peers.reduce(lastNumber) { max($0, $1.number) }
        self.total = total
        lingering = restored.filter(\.input.isDiscarding)
    }

    // MARK: Pages

    /// How many clients an answer contains, how many subscriptions of each, and after how many bytes of what clients
    /// say about themselves no further client follows: each byte may take six, and a client reads lines of 1 MiB.
    private static let page = (clients: 64, subscriptions: 16, about: 65_536)

    /// Returns some clients with greater numbers, as the asking client may see them, and whether there are more.
    func page(after number: Int, for asking: Peer) -> ClientPage {
        let start = index(after: number)
        var (end, aboutBytes) = (start, 0)
        while end < min(start + Self.page.clients, peers.count), aboutBytes < Self.page.about {
            aboutBytes += abouts[peers[end].number]?.utf8.count ?? 0
            end += 1
        }
        return ClientPage(
            clients: peers[start..<end].map { client(of: $0, for: asking) }, hasMore: end < peers.count)
    }

    /// Returns the index of the first client with a greater number.
    private func index(after number: Int) -> Int {
        peers.partitioningIndex { $0.number > number }
    }

    private func client(of peer: Peer, for asking: Peer) -> Client {
        var client = Client(number: peer.number)
        client.isSelf = peer === asking
        // A watch-only client does not learn who the others are.
        if !asking.isWatchOnly || client.isSelf {
            let identity = peer.outlet.identity
            client.user = identity.map { Int($0.user) }
            client.process = identity.map { Int($0.process) }
        }
        client.role = peer.isWatchOnly ? .watchOnly : .everything
        client.about = abouts[peer.number]
        client.replay = peer.replay?.cameraName
        client.followsAll = peer.subscriptions.toAll != nil
        client.subscriptionCount = peer.subscriptions.all.count
        client.subscriptions = peer.subscriptions.all.prefix(Self.page.subscriptions).map {
            .init(camera: $0.camera.name, delivery: $0.delivery, behind: Int($0.backlog))
        }
        client.waits = peer.waits.count
        client.unreadBytes = peer.output.unreadBytes
        return client
    }
}
