// How far a reader has read each camera's events, so that it can ask for the rest after reconnecting. Used by the
// client library, the command line and the MQTT bridge.
// Invariant: gaps are reported. If a camera's point does not fit in the request, the reader gets a `lagged` for it.

import MapCamera

/// The points from which a subscription resumes.
package struct ResumePoints: Sendable {
    /// The points by camera name.
    package private(set) var points: [String: ResumePoint]
    /// The camera's `seq`, if the last event reported it: a gap after that event ends there.
    private var present: Int?
    /// The cameras whose points did not fit in the last subscription.
    private var notAskedFor: Set<String> = []

    /// The maximum number of cameras of a daemon.
    private static let mostCameras = 65536
    /// The room for points on a line of 65,536 bytes, and the overhead of one, besides its camera's name and epoch.
    private static let (longestList, longestFrame) = (60_000, 64)

    package init(_ points: [String: ResumePoint] = [:]) { self.points = points }

    /// Starts another subscription to all cameras.
    ///
    /// - Returns: as many of the points as fit on a line.
    package mutating func forAllCameras() -> [String: ResumePoint] {
        var length = 0
        let ordered = points.sorted { $0.key < $1.key }
        let fitting = ordered.prefix { camera, point in
            length += Self.longestFrame + camera.utf8.count + point.epoch.utf8.count
            return length <= Self.longestList
        }
        notAskedFor = Set(ordered[fitting.endIndex...].map(\.key))
        return Dictionary(uniqueKeysWithValues: Array(fitting))
    }

    /// Follows an event.
    ///
    /// - Returns: the gap before the event, if no line from the daemon reports it.
    package mutating func note(_ event: CameraEvent) -> Lagged? {
        let camera = event.camera
        let presentBefore = present
        present = nil
        switch event {
        case .subscribed(let now):
            present = now.seq
            let before = points[camera]
            // In the same epoch, the events after the point are still to come.
            if before?.epoch != now.epoch { set(camera, seq: now.seq, epoch: now.epoch) }
            guard let before, notAskedFor.remove(camera) != nil else { return nil }
            set(camera, seq: now.seq, epoch: now.epoch)
            let missed = before.epoch == now.epoch ? max(now.seq, 0) - max(before.seq, 0) : now.seq
            guard missed > 0 else { return nil }
            return Lagged(
                camera: camera, missed: missed, position: now.position, seq: now.seq, epoch: now.epoch)
        case .lagged(let lagged):
            if let seq = lagged.seq, let epoch = lagged.epoch {
                set(camera, seq: seq, epoch: epoch)
            } else {
                let seq = points[camera]?.seq ?? 0
                points[camera]?.seq = presentBefore ?? seq.addingReportingOverflow(lagged.missed).partialValue
            }
        case .reset(let reset):
            if let epoch = reset.epoch {
                set(camera, seq: reset.seq, epoch: epoch)
            } else {
                points[camera]?.seq = reset.seq
            }
        case .moveStarted(let move), .cameraChanged(let move), .idle(let move): points[camera]?.seq = move.seq
        case .removed: points[camera] = nil
        default: break
        }
        return nil
    }

    private mutating func set(_ camera: String, seq: Int, epoch: String) {
        guard points[camera] != nil || points.count < Self.mostCameras else { return }
        // Drops epochs that no daemon makes: the room on a line is computed from their plain length.
        let isPlain = epoch.utf8.allSatisfy { (0x20...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }
        let isUsual = isPlain && epoch.utf8.count <= RequestDecoder.longestLabel
        points[camera] = isUsual ? ResumePoint(seq: seq, epoch: epoch) : nil
    }
}
