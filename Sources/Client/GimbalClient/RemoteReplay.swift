// Steering the replay on a camera: each method is one request and its answer. Any client that may feed the camera may
// steer, over a connection that is not the replay's own.

import GimbalProtocol

extension RemoteCamera {
    /// How the replay on the camera stands, its markers included.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` where none runs.
    public func replay() async throws -> ReplayStatus { try await ask(.getReplay) }

    /// Stops the replay's clock: nothing more is sent until it goes on.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` where none runs.
    public func pauseReplay() async throws { try await steer(.pauseReplay) }

    /// Lets a paused replay go on.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` where none runs.
    public func resumeReplay() async throws { try await steer(.resumeReplay) }

    /// Pauses the replay, and plays what it takes to change the camera so many times more, 1 to 1,000,000.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` where none runs.
    public func stepReplay(_ count: Int = 1) async throws { try await steer(.stepReplay(count: count)) }

    /// Goes to another place of the replay, which stays paused or goes on playing. Returns when the daemon has taken
    /// the request; ``/GimbalProtocol/CameraEvent/reset(_:)`` tells that the replay is there.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` where none runs, `limitReached` for a place before
    ///   what the daemon has kept, and `invalidValue` for a marker that has not been read.
    public func seekReplay(to target: ReplayTarget) async throws { try await steer(.seekReplay(target)) }

    /// Sets the replay's speed: trace milliseconds per millisecond, above 0; infinite is as fast as possible.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` where none runs.
    public func setReplaySpeed(_ speed: Double) async throws { try await steer(.setReplaySpeed(speed)) }

    /// Ends the replay on the camera, whichever client plays it. What moves is played on until it rests, as fast as possible.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noReplay` where none runs.
    public func endReplay() async throws { try await steer(.endReplay) }

    /// Names the present of the camera, for clients that follow or record it.
    ///
    /// - Parameter label: 1 to 256 bytes.
    public func mark(_ label: String) async throws { try await send([.marker(label: label)]) }

    private func steer(_ request: ClientRequest) async throws { try await ask(request) as Void }
}
