// From reports to updates: differences, composition, settings, and the velocity at the end of a pan.

import Foundation
import MapCamera
import TestSupport
import Testing

@testable import Gestures

/// A tracker and the camera that it moves.
private final class Hand {
    var tracker = GestureTracker()
    var camera = Camera(position: CameraPosition(target: LatLng(latitude: 10, longitude: 20), zoom: 12))

    @discardableResult
    func report(_ event: GestureEvent, at time: Double = 0, label: GestureKey.Label = .none) -> CameraUpdate? {
        let key = GestureKey(feed: 1, kind: event.kind, label: label)
        let update = tracker.handle(event, of: key, at: time, viewport: camera.viewport)
        if let update { camera.apply(update) }
        return update
    }

    /// Gives the tracker settings that differ from the defaults.
    func set(_ change: (inout GestureSettings) -> Void) {
        var settings = GestureSettings()
        change(&settings)
        tracker.set(settings)
    }

    /// Pans and throws the map.
    func fling() {
        report(GestureEvent(.pan, .began))
        report(GestureEvent(.pan, .ended, velocity: point(900, 0)))
    }

    func release() -> GestureTracker.Release? { tracker.takeRelease() }

    func momentum() -> Momentum? {
        if case .glide(let momentum) = release() { momentum } else { nil }
    }
}

private func point(_ x: Double, _ y: Double) -> ScreenPoint { ScreenPoint(x: x, y: y) }

/// Returns a value for each kind of gesture that has one.
private func value(_ kind: GestureKind, _ step: Double) -> GestureEvent.Value? {
    switch kind {
    case .pan: .pan(point(10 * step, 20 * step))
    case .pinch: .pinch(1 + step)
    case .rotate: .rotate(15 * step)
    case .tilt: .tilt(-30 * step)
    case .oneFingerZoom: .oneFingerZoom(40 * step)
    case .position: .position(CameraPosition(target: LatLng(latitude: step, longitude: 7), zoom: 9))
    case .doubleTap, .twoFingerTap: nil
    }
}

@Suite struct GestureTrackerTests {
    private let hand = Hand()

    @Test(arguments: GestureKind.allCases) func gestureThatIsDecodedGoesOnAsIfItHadNotBeen(_ kind: GestureKind) throws {
        hand.report(GestureEvent(kind, kind.isTap ? .ended : .began), at: 1)
        if let value = value(kind, 1) { hand.report(GestureEvent(kind, .changed, value), at: 2) }
        let restored = Hand()
        restored.tracker = try JSONDecoder().decode(GestureTracker.self, from: JSONEncoder().encode(hand.tracker))
        #expect(restored.tracker.isActive == !kind.isTap)
        guard let next = value(kind, 2) else { return }
        let update = hand.report(GestureEvent(kind, .changed, next), at: 3)
        #expect(update != nil)
        #expect(restored.report(GestureEvent(kind, .changed, next), at: 3) == update)
    }

    @Test func whatMayNotBeActiveIsNotWhenItIsDecoded() throws {
        hand.report(GestureEvent(.pan, .began))
        hand.report(GestureEvent(.pan, .changed, .pan(point(1, 2))))
        let text = String(decoding: try JSONEncoder().encode(hand.tracker), as: UTF8.self)
        func isActive(_ old: String, _ new: String) throws -> Bool {
            try #require(text.contains(old))
            let changed = text.replacingOccurrences(of: old, with: new)
            return try JSONDecoder().decode(GestureTracker.self, from: Data(changed.utf8)).isActive
        }
        #expect(try isActive(#""scroll":true"#, #""scroll":true"#))
        #expect(try !isActive(#""scroll":true"#, #""scroll":false"#))
        #expect(try !isActive(#""kind":{"pan":{}}"#, #""kind":{"tilt":{}}"#))
        #expect(try !isActive(#""kind":{"pan":{}}"#, #""kind":{"doubleTap":{}}"#))
    }

