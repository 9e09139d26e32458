// Fingers of all kinds of gestures, and what the map does under them.

import Foundation
import Gestures
import MapCamera
import TestSupport
import Testing

@testable import Touches

private func point(_ x: Double, _ y: Double) -> ScreenPoint { ScreenPoint(x: x, y: y) }

/// Fingers on a map: the recognizer, the tracker, the camera.
private struct Surface {
    var recognizer = GestureRecognizer()
    var tracker = GestureTracker()
    var camera: Camera
    var time = 0.0
    private(set) var releases: [GestureTracker.Release] = []
    private(set) var reports: [GestureEvent] = []
    /// The positions that the camera had, after each frame.
    private(set) var positions: [CameraPosition] = []

    init(viewingAngle: Double = 0) {
        camera = Camera(
            position: CameraPosition(
                target: LatLng(latitude: 10, longitude: 20), zoom: 12, viewingAngle: viewingAngle),
            viewport: Viewport(width: 1000, height: 800))
    }

    mutating func put(_ fingers: [(Int, ScreenPoint)], after milliseconds: Double = 10, cancelled: Bool = false) {
        time += milliseconds
        recognizer.take(
            TouchFrame(timeMs: time, touches: fingers.map { Touch(id: $0.0, position: $0.1) }, isCancelled: cancelled))
        for event in recognizer.events {
            let key = GestureKey(feed: 1, kind: event.kind)
            if let update = tracker.handle(event, of: key, at: time, viewport: camera.viewport) { camera.apply(update) }
            reports.append(event)
        }
        if let release = tracker.takeRelease() { releases.append(release) }
        positions.append(camera.position)
    }

    /// Moves fingers on straight lines, in frames of 10 ms.
    mutating func drag(_ fingers: [(Int, ScreenPoint, ScreenPoint)], frames: Int = 40) {
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

    /// How far a place is from a point of the screen, in points.
    func distance(of place: LatLng?, from point: ScreenPoint) -> Double {
        guard let place, let now = camera.projection.point(for: place) else { return .infinity }
        return hypot(now.x - point.x, now.y - point.y)
    }
}

@Suite struct GestureRecognizerTests {
    // MARK: Two fingers

    @Test func thePlacesUnderTwoFingersStayUnderThem() {
        var random = Seeded(21)
        for _ in 0..<300 {
            var surface = Surface()
            let middle = point(500, 400)
            let (radius, start) = (random.number(60...200), random.number(0...(2 * Double.pi)))
            func fingers(_ middle: ScreenPoint, _ radius: Double, _ angle: Double) -> [(Int, ScreenPoint)] {
                let way = point(radius * cos(angle), radius * sin(angle))
                return [(1, middle - way), (2, middle + way)]
            }
            let landed = fingers(middle, radius, start)
            let places = landed.map { surface.place($0.1) }
            let end = point(random.number(300...700), random.number(250...550))
            let (grown, turned) = (radius * random.number(0.5...2), start + random.number(-2...2))
            var last = landed
            for frame in 0...60 {
                let share = Double(frame) / 60
                last = fingers(
                    point(middle.x + (end.x - middle.x) * share, middle.y + (end.y - middle.y) * share),
                    radius + (grown - radius) * share, start + (turned - start) * share)
                surface.put(last)
            }
            // What was moved before recognition is made good by now, however late that was.
            for _ in 0..<20 { surface.put(last) }
            surface.put([])
            guard surface.kinds(.began).contains(.pinch) else { continue }
            for (place, finger) in zip(places, last) {
                #expect(surface.distance(of: place, from: finger.1) < 1e-6)
            }
        }
    }

    @Test func pinchRotateAndPanBeginTogetherAndNothingLeaps() {
        var surface = Surface()
        surface.drag([(1, point(400, 400), point(250, 420)), (2, point(600, 400), point(760, 380))], frames: 80)
        #expect(surface.kinds(.began) == [.pan, .pinch, .rotate])
        #expect(abs(surface.camera.position.zoom - 12 - log2(hypot(510, 40) / 200)) < 1e-9)
        let steps = zip(surface.positions, surface.positions.dropFirst()).map { $1.zoom - $0.zoom }
        let greatest = steps.max() ?? 0
        // The fingers' own fastest frame is 0.028 levels; making good what was before adds less than that again.
        #expect(greatest < 0.056)
        #expect(steps.allSatisfy { $0 >= 0 })
    }

