// Determines where a mirror's camera is when: a fixed delay after the source was there. The daemon gets positions ahead
// of their time; the frames of a motion are computed here, and no message carries them.
// Invariant: the result depends only on the source's messages and the play-out, so all mirrors show the same digits.

import GimbalProtocol
import MapCamera

struct Presenter {
    /// A source whose times are this many milliseconds ahead has a wrong clock: nothing arrives before it has happened.
    private static let farAhead = 1000.0
    /// How long after its time a camera that does not rest in its place is brought there, in milliseconds.
    private static let checkDelay = 200.0
    /// How long before the source is there frames are sent, in milliseconds: at most, and at least. So all up to the end
    /// of a motion have been sent when that is told. With the longest play-out, 330 wait: the daemon keeps 512.
    private static let (most, least) = (500.0, 250.0)
    /// How far back the daemon answers where a camera was to be, in milliseconds.
    private static let answered = 1000.0

    /// How far the camera is behind its source, in milliseconds.
    let playOut: Double
    /// Degrees that are added to the bearing.
    let bearingOffset: Double
    /// When to show the source's newest position; `nil` means as soon as possible, if its clock is unknown or wrong.
    private var time: WallTime?
    private var motion: MotionStart?
    /// The motion as the source published it.
    private var toldMotion: MotionStart?
    private var frames: MotionFrames?
    /// Whether the camera stays where the motion has brought it, since it has no source for now.
    private var isHalted = false
    /// The last position of the source that was sent.
    private var told: Presentation?
    /// When to send the next frames.
    private var nextFrames: Double?
    /// When to check that the camera rests where it should.
    private var nextCheck: Double?
    var lateness = Lateness()

    init(playOut: Double, bearingOffset: Double) { (self.playOut, self.bearingOffset) = (playOut, bearingOffset) }

    /// Whether the camera should rest at the source's position by now.
    var hasEnded: Bool { nextCheck == nil && (motion == nil || isHalted) && told?.isMoving == false }

    var deadline: Double? { .earliest(nextFrames, nextCheck, lateness.deadline) }

    // MARK: The source

    /// Notes a new status of the source.
    ///
    /// - Parameter isOnTheWay: whether it describes a movement in progress: such a status may be late.
    mutating func note(_ status: CameraStatus, isOnTheWay: Bool, at wall: WallTime, _ now: Double) {
        // The same motion again, as after a broker outage: its frames have been sent as far as they are due.
        if let motion = status.motion, motion == toldMotion { return }
        toldMotion = status.motion
        motion = status.motion
        let shown = (motion?.wallTime ?? status.wallTime).flatMap {
            $0.milliseconds(since: wall) < Self.farAhead ? $0.adding(milliseconds: playOut) : nil
        }
        time = motion == nil ? shown : nil
        if playOut > 0 { lateness.note(shown, isOnTheWay: isOnTheWay, at: wall, now) }
        if shown == nil { motion?.wallTime = wall }
        (frames, isHalted) = (motion?.frames, false)
        if motion != nil { (told, nextCheck) = (nil, nil) }
    }

    /// Starts over with another daemon, or none: what was sent is sent again.
    mutating func restart() {
        frames = motion?.frames
        (told, nextFrames, nextCheck) = (nil, nil, nil)
    }

    // MARK: The daemon

    /// Sends where the camera should be, unless that was sent before.
    ///
    /// - Parameters:
    ///   - position: the source's position, with the offset; `nil` if the camera is to stay where it is.
    ///   - send: sends one position; `false` if it has to wait.
    mutating func present(
        _ position: CameraPosition?, isMoving: Bool, at wall: WallTime, _ now: Double,
        by send: (Presentation) throws -> Bool
    ) throws {
        nextFrames = nil
        if let check = nextCheck, check <= now { nextCheck = nil }
        if let motion {
            if position != nil {
                if isHalted { (isHalted, told, frames) = (false, nil, motion.frames) }
                return try presentFrames(at: wall, now, by: send)
            }
            if !isHalted { told = presentation(of: motion.position(at: wall.adding(milliseconds: -playOut))) }
            isHalted = true
        }
        var next = told
        if let position {
            next = Presentation(position, at: time ?? told?.presentAt ?? wall, isMoving: isMoving)
        } else {
            next?.isMoving = false
        }
        guard let next, next != told, try send(next) else { return }
        told = next
        nextCheck = next.isMoving ? nil : now + max(next.presentAt.milliseconds(since: wall), 0) + Self.checkDelay
    }

    private mutating func presentFrames(
        at wall: WallTime, _ now: Double, by send: (Presentation) throws -> Bool
    ) throws {
        guard var frames else { return }
        frames.skip(to: wall.adding(milliseconds: -playOut - Self.answered))
        while let time = frames.nextTime {
            let ahead = time.milliseconds(since: wall)
            guard ahead < Self.most else {
                nextFrames = now + ahead - Self.least
                break
            }
            var rest = frames
            guard let frame = rest.next(), try send(presentation(of: frame)) else {
                nextFrames = now + Self.least / 5
                break
            }
            frames = rest
        }
        self.frames = frames
    }

    private func presentation(of frame: Presentation) -> Presentation {
        var shown = frame
        shown.presentAt = frame.presentAt.adding(milliseconds: playOut)
        shown.position.bearing = wrap360(frame.position.bearing + bearingOffset)
        return shown
    }
}

/// Positions that outputs other than the daemon show at their time, and in frames between them, like the daemon.
struct Upcoming {
    private static let most = 1024
    /// Sorted by time; if the first is due in the frame that is shown, it is the last that is.
    private var positions: [Presentation] = []
    /// When to show the camera next.
    private(set) var deadline: Double?

    /// Adds a position, and removes all that are due at its time or later.
    mutating func insert(_ presentation: Presentation) {
        positions.removeAll { $0.presentAt >= presentation.presentAt }
        if positions.count < Self.most { positions.append(presentation) }
    }

    /// Removes all that are over, and returns where the camera is; `nil` if no position is due.
    mutating func take(at wall: WallTime, _ now: Double) -> Presentation? {
        let isMoving = positions.last { $0.presentAt <= wall }?.isMoving ?? false
        let frame = isMoving ? wall.lastFrame : wall
        positions.removeFirst(positions.lastIndex { $0.presentAt <= frame } ?? 0)
        guard let first = positions.first else { return nil }
        let isDue = first.presentAt <= frame
        let here = isDue ? first : Presentation(first.position, at: frame, isMoving: false)
        let next = isDue ? positions.dropFirst().first : first
        deadline = next.map { next in
            let due = here.nextFrame(after: frame, onWayTo: next)
            // Where the camera rests between the frame and now, that time is over.
            let later = due > wall ? due : WallTime(microseconds: frame.microseconds + 1).nextFrame
            return now + later.milliseconds(since: wall)
        }
        guard isDue, here.isMoving, let next else { return isDue ? here : nil }
        return Presentation(here.position(at: frame, onWayTo: next), at: frame, isMoving: true)
    }
}