    @Test func itsSizeGrowsWithGesturesAndTheirSamples() {
        #expect(hand.tracker.byteCount == 0)
        hand.report(GestureEvent(.tilt, .began))
        let one = hand.tracker.byteCount
        hand.report(GestureEvent(.rotate, .began))
        #expect(one > 0 && hand.tracker.byteCount == 2 * one)
        hand.report(GestureEvent(.pan, .began))
        #expect(hand.tracker.byteCount > 3 * one + SampleWindow.capacity * MemoryLayout<ScreenPoint>.size)
    }

    @Test func whatIsPrintedHasSixDecimalsAndAScaleNine() {
        let (number, rounded) = (-1.234_567_891_23, -1.234_568)
        #expect(point(number, 2 * number).rounded == point(rounded, -2.469_136))
        #expect(GestureEvent.Value.pan(point(number, 0)).rounded == .pan(point(rounded, 0)))
        #expect(GestureEvent.Value.rotate(number).rounded == .rotate(rounded))
        #expect(GestureEvent.Value.tilt(number).rounded == .tilt(rounded))
        #expect(GestureEvent.Value.oneFingerZoom(number).rounded == .oneFingerZoom(rounded))
        #expect(GestureEvent.Value.pinch(-number).rounded == .pinch(1.234_567_891))
        #expect(GestureEvent.Value.pinch(1e-12).rounded == .pinch(1e-9))
    }

    @Test(arguments: GestureKind.allCases.filter { $0 != .pan && value($0, 1) != nil })
    func panWaitsWhileAnotherGestureZoomsOrRotates(_ kind: GestureKind) throws {
        hand.set { $0.scrollDuringRotateOrZoom = false }
        let next = try #require(value(kind, 0.5))
        hand.report(GestureEvent(kind, .began))
        let before = hand.camera
        hand.report(GestureEvent(kind, .changed, next))
        let turns =
            hand.camera.position.zoom != before.position.zoom || hand.camera.position.bearing != before.position.bearing
        hand.report(GestureEvent(.pan, .began))
        let update = hand.report(GestureEvent(.pan, .changed, .pan(point(5, 5))))
        // A position set by another source may turn the camera, too; it is not a finger gesture.
        #expect((update == nil) == (turns && kind != .position))
    }

    @Test func valuesAreCumulativeAndUpdatesAreDifferences() {
        hand.report(GestureEvent(.pinch, .began))
        #expect(hand.report(GestureEvent(.pinch, .changed, .pinch(2))) == .zoomBy(1, focus: nil))
        #expect(hand.report(GestureEvent(.pinch, .changed, .pinch(2))) == nil)
        #expect(hand.report(GestureEvent(.pinch, .ended, .pinch(4))) == .zoomBy(1, focus: nil))
        #expect(!hand.tracker.isActive)
    }

    @Test func changedWithoutBeganBeginsThere() {
        #expect(hand.report(GestureEvent(.rotate, .changed, .rotate(90))) == nil)
        #expect(hand.report(GestureEvent(.rotate, .changed, .rotate(100))) == .rotateBy(-10, focus: nil))
    }

    @Test func endedWithoutAValueChangesNothing() {
        hand.report(GestureEvent(.tilt, .began))
        #expect(hand.report(GestureEvent(.tilt, .changed, .tilt(-40))) == .tiltBy(20))
        #expect(hand.report(GestureEvent(.tilt, .changed, .tilt(-60))) == .tiltBy(10))
        #expect(hand.report(GestureEvent(.tilt, .ended)) == nil)
    }

    @Test func cancelledKeepsTheCameraAndThrowsNothing() {
        hand.report(GestureEvent(.pan, .began, time: 0))
        hand.report(GestureEvent(.pan, .changed, .pan(point(50, 0)), time: 10))
        #expect(hand.report(GestureEvent(.pan, .cancelled, .pan(point(500, 0)), time: 20)) == nil)
        #expect(hand.release() == nil)
    }

    @Test func labelsTellGesturesApart() {
        hand.report(GestureEvent(.pan, .began), label: .number(1))
        hand.report(GestureEvent(.pan, .began), label: .text("1"))
        #expect(hand.tracker.keys(of: 1).count == 2)
        #expect(hand.tracker.contains(GestureKey(feed: 1, kind: .pan, label: .number(1))))
        #expect(!hand.tracker.contains(GestureKey(feed: 1, kind: .pan, label: .number(2))))
        hand.report(GestureEvent(.pan, .ended), label: .number(1))
        #expect(hand.tracker.keys(of: 1).contains(GestureKey(feed: 1, kind: .pan, label: .text("1"))))
        #expect(!hand.tracker.keys(of: 1).contains(GestureKey(feed: 1, kind: .pan, label: .number(1))))
    }

