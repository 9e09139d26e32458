// Single cases: the table of the ceiling, wrapping, bounds, easings and animations.

import Foundation
import TestSupport
import Testing

@testable import MapCamera

@Suite struct CameraTests {
    @Test(arguments: [
        (2.0, 30.0), (10, 30), (12, 37.5), (14, 45), (15, 55), (16, 65), (21, 65),
    ])
    func theViewingAnglesCeilingDependsOnTheZoom(zoom: Double, angle: Double) {
        #expect(CameraConstraints.viewingAngleCeiling(atZoom: zoom) == angle)
    }

    @Test(arguments: [(480.0, 120.0), (840, 120), (1200, 120), (180, -180), (-180, -180), (-181, 179), (540, -180)])
    func longitudeWraps(given: Double, wrapped: Double) {
        var camera = Camera()
        camera.apply(.setTarget(LatLng(latitude: 0, longitude: given), zoom: nil))
        #expect(camera.position.target.longitude == wrapped)
    }

    @Test(arguments: [(370.0, 10.0), (-10, 350), (360, 0), (-360, 0), (720.5, 0.5), (-1e-20, 0)])
    func bearingWraps(given: Double, wrapped: Double) {
        var camera = Camera()
        camera.apply(.setBearing(given))
        #expect(camera.position.bearing == wrapped)
    }

    @Test func aTargetIsKeptToTheLastBit() {
        var camera = Camera()
        let target = LatLng(latitude: 49.26, longitude: -123.11)
        camera.apply(.setTarget(target, zoom: 12))
        camera.apply(.zoomIn)
        #expect(camera.position.target == target)
    }

    @Test func zoomingOutLowersTheAngleAndZoomingInDoesNotRaiseIt() {
        var camera = Camera(
            position: CameraPosition(target: LatLng(latitude: 0, longitude: 0), zoom: 18, viewingAngle: 65))
        camera.apply(.zoomTo(12))
        #expect(camera.position.viewingAngle == 37.5)
        camera.apply(.zoomTo(18))
        #expect(camera.position.viewingAngle == 37.5)
    }

