// Cameras converted to Google Earth's views and back.

import EarthViews
import MapCamera
import TestSupport
import Testing

@Suite struct EarthViewTests {
    /// Returns a valid position away from the poles.
    private static func position(_ random: inout Seeded) -> CameraPosition {
        let zoom = random.number(3...21)
        return CameraPosition(
            target: LatLng(latitude: random.number(-80...80), longitude: random.number(-179...179)), zoom: zoom,
            bearing: random.number(1...359),
            viewingAngle: random.number(1...CameraConstraints.viewingAngleCeiling(atZoom: zoom) * 0.999))
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>) func anEyeSeesTheTargetThatItIsTheEyeOf(seed: UInt64) throws {
        var random = Seeded(seed)
        let (position, height) = (Self.position(&random), random.number(200...2000))
        let eye = EarthView(position, viewportHeight: height).eye
        // On a sphere it would be 0; the ellipsoid's vertical is off by up to 0.19°.
        #expect(abs(eye.roll) < 0.2)
        // So far away that the earth's curve lifts the eye beyond the poles, other views fit equally well.
        guard eye.altitude < 2e6 else { return }
        let (view, isLowered) = try #require(EarthView.seen(by: eye, viewportHeight: height))
        #expect(!isLowered)
        let metres = 1e-3 / 111_000
        #expect(abs(view.position.target.latitude - position.target.latitude) < metres)
        #expect(abs(view.position.target.longitude - position.target.longitude) < metres * 6)
        #expect(abs(view.position.zoom - position.zoom) < 1e-6)
        #expect(abs(view.position.bearing - position.bearing) < 1e-5)
        #expect(abs(view.position.viewingAngle - position.viewingAngle) < 1e-5)
    }

    @Test func anEyeAboveItsTargetHasTheBearingAsHeadingAndIsOneAndAHalfViewportsHigh() {
        let target = LatLng(latitude: 60, longitude: 8)
        let view = EarthView(CameraPosition(target: target, zoom: 10, bearing: 30), viewportHeight: 1000)
        // At 60° a point of the screen is half as many metres as at the equator.
        #expect(abs(view.range - 1500 * 40_075_016.686 / 2 / 262_144) < 1e-6)
        #expect(abs(view.eye.altitude - view.range) < 1e-6 && abs(view.eye.heading - 30) < 1e-6)
    }

    @Test func anEyeThatLooksNorthAt45DegreesSeesAsFarAheadAsItIsHigh() throws {
        let eye = EarthView.Eye(
            place: LatLng(latitude: 0, longitude: 10), altitude: 1000, heading: 0, tilt: 45, roll: 0)
        let position = try #require(EarthView.seen(by: eye, viewportHeight: 844)).view.position
        // A degree of latitude at the equator is 110,574 m; the ground falls away by less than 10 cm.
        #expect(abs(position.target.latitude - 1000 / 110_574.3) < 1e-5)
        #expect(abs(position.target.longitude - 10) < 1e-12 && abs(position.bearing) < 1e-9)
        #expect(abs(position.viewingAngle - 45) < 0.01)
    }

    @Test(arguments: [90.0, 120, 180]) func anEyeThatLooksAtTheSkyIsLoweredToWhatACameraMay(tilt: Double) throws {
        let eye = EarthView.Eye(
            place: LatLng(latitude: 47, longitude: 8), altitude: 500, heading: 200, tilt: tilt, roll: 0)
        let (view, isLowered) = try #require(EarthView.seen(by: eye, viewportHeight: 844))
        let ceiling = CameraConstraints.viewingAngleCeiling(atZoom: view.position.zoom)
        #expect(isLowered && abs(view.position.viewingAngle - ceiling) < 1e-6)
        #expect(abs(view.eye.altitude - 500) < 1e-3)
    }

    @Test func anEyeOnTheGroundOrBelowSeesNothing() {
        for altitude in [0.0, -10] {
            let eye = EarthView.Eye(
                place: LatLng(latitude: 47, longitude: 8), altitude: altitude, heading: 0, tilt: 0, roll: 0)
            #expect(EarthView.seen(by: eye, viewportHeight: 844) == nil)
        }
    }

    @Test func lookingStraightDownARollTurnsTheBearingBack() throws {
        let eye = EarthView.Eye(
            place: LatLng(latitude: 47, longitude: 8), altitude: 1000, heading: 30, tilt: 0, roll: 10)
        let position = try #require(EarthView.seen(by: eye, viewportHeight: 844)).view.position
        #expect(abs(position.bearing - 20) < 1e-6)
    }
}
