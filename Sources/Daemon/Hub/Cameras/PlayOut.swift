// Positions that are known before their time: a mirror sends them as they come, and the camera is at each when the wall clock
// says so. Between two of them it goes straight, in frames whose times are those of every machine. So what a network does in
// between is not seen, and screens whose clocks agree show the same digits at one time.
// Invariant: what the camera is reported is what `position(at:)` tells of that time.

import Gestures
import GimbalProtocol
import MapCamera

/// What one camera is to be at, and was a moment ago.
struct PlayOut {
    /// Positions that wait, at the most.
    static let most = 256
    /// How long those are kept that have been shown: a question about a time comes behind it.
    private static let kept = 1000.0
    private static let framesPerSecond = 60

    /// Who sends them.
    let peer: Peer
    /// By their times.
    private var positions: [Presentation] = []
    /// Up to when the camera is where it is to be.
    private var shown = WallTime(microseconds: .min)

    init(of peer: Peer) { self.peer = peer }

    /// How many wait for their time.
    var waitingCount: Int { positions.count - (last(upTo: shown).map { $0 + 1 } ?? 0) }

    private func last(upTo time: WallTime) -> Int? { positions.lastIndex { $0.presentAt <= time } }

    /// Adds a position, in place of all that were to be there at its time or later.
    mutating func insert(_ presentation: Presentation, at now: WallTime) {
        positions.removeAll { $0.presentAt >= presentation.presentAt }
        let past = now.adding(milliseconds: -Self.kept)
        if let first = last(upTo: past) { positions.removeFirst(first) }
        positions.append(presentation)
        shown = min(shown, WallTime(microseconds: presentation.presentAt.microseconds - 1))
    }

    /// Where the camera is at a time; `nil` if that is not known.
    func position(at time: WallTime) -> CameraPosition? {
        guard let index = last(upTo: time) else { return nil }
        let here = positions[index]
        guard here.isMoving else { return index == positions.count - 1 ? nil : here.position }
        guard index + 1 < positions.count else { return here.position }
        let next = positions[index + 1]
        let share = time.milliseconds(since: here.presentAt) / next.presentAt.milliseconds(since: here.presentAt)
        return here.position.toward(next.position, share)
    }

    // MARK: Frames

    /// The time of a frame: so many have there been since 1970.
    private static func frame(_ number: Int) -> WallTime {
        WallTime(microseconds: number * 1_000_000 / framesPerSecond)
    }

    /// The first frame that is not before a time.
    private static func frame(notBefore time: WallTime) -> WallTime {
        var number = time.microseconds * framesPerSecond / 1_000_000
        while frame(number) < time { number += 1 }
        return frame(number)
    }

    /// When the camera is to move next.
    var due: WallTime? {
        let before = last(upTo: shown)
        let index = before.map { $0 + 1 } ?? 0
        guard index < positions.count else { return nil }
        let next = positions[index]
        if let before, positions[before].isMoving {
            let frame = Self.frame(notBefore: WallTime(microseconds: shown.microseconds + 1))
            return next.isMoving ? frame : min(frame, next.presentAt)
        }
        return next.isMoving ? Self.frame(notBefore: next.presentAt) : next.presentAt
    }

    /// Where the camera is to move now, and for which time; `nil` if nothing is due. After a standstill that is one step.
    mutating func step(to now: WallTime) -> Presentation? {
        guard let due, due <= now, let index = last(upTo: now) else { return nil }
        let here = positions[index]
        if !here.isMoving {
            shown = here.presentAt
            return here
        }
        let frame = Self.frame(notBefore: WallTime(microseconds: now.microseconds - 1_000_000 / Self.framesPerSecond))
        shown = max(due, frame)
        guard let position = position(at: shown) else { return nil }
        return Presentation(position, at: shown, isMoving: true)
    }
}

/// The cameras that are shown so.
final class PlayOuts {
    private let runner: CameraRunner
    private let clock: WallClock
    /// Cameras for which positions wait.
    private var playing = CameraList(.presenting)

    init(_ runner: CameraRunner, _ clock: WallClock) { (self.runner, self.clock) = (runner, clock) }

    /// Has a camera be at a position when it is time; at once if that is over.
    func add(_ presentation: Presentation, to camera: HostedCamera, by peer: Peer) {
        var playOut = camera.playOut ?? PlayOut(of: peer)
        if playOut.peer !== peer { playOut = PlayOut(of: peer) }
        playOut.insert(presentation, at: clock.present.wall)
        camera.playOut = playOut
        peer.fedCameras.insert(camera)
        playing.insert(camera)
    }

    /// When the next camera is to move, in the hub's time; infinite if none is.
    var deadline: Double {
        var earliest = Double.infinity
        for camera in playing.cameras {
            if let due = camera.playOut?.due { earliest = min(earliest, clock.time(at: due)) }
        }
        return earliest
    }

    /// Moves what is due.
    func advance(to now: Double) {
        guard !playing.isEmpty else { return }
        for camera in playing.cameras { show(camera, at: now) }
        playing.removeAll { $0.playOut?.due == nil }
    }

    private func show(_ camera: HostedCamera, at now: Double) {
        guard let peer = camera.playOut?.peer, camera.replay == nil, camera.leases.allow(peer), !camera.isRemoved else {
            // It is another's now.
            return camera.playOut = nil
        }
        guard let step = camera.playOut?.step(to: clock.wallTime(at: now)) else { return }
        runner.catchUp(camera, at: now)
        let time = camera.time(at: now)
        camera.apply(step, of: peer.number, at: time)
        runner.commitBatch(of: camera, at: time)
    }
}
