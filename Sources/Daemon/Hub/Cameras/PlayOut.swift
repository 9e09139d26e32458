// Positions that are known ahead of their time: a mirror sends them as they come, and the camera takes each when the
// wall clock shows its time. Between two positions it moves straight, in frames whose times are the same on every
// machine. So network delays are not seen, and screens whose clocks agree show the same digits at the same time.
// Invariant: the camera is reported at the position that `position(at:)` returns for that time.

import Gestures
import GimbalProtocol
import MapCamera

/// The positions that one camera takes soon, and those that it took a moment ago.
struct PlayOut {
    /// The maximum number of waiting positions.
    static let most = 512
    /// How long positions are kept after they were shown, in milliseconds, for questions about the past.
    static let kept = 1000.0

    /// The peer that sends the positions.
    let peer: Peer
    /// Sorted by time; the first is where the camera began, or was shown long ago.
    private var positions: [Presentation]
    /// The time up to which positions have been shown.
    private var shown = WallTime(microseconds: .min)
    /// The seq of the camera's last event when it was last moved so: a later event comes from another mover.
    var seq: UInt64
    /// When the camera moves next; stored, since each turn asks.
    private(set) var due: WallTime?

    /// Creates a play-out that begins at a camera's position.
    init(of peer: Peer, from camera: HostedCamera) {
        (self.peer, positions, seq) = (peer, [Self.beginning(camera.camera.position)], camera.seq)
    }

    private static func beginning(_ position: CameraPosition) -> Presentation {
        Presentation(position, at: WallTime(microseconds: .min), isMoving: false)
    }

    /// Returns how many positions wait for an earlier time.
    func waitingCount(before time: WallTime) -> Int {
        max(last(upTo: WallTime(microseconds: time.microseconds - 1)) - last(upTo: shown), 0)
    }

    /// Returns the index of the last position up to a time; of the first, if all are later.
    private func last(upTo time: WallTime) -> Int { positions.lastIndex { $0.presentAt <= time } ?? 0 }

    /// Returns the positions that still count: the current one, if no other has moved the camera, and waiting ones.
    ///
    /// - Parameter seq: the seq of the camera's last event.
    func counting(seq: UInt64) -> ArraySlice<Presentation> {
        guard due != nil else { return [] }
        return positions[(last(upTo: shown) + (seq == self.seq ? 0 : 1))...].drop { $0.presentAt.microseconds == .min }
    }

    /// Adds a position, and drops all that are for its time or later.
    mutating func insert(_ presentation: Presentation, at now: WallTime) {
        let first = positions[0].position
        positions.removeAll { $0.presentAt >= presentation.presentAt }
        // If the clock was set back, no position is left, and the first begins anew.
        if positions.isEmpty { positions = [Self.beginning(first)] }
        // Positions that have not been shown stay, with the one before.
        let past = min(shown, now.adding(milliseconds: -Self.kept))
        positions.removeFirst(max(last(upTo: past), positions.count - 2 * Self.most))
        positions.append(presentation)
        shown = min(shown, WallTime(microseconds: presentation.presentAt.microseconds - 1))
        due = next
    }

    /// Returns where the camera is at a time; `nil` if the positions do not say, or others have moved the camera since.
    ///
    /// - Parameter seq: the seq of the camera's last event.
    func position(at time: WallTime, seq: UInt64) -> CameraPosition? {
        let index = last(upTo: time)
        let (here, isLast) = (positions[index], index == positions.count - 1)
        guard here.presentAt <= time else { return nil }
        guard here.isMoving, !isLast else {
            return here.presentAt <= shown && (isLast || seq != self.seq) ? nil : here.position
        }
        return here.position(at: time, onWayTo: positions[index + 1])
    }

    // MARK: Frames

    private var next: WallTime? {
        let before = last(upTo: shown)
        guard before + 1 < positions.count else { return nil }
        return positions[before].nextFrame(after: shown, onWayTo: positions[before + 1])
    }

    /// Returns the position to show now; `nil` if nothing is due. After a standstill, there is only one step.
    mutating func step(to now: WallTime) -> Presentation? {
        guard let due, due <= now else { return nil }
        defer { self.due = next }
        let here = positions[last(upTo: now)]
        if !here.isMoving {
            shown = here.presentAt
            return here
        }
        shown = max(due, now.lastFrame)
        return Presentation(position(at: shown, seq: seq) ?? here.position, at: shown, isMoving: true)
    }
}

/// The play-outs of all cameras.
final class PlayOuts {
    private let runner: CameraRunner
    private let turns: Turns
    private let clock: WallClock
    /// Cameras that have waiting positions.
    private var playing = CameraList(.presenting)

    init(_ runner: CameraRunner, _ turns: Turns, _ clock: WallClock) {
        (self.runner, self.turns, self.clock) = (runner, turns, clock)
    }

    /// Moves a camera to a position when its time comes. If that is over, it does so with the next request on the
    /// camera that is no position, or else in the next turn.
    func add(_ presentation: Presentation, to camera: HostedCamera, by peer: Peer) {
        if let other = camera.playOut?.peer, other !== peer { end(other, on: camera) }
        if camera.playOut == nil { camera.playOut = PlayOut(of: peer, from: camera) }
        camera.playOut?.insert(presentation, at: clock.present.wall)
        runner.tell(presentation, of: camera)
        peer.fedCameras.insert(camera)
        playing.insert(camera)
    }

    /// Ends the play-outs of cameras and the gestures that these hold: positions do not outlive the process.
    func endAll(_ cameras: some Sequence<HostedCamera>) {
        for camera in cameras { if let peer = camera.playOut?.peer { end(peer, on: camera) } }
    }

    /// Ends a peer's play-out on a camera, and the gesture that it holds.
    private func end(_ peer: Peer, on camera: HostedCamera) {
        runner.endPlayOut(of: camera)
        runner.catchUp(camera, at: clock.present.hub)
        let time = camera.time(at: clock.present.hub)
        camera.apply(.init(GestureEvent(.position, .cancelled)), of: peer.number, at: time)
        runner.commitBatch(of: camera, at: time)
    }

    /// When the next camera is due to move, in the hub's time; infinite if none is.
    var deadline: Double {
        playing.cameras.reduce(.infinity) { min($0, $1.playOut?.due.map { clock.time(at: $0) } ?? .infinity) }
    }

    /// Moves the cameras that are due, as far as the turn has room for their events; the next turn moves the others.
    func advance(to now: Double) {
        guard !playing.isEmpty else { return }
        for camera in playing.cameras where turns.hasRoomForEvents { show(camera, at: now) }
        playing.removeAll { $0.playOut?.due == nil }
    }

    /// Moves a camera to the position that is due, if one is.
    func show(_ camera: HostedCamera, at now: Double) {
        if camera.isRemoved { camera.playOut = nil }
        guard let peer = camera.playOut?.peer, let step = camera.playOut?.step(to: clock.wallTime(at: now)) else {
            return
        }
        // A replay or another client controls the camera now: nothing is left to do.
        guard camera.replay == nil, camera.leases.allow(peer) else { return runner.endPlayOut(of: camera) }
        runner.catchUp(camera, at: now)
        let time = camera.time(at: now)
        camera.apply(step, of: peer.number, at: time)
        runner.commitBatch(of: camera, at: time)
        camera.playOut?.seq = camera.seq
    }
}
