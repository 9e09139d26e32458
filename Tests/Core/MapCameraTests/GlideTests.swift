// Motion after the fingers have lifted: flings of pans, inertia of pinches and rotations.

import Foundation
import TestSupport
import Testing

@testable import MapCamera

private func fling(_ velocity: ScreenPoint, of camera: Camera) -> Momentum {
    Momentum(focus: camera.viewport.center, pan: velocity)
}

private let somewhere = CameraPosition(target: LatLng(latitude: 0, longitude: 0), zoom: 10)

@Suite struct GlideTests {
    // MARK: Flings

    @Test func aFlingStopsAtFivePointsPerSecond() throws {
        var camera = Camera(position: somewhere)
        let glide = try #require(Glide(fling(ScreenPoint(x: -1000, y: 0), of: camera), of: camera))
        #expect(abs(glide.duration - log(5.0 / 1000) / log(0.998)) < 1e-9)
        _ = frames(Motion(glide, at: 0), of: &camera)
        // The integral of v from v0 to 5 points/s: (v0 - 5) / (1000 * -ln 0.998) points.
        let points = (1000 - 5) / (1000 * -log(0.998))
        #expect(abs(camera.position.target.longitude - points * 360 / (256 * 1024)) < 1e-9)
        #expect(Glide(fling(ScreenPoint(x: 49.9, y: 0), of: camera), of: camera) == nil)
    }

    @Test func aFlingLeavesWithTheFingersVelocityUnderTilt() throws {
        var random = Seeded(9)
        for _ in 0..<300 {
            let camera = random.camera()
            let focus = random.point(in: camera.viewport)
            let velocity = ScreenPoint(x: random.number(-2000...2000), y: random.number(-2000...2000))
            let step = 1e-6
            let ground = camera.projection.groundVelocity(at: focus, velocity: velocity)
            guard let before = camera.projection.ground(under: focus),
                let after = camera.projection.ground(
                    under: focus + ScreenPoint(x: velocity.x * step, y: velocity.y * step))
            else { continue }
            let scale = max(1, hypot(ground.u, ground.v))
            #expect(abs((after.u - before.u) / step - ground.u) / scale < 1e-3)
            #expect(abs((after.v - before.v) / step - ground.v) / scale < 1e-3)
        }
    }

    @Test func aFlingSlidesAlongABoundAndEndsInItsCorner() throws {
        var camera = Camera(position: somewhere)
        camera.setTargetBounds(
            CoordinateBounds(
                southWest: LatLng(latitude: -0.01, longitude: -1), northEast: LatLng(latitude: 0.01, longitude: 0.05)))
        let glide = try #require(Glide(fling(ScreenPoint(x: -900, y: 900), of: camera), of: camera))
        let longitudes = frames(Motion(glide, at: 0), of: &camera).map(\.position.target.longitude)
        #expect(camera.position.target == LatLng(latitude: 0.01, longitude: 0.05))
        #expect(zip(longitudes, longitudes.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(longitudes.count <= 60)
    }

    @Test func aFlingOverATinyViewportIsStillANumber() throws {
        for height in [1e-300, 1e-200, 1e-3] {
            var camera = Camera(viewport: Viewport(width: 390, height: height))
            let glide = try #require(Glide(fling(ScreenPoint(x: 0, y: 1000), of: camera), of: camera))
            _ = frames(Motion(glide, at: 0), of: &camera)
        }
    }

    // MARK: Inertia

    @Test func aPinchGoesOnForWhatItsSpeedHasLeft() throws {
        var camera = Camera(position: somewhere)
        let glide = try #require(Glide(Momentum(zoom: -4), of: camera))
        #expect(abs(glide.duration - log(0.05 / 4) / log(0.99)) < 1e-9)
        _ = frames(Motion(glide, at: 0), of: &camera)
        // The integral of v from v0 to 0.05 levels/s: (v0 - 0.05) / (1000 * -ln 0.99) levels.
        #expect(abs(camera.position.zoom - (10 - (4 - 0.05) / (1000 * -log(0.99)))) < 1e-9)
        #expect(Glide(Momentum(zoom: 0.49, bearing: -29.9), of: camera) == nil)
    }

