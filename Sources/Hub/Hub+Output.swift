// What goes out: replies and events in the order in which they arose, in one write for each peer and turn.
// Nothing is copied for a subscriber but the rest of a line that was cut, and what stands before a reply of its own.

import Wire

extension Hub {
    // MARK: Replies

    func acknowledge(_ peer: Peer, _ id: Span<UInt8>) {
        guard !id.isEmpty else { return }
        prepareReply(to: peer)
        line.ok(id)
        sendReply(to: peer)
    }

    /// Clears the line for a reply; what the peer has subscribed to and was emitted before goes ahead of it. With `latest`
    /// it does not: there, never more than one change is to wait.
    func prepareReply(to peer: Peer) {
        if peer.caughtUpAt != emissions {
            work.add(peer.subscriptions.count >> 5)
            for subscription in peer.subscriptions where subscription.delivery == .every { catchUp(subscription) }
            peer.caughtUpAt = emissions
        }
        line.clear()
    }

    func sendReply(to peer: Peer) {
        guard !peer.isGone, !peer.isDeaf else { return }
        line.withBytes { bytes in
            work.add(bytes: bytes.count)
            unsafe bytes.withUnsafeBufferPointer { unsafe peer.replies.append(contentsOf: $0) }
        }
        flushLater(peer)
    }

    /// Puts what a subscription has waiting among its peer's replies. A peer that reads nothing misses it: a copy for each
    /// reply would cost more and more.
    func catchUp(_ subscription: Subscription) {
        guard subscription.backlog > 0 else { return }
        let peer = subscription.peer
        let isCostly = peer.backlog > UInt64(limits.historyEvents) || peer.unreadReplies > limits.unreadReplies
        let bytes = subscription.backlogBytes
        if isCostly || subscription.isRecorder && bytes > limits.historyBytes { subscription.giveUp() }
        announce(subscription)
        // Much at once gets no more memory than it needs.
        if bytes > 16 << 10, !subscription.hasMissed { peer.replies.reserveCapacity(peer.replies.count + bytes) }
        var end = subscription.cursor
        subscription.gather(room: .max) { run in
            work.add(bytes: unsafe run.bytes.count)
            unsafe peer.replies.append(contentsOf: run.bytes)
            end = run.entries.upperBound
        }
        if end > subscription.cursor { subscription.sent(upTo: end) }
    }

    /// Puts what goes ahead of a subscription's lines among the peer's replies.
    func announce(_ subscription: Subscription) {
        guard subscription.hasMissed else { return }
        line.clear()
        subscription.catchUp(&line)
        sendReply(to: subscription.peer)
    }

    // MARK: The end of the turn

    /// The peer's connection takes bytes again.
    public func writable(_ peer: Peer) {
        peer.isBlocked = false
        flushLater(peer)
    }

    /// Has a peer sent what it has to read, at the end of the turn.
    func flushLater(_ peer: Peer) {
        if peer.joinQueue() { sendQueue.append(peer) }
    }

    /// Sends everything that the turn has brought; then serves those that wait for their turn, and sends what that brings.
    /// So nobody who asked for little waits for what others asked for.
    public func endTurn(at now: Double) {
        sendQueue.append(contentsOf: unfinished)
        unfinished.removeAll(keepingCapacity: true)
        sendNews(at: now)
        if !queue.isEmpty {
            serveWaiting(at: now)
            sendNews(at: now)
        }
        turns += 1
        queue.endTurn(work: work.ofTurn)
        work.beginTurn()
    }

    /// Sends what has been emitted and answered: one write for each peer that has something to read.
    private func sendNews(at now: Double) {
        openFeedLogs(at: now)
        removeHeldCameras()
        repeat {
            var batch: [Peer] = []
            swap(&batch, &sendQueue)
            for camera in news {
                camera.isListed = false
                for subscription in camera.subscriptions where subscription.peer.joinQueue() {
                    batch.append(subscription.peer)
                }
            }
            news.removeAll(keepingCapacity: true)
            // Whoever is sent little does not wait for those that are sent much.
            for peer in batch where queue.isLight(peer) { flush(peer, at: now) }
            for peer in batch where peer.isQueued { flush(peer, at: now) }
            batch.removeAll(keepingCapacity: true)
            if sendQueue.isEmpty { swap(&batch, &sendQueue) }
            // Sending can bring news: a peer that turns out to be gone had a gesture, and its camera comes to rest.
        } while !news.isEmpty || !sendQueue.isEmpty
        turnEvents = 0
    }

