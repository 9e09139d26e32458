// One process hands everything that the hub knows to the next: cameras with their histories, and peers with their
// unanswered requests, their unsent output, and the position of each subscription. So clients notice nothing: gestures,
// motions and replays go on, too.

import GimbalProtocol

extension Hub {
    // MARK: Giving

    /// Everything that the hub knows, once it is paused and its turn has ended. (``HandoverLayout``)
    ///
    /// - Parameter peers: all of them, each with what tells its connection from others in the next process.
    package func handOver(_ peers: [(key: UInt64, peer: Peer)], to out: inout FieldWriter) {
        out.put(HubField.started, queries.started)
        out.put(HubField.peerNumbers, parts.clients.lastNumber)
        out.put(HubField.counters) { parts.counters.write(connectionsTotal: parts.clients.total, to: &$0) }
        for camera in parts.registry.sorted { out.put(HubField.camera) { camera.write(to: &$0) } }
        // Those whose lines wait for a turn stay in their order.
        let keys = Dictionary(peers.map { ($0.peer.number, $0.key) }) { first, _ in first }
        let waiting = parts.turns.waiting.compactMap { peer in keys[peer.number].map { (key: $0, peer: peer) } }
        for (key, peer) in waiting + peers.filter({ !$0.peer.share.isWaiting }) {
            out.put(HubField.peer) { out in
                out.put(PeerField.key, key)
                peer.write(to: &out)
            }
        }
        for replay in parts.replays.running {
            out.put(HubField.replay) { parts.replays.write(replay, to: &$0) }
        }
        for (_, peer) in peers {
            guard case .passedOver(let trace) = peer.sentTrace.state else { continue }
            out.put(HubField.replay) { parts.replays.write(trace, from: peer, to: &$0) }
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
        var (started, lastNumber) = (now, 0)
        var counters: FieldReader?
        var cameras: [String: HostedCamera] = [:]
        var peerRows: [FieldReader] = []
        var replays: [SavedReplay] = []
        var reader = SavedCamera.Reader()
        while let (tag, field) = try row.next(HubField.self) {
            switch tag {
            case .started: started = try field.time()
            case .peerNumbers: lastNumber = try field.integer()
            case .counters: counters = try field.record()
            case .camera:
                let camera = try parts.registry.read(field.record(), &reader, at: now)
                cameras[camera.name] = camera
            case .peer: peerRows.append(try field.record())
            case .replay: replays.append(try SavedReplay(field.record(), limits: parts.limits))
            }
        }
        let (peers, fed) = try self.peers(peerRows, cameras, client)
        let total = try counters.map { try parts.counters.restore($0) } ?? 0
        // All has been read. From here on nothing fails.
        queries.started = started
        parts.registry.restore(cameras.values)
        parts.clients.restore(peers.map(\.peer), lastNumber: lastNumber, total: total)
        for (peer, names) in fed { for name in names { cameras[name].map { peer.fedCameras.insert($0) } } }
        let numbered = Dictionary(peers.map { ($0.peer.number, $0.peer) }) { first, _ in first }
        for replay in replays { parts.replays.restore(replay, peers: numbered) }
        parts.runner.restore(cameras.values, at: now) { numbered[$0] != nil }
        for (_, peer) in peers {
            parts.subscriptions.restore(peer)
            for wait in peer.waits.all { parts.waits.restore(wait) }
            parts.turns.join(peer)
            parts.sender.enqueue(peer)
        }
        for camera in cameras.values where !camera.readers.readInputs {
            camera.stopInputLog()
        }
        return peers
    }

    /// Reads the peers that are still there.
    private func peers(
        _ rows: [FieldReader], _ cameras: [String: HostedCamera],
        _ client: (UInt64) -> (outlet: any Outlet, role: Role)?
    ) throws(FieldReader.Damage) -> (peers: [(key: UInt64, peer: Peer)], fed: [(peer: Peer, cameras: [String])]) {
        var peers: [(key: UInt64, peer: Peer)] = []
        var fed: [(peer: Peer, cameras: [String])] = []
        do throws(FieldReader.Damage) {
            for row in rows {
                let (key, number) = try Peer.identity(row)
                // Skip the state of a client that has gone meanwhile.
                guard let client = client(key) else { continue }
                let peer = Peer(number: number, outlet: client.outlet, role: client.role, limits: parts.limits)
                peers.append((key, peer))
                fed.append((peer, try peer.read(row, parts.limits, cameras)))
            }
            return (peers, fed)
        } catch {
            // Peers and subscriptions refer to each other.
            for (_, peer) in peers {
                peer.subscriptions = PeerSubscriptions()
                peer.waits.removeAll()
            }
            throw error
        }
    }
}

extension Counters {
    fileprivate func write(connectionsTotal: UInt64, to out: inout FieldWriter) {
        out.put(CounterField.connectionsTotal, connectionsTotal)
        out.put(CounterField.lines, lines)
        out.put(CounterField.errors, errors)
        out.put(CounterField.events, events)
        out.put(CounterField.bytesIn, bytesIn)
        out.put(CounterField.bytesOut, bytesOut)
    }

