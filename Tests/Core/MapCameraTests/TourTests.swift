// Flights and tours on the way: exact ends, constraints, the antimeridian.

import Foundation
import TestSupport
import Testing

@testable import MapCamera

@Suite struct TourTests {
    @Test func aFlightGoesOutAndEndsExactly() throws {
        var random = Seeded(5)
        for _ in 0..<200 {
            var camera = random.camera()
            let goal = random.camera().position
            var moved = camera
            moved.apply(.setCamera(goal))
            guard let animation = CameraAnimation(.setCamera(goal), of: camera, flight: Flight()) else { continue }
            var motion = Motion(animation, at: 0)
            while motion.step(&camera) { #expect(isWithinConstraints(camera)) }
            #expect(camera.position == moved.position)
        }
    }

    @Test func aTourPassesEachStopAndEndsExactlyAtTheLast() throws {
        var random = Seeded(6)
        for _ in 0..<50 {
            var camera = random.camera()
            let stops = (0..<9).map { _ in Tour.Stop(random.camera().position, .smooth(duration: 500)) }
            let tour = try #require(Tour(stops, of: camera))
            for (index, leg) in tour.legs.enumerated() where index > 0 {
                var (before, at) = (camera, camera)
                before.settle(tour.pose(at: leg.start - 1e-9))
                at.settle(tour.pose(at: leg.start))
                #expect(abs(before.position.target.latitude - at.position.target.latitude) < 1e-6)
                #expect(abs(before.position.zoom - at.position.zoom) < 1e-6)
            }
            var motion = Motion(tour, at: 0)
            while motion.step(&camera) { #expect(isWithinConstraints(camera)) }
            #expect(camera.position == tour.legs.last?.stop)
        }
    }
}