    @Test func aQuickPinchIsWholeToo() {
        var surface = Surface()
        surface.drag([(1, point(450, 400), point(400, 400)), (2, point(550, 400), point(600, 400))], frames: 3)
        surface.put([])
        #expect(abs(surface.camera.position.zoom - 13) < 1e-9)
    }

    @Test(arguments: [-200.0, 200])
    func twoFingersUpOrDownSideBySideTilt(way: Double) {
        var surface = Surface(viewingAngle: 20)
        surface.drag([(1, point(400, 400), point(405, 400 + way)), (2, point(600, 420), point(590, 410 + way))])
        surface.put([])
        #expect(surface.kinds(.began) == [.tilt])
        #expect(surface.kinds(.ended) == [.tilt])
        #expect(surface.camera.position.zoom == 12 && surface.camera.position.bearing == 0)
        #expect(way > 0 ? surface.camera.position.viewingAngle == 0 : surface.camera.position.viewingAngle == 37.5)
    }

    @Test func oneAboveTheOtherTheyPan() {
        var surface = Surface()
        surface.drag([(1, point(400, 200), point(400, 400)), (2, point(410, 400), point(410, 600))])
        #expect(surface.kinds(.began) == [.pan, .pinch, .rotate])
        #expect(abs(surface.camera.position.zoom - 12) < 1e-9)
        #expect(surface.camera.position.target.latitude > 10)
    }

    @Test func theSecondFingerOfATiltMayFollowSoon() {
        for (grace, kinds) in [(50.0, [GestureKind.tilt]), (150, [.pan, .pinch, .rotate])] {
            var surface = Surface(viewingAngle: 20)
            let (a, b) = (point(400, 400), point(600, 400))
            surface.put([(1, a), (2, b)])
            surface.put([(1, a - point(0, 34)), (2, b)])
            surface.put([(1, a - point(0, 40)), (2, b)], after: grace)
            for way in stride(from: 2.0, through: 60, by: 4) {
                surface.put([(1, a - point(0, 40 + way)), (2, b - point(0, way))])
            }
            #expect(surface.kinds(.began) == kinds, "after \(grace) ms")
        }
    }

