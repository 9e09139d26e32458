// One process hands everything that the hub knows to the next: cameras with their histories, and peers with what they
// have sent and not been answered, what they have not been sent, and where each of their subscriptions stands. So nobody
// notices. What runs on a clock does not go along: it is brought to rest first.

import Wire

extension Hub {
    /// Brings everything to rest: no line is taken any more, and what moves and what is replayed ends where it is.
    public func pause(at now: Double) {
        end(at: now)
        openFeedLogs(at: now)
        for replay in replays {
            let peer = replay.peer
            if !replay.isEnding { replay.summary.isCut = true }
            finish(replay, at: now)
            // Nothing of a trace is ever taken for live input.
            if let peer, !peer.hasEnded, peer.lingerEnd == nil { linger(peer) }
            peer?.input = []
        }
    }

    /// Goes on after all.
    public func resume() { isEnding = false }

    // MARK: Giving

    /// Everything that the hub knows, once it is paused and its turn has ended. (``HandoverLayout``)
    ///
    /// - Parameter peers: all of them, each with what tells its connection from others in the next process.
    package func handOver(_ peers: [(key: UInt64, peer: Peer)], to out: inout FieldWriter) {
        out.put(HubField.started, started)
        out.put(HubField.peerNumbers, peerNumbers)
        out.put(HubField.counters) { counters.write(to: &$0) }
        for camera in sortedCameras { out.put(HubField.camera) { camera.write(to: &$0) } }
        // Those whose lines wait for a turn stay in their order.
        let keys = Dictionary(peers.map { ($0.peer.number, $0.key) }) { first, _ in first }
        let waiting = queue.waiting.compactMap { peer in keys[peer.number].map { (key: $0, peer: peer) } }
        for (key, peer) in waiting + peers.filter({ !$0.peer.isWaiting }) {
            out.put(HubField.peer) { out in
                out.put(PeerField.key, key)
                peer.write(to: &out)
            }
        }
    }

    // MARK: Taking

    /// Takes what ``handOver(_:to:)`` gave, into a hub that has nothing yet; all of it or nothing.
    ///
    /// - Parameter client: the connection of a key, and what it may do from now on; `nil` if it is not there any more.
    package func takeOver(
        _ row: FieldReader, at now: Double, client: (UInt64) -> (outlet: any Outlet, role: Role)?
    ) throws -> [(key: UInt64, peer: Peer)] {
        var row = row
        var (started, peerNumbers, counters) = (now, 0, Counters())
        var cameras: [String: HostedCamera] = [:]
        var peerRows: [FieldReader] = []
        var reader = SavedCamera.Reader()
        while let (tag, field) = try row.next(HubField.self) {
            switch tag {
            case .started: started = try field.double()
            case .peerNumbers: peerNumbers = try field.integer()
            case .counters: counters = try Counters(field.record())
            case .camera:
                let camera = try HostedCamera(field.record(), &reader, limits: limits, memory: memory, at: now)
                cameras[camera.name] = camera
            case .peer: peerRows.append(try field.record())
            }
        }
        let peers = try self.peers(peerRows, cameras, client)
        (self.started, self.counters, self.cameras) = (started, counters, cameras)
        // Gestures are told apart by their feed's number.
        self.peerNumbers = peers.reduce(peerNumbers) { max($0, $1.peer.number) }
        cameraNames = SortedNames(cameras.keys)
        heldCameras = sortedCameras.filter(\.isHeld)
        mayHoldInVain = !heldCameras.isEmpty
        for (_, peer) in peers { welcome(peer) }
        self.peers = peers.map(\.peer).sorted { $0.number < $1.number }
        for camera in cameras.values { noteChange(camera) }
        for camera in cameras.values where !camera.subscriptions.contains(where: \.isRecorder) { camera.stopFeedLog() }
        return peers
    }

    /// Reads the peers that are still there.
    private func peers(
        _ rows: [FieldReader], _ cameras: [String: HostedCamera],
        _ client: (UInt64) -> (outlet: any Outlet, role: Role)?
    ) throws(FieldReader.Damage) -> [(key: UInt64, peer: Peer)] {
        var peers: [(key: UInt64, peer: Peer)] = []
        do throws(FieldReader.Damage) {
            for row in rows {
                let (key, number) = try Peer.identity(row)
                // What was kept for who has gone meanwhile is not even read.
                guard let client = client(key) else { continue }
                let peer = Peer(number: number, outlet: client.outlet, role: client.role, limits: limits)
                peers.append((key, peer))
                try peer.read(row, limits, cameras)
            }
            return peers
        } catch {
            // Peers and subscriptions hold each other.
            for (_, peer) in peers { peer.subscriptions = [] }
            throw error
        }
    }

