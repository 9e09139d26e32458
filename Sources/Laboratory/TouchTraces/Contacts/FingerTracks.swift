// The paths of fingers over the screen, for drawing: the more points there are, the fewer are kept.

import MapCamera
import Touches

/// Where one finger went, from its landing to its lifting.
public struct FingerTrack: Sendable {
    /// Where it was, in points of the viewport; where it landed and where it was last among them.
    public fileprivate(set) var points: [ScreenPoint]
    /// Whether it was lost, and did not lift.
    public fileprivate(set) var isCancelled = false
}

/// The tracks of a recording's fingers, in the order in which they landed.
public struct FingerTracks: Sendable {
    /// How many fingers are kept.
    public static let mostTracks = 500
    private static let mostPoints = 20_000

    /// The first tracks.
    public private(set) var tracks: [FingerTrack] = []
    /// How many fingers there were.
    public private(set) var count = 0

    private struct Open {
        let id: Int
        /// Where in ``tracks`` it stands, if it is kept.
        let track: Int?
        /// Where it was last, be that kept or not.
        var last: ScreenPoint
        /// Frames since the last point that was kept.
        var skipped = 0
    }

    private var open: [Open] = []
    private var points = 0
    /// Of so many frames one is kept.
    private var stride = 1

    package init() {}

    /// Follows all fingers of a surface into a frame.
    package mutating func add(_ touches: [Touch], isCancelled: Bool) {
        // Fingers that were lost are not those that are there now, whatever their numbers.
        for index in open.indices.reversed()
        where isCancelled || !touches.contains(where: { $0.id == open[index].id }) {
            close(open.remove(at: index), isCancelled: isCancelled)
        }
        for touch in touches {
            if let found = open.firstIndex(where: { $0.id == touch.id }) {
                move(found, to: touch.position)
            } else {
                begin(touch)
            }
        }
        if points > Self.mostPoints { thin() }
    }

    private mutating func begin(_ touch: Touch) {
        count += 1
        let isKept = tracks.count < Self.mostTracks
        if isKept { tracks.append(FingerTrack(points: [touch.position])) }
        points += isKept ? 1 : 0
        open.append(Open(id: touch.id, track: isKept ? tracks.count - 1 : nil, last: touch.position))
    }

    private mutating func move(_ index: Int, to position: ScreenPoint) {
        open[index].last = position
        open[index].skipped += 1
        guard let track = open[index].track, open[index].skipped >= stride else { return }
        open[index].skipped = 0
        tracks[track].points.append(position)
        points += 1
    }

    private mutating func close(_ finger: Open, isCancelled: Bool) {
        guard let track = finger.track else { return }
        if tracks[track].points.last != finger.last { tracks[track].points.append(finger.last) }
        tracks[track].isCancelled = isCancelled
    }

    /// Leaves every second point of each track, its ends aside.
    private mutating func thin() {
        stride *= 2
        points = 0
        for index in tracks.indices {
            let all = tracks[index].points
            tracks[index].points = all.indices.filter { $0 % 2 == 0 || $0 == all.count - 1 }.map { all[$0] }
            points += tracks[index].points.count
        }
    }
}
