// The camera: a position, a viewport and constraints.
// Invariant: the position never violates a constraint. Every change goes through `settle`, or through `moveTarget` if
// only the target changes; both accept only what `CameraConstraints.constrain` returns.

/// A map camera as a pure value.
public struct Camera: Sendable {
    /// Where the camera looks; never violates a constraint.
    public private(set) var position: CameraPosition
    /// The camera's limits; changed by ``setZoomRange(_:)`` and ``setTargetBounds(_:)``.
    public private(set) var constraints: CameraConstraints
    /// The projection of the current position.
    public private(set) var projection: Projection

    /// Creates a camera at a position, brought within the constraints.
    public init(
        position: CameraPosition = .initial, viewport: Viewport = .standard,
        constraints: CameraConstraints = CameraConstraints()
    ) {
        self.constraints = constraints
        self.position = .initial
        projection = Projection(.initial, viewport: viewport)
        settle(current)
        apply(.setCamera(position))
    }

    /// Recreates a camera from its parts.
    init(_ position: CameraPosition, _ constraints: CameraConstraints, _ projection: Projection) {
        (self.position, self.constraints, self.projection) = (position, constraints, projection)
    }

    /// The size and padding of the screen. Changing it does not move the camera.
    public var viewport: Viewport {
        get { projection.viewport }
        set { projection = Projection(projection.view, target: projection.target, viewport: newValue) }
    }

    /// Sets the zoom range and moves the camera inside at once.
    public mutating func setZoomRange(_ range: ZoomRange) {
        constraints.zoomRange = range
        settle(current)
    }

    /// Sets or removes the target bounds and moves the camera inside at once.
    public mutating func setTargetBounds(_ bounds: CoordinateBounds?) {
        constraints.targetBounds = bounds
        settle(current)
    }

    /// Moves the camera as far as its constraints allow.
    public mutating func apply(_ update: CameraUpdate) {
        if case .pan(let from, let to) = update {
            // Nearly every update is a pan. It does not change the view, which already satisfies the constraints.
            moveTarget(to: grip(from: from, to: to))
        } else {
            settle(pose(for: update))
        }
    }

    // MARK: Changes

    /// Applies a pose within the constraints: first the view, then the target that its anchor asks for.
    mutating func settle(_ pose: Pose) {
        let view = constraints.constrain(pose.view)
        // A projection is large, and most poses change only the target.
        if view == projection.view {
            moveTarget(to: pose.anchor)
        } else {
            let seen = Projection(view, target: projection.target, viewport: viewport)
            let goal = goal(of: pose.anchor, in: seen)
            guard goal.isFinite, (view.zoom + view.bearing + view.viewingAngle).isFinite else { return }
            projection = seen
            aim(at: goal)
        }
    }

    /// Moves the target to where an anchor asks, within the constraints; the view stays. Its callees are inlined to
    /// avoid copies.
    private mutating func moveTarget(to anchor: Anchor) {
        let goal =
            switch anchor {
            case .hold: allowed(position.target)
            case .target(let coordinate): allowed(coordinate)
            case .place(let place, let point): allowed(projection.target(showing: place, at: point))
            }
        if goal.isFinite { aim(at: goal) }
    }

    private mutating func aim(at goal: Goal) {
        if let place = goal.place {
            projection.target = place
        } else if goal.target != position.target {
            projection.target = MercatorPoint(goal.target)
        }
        let view = projection.view
        position = CameraPosition(
            target: goal.target, zoom: view.zoom, bearing: view.bearing, viewingAngle: view.viewingAngle)
    }

    /// A target within the constraints.
    private struct Goal {
        var target: LatLng
        /// The same target on the plane, if it was computed there: converting it back would lose the last digits.
        var place: MercatorPoint?

        // A safeguard: no input is known to produce a NaN or an infinity. The camera would ignore it.
        var isFinite: Bool { (target.latitude + target.longitude).isFinite }
    }

    /// Returns the target that an anchor asks for when the view changes to that of another projection.
    private func goal(of anchor: Anchor, in seen: Projection) -> Goal {
        switch anchor {
        case .hold(let held):
            let point = projection.lowered(held)
            return allowed(seen.target(showing: projection.place(under: point), at: point))
        case .target(let coordinate):
            return allowed(coordinate)
        case .place(let place, let point):
            return allowed(seen.target(showing: place, at: point))
        }
    }

    @inline(__always)
    private func allowed(_ target: LatLng) -> Goal { Goal(target: constraints.constrain(target: target)) }

    @inline(__always)
    private func allowed(_ place: MercatorPoint) -> Goal {
        let wanted = place.coordinate
        let target = constraints.constrain(target: wanted)
        return Goal(target: target, place: target == wanted ? place : nil)
    }

    // MARK: Updates

    /// The camera's current pose.
    var current: Pose { Pose(view: projection.view, anchor: .target(position.target)) }

