// An example of the documentation: two-finger gestures, in frames.

import GimbalClient

/// Two fingers spread and turn around a point of the screen: the place under it stays there.
func twist(_ camera: RemoteCamera, about focus: ScreenPoint) async throws {
    try await camera.send([
        GestureEvent(.pinch, .began, focus: focus), GestureEvent(.rotate, .began, focus: focus),
    ])
    for step in 1...10 {
        // Values count from the beginning of the gesture. What is in one array changes the camera once.
        try await camera.send([
            GestureEvent(.pinch, .changed, .pinch(1 + Double(step) / 10), focus: focus),
            GestureEvent(.rotate, .changed, .rotate(Double(step) * 3), focus: focus),
        ])
    }
    try await camera.send([GestureEvent(.pinch, .ended), GestureEvent(.rotate, .ended)])
}