    /// After a pan, pinch and rotation in one frame, the places under two fingers are still under them.
    @Test func afterAFrameThePlacesUnderTwoFingersAreUnderThem() throws {
        for (seed, var random) in Seeded.each(1...500) {
            let hand = Hand()
            hand.camera.apply(.setBearing(random.number(0...360)))
            func finger() -> ScreenPoint { point(random.number(100...290), random.number(200...600)) }
            let (a, b) = (finger(), finger())
            guard hypot(a.x - b.x, a.y - b.y) > 40 else { continue }
            let places = try [a, b].map { try #require(hand.camera.projection.coordinate(for: $0)) }
            hand.report(GestureEvent(.pan, .began))
            hand.report(GestureEvent(.pinch, .began))
            hand.report(GestureEvent(.rotate, .began))
            let (c, d) = (finger(), finger())
            let (before, after) = (b - a, d - c)
            let scale = hypot(after.x, after.y) / hypot(before.x, before.y)
            guard scale > 0.1, scale < 10 else { continue }
            let rotation = (atan2(after.y, after.x) - atan2(before.y, before.x)) * 180 / .pi
            let focus = point((c.x + d.x) / 2, (c.y + d.y) / 2)
            let moved = point((c.x + d.x - a.x - b.x) / 2, (c.y + d.y - a.y - b.y) / 2)
            hand.report(GestureEvent(.pan, .changed, .pan(moved), focus: focus))
            hand.report(GestureEvent(.pinch, .changed, .pinch(scale), focus: focus))
            hand.report(GestureEvent(.rotate, .changed, .rotate(rotation), focus: focus))
            for (place, finger) in zip(places, [c, d]) {
                let shown = try #require(hand.camera.projection.point(for: place))
                #expect(hypot(shown.x - finger.x, shown.y - finger.y) < 1e-6, "seed \(seed)")
            }
        }
    }

    @Test func aDisabledGestureDoesNothingAndIsNotActive() {
        hand.set { $0.scroll = false }
        #expect(hand.report(GestureEvent(.pan, .began)) == nil)
        #expect(hand.report(GestureEvent(.pan, .changed, .pan(point(9, 9)))) == nil)
        #expect(!hand.tracker.isActive)
        hand.report(GestureEvent(.pinch, .began))
        #expect(hand.report(GestureEvent(.pinch, .changed, .pinch(2), focus: point(1, 1))) == .zoomBy(1, focus: nil))
    }

    @Test func switchingAGestureOffCancelsIt() {
        hand.report(GestureEvent(.tilt, .began))
        hand.set { $0.tilt = false }
        #expect(!hand.tracker.isActive)
    }

    @Test func aPanWaitsForPinchAndRotateIfToldTo() {
        hand.set { $0.scrollDuringRotateOrZoom = false }
        hand.report(GestureEvent(.pan, .began))
        hand.report(GestureEvent(.pinch, .began))
        #expect(hand.report(GestureEvent(.pan, .changed, .pan(point(30, 0)))) == nil)
        #expect(hand.report(GestureEvent(.pinch, .ended, .pinch(2), focus: point(1, 1))) == .zoomBy(1, focus: nil))
        let center = hand.camera.viewport.center
        #expect(
            hand.report(GestureEvent(.pan, .changed, .pan(point(35, 0))))
                == .pan(from: center - point(5, 0), to: center))
    }

    @Test func aFocusOutsideTheViewportIsMovedToItsEdge() {
        hand.report(GestureEvent(.pinch, .began))
        let update = hand.report(GestureEvent(.pinch, .changed, .pinch(2), focus: point(-50, 9000)))
        #expect(update == .zoomBy(1, focus: point(0, 844)))
    }

    // MARK: Velocity

