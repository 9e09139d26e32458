// Flights and tours on their way: exact ends, constraints, smooth speeds, monotone zooms; and paths of zero length.

import Foundation
import TestSupport
import Testing

@testable import MapCamera

extension Pose {
    /// The requested target.
    fileprivate var target: LatLng? { if case .target(let target) = anchor { target } else { nil } }
}

/// Returns the values of a pose that change over time: the target as a vector, which never wraps, then the view.
private func values(_ pose: Pose) throws -> [Double] {
    let place = GlobeVector(try #require(pose.target))
    return [place.x, place.y, place.z, pose.view.zoom, pose.view.bearing, pose.view.viewingAngle]
}

/// Returns the angle between two places, in degrees.
private func angle(_ a: LatLng, _ b: LatLng) -> Double { GlobeVector(a).way(to: GlobeVector(b)).angle }

/// Returns the change of each value per millisecond, just before or just after a time.
private func speeds(at time: Double, _ step: Double, _ pose: (Double) -> Pose) throws -> [Double] {
    zip(try values(pose(time + step)), try values(pose(time))).map { ($0 - $1) / step }
}

extension Seeded {
    fileprivate mutating func smoothStops(_ count: Int) -> [Tour.Stop] {
        (0..<count).map { _ in
            Tour.Stop(position(), .smooth(duration: number(300...2000)), turns: chance(0.2) ? integer(-2...2) : 0)
        }
    }

    /// Returns stops of all kinds, some without a duration, some with a wait.
    fileprivate mutating func stops(_ count: Int) -> [Tour.Stop] {
        (0..<count).map { _ in
            let duration = chance(0.2) ? 0 : number(1...900)
            let path: Tour.Stop.Path =
                switch integer(0...3) {
                case 0: .straight(duration: duration, easing())
                case 1: .flight(Flight(maxDurationMs: 3000), duration: chance(0.5) ? duration : nil, easing())
                default: .smooth(duration: duration)
                }
            return Tour.Stop(position(), path, turns: integer(-1...1), wait: chance(0.3) ? number(0...500) : 0)
        }
    }
}

@Suite struct TourTests {
    @Test func smoothWayBetweenOppositePlacesGoesEastAndNoFartherThanItsEnd() throws {
        let camera = Camera(position: Self.at(0, 0))
        let tour = try #require(Tour([Tour.Stop(Self.at(0, 180), .smooth(duration: 1000))], of: camera))
        var last = 0.0
        for time in stride(from: 10.0, to: 1000, by: 10) {
            let target = try #require(tour.pose(at: time).target)
            let longitude = target.longitude < 0 ? target.longitude + 360 : target.longitude
            #expect(abs(target.latitude) < 1e-9 && longitude > last && longitude < 180, "\(target) at \(time) ms")
            last = longitude
        }
    }

    private static let paris = CameraPosition(
        target: LatLng(latitude: 48.85, longitude: 2.35), zoom: 11, bearing: 350, viewingAngle: 10)
    private static let camera = Camera(position: paris, viewport: Viewport(width: 390, height: 844))

    private static func at(
        _ latitude: Double, _ longitude: Double, zoom: Double = 8, bearing: Double = 0
    ) -> CameraPosition {
        CameraPosition(
            target: LatLng(latitude: latitude, longitude: longitude), zoom: zoom, bearing: bearing, viewingAngle: 0)
    }

    @Test(arguments: [("start", -1.0), ("start", 5e10), ("arrival", 5e10), ("arrival", -1), ("end", 5e10), ("end", 1)])
    func aTourWithATimeThatNoneHasIsNotDecoded(member: String, time: Double) throws {
        let tour = try #require(Tour([Tour.Stop(Self.at(1, 2), .smooth(duration: 1000))], of: Self.camera))
        let data = try JSONEncoder().encode(tour)
        #expect(try JSONDecoder().decode(Tour.self, from: data).duration == 1000)
        var legs = try #require(JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        legs[0][member] = time
        let changed = try JSONSerialization.data(withJSONObject: legs)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Tour.self, from: changed) }
    }

    // MARK: Flights

    @Test func aFlightStaysWithinTheConstraintsAndEndsExactly() throws {
        var random = Seeded(5)
        for _ in 0..<200 {
            var camera = random.camera()
            if random.chance(0.3) { camera.setTargetBounds(random.bounds()) }
            let goal = random.position()
            var moved = camera
            moved.apply(.setCamera(goal))
            let flight = Flight(curve: random.number(Flight.curves), speed: random.number(0.5...3), maxDurationMs: 2000)
            guard
                let animation = CameraAnimation(.setCamera(goal), of: camera, flight: flight, easing: random.easing())
            else { continue }
            let frames = frames(Motion(animation, at: 0), of: &camera)
            #expect(camera.position == moved.position && frames.count >= Int(animation.duration * 60 / 1000))
        }
    }

    @Test func aFlightHasNoJumpOfPlaceOrSpeed() throws {
        var random = Seeded(7)
        for _ in 0..<100 {
            let camera = random.camera()
            let animation = try #require(
                CameraAnimation(
                    .setCamera(random.position()), of: camera, flight: Flight(curve: random.number(0.5...3)),
                    duration: 4000, easing: .linear))
            for _ in 0..<20 {
                let time = random.number(1...3999)
                let before = try speeds(at: time, -1e-3, animation.pose)
                let behind = try speeds(at: time, 1e-3, animation.pose)
                for (a, b) in zip(before, behind) { #expect(abs(a - b) < 1e-5, "\(a) and \(b) at \(time)") }
            }
            let start = try values(animation.pose(at: 0))
            #expect(zip(start, try values(animation.pose(at: 1e-6))).allSatisfy { abs($0 - $1) < 1e-6 })
            let end = try values(animation.pose(at: 4000))
            // The bearing arrives from the other side of north.
            for (index, (a, b)) in zip(try values(animation.pose(at: 4000 - 1e-6)), end).enumerated() {
                #expect(abs(index == 4 ? wrap180(a - b) : a - b) < 1e-6)
            }
        }
    }

    @Test func aFlightGoesOutOnceAndInOnce() throws {
        var random = Seeded(8)
        for _ in 0..<100 {
            let animation = try #require(
                CameraAnimation(.setCamera(random.position()), of: random.camera(), flight: Flight(), duration: 1000))
            let zooms = stride(from: 0.0, through: 999, by: 3).map { animation.pose(at: $0).view.zoom }
            let steps = zip(zooms, zooms.dropFirst()).map { $1 - $0 }
            let turn = steps.firstIndex { $0 > 1e-9 } ?? steps.count
            #expect(steps[turn...].allSatisfy { $0 > -1e-9 })
        }
    }

    @Test func aFlightOverTheAntimeridianTakesTheShorterWay() throws {
        var camera = Camera(position: Self.at(10, 170), viewport: Self.camera.viewport)
        let animation = try #require(CameraAnimation(.setCamera(Self.at(-10, -170)), of: camera, flight: Flight()))
        let frames = frames(Motion(animation, at: 0), of: &camera)
        #expect(frames.allSatisfy { abs($0.position.target.longitude) >= 170 })
        #expect(camera.position == Self.at(-10, -170))
    }

    @Test func aFlightThatOnlyZoomsIsLinearAndTakesTheTimeOfItsLevels() throws {
        let animation = try #require(
            CameraAnimation(.zoomTo(14), of: Self.camera, flight: Flight(curve: 2, speed: 3), easing: .linear))
        let duration: Double = 3 * log(2.0) / 2 * 1000 / 3
        #expect(abs(animation.duration - duration) < 1e-9)
        let middle = animation.pose(at: animation.duration / 2)
        #expect(abs(middle.view.zoom - 12.5) < 1e-12)
        let target = try #require(middle.target)
        #expect(angle(target, Self.paris.target) < 1e-12)
    }

    @Test func aFlightThatOnlyTurnsTakesTheUsualTimeAndItsMostIsItsMost() throws {
        let turn = CameraUpdate.setBearing(90)
        let animation = try #require(CameraAnimation(turn, of: Self.camera, flight: Flight(), easing: .linear))
        #expect(animation.duration == CameraAnimation.usualDuration)
        #expect(abs(animation.pose(at: 125).view.bearing - 400) < 1e-12 && animation.pose(at: 125).view.zoom == 11)
        let short = try #require(CameraAnimation(turn, of: Self.camera, flight: Flight(maxDurationMs: 10)))
        #expect(short.duration == 10)
        let far = CameraUpdate.setTarget(LatLng(latitude: -33, longitude: 151), zoom: 20)
        let slow = try #require(CameraAnimation(far, of: Self.camera, flight: Flight(speed: 1e-300)))
        #expect(slow.duration == 3_600_000)
    }

    @Test func aFlightToWhereTheCameraIsIsNone() {
        #expect(CameraAnimation(.setCamera(Self.paris), of: Self.camera, flight: Flight()) == nil)
    }

    // MARK: Tours

    @Test func aTourIsAtEachStopAtItsTimeAndEndsExactlyAtTheLast() throws {
        var random = Seeded(6)
        for _ in 0..<100 {
            var camera = random.camera()
            if random.chance(0.3) { camera.setTargetBounds(random.bounds()) }
            let stops = random.stops(9)
            let tour = try #require(Tour(stops, of: camera))
            #expect(tour.legs.count == stops.count)
            for (leg, stop) in zip(tour.legs, stops) {
                var wanted = camera
                wanted.apply(.setCamera(stop.position))
                #expect(leg.stop == wanted.position && leg.end == leg.arrival + stop.wait)
                // A leg with a duration is near its stop just before arrival, and exactly there while it waits.
                if leg.arrival > leg.start {
                    let pose = tour.pose(at: leg.arrival - 1e-7)
                    let target = try #require(pose.target)
                    #expect(angle(target, leg.stop.target) < 1e-4 && abs(pose.view.zoom - leg.stop.zoom) < 1e-4)
                    #expect(abs(wrap180(pose.view.bearing - leg.stop.bearing)) < 1e-3)
                }
                if leg.end > leg.arrival {
                    let pose = tour.pose(at: leg.arrival)
                    #expect(pose.target == leg.stop.target && pose.view.zoom == leg.stop.zoom)
                }
            }
            _ = frames(Motion(tour, at: 0), of: &camera)
            #expect(camera.position == tour.legs.last?.stop)
        }
    }

    @Test func aSmoothRunHasNoJumpOfSpeedAtItsKeyframesAndBeginsAndEndsAtRest() throws {
        var (random, moving) = (Seeded(9), 0)
        for _ in 0..<100 {
            let tour = try #require(Tour(random.smoothStops(9), of: random.camera()))
            for leg in tour.legs.dropFirst() {
                let before = try speeds(at: leg.start, -1e-4, tour.pose)
                let behind = try speeds(at: leg.start, 1e-4, tour.pose)
                for (index, (a, b)) in zip(before, behind).enumerated() {
                    // On each leg a bearing is relative to the keyframe's own.
                    if index == 4, abs(a - b) > 1 { continue }
                    #expect(abs(a - b) < 1e-4, "value \(index): \(a) and \(b)")
                    if abs(a) > 1e-3 { moving += 1 }
                }
            }
            #expect(try speeds(at: 0, 1e-4, tour.pose).allSatisfy { abs($0) < 1e-4 })
            let last = tour.duration - 1e-3
            #expect(try speeds(at: last, -1e-4, tour.pose).allSatisfy { abs($0) < 1e-4 })
        }
        #expect(moving > 200)
    }

    @Test func aSmoothRunHasNoJumpOfPlaceOnTheWay() throws {
        var random = Seeded(10)
        for _ in 0..<100 {
            let tour = try #require(Tour(random.smoothStops(7), of: random.camera()))
            var before = try #require(tour.pose(at: 0).target)
            for time in stride(from: 0.5, to: tour.duration, by: 0.5) {
                let target = try #require(tour.pose(at: time).target)
                let step = angle(before, target)
                #expect(step < 3, "\(step) degrees at \(time)")
                before = target
            }
        }
    }

    @Test func zoomAndAngleOfASmoothRunStayBetweenTheirNeighboursAndNeverTurnBackBetweenThem() throws {
        var random = Seeded(11)
        for _ in 0..<100 {
            let camera = random.camera()
            let tour = try #require(Tour(random.smoothStops(9), of: camera))
            var from = camera.position
            for leg in tour.legs {
                let times = (0...50).map { leg.start + (leg.arrival - leg.start) * Double($0) / 50.0001 }
                let views = times.map { tour.pose(at: $0).view }
                for (way, whole) in [
                    (views.map(\.zoom), leg.stop.zoom - from.zoom),
                    (views.map(\.viewingAngle), leg.stop.viewingAngle - from.viewingAngle),
                ] {
                    #expect(zip(way, way.dropFirst()).allSatisfy { ($1 - $0) * whole >= -1e-9 })
                }
                from = leg.stop
            }
        }
    }

    @Test func aSmoothRunOverTheAntimeridianTakesTheShorterWay() throws {
        var camera = Camera(position: Self.at(10, 160), viewport: Self.camera.viewport)
        let places = [Self.at(5, 175), Self.at(-5, -175), Self.at(-10, -160)]
        let tour = try #require(Tour(places.map { Tour.Stop($0, .smooth(duration: 400)) }, of: camera))
        let frames = frames(Motion(tour, at: 0), of: &camera)
        #expect(frames.allSatisfy { abs($0.position.target.longitude) > 159 } && camera.position == places[2])
    }

    @Test func aSmoothRunOverAPoleStaysAtTheParallelThatIsTheLimit() throws {
        for pole in [1.0, -1] {
            var camera = Camera(position: Self.at(84 * pole, 20), viewport: Self.camera.viewport)
            let (there, back) = (Self.at(84 * pole, -160), Self.at(80 * pole, 100))
            let tour = try #require(Tour([there, back].map { Tour.Stop($0, .smooth(duration: 600)) }, of: camera))
            let frames = frames(Motion(tour, at: 0), of: &camera)
            #expect(frames.contains { $0.position.target.latitude == 85 * pole } && camera.position == back)
        }
    }

    @Test func aSmoothRunBetweenOppositePlacesIsSomewhereAndEndsExactly() throws {
        for places in [
            [Self.at(0, 180 - 10)], [Self.at(-30, 170)], [Self.at(-30 + 1e-10, 170 - 1e-10), Self.at(30, -10)],
        ] {
            var camera = Camera(
                position: Self.at(places[0].target.latitude == 0 ? 0 : 30, -10), viewport: Self.camera.viewport)
            let tour = try #require(Tour(places.map { Tour.Stop($0, .smooth(duration: 600)) }, of: camera))
            let frames = frames(Motion(tour, at: 0), of: &camera)
            #expect(frames.allSatisfy { $0.position.target.latitude.isFinite } && camera.position == places.last)
        }
    }

    @Test func aTourOfOneKeyframeWithoutAWayStaysAndTurnsOnlyAsItIsAsked() throws {
        var camera = Self.camera
        let turned = try #require(Tour([Tour.Stop(Self.paris, .smooth(duration: 500), turns: 1)], of: camera))
        #expect(abs(turned.pose(at: 250).view.bearing - (350 + 180)) < 1e-9)
        let frames = frames(Motion(turned, at: 0), of: &camera)
        #expect(frames.count == 30)
        #expect(frames.map(\.position).allSatisfy { $0.target == Self.paris.target && $0.zoom == 11 })
        #expect(camera.position == Self.paris)
    }

    @Test func keyframesAtOnePlaceAreNoReasonForAJump() throws {
        var camera = Self.camera
        let (there, here) = (Self.at(40, 10), Self.paris)
        let places = [here, there, there, there, here, here]
        let tour = try #require(Tour(places.map { Tour.Stop($0, .smooth(duration: 300)) }, of: camera))
        for time in stride(from: 601.0, to: 1200, by: 7) {
            let target = try #require(tour.pose(at: time).target)
            #expect(angle(target, there.target) < 1e-9)
        }
        _ = frames(Motion(tour, at: 0), of: &camera)
        #expect(camera.position == here)
    }

    @Test func aTourInWhichNothingLastsIsAtItsEndInOneFrame() throws {
        var camera = Self.camera
        let end = Self.at(1, 2)
        let paths: [Tour.Stop.Path] = [
            .smooth(duration: 0), .straight(duration: 0, .linear), .flight(Flight(), duration: 0, .default),
        ]
        for path in paths {
            let tour = try #require(Tour([Tour.Stop(Self.at(60, 60), path), Tour.Stop(end, path)], of: camera))
            let frames = frames(Motion(tour, at: 0), of: &camera)
            #expect(tour.duration == 0 && frames.map(\.position) == [end])
            camera = Self.camera
        }
        #expect(Tour([], of: camera) == nil)
    }

    @Test func aWaitHasNoFramesAndTheTourGoesOnBehindIt() throws {
        var camera = Self.camera
        let (first, second) = (Self.at(1, 2), Self.at(3, 4))
        let stops = [
            Tour.Stop(first, .straight(duration: 100, .linear), wait: 10_000),
            Tour.Stop(second, .straight(duration: 100, .linear), wait: 50),
        ]
        var motion = Motion(try #require(Tour(stops, of: camera)), at: 7)
        for _ in 0..<6 {
            let goesOn = motion.step(&camera)
            #expect(goesOn)
        }
        #expect(camera.position == first && motion.nextFrame >= 7 + 10_100 && motion.nextFrame < 7 + 10_120)
        var count = 1
        while motion.step(&camera) { count += 1 }
        #expect(camera.position == second && count < 10)
    }
}
