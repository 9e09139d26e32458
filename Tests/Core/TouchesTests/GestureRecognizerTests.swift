// Fingers that make all kinds of gestures, and how the map follows them.

import Foundation
import Gestures
import MapCamera
import TestSupport
import Testing

@testable import Touches

private func point(_ x: Double, _ y: Double) -> ScreenPoint { ScreenPoint(x: x, y: y) }

/// Fingers on a map: the recognizer, the tracker, the camera, and its motion after the fingers have lifted.
private final class Surface {
    var recognizer = GestureRecognizer()
    var tracker = GestureTracker()
    var camera: Camera
    var time = 0.0
    private var motion: Motion?
    private(set) var releases: [GestureTracker.Release] = []
    private(set) var reports: [GestureEvent] = []
    /// The camera's positions after each frame.
    private(set) var positions: [CameraPosition] = []

    init(viewingAngle: Double = 0, inertia: Bool = false) {
        var settings = GestureSettings()
        settings.inertia = inertia
        tracker.set(settings)
        camera = Camera(
            position: CameraPosition(
                target: LatLng(latitude: 10, longitude: 20), zoom: 12, viewingAngle: viewingAngle),
            viewport: Viewport(width: 1000, height: 800))
    }

    func put(_ fingers: [(Int, ScreenPoint)], after milliseconds: Double = 10, cancelled: Bool = false) {
        wait(milliseconds)
        recognizer.handle(
            TouchFrame(timeMs: time, touches: fingers.map { Touch(id: $0.0, position: $0.1) }, isCancelled: cancelled))
        for event in recognizer.events {
            let key = GestureKey(feed: 1, kind: event.kind)
            let update = tracker.handle(event, of: key, at: time, viewport: camera.viewport)
            if tracker.isActive { motion = nil }
            if let update { camera.apply(update) }
            reports.append(event)
        }
        if let release = tracker.takeRelease() {
            releases.append(release)
            switch release {
            case .glide(let momentum): motion = Glide(momentum, of: camera).map { Motion($0, at: time) }
            case .tap(let update):
                let duration = GestureTracker.tapDuration
                motion = CameraAnimation(update, of: camera, duration: duration, easing: .default)
                    .map { Motion($0, at: time) }
            }
        }
        positions.append(camera.position)
    }

    /// Advances time, during which a motion continues.
    func wait(_ milliseconds: Double) {
        time += milliseconds
        while let due = motion?.nextFrame, due <= time {
            if motion?.step(&camera) != true { motion = nil }
        }
    }

    /// Whether the camera moves by itself.
    var isMoving: Bool { motion != nil }

    /// Moves fingers along straight lines, in frames of 10 ms.
    func drag(_ fingers: [(Int, ScreenPoint, ScreenPoint)], frames: Int = 40) {
        for frame in 0...frames {
            let share = Double(frame) / Double(frames)
            put(
                fingers.map { id, start, end in
                    (id, point(start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share))
                })
        }
    }

    func place(_ point: ScreenPoint) -> LatLng? { camera.projection.coordinate(for: point) }

    func kinds(_ phase: GesturePhase) -> [GestureKind] { reports.filter { $0.phase == phase }.map(\.kind) }

    /// Returns the distance of a place from a point of the screen, in points.
    func distance(of place: LatLng?, from point: ScreenPoint) -> Double {
        guard let place, let now = camera.projection.point(for: place) else { return .infinity }
        return hypot(now.x - point.x, now.y - point.y)
    }
}

@Suite struct GestureRecognizerTests {
    private let surface = Surface()

    // MARK: Two fingers

    @Test func thePlacesUnderTwoFingersStayUnderThem() {
        var random = Seeded(21)
        for _ in 0..<300 {
            let surface = Surface()
            let middle = point(500, 400)
            let (radius, start) = (random.number(60...200), random.number(0...(2 * Double.pi)))
            func fingers(_ middle: ScreenPoint, _ radius: Double, _ angle: Double) -> [(Int, ScreenPoint)] {
                let arm = point(radius * cos(angle), radius * sin(angle))
                return [(1, middle - arm), (2, middle + arm)]
            }
            let landed = fingers(middle, radius, start)
            let places = landed.map { surface.place($0.1) }
            let end = point(random.number(300...700), random.number(250...550))
            let (grown, endAngle) = (radius * random.number(0.5...2), start + random.number(-2...2))
            var last = landed
            // They may lift anywhere on their path, even right after recognition.
            for frame in 0...random.integer(1...60) {
                let share = Double(frame) / 60
                last = fingers(
                    point(middle.x + (end.x - middle.x) * share, middle.y + (end.y - middle.y) * share),
                    radius + (grown - radius) * share, start + (endAngle - start) * share)
                surface.put(last)
            }
            // Movement before recognition is applied over time, or when they lift.
            if random.chance(0.3) {
                for _ in 0..<20 { surface.put(last) }
                for (place, finger) in zip(places, last) where surface.kinds(.began).contains(.pinch) {
                    #expect(surface.distance(of: place, from: finger.1) < 1e-6)
                }
            }
            if random.chance(0.5) { surface.put([last[1]]) }
            surface.put([])
            guard surface.kinds(.began).contains(.pinch) else { continue }
            for (place, finger) in zip(places, last) {
                #expect(surface.distance(of: place, from: finger.1) < 1e-6)
            }
        }
    }

