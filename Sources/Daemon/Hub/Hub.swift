// All that the daemon decides, without any I/O. Bytes and time come in by `receive` and `advance`; bytes go out at the
// end of a turn, through each peer's outlet; `deadline` says when to call next. So a socket's loop and a test's seed
// drive it alike.
//
// This is the face of the parts that do the work (`HubParts`, `Intake`). The way of a line through them is drawn in
// Sources/README.md. Times are milliseconds of one monotonic clock.

import GimbalProtocol

@safe public final class Hub {
    let parts: HubParts
    let queries: Queries
    private let intake: Intake

    /// A hub that has nothing yet.
    ///
    /// - Parameters:
    ///   - server: the name and version that `hello` tells.
    ///   - epochSeed: any number that differs from run to run.
    ///   - memory: where long histories lie, so that the next process can go on with them.
    public init(
        limits: Limits = Limits(), server: String, epochSeed: UInt64, memory: (any HistoryMemory)? = nil,
        at now: Double
    ) {
        parts = HubParts(limits: limits, server: server, epochSeed: epochSeed, memory: memory)
        queries = Queries(parts, started: now)
        intake = Intake(parts, LineHandler(parts, RequestApplier(parts, queries)))
    }

    /// The name and version that `hello` tells.
    package var server: String { parts.server }

    /// Receives what a log may tell, with the client's outlet; `nil` if it is not logged.
    package var observer: ((Note, any Outlet) -> Void)? {
        get { parts.observer.receive }
        set { parts.observer.receive = newValue }
    }

    /// The traces that it can play by itself. To be set before clients connect.
    public var traces: [StoredTrace] {
        get { parts.traces.all }
        set { parts.traces.all = newValue }
    }

    /// How many cameras there are.
    public var cameraCount: Int { parts.registry.count }

    // MARK: Peers come and go

    /// Adds a client.
    ///
    /// - Parameter role: what it may do as long as it is connected.
    public func connect(_ outlet: any Outlet, role: Role = .everything) -> Peer {
        parts.clients.connect(outlet, role)
    }

    /// The client's end of the connection is closed: it neither sends nor reads any more. Its replay stops.
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

    /// The client is gone without a word, as after writing and closing: its input is still handled, but its replay
    /// stops.
    public func hangUp(_ peer: Peer, at now: Double) {
        guard !peer.isClosed else { return }
        if peer.sendsTrace || peer.input.isDiscarding { return close(peer, at: now) }
        stopSending(to: peer)
        if peer.input.hasEnded { parts.sender.enqueue(peer) } else { endOfInput(peer, at: now) }
    }

    /// The client has sent its last byte. What it sent is still handled, and it may go on reading.
    public func endOfInput(_ peer: Peer, at now: Double) {
        guard !peer.isClosed, !peer.input.hasEnded else { return }
        if peer.input.isDiscarding { return close(peer, at: now) }
        peer.input.end()
        intake.attend(to: peer, at: now)
    }

    /// The client reads no more: its output is dropped.
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

    // MARK: Bytes in

    /// Handles bytes that a peer sent, or keeps them until it is its turn.
    public func receive(_ bytes: Span<UInt8>, from peer: Peer, at now: Double) {
        intake.receive(bytes, from: peer, at: now)
    }

    /// Whether more bytes of a peer are to be read: not while those that it has sent wait for their turn.
    public func wantsBytes(of peer: Peer) -> Bool { !peer.share.isWaiting }

    /// The peer's connection takes bytes again.
    public func writable(_ peer: Peer) {
        peer.output.unblock()
        parts.sender.enqueue(peer)
    }

    // MARK: Time

    /// Tells what the wall clock shows, in microseconds since 1970; to be told in each turn, before anything else of it.
    public func setWallTime(_ microseconds: Int, at now: Double) {
        parts.clock.set(WallTime(microseconds: microseconds), at: now)
    }

    /// When to call `advance` next, at the latest; `nil` if nothing is due. Ask at the end of a turn.
    public var deadline: Double? {
        if parts.turns.isAnybodyWaiting && !intake.isStopped || parts.sender.hasUnfinished { return -.infinity }
        let begins =
            intake.isStopped
            ? .infinity
            : min(
                parts.runner.idleDeadline, parts.replays.deadline, parts.playOuts.deadline)
        let earliest = min(
            parts.runner.deadline, begins, parts.leases.deadline, parts.waits.deadline,
            parts.clients.deadline)
        return earliest == .infinity ? nil : earliest
    }

