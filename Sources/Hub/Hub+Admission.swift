// What may be wrong with a request because of how things stand, though its line is right. Nothing is changed here: a line
// is admitted as a whole before any of it is applied.

import Gestures
import MapCamera
import Wire

extension Hub {
    /// An error of one request of the line.
    struct Refusal: Error {
        var member: Int
        var error: WireError

        init(_ member: Int, _ code: ErrorCode, _ field: String?, _ message: String) {
            self.member = member
            error = WireError(code, field: field, message)
        }

        init(_ member: Int, _ error: WireError) { (self.member, self.error) = (member, error) }
    }

    /// Admits a line.
    ///
    /// - Parameter first: the camera that its first object is about, if it is there.
    func admit(_ requests: [Request], of first: HostedCamera?, _ peer: Peer) throws(Refusal) {
        var earlier = EarlierObjects()
        try admit(0, of: requests, first, &earlier, peer)
        for member in 1..<requests.count {
            try admit(member, of: requests, existingCamera(requests[member].camera, peer), &earlier, peer)
        }
    }

    private func admit(
        _ member: Int, of requests: [Request], _ camera: HostedCamera?, _ earlier: inout EarlierObjects, _ peer: Peer
    ) throws(Refusal) {
        if peer.isWatchOnly, let error = peer.role.objection(to: requests[member].body) {
            throw Refusal(member, error)
        }
        if let replay = peer.replay, let name = requests[member].camera, name != replay.camera.name {
            throw Refusal(
                member, .invalidValue, "camera",
                "camera must be \"\(replay.camera.name)\" in this trace, or left out")
        }
        if camera?.isHeld != false { try admitNew(member, of: requests, camera, &earlier, peer) }
        try admitBody(member, of: requests, camera, &earlier, peer)
    }

    /// Admits the camera that a request makes, or makes its own, if it does.
    @inline(never)
    private func admitNew(
        _ member: Int, of requests: [Request], _ held: HostedCamera?, _ earlier: inout EarlierObjects, _ peer: Peer
    ) throws(Refusal) {
        let request = requests[member]
        let mustBeThere = held == nil && mustFindCamera(request)
        guard mustBeThere || makesCamera(request, held, peer) else { return }
        earlier.made.advance(to: member, of: requests) { made, request in
            let camera = existingCamera(request.camera, peer)
            if camera?.isHeld != false, makesCamera(request, camera, peer) {
                made.insert(cameraName(request, peer))
            }
        }
        let made = earlier.made.state
        guard !made.contains(cameraName(request, peer)) else { return }
        if mustBeThere {
            throw Refusal(
                member, .unknownCamera, "camera", "there is no camera \"\(cameraName(request, peer))\"")
        }
        let others = peer.isWatchOnly ? heldCameras.count : cameras.count - heldCameras.count
        guard others + made.count >= limits.cameras else { return }
        throw Refusal(
            member, .limitReached, "camera",
            peer.isWatchOnly
                ? "\(limits.cameras) cameras are there only to be watched; wait until somebody feeds this one"
                : "there are \(limits.cameras) cameras; remove one with remove-camera")
    }

    /// Whether a request is refused where its camera is not there: it says that it makes none. Who names no camera means
    /// none that may be misspelt.
    private func mustFindCamera(_ request: Request) -> Bool {
        guard !request.creates, request.camera != nil else { return false }
        return if case .command(.removeCamera) = request.body { true } else { needsCamera(request.body) }
    }

    /// The name of the camera that a request concerns.
    private func cameraName(_ request: Request, _ peer: Peer) -> String {
        request.camera ?? peer.replay?.camera.name ?? HostedCamera.mainName
    }

