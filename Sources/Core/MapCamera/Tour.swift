// Tours: a camera's way through several stops, by animations, flights, or one smooth line through several.
// Invariant: the cost of a frame does not grow with the number of stops, except for the search for its leg.

/// A camera's way through several positions, starting where the camera is.
public struct Tour: Sendable {
    /// A stop of a tour.
    public struct Stop: Equatable, Sendable {
        /// How the camera reaches a stop. Times are in milliseconds.
        public enum Path: Equatable, Sendable {
            /// On a smooth line through this stop and its neighbours.
            case smooth(duration: Double)
            /// As an animation.
            case straight(duration: Double, Easing)
            /// As a flight; without a duration, its speed determines it.
            case flight(Flight, duration: Double?, Easing)
        }

        /// The position of the stop.
        public var position: CameraPosition
        /// How the camera reaches it.
        public var path: Path
        /// Full turns of the bearing in addition to the shorter arc, clockwise if positive.
        public var turns: Int
        /// How long the camera stays, in milliseconds.
        public var wait: Double

        /// Creates a stop; by default without turns or a wait.
        public init(_ position: CameraPosition, _ path: Path, turns: Int = 0, wait: Double = 0) {
            (self.position, self.path, self.turns, self.wait) = (position, path, turns, wait)
        }

        /// How long a smooth line takes to the stop; `nil` for other paths, or below a microsecond: a jump.
        fileprivate var smoothDuration: Double? {
            if case .smooth(let duration) = path, duration >= 0.001 { duration } else { nil }
        }
    }

    /// The way to a stop and the wait there.
    struct Leg: Codable, Sendable {
        enum Way: Codable, Sendable {
            case animation(CameraAnimation)
            case smooth(SmoothWay)
        }

        let way: Way
        let stop: CameraPosition
        /// When it starts, when the camera arrives, and when it leaves: milliseconds since the start of the tour.
        let start, arrival, end: Double

        fileprivate func pose(at time: Double) -> Pose {
            if time < arrival {
                switch way {
                case .animation(let animation): return animation.pose(at: time - start)
                case .smooth(let way): return way.pose(at: (time - start) / (arrival - start))
                }
            }
            return Pose(view: stop.view, anchor: .target(stop.target))
        }
    }

    let legs: [Leg]

    init(legs: [Leg]) { self.legs = legs }

    /// The duration in milliseconds, including waits.
    public var duration: Double { legs.last?.end ?? 0 }

    /// The number of bytes it uses outside of the struct.
    var byteCount: Int { legs.count * MemoryLayout<Leg>.stride }

    // MARK: Setup

    /// Creates a tour from the camera's position; `nil` without stops.
    ///
    /// Each position is first brought within the camera's constraints. Consecutive smooth stops without a wait share
    /// one line. With no duration, a smooth stop is reached at once.
    public init?(_ stops: [Stop], of camera: Camera) {
        guard !stops.isEmpty else { return nil }
        var (places, legs) = ([camera], [Leg]())
        legs.reserveCapacity(stops.count)
        func append(_ way: Leg.Way, _ duration: Double, _ index: Int) {
            let start = legs.last?.end ?? 0
            let (arrival, stop) = (start + duration, places[index + 1].position)
            legs.append(Leg(way: way, stop: stop, start: start, arrival: arrival, end: arrival + stops[index].wait))
        }
        for stop in stops {
            var place = places[places.count - 1]
            place.apply(.setCamera(stop.position))
            places.append(place)
        }
        var index = 0
        while index < stops.count {
            let (stop, from, to) = (stops[index], places[index], places[index + 1])
            switch stop.path {
            case .smooth where stop.smoothDuration != nil:
                let run = Self.run(in: stops, from: index)
                let ways = SmoothWay.ways(
                    through: places[index...run.upperBound].map(\.position),
                    durations: stops[run].compactMap(\.smoothDuration), turns: stops[run].map(\.turns))
                for (index, way) in zip(run, ways) { append(.smooth(way), stops[index].smoothDuration ?? 0, index) }
                index = run.upperBound
                continue
            case .smooth:
                append(.animation(CameraAnimation(from: from, to: to, duration: 0, easing: .linear)), 0, index)
            case .straight(let duration, let easing):
                let way = CameraAnimation(from: from, to: to, duration: duration, easing: easing, turns: stop.turns)
                append(.animation(way), duration, index)
            case .flight(let flight, let duration, let easing):
                let way = CameraAnimation(
                    from: from, to: to, flight: flight, duration: duration, easing: easing, turns: stop.turns)
                append(.animation(way), way.duration, index)
            }
            index += 1
        }
        self.legs = legs
    }

    /// Returns the stops on the same smooth line, starting with one.
    private static func run(in stops: [Stop], from first: Int) -> Range<Int> {
        var end = first + 1
        while end < stops.count, stops[end - 1].wait == 0, stops[end].smoothDuration != nil { end += 1 }
        return first..<end
    }

    // MARK: Poses

    /// Returns the pose at a time, in milliseconds since the start.
    func pose(at time: Double) -> Pose { leg(at: time).pose(at: time) }

    /// Returns the end of the wait that contains a time, in milliseconds since the start; `nil` if there is none.
    func endOfWait(at time: Double) -> Double? {
        let leg = leg(at: time)
        return leg.arrival <= time && time < leg.end ? leg.end : nil
    }

    /// Returns the last leg that has started.
    private func leg(at time: Double) -> Leg {
        legs[max(legs.partitioningIndex { $0.start > time } - 1, 0)]
    }
}
