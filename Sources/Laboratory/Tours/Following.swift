// Turns a line on the ground into a tour: the camera follows it, with its bearing along the path. All lengths are
// points of the screen, so smoothing and simplifying change only what is hardly visible.

import EarthViews
import GimbalProtocol
import MapCamera

/// A line to follow.
struct FollowedLine: Equatable {
    struct Point: Equatable {
        var place: LatLng
        /// When the line was at this point, in milliseconds of any clock; `nil` if unknown.
        var timeMs: Double?
    }

    var name: String?
    var points: [Point] = []
}

/// How a camera follows a line.
package struct Following: Sendable {
    /// The zoom; `nil` is ``usualZoom``. Ignored if `height` is given.
    package var zoom: Double?
    /// Metres from the ground to the eye, instead of a zoom.
    package var height: Double?
    /// Degrees from straight down.
    package var viewingAngle = 45.0
    /// How many times faster than the line's own times.
    package var speedUp = 1.0
    /// Metres per second, instead of the line's own times; `nil` for those or, if there are none, ``usualPace``.
    package var speed: Double?

    package static let usualZoom = 15.0
    /// The pace if nothing else determines it, in points of the screen per second.
    package static let usualPace = 100.0

    /// How far the camera may be from the line, and the edge of its view from where the bearing puts it, in points.
    private static let tolerance = 4.0
    /// How far apart the line is sampled between its own points, in points, and the maximum number of these samples.
    private static let (step, mostSteps) = (8.0, 20_000.0)

    package init() {}

    /// Returns keyframes that follow a line: a flight to its beginning, then a smooth path.
    ///
    /// - Parameter viewportHeight: in points; the bearing looks a quarter of it ahead and a quarter back.
    /// - Throws: `TourFileError` if the line has fewer than two places, or takes too long.
    func keyframes(
        along line: FollowedLine, viewportHeight: Double, _ notes: inout TourNotes
    ) throws(TourFileError) -> [TourKeyframe] {
        guard line.points.contains(where: { $0.place != line.points.first?.place }), let first = line.points.first
        else {
            throw TourFileError("the line has fewer than two places: there is nothing to follow")
        }
        let zoom = self.zoom(at: first.place, viewportHeight)
        let path = FollowedPath(line, zoom: zoom, times: times(of: line, &notes))
        let samples = path.samples(step: max(Self.step, path.length / Self.mostSteps), look: viewportHeight / 4)
        let chosen = Self.simplified(samples)
        var keyframes: [TourKeyframe] = []
        for (last, index) in zip([chosen[0]] + chosen, chosen) {
            let (before, sample) = (samples[last], samples[index])
            let lasting = ((sample.timeMs - before.timeMs) / speedUp * 1000).rounded() / 1000
            let place = path.coordinate(sample)
            let position = CameraPosition(
                target: place, zoom: height == nil ? zoom : self.zoom(at: place, viewportHeight),
                bearing: wrap360(sample.bearing), viewingAngle: viewingAngle)
            // A camera that hardly moves stays where it is.
            if let stay = keyframes.indices.last, sample.isNear(before), index != chosen.last {
                keyframes[stay].waitMs += lasting
            } else {
                keyframes.append(TourKeyframe(position, durationMs: keyframes.isEmpty ? nil : lasting))
            }
        }
        guard TourKeyframe.lastingMs(keyframes) <= TourKeyframe.longestMs else {
            throw TourFileError("the line takes more than an hour: --speed-up or --speed shortens it")
        }
        return keyframes
    }

    private func zoom(at place: LatLng, _ viewportHeight: Double) -> Double {
        guard let height else { return zoom ?? Self.usualZoom }
        let range = height / Elementary.cosine(viewingAngle)
        return EarthView(
            target: place, heading: 0, tilt: viewingAngle, range: range, viewportHeight: viewportHeight
        ).position.zoom
    }

    /// Returns when the camera is at each of the line's points, or its pace.
    private func times(of line: FollowedLine, _ notes: inout TourNotes) -> FollowedPath.Times {
        let known = line.points.compactMap(\.timeMs)
        if speed == nil, known.count == line.points.count, let start = known.first, let end = known.max(), end > start {
            var latest = start
            let isOrdered = zip(known, known.dropFirst()).allSatisfy { $0 <= $1 }
            if !isOrdered { notes.add("times that go back are replaced by that of the point before") }
            return .known(
                known.map { time in
                    latest = max(latest, time)
                    return latest - start
                })
        }
        if speed == nil, !known.isEmpty {
            notes.add("times are left out: not every point of the line has one, or all are the same")
        }
        return speed.map { .metresPerSecond($0) } ?? .pointsPerSecond(Self.usualPace)
    }

    // MARK: Simplifying

    /// Returns the first and the last sample, and those between which all others are nearly on straight segments.
    ///
    /// The segment with the largest error is divided at its furthest sample, until no error exceeds the tolerance.
    private static func simplified(_ samples: [FollowedPath.Sample]) -> [Int] {
        var ways = [Way(0, samples.count - 1, samples)]
        while ways.count + 1 < TourKeyframe.most,
            let widest = ways.indices.max(by: { ways[$0].error < ways[$1].error }), ways[widest].error > tolerance
        {
            let way = ways[widest]
            ways[widest] = Way(way.start, way.furthest, samples)
            ways.append(Way(way.furthest, way.end, samples))
        }
        return [0] + ways.map(\.end).sorted()
    }

    /// A straight segment between two samples, and the sample between them that is furthest from it.
    private struct Way {
        let start, end: Int
        private(set) var furthest: Int
        private(set) var error = 0.0

        init(_ start: Int, _ end: Int, _ samples: [FollowedPath.Sample]) {
            (self.start, self.end, furthest) = (start, end, start)
            let (a, b) = (samples[start], samples[end])
            // At one time, the camera can only jump.
            guard end > start + 1, b.timeMs > a.timeMs else { return }
            for index in (start + 1)..<end {
                let sample = samples[index]
                let share = (sample.timeMs - a.timeMs) / (b.timeMs - a.timeMs)
                let found = sample.distance(fromBetween: a, b, share)
                if found > error { (error, furthest) = (found, index) }
            }
        }
    }
}

