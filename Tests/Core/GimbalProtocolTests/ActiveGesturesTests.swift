// Which gestures requests report, and which are active afterwards. `TracesTests` compares this with the daemon's hub.

import Gestures
import GimbalProtocol
import Testing

@Suite struct ActiveGesturesTests {
    private func request(_ line: String) throws -> Request { try #require(try decode(line).first) }

    private func report(
        _ phase: GesturePhase, _ kind: GestureKind = .pan, _ label: GestureKey.Label = .none
    ) -> GestureReport {
        GestureReport(GestureEvent(kind, phase), of: GestureKey(feed: 0, kind: kind, label: label))
    }

    private let pan = GestureKey(feed: 0, kind: .pan)

    // MARK: Active gestures

    @Test func aGestureIsActiveFromItsFirstReportToItsEnd() {
        for first in [GesturePhase.began, .changed] {
            for last in [GesturePhase.ended, .cancelled] {
                var active = ActiveGestures<Int>()
                #expect(active.handle(report(first), 1) == nil)
                #expect(active.handle(report(.changed), 2) == nil)
                #expect(active[pan] == 1 && active.all.count == 1)
                let ended = active.handle(report(last), 3)
                #expect(ended?.key == pan && ended?.value == 1)
                #expect(active.isEmpty && active[pan] == nil)
                #expect(active.handle(report(last), 4) == nil)
            }
        }
    }

    @Test func whatBeginsAgainEndsFirst() {
        var active = ActiveGestures<Int>()
        active.handle(report(.began), 1)
        active.handle(report(.began, .tilt), 2)
        #expect(active.handle(report(.began), 3)?.value == 1)
        #expect(active.all.map(\.value) == [2, 3])
    }

    @Test func gesturesOfAKindAreToldApartByReporterAndLabel() {
        var active = ActiveGestures<Int>()
        active.handle(report(.began), 1)
        active.handle(report(.began, .pan, .number(7)), 2)
        active.handle(GestureReport(GestureEvent(.pan, .began), of: GestureKey(feed: -1, kind: .pan)), 3)
        #expect(active.all.map(\.value) == [1, 2, 3])
        active.handle(report(.ended, .pan, .number(7)), 4)
        #expect(active.all.map(\.value) == [1, 3])
    }

    @Test func aTapIsNeverActive() {
        var active = ActiveGestures<Int>()
        for kind in GestureKind.allCases where kind.isTap {
            for phase in GesturePhase.allCases { #expect(active.handle(report(phase, kind), 1) == nil) }
        }
        #expect(active.isEmpty)
    }

    @Test func noMoreThanTheLimitAreActive() {
        var active = ActiveGestures<Int>(limit: 2)
        for number in 0..<5 { active.handle(report(.began, .pan, .number(Int64(number))), number) }
        #expect(active.all.map(\.value) == [0, 1])
        active.handle(report(.ended, .pan, .number(0)), 5)
        active.handle(report(.began, .pan, .number(9)), 6)
        #expect(active.all.map(\.value) == [1, 6])
    }

    @Test(arguments: [
        #"{"type":"stop"}"#, #"{"type":"move","update":{"kind":"zoom-in"}}"#,
        #"{"type":"animate","update":{"kind":"zoom-in"}}"#, #"{"type":"remove-camera"}"#,
    ])
    func whatMovesOrStopsTheCameraCancelsEveryGesture(_ line: String) throws {
        var active = ActiveGestures<Int>()
        active.handle(report(.began), 1)
        active.handle(report(.began, .tilt), 2)
        #expect(active.handle(try request(line).body).map(\.value) == [1, 2])
        #expect(active.isEmpty)
        // Fingers that stay down continue it.
        active.handle(report(.changed), 3)
        #expect(active[pan] == 3)
    }

    @Test(arguments: [
        #"{"type":"set-zoom-range","minZoom":3}"#, #"{"type":"set-target-bounds","bounds":null}"#,
        #"{"type":"set-viewport","width":1,"height":1}"#, #"{"type":"set-gestures","fling":false}"#,
    ])
    func otherSettingsCancelNone(_ line: String) throws {
        var active = ActiveGestures<Int>()
        active.handle(report(.began), 1)
        #expect(active.handle(try request(line).body).isEmpty && active[pan] == 1)
    }

    @Test func aGestureThatIsSwitchedOffIsCancelledAndIgnored() {
        var active = ActiveGestures<Int>(GestureSwitches(tilt: false).applied(to: GestureSettings()))
        active.handle(report(.began, .tilt), 1)
        active.handle(report(.began, .pan), 2)
        active.handle(report(.began, .pinch), 3)
        #expect(active.all.map(\.value) == [2, 3])
        #expect(active.handle(.set(.gestures(GestureSwitches(scroll: false)))).map(\.value) == [2])
        active.handle(report(.changed, .pan), 4)
        #expect(active.all.map(\.value) == [3])
        // Only given members change.
        #expect(active.handle(.set(.gestures(GestureSwitches(scroll: true)))).isEmpty)
        active.handle(report(.changed, .pan), 5)
        active.handle(report(.changed, .tilt), 6)
        #expect(active.all.map(\.value) == [3, 5])
    }

    @Test func theEndCancelsWhatIsLeft() {
        var active = ActiveGestures<Int>()
        active.handle(report(.began), 1)
        #expect(active.cancelAll().map(\.value) == [1])
        #expect(active.isEmpty)
    }

    // MARK: Reported gestures

    /// Returns a report of two fingers at a distance left and right of the surface's middle; `nil` lifts them.
    private func fingers(_ reach: Double?, on surface: String) -> String {
        let touches = reach.map { #"{"id":1,"x":\#(200 - $0),"y":400},{"id":2,"x":\#(200 + $0),"y":400}"# }
        return #"{"type":"touch","surface":"\#(surface)","touches":[\#(touches ?? "")]}"#
    }

    @Test func aReportIsHandedOnAsItIs() throws {
        var reporter = GestureReporter()
        let line = #"{"type":"pinch","phase":"changed","gesture":"a","scale":2}"#
        let reports = reporter.reports(of: try request(line), at: 0)
        #expect(reports.map(\.key) == [GestureKey(feed: 0, kind: .pinch, label: .text("a"))])
        #expect(reports.first?.event.value == .pinch(2) && reports.first?.event.phase == .changed)
    }

    @Test func fingersMakeReportsForEachSurface() throws {
        var reporter = GestureReporter()
        var active = ActiveGestures<Void>()
        func play(_ line: String, at time: Double) throws -> [GestureReport] {
            let reports = reporter.reports(of: try request(line), at: time)
            for report in reports { active.handle(report, ()) }
            return reports
        }
        for frame in 0...9 {
            for surface in ["a", "b"] {
                _ = try play(fingers(40 + 10 * Double(frame), on: surface), at: 16 * Double(frame))
            }
        }
        #expect(reporter.fingersDown == 4 && reporter.touches(on: .text("a")).map(\.id) == [1, 2])
        #expect(reporter.touches(on: .none).isEmpty)
        #expect(active.all.map(\.key.kind) == [.pan, .pinch, .rotate, .pan, .pinch, .rotate])
        #expect(Set(active.all.map(\.key.feed)) == [-1, -2])
        #expect(try play(fingers(nil, on: "a"), at: 200).map(\.event.phase) == [.ended, .ended, .ended])
        #expect(reporter.fingersDown == 2 && active.all.allSatisfy { $0.key.feed == -2 })
    }

    @Test func aSurfacesOwnTimeCountsWhereItTellsOne() throws {
        // Two taps half a second apart are no double tap unless the surface's own times say they were faster.
        func taps(_ members: (Double) -> String) throws -> [GestureKind] {
            var reporter = GestureReporter()
            return try [0.0, 50, 500, 550].enumerated().flatMap { index, time in
                let touches = index % 2 == 0 ? #"{"id":1,"x":5,"y":5}"# : ""
                let line = #"{"type":"touch","touches":[\#(touches)]\#(members(time))}"#
                return reporter.reports(of: try request(line), at: time).map(\.event.kind)
            }
        }
        #expect(try taps { _ in "" } == [])
        #expect(try taps { #","surfaceTimeMs":\#($0 / 4)"# } == [.doubleTap])
    }

    @Test func whatIsNotAboutGesturesMakesNoReport() throws {
        var reporter = GestureReporter()
        for line in [#"{"type":"stop"}"#, #"{"type":"ping"}"#, #"{"type":"marker","label":"a"}"#] {
            #expect(reporter.reports(of: try request(line), at: 0).isEmpty)
        }
    }
}
