// What may be wrong with a valid request in the current state. Nothing is changed here: a line is admitted as a whole
// before any of it is applied.

import Gestures
import MapCamera
import GimbalProtocol
import Touches

/// An error in one object of a line.
struct Refusal: Error {
    let index: Int
    let error: WireError

    init(_ index: Int, _ code: ErrorCode, _ field: String?, _ message: String) {
        self.init(index, WireError(code, field: field, message))
    }

    init(_ index: Int, _ error: WireError) { (self.index, self.error) = (index, error) }
}

/// The admission of one line. If the number of something is limited, each object of an array counts as one more of it
/// for the objects after it, whatever it is. So an object depends on earlier ones only through the cameras that they
/// make, the zoom ranges that they set and the fingers that they have.
struct Admission {
    private let requests: [Request]
    /// The camera of each request.
    private let meant: [MeantCamera]
    private let peer: Peer
    private let registry: CameraRegistry
    private let leases: Leases
    private let traces: StoredTraces
    private let limits: Limits
    private let now: Double
    /// The names of cameras that the objects so far make.
    private var made: Set<String> = []
    /// The zoom ranges that they set, by camera name.
    private var zoomRanges: [String: ZoomRange] = [:]
    /// How many fingers they have.
    private var fingers = 0

    init(_ requests: [Request], _ meant: [MeantCamera], from peer: Peer, _ hub: HubParts, at now: Double) {
        (self.requests, self.meant, self.peer, self.now) = (requests, meant, peer, now)
        (registry, leases, traces, limits) = (hub.registry, hub.leases, hub.traces, hub.limits)
    }

    /// Whether any gesture of a peer is admitted on a camera in its current state, without further checks. Whatever
    /// ``admit()`` checks of a gesture has to be checked here, too.
    @inline(__always)
    static func admitsAnyGesture(of peer: Peer, on camera: HostedCamera, _ limits: Limits) -> Bool {
        !peer.isWatchOnly && camera.replay === peer.replay && camera.lifetime == .permanent
            && camera.gestures.count < min(limits.gestures, limits.cameraGestures) && camera.leases.allow(peer)
    }

    /// Admits the line; throws at the first object that is refused.
    mutating func admit() throws(Refusal) {
        for index in requests.indices { try admit(index, meant[index].camera) }
    }

    private mutating func admit(_ index: Int, _ camera: HostedCamera?) throws(Refusal) {
        if peer.isWatchOnly, let error = peer.role.objection(to: requests[index].body) {
            throw Refusal(index, error)
        }
        if let camera = peer.sentTrace.camera { try admit(index, inTraceOf: camera) }
        if peer.sendsBehindTheEnd, requests[index].body.isOfTraces { return }
        if camera?.lifetime != .permanent { try admitNew(index, camera) }
        try admitBody(index, camera)
    }

    /// Admits what a trace may contain.
    ///
    /// - Parameter camera: the name of the trace's camera.
    private func admit(_ index: Int, inTraceOf camera: String) throws(Refusal) {
        if let name = requests[index].camera, name != camera {
            throw Refusal(index, .invalidValue, "camera", "camera must be \"\(camera)\" in this trace, or omitted")
        }
        if case .trace = requests[index].body {
            throw Refusal(
                index, .invalidValue, "type", "a trace is running on this connection: end it with trace-end first")
        }
    }

    /// Admits the camera that a request makes, or makes permanent, if it does either.
    @inline(never)
    private mutating func admitNew(_ index: Int, _ camera: HostedCamera?) throws(Refusal) {
        let (request, name) = (requests[index], meant[index].name)
        guard !made.contains(name) else { return }
        if camera == nil, mustFindCamera(request) {
            throw Refusal(index, .unknownCamera, "camera", "there is no camera \"\(name)\"")
        }
        guard makesCamera(request, camera) else { return }
        let others = peer.isWatchOnly ? registry.ephemeralCount : registry.permanentCount
        if others + made.count >= limits.cameras {
            throw Refusal(
                index, .limitReached, "camera",
                peer.isWatchOnly
                    ? "\(limits.cameras) cameras exist only to be watched; wait until a client feeds this one"
                    : "there are \(limits.cameras) cameras; remove one with remove-camera")
        }
        made.insert(name)
    }