    /// Goes on with a peer where the process before left off.
    private func welcome(_ peer: Peer) {
        counters.connections += 1
        for subscription in peer.subscriptions {
            subscription.camera.attach(subscription)
            counters.subscriptions += 1
        }
        if peer.all != nil { followers.append(peer) }
        if peer.lingerEnd != nil { lingering.append(peer) }
        queue.join(peer)
        flushLater(peer)
    }
}

extension Hub.Counters {
    fileprivate func write(to out: inout FieldWriter) {
        out.put(CounterField.connectionsTotal, connectionsTotal)
        out.put(CounterField.lines, lines)
        out.put(CounterField.errors, errors)
        out.put(CounterField.events, events)
        out.put(CounterField.bytesIn, bytesIn)
        out.put(CounterField.bytesOut, bytesOut)
    }

    fileprivate init(_ row: FieldReader) throws(FieldReader.Damage) {
        var row = row
        while let (tag, field) = try row.next(CounterField.self) {
            switch tag {
            case .connectionsTotal: connectionsTotal = try field.number()
            case .lines: lines = try field.number()
            case .errors: errors = try field.number()
            case .events: events = try field.number()
            case .bytesIn: bytesIn = try field.number()
            case .bytesOut: bytesOut = try field.number()
            }
        }
    }
}

extension Peer {
    fileprivate func write(to out: inout FieldWriter) {
        out.put(PeerField.number, number)
        out.put(PeerField.lineNumber, framer.lineNumber)
        out.put(PeerField.isSkipping, framer.isSkipping)
        out.put(PeerField.input, input)
        out.put(PeerField.hasEnded, hasEnded)
        if let lingerEnd { out.put(PeerField.lingerEnd, lingerEnd) }
        out.put(PeerField.isDeaf, isDeaf)
        out.put(PeerField.isBlocked, isBlocked)
        out.put(PeerField.replies, replies[repliesSent...])
        if let all { out.put(PeerField.all) { all.write(to: &$0) } }
        for subscription in subscriptions {
            out.put(PeerField.subscription) { subscription.write(to: &$0) }
        }
    }

    fileprivate static func identity(_ row: FieldReader) throws(FieldReader.Damage) -> (key: UInt64, number: Int) {
        var row = row
        var (key, number): (UInt64?, Int?)
        while let (tag, field) = try row.next(PeerField.self) {
            if tag == .key { key = try field.number() }
            if tag == .number { number = try field.integer() }
        }
        guard let key, let number else { throw FieldReader.Damage() }
        return (key, number)
    }

    /// Goes on where ``write(to:)`` left off.
    fileprivate func read(
        _ row: FieldReader, _ limits: Limits, _ cameras: [String: HostedCamera]
    ) throws(FieldReader.Damage) {
        var row = row
        var (lineNumber, isSkipping) = (0 as UInt64, false)
        while let (tag, field) = try row.next(PeerField.self) {
            switch tag {
            case .key, .number: break
            case .lineNumber: lineNumber = try field.number()
            case .isSkipping: isSkipping = try field.flag()
            case .input: input = Array(try field.bytes())
            case .hasEnded: hasEnded = try field.flag()
            case .lingerEnd: lingerEnd = try field.double()
            case .isDeaf: isDeaf = try field.flag()
            case .isBlocked: isBlocked = try field.flag()
            case .replies: replies = Array(try field.bytes())
            case .all: all = try AllCameras(field.record())
            case .subscription:
                subscriptions.append(try Subscription(field.record(), of: self, cameras, limits: limits))
            }
        }
        framer = LineFramer(lineNumber: lineNumber, isSkipping: isSkipping, longest: limits.line)
    }
}

extension AllCameras {
    fileprivate func write(to out: inout FieldWriter) {
        out.put(AllCamerasField.kinds, UInt64(subscribe.events.rawValue))
        out.put(AllCamerasField.isLatest, subscribe.delivery == .latest)
        out.put(AllCamerasField.isStale, isStale)
    }

    fileprivate init(_ row: FieldReader) throws(FieldReader.Damage) {
        var row = row
        var (kinds, delivery, isStale) = (EventKinds.all, Subscribe.Delivery.every, false)
        while let (tag, field) = try row.next(AllCamerasField.self) {
            switch tag {
            case .kinds: kinds = EventKinds(rawValue: UInt8(truncatingIfNeeded: try field.number()))
            case .isLatest: delivery = try field.flag() ? .latest : .every
            case .isStale: isStale = try field.flag()
            }
        }
        self.init(subscribe: Subscribe(kinds, delivery), isStale: isStale)
    }
}
