// A subscription to all cameras, those to come included: an ordinary subscription to each, which begins as soon as there is
// the camera. Invariant: a follower has been told of each camera that it is subscribed to, and of its end; one that reads
// so little that it cannot be told of new ones is told of them all once it reads again.

import Wire

/// A peer's subscription to all cameras.
struct AllCameras {
    let subscribe: Subscribe
    /// There are cameras that the peer was not told of.
    var isStale = false
}

extension Hub {
    /// Subscribes to all cameras in place of what the peer has subscribed to before.
    func subscribeAll(
        _ subscribe: Subscribe, since points: [ResumePoint], _ peer: Peer, _ id: Span<UInt8>, _ bytes: Span<UInt8>
    ) {
        prepareReply(to: peer)
        unsubscribeAll(peer)
        guard !peer.isDeaf else { return }
        peer.all = AllCameras(subscribe: subscribe)
        followers.append(peer)
        let read = Dictionary(points.map { ($0.camera, $0) }) { $1 }
        tell(peer, of: sortedCameras, id) { subscription in
            guard let point = read[subscription.camera.name] else { return }
            resume(subscription, point.seq, bytes.extracting(point.epoch.range))
        }
        for name in read.keys.sorted() where cameras[name] == nil {
            line.clear()
            line.removed(camera: name)
            sendReply(to: peer)
        }
    }

    /// Ends all subscriptions of a peer. What was emitted before goes out first.
    func unsubscribeAll(_ peer: Peer) {
        for subscription in peer.subscriptions { catchUp(subscription) }
        // From the last one on, so that the list of the peer's is not moved for each.
        for subscription in peer.subscriptions.reversed() { unsubscribe(subscription) }
        forgetFollower(peer)
    }

    func forgetFollower(_ peer: Peer) {
        guard peer.all != nil else { return }
        peer.all = nil
        followers.removeAll { $0 === peer }
    }

    /// Subscribes those to a new camera that want them all.
    func tellFollowers(of camera: HostedCamera) {
        for peer in followers where peer.all?.isStale == false {
            // One that does not read must not have others' cameras pile up for it.
            guard peer.unreadReplies < limits.unreadReplies else {
                peer.all?.isStale = true
                continue
            }
            line.clear()
            follow(camera, peer)
            sendReply(to: peer)
        }
        turnEvents += followers.count / 64
        work.add(Self.workOfSubscription * followers.count)
    }

    /// Tells a peer that reads again of the cameras that it does not know.
    func goOnTelling(_ peer: Peer) {
        guard peer.unreadReplies == 0, !peer.isDeaf else { return }
        peer.all?.isStale = false
        let known = Set(peer.subscriptions.map { ObjectIdentifier($0.camera) })
        tell(peer, of: sortedCameras.filter { !known.contains(ObjectIdentifier($0)) }, Span()) { _ in }
    }

    /// Subscribes a peer to cameras: one line says how many, then one tells each.
    private func tell(
        _ peer: Peer, of cameras: [HostedCamera], _ id: Span<UInt8>, _ began: (Subscription) -> Void
    ) {
        line.clear()
        line.subscribedAll(cameras: cameras.count, id)
        sendReply(to: peer)
        for camera in cameras {
            line.clear()
            if let subscription = follow(camera, peer) { began(subscription) }
            sendReply(to: peer)
        }
        turnEvents += cameras.count
        work.add(Self.workOfSubscription * cameras.count)
    }

    @discardableResult
    private func follow(_ camera: HostedCamera, _ peer: Peer) -> Subscription? {
        guard let all = peer.all else { return nil }
        let subscription = Subscription(all.subscribe, of: peer, to: camera, limits: limits, isOfAll: true)
        begin(subscription, Span())
        return subscription
    }
}
