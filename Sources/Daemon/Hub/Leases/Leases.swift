// Leases: for a time, only the connections that take part in a camera's lease may move it. Invariants: a camera has at
// most one lease. `Leases` knows each camera whose lease a peer takes part in or waits for, and the camera the peer. A
// free lease goes to the first request that waits: `update` ensures this after each change.

import GimbalProtocol

/// A camera's lease.
final class Lease {
    let number: Int
    /// The peer that has taken it: the lease ends with its connection.
    let holder: Peer
    /// The peers that have joined it.
    fileprivate(set) var members: [Peer] = []
    fileprivate(set) var label: String?
    /// The hub's time at which it ends.
    fileprivate(set) var deadline: Double

    fileprivate init(_ number: Int, of holder: Peer, label: String?, deadline: Double) {
        (self.number, self.holder, self.label, self.deadline) = (number, holder, label, deadline)
    }

    /// All peers that take part in it.
    var peers: [Peer] { members + [holder] }

    /// Whether a peer may move the camera.
    func includes(_ peer: Peer) -> Bool { peer === holder || members.contains { $0 === peer } }
}

/// A camera's lease, and the requests that wait for the next. Stored in the camera; only ``Leases`` changes it.
struct CameraLeases {
    fileprivate(set) var current: Lease?
    /// In the order in which they came.
    fileprivate(set) var waiting: [Waiting] = []

    /// A request that waits.
    struct Waiting {
        let peer: Peer
        let request: LeaseRequest
        /// The request's id as it was written.
        let id: [UInt8]
        /// The number of its line on the connection.
        let line: UInt64
    }

    /// Whether a peer may move the camera.
    @inline(__always)
    func allow(_ peer: Peer) -> Bool { current?.includes(peer) ?? true }

    /// Whether a peer's request waits.
    func hasWaiting(_ peer: Peer) -> Bool { waiting.contains { $0.peer === peer } }
}

final class Leases {
    private let runner: CameraRunner
    private let sender: Sender
    /// Cameras that have a lease.
    private var leased: [HostedCamera] = []
    /// The cameras whose lease a peer takes part in or waits for, by peer. Until removed here, they hold the peer.
    private var cameras: [ObjectIdentifier: [HostedCamera]] = [:]
    /// The number of the last lease.
    private(set) var lastNumber = 0

    init(_ runner: CameraRunner, _ sender: Sender) { (self.runner, self.sender) = (runner, sender) }

    // MARK: Beginning

    /// Takes a camera's lease or prolongs it; if that is not possible yet, the request waits.
    func take(_ request: LeaseRequest, of camera: HostedCamera, _ id: Span<UInt8>, by peer: Peer, at now: Double) {
        let id = (0..<id.count).map { id[$0] }
        if let lease = camera.leases.current, lease.includes(peer) {
            // A peer that has only joined the lease cannot change it.
            guard lease.holder === peer else {
                return sender.reply(.lease(camera.message(of: lease, at: now)), id.span, to: peer)
            }
            lease.deadline = now + request.forMs
            lease.label = request.label ?? lease.label
            tell(camera, lease, id, to: peer, at: now)
        } else {
            note(camera, in: peer)
            let line = peer.input.lineNumber
            camera.leases.waiting.append(.init(peer: peer, request: request, id: id, line: line))
            update(camera, at: now)
        }
    }

    /// Adds a peer to a camera's lease.
    func join(_ camera: HostedCamera, _ id: Span<UInt8>, by peer: Peer, at now: Double) {
        guard let lease = camera.leases.current else { return }
        if !lease.includes(peer) {
            note(camera, in: peer)
            lease.members.append(peer)
        }
        sender.reply(.lease(camera.message(of: lease, at: now)), id, to: peer)
    }

    /// Grants the lease to the first request that waits.
    private func grant(_ camera: HostedCamera, at now: Double) {
        let next = camera.leases.waiting.removeFirst()
        lastNumber += 1
        let lease = Lease(lastNumber, of: next.peer, label: next.request.label, deadline: now + next.request.forMs)
        camera.leases.current = lease
        leased.append(camera)
        runner.cancelGestures(on: camera, at: now) { $0 != next.peer.number }
        tell(camera, lease, next.id, to: next.peer, at: now)
    }

    /// Tells the peer that has asked, and all subscribers of the camera's leases.
    private func tell(_ camera: HostedCamera, _ lease: Lease, _ id: [UInt8], to peer: Peer, at now: Double) {
        let message = camera.message(of: lease, at: now)
        sender.reply(.lease(message), id.span, to: peer)
        runner.send(.lease, of: camera) { $0.answer(.event(.leaseTaken(message)), Span()) }
    }

