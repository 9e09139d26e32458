// Questions: answered at once, changing nothing.

import MapCamera
import Wire

extension Hub {
    func answer(_ query: Request.Query, _ camera: HostedCamera?, _ id: Span<UInt8>, _ peer: Peer, at now: Double) {
        prepareReply(to: peer)
        switch query {
        case .ping: line.pong(id)
        case .cameras:
            let names = cameraNames.json()
            line.cameras(names.span, id)
        case .stats: line.stats(stats(at: now), id)
        case .clients(let number): tellClients(after: number, peer, id)
        default:
            guard let camera else { return }
            if let error = answer(query, about: camera, id) {
                counters.errors += 1
                takeNote(.refused(error, line: peer.framer.lineNumber, camera: camera.name), of: peer)
                peer.replay?.summary.rejected += 1
                line.clear()
                line.error(error, line: peer.framer.lineNumber, id)
            }
        }
        sendReply(to: peer)
    }

    /// Writes the answer to a question about a camera, or says why there is none.
    private func answer(_ query: Request.Query, about camera: HostedCamera, _ id: Span<UInt8>) -> WireError? {
        let projection = camera.camera.projection
        switch query {
        case .getCamera:
            line.camera(camera.state, id)
        case .cameraForBounds(let bounds, let insets):
            let (position, fits) = camera.camera.position(fitting: bounds, insets: insets)
            line.cameraForBounds(position.map(PrintedPosition.init), fits: fits, id)
        case .project(let coordinate):
            guard let point = projection.point(for: coordinate) else {
                return WireError(.invalidValue, field: "coordinate", "coordinate must be in front of the camera")
            }
            line.point(point, id)
        case .unproject(let point):
            guard let coordinate = projection.coordinate(for: point) else {
                return WireError(.invalidValue, field: "point", "point must be below the horizon")
            }
            line.coordinate(coordinate, id)
        case .visibleRegion:
            guard let region = projection.visibleRegion else {
                return WireError(.invalidValue, "a corner of the viewport is above the horizon")
            }
            line.visibleRegion(region, id)
        case .cameras, .stats, .clients, .ping:
            break
        }
        return nil
    }
}