    @Test func pinchRotateAndPanBeginTogetherAndNothingLeaps() {
        surface.drag([(1, point(400, 400), point(250, 420)), (2, point(600, 400), point(760, 380))], frames: 80)
        #expect(surface.kinds(.began) == [.pan, .pinch, .rotate])
        #expect(abs(surface.camera.position.zoom - 12 - log2(hypot(510, 40) / 200)) < 1e-9)
        let steps = zip(surface.positions, surface.positions.dropFirst()).map { $1.zoom - $0.zoom }
        let greatest = steps.max() ?? 0
        // The fingers' own fastest frame is 0.028 levels; catching up on earlier movement adds less than that again.
        #expect(greatest < 0.056)
        #expect(steps.allSatisfy { $0 >= 0 })
    }

    @Test func aQuickPinchIsWholeToo() {
        surface.drag([(1, point(450, 400), point(400, 400)), (2, point(550, 400), point(600, 400))], frames: 3)
        surface.put([])
        #expect(abs(surface.camera.position.zoom - 13) < 1e-9)
    }

    @Test(arguments: [-200.0, 200])
    func twoFingersUpOrDownSideBySideTilt(distance: Double) {
        let surface = Surface(viewingAngle: 20)
        surface.drag([
            (1, point(400, 400), point(405, 400 + distance)), (2, point(600, 420), point(590, 410 + distance)),
        ])
        surface.put([])
        #expect(surface.kinds(.began) == [.tilt])
        #expect(surface.kinds(.ended) == [.tilt])
        #expect(surface.camera.position.zoom == 12 && surface.camera.position.bearing == 0)
        #expect(distance > 0 ? surface.camera.position.viewingAngle == 0 : surface.camera.position.viewingAngle == 37.5)
    }

    @Test func oneAboveTheOtherTheyPan() {
        surface.drag([(1, point(400, 200), point(400, 400)), (2, point(410, 400), point(410, 600))])
        #expect(surface.kinds(.began) == [.pan, .pinch, .rotate])
        #expect(abs(surface.camera.position.zoom - 12) < 1e-9)
        #expect(surface.camera.position.target.latitude > 10)
    }

    @Test func theSecondFingerOfATiltMayFollowSoon() {
        for (grace, kinds) in [(50.0, [GestureKind.tilt]), (150, [.pan, .pinch, .rotate])] {
            let surface = Surface(viewingAngle: 20)
            surface.wait(5000)
            let (a, b) = (point(400, 400), point(600, 400))
            surface.put([(1, a), (2, b)])
            surface.put([(1, a - point(0, 34)), (2, b)])
            surface.put([(1, a - point(0, 40)), (2, b)], after: grace)
            for y in stride(from: 2.0, through: 60, by: 4) {
                surface.put([(1, a - point(0, 40 + y)), (2, b - point(0, y))])
            }
            #expect(surface.kinds(.began) == kinds, "after \(grace) ms")
        }
    }

    @Test func aRotationAboutAFingerIsNoTilt() {
        let pivot = point(400, 400)
        let place = surface.place(pivot)
        for frame in 0...60 {
            let angle = Double(frame) / 60 * 2
            surface.put([(1, pivot), (2, pivot + point(200 * cos(angle), 200 * sin(angle)))])
        }
        #expect(surface.kinds(.began) == [.pan, .pinch, .rotate])
        #expect(abs(surface.camera.position.bearing - (360 - 2 * 180 / Double.pi)) < 1e-6)
        #expect(surface.distance(of: place, from: pivot) < 1e-6)
    }

    @Test func aLongPressOfTwoFingersMovesNothing() {
        var random = Seeded(4)
        for _ in 0..<100 {
            surface.put([
                (1, point(400 + random.number(-3...3), 400 + random.number(-3...3))),
                (2, point(600 + random.number(-3...3), 400 + random.number(-3...3))),
            ])
        }
        surface.put([])
        #expect(surface.reports.isEmpty)
    }

