// What cameras do when nothing has moved them for a time: they fly home, or to where one of the daemon's traces begins,
// which is then played. Any client's gesture or command stops the camera where it is, as it stops a fling.

final class IdleActions {
    private let runner: CameraRunner
    private let replays: Replays
    private let traces: StoredTraces
    private let turns: Turns
    /// Milliseconds between two checks of all cameras.
    private static let frame = 1000.0 / 60
    /// The work of beginning an action, in events.
    private static let workOfBeginning = 8

    init(_ runner: CameraRunner, _ replays: Replays, _ traces: StoredTraces, _ turns: Turns) {
        (self.runner, self.replays, self.traces, self.turns) = (runner, replays, traces, turns)
    }

    /// Begins the actions that are due, as far as the turn has room for them.
    func advance(to now: Double) {
        guard runner.idleDeadline <= now else { return }
        for camera in runner.idling.cameras where turns.hasRoomForEvents {
            if let due = camera.idleDue, camera.clockStart + due <= now { begin(camera, due: due, at: now) }
        }
        runner.rescheduleIdleActions(notBefore: now + Self.frame)
    }

    private func begin(_ camera: HostedCamera, due: Double, at now: Double) {
        turns.add(events: Self.workOfBeginning)
        switch camera.moment.setup.idleAction?.action {
        case .flyHome(let home, let duration):
            runner.beginIdleFlight(of: camera, to: home, duration: duration, .home, at: due)
        case .play(let name, let loops):
            guard let trace = traces[name] else { return camera.passOverIdleAction() }
            if camera.hasApproachedTrace {
                camera.passOverIdleAction()
                replays.play(trace, loops: loops, on: camera, at: now)
            } else {
                runner.beginIdleFlight(of: camera, to: trace.header.position, duration: nil, .attract, at: due)
            }
        case nil: break
        }
    }
}