    /// Whether a request fails if its camera does not exist: because it says that it makes none, or because the camera
    /// of its trace was removed. A live request without a camera contains no name that may be misspelt.
    private func mustFindCamera(_ request: Request) -> Bool {
        guard peer.sendsTrace || !request.creates && request.camera != nil else { return false }
        return if case .removeCamera = request.body { true } else { request.body.needsCamera }
    }

    private mutating func admitBody(_ index: Int, _ camera: HostedCamera?) throws(Refusal) {
        if requests[index].body.takesCamera {
            try admitLeased(index, camera, by: peer)
            if let replay = camera?.replay, replay !== peer.replay, !replay.makesWay { throw busy(index) }
        }
        switch requests[index].body {
        case .gesture(let gesture): try admit(gesture, index, camera)
        case .touch(let fingers): try admit(fingers, index, camera)
        case .present(let presentation):
            if peer.sendsTrace {
                throw Refusal(
                    index, .invalidValue, "type", "a trace has its own clock: send present on another connection")
            }
            guard let playOut = camera?.playOut, playOut.peer === peer,
                playOut.waitingCount(before: presentation.presentAt) + index >= PlayOut.most
            else { break }
            throw Refusal(
                index, .limitReached, "presentAt", "at most \(PlayOut.most) positions may wait for their time")
        case .set(let change): try admit(change, index, camera)
        case .removeCamera:
            if camera?.replay?.makesWay == false { throw busy(index) }
        case .trace:
            if !peer.output.isOpen { throw busy(index) }
        case .traceEnd:
            if !peer.sendsTrace {
                throw Refusal(
                    index, .invalidValue, "type", "no trace is running on this connection: a trace header starts one")
            }
        case .subscribe: try admitSubscription(index)
        case .awaitIdle:
            guard peer.waits.count + index >= limits.waits else { break }
            throw Refusal(
                index, .limitReached, "type", "a connection may have at most \(limits.waits) waiting requests")
        case .pauseReplay, .resumeReplay, .stepReplay, .seekReplay, .setReplaySpeed, .endReplay:
            let ends = if case .endReplay = requests[index].body { true } else { false }
            if peer.sendsTrace {
                throw Refusal(
                    index, .invalidValue, "type",
                    ends
                        ? "end a trace with trace-end; end-replay is for other connections"
                        : "the lines of a trace wait for their time: steer the replay from another connection")
            }
            guard let replay = camera?.replay, !replay.isCut else { throw noReplay(index) }
            if replay.isAttract {
                if ends { break }
                throw Refusal(
                    index, .noReplay, "camera",
                    "the daemon plays this trace by itself: it can only be ended, with end-replay")
            }
            // Any connection may steer if the replay's own may move the camera; otherwise, only those that may.
            if let owner = replay.peer, camera?.publicCamera.leases.allow(peer) == false {
                try admitLeased(index, camera, by: owner)
            }
        case .takeLease(let request): try admit(request, index, camera)
        case .joinLease(let number):
            try admitLease(number, index, camera)
            guard let lease = camera?.leases.current, !lease.includes(peer) else { break }
            try admitPart(in: camera, index)
            guard lease.members.count >= limits.leaseMembers else { break }
            throw Refusal(
                index, .limitReached, "lease", "at most \(limits.leaseMembers) connections may join a lease")
        case .endLease(let number?): try admitLease(number, index, camera)
        case .endLease(nil):
            let leased = camera?.publicCamera
            guard leases.cameras(of: peer).contains(where: { $0 === leased }) else {
                throw Refusal(
                    index, .noLease, "camera",
                    "this connection has no part in a lease of this camera, and is waiting for none")
            }
            // A member's trace would continue without a part in the lease.
            if let lease = leased?.leases.current, lease.holder !== peer, leased?.isPlayed(by: peer) == true {
                throw Refusal(
                    index, .busy, "camera", "this connection's trace is playing on this camera; wait for its end")
            }
        case .getReplay:
            if camera?.replay == nil { throw noReplay(index) }
        case .marker:
            guard let replay = peer.replay, replay.markers.count + index >= limits.markers else { break }
            throw Refusal(index, .limitReached, "label", "a replay may have at most \(limits.markers) markers")
        default: break  // Nothing can be wrong with another but its own members.
        }
    }

