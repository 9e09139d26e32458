// How a camera goes through stops, one after the other: as animations, as flights, or on one smooth line through several.
// Invariant: what a frame costs does not grow with the stops, but for the search of the leg that it is on.

/// A camera's way through several positions, from where it is.
public struct Tour: Sendable {
    /// A position that the camera comes to.
    public struct Stop: Equatable, Sendable {
        /// How the camera comes to a stop. Times are in milliseconds.
        public enum Path: Equatable, Sendable {
            /// On a smooth line through this stop and its neighbours.
            case smooth(duration: Double)
            /// As an animation goes.
            case straight(duration: Double, Easing)
            /// As a flight goes; without a duration, in the time that its speed asks for.
            case flight(Flight, duration: Double?, Easing)
        }

        /// Where the camera comes to.
        public var position: CameraPosition
        /// How it comes there.
        public var path: Path
        /// Full turns of the bearing beside the shorter arc, clockwise where they are positive.
        public var turns: Int
        /// How long it stays, in milliseconds.
        public var wait: Double

        /// A stop; by default without turns or a wait.
        public init(_ position: CameraPosition, _ path: Path, turns: Int = 0, wait: Double = 0) {
            (self.position, self.path, self.turns, self.wait) = (position, path, turns, wait)
        }

        /// How long a smooth line takes to get here; `nil` if it gets here otherwise, or at once: in less than a microsecond.
        fileprivate var smoothDuration: Double? {
            if case .smooth(let duration) = path, duration >= 0.001 { duration } else { nil }
        }
    }

    /// The way to a stop, and the wait there.
    struct Leg: Codable, Sendable {
        enum Way: Codable, Sendable {
            case animation(CameraAnimation)
            case smooth(SmoothWay)
        }

        let way: Way
        let stop: CameraPosition
        /// When it begins, when the camera has come, and when it goes on: milliseconds since the start of the tour.
        let start, arrival, end: Double

        fileprivate func pose(at time: Double) -> Pose {
            if time < arrival {
                switch way {
                case .animation(let animation): return animation.pose(at: time - start)
                case .smooth(let way): return way.pose(at: (time - start) / (arrival - start))
                }
            }
            let view = View(zoom: stop.zoom, bearing: stop.bearing, viewingAngle: stop.viewingAngle)
            return Pose(view: view, anchor: .target(stop.target))
        }
    }

    let legs: [Leg]

    init(legs: [Leg]) { self.legs = legs }

    /// How many milliseconds it takes, waits included.
    public var duration: Double { legs.last?.end ?? 0 }

    /// How many bytes it takes beside its own.
    var byteCount: Int { legs.count * MemoryLayout<Leg>.stride }

    // MARK: Before the start

    /// A tour from where a camera is; `nil` without stops.
    ///
    /// Each position is brought within the camera's constraints first. Stops that follow each other on smooth lines without a
    /// wait are on one line. A smooth line of no duration is none: the camera is at that stop at once.
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

    /// The stops on the same smooth line as one.
    private static func run(in stops: [Stop], from first: Int) -> Range<Int> {
        var end = first + 1
        while end < stops.count, stops[end - 1].wait == 0, stops[end].smoothDuration != nil { end += 1 }
        return first..<end
    }

    // MARK: On the way

    /// Where the camera is to be, in milliseconds since the start.
    func pose(at time: Double) -> Pose { leg(at: time).pose(at: time) }

    /// When the wait is over in which a time falls, in milliseconds since the start; `nil` if that falls in none.
    func endOfWait(at time: Double) -> Double? {
        let leg = leg(at: time)
        return leg.arrival <= time && time < leg.end ? leg.end : nil
    }

    /// The last leg that has begun.
    private func leg(at time: Double) -> Leg {
        var (low, high) = (0, legs.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if legs[middle].start <= time { low = middle } else { high = middle }
        }
        return legs[low]
    }
}