    @Test(arguments: [0.0, 30, 60])
    func thePlaceInTheMiddleOfTwoFingersStaysThereUnderTilt(viewingAngle: Double) {
        var random = Seeded(22)
        for seed in 0..<100 {
            let surface = Surface(viewingAngle: viewingAngle)
            surface.camera.apply(.zoomTo(17))
            surface.camera.apply(.setViewingAngle(viewingAngle))
            func finger() -> ScreenPoint { point(random.number(200...800), random.number(200...700)) }
            let (start, end) = ([finger(), finger()], [finger(), finger()])
            func middle(_ fingers: [ScreenPoint]) -> ScreenPoint {
                point((fingers[0].x + fingers[1].x) / 2, (fingers[0].y + fingers[1].y) / 2)
            }
            let place = surface.place(middle(start))
            surface.drag([(1, start[0], end[0]), (2, start[1], end[1])], frames: 60)
            for _ in 0..<20 { surface.put([(1, end[0]), (2, end[1])]) }
            guard surface.kinds(.began).first == .pan else { continue }
            // Even if the zoom lowers the angle on the way.
            #expect(surface.distance(of: place, from: middle(end)) < 1e-6, "seed \(seed)")
        }
    }

    // MARK: From tilt to pinch

    @Test(arguments: [0.5, 2])
    func aPinchAfterATiltInTheSameGripZooms(scale: Double) {
        let surface = Surface(viewingAngle: 20)
        let (a, b) = (point(400, 500), point(600, 510))
        surface.drag([(1, a, a - point(0, 40)), (2, b, b - point(0, 40))])
        #expect(surface.kinds(.began) == [.tilt])
        let (c, d) = (a - point(0, 40), b - point(0, 40))
        let reach = (scale - 1) * 100
        surface.drag([(1, c, c - point(reach, 0)), (2, d, d + point(reach, 0))], frames: 80)
        #expect(surface.kinds(.began) == [.tilt, .pan, .pinch, .rotate])
        #expect(surface.kinds(.ended) == [.tilt])
        // The fingers ended level, 200 points apart and 10 up, and kept that height: the whole pinch counts.
        let zoomed = log2(hypot(200 * scale, 10) / hypot(200, 10))
        #expect(abs(surface.camera.position.zoom - 12 - zoomed) < 1e-9)
        let before = surface.camera.position
        surface.put([])
        #expect(surface.camera.position == before)
        #expect(Set(surface.kinds(.ended)) == [.tilt, .pan, .pinch, .rotate])
        #expect(surface.camera.position.viewingAngle > 20 || scale < 1)
    }

    @Test func aRotationAfterATiltRotates() {
        let surface = Surface(viewingAngle: 20)
        let (a, b) = (point(400, 500), point(600, 500))
        surface.drag([(1, a, a - point(0, 40)), (2, b, b - point(0, 40))])
        for frame in 0...60 {
            let angle = Double(frame) / 60
            let arm = point(100 * cos(angle), 100 * sin(angle))
            surface.put([(1, point(500, 460) - arm), (2, point(500, 460) + arm)])
        }
        #expect(surface.kinds(.began) == [.tilt, .pan, .pinch, .rotate])
        #expect(abs(surface.camera.position.bearing - (360 - 180 / Double.pi)) < 1e-6)
    }

    /// Hands turn and fingers spread on their way: 40 points over 300 up, as real ones do.
    @Test func aLongTiltStaysATilt() {
        let surface = Surface(viewingAngle: 10)
        surface.drag([(1, point(400, 600), point(360, 310)), (2, point(600, 600), point(640, 280))])
        #expect(surface.kinds(.began) == [.tilt])
        #expect(surface.camera.position.zoom == 12)
    }

    // MARK: Movement before recognition

    @Test func aPanThatLiftsRightAfterItBeganIsWhole() {
        let surface = Surface(viewingAngle: 30)
        let place = surface.place(point(300, 500))
        surface.put([(1, point(300, 500))])
        surface.put([(1, point(306, 506))])
        surface.put([(1, point(309, 509))])
        surface.put([])
        #expect(surface.kinds(.ended) == [.pan])
        #expect(surface.distance(of: place, from: point(309, 509)) < 1e-6)
    }

    @Test func aPinchThatLiftsRightAfterItBeganIsWhole() {
        let places = (surface.place(point(400, 400)), surface.place(point(600, 400)))
        let last = (point(390, 400), point(606, 404))
        surface.put([(1, point(400, 400)), (2, point(600, 400))])
        surface.put([(1, point(397, 400)), (2, point(602, 402))])
        surface.put([(1, last.0), (2, last.1)])
        #expect(surface.kinds(.began) == [.pan, .pinch, .rotate])
        // One after the other, as real fingers do.
        surface.put([(2, last.1)])
        #expect(surface.distance(of: places.0, from: last.0) < 1e-6)
        #expect(surface.distance(of: places.1, from: last.1) < 1e-6)
        let before = surface.camera.position
        surface.put([])
        #expect(surface.camera.position == before)
    }

