// What fingers have set going when they left the screen: the fling of a pan, the inertia of a pinch and a rotation.
// Each value slows down by itself, v(t) = v0·r^t; a frame takes the difference of the closed form since the frame before,
// so that the camera slides along a limit and never jumps away from one.

/// How fast fingers moved the camera when they left.
public struct Momentum: Equatable, Codable, Sendable {
    /// Where a pan's finger left the screen.
    public var focus: ScreenPoint
    /// The pan's velocity on the screen, in points per second.
    public var pan: ScreenPoint
    /// The point about which zoom and bearing go on; `nil` is the target.
    public var anchor: ScreenPoint?
    /// Zoom levels per second.
    public var zoom: Double
    /// Degrees of bearing per second, clockwise.
    public var bearing: Double

    /// A momentum; what is left out is at rest.
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

    /// How long a camera goes on with it, in milliseconds; 0 if nothing is fast enough for that.
    public var duration: Double {
        let slowing = slowing
        return max(slowing.pan?.duration ?? 0, slowing.zoom?.duration ?? 0, slowing.bearing?.duration ?? 0)
    }

    /// How each part slows down; `nil` if it is too slow to go on.
    fileprivate var slowing: (pan: Slowing?, zoom: Slowing?, bearing: Slowing?) {
        (
            Slowing(.pan, from: Elementary.hypot(pan.x, pan.y)), Slowing(.zoom, from: abs(zoom)),
            Slowing(.bearing, from: abs(bearing))
        )
    }
}

/// How a camera goes on when fingers with a momentum have left.
public struct Glide: Codable, Sendable {
    /// Milliseconds until all has come to rest.
    public let duration: Double
    private let momentum: Momentum
    /// The velocity of the ground under the pan's finger, in points per second.
    private let ground: GroundOffset
    private let pan: Slowing?
    private let zoom: Slowing?
    private let bearing: Slowing?

    /// A glide from where the camera is; `nil` if nothing was fast enough for one.
    public init?(_ momentum: Momentum, of camera: Camera) {
        (pan, zoom, bearing) = momentum.slowing
        duration = momentum.duration
        guard duration > 0 else { return nil }
        let projection = camera.projection
        ground = projection.groundVelocity(at: projection.lowered(momentum.focus), velocity: momentum.pan)
        self.momentum = momentum
    }

    /// Where the camera is to be at one time, if it is where it was at another; in milliseconds since the start.
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

/// A speed that falls exponentially from what it was at the start to where it ends.
struct Slowing: Codable, Sendable {
    /// How something slows down, in units per second.
    struct Rate {
        /// The factor for each millisecond.
        let factor: Double
        /// Below this speed there is no glide.
        let least: Double
        /// At this speed it ends.
        let stop: Double
        /// A greater speed is taken for this one.
        let greatest: Double

        /// Points. (UIKit: `UIScrollView.DecelerationRate.normal` is 0.998 per millisecond.)
        static let pan = Rate(factor: 0.998, least: 50, stop: 5, greatest: .infinity)
        /// Zoom levels: two fingers 200 points apart whose distance grows by 70 points a second make half a level.
        /// (UIKit: `UIScrollView.DecelerationRate.fast` is 0.99 per millisecond.)
        static let zoom = Rate(factor: 0.99, least: 0.5, stop: 0.05, greatest: 10)
        /// Degrees. (MapLibre GL JS, too, limits the inertia of the bearing to 360 degrees per second.)
        static let bearing = Rate(factor: 0.99, least: 30, stop: 3, greatest: 360)
    }

    /// Milliseconds until the speed has fallen to where it ends.
    let duration: Double
    /// The logarithm of the factor for each millisecond, to the base 2.
    private let decay: Double
    /// The part of the speed that counts: less than 1 where it was above the greatest.
    private let share: Double

    /// `nil` if the speed, not negative, is too low.
    init?(_ rate: Rate, from speed: Double) {
        guard speed >= rate.least else { return nil }
        let bounded = min(speed, rate.greatest)
        share = bounded / speed
        decay = Elementary.log2(rate.factor)
        duration = Elementary.log2(rate.stop / bounded) / decay
    }

    /// How far a speed of 1 per second comes between two times, in milliseconds since the start.
    func distance(from: Double, to: Double) -> Double { (reach(at: to) - reach(at: from)) * share }

    /// The integral of factor^t from the start, in seconds.
    private func reach(at time: Double) -> Double {
        let naturalDecay = decay * 0.693147180559945309
        return (Elementary.exp2(decay * min(time, duration)) - 1) / (naturalDecay * 1000)
    }
}