    @Test func velocityIsMeasuredOverTheLastTenthOfASecond() {
        hand.report(GestureEvent(.pan, .began, time: 0))
        for time in stride(from: 10.0, through: 300, by: 10) {
            // 100 points/s until 200 ms, then 1000.
            let x = time <= 200 ? time * 0.1 : 20 + (time - 200) * 1
            hand.report(GestureEvent(.pan, .changed, .pan(point(x, 0)), time: time))
        }
        hand.report(GestureEvent(.pan, .ended, .pan(point(120, 0)), time: 300))
        #expect(hand.momentum()?.pan == point(1000, 0))
        #expect(hand.release() == nil)
    }

    @Test func aGivenVelocityCounts() {
        hand.report(GestureEvent(.pan, .began))
        hand.report(GestureEvent(.pan, .ended, focus: point(7, 8), velocity: point(3, 4)))
        #expect(hand.release() == .glide(Momentum(focus: point(7, 8), pan: point(3, 4))))
    }

    @Test func withoutTimeThereIsNoVelocity() {
        hand.report(GestureEvent(.pan, .began), at: 5)
        hand.report(GestureEvent(.pan, .ended, .pan(point(100, 0))), at: 5)
        #expect(hand.momentum()?.pan == point(0, 0))
    }

    /// The velocity is recorded and must be a number that a gesture line can carry.
    @Test(arguments: [1e-300, 1e-9])
    func aVelocityMeasuredOverNextToNoTimeIsBounded(elapsed: Double) throws {
        hand.report(GestureEvent(.pan, .began, time: 0))
        hand.report(GestureEvent(.pan, .ended, .pan(point(-300, 1e-300)), time: elapsed))
        let pan = try #require(hand.momentum()).pan
        #expect(pan.x == -1e9 && (0...1e9).contains(pan.y))
        #expect(Glide(Momentum(pan: pan), of: hand.camera) != nil)
    }

    @Test func aPanThatEndsBesideAnActiveGestureThrowsNothing() {
        hand.report(GestureEvent(.pan, .began))
        hand.report(GestureEvent(.pinch, .began))
        hand.report(GestureEvent(.pan, .ended, velocity: point(900, 0)))
        #expect(hand.release() == nil)
        hand.report(GestureEvent(.pinch, .ended))
        #expect(hand.release() == nil)
    }

    // MARK: Inertia

