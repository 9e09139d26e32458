// An example of the documentation: a one-finger gesture.

import GimbalClient

/// Drags the map 120 points to the left with one finger. The finger stops before it lifts, so there is no fling.
func drag(_ camera: RemoteCamera) async throws {
    try await camera.send(GestureEvent(.pan, .began))
    for step in 1...10 {
        // In points from where the finger landed, right and down positive.
        let way = ScreenPoint(x: -12 * Double(step), y: 0)
        try await camera.send(GestureEvent(.pan, .changed, .pan(way)))
    }
    try await camera.send(GestureEvent(.pan, .ended, velocity: ScreenPoint(x: 0, y: 0)))
}