    @Test func whatAPanIsBehindDoesNotBecomeATilt() {
        let surface = Surface(viewingAngle: 20)
        let place = surface.place(point(400, 500))
        surface.put([(1, point(400, 500))])
        surface.put([(1, point(400, 491))])
        surface.put([(1, point(400, 489))])
        #expect(surface.kinds(.began) == [.pan])
        surface.put([(1, point(400, 489)), (2, point(600, 489))])
        #expect(surface.distance(of: place, from: point(400, 489)) < 1e-6)
        surface.drag([(1, point(400, 489), point(400, 469)), (2, point(600, 489), point(600, 469))])
        surface.put([])
        #expect(surface.kinds(.began) == [.pan, .tilt] && surface.kinds(.ended) == [.pan, .tilt])
        #expect(abs(surface.camera.position.viewingAngle - 30) < 1e-9)
    }

    // MARK: A gliding map

    /// Returns a surface whose map was thrown by a finger and still glides 200 ms later.
    private func thrown() -> Surface {
        let surface = Surface()
        surface.drag([(1, point(200, 400), point(400, 400))], frames: 20)
        surface.put([])
        surface.wait(200)
        #expect(surface.isMoving)
        return surface
    }

    @Test func aFingerThatLandsOnAGlidingMapStopsIt() {
        let surface = thrown()
        surface.put([(2, point(500, 300))])
        let (position, place) = (surface.camera.position, surface.place(point(500, 300)))
        for _ in 0..<50 { surface.put([(2, point(502, 301))]) }
        #expect(surface.camera.position == position && surface.tracker.isActive)
        // From there it drags the map like any other finger.
        surface.drag([(2, point(502, 301), point(300, 600))])
        #expect(surface.distance(of: place, from: point(300, 600)) < 1e-6)
        #expect(surface.kinds(.began) == [.pan, .pan])
        surface.put([])
        #expect(surface.isMoving)
    }

    @Test func aFingerThatOnlyTouchesAGlidingMapLeavesItAtRest() {
        let surface = thrown()
        surface.put([(2, point(500, 300))])
        let position = surface.camera.position
        surface.put([], after: 60)
        surface.wait(3000)
        #expect(surface.camera.position == position)
        #expect(!surface.tracker.isActive && surface.kinds(.ended) == [.pan, .pan])
    }

    @Test func tapsThatStopTheMapAreTapsNevertheless() {
        var surface = thrown()
        surface.put([(2, point(500, 300))])
        surface.put([], after: 60)
        surface.put([(3, point(500, 300))], after: 100)
        surface.put([], after: 60)
        #expect(surface.releases.last == .tap(.zoomBy(1, focus: point(500, 300))))

        surface = thrown()
        surface.put([(2, point(400, 300))])
        surface.put([(2, point(400, 300)), (3, point(600, 300))], after: 20)
        let position = surface.camera.position
        surface.put([], after: 60)
        #expect(surface.camera.position == position)
        #expect(surface.releases.last == .tap(.zoomBy(-1, focus: point(500, 300))))
    }

    @Test func twoFingersOnAGlidingMapTiltOrPinch() {
        var surface = thrown()
        surface.drag([(2, point(400, 400), point(400, 300)), (3, point(600, 400), point(600, 300))])
        surface.put([])
        #expect(surface.kinds(.began) == [.pan, .pan, .tilt])
        surface = thrown()
        surface.drag([(2, point(400, 400), point(300, 400)), (3, point(600, 400), point(700, 400))])
        surface.put([])
        #expect(surface.kinds(.began) == [.pan, .pan, .pinch, .rotate])
        #expect(surface.releases.dropFirst().allSatisfy { Glide($0, of: surface.camera) == nil })
    }

    @Test func aMapAtRestIsNotStopped() {
        let surface = thrown()
        surface.wait(3000)
        #expect(!surface.isMoving)
        surface.put([(2, point(500, 300))])
        surface.put([], after: 400)
        // Nor is it after fingers that came to rest before they lifted.
        surface.drag([(1, point(200, 400), point(400, 400))])
        for _ in 0..<12 { surface.put([(1, point(400, 400))]) }
        surface.put([])
        surface.put([(2, point(500, 300))])
        surface.put([], after: 400)
        #expect(surface.kinds(.began) == [.pan, .pan])
    }