    @Test func withInertiaPinchAndRotationLeaveWithTheirVelocityAboutTheFocus() {
        hand.set { $0.inertia = true }
        let focus = point(100, 200)
        for (kind, value) in [
            (GestureKind.pinch, { GestureEvent.Value.pinch(exp2($0 / 100)) }),
            (.rotate, { GestureEvent.Value.rotate($0) }),
        ] {
            hand.report(GestureEvent(kind, .began, focus: focus, time: 0))
            for time in stride(from: 10.0, through: 300, by: 10) {
                hand.report(GestureEvent(kind, .changed, value(time / 2), focus: focus, time: time))
            }
        }
        hand.report(GestureEvent(.pinch, .ended, focus: focus, time: 300))
        hand.report(GestureEvent(.rotate, .ended, focus: focus, time: 300))
        guard let momentum = hand.momentum() else { return #expect(Bool(false), "no momentum") }
        #expect(abs(momentum.zoom - 5) < 1e-9)
        #expect(abs(momentum.bearing + 500) < 1e-9)
        #expect(momentum.anchor == focus && momentum.pan == point(0, 0))
    }

    @Test func withoutInertiaPinchAndRotationEndWhereTheyEnd() {
        hand.report(GestureEvent(.pinch, .began, time: 0))
        hand.report(GestureEvent(.pinch, .changed, .pinch(2), time: 10))
        hand.report(GestureEvent(.pinch, .ended, time: 20))
        #expect(hand.release() == nil)
    }

    @Test func withoutFlingAPanEndsWhereItEnds() {
        hand.set { $0.fling = false }
        hand.fling()
        #expect(hand.release() == nil)
    }

    // MARK: Taps and one-finger zoom

    @Test func tapsZoomAboutThemWhenNoFingerIsLeft() {
        #expect(hand.report(GestureEvent(.doubleTap, .ended, focus: point(10, 20))) == nil)
        #expect(!hand.tracker.isActive)
        #expect(hand.release() == .tap(.zoomBy(1, focus: point(10, 20))))
        hand.report(GestureEvent(.twoFingerTap, .ended, focus: point(10, 20)))
        #expect(hand.release() == .tap(.zoomBy(-1, focus: point(10, 20))))
        #expect(hand.release() == nil)

        hand.report(GestureEvent(.doubleTap, .cancelled))
        #expect(hand.release() == nil)
        hand.report(GestureEvent(.pan, .began))
        hand.report(GestureEvent(.doubleTap, .ended))
        #expect(hand.release() == nil)
    }

    @Test func tapsOfOneFrameAddUpAndStopWhatGlides() {
        hand.fling()
        hand.report(GestureEvent(.doubleTap, .ended, focus: point(1, 2)))
        hand.report(GestureEvent(.doubleTap, .ended, focus: point(3, 4)))
        #expect(hand.release() == .tap(.zoomBy(2, focus: point(3, 4))))
        hand.report(GestureEvent(.pan, .began))
        hand.report(GestureEvent(.doubleTap, .ended, focus: point(1, 2)))
        hand.report(GestureEvent(.pan, .ended, velocity: point(900, 0)))
        #expect(hand.release() == .tap(.zoomBy(1, focus: point(1, 2))))
    }

    @Test func settingsOfTheSameFrameHoldForWhatGoesOn() {
        for change in [{ (s: inout GestureSettings) in s.scroll = false }, { $0.fling = false }] {
            let hand = Hand()
            hand.fling()
            hand.set(change)
            #expect(hand.momentum()?.pan == point(0, 0))
        }
    }

    @Test func settingsOfTheSameFrameHoldForInertia() {
        func left(_ change: (inout GestureSettings) -> Void) -> [Double?] {
            var (hand, settings) = (Hand(), GestureSettings())
            settings.inertia = true
            hand.tracker.set(settings)
            for kind in [GestureKind.pinch, .rotate] { hand.report(GestureEvent(kind, .began, time: 0)) }
            for kind in [GestureKind.pinch, .rotate] {
                hand.report(GestureEvent(kind, .ended, value(kind, 1), time: 100))
            }
            change(&settings)
            hand.tracker.set(settings)
            let momentum = hand.momentum()
            return [momentum?.zoom, momentum?.bearing]
        }
        #expect(left { _ in } == [10, -150])
        #expect(left { $0.zoom = false } == [0, -150])
        #expect(left { $0.rotate = false } == [10, 0])
        #expect(left { $0.inertia = false } == [0, 0])
    }

    @Test func whatEndsInTheMomentInWhichItBeganHasNoInertia() {
        hand.set { $0.inertia = true }
        for kind in [GestureKind.pinch, .rotate] {
            hand.report(GestureEvent(kind, .began, time: 0))
            hand.report(GestureEvent(kind, .ended, value(kind, 1), time: 0))
        }
        let momentum = hand.momentum()
        #expect(momentum?.zoom == 0 && momentum?.bearing == 0)
    }

    @Test func tapsFollowTheSwitches() {
        hand.set { $0.scroll = false }
        hand.report(GestureEvent(.doubleTap, .ended, focus: point(10, 20)))
        hand.set { $0.scroll = false }
        #expect(hand.release() == .tap(.zoomBy(1, focus: nil)))
        hand.report(GestureEvent(.doubleTap, .ended))
        hand.set { ($0.scroll, $0.zoom) = (false, false) }
        #expect(hand.release() == nil)
        hand.report(GestureEvent(.doubleTap, .ended, focus: point(10, 20)))
        #expect(hand.release() == nil)
        #expect(hand.report(GestureEvent(.oneFingerZoom, .changed, .oneFingerZoom(5))) == nil)
        #expect(!hand.tracker.isActive)
    }

    @Test func aOneFingerZoomIsAboutTheFirstTap() {
        let first = point(100, 300)
        hand.report(GestureEvent(.oneFingerZoom, .began, focus: first))
        #expect(
            hand.report(GestureEvent(.oneFingerZoom, .changed, .oneFingerZoom(64), focus: point(100, 364)))
                == .zoomBy(0.5, focus: first))
        #expect(
            hand.report(GestureEvent(.oneFingerZoom, .ended, .oneFingerZoom(-64), focus: point(100, 236)))
                == .zoomBy(-1, focus: first))
        #expect(hand.release() == nil)
    }

    @Test func aFastReporterCostsBoundedMemoryAndStillHasAVelocity() throws {
        var window = SampleWindow()
        for index in 0..<100_000 {
            window.append(point(Double(index), 0), at: Double(index) / 100, arrival: 0)
        }
        let velocity = try #require(window.velocity(of: point(100_000, 0), at: 1000, arrival: 0))
        #expect(abs(velocity.x - 100_000) < 1 && window.count == SampleWindow.capacity)
    }

    @Test func aVelocityIsThatOfTheLast100MsByTheClockOfItsSamples() {
        var window = SampleWindow()
        for time in [0.0, 1] { window.append(point(50 * time, 0), at: time, arrival: 0) }
        #expect(window.velocity(of: point(100, 0), at: 100, arrival: 0)?.x == 1000)
        #expect(window.velocity(of: point(100, 0), at: 100.0625, arrival: 0)?.x == 50 / 0.0990625)
        #expect(window.velocity(of: point(100, 0), at: nil, arrival: 100) == nil)
    }

    @Test func samplesOfOneTimeAreKeptOnceAndTheFirstCounts() {
        var window = SampleWindow()
        for index in 0...1 { window.append(point(Double(index), 0), at: 0, arrival: 0) }
        #expect(window.count == 1)
        for index in 1...2000 { window.append(point(Double(index), 0), at: 10, arrival: 0) }
        #expect(window.count == 2 && window.velocity(of: point(5, 0), at: 50, arrival: 0)?.x == 100)
        window.append(point(6, 0), at: 105, arrival: 0)
        #expect(window.count == 2 && window.velocity(of: point(96, 0), at: 105, arrival: 0)?.x == 1000)
        window.append(point(7, 0), at: 500, arrival: 0)
        #expect(window.count == 1)
    }

    @Test func aWindowSaysWhatAllSamplesOfItsTimeWouldSay() {
        for (seed, var random) in Seeded.each(1...20) {
            var (window, all, time) = (SampleWindow(), [(time: Double, x: Double)](), 0.0)
            for _ in 0..<400 {
                time += Double([0, 1, 8, 30, 150][random.integer(0...4)])
                let x = Double(random.integer(-500...500))
                let first = all.first { $0.time >= time - 100 && $0.time < time }
                let expected = first.map { (x - $0.x) / ((time - $0.time) / 1000) }
                #expect(window.velocity(of: point(x, 0), at: time, arrival: 0)?.x == expected, "seed \(seed)")
                window.append(point(x, 0), at: time, arrival: 0)
                all.append((time, x))
            }
        }
    }

    @Test(arguments: [true, false]) func aWindowThatIsDecodedSaysTheSame(_ hasOwnTimes: Bool) throws {
        var window = SampleWindow()
        for time in [0.0, 40, 90] {
            window.append(point(time, -2 * time), at: hasOwnTimes ? time : nil, arrival: time)
        }
        let decoded = try JSONDecoder().decode(SampleWindow.self, from: JSONEncoder().encode(window))
        #expect(decoded.count == 3)
        for time in [100.0, 120, 180] {
            let velocity = window.velocity(of: point(0, 0), at: hasOwnTimes ? time : nil, arrival: time)
            #expect(velocity != nil)
            #expect(decoded.velocity(of: point(0, 0), at: hasOwnTimes ? time : nil, arrival: time) == velocity)
        }
    }

    @Test func withoutScrollNothingGlidesAboutAFocus() {
        hand.set { $0.inertia = true }
        hand.report(GestureEvent(.pinch, .began, focus: point(1, 1), time: 0))
        hand.report(GestureEvent(.pinch, .changed, .pinch(2), focus: point(1, 1), time: 50))
        hand.report(GestureEvent(.pinch, .ended, focus: point(1, 1), time: 60))
        hand.set { ($0.inertia, $0.scroll) = (true, false) }
        let momentum = hand.momentum()
        #expect(momentum?.anchor == nil && momentum?.zoom ?? 0 > 1)
    }
}
