// Properties of every camera, checked on thousands of random cameras.

import Foundation
import TestSupport
import Testing

@testable import MapCamera

extension Seeded {
    mutating func position() -> CameraPosition {
        CameraPosition(
            target: LatLng(latitude: number(-84...84), longitude: number(-180...179.999)), zoom: number(2...21),
            bearing: number(0...359.999), viewingAngle: number(0...65))
    }

    mutating func viewport() -> Viewport {
        let (width, height) = (number(100...2000), number(100...2000))
        guard chance(0.3) else { return Viewport(width: width, height: height) }
        let padding = EdgeInsets(
            top: number(0...height / 4), left: number(0...width / 4), bottom: number(0...height / 4),
            right: number(0...width / 4))
        return Viewport(width: width, height: height, padding: padding)
    }

    mutating func camera() -> Camera { Camera(position: position(), viewport: viewport()) }

    mutating func point(in viewport: Viewport) -> ScreenPoint {
        ScreenPoint(x: number(0...viewport.width), y: number(0...viewport.height))
    }

    mutating func bounds() -> CoordinateBounds {
        let (south, north) = (number(-85...85), number(-85...85))
        let southWest = LatLng(latitude: min(south, north), longitude: number(-180...180))
        let northEast = LatLng(latitude: max(south, north), longitude: number(-180...180))
        guard let bounds = CoordinateBounds(southWest: southWest, northEast: northEast) else {
            preconditionFailure("the south is south of the north")
        }
        return bounds
    }

    /// Returns a zoom range anywhere within the limits.
    mutating func zoomRange() -> ZoomRange {
        let (a, b) = (number(2...21), number(2...21))
        guard let range = ZoomRange(min: min(a, b), max: max(a, b)) else {
            preconditionFailure("the lesser is not above the greater")
        }
        return range
    }

    /// Returns one of the easings, none of which leaves [0, 1].
    mutating func easing() -> Easing { [.default, .linear, .easeIn, .easeOut, .easeInOut][integer(0...4)] }

    mutating func update(of camera: Camera) -> CameraUpdate {
        let focus = point(in: camera.viewport)
        switch integer(0...12) {
        case 0: return .zoomIn
        case 1: return .zoomOut
        case 2: return .zoomTo(number(-5...30))
        case 3: return .zoomBy(number(-5...5), focus: chance(0.5) ? focus : nil)
        case 4: return .setTarget(position().target, zoom: chance(0.5) ? number(0...25) : nil)
        case 5: return .setCamera(position())
        case 6: return .scrollBy(x: number(-500...500), y: number(-500...500))
        case 7: return .fitBounds(bounds(), insets: EdgeInsets(all: number(0...100)))
        case 8: return .setBearing(number(-1000...1000))
        case 9: return .setViewingAngle(number(-50...100))
        case 10: return .pan(from: focus, to: point(in: camera.viewport))
        case 11: return .rotateBy(number(-400...400), focus: chance(0.5) ? focus : nil)
        default: return .tiltBy(number(-60...60))
        }
    }
}

/// Returns the distance of two screen points.
private func distance(_ a: ScreenPoint?, _ b: ScreenPoint) -> Double {
    a.map { hypot($0.x - b.x, $0.y - b.y) } ?? .infinity
}

/// Whether a camera is within its constraints.
func isWithinConstraints(_ camera: Camera) -> Bool {
    let position = camera.position
    let range = camera.constraints.zoomRange
    let inBounds = camera.constraints.targetBounds.map { $0.clamp(position.target) == position.target } ?? true
    return (-85...85).contains(position.target.latitude) && position.target.longitude >= -180
        && position.target.longitude < 180 && (range.min...range.max).contains(position.zoom)
        && position.bearing >= 0 && position.bearing < 360 && position.viewingAngle >= 0
        && position.viewingAngle <= CameraConstraints.viewingAngleCeiling(atZoom: position.zoom) && inBounds
}

/// Returns how far from a point a camera shows a place, in points on the ground.
func distance(of place: MercatorPoint, from point: ScreenPoint, _ camera: Camera) -> Double {
    let now = camera.projection.place(under: point)
    return hypot((now.x - place.x).remainder(dividingBy: 2 * .pi), now.y - place.y) * camera.projection.scale
}

/// Returns the camera in every frame of a motion; expects each to be within the constraints.
func frames(_ motion: Motion, of camera: inout Camera, _ what: String = "") -> [Camera] {
    var (motion, frames, goesOn) = (motion, [Camera](), true)
    while goesOn {
        goesOn = motion.step(&camera)
        #expect(isWithinConstraints(camera), "\(what) was at \(camera.position)")
        frames.append(camera)
    }
    return frames
}

@Suite struct CameraPropertyTests {
    @Test func aPanDoesWhatItsPoseAsksFor() {
        var random = Seeded(31)
        for _ in 0..<2_000 {
            var camera = random.camera()
            if random.chance(0.3) { camera.setTargetBounds(random.bounds()) }
            var other = camera
            for _ in 0..<4 {
                let (from, to) = (random.point(in: camera.viewport), random.point(in: camera.viewport))
                camera.apply(.pan(from: from, to: to))
                other.settle(other.pose(for: .pan(from: from, to: to)))
                #expect(camera.position == other.position)
                #expect(camera.projection.target == other.projection.target)
            }
        }
    }

    private static let seeds = UInt64(1)...3000

