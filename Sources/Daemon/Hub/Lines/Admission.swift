// What may be wrong with a valid request in the current state. Nothing is changed here: a line is admitted as a whole
// before any of it is applied.

import Gestures
import MapCamera
import GimbalProtocol
import Touches

/// An error in one object of a line.
struct Refusal: Error {
    let index: Int
    let error: GimbalError
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
            && !camera.isPresenting
    }

    /// Admits the line; throws at the first object that is refused.
    mutating func admit() throws(Refusal) {
        for index in requests.indices {
            do throws(GimbalError) { try admit(index, meant[index].camera) } catch {
                throw Refusal(index: index, error: error)
            }
        }
    }

    private mutating func admit(_ index: Int, _ camera: HostedCamera?) throws(GimbalError) {
        if peer.isWatchOnly, let error = peer.role.objection(to: requests[index].body) { throw error }
        if let camera = peer.sentTrace.camera { try admit(index, inTraceOf: camera) }
        if peer.sendsBehindTheEnd, requests[index].body.isOfTraces { return }
        if camera?.lifetime != .permanent { try admitNew(index, camera) }
        try admitBody(index, camera)
    }

    /// Throws if a number has reached its limit.
    private func check(
        _ count: Int, below limit: Int, _ field: String, _ message: @autoclosure () -> String
    ) throws(GimbalError) {
        if count >= limit { throw GimbalError(.limitReached, field: field, message()) }
    }

    /// Throws if the request is part of a trace.
    private func forbidInTrace(_ message: String) throws(GimbalError) {
        if peer.sendsTrace { throw GimbalError(.invalidValue, field: "type", message) }
    }

    /// Admits what a trace may contain.
    ///
    /// - Parameter camera: the name of the trace's camera.
    private func admit(_ index: Int, inTraceOf camera: String) throws(GimbalError) {
        if let name = requests[index].camera, name != camera {
            throw GimbalError(.invalidValue, field: "camera", "camera must be \"\(camera)\" in this trace, or omitted")
        }
        if case .trace = requests[index].body {
            try forbidInTrace("a trace is running on this connection: end it with trace-end first")
        }
    }

    /// Admits the camera that a request makes, or makes permanent, if it does either.
    @inline(never)
    private mutating func admitNew(_ index: Int, _ camera: HostedCamera?) throws(GimbalError) {
        let (request, name) = (requests[index], meant[index].name)
        guard !made.contains(name) else { return }
        if camera == nil, mustFindCamera(request) {
            throw GimbalError(.unknownCamera, field: "camera", "there is no camera \"\(name)\"")
        }
        guard makesCamera(request, camera) else { return }
        let others = peer.isWatchOnly ? registry.ephemeralCount : registry.permanentCount
        try check(
            others + made.count, below: limits.cameras, "camera",
            peer.isWatchOnly
                ? "\(limits.cameras) cameras exist only to be watched; wait until a client feeds this one"
                : "there are \(limits.cameras) cameras; remove one with remove-camera")
        made.insert(name)
    }

    /// Whether a request fails if its camera does not exist: because it says that it makes none, or because the camera
    /// of its trace was removed. A live request without a camera contains no name that may be misspelt.
    private func mustFindCamera(_ request: Request) -> Bool {
        guard peer.sendsTrace || !request.creates && request.camera != nil else { return false }
        return if case .removeCamera = request.body { true } else { request.body.needsCamera }
    }

    /// Admits a request whose answer may be long once in an array, which is answered as a whole.
    private func admitLongAnswer(_ index: Int) throws(GimbalError) {
        let type = requests[index].body.type
        guard requests[..<index].contains(where: { $0.body.type == type }) else { return }
        throw GimbalError(.limitReached, field: "type", "an array may have \"\(type)\" only once")
    }

    private mutating func admitBody(_ index: Int, _ camera: HostedCamera?) throws(GimbalError) {
        if requests[index].body.takesCamera {
            try admitLeased(camera, by: peer)
            if let replay = camera?.replay, replay !== peer.replay, !replay.makesWay { throw .busy }
        }
        switch requests[index].body {
        case .gesture(let gesture): try admit(gesture, index, camera)
        case .touch(let fingers): try admit(fingers, index, camera)
        case .present(let presentation):
            try forbidInTrace("a trace has its own clock: send present on another connection")
            guard let playOut = camera?.playOut, playOut.peer === peer else { break }
            try check(
                playOut.waitingCount(before: presentation.presentAt) + index, below: PlayOut.most, "presentAt",
                "at most \(PlayOut.most) positions may wait for their time")
        case .clients: try admitLongAnswer(index)
        case .set(let change): try admit(change, index, camera)
        case .removeCamera:
            if camera?.replay?.makesWay == false { throw .busy }
        case .trace:
            if !peer.output.isOpen { throw .busy }
        case .traceEnd:
            if !peer.sendsTrace {
                throw GimbalError(
                    .invalidValue, field: "type", "no trace is running on this connection: a trace header starts one")
            }
        case .subscribe: try admitSubscription(index)
        case .awaitIdle:
            try check(
                peer.waits.count + index, below: limits.waits, "type",
                "a connection may have at most \(limits.waits) waiting requests")
        case .pauseReplay, .resumeReplay, .stepReplay, .seekReplay, .setReplaySpeed, .endReplay:
            let ends = if case .endReplay = requests[index].body { true } else { false }
            try forbidInTrace(
                ends
                    ? "end a trace with trace-end; end-replay is for other connections"
                    : "the lines of a trace wait for their time: steer the replay from another connection")
            guard let replay = camera?.replay, !replay.isCut else { throw .noReplay }
            if replay.isAttract {
                if ends { break }
                throw GimbalError(
                    .noReplay, field: "camera",
                    "the daemon plays this trace by itself: it can only be ended, with end-replay")
            }
            // Any connection may steer if the replay's own may move the camera; otherwise, only those that may.
            if let owner = replay.peer, camera?.publicCamera.leases.allow(peer) == false {
                try admitLeased(camera, by: owner)
            }
        case .takeLease(let request): try admit(request, camera)
        case .joinLease(let number):
            try forbidInTrace("a trace cannot join a lease: do so before the trace's header")
            try admitLease(number, camera)
            guard let lease = camera?.leases.current, !lease.includes(peer) else { break }
            try admitPart(in: camera)
            try check(
                lease.members.count, below: limits.leaseMembers, "lease",
                "at most \(limits.leaseMembers) connections may join a lease")
        case .endLease(let number?): try admitLease(number, camera)
        case .endLease(nil):
            let leased = camera?.publicCamera
            guard leases.cameras(of: peer).contains(where: { $0 === leased }) else {
                throw GimbalError(
                    .noLease, field: "camera",
                    "this connection has no part in a lease of this camera, and is waiting for none")
            }
            // A member's trace would continue without a part in the lease.
            if let lease = leased?.leases.current, lease.holder !== peer, leased?.isPlayed(by: peer) == true {
                throw GimbalError(
                    .busy, field: "camera", "this connection's trace is playing on this camera; wait for its end")
            }
        case .getReplay:
            try admitLongAnswer(index)
            if camera?.replay == nil { throw .noReplay }
        case .marker:
            guard let replay = peer.replay else { break }
            try check(
                replay.markers.count + index, below: limits.markers, "label",
                "a replay may have at most \(limits.markers) markers")
        default: break  // Nothing can be wrong with another but its own members.
        }
    }

    // MARK: Leases

    /// Admits what moves a camera, unless another's lease forbids it.
    ///
    /// - Parameter mover: the peer whose gesture, command or trace it is.
    private func admitLeased(_ camera: HostedCamera?, by mover: Peer) throws(GimbalError) {
        guard let lease = camera?.publicCamera.leases.current, !lease.includes(mover) else { return }
        let (who, left) = (lease.label.map { "\"\($0)\"" } ?? "another client", (lease.deadline - now).rounded(.up))
        throw GimbalError(
            .leased, field: "camera",
            "\(who) has leased this camera, " + (left > 0 ? "for \(plain(left)) ms more" : "until its trace has ended"))
    }

    private func admit(_ request: LeaseRequest, _ camera: HostedCamera?) throws(GimbalError) {
        try forbidInTrace("a trace cannot take a lease: do so before the trace's header")
        if let lease = camera?.leases.current, lease.includes(peer) { return }
        try admitPart(in: camera)
        guard !request.wait, let camera else { return }
        try admitLeased(camera, by: peer)
        if !camera.isFree(for: peer) { throw .busy }
        if !camera.leases.waiting.isEmpty {
            throw GimbalError(
                .leased, field: "camera", "others are waiting for this camera's lease: set wait to wait, too")
        }
    }

    /// Admits a request about the lease with a number.
    private func admitLease(_ number: Int, _ camera: HostedCamera?) throws(GimbalError) {
        guard camera?.publicCamera.leases.current?.number == number else {
            throw GimbalError(.noLease, field: "lease", "this camera has no lease with that number")
        }
    }

    /// Admits a connection's part in one more lease; it waits at most once for each.
    private func admitPart(in camera: HostedCamera?) throws(GimbalError) {
        if camera?.leases.hasWaiting(peer) == true {
            throw GimbalError(.limitReached, field: "type", "this connection is already waiting for the camera's lease")
        }
        try check(
            leases.cameras(of: peer).count, below: limits.leases, "type",
            "a connection may have a part in at most \(limits.leases) leases; end one with end-lease")
    }

    private func admitSubscription(_ index: Int) throws(GimbalError) {
        guard peer.subscriptions.all.count + index >= limits.subscriptions else { return }
        let own = peer.subscriptions.all.lazy.filter { !$0.isOfAll }
        let name = meant[index].name
        if own.contains(where: { $0.camera.name == name }) { return }
        try check(
            own.count + index, below: limits.subscriptions, "camera",
            "a connection may have at most \(limits.subscriptions) subscriptions; end one with unsubscribe")
    }

    private func admit(_ gesture: ClientRequest.Gesture, _ index: Int, _ camera: HostedCamera?) throws(GimbalError) {
        let all = (camera?.gestures.count ?? 0) + index
        guard all >= min(limits.gestures, limits.cameraGestures), gesture.event.begins else { return }
        let key = GestureKey(feed: peer.number, kind: gesture.event.kind, label: gesture.label)
        // Nearly every report is about a gesture that is active.
        if camera?.gestures.contains(key) == true { return }
        try check(
            (camera?.gestures.keys(of: peer.number).count ?? 0) + index, below: limits.gestures, "gesture",
            "a connection may have at most \(limits.gestures) active gestures on a camera")
        try check(
            all, below: limits.cameraGestures, "gesture",
            "a camera may have at most \(limits.cameraGestures) active gestures")
    }

    private mutating func admit(_ fingers: Fingers, _ index: Int, _ camera: HostedCamera?) throws(GimbalError) {
        self.fingers += fingers.touches.count
        if self.fingers > limits.fingers { throw Fingers.tooMany }
        let known = camera?.surfaces.all ?? []
        guard !fingers.touches.isEmpty, known.count + index >= min(limits.surfaces, limits.cameraSurfaces) else {
            return
        }
        let touched = known.filter(\.isTouched).map(\.key)
        guard !touched.contains(SurfaceKey(feed: peer.number, label: fingers.surface)) else { return }
        // A trace may contain what several connections did.
        if !peer.sendsTrace {
            try check(
                touched.count { $0.feed == peer.number } + index, below: limits.surfaces, "surface",
                "a connection may have at most \(limits.surfaces) surfaces with fingers on a camera")
        }
        try check(
            touched.count + index, below: limits.cameraSurfaces, "surface",
            "a camera may have at most \(limits.cameraSurfaces) surfaces with fingers")
    }

    private mutating func admit(
        _ change: CameraSetup.Change, _ index: Int, _ camera: HostedCamera?
    ) throws(GimbalError) {
        switch change {
        case .zoomRange(let min, let max):
            let name = meant[index].name
            let old = zoomRanges[name] ?? camera?.camera.constraints.zoomRange ?? .all
            guard let range = ZoomRange(min: min ?? old.min, max: max ?? old.max) else {
                let error = CameraSetup.reversedZoomRange
                throw GimbalError(error.code, field: min == nil ? "maxZoom" : "minZoom", error.message)
            }
            zoomRanges[name] = range
        case .idleAction(let setting):
            // A trace may have been recorded by a daemon with other traces.
            guard case .play(let trace, _)? = setting?.action, !peer.sendsTrace, traces[trace] == nil else { break }
            throw GimbalError(
                .invalidValue, field: "action.trace",
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

extension GimbalError {
    static let noReplay = GimbalError(.noReplay, field: "camera", "no replay is running on this camera")
    fileprivate static let busy = GimbalError(
        .busy, field: "camera", "a replay is running on this camera; wait for its trace-ended")
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
