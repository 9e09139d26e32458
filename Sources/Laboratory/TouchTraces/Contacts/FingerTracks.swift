// The paths of fingers over the screen, for drawing. Long recordings are thinned out.

import MapCamera
import Touches

/// The path of one finger, from landing to lifting.
public struct FingerTrack: Sendable {
    /// Its positions in points of the viewport, always including the first and the last.
    public fileprivate(set) var points: [ScreenPoint]
    /// Whether it was lost, rather than lifted.
    public fileprivate(set) var isCancelled = false
}

/// The tracks of a recording's fingers, in landing order.
public struct FingerTracks: Sendable {
    /// The maximum number of tracks kept.
    public static let mostTracks = 500
    private static let mostPoints = 20_000

    /// The first tracks.
    public private(set) var tracks: [FingerTrack] = []

    private struct Open {
        let id: Int
        /// Its index in ``tracks``, if it is kept.
        let track: Int?
        /// Its last position, whether or not that is kept.
        var last: ScreenPoint
        /// Frames since the last point kept.
        var skipped = 0
    }

    private var open: [Open] = []
    private var points = 0
    /// One frame in this many is kept.
    private var stride = 1

    package init() {}

    /// Adds a frame with all fingers of a surface.
    package mutating func add(_ touches: [Touch], isCancelled: Bool) {
        // Lost fingers are not the current ones, even if numbers match.
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

    /// Keeps every second point of each track, and its ends.
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