    @Test func unprojectedPointsProjectBack() throws {
        for (seed, var random) in Seeded.each(Self.seeds) {
            let camera = random.camera()
            let point = random.point(in: camera.viewport)
            guard let place = camera.projection.coordinate(for: point), abs(place.latitude) < 89 else { continue }
            // More than half a world away, the short way round is a different one.
            let east = abs(wrap180(place.longitude - camera.position.target.longitude))
            guard camera.position.zoom > 4, east < 170 else { continue }
            #expect(distance(camera.projection.point(for: place), point) < 1e-4, "seed \(seed)")
        }
    }

    @Test func thePlaceUnderTheFingerStaysThere() throws {
        var checked = 0
        for (seed, var random) in Seeded.each(Self.seeds) {
            var camera = random.camera()
            var point = random.point(in: camera.viewport)
            let place = camera.projection.place(under: point)
            switch random.integer(0...2) {
            case 0: camera.apply(.zoomBy(random.number(-3...3), focus: point))
            case 1: camera.apply(.rotateBy(random.number(-200...200), focus: point))
            default:
                let to = random.point(in: camera.viewport)
                camera.apply(.pan(from: point, to: to))
                point = to
            }
            guard abs(camera.position.target.latitude) < 85 else { continue }
            // A point near the horizon shows ground that spans many points per point.
            let error = distance(of: place, from: point, camera)
            #expect(error < 1e-5, "seed \(seed): off by \(error) points")
            checked += 1
        }
        #expect(checked > 2000)
    }

    @Test func everyUpdateEndsWithinTheConstraints() throws {
        for (seed, var random) in Seeded.each(Self.seeds) {
            var camera = random.camera()
            for _ in 0..<20 {
                if random.chance(0.1) { camera.setTargetBounds(random.chance(0.3) ? nil : random.bounds()) }
                if random.chance(0.1) { camera.setZoomRange(random.zoomRange()) }
                if random.chance(0.1) { camera.viewport = random.viewport() }
                let update = random.update(of: camera)
                camera.apply(update)
                #expect(isWithinConstraints(camera), "seed \(seed): \(update) led to \(camera.position)")
            }
        }
    }

    @Test func constrainingTwiceIsConstrainingOnce() throws {
        for (seed, var random) in Seeded.each(Self.seeds) {
            var camera = random.camera()
            camera.setTargetBounds(random.bounds())
            camera.apply(random.update(of: camera))
            let once = camera.position
            camera.settle(camera.current)
            #expect(camera.position == once, "seed \(seed)")
        }
    }

    @Test func aPinchAndItsReverseAreNothing() throws {
        for (seed, var random) in Seeded.each(Self.seeds) {
            var camera = random.camera()
            camera.apply(.setViewingAngle(0))
            let before = camera.position
            let amount = random.number(-2...2)
            guard ZoomRange.limits.contains(before.zoom + amount) else { continue }
            let focus = random.point(in: camera.viewport)
            camera.apply(.zoomBy(amount, focus: focus))
            guard abs(camera.position.target.latitude) < 85 else { continue }
            camera.apply(.zoomBy(-amount, focus: focus))
            let scale = camera.projection.scale
            let moved = hypot(
                wrap180(camera.position.target.longitude - before.target.longitude) * .pi / 180,
                MercatorPoint(camera.position.target).y - MercatorPoint(before.target).y)
            #expect(moved * scale < 1e-6 && abs(camera.position.zoom - before.zoom) < 1e-12, "seed \(seed)")
        }
    }

    @Test func aPinchBeyondALimitDoesNotDrift() throws {
        for (seed, var random) in Seeded.each(Self.seeds) {
            var camera = random.camera()
            camera.apply(.zoomTo(21))
            let before = camera.position
            camera.apply(.zoomBy(random.number(0...3), focus: random.point(in: camera.viewport)))
            let printedAlike =
                abs(camera.position.target.latitude - before.target.latitude) < 1e-11
                && abs(wrap180(camera.position.target.longitude - before.target.longitude)) < 1e-11
            #expect(printedAlike && camera.position.zoom == 21, "seed \(seed)")
        }
    }

    @Test func skippingToATimeTakesTheCameraAndTheMotionWhereItsFramesDo() {
        var random = Seeded(41)
        var (kinds, frames) = (Set<Int>(), 0)
        while kinds.count < 3 || frames < 20_000 {
            let (camera, kind) = (random.camera(), random.integer(0...2))
            let motion: Motion? =
                switch kind {
                case 0:
                    CameraAnimation(
                        .setCamera(random.position()), of: camera, duration: random.number(1...3000), easing: .easeIn
                    ).map { Motion($0, at: 0) }
                case 1:
                    Glide(Momentum(zoom: random.number(-5...5), bearing: random.number(-500...500)), of: camera)
                        .map { Motion($0, at: 0) }
                default:
                    Tour(
                        (0...2).map { _ in Tour.Stop(random.position(), .smooth(duration: 500), wait: 400) }, of: camera
                    )
                    .map { Motion($0, at: 0) }
                }
            guard var stepped = motion else { continue }
            var (skipped, slow, quick) = (stepped, camera, camera)
            let time = random.number(0...stepped.duration * 1.2)
            while stepped.nextFrame < min(time, stepped.duration), stepped.step(&slow) { frames += 1 }
            skipped.skip(to: time, &quick)
            #expect(
                quick.position == slow.position && skipped.nextFrame == stepped.nextFrame,
                "to \(time) of \(stepped.duration) ms")
            kinds.insert(kind)
        }
    }
}