    @Test func aRotationAboutAFingerIsNoTilt() {
        var surface = Surface()
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
        var surface = Surface()
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

    // MARK: Fingers that land and lift one by one

    @Test func aSecondFingerThatLandsLateMakesNoJump() {
        var surface = Surface()
        surface.drag([(1, point(300, 400), point(400, 400))], frames: 30)
        let before = surface.camera.position
        surface.put([(1, point(400, 400)), (2, point(700, 300))])
        #expect(surface.camera.position == before)
        let places = (surface.place(point(400, 400)), surface.place(point(700, 300)))
        surface.drag([(1, point(400, 400), point(350, 450)), (2, point(700, 300), point(760, 200))], frames: 50)
        #expect(surface.distance(of: places.0, from: point(350, 450)) < 1e-6)
        #expect(surface.distance(of: places.1, from: point(760, 200)) < 1e-6)
        // One pan all the way: nothing comes to rest between.
        #expect(surface.kinds(.began) == [.pan, .pinch, .rotate] && surface.kinds(.ended).isEmpty)
    }

    @Test func aLastFingerThatLiftsLateMakesNoJumpAndNoFling() {
        var surface = Surface()
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
        var surface = Surface()
        surface.drag([(1, point(400, 400), point(300, 400)), (2, point(600, 400), point(700, 400))])
        surface.put([(2, point(700, 400))])
        let place = surface.place(point(700, 400))
        surface.drag([(2, point(700, 400), point(500, 500))])
        #expect(surface.distance(of: place, from: point(500, 500)) < 1e-6)
    }

    @Test(arguments: [3, 4, 5])
    func manyFingersPanByTheirMean(count: Int) {
        var surface = Surface()
        let place = surface.place(point(500, 300))
        // Spreading out while they go, and lifting one by one.
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
        var surface = Surface()
        surface.drag([(1, point(300, 300), point(400, 300))])
        let before = surface.camera.position
        surface.put([(9, point(700, 600))])
        #expect(surface.camera.position == before)
        #expect(surface.kinds(.ended) == [.pan])
        #expect(surface.releases.allSatisfy { Glide($0, of: surface.camera) == nil })
    }

    @Test func whatIsLostIsCancelled() {
        var surface = Surface()
        surface.drag([(1, point(300, 300), point(400, 300))], frames: 8)
        surface.put([], cancelled: true)
        #expect(surface.kinds(.cancelled) == [.pan])
        #expect(surface.releases.isEmpty && !surface.tracker.isActive)
        // The fingers that are still there begin anew.
        surface.drag([(1, point(500, 300), point(400, 300))])
        #expect(surface.kinds(.began) == [.pan, .pan])
    }

    @Test func whatAnUndecidedGripHasMovedIsNobodysAfterIt() {
        var surface = Surface()
        // Far enough for one finger, not for two.
        surface.drag([(1, point(400, 400), point(412, 400)), (2, point(600, 400), point(612, 400))], frames: 20)
        for _ in 0..<5 { surface.put([]) }
        surface.put([], cancelled: true)
        #expect(surface.reports.isEmpty)
    }

    @Test func aThirdFingerTakesNothingFromThePan() {
        var surface = Surface()
        let place = surface.place(point(500, 400))
        surface.drag([(1, point(400, 400), point(417, 400)), (2, point(600, 400), point(617, 400))], frames: 5)
        // Its landing moves the mean, and nothing else.
        surface.drag(
            [
                (1, point(417, 400), point(517, 400)), (2, point(617, 400), point(717, 400)),
                (3, point(500, 700), point(600, 700)),
            ])
        #expect(surface.distance(of: place, from: point(617, 400)) < 1e-6)
    }

    // MARK: One finger

    @Test func aPanIsExactAndFlings() {
        var surface = Surface(viewingAngle: 30)
        let place = surface.place(point(300, 500))
        surface.drag([(1, point(300, 500), point(700, 300))])
        #expect(surface.distance(of: place, from: point(700, 300)) < 1e-6)
        surface.put([])
        guard case .glide(let momentum)? = surface.releases.first else { return #expect(Bool(false), "no fling") }
        // 400 points in 400 ms, the last sample 10 ms before the end.
        #expect(abs(momentum.pan.x - 900) < 1 && abs(momentum.pan.y + 450) < 1)
    }

    @Test func tapsAreNoPans() {
        var surface = Surface()
        surface.put([(1, point(300, 500))])
        surface.put([(1, point(304, 503))], after: 60)
        surface.put([])
        #expect(surface.reports.isEmpty)
        surface.put([(2, point(330, 500))], after: 150)
        surface.put([], after: 60)
        #expect(surface.releases == [.tap(.zoomBy(1, focus: point(300, 500)))])
        // A third tap is a first one again.
        surface.put([(3, point(330, 500))], after: 100)
        surface.put([], after: 60)
        #expect(surface.reports.count == 1)
    }

    @Test(arguments: [(400.0, 0.0), (100, 200)])
    func tapsTooLateOrTooFarApartAreTwo(pause: Double, distance: Double) {
        var surface = Surface()
        surface.put([(1, point(300, 500))])
        surface.put([], after: 60)
        surface.put([(1, point(300 + distance, 500))], after: pause)
        surface.put([], after: 60)
        #expect(surface.reports.isEmpty)
    }

    @Test func twoFingersThatTapZoomOut() {
        var surface = Surface()
        surface.put([(1, point(300, 500))])
        surface.put([(1, point(300, 500)), (2, point(500, 400))], after: 30)
        surface.put([(2, point(501, 400))], after: 60)
        surface.put([], after: 20)
        #expect(surface.releases == [.tap(.zoomBy(-1, focus: point(400, 450)))])
    }

    @Test func aTapAndADragZoomWithOneFinger() {
        var surface = Surface()
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

    // MARK: Anything

    @Test func whateverFingersDoEveryGestureThatBeginsEnds() {
        var random = Seeded(77)
        for seed in 0..<400 {
            var surface = Surface()
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
}

extension Glide {
    fileprivate init?(_ release: GestureTracker.Release, of camera: Camera) {
        guard case .glide(let momentum) = release else { return nil }
        self.init(momentum, of: camera)
    }
}
