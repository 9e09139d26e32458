// What may be wrong with a request because of how things stand, though its line is right. Nothing is changed here: a line
// is admitted as a whole before any of it is applied.

import Gestures
import MapCamera
import GimbalProtocol

/// An error of one object of a line.
struct Refusal: Error {
    let index: Int
    let error: WireError

    init(_ index: Int, _ code: ErrorCode, _ field: String?, _ message: String) {
        self.init(index, WireError(code, field: field, message))
    }

    init(_ index: Int, _ error: WireError) { (self.index, self.error) = (index, error) }
}

/// The admission of one line.
struct Admission {
    private let requests: [Request]
    /// The camera of each.
    private let meant: [MeantCamera]
    private let peer: Peer
    private let registry: CameraRegistry
    private let limits: Limits

    init(
        _ requests: [Request], _ meant: [MeantCamera], from peer: Peer, _ registry: CameraRegistry, _ limits: Limits
    ) {
        (self.requests, self.meant, self.peer) = (requests, meant, peer)
        (self.registry, self.limits) = (registry, limits)
    }

    /// Whether any gesture of a peer's is admitted on a camera as that stands, so that nobody has to look closer. What
    /// ``admit()`` comes to ask of a gesture has to be asked here, too.
    @inline(__always)
    static func admitsAnyGesture(of peer: Peer, on camera: HostedCamera, _ limits: Limits) -> Bool {
        !peer.isWatchOnly && camera.replay === peer.replay && camera.lifetime == .permanent
            && camera.gestures.count < min(limits.gestures, limits.cameraGestures)
    }

    /// Admits the line.
    func admit() throws(Refusal) {
        var earlier = EarlierObjects()
        for index in requests.indices {
            try admit(index, meant[index].camera, &earlier)
        }
    }

    private func admit(
        _ index: Int, _ camera: HostedCamera?, _ earlier: inout EarlierObjects
    ) throws(Refusal) {
        if peer.isWatchOnly, let error = peer.role.objection(to: requests[index].body) {
            throw Refusal(index, error)
        }
        if let camera = peer.sentTrace.camera { try admit(index, inTraceOf: camera) }
        if peer.sendsBehindTheEnd, requests[index].body.isOfTraces { return }
        if camera?.lifetime != .permanent || earlier.removesCamera { try admitNew(index, camera, &earlier) }
        try admitBody(index, camera, &earlier)
    }

    /// Admits what a trace may have.
    ///
    /// - Parameter camera: the name of the trace's.
    private func admit(_ index: Int, inTraceOf camera: String) throws(Refusal) {
        if let name = requests[index].camera, name != camera {
            throw Refusal(index, .invalidValue, "camera", "camera must be \"\(camera)\" in this trace, or left out")
        }
        if case .trace = requests[index].body {
            throw Refusal(
                index, .invalidValue, "type", "a trace runs on this connection: end it with trace-end first")
        }
    }

    /// Admits the camera that a request makes, or makes permanent, if it does.
    @inline(never)
    private func admitNew(
        _ index: Int, _ camera: HostedCamera?, _ earlier: inout EarlierObjects
    ) throws(Refusal) {
        let request = requests[index]
        earlier.cameras.advance(to: index) { cameras, index in
            let (name, camera) = (meant[index].name, meant[index].camera)
            if case .command(.removeCamera) = requests[index].body {
                cameras.remove(name, isPermanent: camera?.lifetime == .permanent)
            } else if makesCamera(requests[index], cameras.isRemoved(name) ? nil : camera) {
                cameras.made.insert(name)
            }
        }
        let (cameras, name) = (earlier.cameras.state, meant[index].name)
        guard !cameras.made.contains(name) else { return }
        let present = cameras.isRemoved(name) ? nil : camera
        let mustBeThere = present == nil && mustFindCamera(request)
        guard mustBeThere || makesCamera(request, present) else { return }
        if mustBeThere {
            throw Refusal(index, .unknownCamera, "camera", "there is no camera \"\(name)\"")
        }
        let others = peer.isWatchOnly ? registry.ephemeralCount : registry.permanentCount
        guard others - cameras.removed.count + cameras.made.count >= limits.cameras else { return }
        throw Refusal(
            index, .limitReached, "camera",
            peer.isWatchOnly
                ? "\(limits.cameras) cameras are there only to be watched; wait until somebody feeds this one"
                : "there are \(limits.cameras) cameras; remove one with remove-camera")
    }

    /// Whether a request fails if its camera does not exist: since it says that it makes none, or since the camera of its
    /// trace was removed. A live request without a camera has no name that may be misspelt.
    private func mustFindCamera(_ request: Request) -> Bool {
        guard peer.sendsTrace || !request.creates && request.camera != nil else { return false }
        return if case .command(.removeCamera) = request.body { true } else { request.body.needsCamera }
    }

