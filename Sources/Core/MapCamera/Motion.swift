// Motions without input: an animation, or the glide that fingers leave behind. Both are closed forms of the
// time since they began, sampled in frames 1000/60 ms apart; time comes in from outside.

/// A movement that goes on by itself: which frame is due when, and where it puts the camera.
public struct Motion: Codable, Sendable {
    /// Frames a second. The time of each is a multiple of 1000 / 60, so that no error adds up.
    private static let framesPerSecond = 60.0

    private enum Course: Codable, Sendable {
        case animation(CameraAnimation)
        case glide(Glide)
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
        }
    }
}

/// An animated camera update: all four attributes at once, linear in the eased time.
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

    /// An animation from where the camera is to where the update would put it at once; `nil` if that is the same.
    ///
    /// Longitude and bearing take the shorter arc, eastwards and clockwise where both are 180 degrees. A `zoomBy` with a focus
    /// keeps the place under it in every frame; any other update moves the target on a straight line of the Mercator plane.
    public init?(_ update: CameraUpdate, of camera: Camera, duration: Double, easing: Easing) {
        var moved = camera
        moved.apply(update)
        guard moved.position != camera.position else { return nil }
        self.duration = duration
        self.easing = easing
        start = camera.projection
        end = moved.position
        let east = shortestArc(from: camera.position.target.longitude, to: end.target.longitude)
        path = MercatorPoint(x: east * (.pi / 180), y: moved.projection.target.y - start.target.y)
        rotation = shortestArc(from: camera.position.bearing, to: end.bearing)
        if case .zoomBy(_, let focus?) = update { anchor = camera.fixed(focus) } else { anchor = nil }
    }

    func pose(at time: Double) -> Pose {
        let endView = View(zoom: end.zoom, bearing: end.bearing, viewingAngle: end.viewingAngle)
        guard time < duration else { return Pose(view: endView, anchor: anchor ?? .target(end.target)) }
        let share = easing.progress(at: time / duration)
        let view = View(
            zoom: start.view.zoom + share * (end.zoom - start.view.zoom),
            bearing: start.view.bearing + share * rotation,
            viewingAngle: start.view.viewingAngle + share * (end.viewingAngle - start.view.viewingAngle))
        let target = MercatorPoint(x: start.target.x + share * path.x, y: start.target.y + share * path.y)
        return Pose(view: view, anchor: anchor ?? .target(target.coordinate))
    }
}