    private func busy(_ index: Int) -> Refusal {
        Refusal(index, .busy, "camera", "a replay is running on this camera; wait for its trace-ended")
    }

    private func noReplay(_ index: Int) -> Refusal {
        Refusal(index, .noReplay, "camera", "no replay is running on this camera")
    }

    // MARK: Leases

    /// Admits what moves a camera, unless another's lease forbids it.
    ///
    /// - Parameter mover: the peer whose gesture, command or trace it is.
    private func admitLeased(_ index: Int, _ camera: HostedCamera?, by mover: Peer) throws(Refusal) {
        guard let lease = camera?.publicCamera.leases.current, !lease.includes(mover) else { return }
        let (who, left) = (lease.label.map { "\"\($0)\"" } ?? "another client", (lease.deadline - now).rounded(.up))
        throw Refusal(
            index, .leased, "camera",
            "\(who) has leased this camera, " + (left > 0 ? "for \(plain(left)) ms more" : "until its trace has ended"))
    }

    private func admit(_ request: LeaseRequest, _ index: Int, _ camera: HostedCamera?) throws(Refusal) {
        if peer.sendsTrace {
            throw Refusal(index, .invalidValue, "type", "a trace cannot take a lease: do so before the trace's header")
        }
        if let lease = camera?.leases.current, lease.includes(peer) { return }
        try admitPart(in: camera, index)
        guard !request.wait, let camera else { return }
        try admitLeased(index, camera, by: peer)
        if !camera.isFree(for: peer) { throw busy(index) }
        if !camera.leases.waiting.isEmpty {
            throw Refusal(index, .leased, "camera", "others are waiting for this camera's lease: set wait to wait, too")
        }
    }

    /// Admits a request about the lease with a number.
    private func admitLease(_ number: Int, _ index: Int, _ camera: HostedCamera?) throws(Refusal) {
        if peer.sendsTrace, case .joinLease = requests[index].body {
            throw Refusal(index, .invalidValue, "type", "a trace cannot join a lease: do so before the trace's header")
        }
        guard camera?.publicCamera.leases.current?.number == number else {
            throw Refusal(index, .noLease, "lease", "this camera has no lease with that number")
        }
    }

    /// Admits a connection's part in one more lease; it waits at most once for each.
    private func admitPart(in camera: HostedCamera?, _ index: Int) throws(Refusal) {
        if camera?.leases.hasWaiting(peer) == true {
            throw Refusal(index, .limitReached, "type", "this connection is already waiting for the camera's lease")
        }
        guard leases.cameras(of: peer).count >= limits.leases else { return }
        throw Refusal(
            index, .limitReached, "type",
            "a connection may have a part in at most \(limits.leases) leases; end one with end-lease")
    }

    private func admitSubscription(_ index: Int) throws(Refusal) {
        guard peer.subscriptions.all.count + index >= limits.subscriptions else { return }
        let own = peer.subscriptions.all.lazy.filter { !$0.isOfAll }
        let name = meant[index].name
        guard own.count + index >= limits.subscriptions else { return }
        if own.contains(where: { $0.camera.name == name }) { return }
        throw Refusal(
            index, .limitReached, "camera",
            "a connection may have at most \(limits.subscriptions) subscriptions; end one with unsubscribe")
    }

    private func admit(_ gesture: ClientRequest.Gesture, _ index: Int, _ camera: HostedCamera?) throws(Refusal) {
        let all = (camera?.gestures.count ?? 0) + index
        guard all >= min(limits.gestures, limits.cameraGestures), gesture.event.begins else { return }
        let key = GestureKey(feed: peer.number, kind: gesture.event.kind, label: gesture.label)
        // Nearly every report is about a gesture that is active.
        if camera?.gestures.contains(key) == true { return }
        if (camera?.gestures.keys(of: peer.number).count ?? 0) + index >= limits.gestures {
            throw Refusal(
                index, .limitReached, "gesture",
                "a connection may have at most \(limits.gestures) active gestures on a camera")
        }
        if all >= limits.cameraGestures {
            throw Refusal(
                index, .limitReached, "gesture", "a camera may have at most \(limits.cameraGestures) active gestures")
        }
    }

