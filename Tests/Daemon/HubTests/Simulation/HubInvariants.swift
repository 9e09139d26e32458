// Invariants of a hub's tables after every step, whatever clients are sent: an object in one table is in the others,
// and a camera that is no longer registered under its name holds nothing.

@testable import Hub

struct HubInvariants {
    private struct Known {
        weak var camera: HostedCamera?
    }

    private weak var hub: Hub?
    /// Every camera that the hub has had and that is still referenced.
    private var known: [ObjectIdentifier: Known] = [:]

    /// Returns what is wrong; `nil` if nothing is.
    mutating func complaint(about hub: Hub) -> String? {
        if self.hub !== hub { (self.hub, known) = (hub, [:]) }
        let cameras = hub.parts.registry.sorted
        for camera in cameras { known[ObjectIdentifier(camera)] = Known(camera: camera) }
        known = known.filter { $0.value.camera != nil }
        return names(cameras, hub) ?? subscriptions(cameras, hub) ?? replays(cameras, hub) ?? leases(cameras, hub)
            ?? peers(hub)
            ?? known.values.compactMap { $0.camera.flatMap { lost($0, hub) } }.first
    }

    private func names(_ cameras: [HostedCamera], _ hub: Hub) -> String? {
        let (registry, names) = (hub.parts.registry, cameras.map(\.name))
        guard Set(names).count == names.count else { return "two cameras of one name: \(names)" }
        guard registry.count == names.count, hub.cameraCount == names.count else {
            return "\(registry.count) cameras are counted, and there are \(names)"
        }
        let told = "[\(names.map { "\"\($0)\"" }.joined(separator: ","))]"
        if registry.namesAsJSON() != Array(told.utf8) { return "other names are told than \(names)" }
        let astray = cameras.first { registry.camera(named: $0.name) !== $0 || $0.isRemoved }
        return astray.map { "the name \($0.name) leads elsewhere" }
    }

    private func subscriptions(_ cameras: [HostedCamera], _ hub: Hub) -> String? {
        let all = hub.parts.clients.peers.flatMap(\.subscriptions.all)
        let read = cameras.reduce(0) { $0 + $1.readers.subscriptions.count }
        guard all.count == hub.parts.subscriptions.count, all.count == read else {
            return
                "\(hub.parts.subscriptions.count) subscriptions are counted, clients have \(all.count), cameras \(read)"
        }
        for subscription in all {
            let (camera, index) = (subscription.camera, subscription.index)
            guard isRegistered(camera, hub), camera.readers.subscriptions.indices.contains(index),
                camera.readers.subscriptions[index] === subscription
            else { return "a subscription to a camera \(camera.name) that is not there" }
        }
        return nil
    }

    private func replays(_ cameras: [HostedCamera], _ hub: Hub) -> String? {
        let running = hub.parts.replays.running
        let moved = cameras.filter { $0.replay != nil }
        guard running.count == hub.parts.replays.count, moved.count == running.count else {
            return "\(running.count) replays, and \(moved.map(\.name)) are moved by one"
        }
        for replay in running {
            guard isRegistered(replay.camera, hub), replay.camera.replay === replay else {
                return "a replay of a camera \(replay.cameraName) that is not there"
            }
            if let peer = replay.peer, peer.replay !== replay { return "the owner of a replay does not know it" }
        }
        return nil
    }

    private func leases(_ cameras: [HostedCamera], _ hub: Hub) -> String? {
        for camera in cameras {
            let (lease, waiting) = (camera.leases.current, camera.leases.waiting.map(\.peer))
            let peers = waiting + (lease.map { [$0.holder] + $0.members } ?? [])
            guard peers.allSatisfy({ peer in hub.parts.leases.cameras(of: peer).count { $0 === camera } == 1 }),
                Set(peers.map(\.number)).count == peers.count
            else { return "a client is not known to have a part in the lease of \(camera.name), or twice" }
            if peers.contains(where: \.isClosed), camera.replay == nil {
                return "a client that is gone leases \(camera.name)"
            }
            if lease == nil, let first = waiting.first, camera.isFree(for: first) {
                return "the lease of \(camera.name) is free, and a client waits for it"
            }
        }
        return nil
    }

    private func peers(_ hub: Hub) -> String? {
        for peer in hub.parts.clients.peers {
            if let replay = peer.replay, !hub.parts.replays.running.contains(where: { $0 === replay }) {
                return "a client's replay does not run"
            }
            if case .finished = peer.input.state, isIdle(peer), !hub.parts.leases.isWaiting(peer), !peer.hasUnsent {
                return "a client is kept for which nothing is left to do"
            }
            if let camera = hub.parts.leases.cameras(of: peer).first(where: { !isRegistered($0, hub) }) {
                return "a client has a part in the lease of a camera \(camera.name) that is not there"
            }
            // Those that have ended are no longer among the camera's; their answers may come turns later.
            for wait in peer.waits where !wait.isOver && !isRegistered(wait.camera, hub) {
                guard wait.camera.waits.contains(where: { $0 === wait }) else { continue }
                return "a request waits for a camera \(wait.camera.name) that is not there"
            }
        }
        return nil
    }

    /// Whether nothing remains to be done for a client whose input has been handled.
    private func isIdle(_ peer: Peer) -> Bool {
        !peer.sendsTrace && peer.subscriptions.isEmpty && peer.waits.isEmpty && !peer.share.isWaiting
    }

    /// Returns what a camera still holds that is no longer registered under its name.
    private func lost(_ camera: HostedCamera, _ hub: Hub) -> String? {
        guard !isRegistered(camera, hub) else { return nil }
        let (log, inputs) = (camera.log, camera.inputLog)
        let holds: String? =
            if !camera.isRemoved {
                "is not removed"
            } else if !camera.readers.subscriptions.isEmpty {
                "has subscribers"
            } else if camera.replay != nil {
                "is moved by a replay"
            } else if camera.waits.contains(where: { !$0.isOver }) {
                "is waited for"
            } else if inputs != nil || log.capacity > 1 {
                "has a history"
            } else {
                nil
            }
        return holds.map { "a camera \(camera.name) that cannot be reached \($0)" }
    }

    private func isRegistered(_ camera: HostedCamera, _ hub: Hub) -> Bool {
        hub.parts.registry.camera(named: camera.name) === camera
    }
}