    @Test func whatATapDoesIsNotStoppedByTheNextTap() {
        for _ in 0..<4 {
            surface.put([(1, point(500, 300))], after: 50)
            surface.put([], after: 50)
        }
        surface.wait(1000)
        #expect(surface.reports.map(\.kind) == [.doubleTap, .doubleTap])
        // The second one begins where the first had arrived after 200 of its 250 ms.
        #expect(surface.camera.position.zoom > 13.9)
    }

    @Test func aFingerStopsTheInertiaOfAPinchAndOfARotation() {
        for (scale, angle) in [(2.0, 0.0), (1, 1)] {
            let surface = Surface(inertia: true)
            for frame in 0...20 {
                let share = Double(frame) / 20
                let radius = 100 * (1 + (scale - 1) * share)
                let arm = point(radius * cos(angle * share), radius * sin(angle * share))
                surface.put([(1, point(500, 400) - arm), (2, point(500, 400) + arm)])
            }
            surface.put([])
            surface.wait(100)
            #expect(surface.isMoving)
            surface.put([(3, point(600, 300))])
            #expect(!surface.isMoving)
            #expect(surface.kinds(.began).last == .pan && surface.kinds(.began).count == 4)
        }
    }

    // MARK: Fingers that land or lift one by one

    @Test func aSecondFingerThatLandsLateMakesNoJump() {
        surface.drag([(1, point(300, 400), point(400, 400))], frames: 30)
        let before = surface.camera.position
        surface.put([(1, point(400, 400)), (2, point(700, 300))])
        #expect(surface.camera.position == before)
        let places = (surface.place(point(400, 400)), surface.place(point(700, 300)))
        surface.drag([(1, point(400, 400), point(350, 450)), (2, point(700, 300), point(760, 200))], frames: 50)
        #expect(surface.distance(of: places.0, from: point(350, 450)) < 1e-6)
        #expect(surface.distance(of: places.1, from: point(760, 200)) < 1e-6)
        // One pan throughout: nothing ends in between.
        #expect(surface.kinds(.began) == [.pan, .pinch, .rotate] && surface.kinds(.ended).isEmpty)
    }

    @Test func aLastFingerThatLiftsLateMakesNoJumpAndNoFling() {
        surface.drag([(1, point(400, 400), point(300, 400)), (2, point(600, 400), point(750, 300))], frames: 12)
        let before = surface.camera.position
        surface.put([(2, point(756, 296))])
        surface.put([(2, point(760, 294))])
        surface.put([])
        #expect(surface.camera.position == before)
        #expect(Set(surface.kinds(.ended)) == [.pan, .pinch, .rotate])
        #expect(surface.releases.allSatisfy { Glide($0, of: surface.camera) == nil })
    }

    @Test func theFingerThatStaysPansOn() {
        surface.drag([(1, point(400, 400), point(300, 400)), (2, point(600, 400), point(700, 400))])
        surface.put([(2, point(700, 400))])
        let place = surface.place(point(700, 400))
        surface.drag([(2, point(700, 400), point(500, 500))])
        #expect(surface.distance(of: place, from: point(500, 500)) < 1e-6)
    }

    @Test(arguments: [3, 4, 5])
    func manyFingersPanByTheirMean(count: Int) {
        let place = surface.place(point(500, 300))
        // They spread while moving, and lift one by one.
        for frame in 0...50 {
            let middle = point(500 + Double(frame) * 2, 300 + Double(frame) * 4)
            surface.put(
                (0..<count).map { index in
                    let angle = 2 * Double.pi * Double(index) / Double(count)
                    let radius = 100 + Double(frame)
                    return (index, middle + point(radius * cos(angle), radius * sin(angle)))
                })
        }
        #expect(surface.distance(of: place, from: point(600, 500)) < 1e-6)
        for left in (1..<count).reversed() {
            for step in 0..<5 {
                surface.put((0..<left).map { ($0, point(300 + 100 * Double($0), 300 - 30 * Double(step))) })
            }
        }
        surface.put([])
        #expect(Set(surface.kinds(.began)) == [.pan])
        #expect(surface.camera.position.zoom == 12 && surface.camera.position.bearing == 0)
        #expect(surface.releases.allSatisfy { Glide($0, of: surface.camera) == nil })
    }

    @Test func aNewIdIsALiftAndALanding() {
        surface.drag([(1, point(300, 300), point(400, 300))])
        let before = surface.camera.position
        surface.put([(9, point(700, 600))])
        #expect(surface.camera.position == before)
        #expect(surface.kinds(.ended) == [.pan])
        #expect(surface.releases.allSatisfy { Glide($0, of: surface.camera) == nil })
    }

