// Where a mirror's camera is to be when: a fixed time after the source was there. The daemon is told ahead of time; of a motion
// that the source has told, the frames are reckoned here, and no message has them.
// Invariant: what is told depends on what the source has told and on the play-out alone, so all mirrors show the same digits.

import GimbalProtocol
import MapCamera

struct Presenter {
    /// A source that tells a time so many milliseconds ahead has a wrong clock: nothing comes before it has happened.
    private static let farAhead = 1000.0
    /// As long after its time a camera that does not rest in its place is brought there, in milliseconds.
    private static let checkDelay = 200.0
    /// How far ahead of their time frames are told, in milliseconds: so much at the most, so much at the least.
    private static let (most, least) = (500.0, 250.0)
    /// For how long behind its time the daemon answers where a camera was to be, in milliseconds.
    private static let answered = 1000.0

    /// How long behind its source the camera is, in milliseconds.
    let playOut: Double
    /// Degrees that are added to the bearing.
    let bearingOffset: Double
    /// When the source's newest position is to be shown; `nil` is as soon as can be, where its clock is not known or wrong.
    private var time: WallTime?
    private var motion: MotionStart?
    /// As the source told it.
    private var toldMotion: MotionStart?
    private var frames: MotionFrames?
    /// What was told last of the source's positions.
    private var told: Presentation?
    /// When to tell the next frames.
    private var nextFrames: Double?
    /// When to see whether the camera is where it was to rest.
    private var nextCheck: Double?
    private var lateness = Lateness()

    init(playOut: Double, bearingOffset: Double) { (self.playOut, self.bearingOffset) = (playOut, bearingOffset) }

    /// Whether the camera is to rest at the source's position by now.
    var hasEnded: Bool { nextCheck == nil && motion == nil && told?.isMoving == false }

    var deadline: Double? { .earliest(nextFrames, nextCheck, lateness.deadline) }

    // MARK: The source

    /// The source has told where its camera is.
    ///
    /// - Parameter isOnTheWay: whether it tells that while it is so: what is told late is logged.
    mutating func note(_ status: CameraStatus, isOnTheWay: Bool, at wall: WallTime, _ now: Double) {
        // Told again, as after the broker was away: its frames are told as far as they are to be.
        if let motion = status.motion, motion == toldMotion { return }
        toldMotion = status.motion
        motion = status.motion
        let shown = (motion?.wallTime ?? status.wallTime).flatMap {
            $0.milliseconds(since: wall) < Self.farAhead ? $0.adding(milliseconds: playOut) : nil
        }
        time = motion == nil ? shown : nil
        if isOnTheWay, playOut > 0, let shown { lateness.note(shown, at: wall, now) }
        if shown == nil { motion?.wallTime = wall }
        frames = motion?.frames
        if motion != nil { (told, nextCheck) = (nil, nil) }
    }

    /// The daemon is another, or there is none: what was told is told again.
    mutating func restart() {
        frames = motion?.frames
        (told, nextFrames, nextCheck) = (nil, nil, nil)
    }

    /// What to log about what came late; `nil` if there is nothing, or it is not time.
    mutating func takeText(at now: Double) -> PrintableText? { lateness.takeText(at: now) }

    // MARK: The daemon

    /// Tells where the camera is to be, as far as that is not told.
    ///
    /// - Parameters:
    ///   - position: the source's position, with the offset; `nil` where the camera is to stay.
    ///   - send: tells one; `false` if that has to wait.
    mutating func present(
        _ position: CameraPosition?, isMoving: Bool, at wall: WallTime, _ now: Double,
        by send: (Presentation) throws -> Bool
    ) throws {
        nextFrames = nil
        if let check = nextCheck, check <= now { nextCheck = nil }
        if motion != nil, position != nil { return try presentFrames(at: wall, now, by: send) }
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
            let ahead = time.adding(milliseconds: playOut).milliseconds(since: wall)
            guard ahead < Self.most else {
                nextFrames = now + ahead - Self.least
                break
            }
            var rest = frames
            guard var frame = rest.next() else { break }
            frame.presentAt = frame.presentAt.adding(milliseconds: playOut)
            frame.position.bearing = wrap360(frame.position.bearing + bearingOffset)
            guard try send(frame) else {
                nextFrames = now + Self.least / 5
                break
            }
            frames = rest
        }
        self.frames = frames
    }
}

/// What is to be shown, by its time, where that is not a daemon's part.
struct Upcoming {
    private static let most = 1024
    private var positions: [Presentation] = []
    /// When the next is due.
    private(set) var deadline: Double?

    /// Adds a position, in place of all that were to be shown at its time or later.
    mutating func insert(_ presentation: Presentation) {
        positions.removeAll { $0.presentAt >= presentation.presentAt }
        if positions.count < Self.most { positions.append(presentation) }
    }

    /// Takes all that are due, and gives the last of them; `nil` if none is.
    mutating func take(at wall: WallTime, _ now: Double) -> Presentation? {
        let count = positions.prefix { $0.presentAt <= wall }.count
        defer {
            positions.removeFirst(count)
            deadline = positions.first.map { now + $0.presentAt.milliseconds(since: wall) }
        }
        return count > 0 ? positions[count - 1] : nil
    }
}