/// A line in points of the screen, smoothed, with times.
struct FollowedPath {
    enum Times {
        case known([Double])
        case metresPerSecond(Double)
        case pointsPerSecond(Double)
    }

    /// Where the camera is at a time.
    struct Sample {
        var timeMs: Double
        /// Points of the screen east and north of the line's beginning.
        var x, y: Double
        /// Degrees clockwise from north, including whole turns.
        var bearing: Double
        /// How many points of the screen the edge of the view moves when the camera turns by a degree.
        var pointsPerDegree: Double

        func isNear(_ other: Sample) -> Bool { Elementary.hypot(x - other.x, y - other.y) < 0.5 }

        /// Returns how far the sample is from its place on a straight segment between two others, in screen points.
        func distance(fromBetween a: Sample, _ b: Sample, _ share: Double) -> Double {
            let (x, y) = (x - (a.x + (b.x - a.x) * share), y - (a.y + (b.y - a.y) * share))
            let turn = (bearing - (a.bearing + (b.bearing - a.bearing) * share)) * pointsPerDegree
            return Elementary.hypot(Elementary.hypot(x, y), turn)
        }
    }

    /// The line's points; a point at the same place as the one before is a stop.
    private var x: [Double] = []
    private var y: [Double] = []
    /// The distance of each point along the line.
    private var along: [Double] = [0]
    private var timesMs: [Double] = [0]
    /// The integral of the positions along the line up to each point; a smoothed position is a difference of two.
    private var sums: [(x: Double, y: Double)] = [(0, 0)]
    /// The first point; the others are relative to it, because sums of small numbers are exact.
    private let origin: MercatorPoint
    private let scale: Double

    /// How far to each side the line is smoothed, in points of the screen.
    private static let smoothing = 16.0

    /// The length in points of the screen.
    var length: Double { along[along.count - 1] }

