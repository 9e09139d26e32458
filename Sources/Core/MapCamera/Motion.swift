// Motions without input: an animation, a tour, or the glide that fingers leave behind. All are closed forms of the
// time since they began, sampled in frames 1000/60 ms apart; time comes in from outside.

/// A movement that goes on by itself: which frame is due when, and where it puts the camera.
public struct Motion: Codable, Sendable {
    /// Frames a second. The time of each is a multiple of 1000 / 60, so that no error adds up.
    private static let framesPerSecond = 60.0
    /// From one frame to the next, in milliseconds.
    package static let frameDuration = 1000 / framesPerSecond

    private enum Course: Codable, Sendable {
        case animation(CameraAnimation)
        case glide(Glide)
        case tour(Tour)
    }

    private let course: Course
    private let start: Double
    private var frame = 0

    /// An animation that begins at a time in milliseconds.
    public init(_ animation: CameraAnimation, at start: Double) {
        (course, self.start) = (.animation(animation), start)
    }

    /// A glide that begins at a time in milliseconds.
    public init(_ glide: Glide, at start: Double) {
        (course, self.start) = (.glide(glide), start)
    }

    /// A tour that begins at a time in milliseconds.
    public init(_ tour: Tour, at start: Double) {
        (course, self.start) = (.tour(tour), start)
    }

    /// How many bytes it takes beside its own.
    package var byteCount: Int { if case .tour(let tour) = course { tour.byteCount } else { 0 } }

    // MARK: Frames

    private func elapsed(at frame: Int) -> Double { Double(frame) * 1000 / Self.framesPerSecond }

    /// When the next frame is due, in the milliseconds of the start.
    public var nextFrame: Double { start + elapsed(at: frame + 1) }

    /// Takes the next frame. The first one at or past the end carries the exact end.
    ///
    /// - Returns: whether more frames follow.
    public mutating func step(_ camera: inout Camera) -> Bool {
        frame += 1
        let now = elapsed(at: frame)
        switch course {
        case .animation(let animation):
            camera.settle(animation.pose(at: now))
            return now < animation.duration
        case .glide(let glide):
            let before = camera.position
            camera.settle(glide.pose(from: elapsed(at: frame - 1), to: now, of: camera))
            return now < glide.duration && camera.position != before
        case .tour(let tour):
            camera.settle(tour.pose(at: now))
            // While it waits there are no frames.
            if let end = tour.endOfWait(at: now) { frame = max(frame, lastFrame(before: end)) }
            return now < tour.duration
        }
    }

    /// Takes the last frame before a time in milliseconds at once, but never the end. Only in a glide do frames depend on those
    /// before them.
    package mutating func skip(to time: Double, _ camera: inout Camera) {
        let end = min(time - start, duration)
        while elapsed(at: frame + 1) < end {
            if case .glide = course {} else { frame = lastFrame(before: end) - 1 }
            var (next, moved) = (self, camera)
            guard next.step(&moved) else { return }
            (self, camera) = (next, moved)
        }
    }

    /// How long it takes, in milliseconds.
    package var duration: Double {
        switch course {
        case .animation(let animation): animation.duration
        case .glide(let glide): glide.duration
        case .tour(let tour): tour.duration
        }
    }

    /// The last frame that comes before a time, in milliseconds since the start.
    private func lastFrame(before time: Double) -> Int {
        var frame = Int((time * Self.framesPerSecond / 1000).rounded(.up))
        while elapsed(at: frame) >= time { frame -= 1 }
        return frame
    }
}

/// An animated camera update: all four attributes at once, linear in the eased time; or a flight.
public struct CameraAnimation: Codable, Sendable {
    /// The default duration of an animation, in milliseconds. (Core Animation: 0.25 seconds.)
    public static let usualDuration = 250.0

    /// Milliseconds.
    public let duration: Double
    private let easing: Easing
    private let start: Projection
    private let end: CameraPosition
    private let path: MercatorPoint
    private let rotation: Double
    private let anchor: Anchor?
    /// How zoom and target go, if not straight.
    private let flight: FlightPath?