    @Test func theSpeedOfAGlideIsBounded() throws {
        for (wild, bounded) in [
            (Momentum(zoom: 1e9), Momentum(zoom: 10)), (Momentum(bearing: -1e9), Momentum(bearing: -360)),
        ] {
            var (one, other) = (Camera(position: somewhere), Camera(position: somewhere))
            _ = frames(Motion(try #require(Glide(wild, of: one)), at: 0), of: &one)
            _ = frames(Motion(try #require(Glide(bounded, of: other)), at: 0), of: &other)
            #expect(abs(one.position.zoom - other.position.zoom) < 1e-9)
            #expect(abs(one.position.bearing - other.position.bearing) < 1e-9)
            #expect(one.position != somewhere)
        }
    }

    @Test func theAnchorOfAGlideStaysInEveryFrame() throws {
        var random = Seeded(12)
        var checked = 0
        for _ in 0..<300 {
            var camera = random.camera()
            let anchor = random.point(in: camera.viewport)
            let momentum = Momentum(anchor: anchor, zoom: random.number(-12...12), bearing: random.number(-500...500))
            guard let glide = Glide(momentum, of: camera) else { continue }
            let place = camera.projection.place(under: anchor)
            // Near the horizon an anchor is lowered by an amount that depends on the angle, which zooming out lowers.
            guard camera.projection.lowered(anchor) == anchor else { continue }
            for frame in frames(Motion(glide, at: 0), of: &camera) {
                guard abs(frame.position.target.latitude) < 85, frame.projection.lowered(anchor) == anchor else {
                    break
                }
                #expect(distance(of: place, from: anchor, frame) < 1e-5)
                checked += 1
            }
        }
        #expect(checked > 5000)
    }

    @Test func atALimitOfTheZoomNothingDriftsAndItEnds() throws {
        var camera = Camera(position: CameraPosition(target: LatLng(latitude: 48, longitude: 2), zoom: 21))
        let before = camera.position
        var motion = Motion(try #require(Glide(Momentum(anchor: ScreenPoint(x: 1, y: 2), zoom: 5), of: camera)), at: 0)
        let goesOn = motion.step(&camera)
        #expect(!goesOn && camera.position == before)
    }

    @Test func aPanGoesOnBesideZoomAndBearing() throws {
        var camera = Camera(position: somewhere)
        let anchor = ScreenPoint(x: 100, y: 200)
        var momentum = Momentum(focus: anchor, pan: ScreenPoint(x: 600, y: -300), anchor: anchor, zoom: 2, bearing: 90)
        var motion = Motion(try #require(Glide(momentum, of: camera)), at: 0)
        // The place under the fingers continues across the screen as in a fling, and rotates and scales about itself.
        let place = camera.projection.place(under: anchor).coordinate
        var last = anchor
        for _ in 0..<20 {
            _ = motion.step(&camera)
            let now = try #require(camera.projection.point(for: place))
            #expect(now.x > last.x && now.y < last.y)
            last = now
        }
        #expect(camera.position.zoom > 10.15 && camera.position.bearing > 8)
        // While zoom and bearing are at rest, it equals the fling.
        momentum.zoom = 0
        momentum.bearing = 0
        var (one, other) = (Camera(position: somewhere), Camera(position: somewhere))
        var withAnchor = Motion(try #require(Glide(momentum, of: one)), at: 0)
        var without = Motion(try #require(Glide(Momentum(focus: anchor, pan: momentum.pan), of: other)), at: 0)
        while withAnchor.step(&one) {
            _ = without.step(&other)
            #expect(one.position == other.position)
        }
    }
}
