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
        var made = 0
        try admit(0, of: requests, first, &made, peer)
        for member in 1..<requests.count {
            try admit(member, of: requests, existingCamera(requests[member].camera, peer), &made, peer)
        }
    }

    private func admit(
        _ member: Int, of requests: [Request], _ camera: HostedCamera?, _ made: inout Int, _ peer: Peer
    ) throws(Refusal) {
        if peer.isWatchOnly, let error = peer.role.objection(to: requests[member].body) {
            throw Refusal(member, error)
        }
        if let replay = peer.replay, let name = requests[member].camera, name != replay.camera.name {
            throw Refusal(
                member, .invalidValue, "camera",
                "camera must be \"\(replay.camera.name)\" in this trace, or left out")
        }
        if camera?.isHeld != false { try admitNew(member, of: requests, camera, &made, peer) }
        try admit(member, of: requests, camera, peer)
    }

    /// Admits the camera that a request makes, or makes its own, if it does; `made` are those of the objects before it.
    @inline(never)
    private func admitNew(
        _ member: Int, of requests: [Request], _ held: HostedCamera?, _ made: inout Int, _ peer: Peer
    ) throws(Refusal) {
        guard held == nil || !peer.isWatchOnly, makesCamera(requests[member].body, peer),
            isFirst(member, of: requests, peer)
        else { return }
        made += 1
        let others = peer.isWatchOnly ? heldCameras.count : cameras.count - heldCameras.count
        guard others + made > limits.cameras else { return }
        throw Refusal(
            member, .limitReached, "camera",
            peer.isWatchOnly
                ? "\(limits.cameras) cameras are there only to be watched; wait until somebody feeds this one"
                : "there are \(limits.cameras) cameras; remove one with remove-camera")
    }

    /// Whether no object before this one makes its camera.
    func isFirst(_ member: Int, of requests: [Request], _ peer: Peer) -> Bool {
        !earlier(member, of: requests, peer).contains { makesCamera($0.body, peer) }
    }

    /// The objects of the line that stand before one and concern the same camera.
    func earlier(_ member: Int, of requests: [Request], _ peer: Peer) -> some Sequence<Request> {
        let name = cameraName(requests[member], peer)
        return requests[..<member].lazy.filter { self.cameraName($0, peer) == name }
    }

    /// The name of the camera that a request concerns.
    func cameraName(_ request: Request, _ peer: Peer) -> String {
        request.camera ?? peer.replay?.camera.name ?? HostedCamera.mainName
    }

    private func admit(
        _ member: Int, of requests: [Request], _ camera: HostedCamera?, _ peer: Peer
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
                try admitGesture(member, of: requests, camera, peer)
            }
        case .command(let command):
            if isBusy { throw busy() }
            try admit(command, member, of: requests, camera, peer)
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
            try admitSubscription(member, of: requests, peer)
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
        case .query, .unsubscribe, .subscribeAll, .unsubscribeAll, .hello:
            break
        }
    }

    private func admitSubscription(_ member: Int, of requests: [Request], _ peer: Peer) throws(Refusal) {
        // So many are there neither now nor after this object, whatever stands before it.
        guard peer.subscriptions.count + member >= limits.subscriptions else { return }
        var names = Set(peer.subscriptions.lazy.filter { !$0.isOfAll }.map(\.camera.name))
        for request in requests[..<member] {
            switch request.body {
            case .subscribe: names.insert(cameraName(request, peer))
            case .unsubscribe, .command(.removeCamera): names.remove(cameraName(request, peer))
            default: break
            }
        }
        let name = cameraName(requests[member], peer)
        guard names.count >= limits.subscriptions, !names.contains(name) else { return }
        throw Refusal(
            member, .limitReached, "camera",
            "one connection has at most \(limits.subscriptions) subscriptions; end one with unsubscribe")
    }

    private func admitGesture(
        _ member: Int, of requests: [Request], _ camera: HostedCamera?, _ peer: Peer
    ) throws(Refusal) {
        func key(_ gesture: Request.Gesture) -> GestureKey {
            GestureKey(feed: peer.number, kind: gesture.event.kind, label: gesture.label)
        }
        guard case .gesture(let gesture) = requests[member].body, gesture.event.begins else { return }
        var keys = camera?.gestures.keys(of: peer.number) ?? []
        let others = (camera?.gestures.count ?? 0) - keys.count
        for request in earlier(member, of: requests, peer) {
            switch request.body {
            case .gesture(let gesture):
                keys.removeAll { $0 == key(gesture) }
                if gesture.event.begins { keys.append(key(gesture)) }
            case .command(.move), .command(.animate), .command(.stop), .command(.removeCamera): keys = []
            default: break
            }
        }
        guard !keys.contains(key(gesture)) else { return }
        func refuse(_ message: String) -> Refusal { Refusal(member, .limitReached, "gesture", message) }
        if keys.count >= limits.gestures {
            throw refuse("one connection has at most \(limits.gestures) active gestures on a camera")
        }
        if others + keys.count >= limits.cameraGestures {
            throw refuse("a camera has at most \(limits.cameraGestures) active gestures")
        }
    }

    func admit(
        _ command: Request.Command, _ member: Int, of requests: [Request], _ camera: HostedCamera?, _ peer: Peer
    ) throws(Refusal) {
        switch command {
        case .setZoomRange(let min, let max):
            let old = zoomRange(of: camera, before: member, of: requests, peer)
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

    /// The zoom range that a camera has once the objects before one have been applied.
    func zoomRange(
        of camera: HostedCamera?, before member: Int, of requests: [Request], _ peer: Peer
    ) -> ZoomRange {
        var range = camera?.camera.constraints.zoomRange ?? .all
        for case .command(let command) in earlier(member, of: requests, peer).map(\.body) {
            switch command {
            case .setZoomRange(let min, let max):
                range = ZoomRange(min: min ?? range.min, max: max ?? range.max) ?? range
            case .removeCamera: range = .all
            default: break
            }
        }
        return range
    }

    /// Whether a request makes its camera where there is none, or makes one that is held its own.
    func makesCamera(_ body: Request.Body, _ peer: Peer) -> Bool {
        guard peer.isWatchOnly else { return needsCamera(body) }
        return if case .subscribe = body { true } else { false }
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

extension GestureEvent {
    /// Whether the gesture is active after this report, if its kind is enabled.
    fileprivate var begins: Bool { !kind.isTap && (phase == .began || phase == .changed) }
}