    // MARK: Ending

    /// Ends a peer's part in a camera's lease, or its wait for one; with a number, ends the lease.
    func end(_ number: Int?, of camera: HostedCamera, by peer: Peer, at now: Double) {
        if let lease = camera.leases.current, number != nil || lease.holder === peer {
            end(lease, of: camera, .ended, at: now)
        } else {
            leave(camera, peer)
            if !camera.leases.allow(peer) { runner.cancelGestures(on: camera, at: now) { $0 == peer.number } }
        }
        update(camera, at: now)
    }

    /// Ends all of a peer's parts in leases, and its waits, as its connection ends.
    func release(_ peer: Peer, at now: Double) {
        for camera in cameras(of: peer) {
            if camera.leases.current?.holder !== peer { leave(camera, peer) }
            update(camera, at: now)
        }
    }

    /// Ends a half-closed peer's parts in leases, once everything that it sent is done.
    func releaseIfDone(_ peer: Peer, at now: Double) { if isGone(peer) { release(peer, at: now) } }

    /// Whether a peer can no longer move a camera, or will not: nothing that it sent is left to be done.
    private func isGone(_ peer: Peer) -> Bool {
        peer.isClosed || peer.isWatchOnly || peer.input.isDiscarding
            || peer.input.isFinished && !peer.sendsTrace && peer.waits.isEmpty && !isWaiting(peer)
    }

    /// Whether a peer waits for a lease. One that reads no more waits for nothing.
    func isWaiting(_ peer: Peer) -> Bool {
        peer.output.isOpen && cameras(of: peer).contains { $0.leases.hasWaiting(peer) }
    }

    /// Ends a camera's lease if it is over, and grants the next one if the camera is free for it. Call this when
    /// something has changed for either.
    func update(_ camera: HostedCamera, at now: Double) {
        if let lease = camera.leases.current, let reason = reason(toEnd: lease, of: camera, at: now) {
            end(lease, of: camera, reason, at: now)
        }
        guard camera.leases.current == nil, let next = camera.leases.waiting.first else { return }
        if camera.isFree(for: next.peer) { grant(camera, at: now) }
    }

    /// Returns why a lease is over; `nil` if it is not.
    private func reason(toEnd lease: Lease, of camera: HostedCamera, at now: Double) -> LeaseEndReason? {
        if camera.isPlayed(by: lease.holder) { return nil }
        if isGone(lease.holder) { return .disconnected }
        return lease.deadline <= now ? .time : nil
    }

    private func end(_ lease: Lease, of camera: HostedCamera, _ reason: LeaseEndReason, at now: Double) {
        for peer in lease.peers { forget(camera, in: peer) }
        camera.leases.current = nil
        leased.removeAll { $0 === camera }
        runner.restartIdleTime(of: camera, at: now)
        tellEnd(of: lease.number, of: camera, reason, at: reason == .time ? min(lease.deadline, now) : now)
    }

    private func tellEnd(of number: Int, of camera: HostedCamera, _ reason: LeaseEndReason, at now: Double) {
        let time = max(camera.time(at: now), camera.moment.lastTime)
        let end = LeaseEnd(camera: camera.name, timeMs: time, lease: number, reason: reason)
        runner.send(.lease, of: camera) { $0.answer(.event(.leaseEnded(end)), Span()) }
    }

    /// Ends a peer's wait, or its part in a lease that another peer holds.
    private func leave(_ camera: HostedCamera, _ peer: Peer) {
        camera.leases.current?.members.removeAll { $0 === peer }
        camera.leases.waiting.removeAll { $0.peer === peer }
        forget(camera, in: peer)
    }

    /// Ends the lease of a camera that is about to be removed, and refuses the requests that wait for it.
    func cameraWillBeRemoved(_ camera: HostedCamera) {
        if let lease = camera.leases.current {
            for peer in lease.peers { forget(camera, in: peer) }
            leased.removeAll { $0 === camera }
        }
        for wait in camera.leases.waiting {
            let error = GimbalError(.removed, field: "camera", "camera \(camera.name) was removed before it was free")
            sender.refuse(error, wait.id.span, ofLine: wait.line, to: wait.peer)
            forget(camera, in: wait.peer)
        }
        camera.leases = CameraLeases()
    }

    // MARK: Peers

    /// The cameras whose lease a peer takes part in or waits for.
    func cameras(of peer: Peer) -> [HostedCamera] { cameras[ObjectIdentifier(peer)] ?? [] }

    private func note(_ camera: HostedCamera, in peer: Peer) {
        cameras[ObjectIdentifier(peer), default: []].append(camera)
    }

