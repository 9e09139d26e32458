// One process hands everything that the hub knows over to the next: cameras with their histories, and peers with their
// unanswered requests, their unsent output, and the position of each subscription. So clients notice nothing: gestures,
// motions and replays continue, too.

import GimbalProtocol

extension Hub {
    /// The revision of the handover's layout: raise it when a record, or a type in one, gains or loses a member. What
    /// an earlier version left is read by member name: a new member must be optional, or have existed then.
    package static let handoverRevision = 5

    /// Everything that the hub knows, once it is paused and its turn has ended.
    package struct Record: Codable {
        /// When the first process started, in milliseconds of the monotonic clock.
        fileprivate let started: Double
        fileprivate let counters: Counters
        fileprivate let connectionsTotal: UInt64
        /// The number of the last client.
        fileprivate let lastNumber: Int
        /// The number of the last lease; missing in a handover from an earlier version.
        fileprivate let lastLease: Int?
        fileprivate let cameras: [HostedCamera.Record]
        /// Those whose lines wait for a turn come first, in their order.
        fileprivate let peers: [Peer.Record]
        fileprivate var replays: [Replay.Record]
    }

    // MARK: Handing over

    /// - Parameter peers: all peers, each with the key that identifies its connection in the next process.
    package func handOver(_ peers: [(key: UInt64, peer: Peer)]) -> Record {
        let keys = Dictionary(peers.map { ($0.peer.number, $0.key) }) { first, _ in first }
        let waiting = parts.turns.waiting.compactMap { peer in keys[peer.number].map { (key: $0, peer: peer) } }
        return Record(
            started: applier.started, counters: parts.counters, connectionsTotal: parts.clients.total,
            lastNumber: parts.clients.lastNumber, lastLease: parts.leases.lastNumber,
            cameras: parts.registry.sorted.map(\.record),
            peers: (waiting + peers.filter { !$0.peer.share.isWaiting }).map { key, peer in
                peer.record(key, about: parts.clients.abouts[peer.number])
            },
            replays: parts.replays.running.map(\.record))
    }

    // MARK: Taking over

    /// Restores what ``handOver(_:)`` returned into an empty hub; all of it or nothing.
    ///
    /// - Parameter client: returns a key's connection and its role from now on; `nil` if the connection is gone.
    package func takeOver(
        _ record: Record, at now: Double, client: (UInt64) -> (outlet: any Outlet, role: Role)?
    ) throws(StateDecoder.Damage) -> [(key: UInt64, peer: Peer)] {
        var replays = record.replays
        for index in replays.indices { try replays[index].adopt(parts.limits) }
        guard -1e15...1e15 ~= record.started, record.lastNumber >= 0, record.lastLease ?? 0 >= 0 else {
            throw StateDecoder.Damage()
        }
        var cameras: [String: HostedCamera] = [:]
        for record in record.cameras {
            let camera = try parts.registry.camera(record)
            guard cameras.updateValue(camera, forKey: camera.name) == nil else { throw StateDecoder.Damage() }
        }
        let restored = try peers(record.peers, cameras, client)
        // Everything has been read. From here on, nothing fails.
        let peers = restored.map(\.peer)
        applier.started = record.started
        parts.counters.goOn(from: record.counters)
        parts.registry.restore(cameras.values)
        parts.clients.restore(peers, lastNumber: record.lastNumber, total: record.connectionsTotal)
        for (record, peer) in restored {
            parts.clients.abouts[peer.number] = record.about
            for name in record.fedCameras { cameras[name].map { peer.fedCameras.insert($0) } }
            if let camera = record.endedTrace { parts.replays.assign(endedTraceOf: camera, to: peer) }
        }
        let numbered = Dictionary(peers.map { ($0.number, $0) }) { first, _ in first }
        for replay in replays { parts.replays.restore(replay, peers: numbered, parts.traces) }
        parts.runner.restore(cameras.values, at: now) { numbered[$0] != nil }
        for peer in peers {
            parts.subscriptions.restore(peer)
            for wait in peer.waits { parts.waits.restore(wait) }
            parts.turns.join(peer)
            parts.sender.enqueue(peer)
        }
        parts.leases.goOn(from: record.lastLease ?? 0)
        let leased = record.cameras.compactMap { record in
            record.leases.flatMap { leases in cameras[record.name].map { (camera: $0, leases: leases) } }
        }
        for (camera, leases) in leased { parts.leases.restore(leases, of: camera, peers: numbered, at: now) }
        for (camera, _) in leased { parts.leases.update(camera, at: now) }
        for camera in cameras.values where !camera.readers.readInputs { camera.stopInputLog() }
        return restored.map { ($0.record.key, $0.peer) }
    }

    /// Restores the peers whose connections still exist.
    private func peers(
        _ records: [Peer.Record], _ cameras: [String: HostedCamera],
        _ client: (UInt64) -> (outlet: any Outlet, role: Role)?
    ) throws(StateDecoder.Damage) -> [(record: Peer.Record, peer: Peer)] {
        var peers: [(record: Peer.Record, peer: Peer)] = []
        do throws(StateDecoder.Damage) {
            for record in records {
                guard record.number > 0 else { throw StateDecoder.Damage() }
                guard let (outlet, role) = client(record.key) else { continue }
                let peer = Peer(number: record.number, outlet: outlet, role: role)
                peers.append((record, peer))
                try peer.restore(record, cameras, limits: parts.limits)
            }
            return peers
        } catch {
            for (_, peer) in peers { peer.forgetRecord() }
            throw error
        }
    }
}
