// One process hands everything that the hub knows to the next: cameras with their histories, and peers with what they
// have sent and not been answered, what they have not been sent, and where each of their subscriptions stands. So nobody
// notices. What runs on a clock does not go along: it is brought to rest first.

import Wire

extension Hub {
    /// The order of what is written here. It changes whenever a line below does.
    private static let handoverVersion: UInt64 = 3

    /// Brings everything to rest: no line is taken any more, and what moves and what is replayed ends where it is.
    public func pause(at now: Double) {
        end(at: now)
        openFeedLogs(at: now)
        for replay in replays {
            let peer = replay.peer
            if !replay.isEnding { replay.summary.isCut = true }
            finish(replay, at: now)
            // Nothing of a trace is ever taken for live input.
            if let peer, !peer.hasEnded, peer.lingerEnd == nil { linger(peer, at: now) }
            peer?.input = []
        }
    }

    /// Goes on after all.
    public func resume() { isEnding = false }

    // MARK: Giving

    /// Everything that the hub knows, once it is paused and its turn has ended.
    ///
    /// - Parameter peers: all of them, each with what tells its connection from others in the next process.
    package func handOver(_ peers: [(key: UInt64, peer: Peer)], to out: inout ByteWriter) {
        out.put(Self.handoverVersion)
        let counts = [counters.connectionsTotal, counters.lines, counters.errors, counters.events]
        for count in counts + [counters.bytesIn, counters.bytesOut, UInt64(peerNumbers)] { out.put(count) }
        out.put(started)
        out.put(SavedState(isLast: true, cameras: sortedCameras.map(\.saved)).bytes)
        for camera in sortedCameras {
            out.put(camera.isHeld)
            camera.write(to: &out)
        }
        out.put(peers.count)
        // Those whose lines wait for a turn stay in their order.
        let keys = Dictionary(peers.map { ($0.peer.number, $0.key) }) { first, _ in first }
        let waiting = stalled.compactMap { peer in keys[peer.number].map { (key: $0, peer: peer) } }
        for (key, peer) in waiting + peers.filter({ !$0.peer.isStalled }) {
            out.put(key)
            peer.write(to: &out)
        }
    }

    // MARK: Taking

    /// Takes what ``handOver(_:to:)`` gave, into a hub that has nothing yet; all of it or nothing.
    ///
    /// - Parameter client: the connection of a key, and what it may do from now on; `nil` if it is not there any more.
    package func takeOver(
        _ row: inout ByteReader, client: (UInt64) -> (outlet: any Outlet, role: Role)?
    ) throws -> [(key: UInt64, peer: Peer)] {
        guard try row.number() == Self.handoverVersion else { throw ByteReader.Damage() }
        var counters = Counters()
        counters.connectionsTotal = try row.number()
        counters.lines = try row.number()
        counters.errors = try row.number()
        counters.events = try row.number()
        counters.bytesIn = try row.number()
        counters.bytesOut = try row.number()
        let (peerNumbers, started) = (try row.integer(), try row.double())
        var cameras: [String: HostedCamera] = [:]
        for saved in try SavedState(try row.bytes()).cameras {
            let isHeld = try row.flag()
            let camera = try HostedCamera(saved, from: &row, limits: limits)
            camera.isHeld = isHeld
            cameras[camera.name] = camera
        }
        var peers: [(key: UInt64, peer: Peer)] = []
        let nowhere = Nowhere()
        for _ in 0..<(try row.integer()) {
            let key = try row.number()
            let client = client(key)
            let peer = try Peer(
                from: &row, outlet: client?.outlet ?? nowhere, role: client?.role ?? .everything, limits, cameras)
            if client != nil { peers.append((key, peer)) }
        }
        guard row.isAtEnd else { throw ByteReader.Damage() }
        (self.counters, self.cameras, self.peerNumbers, self.started) = (counters, cameras, peerNumbers, started)
        heldCameras = sortedCameras.filter(\.isHeld)
        mayHoldInVain = !heldCameras.isEmpty
        for (_, peer) in peers { welcome(peer) }
        self.peers = peers.map(\.peer).sorted { $0.number < $1.number }
        for camera in cameras.values where !camera.subscriptions.contains(where: \.isRecorder) { camera.stopFeedLog() }
        return peers
    }

    /// Goes on with a peer where the process before left off.
    private func welcome(_ peer: Peer) {
        counters.connections += 1
        for subscription in peer.subscriptions {
            subscription.camera.subscriptions.append(subscription)
            counters.subscriptions += 1
        }
        if peer.all != nil { followers.append(peer) }
        if peer.lingerEnd != nil { lingering.append(peer) }
        stall(peer)
        queue(peer)
    }
}

/// The connection of a peer that went between two processes.
private final class Nowhere: Outlet {
    func send(_ pieces: [UnsafeRawBufferPointer]) -> Int { -1 }
    func setReading(_ isReading: Bool) {}
    func finishSending() {}
    func close() {}
    func keepQueueShort() {}
}

extension Peer {
    func write(to out: inout ByteWriter) {
        out.put(number)
        out.put(framer.lineNumber)
        out.put(framer.isSkipping)
        out.put(input)
        out.put(hasEnded)
        out.put(lingerEnd)
        out.put(isDeaf)
        out.put(isBlocked)
        out.put(replies[repliesSent...])
        out.put(all != nil)
        if let all {
            out.put(UInt64(all.subscribe.events.rawValue))
            out.put(all.subscribe.delivery == .latest)
            out.put(all.isStale)
        }
        out.put(subscriptions.count)
        for subscription in subscriptions {
            out.put(subscription.camera.name.utf8)
            subscription.write(to: &out)
        }
    }

    convenience init(
        from row: inout ByteReader, outlet: any Outlet, role: Role, _ limits: Limits, _ cameras: [String: HostedCamera]
    ) throws(ByteReader.Damage) {
        self.init(number: try row.integer(), outlet: outlet, role: role, limits: limits)
        framer = LineFramer(lineNumber: try row.number(), isSkipping: try row.flag(), longest: limits.line)
        input = try row.bytes()
        hasEnded = try row.flag()
        lingerEnd = try row.optionalDouble()
        isDeaf = try row.flag()
        isBlocked = try row.flag()
        replies = try row.bytes()
        if try row.flag() {
            let kinds = EventKinds(rawValue: UInt8(truncatingIfNeeded: try row.number()))
            let subscribe = Subscribe(kinds, try row.flag() ? .latest : .every)
            all = AllCameras(subscribe: subscribe, isStale: try row.flag())
        }
        for _ in 0..<(try row.integer()) {
            guard let camera = cameras[String(decoding: try row.bytes(), as: UTF8.self)] else {
                throw ByteReader.Damage()
            }
            subscriptions.append(try Subscription(from: &row, of: self, to: camera))
        }
    }
}
