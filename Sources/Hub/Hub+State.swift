// What the hub gives away to be kept, and takes back: the cameras at rest. It does not know where they are kept.

import Wire

extension Hub {
    /// Whether no camera moves by itself.
    public var isAtRest: Bool { watched.isEmpty && replays.isEmpty }

    var sortedCameras: [HostedCamera] { cameras.values.sorted { $0.name < $1.name } }

    /// The cameras as they stand, sorted by name; not those that are there only to be watched.
    ///
    /// - Parameter isLast: whether nothing happens any more.
    public func savedState(isLast: Bool) -> SavedState {
        SavedState(isLast: isLast, cameras: sortedCameras.filter { !$0.isHeld }.map(\.saved))
    }

    // MARK: In slices

    /// Takes note that a camera may be another than it was when it was saved last.
    func noteChange(_ camera: HostedCamera) {
        guard !camera.isUnsaved else { return }
        camera.isUnsaved = true
        if tracksChanges { unsaved.append(camera.name) }
    }

    /// Whether something may have changed since ``beginSaving(_:)`` was called last.
    public var hasUnsaved: Bool { !unsaved.isEmpty }

    /// Begins to bring a text up to date; cameras that change from now on are the next time's.
    public func beginSaving(_ text: inout SavedText) {
        text.begin(unsaved)
        unsaved = []
    }

    /// Brings the text of so many cameras up to date, at most: it costs some ten microseconds for each.
    ///
    /// - Returns: whether all is up to date.
    public func goOnSaving(_ text: inout SavedText, atMost count: Int) -> Bool {
        text.update(atMost: count) { name in
            guard let camera = cameras[name] else { return nil }
            camera.isUnsaved = false
            return camera.isHeld ? nil : camera.saved.lines
        }
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
            let hosted = HostedCamera(camera, clockStart: now - camera.clock, limits: limits, memory: memory)
            cameras[hosted.name] = hosted
            noteChange(hosted)
        }
        cameraNames = SortedNames(cameras.keys)
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