    @Test func boundsAcrossTheAntimeridianClampToTheNearerEdge() throws {
        let bounds = try #require(
            CoordinateBounds(
                southWest: LatLng(latitude: -20, longitude: 170), northEast: LatLng(latitude: 20, longitude: -160)))
        func clamped(_ longitude: Double) -> Double {
            bounds.clamp(LatLng(latitude: 0, longitude: longitude)).longitude
        }
        #expect(bounds.width == 30)
        #expect(clamped(175) == 175 && clamped(-165) == -165 && clamped(-180) == -180)
        #expect(clamped(160) == 170 && clamped(-150) == -160)
        #expect(bounds.clamp(LatLng(latitude: 50, longitude: 0)).latitude == 20)
    }

    @Test func worldBoundsHoldNothingBack() throws {
        let world = try #require(
            CoordinateBounds(
                southWest: LatLng(latitude: -90, longitude: -180), northEast: LatLng(latitude: 90, longitude: 180)))
        for longitude in stride(from: -180.0, to: 180, by: 7.3) {
            #expect(world.clamp(LatLng(latitude: 0, longitude: longitude)).longitude == longitude)
        }
        #expect(
            CoordinateBounds(southWest: LatLng(latitude: 1, longitude: 0), northEast: LatLng(latitude: 0, longitude: 1))
                == nil)
    }

    /// With nine decimals, as in the protocol, west must not become east.
    @Test(arguments: [
        (10.0000000004, 10.0000000001), (0, -1e-12), (1e-300, 0), (-179.9999999999, -180), (180, 179.9999999996),
        (0.0009765625, 0.0009765615), (-73.5, -73.5000000019), (120.123456789, 120.1234567885), (5, 4.999999998),
    ])
    func boundsThatLeaveOutNextToNothingAreTheSameWhenTheyAreWrittenAndRead(west: Double, east: Double) throws {
        let bounds = try #require(
            CoordinateBounds(
                southWest: LatLng(latitude: -20, longitude: west), northEast: LatLng(latitude: 20, longitude: east)))
        func written(_ corner: LatLng) throws -> LatLng {
            LatLng(
                latitude: corner.latitude,
                longitude: try #require(Double(String(format: "%.9f", corner.longitude))))
        }
        let read = try #require(
            CoordinateBounds(southWest: written(bounds.southWest), northEast: written(bounds.northEast)))
        #expect(read.width > 359.999 && bounds.width > 359.999)
        #expect(read == bounds)
        #expect(abs(bounds.southWest.longitude - west) <= 1e-9 && abs(bounds.northEast.longitude - east) <= 1e-9)
    }

    @Test func easingsGoFromNoughtToOneAndNeverBack() {
        for easing in [Easing.default, .linear, .easeIn, .easeOut, .easeInOut] {
            #expect(easing.progress(at: 0) == 0 && easing.progress(at: 1) == 1)
            let samples = (0...100).map { easing.progress(at: Double($0) / 100) }
            #expect(zip(samples, samples.dropFirst()).allSatisfy { $0 <= $1 })
        }
        // From a browser's cubic-bezier(.25, .1, .25, 1).
        #expect(abs(Easing.default.progress(at: 0.5) - 0.802403387584857) < 1e-12)
    }

    @Test func anAnimationGoesTheShortWayAndEndsExactly() throws {
        var camera = Camera(
            position: CameraPosition(target: LatLng(latitude: 10, longitude: 170), zoom: 5, bearing: 350))
        let end = CameraPosition(target: LatLng(latitude: -10, longitude: -170), zoom: 7, bearing: 20, viewingAngle: 30)
        let animation = try #require(CameraAnimation(.setCamera(end), of: camera, duration: 100, easing: .linear))
        let motion = Motion(animation, at: 500)
        #expect(abs(motion.nextFrame - (500 + 1000.0 / 60)) < 1e-9)
        let positions = frames(motion, of: &camera).map(\.position)
        #expect(positions.allSatisfy { abs($0.target.longitude) >= 170 && ($0.bearing >= 350 || $0.bearing <= 20) })
        #expect(positions.count == 6 && positions.last == end)
    }

    @Test func anAnimationToWhereTheCameraIsIsNone() {
        let camera = Camera(position: CameraPosition(target: LatLng(latitude: 10, longitude: 170), zoom: 21))
        for update in [CameraUpdate.zoomIn, .setBearing(360), .setTarget(camera.position.target, zoom: nil)] {
            #expect(CameraAnimation(update, of: camera, duration: 100, easing: .linear) == nil)
        }
    }

    @Test func aZoomWithFocusKeepsItsAnchorInEveryFrame() {
        var random = Seeded(5)
        for _ in 0..<200 {
            var camera = random.camera()
            let focus = random.point(in: camera.viewport)
            let place = camera.projection.place(under: focus)
            let animation = CameraAnimation(.zoomBy(1.5, focus: focus), of: camera, duration: 200, easing: .default)
            guard let animation else { continue }
            for frame in frames(Motion(animation, at: 0), of: &camera) {
                guard abs(frame.position.target.latitude) < 85 else { break }
                #expect(distance(of: place, from: focus, frame) < 1e-5)
            }
        }
    }

    @Test func aPlaceOfNoSizeFitsAtTheHighestZoomHoweverItsZerosAreSigned() throws {
        let edges: [(Double, Double, Double, Double)] = [
            (0, 1, -0.0, 1), (1, 0, 1, -0.0), (-0.0, 0, -0.0, -0.0), (0, 0, 0, 0),
        ]
        for (south, west, north, east) in edges {
            let bounds = try #require(
                CoordinateBounds(
                    southWest: LatLng(latitude: south, longitude: west),
                    northEast: LatLng(latitude: north, longitude: east)))
            let (position, fits) = Camera().position(fitting: bounds, insets: EdgeInsets())
            #expect(position?.zoom == 21 && fits)
        }
    }

    @Test func aPoseThatIsNoNumberChangesNothing() {
        var camera = Camera()
        let before = camera.position
        camera.apply(.zoomTo(.nan))
        camera.apply(.setTarget(LatLng(latitude: .nan, longitude: 0), zoom: nil))
        camera.apply(.setBearing(.infinity))
        #expect(camera.position == before)
    }

    @Test func boundsThatNeedALowerZoomDoNotFit() throws {
        var camera = Camera()
        camera.setZoomRange(try #require(ZoomRange(min: 10, max: 12)))
        let bounds = try #require(
            CoordinateBounds(
                southWest: LatLng(latitude: 0, longitude: 0), northEast: LatLng(latitude: 40, longitude: 40)))
        let fitted = camera.position(fitting: bounds, insets: EdgeInsets())
        #expect(fitted.position?.zoom == 10 && !fitted.fits)
        let nothing = camera.position(fitting: bounds, insets: EdgeInsets(all: 400))
        #expect(nothing.position == nil && !nothing.fits)
        camera.apply(.fitBounds(bounds, insets: EdgeInsets(all: 400)))
        #expect(camera.position.zoom == 10)
    }

    @Test func aCameraIsWithinItsConstraintsFromTheFirst() throws {
        var constraints = CameraConstraints()
        constraints.zoomRange = try #require(ZoomRange(min: 5, max: 10))
        let nowhere = CameraPosition(target: LatLng(latitude: .nan, longitude: 0), zoom: .nan)
        #expect(isWithinConstraints(Camera(position: nowhere, constraints: constraints)))
    }

    @Test func theVisibleRegionIsThatWithinThePadding() throws {
        let padding = EdgeInsets(top: 100, left: 50, bottom: 20, right: 10)
        let camera = Camera(
            position: CameraPosition(target: LatLng(latitude: 10, longitude: 20), zoom: 8),
            viewport: Viewport(width: 400, height: 800, padding: padding))
        let region = try #require(camera.projection.visibleRegion)
        #expect(region.farLeft == camera.projection.coordinate(for: ScreenPoint(x: 50, y: 100)))
        #expect(region.nearRight == camera.projection.coordinate(for: ScreenPoint(x: 390, y: 780)))
    }

    @Test func aPositionIsPossibleUpToTheEdgesOfItsRangesAndNotBeyond() {
        let least = CameraPosition(target: LatLng(latitude: -90, longitude: -180), zoom: 0)
        let greatest = CameraPosition(
            target: LatLng(latitude: 90, longitude: 180), zoom: 30, bearing: 360, viewingAngle: 90)
        for (edge, outwards) in [(least, -1.0), (greatest, 1)] {
            #expect(edge.isPossible)
            for member in [\CameraPosition.target.latitude, \.target.longitude, \.zoom, \.bearing, \.viewingAngle] {
                for wrong in [edge[keyPath: member] + outwards * 1e-9, .nan] {
                    var position = edge
                    position[keyPath: member] = wrong
                    #expect(!position.isPossible, "\(member) \(wrong)")
                }
            }
        }
        // Google's `fitBounds:` leaves the same margin on each side.
        #expect(CameraUpdate.defaultFitPadding == 64)
    }
}
