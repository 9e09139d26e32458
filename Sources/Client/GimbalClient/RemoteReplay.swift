// Controls the replay on a camera: each method is one request and its answer. Any client that may feed the camera may
// control it, over a connection other than the replay's own.

extension RemoteCamera {
    /// Returns the status of the replay on the camera, its markers included.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` if none runs.
    public func replay() async throws -> ReplayStatus { try await ask(.getReplay) }

    /// Stops the replay's clock: nothing more is sent until it resumes.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` if none runs.
    public func pauseReplay() async throws { try await steer(.pauseReplay) }

    /// Resumes a paused replay.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` if none runs.
    public func resumeReplay() async throws { try await steer(.resumeReplay) }

    /// Pauses the replay, and plays on until the camera has changed this many more times, 1 to 1,000,000.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` if none runs.
    public func stepReplay(_ count: Int = 1) async throws { try await steer(.stepReplay(count: count)) }

    /// Seeks to another place of the replay, which stays paused or continues to play. Returns when the daemon has
    /// accepted the request; ``/GimbalProtocol/CameraEvent/reset(_:)`` reports that the replay is there.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` if none runs, `limitReached` for a place
    ///   before what the daemon has kept, and `invalidValue` for a marker that has not been read.
    public func seekReplay(to target: ReplayTarget) async throws { try await steer(.seekReplay(target)) }

    /// Sets the replay's speed: trace milliseconds per millisecond, above 0; infinite is as fast as possible.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` if none runs.
    public func setReplaySpeed(_ speed: Double) async throws { try await steer(.setReplaySpeed(speed)) }

    /// Ends the replay on the camera, whichever client plays it. Ongoing movement is played to rest without delay.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` if none runs.
    public func endReplay() async throws { try await steer(.endReplay) }

    /// Names the camera's present state, for clients that follow or record it.
    ///
    /// - Parameter label: 1 to 256 bytes.
    public func mark(_ label: String) async throws { try await send([.marker(label: label)]) }

    private func steer(_ request: ClientRequest) async throws { try await ask(request) as Void }
}