    private func admitBody(
        _ index: Int, _ camera: HostedCamera?, _ earlier: inout EarlierObjects
    ) throws(Refusal) {
        let isBusy = camera?.replay != nil && camera?.replay !== peer.replay
        func busy() -> Refusal {
            Refusal(index, .busy, "camera", "a replay runs on this camera; wait for its trace-ended")
        }
        func noReplay() -> Refusal { Refusal(index, .noReplay, "camera", "no replay runs on this camera") }
        switch requests[index].body {
        case .gesture:
            if isBusy { throw busy() }
            // Fast path: even if every earlier object began a gesture, the camera stays below both limits.
            let most = (camera?.gestures.count ?? 0) + index
            if most >= min(limits.gestures, limits.cameraGestures) {
                try admitGesture(index, camera, &earlier)
            }
        case .touch(let fingers):
            if isBusy { throw busy() }
            try admit(fingers, index, camera, &earlier)
        case .command(let command):
            if isBusy { throw busy() }
            try admit(command, index, camera, &earlier)
        case .trace:
            if isBusy || !peer.output.isOpen { throw busy() }
        case .traceEnd:
            if !peer.sendsTrace {
                throw Refusal(
                    index, .invalidValue, "type", "no trace runs on this connection: a trace header begins one")
            }
        case .subscribe:
            try admitSubscription(index, &earlier)
        case .awaitIdle:
            try admitWait(index, &earlier)
        case .steerReplay(let steering):
            if peer.sendsTrace {
                let message =
                    if case .end = steering {
                        "a trace ends with trace-end; end-replay comes from another connection"
                    } else {
                        "the lines of a trace wait for their time: a replay is steered from another connection"
                    }
                throw Refusal(index, .invalidValue, "type", message)
            }
            if camera?.replay?.isCut != false { throw noReplay() }
        case .query(.getReplay):
            if camera?.replay == nil { throw noReplay() }
        case .subscribeAll:
            // It is as much work as there are cameras, and an array is done in one go.
            if requests.count > 1 {
                throw Refusal(
                    index, .invalidValue, "camera",
                    "camera must not be \"*\" in an array: subscribing to all cameras is a line of its own")
            }
        case .marker:
            if let replay = peer.replay, replay.markers.count + earlier.markers >= limits.markers {
                throw Refusal(
                    index, .limitReached, "label", "a replay knows at most \(limits.markers) markers")
            }
            earlier.markers += 1
        case .query, .unsubscribe, .unsubscribeAll, .hello:
            break
        }
    }

    private func admitSubscription(_ index: Int, _ earlier: inout EarlierObjects) throws(Refusal) {
        // Fast path: even if every earlier object subscribed to another camera, the peer stays below the limit.
        guard peer.subscriptions.all.count + index >= limits.subscriptions else { return }
        if earlier.subscribed == nil {
            earlier.subscribed = Lookback(Set(peer.subscriptions.all.lazy.filter { !$0.isOfAll }.map(\.camera.name)))
        }
        earlier.subscribed?.advance(to: index) { names, index in
            switch requests[index].body {
            case .subscribe: names.insert(meant[index].name)
            case .unsubscribe, .command(.removeCamera): names.remove(meant[index].name)
            case .unsubscribeAll: names = []
            default: break
            }
        }
        guard let names = earlier.subscribed?.state, names.count >= limits.subscriptions,
            !names.contains(meant[index].name)
        else { return }
        throw Refusal(
            index, .limitReached, "camera",
            "one connection has at most \(limits.subscriptions) subscriptions; end one with unsubscribe")
    }

    private func admitGesture(
        _ index: Int, _ camera: HostedCamera?, _ earlier: inout EarlierObjects
    ) throws(Refusal) {
        func key(_ gesture: Request.Gesture) -> GestureKey {
            GestureKey(feed: peer.number, kind: gesture.event.kind, label: gesture.label)
        }
        guard case .gesture(let gesture) = requests[index].body, gesture.event.begins else { return }
        // Fast path: nearly every report is about a gesture that is active already.
        if index == 0, camera?.gestures.contains(key(gesture)) == true { return }
        func before(_ index: Int) -> EarlierObjects.Active {
            EarlierObjects.Active(on: meant[index].camera, of: peer.number)
        }
        earlier.active.advance(to: index) { active, index in
            let name = meant[index].name
            switch requests[index].body {
            case .gesture(let gesture):
                active[name, default: before(index)].note(key(gesture), begins: gesture.event.begins)
            case .command(let command) where command.cancelsGestures: active[name] = .init()
            default: break
            }
        }
        let active = earlier.active.state[meant[index].name] ?? before(index)
        guard !active.own.contains(key(gesture)) else { return }
        func refuse(_ message: String) -> Refusal { Refusal(index, .limitReached, "gesture", message) }
        if active.own.count >= limits.gestures {
            throw refuse("one connection has at most \(limits.gestures) active gestures on a camera")
        }
        if active.others + active.own.count >= limits.cameraGestures {
            throw refuse("a camera has at most \(limits.cameraGestures) active gestures")
        }
    }

