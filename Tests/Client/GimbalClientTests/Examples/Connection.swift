// An example from the page of GimbalClient: whether the daemon can be reached.

import GimbalClient

/// Shows whether the daemon can be reached, until the task is cancelled.
func showConnection(of gimbal: Gimbal, show: (String) -> Void) async {
    for await state in gimbal.connectionStates {
        switch state {
        case .idle: show("not connected")
        case .connected: show("connected")
        case .lost(let reason): show("lost: \(reason)")
        }
    }
}
