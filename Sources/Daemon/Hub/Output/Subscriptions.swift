// All subscriptions: to a camera by name, or to all cameras, including future ones.
//
// A subscription to all is an ordinary one to each camera, which begins as soon as the camera exists. Invariant: a
// follower has received the beginning and the end of each camera that it is subscribed to; one that reads so little
// that the hub cannot announce new cameras gets them all once it reads again.

import GimbalProtocol

/// A peer's subscription to all cameras.
struct AllCameras: Codable {
    let subscribe: Interest
    /// Whether there are cameras that the peer was not told of.
    var isStale = false
}

/// What a peer has subscribed to. It is stored in the peer; only ``Subscriptions`` changes it.
struct PeerSubscriptions {
    /// In the order in which they began.
    fileprivate(set) var all: [Subscription] = []
    /// The subscription to all cameras; `all` has the resulting ones.
    fileprivate(set) var toAll: AllCameras?
    /// Whether a recorder among them waits until the peer reads its replies.
    fileprivate(set) var hasPutOffRecorders = false

    var isEmpty: Bool { all.isEmpty && toAll == nil }
    /// Whether something was not begun because the peer left too many replies unread.
    fileprivate var haveWaited: Bool { hasPutOffRecorders || toAll?.isStale == true }
}

final class Subscriptions {
    private let limits: Limits
    private let registry: CameraRegistry
    private let sender: Sender
    private let turns: Turns
    private(set) var count = 0
    /// The number of subscriptions so far.
    private var total = 0
    /// Clients that have subscribed to all cameras.
    private var followers: [Peer] = []
    /// Cameras with waiting recorders whose trace may be able to begin.
    private var recorded = CameraList(.recorded)

    private static let workOfSubscription = 4

    init(limits: Limits, _ registry: CameraRegistry, _ sender: Sender, _ turns: Turns) {
        (self.limits, self.registry, self.sender, self.turns) = (limits, registry, sender, turns)
    }

    // MARK: One camera

    /// Subscribes a peer to a camera, in place of its previous subscription to it.
    func subscribe(
        _ peer: Peer, to camera: HostedCamera, _ interest: Interest, since: ResumePoint?, _ id: Span<UInt8>,
        at now: Double
    ) {
        turns.add(work: Self.workOfSubscription + peer.subscriptions.all.count >> 6)
        sender.putEventsFirst(for: peer)
        for old in peer.subscriptions.all where old.camera === camera { end(old) }
        guard peer.output.isOpen else { return }
        begin(Subscription(interest, of: peer, to: camera, limits: limits), since: since, id, at: now)
    }

    /// Ends a peer's subscription to a camera. Events emitted before go out first.
    func unsubscribe(_ peer: Peer, from camera: HostedCamera?) {
        for subscription in peer.subscriptions.all where subscription.camera === camera {
            sender.flush([subscription], of: peer)
            end(subscription)
        }
    }

    /// Begins a subscription, and writes the line that announces it, and what must be known before the next event.
    ///
    /// - Parameter now: the hub's time; `nil` stands for that of the camera's last event.
    private func begin(
        _ subscription: Subscription, since point: ResumePoint?, _ id: Span<UInt8>, at now: Double? = nil
    ) {
        let (peer, camera, kinds) = (subscription.peer, subscription.camera, subscription.kinds)
        if subscription.delivery == .latest { peer.outlet.keepQueueShort() }
        peer.subscriptions.all.append(subscription)
        attach(subscription)
        if kinds.contains(.present) { turns.add(work: camera.toldAhead.count) }
        sender.append(to: peer) { reply in
            let subscribed = Subscribed(
                camera: camera.name, epoch: camera.epoch, seq: camera.seq, position: camera.published)
            reply.answer(.event(.subscribed(subscribed)), id)
            if let point { resume(subscription, after: point, &reply) }
            if subscription.showsTouches { camera.writeTouches(at: now.map(camera.time(at:)), to: &reply) }
            camera.writeState(of: kinds, at: now, to: &reply)
        }
    }

