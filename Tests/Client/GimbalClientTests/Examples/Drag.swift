// An example of the documentation: a one-finger gesture.

import GimbalClient

/// One finger drags the map 120 points to the left, and holds it before it lifts: nothing flies on.
func drag(_ camera: RemoteCamera) async throws {
    try await camera.send(GestureEvent(.pan, .began))
    for step in 1...10 {
        // Points from where the finger landed: right is positive, and so is down.
        let way = ScreenPoint(x: -12 * Double(step), y: 0)
        try await camera.send(GestureEvent(.pan, .changed, .pan(way)))
    }
    try await camera.send(GestureEvent(.pan, .ended, velocity: ScreenPoint(x: 0, y: 0)))
}
