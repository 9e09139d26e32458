// The projection against cases computed in 60-digit arithmetic, to 1e-6 of a point.

import Foundation
import TestSupport
import Testing

@testable import MapCamera

@Suite struct VectorTests {
    private static let tolerance = 1e-6

    @Test func projectionHoldsToAMillionthOfAPoint() throws {
        guard let shared = Files.shared else {
            print("skipped: no folder ../shared with camera cases")
            return
        }
        let file = shared.appendingPathComponent("vectors/camera-cases.ndjson")
        let cases = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { try JSON($0) }
        #expect(cases.count > 100)
        var worst = 0.0
        for testCase in cases {
            let error = try #require(Self.error(of: testCase), "\(testCase.text)")
            #expect(error < Self.tolerance, "\(testCase["id"]?.string ?? "?") is off by \(error) points")
            worst = max(worst, error)
        }
        print("camera cases: \(cases.count), worst error \(worst) points")
    }

    /// How far this camera is from the exact answer, in points of its screen.
    private static func error(of testCase: JSON) -> Double? {
        guard let camera = testCase["camera"], let viewport = viewport(testCase), let exact = testCase["exact"],
            let position = position(camera)
        else { return nil }
        let projection = Projection(position, viewport: viewport)
        switch testCase["op"]?.string {
        case "project":
            guard let place = latLng(testCase["latLng"]), let wanted = point(exact["point"]),
                let point = projection.point(for: place)
            else { return nil }
            return hypot(point.x - wanted.x, point.y - wanted.y)
        case "unproject":
            guard let point = point(testCase["point"]), let wanted = latLng(exact["latLng"]),
                let place = projection.coordinate(for: point)
            else { return nil }
            return distance(place, wanted, projection)
        case "visibleRegion":
            guard let region = projection.visibleRegion else { return nil }
            let corners = [
                (region.nearLeft, "nearLeft"), (region.nearRight, "nearRight"), (region.farLeft, "farLeft"),
                (region.farRight, "farRight"),
            ]
            return corners.map { corner, name in
                latLng(exact[name]).map { distance(corner, $0, projection) } ?? .infinity
            }.max()
        case let op:
            guard let (view, target) = moved(op ?? "", testCase, projection), let wanted = exact["camera"],
                let wantedPosition = self.position(wanted)
            else { return nil }
            let angles = max(
                abs(view.zoom - wantedPosition.zoom), abs(wrap180(view.bearing - wantedPosition.bearing)),
                abs(view.viewingAngle - wantedPosition.viewingAngle))
            let after = Projection(wantedPosition, viewport: viewport)
            return max(angles, distance(target.coordinate, wantedPosition.target, after))
        }
    }

    private static func moved(_ op: String, _ testCase: JSON, _ projection: Projection) -> (View, MercatorPoint)? {
        var view = projection.view
        let place: MercatorPoint
        let anchor: ScreenPoint
        switch op {
        case "setLocationAtPoint":
            guard let coordinate = latLng(testCase["latLng"]), let point = point(testCase["point"]) else { return nil }
            (place, anchor) = (MercatorPoint(coordinate), point)
        case "pan":
            guard let from = point(testCase["from"]), let to = point(testCase["to"]) else { return nil }
            (place, anchor) = (projection.place(under: from), to)
        case "zoomAround", "rotateAround":
            guard let point = point(testCase["point"]) else { return nil }
            (place, anchor) = (projection.place(under: point), point)
        case "gesture":
            guard let around = point(testCase["around"]), let pan = point(testCase["pan"]) else { return nil }
            (place, anchor) = (projection.place(under: around - pan), around)
        default: return nil
        }
        view.zoom += testCase["dz"]?.number ?? 0
        view.bearing += testCase["dBearing"]?.number ?? 0
        let after = Projection(view, target: projection.target, viewport: projection.viewport)
        return (view, after.target(showing: place, at: anchor))
    }

    /// The distance of two places in points on the ground.
    private static func distance(_ a: LatLng, _ b: LatLng, _ projection: Projection) -> Double {
        let east = wrap180(a.longitude - b.longitude) * (.pi / 180)
        return hypot(east, MercatorPoint(a).y - MercatorPoint(b).y) * projection.scale
    }

    private static func latLng(_ json: JSON?) -> LatLng? {
        guard let latitude = json?["lat"]?.number, let longitude = json?["lng"]?.number else { return nil }
        return LatLng(latitude: latitude, longitude: longitude)
    }

    private static func point(_ json: JSON?) -> ScreenPoint? {
        guard let x = json?["x"]?.number, let y = json?["y"]?.number else { return nil }
        return ScreenPoint(x: x, y: y)
    }

    private static func position(_ json: JSON) -> CameraPosition? {
        guard let target = latLng(json), let zoom = json["zoom"]?.number, let bearing = json["bearing"]?.number,
            let pitch = json["pitch"]?.number
        else { return nil }
        return CameraPosition(target: target, zoom: zoom, bearing: bearing, viewingAngle: pitch)
    }

    private static func viewport(_ json: JSON) -> Viewport? {
        guard let width = json["viewport"]?["width"]?.number, let height = json["viewport"]?["height"]?.number else {
            return nil
        }
        let padding = json["camera"]?["padding"]
        return Viewport(
            width: width, height: height,
            padding: EdgeInsets(
                top: padding?["top"]?.number ?? 0, left: padding?["left"]?.number ?? 0,
                bottom: padding?["bottom"]?.number ?? 0, right: padding?["right"]?.number ?? 0))
    }
}