    /// Does what is due.
    public func advance(to now: Double) {
        parts.runner.advance(to: now)
        parts.leases.advance(to: now)
        if !intake.isStopped {
            parts.playOuts.advance(to: now)
            parts.idleActions.advance(to: now)
            intake.advanceReplays(to: now)
        }
        parts.waits.advance(to: now)
        for peer in parts.clients.takeOverdue(at: now) { close(peer, at: now) }
    }

    /// Sends everything that the turn has brought; then serves peers that wait for their turn, and sends what that
    /// brings. So a client that asked for little does not wait for what others asked for.
    public func endTurn(at now: Double) {
        parts.sender.resumeUnfinished()
        sendNews(at: now)
        if parts.turns.isAnybodyWaiting {
            intake.serveWaiting(at: now)
            sendNews(at: now)
        }
        parts.turns.endTurn()
    }

    /// Sends what has been emitted and answered: one write for each peer that has something to read.
    private func sendNews(at now: Double) {
        parts.runner.settle(at: now)
        parts.sender.serveQueue { send(to: $0, at: now) }
    }

    private func send(to peer: Peer, at now: Double) {
        switch parts.sender.send(to: peer) {
        case .sent: closeIfDone(peer, at: now)
        case .unfinished, .blocked: break
        case .broken:
            // Whether it is gone altogether, its sending side will tell.
            stopSending(to: peer)
            closeIfDone(peer, at: now)
        }
    }

    /// Closes a connection on which nothing is left to do, or sees to what is.
    private func closeIfDone(_ peer: Peer, at now: Double) {
        parts.subscriptions.announceNewCameras(to: peer)
        switch peer.input.state {
        case .discarding:
            peer.outlet.finishSending()
            peer.input.setCloseTime(now + parts.limits.lingerMs)
        case .ended where isIdle(peer), .finished where isIdle(peer):
            close(peer, at: now)
        case .open, .ended, .finished:
            if peer.input.isUnfinished, intake.isReady(peer) { parts.turns.join(peer) }
        }
    }

    /// Whether nothing is done for a peer that sends no more.
    private func isIdle(_ peer: Peer) -> Bool {
        peer.input.isEmpty && !peer.sendsTrace && peer.subscriptions.isEmpty && peer.waits.all.isEmpty
            && !peer.share.isWaiting
    }

    // MARK: Rest

    /// Whether no camera moves by itself.
    public var isAtRest: Bool { parts.runner.isAtRest && parts.replays.count == 0 }

    /// Whether something other than gestures moves a camera at the moment: a fling, inertia, a tap or an animation.
    package func movesByItself(_ camera: String) -> Bool { parts.registry.camera(named: camera)?.nextTick != nil }

    /// Handles no line any more, and brings every camera to rest where it is. What was emitted is still sent.
    public func end(at now: Double) {
        intake.stop()
        parts.runner.stopAll(at: now)
        parts.waits.answerAll()
    }

    /// Stops everything where it is, in the middle of things: no line is handled any more, and no time passes.
    public func pause() {
        intake.stop()
        parts.playOuts.endAll(parts.registry.sorted)
        parts.waits.answerAll()
    }

    /// Goes on after all.
    public func resume() { intake.resume() }

    // MARK: What is kept

    /// Whether changes are saved.
    public var tracksChanges: Bool {
        get { parts.registry.tracksChanges }
        set { parts.registry.tracksChanges = newValue }
    }

    /// The cameras as they stand, sorted by name; not those that are there only to be watched.
    ///
    /// - Parameter isLast: whether nothing happens any more.
    public func savedState(isLast: Bool) -> SavedState { SavedState(isLast: isLast, cameras: parts.registry.saved) }

    /// Whether something may have changed since ``beginSaving(_:)`` was called last.
    public var hasUnsaved: Bool { parts.registry.hasUnsaved }

    /// Begins to bring a text up to date; cameras that change from now on are the next time's.
    public func beginSaving(_ text: inout SavedText) { parts.registry.beginSaving(&text) }

    /// Brings the text of so many cameras up to date, at most: it costs some ten microseconds for each.
    ///
    /// - Returns: whether all is up to date.
    public func continueSaving(_ text: inout SavedText, atMost count: Int) -> Bool {
        parts.registry.continueSaving(&text, atMost: count)
    }

    /// Restores cameras, also if they are more than there may be now: then no new ones are made. To be called before
    /// clients connect.
    ///
    /// - Parameter keepsEpochs: whether it is sure that nothing was emitted after the state was saved; otherwise a
    ///   subscriber must not take what comes for what follows on what it read.
    /// - Returns: how many there are.
    public func restore(_ saved: SavedState, keepsEpochs: Bool, at now: Double) -> Int {
        parts.registry.restore(saved.cameras, keepsEpochs: keepsEpochs, at: now)
        parts.runner.scheduleIdleActions()
        return parts.registry.count
    }
}