    private func admitBody(
        _ member: Int, of requests: [Request], _ camera: HostedCamera?, _ earlier: inout EarlierObjects, _ peer: Peer
    ) throws(Refusal) {
        let isBusy = camera?.replay != nil && camera?.replay !== peer.replay
        func busy() -> Refusal {
            Refusal(member, .busy, "camera", "a replay runs on this camera; wait for its trace-ended")
        }
        switch requests[member].body {
        case .gesture:
            if isBusy { throw busy() }
            // So many are there neither now nor after this object, whatever stands before it and whoever began them.
            let most = (camera?.fingers ?? 0) + member
            if most >= min(limits.gestures, limits.cameraGestures) {
                try admitGesture(member, of: requests, camera, &earlier, peer)
            }
        case .command(let command):
            if isBusy { throw busy() }
            try admit(command, member, of: requests, camera, &earlier, peer)
        case .trace:
            if peer.replay != nil {
                throw Refusal(
                    member, .invalidValue, "type", "a trace runs on this connection: end it with trace-end first")
            }
            if isBusy || peer.isDeaf { throw busy() }
        case .traceEnd:
            if peer.replay == nil {
                throw Refusal(
                    member, .invalidValue, "type", "no trace runs on this connection: a trace header begins one")
            }
        case .subscribe:
            try admitSubscription(member, of: requests, &earlier, peer)
        case .awaitIdle:
            try admitWait(member, of: requests, peer)
        case .endReplay:
            if peer.replay != nil {
                throw Refusal(
                    member, .invalidValue, "type",
                    "a trace ends with trace-end; end-replay comes from another connection")
            }
            if camera?.replay == nil {
                throw Refusal(member, .noReplay, "camera", "no replay runs on this camera")
            }
        case .subscribeAll:
            // It is as much work as there are cameras, and an array is done in one go.
            if requests.count > 1 {
                throw Refusal(
                    member, .invalidValue, "camera",
                    "camera must not be \"*\" in an array: subscribing to all cameras is a line of its own")
            }
        case .query, .unsubscribe, .unsubscribeAll, .hello:
            break
        }
    }

    private func admitSubscription(
        _ member: Int, of requests: [Request], _ earlier: inout EarlierObjects, _ peer: Peer
    ) throws(Refusal) {
        // So many are there neither now nor after this object, whatever stands before it.
        guard peer.subscriptions.count + member >= limits.subscriptions else { return }
        if earlier.subscribed == nil {
            earlier.subscribed = Lookback(Set(peer.subscriptions.lazy.filter { !$0.isOfAll }.map(\.camera.name)))
        }
        earlier.subscribed?.advance(to: member, of: requests) { names, request in
            switch request.body {
            case .subscribe: names.insert(cameraName(request, peer))
            case .unsubscribe, .command(.removeCamera): names.remove(cameraName(request, peer))
            default: break
            }
        }
        guard let names = earlier.subscribed?.state, names.count >= limits.subscriptions,
            !names.contains(cameraName(requests[member], peer))
        else { return }
        throw Refusal(
            member, .limitReached, "camera",
            "one connection has at most \(limits.subscriptions) subscriptions; end one with unsubscribe")
    }

    private func admitGesture(
        _ member: Int, of requests: [Request], _ camera: HostedCamera?, _ earlier: inout EarlierObjects, _ peer: Peer
    ) throws(Refusal) {
        func key(_ gesture: Request.Gesture) -> GestureKey {
            GestureKey(feed: peer.number, kind: gesture.event.kind, label: gesture.label)
        }
        guard case .gesture(let gesture) = requests[member].body, gesture.event.begins else { return }
        // Fast path: nearly every report is about a gesture that is active already.
        if member == 0, camera?.gestures.contains(key(gesture)) == true { return }
        let name = cameraName(requests[member], peer)
        earlier.active[name, default: Lookback(.init(on: camera, of: peer.number))].advance(
            to: member, of: requests
        ) { active, request in
            guard cameraName(request, peer) == name else { return }
            switch request.body {
            case .gesture(let gesture):
                if gesture.event.begins { active.own.insert(key(gesture)) } else { active.own.remove(key(gesture)) }
            case .command(.move), .command(.animate), .command(.stop), .command(.removeCamera): active = .init()
            default: break
            }
        }
        guard let active = earlier.active[name]?.state, !active.own.contains(key(gesture)) else { return }
        func refuse(_ message: String) -> Refusal { Refusal(member, .limitReached, "gesture", message) }
        if active.own.count >= limits.gestures {
            throw refuse("one connection has at most \(limits.gestures) active gestures on a camera")
        }
        if active.others + active.own.count >= limits.cameraGestures {
            throw refuse("a camera has at most \(limits.cameraGestures) active gestures")
        }
    }

