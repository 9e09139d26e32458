// Questions: answered at once, changing nothing.

import MapCamera
import GimbalProtocol

final class Queries {
    private let server: String
    private let registry: CameraRegistry
    private let clients: ClientRegistry
    private let subscriptions: Subscriptions
    private let replays: Replays
    private let errors: ErrorReplies
    private let sender: Sender
    private let turns: Turns
    private let counters: Counters
    /// When the first process of this hub started.
    var started: Double

    init(_ hub: HubParts, started: Double) {
        (registry, clients, subscriptions, replays) = (hub.registry, hub.clients, hub.subscriptions, hub.replays)
        (errors, sender, turns, counters) = (hub.errors, hub.sender, hub.turns, hub.counters)
        (server, self.started) = (hub.server, started)
    }

    /// Tells a client which server it is connected to.
    func greet(_ peer: Peer, _ id: Span<UInt8>) {
        sender.reply(to: peer) { $0.hello(server: server, id) }
    }

    /// Answers a question.
    ///
    /// - Parameter camera: the one that it is about; `nil` if there is none.
    func answer(_ query: Request.Query, _ camera: HostedCamera?, _ id: Span<UInt8>, in line: LineContext) {
        let peer = line.peer
        switch query {
        case .ping: sender.reply(to: peer) { $0.pong(id) }
        case .getReplay:
            guard let replay = camera?.replay else { return }
            let status = replay.status(at: line.now, withMarkers: true)
            turns.add(events: status.markers?.count ?? 0)
            sender.reply(to: peer) { $0.replay(status, id) }
        case .cameras:
            let names = registry.namesAsJSON()
            sender.reply(to: peer) { $0.cameras(names.span, id) }
        case .stats:
            sender.putEventsFirst(for: peer)
            let stats = stats(at: line.now)
            sender.reply(to: peer) { $0.stats(stats, id) }
        case .clients(let number):
            sender.putEventsFirst(for: peer)
            let page = clients.page(after: number, for: peer)
            // Count the clients read, so that others get their turn as well.
            turns.add(events: page.clients.count)
            sender.reply(to: peer) { $0.clients(page.clients, hasMore: page.hasMore, id) }
        case .getCamera, .cameraForBounds, .project, .unproject, .visibleRegion:
            guard let camera else { return }
            var error: WireError?
            sender.reply(to: peer) { error = Self.answer(query, about: camera, id, &$0) }
            if let error { errors.refuse(error, id, about: camera.name, to: peer) }
        }
    }

    /// Writes the answer to a question about a camera, or says why there is none.
    private static func answer(
        _ query: Request.Query, about camera: HostedCamera, _ id: Span<UInt8>, _ reply: inout LineWriter
    ) -> WireError? {
        let projection = camera.camera.projection
        switch query {
        case .getCamera:
            reply.camera(camera.state, id)
        case .cameraForBounds(let bounds, let insets):
            let (position, fits) = camera.camera.position(fitting: bounds, insets: insets)
            reply.cameraForBounds(position.map(PrintedPosition.init), fits: fits, id)
        case .project(let coordinate):
            guard let point = projection.point(for: coordinate) else {
                return WireError(.invalidValue, field: "coordinate", "coordinate must be in front of the camera")
            }
            reply.point(point, id)
        case .unproject(let point):
            guard let coordinate = projection.coordinate(for: point) else {
                return WireError(.invalidValue, field: "point", "point must be below the horizon")
            }
            reply.coordinate(coordinate, id)
        case .visibleRegion:
            guard let region = projection.visibleRegion else {
                return WireError(.invalidValue, "a corner of the viewport is above the horizon")
            }
            reply.visibleRegion(region, id)
        case .cameras, .stats, .clients, .ping, .getReplay:
            break
        }
        return nil
    }

    /// What `stats` tells.
    private func stats(at now: Double) -> DaemonStats {
        DaemonStats(
            uptimeMs: max(now - started, 0), connections: clients.count, connectionsTotal: clients.total,
            cameras: registry.count, subscriptions: subscriptions.count, replays: replays.count, lines: counters.lines,
            errors: counters.errors, events: counters.events, bytesIn: counters.bytesIn, bytesOut: counters.bytesOut)
    }
}