    private func forget(_ camera: HostedCamera, in peer: Peer) {
        let others = cameras(of: peer).filter { $0 !== camera }
        cameras[ObjectIdentifier(peer)] = others.isEmpty ? nil : others
    }

    // MARK: Time

    /// When the next lease ends, in the hub's time; infinite if none does.
    var deadline: Double {
        leased.reduce(.infinity) { earliest, camera in
            guard let lease = camera.leases.current, !camera.isPlayed(by: lease.holder) else { return earliest }
            return min(earliest, lease.deadline)
        }
    }

    /// Ends the leases that are over.
    func advance(to now: Double) {
        guard !leased.isEmpty else { return }
        for camera in leased { update(camera, at: now) }
    }

    // MARK: Handover

    /// A camera's lease and the requests that wait for it, with peers as numbers.
    struct Record: Codable {
        let number: Int?
        let holder: Int?
        let members: [Int]
        let label: String?
        let deadline: Double?
        let waiting: [Waiting]

        struct Waiting: Codable {
            let peer: Int
            let id: [UInt8]
            let line: UInt64
            let forMs: Double
            let label: String?
        }
    }

    /// Resumes the lease of another process, as far as its peers are still connected and may still move the camera.
    /// Once all are restored, they must be updated: a peer may need one while it waits for another.
    ///
    /// - Parameter record: a valid record.
    func restore(_ record: Record, of camera: HostedCamera, peers: [Int: Peer], at now: Double) {
        for waiting in record.waiting {
            guard let peer = peers[waiting.peer], !peer.isWatchOnly, !camera.leases.hasWaiting(peer) else { continue }
            let request = LeaseRequest(forMs: waiting.forMs, label: waiting.label, wait: true)
            camera.leases.waiting.append(.init(peer: peer, request: request, id: waiting.id, line: waiting.line))
            note(camera, in: peer)
        }
        if let number = record.number, let holder = record.holder.flatMap({ peers[$0] }), let deadline = record.deadline
        {
            let lease = Lease(number, of: holder, label: record.label, deadline: deadline)
            lease.members = Set(record.members).subtracting([holder.number]).sorted().compactMap { peers[$0] }
                .filter { !camera.leases.hasWaiting($0) }
            for peer in lease.peers { note(camera, in: peer) }
            camera.leases.current = lease
            leased.append(camera)
        } else if let number = record.number {
            runner.restartIdleTime(of: camera, at: now)
            tellEnd(of: number, of: camera, .disconnected, at: now)
        }
    }

    /// Continues counting after the leases of another process.
    func goOn(from number: Int) { lastNumber = number }
}

extension Leases.Record {
    /// Whether the record is valid; records from another process are checked.
    var isPossible: Bool {
        let labels = [label] + waiting.map(\.label)
        return (number ?? 0) >= 0 && -1e15...1e15 ~= deadline ?? 0
            && labels.allSatisfy { 1...RequestDecoder.longestMarker ~= $0?.utf8.count ?? 1 }
            && waiting.allSatisfy { ClosedRange.leases ~= $0.forMs }
    }
}

extension CameraLeases {
    var record: Leases.Record? {
        if current == nil, waiting.isEmpty { return nil }
        let waiting = waiting.map {
            Leases.Record.Waiting(
                peer: $0.peer.number, id: $0.id, line: $0.line, forMs: $0.request.forMs, label: $0.request.label)
        }
        return Leases.Record(
            number: current?.number, holder: current?.holder.number, members: current?.members.map(\.number) ?? [],
            label: current?.label, deadline: current?.deadline, waiting: waiting)
    }
}

extension HostedCamera {
    /// Returns what subscribers are told of a lease.
    func message(of lease: Lease, at now: Double) -> CameraLease {
        let time = time(at: now)
        return CameraLease(
            camera: name, timeMs: time, lease: lease.number, untilMs: time + lease.deadline - now, label: lease.label)
    }

    /// Writes the current lease, for a subscriber that has not been told of it.
    func writeLease(at now: Double?, to line: inout LineWriter) {
        guard let lease = leases.current else { return }
        // While a replay plays, the camera's own clock stands still.
        let lastTime = replay == nil ? clockStart + moment.lastTime : clock.present.hub
        let message = message(of: lease, at: now ?? lastTime)
        line.answer(.event(.leaseTaken(message)), Span())
    }

    /// Whether a peer's trace plays on it and has not come to its end.
    func isPlayed(by peer: Peer) -> Bool { replay.map { $0.peer === peer && !$0.isAtEnd } ?? false }

    /// Whether no trace of another peer plays on it, apart from one that makes way.
    func isFree(for peer: Peer) -> Bool { replay.map { $0.peer === peer || $0.makesWay } ?? true }
}
