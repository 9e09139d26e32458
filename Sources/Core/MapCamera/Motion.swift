// Motions without input: an animation, a tour, or the glide that fingers leave behind. All are closed forms of the time
// since the start, sampled in frames 1000/60 ms apart; the caller supplies the time.

/// A motion in progress: when the next frame is due, and where it puts the camera.
public struct Motion: Codable, Sendable {
    /// Frames per second. The time of each is a multiple of 1000 / 60, so errors do not accumulate.
    private static let framesPerSecond = 60.0
    /// The time between frames, in milliseconds.
    package static let frameDuration = 1000 / framesPerSecond

    private enum Course: Codable, Sendable {
        case animation(CameraAnimation)
        case glide(Glide)
        case tour(Tour)
    }

    private let course: Course
    private let start: Double
    private var frame = 0

    /// Creates a motion for an animation that starts at a time in milliseconds.
    public init(_ animation: CameraAnimation, at start: Double) {
        (course, self.start) = (.animation(animation), start)
    }

    /// Creates a motion for a glide that starts at a time in milliseconds.
    public init(_ glide: Glide, at start: Double) {
        (course, self.start) = (.glide(glide), start)
    }

    /// Creates a motion for a tour that starts at a time in milliseconds.
    public init(_ tour: Tour, at start: Double) {
        (course, self.start) = (.tour(tour), start)
    }

    /// The number of bytes it uses outside of the struct.
    package var byteCount: Int { if case .tour(let tour) = course { tour.byteCount } else { 0 } }

    // MARK: Frames

    private func elapsed(at frame: Int) -> Double { Double(frame) * 1000 / Self.framesPerSecond }

    /// When the next frame is due, in milliseconds on the clock of the start.
    public var nextFrame: Double { start + elapsed(at: frame + 1) }

    /// Applies the next frame. The first one at or past the end carries the exact end.
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
            // A wait has no frames.
            if let end = tour.endOfWait(at: now) { frame = max(frame, lastFrame(before: end)) }
            return now < tour.duration
        }
    }

    /// Jumps to the last frame before a time in milliseconds, but never to the end. Only a glide must step through all
    /// frames: each depends on the previous one.
    package mutating func skip(to time: Double, _ camera: inout Camera) {
        let end = min(time - start, duration)
        while elapsed(at: frame + 1) < end {
            if case .glide = course {} else { frame = lastFrame(before: end) - 1 }
            var (next, moved) = (self, camera)
            guard next.step(&moved) else { return }
            (self, camera) = (next, moved)
        }
    }

    /// The duration in milliseconds.
    package var duration: Double {
        switch course {
        case .animation(let animation): animation.duration
        case .glide(let glide): glide.duration
        case .tour(let tour): tour.duration
        }
    }

    /// Returns the last frame before a time, in milliseconds since the start.
    private func lastFrame(before time: Double) -> Int {
        var frame = Int((time * Self.framesPerSecond / 1000).rounded(.up))
        while elapsed(at: frame) >= time { frame -= 1 }
        return frame
    }
}

/// An animated camera update: all four attributes at once, linear in the eased time, or a flight.
public struct CameraAnimation: Codable, Sendable {
    /// The default duration of an animation, in milliseconds. (Core Animation: 0.25 seconds.)
    public static let usualDuration = 250.0

    /// The duration in milliseconds.
    public let duration: Double
    private let easing: Easing
    private let start: Projection
    private let end: CameraPosition
    private let path: MercatorPoint
    private let rotation: Double
    private let anchor: Anchor?
    /// The path of zoom and target; `nil` if straight.
    private let flight: FlightPath?

    /// Creates an animation to where the update would put the camera at once; `nil` if it is already there.
    ///
    /// Longitude and bearing take the shorter arc, eastwards and clockwise if it is 180 degrees. A `zoomBy` with a
    /// focus keeps the place under it in every frame; any other moves the target straight on the Mercator plane.
    public init?(_ update: CameraUpdate, of camera: Camera, duration: Double, easing: Easing) {
        var moved = camera
        moved.apply(update)
        guard moved.position != camera.position else { return nil }
        let anchor: Anchor? = if case .zoomBy(_, let focus?) = update { camera.fixed(focus) } else { nil }
        self.init(from: camera, to: moved, duration: duration, easing: easing, anchor: anchor)
    }

    /// Creates a flight to where the update would put the camera at once; `nil` if it is already there.
    ///
    /// The target follows the same line as in an animation; the flight determines its progress and the zoom. Bearing
    /// and viewing angle are linear in the eased time. The focus of a `zoomBy` only determines where the flight ends.
    ///
    /// - Parameters:
    ///   - update: the update that determines the end.
    ///   - camera: the camera at the start.
    ///   - flight: how far out it goes, and how fast.
    ///   - duration: milliseconds; `nil` to use the flight's speed.
    ///   - easing: the pace along the path.
    public init?(
        _ update: CameraUpdate, of camera: Camera, flight: Flight, duration: Double? = nil, easing: Easing = .default
    ) {
        var moved = camera
        moved.apply(update)
        guard moved.position != camera.position else { return nil }
        self.init(from: camera, to: moved, flight: flight, duration: duration, easing: easing)
    }

    /// Creates an animation or a flight between two cameras that differ only in position.
    ///
    /// - Parameters:
    ///   - flight: how far out it goes, and how fast; `nil` for an animation, which needs a duration.
    ///   - turns: full turns of the bearing in addition to the shorter arc.
    ///   - anchor: what an animation holds instead of moving the target.
    init(
        from first: Camera, to last: Camera, flight: Flight? = nil, duration: Double?, easing: Easing, turns: Int = 0,
        anchor: Anchor? = nil
    ) {
        (self.easing, self.anchor) = (easing, anchor)
        (start, end) = (first.projection, last.position)
        let (from, to) = (first.position, last.position)
        let east = shortestArc(from: from.target.longitude, to: to.target.longitude)
        path = MercatorPoint(x: east * (.pi / 180), y: last.projection.target.y - first.projection.target.y)
        rotation = shortestArc(from: from.bearing, to: to.bearing) + 360 * Double(turns)
        guard let flight else {
            (self.flight, self.duration) = (nil, duration ?? Self.usualDuration)
            return
        }
        let ends = FlightPath.Ends(
            distance: Elementary.hypot(path.x, path.y) * start.scale,
            span: max(start.viewport.width, start.viewport.height), zooms: end.zoom - start.view.zoom)
        self.flight = FlightPath(ends, curve: flight.curve)
        self.duration = flight.duration(
            duration, along: self.flight?.screenfuls(curve: flight.curve) ?? ends.screenfuls(curve: flight.curve))
    }

    func pose(at time: Double) -> Pose {
        guard time < duration else { return Pose(view: end.view, anchor: anchor ?? .target(end.target)) }
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
    /// Returns the position at a fraction, from 0 to 1, of a linear animation from here to another position.
    package func toward(_ other: CameraPosition, _ share: Double) -> CameraPosition {
        var camera = Camera(position: self)
        let animation = CameraAnimation(from: camera, to: Camera(position: other), duration: 1, easing: .linear)
        camera.settle(animation.pose(at: share))
        return camera.position
    }
}
