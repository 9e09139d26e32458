// An example of the documentation: awaiting a command, and the events that it causes.

import GimbalClient

/// Flies to a place and returns the position where the camera came to rest: there, or as near as its constraints allow.
func fly(to place: LatLng, with gimbal: Gimbal = Gimbal()) async throws -> CameraPosition {
    let camera = gimbal.camera("main")
    return try await camera.animateToRest(.setTarget(place, zoom: 15), durationMs: 600, easing: .easeInOut).position
}

/// Prints the position of a camera whenever it changes.
func follow(_ camera: RemoteCamera) async throws {
    for try await event in camera.events() {
        if case .cameraChanged(let move) = event { print(move.timeMs, move.position.target, move.position.zoom) }
    }
}
