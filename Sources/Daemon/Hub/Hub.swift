// Everything that the daemon decides, without any I/O. Bytes and time come in through `receive` and `advance`, bytes go
// out at the end of a turn through each peer's outlet, and `deadline` says when to call next. So a socket's loop and a
// test's seed drive the hub alike.
//
// This is the facade of the parts that do the work (`HubParts`, `Intake`). Sources/README.md shows the way of a line
// through them. Times are milliseconds of one monotonic clock.

import GimbalProtocol

@safe public final class Hub {
    let parts: HubParts
    let applier: RequestApplier
    private let intake: Intake

    /// Creates a hub without cameras and clients.
    ///
    /// - Parameters:
    ///   - server: the name and version in the answer to `hello`.
    ///   - epochSeed: any number that differs from run to run.
    ///   - memory: where long histories are stored, so that the next process can take them over.
    public init(
        limits: Limits = Limits(), server: String, epochSeed: UInt64, memory: (any HistoryMemory)? = nil,
        at now: Double
    ) {
        parts = HubParts(limits: limits, server: server, epochSeed: epochSeed, memory: memory)
        applier = RequestApplier(parts, started: now)
        intake = Intake(parts, LineHandler(parts, applier))
    }

    /// The name and version in the answer to `hello`.
    package var server: String { parts.server }

    /// The callback for what a log may report, with the client's outlet; `nil` if nothing is logged.
    package var observer: ((Note, any Outlet) -> Void)? {
        get { parts.observer.receive }
        set { parts.observer.receive = newValue }
    }

    /// The traces that the hub can play by itself. Set them before clients connect.
    public var traces: [StoredTrace] {
        get { parts.traces.all }
        set { parts.traces.all = newValue }
    }

    /// The number of cameras.
    public var cameraCount: Int { parts.registry.count }

    // MARK: Connecting and disconnecting

    /// Adds a client.
    ///
    /// - Parameter role: what it may do while it is connected.
    public func connect(_ outlet: any Outlet, role: Role = .everything) -> Peer {
        parts.clients.connect(outlet, role)
    }

    /// Removes a client that has closed its connection: it neither sends nor reads any more. Stops its replay.
    public func disconnect(_ peer: Peer, at now: Double) {
        guard !peer.isClosed else { return }
        peer.output.close()
        peer.input.clear()
        parts.clients.remove(peer)
        parts.subscriptions.forget(peer)
        parts.waits.forget(peer)
        if let replay = peer.replay { parts.replays.abandon(replay) }
        parts.runner.cancelGestures(of: peer, at: now)
        parts.leases.release(peer, at: now)
    }

    /// Notes that the client has closed both sides of its connection, as after writing and closing. Its input is still
    /// handled, but its replay stops.
    public func hangUp(_ peer: Peer, at now: Double) {
        guard !peer.isClosed else { return }
        if peer.isPlaying || peer.input.isDiscarding { return close(peer, at: now) }
        stopSending(to: peer)
        if peer.input.hasEnded { parts.sender.enqueue(peer) } else { endOfInput(peer, at: now) }
    }

    /// Notes that the client has sent its last byte. What it sent is still handled, and it may continue to read.
    public func endOfInput(_ peer: Peer, at now: Double) {
        guard !peer.isClosed, !peer.input.hasEnded else { return }
        if peer.input.isDiscarding {
            // It still reads its answers, which set the time of its end.
            if !peer.hasUnsent { close(peer, at: now) }
            return
        }
        peer.input.end()
        intake.attend(to: peer, at: now)
    }

    /// Drops the output of a client that reads no more.
    private func stopSending(to peer: Peer) {
        parts.subscriptions.forget(peer)
        parts.waits.forget(peer)
        peer.output.breakOff()
    }

    private func close(_ peer: Peer, at now: Double) {
        guard !peer.isClosed else { return }
        disconnect(peer, at: now)
        peer.outlet.close()
    }

    // MARK: Input

    /// Handles bytes from a peer, or keeps them until it is the peer's turn.
    public func receive(_ bytes: Span<UInt8>, from peer: Peer, at now: Double) {
        intake.receive(bytes, from: peer, at: now)
    }

    /// Whether to read more bytes from a peer: not while bytes that it has sent wait for their turn.
    public func wantsBytes(of peer: Peer) -> Bool { !peer.share.isWaiting }

    /// Notes that the peer's connection takes bytes again.
    public func writable(_ peer: Peer) {
        peer.output.unblock()
        parts.sender.enqueue(peer)
    }

    // MARK: Time

    /// Sets the time of the wall clock, in microseconds since 1970. Call this in each turn, before anything else.
    public func setWallTime(_ microseconds: Int, at now: Double) {
        parts.clock.set(WallTime(microseconds: microseconds), at: now)
    }

    /// The latest time for the next call of `advance`; `nil` if nothing is due. Ask at the end of a turn.
    public var deadline: Double? {
        if parts.turns.hasWaitingPeers && !intake.isStopped || parts.sender.hasUnfinished { return -.infinity }
        var earliest = min(parts.runner.deadline, parts.leases.deadline, parts.waits.deadline, parts.clients.deadline)
        if !intake.isStopped {
            earliest = min(earliest, parts.runner.idleDeadline, parts.replays.deadline, parts.playOuts.deadline)
        }
        return earliest == .infinity ? nil : earliest
    }

