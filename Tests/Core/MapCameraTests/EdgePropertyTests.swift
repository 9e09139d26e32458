// Properties at the edges of the world, bounds, viewports and limits, checked on thousands of random cameras.

import Foundation
import TestSupport
import Testing

@testable import MapCamera

extension Seeded {
    /// Returns a viewport of any allowed size with any padding; most are far too small for their padding.
    fileprivate mutating func oddViewport() -> Viewport {
        func size(_ random: inout Seeded) -> Double { exp2(random.number(log2(0.001)...log2(100_000))) }
        func edge(_ random: inout Seeded) -> Double { random.chance(0.5) ? 0 : random.number(0...100_000) }
        let padding = EdgeInsets(top: edge(&self), left: edge(&self), bottom: edge(&self), right: edge(&self))
        return Viewport(width: size(&self), height: size(&self), padding: padding)
    }

    /// Returns a camera constrained by bounds and a zoom range.
    fileprivate mutating func heldCamera() -> Camera {
        var camera = camera()
        camera.setTargetBounds(bounds())
        camera.setZoomRange(zoomRange())
        return camera
    }
}

@Suite struct EdgePropertyTests {
    private static let seeds = UInt64(1)...2000

    @Test func everyFrameOfAnAnimationIsWithinTheConstraintsAndTheLastIsWhereTheUpdateLeads() {
        for (seed, var random) in Seeded.each(Self.seeds) {
            var camera = random.heldCamera()
            let update = random.update(of: camera)
            var moved = camera
            moved.apply(update)
            let animation = CameraAnimation(
                update, of: camera, duration: random.number(1...300), easing: random.easing())
            guard let animation else {
                #expect(moved.position == camera.position, "seed \(seed)")
                continue
            }
            _ = frames(Motion(animation, at: 0), of: &camera, "seed \(seed): \(update)")
            #expect(abs(camera.position.target.latitude - moved.position.target.latitude) < 1e-9, "seed \(seed)")
            #expect(
                abs(wrap180(camera.position.target.longitude - moved.position.target.longitude)) < 1e-9, "seed \(seed)")
            #expect(camera.position.zoom == moved.position.zoom, "seed \(seed)")
            #expect(camera.position.viewingAngle == moved.position.viewingAngle, "seed \(seed)")
        }
    }

    @Test func anAnimationNeverTurnsBackAndNeverGoesTheLongWay() {
        for (seed, var random) in Seeded.each(Self.seeds) {
            var camera = random.camera()
            let position = random.position()
            guard
                let animation = CameraAnimation(
                    .setCamera(position), of: camera, duration: 200, easing: random.easing())
            else { continue }
            let start = camera.position
            let positions = [start] + frames(Motion(animation, at: 0), of: &camera).map(\.position)
            let pairs = zip(positions, positions.dropFirst())
            let rotations = pairs.map { wrap180($1.bearing - $0.bearing) }
            let eastward = pairs.map { wrap180($1.target.longitude - $0.target.longitude) }
            for steps in [rotations, eastward] {
                let whole = steps.reduce(0, +)
                #expect(abs(whole) < 180 + 1e-9, "seed \(seed): \(whole)")
                #expect(steps.allSatisfy { $0 * whole >= -1e-9 }, "seed \(seed): \(steps)")
            }
        }
    }

    @Test func halfATurnFromAnywhereGoesClockwiseAndHalfTheWorldEast() throws {
        // Quarters of a degree, so that the half is exact.
        for start in stride(from: 0.0, to: 360, by: 0.25) {
            var camera = Camera(
                position: CameraPosition(
                    target: LatLng(latitude: 0, longitude: wrap180(start)), zoom: 5, bearing: start))
            let end = CameraPosition(
                target: LatLng(latitude: 0, longitude: wrap180(start + 180)), zoom: 5, bearing: wrap360(start + 180))
            let animation = CameraAnimation(.setCamera(end), of: camera, duration: 50, easing: .linear)
            var motion = Motion(try #require(animation), at: 0)
            let goesOn = motion.step(&camera)
            #expect(goesOn)
            #expect(abs(wrap180(camera.position.bearing - start) - 60) < 1e-9, "from \(start)")
            #expect(abs(wrap180(camera.position.target.longitude - start) - 60) < 1e-9, "from \(start)")
        }
    }

    @Test func aFlingAlongABoundMovesTheFreeAxisAsIfThereWereNone() {
        var slid = 0
        for (seed, var random) in Seeded.each(Self.seeds) {
            var free = random.camera()
            free.apply(.zoomTo(random.number(6...18)))
            let target = free.position.target
            let velocity = ScreenPoint(x: random.number(-3000...3000), y: random.number(-3000...3000))
            let momentum = Momentum(focus: random.point(in: free.viewport), pan: velocity)
            guard let fling = Glide(momentum, of: free) else { continue }
            var held = free
            held.setTargetBounds(
                CoordinateBounds(
                    southWest: LatLng(latitude: target.latitude - 1e-4, longitude: -180),
                    northEast: LatLng(latitude: target.latitude + 1e-4, longitude: 180)))
            var (freeMotion, heldMotion) = (Motion(fling, at: 0), Motion(fling, at: 0))
            var (freeGoesOn, heldGoesOn) = (true, true)
            var widest = 0.0
            while freeGoesOn || heldGoesOn {
                if freeGoesOn { freeGoesOn = freeMotion.step(&free) }
                if heldGoesOn { heldGoesOn = heldMotion.step(&held) }
                widest = max(widest, abs(wrap180(held.position.target.longitude - free.position.target.longitude)))
                if held.position.target.latitude != free.position.target.latitude { slid += 1 }
            }
            #expect(widest < 1e-9, "seed \(seed): \(widest) degrees apart")
            #expect(isWithinConstraints(held), "seed \(seed)")
        }
        #expect(slid > 1000)
    }

    @Test func boundsFitExactlyWhenTheirCornersAreInside() throws {
        var (inside, outside) = (0, 0)
        for (seed, var random) in Seeded.each(Self.seeds) {
            var camera = Camera(viewport: random.viewport())
            camera.setZoomRange(random.zoomRange())
            let bounds = random.bounds()
            let insets = EdgeInsets(
                top: random.number(0...20), left: random.number(0...20), bottom: random.number(0...20),
                right: random.number(0...20))
            let (position, fits) = camera.position(fitting: bounds, insets: insets)
            // Beyond half the world another copy of a corner is nearest; at the pole the camera may be held back.
            guard let position, bounds.width < 179, abs(position.target.latitude) < 85 else { continue }
            camera.apply(.fitBounds(bounds, insets: insets))
            #expect(camera.position == position)
            let edges = camera.viewport.padding + insets
            let southWest = try #require(camera.projection.point(for: bounds.southWest))
            let northEast = try #require(camera.projection.point(for: bounds.northEast))
            let margins = [
                southWest.x - edges.left, camera.viewport.width - edges.right - northEast.x,
                northEast.y - edges.top, camera.viewport.height - edges.bottom - southWest.y,
            ]
            #expect(
                abs(margins[0] - margins[1]) < 1e-4 && abs(margins[2] - margins[3]) < 1e-4, "seed \(seed): not centred")
            let least = try #require(margins.min())
            if fits { inside += 1 } else { outside += 1 }
            #expect(fits ? least > -1e-6 : least < 0, "seed \(seed): \(fits), \(margins)")
            if fits && position.zoom < camera.constraints.zoomRange.max {
                #expect(least < 1e-6, "seed \(seed): a greater zoom would fit")
            }
        }
        #expect(inside > 100 && outside > 100)
    }

    @Test func anyViewportWithAnyPaddingKeepsTheCameraWithinItsConstraints() throws {
        for (seed, var random) in Seeded.each(Self.seeds) {
            var camera = random.heldCamera()
            for _ in 0..<10 {
                let before = camera.position
                camera.viewport = random.oddViewport()
                #expect(camera.position == before, "seed \(seed)")
                let center = camera.viewport.center
                let shown = try #require(camera.projection.point(for: camera.position.target))
                let reach = abs(center.x) + abs(center.y) + 1
                #expect(hypot(shown.x - center.x, shown.y - center.y) < 1e-9 * reach, "seed \(seed)")
                let update = random.update(of: camera)
                camera.apply(update)
                #expect(isWithinConstraints(camera), "seed \(seed): \(update) led to \(camera.position)")
            }
        }
    }

    @Test func zoomingAboutAPointFarFromTheHorizonKeepsThePlaceThoughTheAngleFalls() {
        var fallen = 0
        for (seed, var random) in Seeded.each(Self.seeds) {
            var camera = random.camera()
            camera.apply(.zoomTo(random.number(12...18)))
            camera.apply(.setViewingAngle(65))
            let angle = camera.position.viewingAngle
            let point = ScreenPoint(
                x: random.number(0...camera.viewport.width),
                y: random.number(camera.viewport.center.y...camera.viewport.height))
            let place = camera.projection.place(under: point)
            camera.apply(.zoomBy(random.number(-6...0), focus: point))
            guard abs(camera.position.target.latitude) < 85 else { continue }
            if camera.position.viewingAngle < angle { fallen += 1 }
            #expect(distance(of: place, from: point, camera) < 1e-6, "seed \(seed)")
        }
        #expect(fallen > 500)
    }
}
