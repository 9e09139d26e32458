// An example of the documentation: errors from the daemon, and resuming where an earlier run stopped.

import GimbalClient

/// Counts the movements that have ended since an earlier run, up to now; says how far it has read.
func movements(
    of camera: RemoteCamera, since point: ResumePoint?
) async throws -> (ended: Int, point: ResumePoint?) {
    let present = try await camera.state().seq
    var events = camera.events(since: point).makeAsyncIterator()
    var ended = 0
    while let event = try await events.next() {
        switch event {
        case .idle: ended += 1
        case .lagged(let gap): print("\(gap.missed) events are not there any more")
        default: break
        }
        if let point = events.resumePoint, point.seq >= present { break }
    }
    return (ended, events.resumePoint)
}

/// Sets the lowest zoom, unless the daemon refuses it.
func setLowestZoom(_ zoom: Double, of camera: RemoteCamera) async throws -> String? {
    do {
        try await camera.setZoomRange(min: zoom)
        return nil
    } catch let error as GimbalError where error.code == .invalidValue {
        return "\(error.field ?? "something"): \(error.message)"
    }
}