    /// Does what is due.
    public func advance(to now: Double) {
        parts.runner.advance(to: now)
        parts.leases.advance(to: now)
        if !intake.isStopped {
            parts.playOuts.advance(to: now)
            beginIdleActions(at: now)
            intake.advanceReplays(to: now)
        }
        parts.waits.advance(to: now)
        for peer in parts.clients.takeOverdue(at: now) { close(peer, at: now) }
    }

    /// Sends everything that the turn has produced; then serves peers that wait for their turn, and sends what that
    /// produces. So a client with a small request does not wait for what others asked for.
    public func endTurn(at now: Double) {
        sendNews(at: now)
        if parts.turns.hasWaitingPeers {
            intake.serveWaiting(at: now)
            sendNews(at: now)
        }
        parts.turns.endTurn()
    }

    /// Sends the events and answers so far: one write for each peer that has something to read.
    private func sendNews(at now: Double) {
        parts.runner.settle(at: now)
        parts.sender.serveQueue { send(to: $0, at: now) }
    }

    private func send(to peer: Peer, at now: Double) {
        let outcome = parts.sender.send(to: peer)
        // Reading from the connection will show whether the client is gone altogether.
        if outcome == .broken { stopSending(to: peer) }
        parts.subscriptions.goOn(with: peer, at: now)
        switch outcome {
        case .sent, .broken: closeIfDone(peer, at: now)
        case .unfinished, .blocked: continueInput(of: peer)
        }
    }

    /// Closes a connection that has nothing left to do, or arranges for what is left.
    private func closeIfDone(_ peer: Peer, at now: Double) {
        switch peer.input.state {
        case .discarding:
            peer.outlet.finishSending()
            peer.input.setCloseTime(now + parts.limits.lingerMs)
        case .ended where isIdle(peer), .finished where isIdle(peer):
            close(peer, at: now)
        case .finished:
            parts.leases.releaseIfDone(peer, at: now)
        case .open, .ended: continueInput(of: peer)
        }
    }

    /// Gives a peer a turn if its input has waited until it had read enough.
    @inline(__always)
    private func continueInput(of peer: Peer) {
        if peer.input.isUnfinished, intake.isReady(peer) { parts.turns.join(peer) }
    }

    /// Whether nothing is left to do for a peer that sends no more.
    private func isIdle(_ peer: Peer) -> Bool {
        peer.input.isEmpty && !peer.sendsTrace && peer.subscriptions.isEmpty && peer.waits.isEmpty
            && !peer.share.isWaiting && !parts.leases.isWaiting(peer)
    }

    // MARK: Rest

    /// Whether a camera moves by itself, or a trace is played.
    public var isMoving: Bool { parts.runner.hasMotion || parts.replays.count > 0 }

    /// Whether something other than gestures moves a camera at the moment: a fling, inertia, a tap or an animation.
    package func movesByItself(_ camera: String) -> Bool { parts.registry.camera(named: camera)?.nextTick != nil }

    /// Stops handling lines, and brings every camera to rest where it is. Emitted events are still sent.
    public func end(at now: Double) {
        intake.isStopped = true
        parts.runner.stopAll(at: now)
        parts.waits.answerAll()
    }

    /// Stops everything where it is, even in mid-motion: no more lines are handled, and no time passes.
    public func pause() {
        intake.isStopped = true
        parts.playOuts.endAll(parts.registry.sorted)
        parts.waits.answerAll()
    }

    /// Resumes after ``pause()``, if no other process takes over.
    public func resume() { intake.isStopped = false }

    // MARK: Saving

    /// The text in which changes are saved; `nil` if they are not. Set it before there are cameras.
    public var savedText: SavedText? {
        get { parts.registry.savedText }
        set { parts.registry.savedText = newValue }
    }

    /// Returns the current cameras, sorted by name, without those that exist only to be watched.
    ///
    /// - Parameter isLast: whether nothing happens any more.
    public func savedState(isLast: Bool) -> SavedState { SavedState(isLast: isLast, cameras: parts.registry.saved) }

    /// Updates ``savedText`` for at most `count` cameras, at a cost of some ten microseconds each.
    ///
    /// - Returns: whether it is as of ``SavedText/begin()``.
    public func continueSaving(atMost count: Int) -> Bool { parts.registry.continueSaving(atMost: count) }

    /// Restores cameras, even more than the limit allows: no new ones are made then. Call this before clients connect.
    ///
    /// - Parameter keepsEpochs: whether it is certain that nothing was emitted after the state was saved. Otherwise the
    ///   cameras get new epochs, so that no subscriber takes new events for the continuation of what it read.
    public func restore(_ saved: SavedState, keepsEpochs: Bool, at now: Double) {
        parts.registry.restore(saved.cameras, keepsEpochs: keepsEpochs, at: now)
        parts.runner.scheduleIdleActions()
    }
}