    private mutating func admit(_ fingers: Fingers, _ index: Int, _ camera: HostedCamera?) throws(Refusal) {
        self.fingers += fingers.touches.count
        if self.fingers > limits.fingers { throw Refusal(index, Fingers.tooMany) }
        let known = camera?.surfaces.all ?? []
        guard !fingers.touches.isEmpty, known.count + index >= min(limits.surfaces, limits.cameraSurfaces) else {
            return
        }
        let touched = known.filter(\.isTouched).map(\.key)
        guard !touched.contains(SurfaceKey(feed: peer.number, label: fingers.surface)) else { return }
        // A trace may contain what several connections did.
        if !peer.sendsTrace, touched.count(where: { $0.feed == peer.number }) + index >= limits.surfaces {
            throw Refusal(
                index, .limitReached, "surface",
                "a connection may have at most \(limits.surfaces) surfaces with fingers on a camera")
        }
        if touched.count + index >= limits.cameraSurfaces {
            throw Refusal(
                index, .limitReached, "surface",
                "a camera may have at most \(limits.cameraSurfaces) surfaces with fingers")
        }
    }

    private mutating func admit(
        _ change: CameraSetup.Change, _ index: Int, _ camera: HostedCamera?
    ) throws(Refusal) {
        switch change {
        case .zoomRange(let min, let max):
            let name = meant[index].name
            let old = zoomRanges[name] ?? camera?.camera.constraints.zoomRange ?? .all
            guard let range = ZoomRange(min: min ?? old.min, max: max ?? old.max) else {
                let error = CameraSetup.reversedZoomRange
                throw Refusal(index, error.code, min == nil ? "maxZoom" : "minZoom", error.message)
            }
            zoomRanges[name] = range
        case .idleAction(let setting):
            // A trace may have been recorded by a daemon with other traces.
            guard case .play(let trace, _)? = setting?.action, !peer.sendsTrace, traces[trace] == nil else { break }
            throw Refusal(
                index, .invalidValue, "action.trace",
                "action.trace must be one of the daemon's traces: there is no \"\(trace)\"")
        default: break
        }
    }

    /// Whether a request makes its camera, or makes one permanent that is not.
    private func makesCamera(_ request: Request, _ present: HostedCamera?) -> Bool {
        switch request.body {
        case _ where request.body.family == .query && !request.creates: false
        case .subscribe where peer.isWatchOnly: present == nil
        default: !peer.isWatchOnly && request.body.needsCamera
        }
    }
}

extension GestureEvent {
    /// Whether the gesture is active after this report, if its kind is enabled.
    fileprivate var begins: Bool { !kind.isTap && (phase == .began || phase == .changed) }
}

extension ClientRequest {
    /// Whether it is about a camera, which is made if it does not exist.
    var needsCamera: Bool {
        switch self {
        case .gesture, .touch, .present, .move, .animate, .fly, .tour, .stop, .set, .marker, .getCamera,
            .cameraForBounds, .project, .unproject, .visibleRegion, .subscribe, .awaitIdle, .trace, .takeLease:
            true
        case .removeCamera, .cameras, .stats, .clients, .traces, .ping, .getReplay, .hello, .traceEnd, .pauseReplay,
            .resumeReplay, .stepReplay, .seekReplay, .setReplaySpeed, .endReplay, .unsubscribe, .subscribeAll,
            .unsubscribeAll, .joinLease, .endLease:
            false
        }
    }

    /// Whether it ends its camera's idle action, though it moves nothing.
    var endsIdleAction: Bool {
        switch self {
        case .takeLease, .marker: true
        default: false
        }
    }

    /// Whether it takes control of its camera, so that no replay of another client may move it any more.
    var takesCamera: Bool {
        switch self {
        case .gesture, .touch, .present, .trace: true
        default: isCommand
        }
    }
}
