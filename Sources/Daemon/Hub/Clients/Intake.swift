// Input: bytes become lines, and the hub handles lines when it is their peer's turn. Lines that must wait stay in the
// peer's input; once they reach a limit, the hub stops reading from the client.

import GimbalProtocol

final class Intake {
    private let parts: HubParts
    private let handler: LineHandler
    /// Whether lines are no longer handled.
    var isStopped = false

    init(_ parts: HubParts, _ handler: LineHandler) { (self.parts, self.handler) = (parts, handler) }

    // MARK: Bytes

    /// Handles bytes from a peer, as far as it is the peer's turn.
    func receive(_ bytes: Span<UInt8>, from peer: Peer, at now: Double) {
        parts.counters.bytesIn += UInt64(bytes.count)
        guard !peer.isClosed, peer.input.isOpen else { return }
        guard peer.input.isEmpty, parts.turns.isServedAtOnce(peer) else {
            append(bytes, to: peer)
            attend(to: peer, at: now)
            return updateReading(peer)
        }
        parts.turns.serveAtOnce(peer) {
            let handled = handleLines(bytes, from: peer, at: now)
            if handled < bytes.count, !peer.input.isDiscarding { append(bytes.extracting(handled...), to: peer) }
            updateReading(peer)
        }
    }

    private func append(_ bytes: Span<UInt8>, to peer: Peer) {
        parts.turns.add(bytes: bytes.count)
        peer.input.append(bytes)
    }

    /// Serves a peer now, or queues it for its turn.
    func attend(to peer: Peer, at now: Double) {
        if parts.turns.isServedAtOnce(peer) {
            parts.turns.serveAtOnce(peer) { handleInput(of: peer, at: now) }
        } else {
            parts.turns.join(peer)
        }
    }

    /// Continues every replay that is due, by serving the peer that sends it.
    func advanceReplays(to now: Double) {
        for replay in parts.replays.running where replay.deadline <= now {
            if let peer = replay.peer { attend(to: peer, at: now) } else { parts.replays.advanceAlone(replay, to: now) }
        }
    }

    /// Serves peers that wait for their turn, until the turn's budget is used up.
    func serveWaiting(at now: Double) {
        guard !isStopped else { return }
        parts.turns.serveWaiting { handleInput(of: $0, at: now) }
    }

    /// Handles input that a peer sent earlier and that had to wait.
    private func handleInput(of peer: Peer, at now: Double) {
        if let replay = peer.replay { parts.replays.advance(replay, to: now) }
        var (bytes, start) = peer.input.takeBytes()
        let handled = handleLines(bytes.span.extracting(start...), from: peer, at: now)
        if !peer.isClosed, !peer.input.isDiscarding {
            // This is the only reference, so nothing is copied.
            peer.input.giveBack(&bytes, handled: start + handled)
        }
        if peer.input.hasEnded, peer.input.isEmpty {
            if isReady(peer) { finishInput(of: peer, at: now) } else if isStopped { parts.turns.join(peer) }
        }
        updateReading(peer)
    }

    /// Cancels the gestures of a peer whose input has all been handled, and ends its replay, and its leases unless
    /// something else waits.
    private func finishInput(of peer: Peer, at now: Double) {
        peer.input.finish()
        parts.runner.cancelGestures(of: peer, at: now)
        parts.replays.end(traceOf: peer, at: now)
        parts.leases.releaseIfDone(peer, at: now)
        parts.sender.enqueue(peer)
    }

    private func updateReading(_ peer: Peer) {
        guard !peer.isClosed, !isStopped else { return }
        let isWanted = peer.input.isDiscarding || peer.input.count < parts.limits.inputLimit
        if peer.input.setReading(isWanted) { peer.outlet.setReading(isWanted) }
    }

    // MARK: Lines

    /// Handles lines while the peer may be served; returns how many bytes were handled.
    private func handleLines(_ bytes: Span<UInt8>, from peer: Peer, at now: Double) -> Int {
        var position = 0
        let isLast = peer.input.hasEnded
        while position == 0 ? mayBegin(peer) : mayContinue(peer) {
            let before = peer.input.framer(longest: parts.limits.line)
            var (framer, end) = (before, position)
            guard let next = framer.next(in: bytes, at: &end, isLast: isLast) else {
                parts.turns.add(bytes: bytes.count - position)
                peer.input.goOn(from: framer)
                peer.replay?.waitForLine()
                return end
            }
            peer.input.goOn(from: framer)
            switch next {
            case .tooLong(let range):
                handler.rejectTooLong(bytes.extracting(range), from: peer, at: now)
            case .line(let range):
                parts.turns.add(bytes: range.count)
                guard handler.handle(bytes.extracting(range), from: peer, at: now) else {
                    peer.input.goOn(from: before)
                    return position
                }
            }
            position = end
        }
        peer.replay?.waitForLine()
        if position < bytes.count, isReady(peer) || isStopped { parts.turns.join(peer) }
        return position
    }

    /// Whether a peer's lines wait for nothing but their turn.
    func isReady(_ peer: Peer) -> Bool { isFree(peer) && !isBehind(peer) }

    private func mayBegin(_ peer: Peer) -> Bool { mayContinue(peer) && !isBehind(peer) }

    /// Whether a peer may have another line handled after the first of a turn: a turn is too short to fall behind.
    private func mayContinue(_ peer: Peer) -> Bool { !parts.turns.isUsedUp && isFree(peer) }

    private func isFree(_ peer: Peer) -> Bool {
        !peer.isClosed && !peer.input.isDiscarding && peer.replay?.takesLines != false
            && peer.output.unreadBytes < parts.limits.unreadReplies && !isStopped
    }

    /// Whether a peer does not keep up with its subscriptions: then its own lines wait, before it lags.
    private func isBehind(_ peer: Peer) -> Bool {
        !peer.output.pending.isEmpty
            && (peer.backlog > UInt64(parts.limits.historyEvents / 2)
                || peer.output.pending.contains { $0.isRecorder && $0.backlogBytes > parts.limits.historyBytes / 2 }
                || peer.output.pending.reduce(0) { $0 + $1.copiedBytes } > parts.limits.mostHistoryBytes / 2)
    }
}
