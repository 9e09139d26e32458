// Cameras for clients that may only watch. They may be there before anybody feeds the camera, but nothing that they do is to
// stay or to take a place away: a camera that only they have subscribed to is held for as long as they are subscribed.
// Invariant: `heldCameras` are those of `cameras` that are held. They are not saved, and count apart from the others.

import Wire

extension Hub {
    /// The camera that a question is about. Who may only watch makes none by asking, and neither does who says so: where
    /// there is none, the answer is that of a new one.
    func cameraAsked(_ request: Request, _ peer: Peer, at now: Double) -> HostedCamera {
        if request.creates, !peer.isWatchOnly { return camera(request.camera, peer, at: now) }
        return existingCamera(request.camera, peer)
            ?? HostedCamera(
                name: request.camera ?? HostedCamera.mainName, epoch: "", at: now, limits: limits, memory: nil)
    }

    /// Takes note that a camera is there for who may only watch.
    func hold(_ camera: HostedCamera) {
        camera.isHeld = true
        heldCameras.append(camera)
        mayHoldInVain = true
    }

    /// Takes note that a camera is not only there for them any more.
    func release(_ camera: HostedCamera) {
        guard camera.isHeld else { return }
        camera.isHeld = false
        noteChange(camera)
        heldCameras.removeAll { $0 === camera }
    }

    /// Lets go of cameras that nobody is subscribed to any more. To be called between frames.
    func removeHeldCameras() {
        guard mayHoldInVain else { return }
        mayHoldInVain = false
        for camera in heldCameras where camera.isUnwanted { remove(camera) }
    }
}

extension HostedCamera {
    /// Whether nobody has subscribed to it by its name.
    var isUnwanted: Bool { subscriptions.allSatisfy(\.isOfAll) }
}