    private func admit(
        _ command: Request.Command, _ member: Int, of requests: [Request], _ camera: HostedCamera?,
        _ earlier: inout EarlierObjects, _ peer: Peer
    ) throws(Refusal) {
        switch command {
        case .setZoomRange(let min, let max):
            earlier.zoomRanges.advance(to: member, of: requests) { ranges, request in
                switch request.body {
                case .command(.setZoomRange(let min, let max)):
                    let old = zoomRange(of: request, ranges, peer)
                    ranges[cameraName(request, peer)] = ZoomRange(min: min ?? old.min, max: max ?? old.max) ?? old
                case .command(.removeCamera): ranges[cameraName(request, peer)] = .all
                default: break
                }
            }
            let old = zoomRange(of: requests[member], earlier.zoomRanges.state, peer)
            if (min ?? old.min) > (max ?? old.max) {
                let error = RequestDecoder.reversedZoomRange
                throw Refusal(member, error.code, min == nil ? "maxZoom" : "minZoom", error.message)
            }
        case .removeCamera where camera?.replay != nil:
            throw Refusal(member, .busy, "camera", "a replay runs on this camera; wait for its trace-ended")
        default:
            break
        }
    }

    /// The zoom range of a request's camera: that which an earlier object of the line sets, or the present one.
    private func zoomRange(of request: Request, _ earlier: [String: ZoomRange], _ peer: Peer) -> ZoomRange {
        earlier[cameraName(request, peer)] ?? existingCamera(request.camera, peer)?.camera.constraints.zoomRange ?? .all
    }

    /// Whether a request makes its camera, or makes one that is held its own.
    ///
    /// - Parameter held: the camera, where there is one.
    private func makesCamera(_ request: Request, _ held: HostedCamera?, _ peer: Peer) -> Bool {
        switch request.body {
        case .query where !request.creates, .awaitIdle where !request.creates: return false
        case .subscribe where peer.isWatchOnly: return held == nil
        default: return !peer.isWatchOnly && needsCamera(request.body)
        }
    }

    func needsCamera(_ body: Request.Body) -> Bool {
        switch body {
        case .hello, .traceEnd, .endReplay, .query(.cameras), .query(.stats), .query(.clients), .query(.ping),
            .command(.removeCamera), .unsubscribe, .subscribeAll, .unsubscribeAll:
            false
        default: true
        }
    }
}

/// What the objects of a line that stand before one will have done when that one is applied. It is gathered only where a
/// request comes near a limit or depends on an earlier one, and each object is looked at once for each question.
struct EarlierObjects {
    /// The gestures that are active on a camera.
    struct Active {
        var own: Set<GestureKey> = []
        /// Those of other peers.
        var others = 0

        init() {}

        init(on camera: HostedCamera?, of peer: Int) {
            own = Set(camera?.gestures.keys(of: peer) ?? [])
            others = (camera?.gestures.count ?? 0) - own.count
        }
    }

    /// The names of cameras that are made.
    var made = Lookback<Set<String>>([])
    /// The names of cameras that the peer is subscribed to.
    var subscribed: Lookback<Set<String>>?
    /// By the camera's name.
    var active: [String: Lookback<Active>] = [:]
    /// Those that are set, by the camera's name.
    var zoomRanges = Lookback<[String: ZoomRange]>([:])
}

/// Something that is gathered from the objects of a line, from the first on, each once.
struct Lookback<State> {
    private(set) var state: State
    private var seen = 0

    init(_ state: State) { self.state = state }

    /// Brings it up to date with all objects before one.
    mutating func advance(to member: Int, of requests: [Request], _ add: (inout State, Request) -> Void) {
        while seen < member {
            add(&state, requests[seen])
            seen += 1
        }
    }
}

extension GestureEvent {
    /// Whether the gesture is active after this report, if its kind is enabled.
    fileprivate var begins: Bool { !kind.isTap && (phase == .began || phase == .changed) }
}