    /// Goes on counting; says how many clients have ever connected.
    fileprivate func restore(_ row: FieldReader) throws(FieldReader.Damage) -> UInt64 {
        let read = Counters()
        var row = row
        var connectionsTotal: UInt64 = 0
        while let (tag, field) = try row.next(CounterField.self) {
            switch tag {
            case .connectionsTotal: connectionsTotal = try field.count()
            case .lines: read.lines = try field.count()
            case .errors: read.errors = try field.count()
            case .events: read.events = try field.count()
            case .bytesIn: read.bytesIn = try field.count()
            case .bytesOut: read.bytesOut = try field.count()
            }
        }
        (lines, errors, events) = (read.lines, read.errors, read.events)
        (bytesIn, bytesOut) = (read.bytesIn, read.bytesOut)
        return connectionsTotal
    }
}

extension Peer {
    fileprivate func write(to out: inout FieldWriter) {
        out.put(PeerField.number, number)
        out.put(PeerField.lineNumber, input.framer.lineNumber)
        out.put(PeerField.isSkipping, input.framer.isSkipping)
        out.put(PeerField.input, Array(input.waiting))
        out.put(PeerField.hasEnded, input.hasEnded)
        if case .discarding(let end) = input.state { out.put(PeerField.lingerEnd, end ?? .infinity) }
        out.put(PeerField.isBroken, output.isBroken)
        out.put(PeerField.isBlocked, isBlocked)
        out.put(PeerField.replies, output.replies[output.sentBytes...])
        if let toAll = subscriptions.toAll { out.put(PeerField.all) { toAll.write(to: &$0) } }
        if let about { out.put(PeerField.about, about) }
        for camera in fedCameras.cameras { out.put(PeerField.inputs, camera.name) }
        for wait in waits.all {
            out.put(PeerField.wait) { out in
                out.put(WaitField.camera, wait.camera.name)
                out.put(WaitField.id, wait.id)
                out.put(WaitField.line, wait.line)
                out.put(WaitField.timeoutMs, wait.timeoutMs)
                out.put(WaitField.deadline, wait.deadline)
            }
        }
        for subscription in subscriptions.all {
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
    ///
    /// - Returns: the names of the cameras that it has sent gestures to.
    fileprivate func read(
        _ row: FieldReader, _ limits: Limits, _ cameras: [String: HostedCamera]
    ) throws(FieldReader.Damage) -> [String] {
        var row = row
        var (lineNumber, isSkipping) = (0 as UInt64, false)
        var (bytes, replies): ([UInt8], [UInt8]) = ([], [])
        var (hasEnded, isBroken, isBlocked) = (false, false, false)
        var lingerEnd: Double?
        var inputs: [String] = []
        var (all, toAll): ([Subscription], AllCameras?) = ([], nil)
        while let (tag, field) = try row.next(PeerField.self) {
            switch tag {
            case .key, .number: break
            case .lineNumber: lineNumber = try field.count()
            case .isSkipping: isSkipping = try field.flag()
            case .input: bytes = Array(try field.bytes())
            case .hasEnded: hasEnded = try field.flag()
            case .lingerEnd: lingerEnd = try field.double()
            case .isBroken: isBroken = try field.flag()
            case .isBlocked: isBlocked = try field.flag()
            case .replies: replies = Array(try field.bytes())
            case .all: toAll = try AllCameras(field.record())
            case .inputs: inputs.append(try field.text())
            case .about: about = try field.text()
            case .wait: waits.insert(try RestWait(field.record(), of: self, cameras))
            case .subscription:
                all.append(try Subscription(field.record(), of: self, cameras, limits: limits))
            }
        }
        subscriptions = PeerSubscriptions(all: all, toAll: toAll)
        let framer = LineFramer(lineNumber: lineNumber, isSkipping: isSkipping, longest: limits.line)
        let discarding = lingerEnd.map { PeerInput.State.discarding(until: $0 == .infinity ? nil : $0) }
        input = PeerInput(discarding ?? (hasEnded ? .ended : .open), framer: framer, bytes: bytes)
        output = PeerOutput(isBroken ? .broken(isQueued: false) : isBlocked ? .blocked : .idle, replies: replies)
        return inputs
    }
}

extension RestWait {
    fileprivate convenience init(
        _ row: FieldReader, of peer: Peer, _ cameras: [String: HostedCamera]
    ) throws(FieldReader.Damage) {
        var row = row
        var camera: HostedCamera?
        var (id, line): ([UInt8], UInt64) = ([], 0)
        var (timeoutMs, deadline) = (Double.infinity, Double.infinity)
        while let (tag, field) = try row.next(WaitField.self) {
            switch tag {
            case .camera: camera = cameras[try field.text()]
            case .id: id = Array(try field.bytes())
            case .line: line = try field.count()
            case .timeoutMs: timeoutMs = try field.double()
            case .deadline: deadline = try field.double()
            }
        }
        guard let camera else { throw FieldReader.Damage() }
        self.init(for: camera, of: peer, id: id, line: line, timeoutMs: timeoutMs, deadline: deadline)
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
        var (kinds, delivery, isStale) = (EventKinds.usual, Subscribe.Delivery.every, false)
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
