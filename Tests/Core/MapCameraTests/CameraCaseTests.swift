// Compares the camera with cases computed independently in 60 digits, to 1e-6 of a point. `Cases/camera-cases.py`
// documents, checks and generates the cases.

import Foundation
import TestSupport
import Testing

@testable import MapCamera

/// Returns the cases of a file.
func cases(_ name: String) throws -> [JSON] {
    try Files.text("Tests/Core/MapCameraTests/Cases/\(name).ndjson").split(separator: "\n").map { try JSON($0) }
}

/// Returns a number of a case.
func number(_ json: JSON?) throws -> Double { try #require(json?.number) }

private func latLng(_ json: JSON?) throws -> LatLng {
    LatLng(latitude: try number(json?["lat"]), longitude: try number(json?["lng"]))
}

/// Returns a camera of a case.
func position(_ json: JSON?) throws -> CameraPosition {
    CameraPosition(
        target: try latLng(json), zoom: try number(json?["zoom"]), bearing: try number(json?["bearing"]),
        viewingAngle: try number(json?["pitch"]))
}

/// Returns the viewport of a case.
func viewport(_ json: JSON) throws -> Viewport {
    let (size, padding) = (json["viewport"], json["camera"]?["padding"])
    return Viewport(
        width: try number(size?["width"]), height: try number(size?["height"]),
        padding: EdgeInsets(
            top: padding?["top"]?.number ?? 0, left: padding?["left"]?.number ?? 0,
            bottom: padding?["bottom"]?.number ?? 0, right: padding?["right"]?.number ?? 0))
}

@Suite struct CameraCaseTests {
    private static let tolerance = 1e-6

    @Test func projectionsAreExactToAMillionthOfAPoint() throws {
        var count = 0
        for testCase in try cases("camera-cases") {
            guard let error = try Self.projectionError(of: testCase) else { continue }
            #expect(error < Self.tolerance, "\(testCase["id"]?.string ?? "?") is off by \(error) points")
            count += 1
        }
        #expect(count == 59)
    }

    @Test func movedCamerasAreExactToAMillionthOfAPoint() throws {
        var (count, constrained) = (0, 0)
        for testCase in try cases("camera-cases") {
            guard let updates = try Self.updates(of: testCase) else { continue }
            let viewport = try viewport(testCase)
            let start = try position(testCase["camera"])
            let wanted = try position(testCase["exact"]?["camera"])
            // The cases ignore constraints: a camera may not be allowed at the start or the end.
            guard Self.isAllowed(start, viewport), Self.isAllowed(wanted, viewport) else {
                constrained += 1
                continue
            }
            var camera = Camera(position: start, viewport: viewport)
            for update in updates { camera.apply(update) }
            let error = Self.distance(camera.position, wanted, viewport)
            #expect(error < Self.tolerance, "\(testCase["id"]?.string ?? "?") is off by \(error) points or degrees")
            count += 1
        }
        #expect(count + constrained == 87 && count > 50, "\(count) held, \(constrained) constrained")
    }

    /// Returns the distance of a projection from the exact answer, in points of its screen; `nil` for other cases.
    private static func projectionError(of testCase: JSON) throws -> Double? {
        let position = try position(testCase["camera"])
        let projection = Projection(position, viewport: try viewport(testCase))
        let exact = try #require(testCase["exact"])
        switch testCase["op"]?.string {
        case "project":
            let found = try #require(projection.point(for: latLng(testCase["latLng"])))
            let wanted = try point(exact["point"])
            return hypot(found.x - wanted.x, found.y - wanted.y)
        case "unproject":
            let found = try #require(projection.coordinate(for: point(testCase["point"])))
            return distance(found, try latLng(exact["latLng"]), projection)
        case "visibleRegion":
            let region = try #require(projection.visibleRegion)
            let corners = [
                (region.nearLeft, "nearLeft"), (region.nearRight, "nearRight"), (region.farLeft, "farLeft"),
                (region.farRight, "farRight"),
            ]
            return try corners.map { distance($0, try latLng(exact[$1]), projection) }.max()
        default: return nil
        }
    }

    /// Returns the updates that move the camera; `nil` for other cases.
    private static func updates(of testCase: JSON) throws -> [CameraUpdate]? {
        func anchor() throws -> ScreenPoint { try point(testCase["point"]) }
        switch testCase["op"]?.string {
        case "setLocationAtPoint":
            let position = try position(testCase["camera"])
            let projection = Projection(position, viewport: try viewport(testCase))
            let seen = try #require(projection.point(for: latLng(testCase["latLng"])))
            return [.pan(from: seen, to: try anchor())]
        case "pan":
            return [.pan(from: try point(testCase["from"]), to: try point(testCase["to"]))]
        case "zoomAround": return [.zoomBy(try number(testCase["dz"]), focus: try anchor())]
        case "rotateAround": return [.rotateBy(try number(testCase["dBearing"]), focus: try anchor())]
        case "gesture":
            let (around, pan) = (try point(testCase["around"]), try point(testCase["pan"]))
            return [
                .pan(from: around - pan, to: around),
                .zoomBy(try number(testCase["dz"]), focus: around),
                .rotateBy(try number(testCase["dBearing"]), focus: around),
            ]
        default: return nil
        }
    }

    private static func isAllowed(_ position: CameraPosition, _ viewport: Viewport) -> Bool {
        distance(Camera(position: position, viewport: viewport).position, position, viewport) < 1e-9
    }

    /// Returns the distance of two positions: the largest difference of their targets, zooms and angles.
    private static func distance(_ a: CameraPosition, _ b: CameraPosition, _ viewport: Viewport) -> Double {
        let angles = max(abs(wrap180(a.bearing - b.bearing)), abs(a.viewingAngle - b.viewingAngle))
        return max(abs(a.zoom - b.zoom), angles, distance(a.target, b.target, Projection(b, viewport: viewport)))
    }

    /// Returns the distance of two places in points on the ground.
    private static func distance(_ a: LatLng, _ b: LatLng, _ projection: Projection) -> Double {
        let east = wrap180(a.longitude - b.longitude) * (.pi / 180)
        return hypot(east, MercatorPoint(a).y - MercatorPoint(b).y) * projection.scale
    }

    private static func point(_ json: JSON?) throws -> ScreenPoint {
        ScreenPoint(x: try number(json?["x"]), y: try number(json?["y"]))
    }
}
