// What the hub gives away to be kept, and takes back: the cameras at rest. It does not know where they are kept.

import Wire

extension Hub {
    /// Differs whenever something may have changed that is to be kept.
    public var revision: UInt64 { counters.lines &+ counters.events }

    /// Whether no camera moves by itself.
    public var isAtRest: Bool { watched.isEmpty && replays.isEmpty }

    var sortedCameras: [HostedCamera] { cameras.values.sorted { $0.name < $1.name } }

    /// The cameras as they stand, sorted by name; not those that are there only to be watched.
    ///
    /// - Parameter isLast: whether nothing happens any more.
    public func savedState(isLast: Bool) -> SavedState {
        SavedState(isLast: isLast, cameras: sortedCameras.filter { !$0.isHeld }.map(\.saved))
    }

    /// Takes cameras back, also if they are more than there may be now: then no new ones are made. To be called before
    /// anybody is connected.
    ///
    /// - Parameter keepsEpochs: whether it is sure that nothing was emitted after the state was saved; otherwise a
    ///   subscriber must not take what comes for what follows on what it read.
    /// - Returns: how many were taken.
    public func restore(_ saved: SavedState, keepsEpochs: Bool, at now: Double) -> Int {
        for camera in saved.cameras {
            var camera = camera
            if !keepsEpochs { camera.epoch = newEpoch() }
            cameras[camera.state.name] = HostedCamera(
                camera, clockStart: now - camera.clock, limits: limits)
        }
        return cameras.count
    }

    /// Takes no line any more, and brings every camera to rest where it is. What was emitted is still sent.
    public func end(at now: Double) {
        isEnding = true
        for camera in sortedCameras {
            catchUp(camera, at: now)
            guard camera.nextFrame != nil || camera.gestures.isActive else { continue }
            let time = time(of: camera, at: now)
            camera.apply(.stop, at: time)
            endFrame(camera, until: time)
        }
        answerAllWaits()
    }
}
