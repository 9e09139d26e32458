// Answers questions at once, and changes nothing.

import MapCamera
import GimbalProtocol

extension RequestApplier {
    /// Answers a question.
    ///
    /// - Parameter camera: the camera that it is about; `nil` if there is none.
    func answer(_ query: ClientRequest, _ camera: HostedCamera?, _ id: Span<UInt8>, in line: LineContext) {
        let peer = line.peer
        switch query {
        case .ping: parts.sender.reply(.pong, id, to: peer)
        case .getReplay:
            guard let replay = camera?.replay else {
                // An earlier object of the line has ended it.
                return parts.sender.refuse(.noReplay, id, about: camera?.name ?? "", to: peer)
            }
            let status = replay.status(at: line.now, withMarkers: true)
            parts.turns.add(events: status.markers?.count ?? 0)
            parts.sender.reply(.replay(status), id, to: peer)
        case .cameras:
            let names = parts.registry.namesAsJSON()
            parts.sender.reply(to: peer) { $0.cameras(names.span, id) }
        case .traces:
            let infos = parts.traces.infos
            parts.turns.add(events: infos.count)
            parts.sender.reply(.traces(infos), id, to: peer)
        case .getCamera(let time?):
            guard let camera else { return }
            // As much work as the frames that it looks ahead.
            parts.turns.add(work: 16)
            var state = camera.state
            (state.position, state.wallTime) = camera.position(at: time)
            parts.sender.reply(.camera(state), id, to: peer)
        case .stats:
            parts.sender.putEventsFirst(for: peer)
            parts.sender.reply(.stats(stats(at: line.now)), id, to: peer)
        case .clients(let number):
            parts.sender.putEventsFirst(for: peer)
            let page = parts.clients.page(after: number, for: peer)
            // Count the clients read, so that others get their turn as well.
            parts.turns.add(events: page.clients.count)
            parts.sender.reply(.clients(page), id, to: peer)
        default:
            do {
                guard let camera, let answer = try Self.answer(query, about: camera) else {
                    return assertionFailure("nothing answers \(query.type)")
                }
                parts.sender.reply(answer, id, to: peer)
            } catch {
                parts.sender.refuse(error, id, about: camera?.name ?? "", to: peer)
            }
        }
    }

    /// Returns the answer to a question about a camera; `nil` for any other question.
    private static func answer(
        _ query: ClientRequest, about camera: HostedCamera
    ) throws(GimbalError) -> ServerMessage? {
        let projection = camera.camera.projection
        switch query {
        case .getCamera: return .camera(camera.state)
        case .cameraForBounds(let bounds, let insets):
            let (position, fits) = camera.camera.position(fitting: bounds, insets: insets)
            return .cameraForBounds(BoundsFit(position: position, fits: fits))
        case .project(let coordinate):
            if let point = projection.point(for: coordinate) { return .point(point) }
            throw GimbalError(.invalidValue, field: "coordinate", "coordinate must be in front of the camera")
        case .unproject(let point):
            if let coordinate = projection.coordinate(for: point) { return .coordinate(coordinate) }
            throw GimbalError(.invalidValue, field: "point", "point must be below the horizon")
        case .visibleRegion:
            if let region = projection.visibleRegion { return .visibleRegion(region) }
            throw GimbalError(.invalidValue, "a corner of the viewport is above the horizon")
        default: return nil
        }
    }

    /// Returns the answer to `stats`.
    private func stats(at now: Double) -> DaemonStats {
        let counters = parts.counters
        var stats = DaemonStats.blank
        stats.uptimeMs = max(now - started, 0).rounded(.down)
        (stats.connections, stats.connectionsTotal) = (parts.clients.count, Int(parts.clients.total))
        (stats.cameras, stats.subscriptions) = (parts.registry.count, parts.subscriptions.count)
        stats.replays = parts.replays.count
        (stats.lines, stats.errors, stats.events) = (Int(counters.lines), Int(counters.errors), Int(counters.events))
        (stats.bytesIn, stats.bytesOut) = (Int(counters.bytesIn), Int(counters.bytesOut))
        return stats
    }
}
