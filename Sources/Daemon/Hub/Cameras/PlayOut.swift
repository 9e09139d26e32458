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
    static let kept = 1000.0
    private static let framesPerSecond = 60
    /// How long it is on its way from one position to the next, at the most: where a finger has rested, it waits at the first.
    private static let longestWay = 50.0

    /// Who sends them.
    let peer: Peer
    /// By their times; the first is that from which the camera began, or has been shown long ago.
    private var positions: [Presentation]
    /// Up to when the camera is where it is to be.
    private var shown = WallTime(microseconds: .min)
    /// The camera's last event when that was last moved so: another one since is of others.
    var seq: UInt64
    /// When the camera is to move next; each turn asks.
    private(set) var due: WallTime?

    /// Nothing is told yet to a camera that is at a position.
    init(of peer: Peer, from camera: HostedCamera) {
        (self.peer, positions, seq) = (peer, [Self.beginning(camera.camera.position)], camera.seq)
    }

    private static func beginning(_ position: CameraPosition) -> Presentation {
        Presentation(position, at: WallTime(microseconds: .min), isMoving: false)
    }

    /// How many wait for a time before one.
    func waitingCount(before time: WallTime) -> Int {
        max(last(upTo: WallTime(microseconds: time.microseconds - 1)) - last(upTo: shown), 0)
    }

    /// The last position up to a time; the first, if all are later.
    private func last(upTo time: WallTime) -> Int { positions.lastIndex { $0.presentAt <= time } ?? 0 }

    /// What still counts of all that was told: where the camera is, unless others have moved it since, and what waits.
    ///
    /// - Parameter seq: of the camera's last event.
    func counting(seq: UInt64) -> ArraySlice<Presentation> {
        guard due != nil else { return [] }
        return positions[(last(upTo: shown) + (seq == self.seq ? 0 : 1))...].drop { $0.presentAt.microseconds == .min }
    }

    /// Adds a position, in place of all that were to be there at its time or later.
    mutating func insert(_ presentation: Presentation, at now: WallTime) {
        let first = positions[0].position
        positions.removeAll { $0.presentAt >= presentation.presentAt }
        // A clock that is set back has all of them begin anew.
        if positions.isEmpty { positions = [Self.beginning(first)] }
        // Those that have not been shown stay, with the one before.
        let past = min(shown, now.adding(milliseconds: -Self.kept))
        positions.removeFirst(max(last(upTo: past), positions.count - 2 * Self.most))
        positions.append(presentation)
        shown = min(shown, WallTime(microseconds: presentation.presentAt.microseconds - 1))
        due = next
    }

    /// Where the camera is at a time; `nil` if these do not say, or others have moved it since.
    ///
    /// - Parameter seq: of the camera's last event.
    func position(at time: WallTime, seq: UInt64) -> CameraPosition? {
        let index = last(upTo: time)
        let (here, isLast) = (positions[index], index == positions.count - 1)
        guard here.presentAt <= time else { return nil }
        guard here.isMoving, !isLast else {
            return here.presentAt <= shown && (isLast || seq != self.seq) ? nil : here.position
        }
        let (next, start) = (positions[index + 1], wayStart(behind: index))
        guard time > start else { return here.position }
        let share = time.milliseconds(since: start) / next.presentAt.milliseconds(since: start)
        return here.position.toward(next.position, share)
    }

    /// When the camera leaves a position for the next.
    private func wayStart(behind index: Int) -> WallTime {
        max(positions[index].presentAt, positions[index + 1].presentAt.adding(milliseconds: -Self.longestWay))
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

    private var next: WallTime? {
        let before = last(upTo: shown)
        guard before + 1 < positions.count else { return nil }
        let next = positions[before + 1]
        if positions[before].isMoving {
            let earliest = max(shown, wayStart(behind: before)).microseconds + 1
            let frame = Self.frame(notBefore: WallTime(microseconds: earliest))
            return next.isMoving ? frame : min(frame, next.presentAt)
        }
        return next.isMoving ? Self.frame(notBefore: next.presentAt) : next.presentAt
    }

    /// Where the camera is to move now, and for which time; `nil` if nothing is due. After a standstill that is one step.
    mutating func step(to now: WallTime) -> Presentation? {
        guard let due, due <= now else { return nil }
        defer { self.due = next }
        let here = positions[last(upTo: now)]
        if !here.isMoving {
            shown = here.presentAt
            return here
        }
        let frame = Self.frame(notBefore: WallTime(microseconds: now.microseconds - 1_000_000 / Self.framesPerSecond))
        shown = max(due, frame)
        return Presentation(position(at: shown, seq: seq) ?? here.position, at: shown, isMoving: true)
    }
}

/// The cameras that are shown so.
final class PlayOuts {
    private let runner: CameraRunner
    private let turns: Turns
    private let clock: WallClock
    /// Cameras for which positions wait.
    private var playing = CameraList(.presenting)

    init(_ runner: CameraRunner, _ turns: Turns, _ clock: WallClock) {
        (self.runner, self.turns, self.clock) = (runner, turns, clock)
    }

    /// Has a camera be at a position when it is time; at once if that is over.
    func add(_ presentation: Presentation, to camera: HostedCamera, by peer: Peer) {
        if let other = camera.playOut?.peer, other !== peer { end(other, on: camera) }
        if camera.playOut == nil { camera.playOut = PlayOut(of: peer, from: camera) }
        camera.playOut?.insert(presentation, at: clock.present.wall)
        runner.tell(presentation, of: camera)
        peer.fedCameras.insert(camera)
        playing.insert(camera)
    }

    /// Positions do not outlive the process: what they hold is let go of.
    func endAll(_ cameras: some Sequence<HostedCamera>) {
        for camera in cameras { if let peer = camera.playOut?.peer { end(peer, on: camera) } }
    }

    /// The camera is shown by this peer no more.
    private func end(_ peer: Peer, on camera: HostedCamera) {
        runner.endPlayOut(of: camera)
        runner.catchUp(camera, at: clock.present.hub)
        let time = camera.time(at: clock.present.hub)
        camera.apply(.init(GestureEvent(.position, .cancelled)), of: peer.number, at: time)
        runner.commitBatch(of: camera, at: time)
    }

    /// When the next camera is to move, in the hub's time; infinite if none is.
    var deadline: Double {
        var earliest = Double.infinity
        for camera in playing.cameras {
            if let due = camera.playOut?.due { earliest = min(earliest, clock.time(at: due)) }
        }
        return earliest
    }

    /// Moves what is due, as far as the turn has room for its events; the next turn moves the others.
    func advance(to now: Double) {
        guard !playing.isEmpty else { return }
        for camera in playing.cameras where turns.hasRoomForEvents { show(camera, at: now) }
        playing.removeAll { $0.playOut?.due == nil }
    }

    private func show(_ camera: HostedCamera, at now: Double) {
        if camera.isRemoved { camera.playOut = nil }
        guard let peer = camera.playOut?.peer, let step = camera.playOut?.step(to: clock.wallTime(at: now)) else {
            return
        }
        // Where it is another's now, that is all.
        guard camera.replay == nil, camera.leases.allow(peer) else { return runner.endPlayOut(of: camera) }
        runner.catchUp(camera, at: now)
        let time = camera.time(at: now)
        camera.apply(step, of: peer.number, at: time)
        runner.commitBatch(of: camera, at: time)
        camera.playOut?.seq = camera.seq
    }
}