    @Test func whatIsLostIsCancelled() {
        surface.drag([(1, point(300, 300), point(400, 300))], frames: 8)
        surface.put([], cancelled: true)
        #expect(surface.kinds(.cancelled) == [.pan])
        #expect(surface.releases.isEmpty && !surface.tracker.isActive)
        // The remaining fingers start over.
        surface.drag([(1, point(500, 300), point(400, 300))])
        #expect(surface.kinds(.began) == [.pan, .pan])
    }

    @Test func whatAnUndecidedGripHasMovedIsNobodysAfterIt() {
        // Far enough for one finger, not for two.
        surface.drag([(1, point(400, 400), point(412, 400)), (2, point(600, 400), point(612, 400))], frames: 20)
        for _ in 0..<5 { surface.put([]) }
        surface.put([], cancelled: true)
        #expect(surface.reports.isEmpty)
    }

    @Test func aThirdFingerTakesNothingFromThePan() {
        let place = surface.place(point(500, 400))
        surface.drag([(1, point(400, 400), point(417, 400)), (2, point(600, 400), point(617, 400))], frames: 5)
        // Its landing moves only the mean.
        surface.drag(
            [
                (1, point(417, 400), point(517, 400)), (2, point(617, 400), point(717, 400)),
                (3, point(500, 700), point(600, 700)),
            ])
        #expect(surface.distance(of: place, from: point(617, 400)) < 1e-6)
    }

    // MARK: One finger