    init(_ line: FollowedLine, zoom: Double, times: Times) {
        scale = 256 * Elementary.exp2(zoom) / (2 * .pi)
        let places = line.points.map(\.place.normalized)
        origin = places.first.map { MercatorPoint($0) } ?? MercatorPoint(x: 0, y: 0)
        (x, y) = ([0], [0])
        for index in places.indices.dropFirst() {
            let (last, place) = (places[index - 1], places[index])
            let (lastX, lastY) = (x[index - 1], y[index - 1])
            // East or west, whichever is shorter.
            let ahead = wrap180(place.longitude - last.longitude) * (.pi / 180) * scale
            x.append(lastX + ahead)
            y.append((MercatorPoint(place).y - origin.y) * scale)
            let distance = Elementary.hypot(ahead, y[index] - lastY)
            along.append(length + distance)
            let sum = sums[index - 1]
            sums.append((sum.x + (lastX + x[index]) / 2 * distance, sum.y + (lastY + y[index]) / 2 * distance))
            switch times {
            case .known(let known): timesMs.append(known[index])
            case .pointsPerSecond(let pace): timesMs.append(timesMs[index - 1] + distance / pace * 1000)
            case .metresPerSecond(let speed):
                let metres = distance * EarthView.metresPerPoint(at: place, zoom: zoom)
                timesMs.append(timesMs[index - 1] + metres / speed * 1000)
            }
        }
    }

    func coordinate(_ sample: Sample) -> LatLng {
        MercatorPoint(x: origin.x + sample.x / scale, y: origin.y + sample.y / scale).coordinate.normalized
    }

    /// Returns samples of the camera's path: at each of the line's points, and at steps between those of different times.
    ///
    /// - Parameter look: how far ahead and back the bearing looks, in points.
    func samples(step: Double, look: Double) -> [Sample] {
        var samples: [Sample] = []
        func add(_ distance: Double, _ timeMs: Double) {
            let (x, y) = smoothed(distance)
            let (from, to) = (point(at: max(distance - look, 0)), point(at: min(distance + look, length)))
            let last = samples.last?.bearing ?? 0
            let (east, north) = (to.x - from.x, to.y - from.y)
            let isClear = Elementary.hypot(east, north) > look / 16
            let bearing = isClear ? last + wrap180(Elementary.atan2(y: east, x: north) - last) : last
            samples.append(
                Sample(timeMs: timeMs, x: x, y: y, bearing: bearing, pointsPerDegree: look * (.pi / 180)))
        }
        add(0, 0)
        for index in 1..<along.count {
            let (start, end) = (along[index - 1], along[index])
            let count = timesMs[index] > timesMs[index - 1] ? max(Int(((end - start) / step).rounded(.up)), 1) : 1
            for number in 1...count {
                let share = Double(number) / Double(count)
                let time = timesMs[index - 1] + (timesMs[index] - timesMs[index - 1]) * share
                add(start + (end - start) * share, time)
            }
        }
        return samples
    }

    /// Returns the mean of the line around a place on it, over less and less of the line towards its ends.
    private func smoothed(_ distance: Double) -> (x: Double, y: Double) {
        let around = min(Self.smoothing, distance, length - distance)
        guard around > 1e-3 else {
            let point = point(at: distance)
            return (point.x, point.y)
        }
        let (from, to) = (point(at: distance - around).sum, point(at: distance + around).sum)
        return ((to.x - from.x) / (2 * around), (to.y - from.y) / (2 * around))
    }

    /// Returns the point at a distance along the line, and the integral of the positions up to it.
    private func point(at distance: Double) -> (x: Double, y: Double, sum: (x: Double, y: Double)) {
        let index = min(max(along.partitioningIndex { $0 > distance } - 1, 0), along.count - 2)
        let (startX, startY, whole) = (x[index], y[index], along[index + 1] - along[index])
        let share = whole > 0 ? min(max((distance - along[index]) / whole, 0), 1) : 0
        let (x, y) = (startX + (x[index + 1] - startX) * share, startY + (y[index + 1] - startY) * share)
        let length = whole * share
        let sum = (sums[index].x + (startX + x) / 2 * length, sums[index].y + (startY + y) / 2 * length)
        return (x, y, sum)
    }
}
