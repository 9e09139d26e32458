// Which surfaces are tracked, whatever they report, and at which times.

import Foundation
import Gestures
import MapCamera
import Testing

@testable import Touches

@Suite struct TouchSurfacesTests {
    @Test func aSurfaceTooManyIsNotFollowedUntilAnotherHasNoFingers() {
        var surfaces = TouchSurfaces(limit: 3)
        func touch(_ name: String, _ isDown: Bool) -> Bool {
            let touches = isDown ? [Touch(id: 1, position: .init(x: 1, y: 1))] : []
            return surfaces.handle(touches, of: SurfaceKey(feed: 1, label: .text(name)), at: 0) != nil
        }
        for name in ["a", "b", "c"] { #expect(touch(name, true)) }
        #expect(!touch("d", true) && surfaces.all.count == 3)
        #expect(touch("b", false) && touch("d", true) && surfaces.all.count == 3)
    }

    private static func pair(_ distance: Double) -> [Touch] {
        [
            Touch(id: 1, position: .init(x: 500 - distance / 2, y: 400)),
            Touch(id: 2, position: .init(x: 500 + distance / 2, y: 400)),
        ]
    }
    private static let one = SurfaceKey(feed: 1, label: .text("one"))
    private static let other = SurfaceKey(feed: 1, label: .text("other"))

    @Test func aSurfaceIsMadeByItsFirstFinger() {
        var surfaces = TouchSurfaces(limit: 3)
        #expect(surfaces.isPossible && surfaces[Self.one] == nil)
        #expect(surfaces.handle([], of: Self.one, at: 0) == nil && surfaces.all.isEmpty)
        #expect(surfaces.handle(Self.pair(100), of: Self.one, at: 0)?.surface.touches == Self.pair(100))
        #expect(surfaces.isPossible && surfaces[Self.one]?.isTouched == true)
    }

    @Test(arguments: [(1, true), (7, true), (0, false), (-1, false)])
    func noSurfaceHasANumberThatWasNotGiven(last: Int, isPossible: Bool) throws {
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "0")
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "0")
        var surfaces = TouchSurfaces(limit: 3)
        _ = surfaces.handle(Self.pair(100), of: Self.one, at: 0)
        let text = String(decoding: try encoder.encode(surfaces), as: UTF8.self)
        #expect(text.contains(#""lastNumber":1"#))
        let changed = Data(text.replacing(#""lastNumber":1"#, with: #""lastNumber":\#(last)"#).utf8)
        #expect(try decoder.decode(TouchSurfaces.self, from: changed).isPossible == isPossible)
    }

    @Test func aSurfaceThatIsGoneIsForgottenAndItsGesturesAreCancelled() {
        var surfaces = TouchSurfaces(limit: 3)
        for (time, distance) in [(5000.0, 100.0), (100, 300), (110, 310)] {
            _ = surfaces.handle(Self.pair(distance), of: Self.one, at: time)
        }
        _ = surfaces.handle(Self.pair(100), of: Self.other, at: 0)
        let number = surfaces[Self.one]?.number
        let outcome = surfaces.remove(Self.one)
        #expect(outcome?.events.map(\.phase) == [.cancelled, .cancelled, .cancelled])
        #expect(outcome?.timeMs == 5010 && outcome?.surface.isTouched == false)
        #expect(surfaces[Self.one] == nil && surfaces[Self.other]?.isTouched == true)
        #expect(surfaces.remove(Self.one) == nil)
        _ = surfaces.handle([], of: Self.other, at: 10)
        #expect(surfaces.remove(Self.other) == nil && surfaces.all.isEmpty)
        _ = surfaces.handle(Self.pair(100), of: Self.one, at: 0)
        #expect(surfaces[Self.one]?.number != number && surfaces[Self.one]?.gestureFeed ?? 0 < 0)
    }

    @Test(arguments: [true, false]) func twoFingersTurnTheMapWhereTheirAngleCanBeTrusted(tells: Bool) {
        var surfaces = TouchSurfaces(limit: 3)
        let turned = [Touch(id: 1, position: .init(x: 500, y: 340)), Touch(id: 2, position: .init(x: 500, y: 460))]
        _ = surfaces.handle(Self.pair(100), of: Self.one, at: 0, tellsAngles: tells)
        let outcome = surfaces.handle(turned, of: Self.one, at: 10, tellsAngles: tells)
        #expect(outcome?.events.contains { $0.kind == .rotate } == tells)
        // It can rotate unless told otherwise.
        _ = surfaces.handle(Self.pair(100), of: Self.other, at: 0)
        #expect(surfaces.handle(turned, of: Self.other, at: 10)?.events.contains { $0.kind == .rotate } == true)
    }

    @Test func aClockThatIsSetGoesOnAndNeverBack() {
        var clock = SurfaceClock()
        // It begins anywhere, ignores jitter, continues after being set, and never exceeds the limits of a line.
        for (told, time) in [
            (-7000.0, -7000.0), (1000, 1000), (1016, 1016), (900, 1016), (1032, 1032), (-5000, 1032), (-4990, 1042),
            (-5900, 1042),
            (0, 6032), (2e15, 1e15), (5e15, 1e15),
        ] { #expect(clock.time(of: told) == time, "\(told)") }
    }
}