    private func admit(
        _ fingers: Request.Fingers, _ index: Int, _ camera: HostedCamera?, _ earlier: inout EarlierObjects
    ) throws(Refusal) {
        earlier.fingers += fingers.touches.count
        if earlier.fingers > limits.fingers { throw Refusal(index, RequestDecoder.tooManyFingers) }
        // Fast path: even if every earlier object touched another surface, the camera stays below both limits.
        let known = camera?.surfaces.all.count ?? 0
        guard !fingers.touches.isEmpty, known + index >= min(limits.surfaces, limits.cameraSurfaces) else { return }
        func before(_ index: Int) -> EarlierObjects.Touched {
            EarlierObjects.Touched(on: meant[index].camera, by: peer.number)
        }
        earlier.touched.advance(to: index) { touched, index in
            switch requests[index].body {
            case .touch(let fingers): touched[meant[index].name, default: before(index)].note(fingers)
            case .command(.removeCamera): touched[meant[index].name] = .init()
            default: break
            }
        }
        let touched = earlier.touched.state[meant[index].name] ?? before(index)
        guard !touched.own.contains(fingers.surface) else { return }
        func refuse(_ message: String) -> Refusal { Refusal(index, .limitReached, "surface", message) }
        // A trace may have what several connections did.
        if !peer.sendsTrace, touched.own.count >= limits.surfaces {
            throw refuse("one connection has at most \(limits.surfaces) surfaces with fingers on a camera")
        }
        if touched.others + touched.own.count >= limits.cameraSurfaces {
            throw refuse("a camera has at most \(limits.cameraSurfaces) surfaces with fingers")
        }
    }

    private func admit(
        _ command: Request.Command, _ index: Int, _ camera: HostedCamera?, _ earlier: inout EarlierObjects
    ) throws(Refusal) {
        switch command {
        case .setZoomRange(let min, let max):
            earlier.zoomRanges.advance(to: index) { ranges, index in
                switch requests[index].body {
                case .command(.setZoomRange(let min, let max)):
                    let old = zoomRange(of: meant[index], ranges)
                    ranges[meant[index].name] = ZoomRange(min: min ?? old.min, max: max ?? old.max) ?? old
                case .command(.removeCamera): ranges[meant[index].name] = .all
                default: break
                }
            }
            let old = zoomRange(of: meant[index], earlier.zoomRanges.state)
            if (min ?? old.min) > (max ?? old.max) {
                let error = RequestDecoder.reversedZoomRange
                throw Refusal(index, error.code, min == nil ? "maxZoom" : "minZoom", error.message)
            }
        case .removeCamera where camera?.replay != nil:
            throw Refusal(index, .busy, "camera", "a replay runs on this camera; wait for its trace-ended")
        case .removeCamera: earlier.removesCamera = true
        default: break  // Nothing can be wrong with another but its own members.
        }
    }

    /// The zoom range of a request's camera: that which an earlier object of the line sets, or the present one.
    private func zoomRange(of meant: MeantCamera, _ earlier: [String: ZoomRange]) -> ZoomRange {
        earlier[meant.name] ?? meant.camera?.camera.constraints.zoomRange ?? .all
    }

    /// Whether a request makes its camera, or makes an ephemeral one permanent.
    ///
    /// - Parameter present: the camera, where there is one.
    private func makesCamera(_ request: Request, _ present: HostedCamera?) -> Bool {
        if present?.lifetime == .permanent { return false }
        switch request.body {
        case .query where !request.creates, .awaitIdle where !request.creates: return false
        case .subscribe where peer.isWatchOnly: return present == nil
        default: return !peer.isWatchOnly && request.body.needsCamera
        }
    }

    /// Refuses a request to wait that is one more than a connection may have.
    private func admitWait(_ index: Int, _ earlier: inout EarlierObjects) throws(Refusal) {
        defer { earlier.waits += 1 }
        guard peer.waits.all.count + earlier.waits >= limits.waits else { return }
        throw Refusal(index, .limitReached, "type", "one connection has at most \(limits.waits) requests that wait")
    }
}

extension Request.Body {
    /// Whether it is about a camera, so that one is made if it is not there.
    var needsCamera: Bool {
        switch self {
        case .gesture, .touch, .subscribe, .awaitIdle, .marker, .trace: true
        case .command(let command): if case .removeCamera = command { false } else { true }
        case .query(let query): query.needsCamera
        case .hello, .traceEnd, .steerReplay, .unsubscribe, .subscribeAll, .unsubscribeAll: false
        }
    }
}

extension Request.Query {
    fileprivate var needsCamera: Bool {
        switch self {
        case .getCamera, .cameraForBounds, .project, .unproject, .visibleRegion: true
        case .cameras, .stats, .clients, .ping, .getReplay: false
        }
    }
}
