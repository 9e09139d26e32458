// An example of the documentation: a command, and the events that it causes.

import GimbalClient

/// Flies to a place, and says where the camera came to rest.
func fly(to place: LatLng, with gimbal: Gimbal = Gimbal()) async throws -> CameraPosition? {
    let camera = gimbal.camera("main")
    for try await event in camera.events() {
        switch event {
        case .subscribed(let now):
            // A camera that is there already does not move, and has nothing to tell.
            if now.position.target == place, now.position.zoom == 15 { return now.position }
            try await camera.animate(.setTarget(place, zoom: 15), durationMs: 600, easing: .easeInOut)
        case .cameraChanged(let move):
            print(move.timeMs, move.position.target, move.position.zoom)
        case .idle(let move):
            return move.position
        default:
            break
        }
    }
    return nil
}