    /// An animation from where the camera is to where the update would put it at once; `nil` if that is the same.
    ///
    /// Longitude and bearing take the shorter arc, eastwards and clockwise where both are 180 degrees. A `zoomBy` with a focus
    /// keeps the place under it in every frame; any other update moves the target on a straight line of the Mercator plane.
    public init?(_ update: CameraUpdate, of camera: Camera, duration: Double, easing: Easing) {
        var moved = camera
        moved.apply(update)
        guard moved.position != camera.position else { return nil }
        let anchor: Anchor? = if case .zoomBy(_, let focus?) = update { camera.fixed(focus) } else { nil }
        self.init(from: camera, to: moved, duration: duration, easing: easing, anchor: anchor)
    }

    /// A flight from where the camera is to where the update would put it at once; `nil` if that is the same.
    ///
    /// The target stays on the line that an animation takes; how far it is there, and the zoom, are those of the flight. Bearing
    /// and viewing angle are linear in the eased time. The focus of a `zoomBy` only decides where the flight ends.
    ///
    /// - Parameters:
    ///   - update: what decides where it ends.
    ///   - camera: the camera at the start.
    ///   - flight: how far out it goes, and how fast.
    ///   - duration: milliseconds; `nil` is as long as the flight's speed asks for.
    ///   - easing: the pace along the path.
    public init?(
        _ update: CameraUpdate, of camera: Camera, flight: Flight, duration: Double? = nil, easing: Easing = .default
    ) {
        var moved = camera
        moved.apply(update)
        guard moved.position != camera.position else { return nil }
        self.init(from: camera, to: moved, flight: flight, duration: duration, easing: easing)
    }

    /// An animation between two cameras that differ in their position alone.
    ///
    /// - Parameter turns: full turns of the bearing beside the shorter arc.
    init(
        from first: Camera, to last: Camera, duration: Double, easing: Easing, turns: Int = 0, anchor: Anchor? = nil
    ) {
        (self.duration, self.easing, self.anchor, flight) = (duration, easing, anchor, nil)
        (start, end) = (first.projection, last.position)
        (path, rotation) = Self.way(from: first, to: last, turns: turns)
    }

    /// A flight between two cameras that differ in their position alone.
    init(
        from first: Camera, to last: Camera, flight: Flight, duration: Double?, easing: Easing, turns: Int = 0
    ) {
        (self.easing, anchor) = (easing, nil)
        (start, end) = (first.projection, last.position)
        (path, rotation) = Self.way(from: first, to: last, turns: turns)
        let ends = FlightPath.Ends(
            distance: Elementary.hypot(path.x, path.y) * start.scale,
            span: max(start.viewport.width, start.viewport.height), zooms: end.zoom - start.view.zoom)
        self.flight = FlightPath(ends, curve: flight.curve)
        self.duration = flight.duration(
            duration, along: self.flight?.screenfuls(curve: flight.curve) ?? ends.screenfuls(curve: flight.curve))
    }

    /// The vector of the plane between two targets, and how far the bearing turns.
    private static func way(from first: Camera, to last: Camera, turns: Int) -> (MercatorPoint, Double) {
        let (from, to) = (first.position, last.position)
        let east = shortestArc(from: from.target.longitude, to: to.target.longitude)
        let path = MercatorPoint(x: east * (.pi / 180), y: last.projection.target.y - first.projection.target.y)
        return (path, shortestArc(from: from.bearing, to: to.bearing) + 360 * Double(turns))
    }

    func pose(at time: Double) -> Pose {
        let endView = View(zoom: end.zoom, bearing: end.bearing, viewingAngle: end.viewingAngle)
        guard time < duration else { return Pose(view: endView, anchor: anchor ?? .target(end.target)) }
        let share = easing.progress(at: time / duration)
        let way = flight?.advance(share) ?? (zooms: share * (end.zoom - start.view.zoom), ground: share)
        let view = View(
            zoom: start.view.zoom + way.zooms,
            bearing: start.view.bearing + share * rotation,
            viewingAngle: start.view.viewingAngle + share * (end.viewingAngle - start.view.viewingAngle))
        let target = MercatorPoint(x: start.target.x + way.ground * path.x, y: start.target.y + way.ground * path.y)
        return Pose(view: view, anchor: anchor ?? .target(target.coordinate))
    }
}

extension CameraPosition {
    /// The position at a share of the time, from 0 to 1, in which a linear animation goes from here to another one.
    package func toward(_ other: CameraPosition, _ share: Double) -> CameraPosition {
        var camera = Camera(position: self)
        let animation = CameraAnimation(from: camera, to: Camera(position: other), duration: 1, easing: .linear)
        camera.settle(animation.pose(at: share))
        return camera.position
    }
}
