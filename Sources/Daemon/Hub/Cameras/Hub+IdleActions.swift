// What cameras do when nothing has moved them for a time: they fly home, or to where one of the daemon's traces begins,
// which is then played. Any client's gesture or command stops the camera where it is, as it stops a fling.

extension Hub {
    /// Milliseconds between two checks of all cameras.
    private static let frame = 1000.0 / 60
    /// The work of beginning an action, in events.
    private static let workOfBeginning = 8

    /// Begins the actions that are due, as far as the turn has room for them.
    func beginIdleActions(at now: Double) {
        guard parts.runner.idleDeadline <= now else { return }
        for camera in parts.runner.idling.cameras where parts.turns.hasRoomForEvents {
            if let due = camera.idleDue, camera.clockStart + due <= now { beginIdleAction(camera, due: due, at: now) }
        }
        parts.runner.rescheduleIdleActions(notBefore: now + Self.frame)
    }

    private func beginIdleAction(_ camera: HostedCamera, due: Double, at now: Double) {
        parts.turns.add(events: Self.workOfBeginning)
        switch camera.moment.setup.idleAction?.action {
        case .flyHome(let home, let duration):
            parts.runner.beginIdleFlight(of: camera, to: home, duration: duration, .home, at: due)
        case .play(let name, let loops):
            guard let trace = parts.traces[name] else { return camera.passOverIdleAction() }
            if camera.hasApproachedTrace {
                camera.passOverIdleAction()
                parts.replays.start(Replay(trace, loops: loops, of: camera, limits: parts.limits, at: now), at: now)
            } else {
                parts.runner.beginIdleFlight(of: camera, to: trace.header.position, duration: nil, .attract, at: due)
            }
        case nil: break
        }
    }
}