    private func attach(_ subscription: Subscription) {
        count += 1
        total += 1
        subscription.number = total
        subscription.camera.attach(subscription)
        subscription.peer.output.insert(subscription)
        guard subscription.isRecorder, !subscription.hasTraceHeader else { return }
        subscription.camera.addWaitingRecorder(subscription)
        scheduleRecorders(of: subscription.camera)
    }

    /// Resumes after an event that the peer has read, or tells the peer what it missed.
    private func resume(_ subscription: Subscription, after point: ResumePoint, _ line: inout LineWriter) {
        let camera = subscription.camera
        let (seq, isSameEpoch) = (UInt64(point.seq), point.epoch == camera.epoch)
        // A camera's input is not kept for a client that was not there.
        if isSameEpoch, !subscription.readsInputs, let entry = camera.entry(after: seq, countedBy: turns) {
            subscription.resume(from: entry)
            subscription.peer.output.lastEmission = 0
            // The peer's next line waits until it has read most of them.
            turns.add(events: Int(subscription.backlog))
        } else {
            let missed = isSameEpoch && seq <= camera.seq ? camera.seq - seq : camera.seq
            // A camera that has emitted nothing since has no gap: `subscribed` tells its epoch.
            if missed > 0 { camera.writeGap(of: missed, to: &line) }
        }
    }

    private func end(_ subscription: Subscription) {
        subscription.camera.detach(subscription)
        subscription.peer.subscriptions.all.removeAll { $0 === subscription }
        subscription.peer.output.remove(subscription)
        registry.noteUnsubscribed(subscription.camera)
        count -= 1
    }

    /// Forgets all subscriptions of a peer at once: one by one, each would be searched for among all.
    func forget(_ peer: Peer) {
        if peer.subscriptions.toAll != nil { followers.removeAll { $0 === peer } }
        peer.subscriptions.toAll = nil
        let ended = peer.subscriptions.all
        turns.add(work: ended.count >> 3)
        peer.subscriptions.all = []
        peer.output.removeAllSubscriptions()
        for subscription in ended {
            subscription.camera.detach(subscription)
            registry.noteUnsubscribed(subscription.camera)
        }
        count -= ended.count
    }

    // MARK: All cameras

    /// Subscribes a peer to all cameras, in place of all its previous subscriptions.
    ///
    /// - Parameter points: where the peer resumes with some of the cameras.
    func subscribeAll(
        _ peer: Peer, _ interest: Interest, since points: [String: ResumePoint], _ id: Span<UInt8>
    ) {
        sender.putEventsFirst(for: peer)
        unsubscribeAll(peer)
        guard peer.output.isOpen else { return }
        peer.subscriptions.toAll = AllCameras(subscribe: interest)
        followers.append(peer)
        announce(registry.sorted, to: peer, id, since: points)
        for name in points.keys.sorted() where registry.camera(named: name) == nil {
            sender.append(to: peer) { $0.answer(.event(.removed(camera: name)), Span()) }
        }
    }

    /// Ends all subscriptions of a peer. Events emitted before go out first.
    func unsubscribeAll(_ peer: Peer) {
        sender.flush(peer.subscriptions.all, of: peer)
        forget(peer)
    }

    /// Sends a peer that reads again what was not begun while it left too many replies unread.
    func goOn(with peer: Peer, at now: Double) {
        guard peer.subscriptions.haveWaited, hasRoom(peer) else { return }
        announceNewCameras(to: peer)
        startPutOffRecorders(of: peer, at: now)
    }

    /// Announces the cameras that a peer does not know.
    private func announceNewCameras(to peer: Peer) {
        guard peer.subscriptions.toAll?.isStale == true else { return }
        peer.subscriptions.toAll?.isStale = false
        let known = Set(peer.subscriptions.all.map { ObjectIdentifier($0.camera) })
        announce(registry.sorted.filter { !known.contains(ObjectIdentifier($0)) }, to: peer, Span())
    }