    @Test func aPanIsExactAndFlings() {
        let surface = Surface(viewingAngle: 30)
        let place = surface.place(point(300, 500))
        surface.drag([(1, point(300, 500), point(700, 300))])
        #expect(surface.distance(of: place, from: point(700, 300)) < 1e-6)
        surface.put([])
        guard case .glide(let momentum)? = surface.releases.first else { return #expect(Bool(false), "no fling") }
        // 400 points in 400 ms, the last sample 10 ms before the end.
        #expect(abs(momentum.pan.x - 900) < 1 && abs(momentum.pan.y + 450) < 1)
    }

    @Test(arguments: [(9.99, false), (10, true)]) func aPanBeginsAtItsSlop(distance: Double, begins: Bool) {
        for x in [0, distance] { surface.put([(1, point(x, 0))]) }
        #expect(surface.kinds(.began) == (begins ? [.pan] : []))
    }

    @Test func aPanGoesOnByTwoFingersButNotByTheLastAlone() {
        surface.drag((1...3).map { ($0, point(100 * Double($0), 200), point(100 * Double($0), 400)) })
        surface.put([(1, point(100, 400)), (2, point(200, 400))])
        #expect(surface.kinds(.began) == [.pan] && surface.kinds(.ended) == [])
        surface.put([(1, point(100, 400))])
        #expect(surface.kinds(.ended) == [.pan])
    }

    @Test func aTiltThatSpreadsAndBecomesAPinchMakesNoJump() {
        let surface = Surface(viewingAngle: 20)
        surface.drag([(1, point(400, 400), point(395, 600)), (2, point(600, 400), point(605, 600))])
        surface.drag([(1, point(395, 600), point(345, 600)), (2, point(605, 600), point(655, 600))])
        #expect(surface.kinds(.began).contains(.pinch))
        let zooms = surface.positions.map(\.zoom)
        #expect(zip(zooms, zooms.dropFirst()).allSatisfy { abs($0 - $1) < 0.06 })
    }

    @Test func tapsAreNoPans() {
        surface.put([(1, point(300, 500))])
        surface.put([(1, point(304, 503))], after: 60)
        surface.put([])
        #expect(surface.reports.isEmpty)
        surface.put([(2, point(330, 500))], after: 150)
        surface.put([], after: 60)
        #expect(surface.releases == [.tap(.zoomBy(1, focus: point(300, 500)))])
        // A third tap counts as a first one again.
        surface.put([(3, point(330, 500))], after: 100)
        surface.put([], after: 60)
        #expect(surface.reports.count == 1)
    }

    @Test(arguments: [(400.0, 0.0), (100, 200)])
    func tapsTooLateOrTooFarApartAreTwo(pause: Double, distance: Double) {
        surface.put([(1, point(300, 500))])
        surface.put([], after: 60)
        surface.put([(1, point(300 + distance, 500))], after: pause)
        surface.put([], after: 60)
        #expect(surface.reports.isEmpty)
    }

    @Test func twoFingersThatTapZoomOut() {
        surface.put([(1, point(300, 500))])
        surface.put([(1, point(300, 500)), (2, point(500, 400))], after: 30)
        surface.put([(2, point(501, 400))], after: 60)
        surface.put([], after: 20)
        #expect(surface.releases == [.tap(.zoomBy(-1, focus: point(400, 450)))])
    }

    @Test func aTapAndADragZoomWithOneFinger() {
        surface.put([(1, point(300, 300))])
        surface.put([], after: 60)
        let place = surface.place(point(300, 300))
        surface.put([(2, point(305, 302))], after: 100)
        surface.drag([(2, point(305, 302), point(310, 430))])
        surface.put([])
        #expect(surface.kinds(.began) == [.oneFingerZoom])
        #expect(abs(surface.camera.position.zoom - 13) < 1e-9)
        #expect(surface.distance(of: place, from: point(300, 300)) < 1e-6)
    }

    // MARK: General

    @Test func itIsAsNewWhenTheFingersAndWhatTheyLeftAreGone() {
        #expect(surface.recognizer.isNew(at: 0))
        surface.put([(1, point(500, 400))])
        #expect(!surface.recognizer.isNew(at: 10_000))
        surface.put([])
        let (tapped, tapTime) = (surface.time, Thresholds().tapTime)
        #expect(!surface.recognizer.isNew(at: tapped + tapTime) && surface.recognizer.isNew(at: tapped + tapTime + 1))
        surface.wait(tapTime + 1)
        surface.drag([(1, point(300, 400), point(700, 400))], frames: 10)
        surface.put([])
        #expect(surface.isMoving && !surface.recognizer.isNew(at: surface.time))
        #expect(surface.recognizer.isNew(at: surface.time + 10_000))
    }

    @Test func whateverFingersDoEveryGestureThatBeginsEnds() {
        var random = Seeded(77)
        for seed in 0..<400 {
            let surface = Surface()
            var down: [Int: ScreenPoint] = [:]
            for _ in 0..<120 {
                if random.chance(0.1), down.count < 5 {
                    down[random.integer(0...9)] = point(random.number(0...1000), random.number(0...800))
                }
                if random.chance(0.08), let id = down.keys.sorted().randomElement(using: &random) { down[id] = nil }
                for id in down.keys.sorted() {
                    down[id] = (down[id] ?? point(0, 0)) + point(random.number(-15...15), random.number(-15...15))
                }
                surface.put(
                    down.keys.sorted().compactMap { id in down[id].map { (id, $0) } },
                    after: random.chance(0.05) ? 300 : random.number(0...20), cancelled: random.chance(0.01))
            }
            surface.put([])
            var open: [GestureKind: Int] = [:]
            for report in surface.reports where !report.kind.isTap {
                open[report.kind, default: 0] += report.phase == .began ? 1 : report.phase == .changed ? 0 : -1
                #expect((0...1).contains(open[report.kind] ?? 0), "seed \(seed)")
                if report.phase == .changed { #expect(open[report.kind] == 1, "seed \(seed)") }
                #expect(open[.tilt, default: 0] == 0 || open[.pinch, default: 0] + open[.rotate, default: 0] == 0)
            }
            #expect(open.values.allSatisfy { $0 == 0 }, "seed \(seed)")
            #expect(!surface.tracker.isActive)
        }
    }

    // MARK: Edges

    @Test func aPairIsRecognizedAtItsThresholds() {
        let thresholds = Thresholds()
        func meaning(levels: Double, arc: Double) -> Meaning? {
            var grip = Grip([Touch(id: 1, position: point(0, 0)), Touch(id: 2, position: point(100, 0))])
            grip.moved = Movement(levels: levels, rotation: arc / 50)
            return grip.meaningOfTwo(at: 0, thresholds)
        }
        #expect(meaning(levels: 0.1, arc: 0) == .transform && meaning(levels: -0.1, arc: 0) == .transform)
        #expect(meaning(levels: 0, arc: 25) == .transform && meaning(levels: 0, arc: -25) == .transform)
        #expect(meaning(levels: 0.0999, arc: 24.9) == nil)
        for (arc, found) in [(15.99, nil), (16, Meaning.transform)] {
            var tilts = Grip([Touch(id: 1, position: point(0, 0)), Touch(id: 2, position: point(100, 0))])
            tilts.moved = Movement(rotation: arc / 50)
            #expect(tilts.meaningOfTilt(since: Movement(), thresholds) == found, "\(arc) points around")
        }
        // Fingers above one another do not tilt.
        var upright = Grip([Touch(id: 1, position: point(0, 0)), Touch(id: 2, position: point(0, 100))])
        for (way, found) in [(15.99, nil), (16, Meaning.transform)] {
            upright.moved = Movement(translation: point(way, 0))
            #expect(upright.meaningOfTwo(at: 0, thresholds) == found, "\(way) points")
        }
    }

    @Test func aThirdFingerOnATiltBeginsNoPanUntilTheyMove() {
        surface.drag([(1, point(400, 400), point(400, 360)), (2, point(600, 400), point(600, 360))])
        surface.put([(1, point(400, 360)), (2, point(600, 360)), (3, point(800, 400))])
        #expect(surface.kinds(.began) == [.tilt] && surface.kinds(.ended) == [.tilt])
    }

    @Test func fingersThatTouchEachOtherAre8PointsApart() {
        var grip = Grip([Touch(id: 1, position: point(0, 0)), Touch(id: 2, position: point(2, 0))])
        _ = grip.move(to: [Touch(id: 1, position: point(0, 0)), Touch(id: 2, position: point(16, 0))], rotates: true)
        #expect(grip.moved.levels == 1 && grip.smallestSpan == 8)
    }

    @Test func theMapCatchesUpWithTheFingersAndInAPauseByOneFrame() {
        let whole = Movement(translation: point(8, 0))
        func remaining(step: Double, elapsed: Double) -> Double {
            var slack = Slack(whole, reach: 10)
            slack.catchUp(step: step, elapsed: elapsed, longest: 100)
            return slack.share
        }
        #expect(remaining(step: 0, elapsed: 10) == 0.9 && remaining(step: 5, elapsed: 10) == 0.5)
        #expect(remaining(step: 0, elapsed: 500) == 0.8 && remaining(step: 0, elapsed: -500) == 1)
        #expect(remaining(step: 11, elapsed: 0) == 0)
        var usual = Slack(whole, reach: 10)
        usual.catchUp(step: 0, elapsed: 15, longest: Thresholds().catchUp)
        #expect(usual.share == 0.9)
        #expect(Slack().isEmpty && Slack(whole, reach: 0).isEmpty && !Slack(whole, reach: 1).isEmpty)
    }

    @Test func aPanThatLeapsIsBehindByNothing() throws {
        for x in [0.0, 300] { surface.put([(1, point(x, 0))]) }
        #expect(surface.reports.last?.value == .pan(point(300, 0)))
        surface.put([])
        let end = try #require(surface.reports.last)
        #expect(end.phase == .ended && end.value == nil)
    }

    @Test func aTiltThatBecomesAPinchBeginsToPanFromZero() {
        let (a, b) = (point(400, 400), point(600, 400))
        surface.drag([(1, a, a - point(0, 40)), (2, b, b - point(0, 40))])
        surface.drag([(1, a - point(0, 40), a - point(100, 40)), (2, b - point(0, 40), b + point(100, -40))])
        let pans = surface.reports.filter { $0.kind == .pan }
        #expect(pans.count > 10)
        for pan in pans where pan.phase == .changed { #expect(pan.value == .pan(point(0, 0))) }
    }

    @Test func aPanEndsBeforeItsFingersTilt() {
        surface.drag([(1, point(400, 400), point(400, 440))])
        let two = [(1, point(400, 440), point(400, 340)), (2, point(600, 440), point(600, 340))]
        surface.drag(two)
        #expect(surface.kinds(.began) == [.pan, .tilt] && surface.kinds(.ended) == [.pan])
    }

    @Test func onlyOneFingerThrowsTheMap() {
        surface.drag([(1, point(400, 400), point(500, 400)), (2, point(450, 400), point(550, 400))])
        surface.put([])
        #expect(surface.reports.filter { $0.phase == .ended && $0.kind == .pan }.map(\.velocity) == [point(0, 0)])
        let slow = Surface()
        slow.drag([(1, point(400, 400), point(500, 400))])
        slow.put([], after: 200)
        #expect(slow.reports.last?.velocity == point(0, 0))
    }

    /// Returns the gestures begun by a finger that lands after two have doubled their distance at once and lifted.
    private func landing(liftingAfter pause: Double, landingAfter delay: Double) -> [GestureKind] {
        let surface = Surface()
        for half in [50.0, 100] { surface.put([(1, point(500 - half, 400)), (2, point(500 + half, 400))]) }
        surface.put([], after: pause)
        surface.put([(3, point(100, 100))], after: delay)
        return surface.recognizer.events.map(\.kind)
    }

    @Test func aFingerStopsAPinchThatMayGoOnAndNoOther() {
        // A level within 50 ms may continue for a while; with a pause after it, or in no time, it may not.
        #expect(landing(liftingAfter: 50, landingAfter: 10) == [.pan])
        #expect(landing(liftingAfter: 300, landingAfter: 10) == [])
        #expect(landing(liftingAfter: 0, landingAfter: 10) == [])
        #expect(landing(liftingAfter: 300, landingAfter: 0) == [])
    }
}

extension Glide {
    fileprivate init?(_ release: GestureTracker.Release, of camera: Camera) {
        guard case .glide(let momentum) = release else { return nil }
        self.init(momentum, of: camera)
    }
}
