// The motion that fingers leave behind: the fling of a pan, the inertia of a pinch and a rotation. Each value slows
// down on its own, v(t) = v0·r^t; each frame adds the difference of the closed form since the previous one, so the
// camera slides along a limit and never jumps away from one.

/// The camera's velocity when the fingers left the screen.
public struct Momentum: Equatable, Codable, Sendable {
    /// The point where a pan's finger left the screen.
    public var focus: ScreenPoint
    /// The pan's velocity on the screen, in points per second.
    public var pan: ScreenPoint
    /// The point that zoom and bearing continue about; `nil` is the target.
    public var anchor: ScreenPoint?
    /// Zoom levels per second.
    public var zoom: Double
    /// Degrees of bearing per second, clockwise.
    public var bearing: Double

    /// Creates a momentum; omitted parts are at rest.
    public init(
        focus: ScreenPoint = ScreenPoint(x: 0, y: 0), pan: ScreenPoint = ScreenPoint(x: 0, y: 0),
        anchor: ScreenPoint? = nil, zoom: Double = 0, bearing: Double = 0
    ) {
        self.focus = focus
        self.pan = pan
        self.anchor = anchor
        self.zoom = zoom
        self.bearing = bearing
    }

    /// How long a camera keeps moving, in milliseconds; 0 if nothing is fast enough.
    public var duration: Double {
        let slowing = slowing
        return max(slowing.pan?.duration ?? 0, slowing.zoom?.duration ?? 0, slowing.bearing?.duration ?? 0)
    }

    /// How each part slows down; `nil` if it is too slow to continue.
    fileprivate var slowing: (pan: Slowing?, zoom: Slowing?, bearing: Slowing?) {
        (
            Slowing(.pan, from: Elementary.hypot(pan.x, pan.y)), Slowing(.zoom, from: abs(zoom)),
            Slowing(.bearing, from: abs(bearing))
        )
    }
}

/// The motion of a camera after fingers with a momentum have left the screen.
public struct Glide: Codable, Sendable {
    /// Milliseconds until all parts have come to rest.
    public let duration: Double
    private let momentum: Momentum
    /// The velocity of the ground under the pan's finger, in points per second.
    private let ground: GroundOffset
    private let pan: Slowing?
    private let zoom: Slowing?
    private let bearing: Slowing?

    /// Creates a glide from the camera's position; `nil` if nothing was fast enough.
    public init?(_ momentum: Momentum, of camera: Camera) {
        (pan, zoom, bearing) = momentum.slowing
        duration = momentum.duration
        guard duration > 0 else { return nil }
        let projection = camera.projection
        ground = projection.groundVelocity(at: projection.lowered(momentum.focus), velocity: momentum.pan)
        self.momentum = momentum
    }

    /// Returns the pose at `to` of a camera that is where it was at `from`; in milliseconds since the start.
    func pose(from: Double, to: Double, of camera: Camera) -> Pose {
        let projection = camera.projection
        var view = projection.view
        view.zoom += momentum.zoom * (zoom?.distance(from: from, to: to) ?? 0)
        view.bearing += momentum.bearing * (bearing?.distance(from: from, to: to) ?? 0)
        let distance = pan?.distance(from: from, to: to) ?? 0
        guard distance != 0 else {
            return Pose(view: view, anchor: momentum.anchor.map { .hold($0) } ?? .target(camera.position.target))
        }
        let velocity = projection.plane(ground)
        func shifted(_ place: MercatorPoint) -> MercatorPoint {
            MercatorPoint(x: place.x - velocity.x * distance, y: place.y - velocity.y * distance)
        }
        if let focus = momentum.anchor, view != projection.view {
            let anchor = projection.lowered(focus)
            return Pose(view: view, anchor: .place(shifted(projection.place(under: anchor)), at: anchor))
        }
        return Pose(view: view, anchor: .target(shifted(projection.target).coordinate))
    }
}

/// A speed that decays exponentially until it reaches its final value.
struct Slowing: Codable, Sendable {
    /// How something slows down, in units per second.
    struct Rate {
        /// The factor per millisecond.
        let factor: Double
        /// The lowest speed that starts a glide.
        let least: Double
        /// The speed at which the glide ends.
        let stop: Double
        /// The limit that greater speeds are clamped to.
        let greatest: Double

        /// Points. (UIKit: `UIScrollView.DecelerationRate.normal` is 0.998 per millisecond.)
        static let pan = Rate(factor: 0.998, least: 50, stop: 5, greatest: .infinity)
        /// Zoom levels: two fingers 200 points apart whose distance grows by 70 a second zoom by half a level a second.
        /// (UIKit: `UIScrollView.DecelerationRate.fast` is 0.99 per millisecond.)
        static let zoom = Rate(factor: 0.99, least: 0.5, stop: 0.05, greatest: 10)
        /// Degrees. (MapLibre GL JS also limits the inertia of the bearing to 360 degrees per second.)
        static let bearing = Rate(factor: 0.99, least: 30, stop: 3, greatest: 360)
    }

    /// Milliseconds until the speed reaches its final value.
    let duration: Double
    /// The base-2 logarithm of the factor per millisecond.
    private let decay: Double
    /// The fraction of the speed that counts: below 1 if it was above the greatest.
    private let share: Double

    /// Creates a decay from a non-negative speed; `nil` if that is too low.
    init?(_ rate: Rate, from speed: Double) {
        guard speed >= rate.least else { return nil }
        let bounded = min(speed, rate.greatest)
        share = bounded / speed
        decay = Elementary.log2(rate.factor)
        duration = Elementary.log2(rate.stop / bounded) / decay
    }

    /// Returns the distance covered from a speed of 1 per second between two times, in milliseconds since the start.
    func distance(from: Double, to: Double) -> Double { (reach(at: to) - reach(at: from)) * share }

    /// Returns the integral of factor^t from the start, in seconds.
    private func reach(at time: Double) -> Double {
        let naturalDecay = decay * 0.693147180559945309
        return (Elementary.exp2(decay * min(time, duration)) - 1) / (naturalDecay * 1000)
    }
}