    /// Subscribes a peer to cameras: one line gives their number, then one line announces each.
    private func announce(
        _ cameras: [HostedCamera], to peer: Peer, _ id: Span<UInt8>, since points: [String: ResumePoint] = [:]
    ) {
        sender.append(to: peer) { $0.answer(.event(.subscribedToAll(cameras: cameras.count)), id) }
        for camera in cameras { follow(camera, peer, since: points[camera.name]) }
        turns.add(events: cameras.count)
        turns.add(work: Self.workOfSubscription * cameras.count)
    }

    private func follow(_ camera: HostedCamera, _ peer: Peer, since point: ResumePoint? = nil) {
        guard let all = peer.subscriptions.toAll else { return }
        begin(Subscription(all.subscribe, of: peer, to: camera, limits: limits, isOfAll: true), since: point, Span())
    }

    // MARK: New and removed cameras

    /// Subscribes the followers to a new camera.
    func cameraWasMade(_ camera: HostedCamera) {
        for peer in followers where peer.subscriptions.toAll?.isStale == false {
            // Other clients' cameras must not pile up for a peer that does not read.
            guard hasRoom(peer) else {
                peer.subscriptions.toAll?.isStale = true
                continue
            }
            follow(camera, peer)
        }
        turns.add(events: followers.count / 64)
        turns.add(work: Self.workOfSubscription * followers.count)
    }

    /// Tells a camera's subscribers that it is removed, after everything that it has emitted.
    func cameraWillBeRemoved(_ camera: HostedCamera) {
        sender.flushAll(camera.readers.subscriptions)
        for subscription in camera.readers.subscriptions {
            sender.append(to: subscription.peer) { $0.answer(.event(.removed(camera: camera.name)), Span()) }
            end(subscription)
        }
    }

    // MARK: Recorders

    /// Notes a camera with waiting recorders, each time that their trace may be able to begin.
    func scheduleRecorders(of camera: HostedCamera) { recorded.insert(camera) }

    /// Sends recorders the beginning of their trace as soon as possible: when no motion is running, and no fingers are
    /// down that others have recorded since they landed. Must be called between batches.
    func startRecorders(at now: Double) {
        guard !recorded.isEmpty else { return }
        let cameras = recorded.cameras
        recorded.removeAll()
        for camera in cameras where camera.canBeginTrace {
            let recorders = camera.takeWaitingRecorders().filter { !putsOff($0) }
            if !recorders.isEmpty { camera.forgetRecordedFingers() }
            sender.flushAll(recorders)
            for recorder in recorders.sorted(by: { $0.peer.backlog < $1.peer.backlog }) {
                sender.putEventsFirst(for: recorder.peer)
                recorder.startInput()
                sender.append(to: recorder.peer) { camera.writeBeginning(at: camera.time(at: now), to: &$0) }
            }
        }
    }

    /// Puts off a recorder whose peer reads nothing: the beginnings of many traces must not pile up for it.
    private func putsOff(_ recorder: Subscription) -> Bool {
        recorder.isPutOff = !hasRoom(recorder.peer)
        if recorder.isPutOff { recorder.peer.subscriptions.hasPutOffRecorders = true }
        return recorder.isPutOff
    }

    /// Whether a peer reads, and leaves few replies unread.
    private func hasRoom(_ peer: Peer) -> Bool { peer.output.isOpen && peer.output.unreadBytes < limits.unreadReplies }

    /// Starts the recorders that were put off.
    private func startPutOffRecorders(of peer: Peer, at now: Double) {
        guard peer.subscriptions.hasPutOffRecorders else { return }
        peer.subscriptions.hasPutOffRecorders = false
        for recorder in peer.subscriptions.all where recorder.isPutOff {
            recorder.isPutOff = false
            recorder.camera.addWaitingRecorder(recorder)
            scheduleRecorders(of: recorder.camera)
        }
        startRecorders(at: now)
    }

    // MARK: Handover

    /// Restores the subscriptions that a peer had in another process.
    func restore(_ peer: Peer) {
        for subscription in peer.subscriptions.all { attach(subscription) }
        if peer.subscriptions.toAll != nil { followers.append(peer) }
    }
}