    /// Returns the pose that an update asks for, relative to the current one.
    func pose(for update: CameraUpdate) -> Pose {
        var pose = current
        switch update {
        case .zoomIn:
            pose.view.zoom += 1
        case .zoomOut:
            pose.view.zoom -= 1
        case .zoomTo(let zoom):
            pose.view.zoom = zoom
        case .zoomBy(let amount, let focus):
            pose.view.zoom += amount
            pose.anchor = focus.map { hold($0) } ?? pose.anchor
        case .setTarget(let target, let zoom):
            pose.view.zoom = zoom ?? pose.view.zoom
            pose.anchor = .target(target)
        case .setCamera(let position):
            pose = Pose(view: position.view, anchor: .target(position.target))
        case .scrollBy(let x, let y):
            let from = projection.center + ScreenPoint(x: x, y: y)
            pose.anchor = .place(projection.place(under: from), at: projection.center)
        case .fitBounds(let bounds, let insets):
            pose = fit(bounds, insets: insets).pose
        case .setBearing(let bearing):
            pose.view.bearing = bearing
        case .setViewingAngle(let angle):
            pose.view.viewingAngle = angle
        case .pan(let from, let to):
            pose.anchor = grip(from: from, to: to)
        case .rotateBy(let degrees, let focus):
            pose.view.bearing += degrees
            pose.anchor = focus.map { hold($0) } ?? pose.anchor
        case .tiltBy(let degrees):
            pose.view.viewingAngle += degrees
        }
        return pose
    }

    /// Anchors the place under one point to another point.
    @inline(__always)
    private func grip(from: ScreenPoint, to: ScreenPoint) -> Anchor { .place(projection.place(under: from), at: to) }

    /// Keeps the place under a focus where it is; a focus outside the viewport is moved to its edge.
    private func hold(_ focus: ScreenPoint) -> Anchor { .hold(viewport.clamp(focus)) }

    /// Keeps the place under a focus where it is now, however the view changes; clamps the focus to the viewport.
    func fixed(_ focus: ScreenPoint) -> Anchor {
        let point = projection.lowered(viewport.clamp(focus))
        return .place(projection.place(under: point), at: point)
    }

    // MARK: Fitting bounds

    /// Returns the position `fit-bounds` would give, and whether the bounds fit. (Google: `cameraForBounds:insets:`.)
    ///
    /// - Returns: no position if padding and insets leave nothing of the viewport; `fits` is also false if the lowest
    ///   zoom is too high.
    public func position(fitting bounds: CoordinateBounds, insets: EdgeInsets) -> (
        position: CameraPosition?, fits: Bool
    ) {
        let (pose, fits) = fit(bounds, insets: insets)
        guard let fits else { return (nil, false) }
        var camera = self
        camera.settle(pose)
        return (camera.position, fits)
    }

    /// Returns the pose that shows the bounds inside the insets; `fits` is `nil` if nothing of the viewport is left.
    private func fit(_ bounds: CoordinateBounds, insets: EdgeInsets) -> (pose: Pose, fits: Bool?) {
        let edges = viewport.padding + insets
        let width = viewport.width - edges.left - edges.right
        let height = viewport.height - edges.top - edges.bottom
        let southWest = MercatorPoint(bounds.southWest)
        let northEast = MercatorPoint(bounds.northEast)
        let (spanX, spanY) = (bounds.width * (.pi / 180), northEast.y - southWest.y)
        let middle = MercatorPoint(x: southWest.x + spanX / 2, y: (southWest.y + northEast.y) / 2)

        let isEmpty = !(width > 0 && height > 0)
        // A zero span fits at any zoom.
        let pointsPerRadian = min(spanX > 0 ? width / spanX : .infinity, spanY > 0 ? height / spanY : .infinity)
        let largest = isEmpty ? -.infinity : Elementary.log2(pointsPerRadian * 2 * .pi / 256)
        let zoom = constraints.zoomRange.clamp(largest)
        let flat = Projection(
            View(zoom: zoom, bearing: 0, viewingAngle: 0), target: projection.target, viewport: viewport)
        let target = flat.target(showing: middle, at: viewport.center(insetBy: insets))
        let pose = Pose(view: flat.view, anchor: .target(target.coordinate))
        // An exact fit counts as one, although the logarithm is rounded.
        return (pose, isEmpty ? nil : largest >= zoom - 1e-12)
    }
}

/// A requested view, and what it is anchored to.
struct Pose {
    var view: View
    var anchor: Anchor
}

/// What stays fixed while a view changes.
enum Anchor: Codable {
    /// The target becomes this place.
    case target(LatLng)
    /// This place moves under a point of the screen.
    case place(MercatorPoint, at: ScreenPoint)
    /// The place under a point of the screen stays there; if the view does not change, nothing does.
    case hold(ScreenPoint)
}