    private func flush(_ peer: Peer, at now: Double) {
        peer.isQueued = false
        guard !peer.isGone else { return }
        if sendRun(peer) { return finishIfDone(peer, at: now) }
        var sent = 0
        while true {
            let offered = offer(peer)
            guard offered.taken >= 0 else {
                // Whether it is gone altogether, its sending side will tell.
                goDeaf(peer)
                break
            }
            account(offered.taken, peer)
            if offered.taken < offered.all {
                peer.isBlocked = true
                return
            }
            sent += offered.taken
            if sent >= limits.bytesPerTurn, peer.joinQueue() { return unfinished.append(peer) }
            if offered.all == 0 || !peer.subscriptions.contains(where: { $0.backlog > 0 }) { break }
        }
        finishIfDone(peer, at: now)
    }

    /// Sends what nearly every peer has waiting, and nothing else: all new lines of one camera, as they stand in its log.
    ///
    /// - Returns: whether that is all. Otherwise what was taken is accounted for.
    private func sendRun(_ peer: Peer) -> Bool {
        guard peer.subscriptions.count == 1, peer.unreadReplies == 0 else { return false }
        let subscription = peer.subscriptions[0]
        guard let run = subscription.wholeRun else { return false }
        let taken = unsafe peer.outlet.send(run.bytes)
        if unsafe taken == run.bytes.count {
            counters.bytesOut += UInt64(taken)
            queue.charge(Self.workOfSending(taken, pieces: 1), to: peer)
            subscription.sent(upTo: run.entries.upperBound)
            return true
        }
        // What was offered to another peer is still there.
        runs.removeAll(keepingCapacity: true)
        runs.append((subscription, run))
        account(max(taken, 0), peer)
        return false
    }

    private static func workOfSending(_ bytes: Int, pieces: Int) -> UInt64 {
        UInt64(truncatingIfNeeded: 4 + pieces / 4 + max(bytes, 0) >> 9)
    }

    /// Offers a peer all that it has waiting; says how many bytes that were, and how many it took.
    private func offer(_ peer: Peer) -> (all: Int, taken: Int) {
        for subscription in peer.subscriptions { announce(subscription) }
        unsafe pieces.removeAll(keepingCapacity: true)
        runs.removeAll(keepingCapacity: true)
        return unsafe peer.replies.withUnsafeBytes { replies in
            if peer.unreadReplies > 0 { unsafe pieces.append(.init(rebasing: replies[peer.repliesSent...])) }
            var offered = peer.unreadReplies
            for subscription in peer.subscriptions where offered < limits.bytesPerTurn {
                subscription.gather(room: 256) { run in
                    unsafe pieces.append(run.bytes)
                    runs.append((subscription, run))
                    offered += unsafe run.bytes.count
                }
            }
            guard offered > 0 else { return (all: 0, taken: 0) }
            let taken = unsafe peer.outlet.send(pieces)
            queue.charge(unsafe Self.workOfSending(taken, pieces: pieces.count), to: peer)
            return (all: offered, taken: taken)
        }
    }

    /// Notes what has been sent. A line that was cut keeps its rest among the replies, so that cursors stand between lines.
    func account(_ bytes: Int, _ peer: Peer) {
        counters.bytesOut += UInt64(bytes)
        var left = bytes - peer.unreadReplies
        if left < 0 {
            peer.repliesSent += bytes
            // A reader that never quite catches up must not have all that it has read kept for it.
            if peer.repliesSent > peer.replies.count / 2 {
                peer.replies.removeFirst(peer.repliesSent)
                peer.repliesSent = 0
            }
            return
        }
        peer.replies.removeAll(keepingCapacity: peer.replies.capacity <= 4096)
        peer.repliesSent = 0
        for index in runs.indices {
            let (subscription, run) = runs[index]
            guard left > 0 else { return }
            let length = unsafe run.bytes.count
            if left >= length {
                left -= length
                subscription.sent(upTo: run.entries.upperBound)
                continue
            }
            let cut = subscription.entry(at: left, of: run)
            unsafe peer.replies.append(contentsOf: run.bytes[left..<cut.end])
            return subscription.sent(upTo: cut.entry + 1)
        }
    }

    private func finishIfDone(_ peer: Peer, at now: Double) {
        if peer.all?.isStale == true { goOnTelling(peer) }
        if peer.lingerEnd != nil {
            peer.outlet.finishSending()
            if peer.lingerEnd == .infinity { peer.lingerEnd = now + limits.lingerMs }
        } else if peer.hasEnded, peer.input.isEmpty, peer.replay == nil, peer.subscriptions.isEmpty,
            peer.all == nil, peer.waits.all.isEmpty, !peer.isWaiting
        {
            close(peer, at: now)
        } else if !peer.input.isEmpty || peer.hasEnded && !peer.isInputOver, isReady(peer) {
            queue.join(peer)
        }
    }
}
