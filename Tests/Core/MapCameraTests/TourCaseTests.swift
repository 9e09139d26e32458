// Compares flights and tours with cases computed independently in 50 digits, to the protocol's precision: a billionth
// of a degree and of a zoom level. `Cases/tour-cases.py` documents, checks and generates the cases.

import Foundation
import TestSupport
import Testing

@testable import MapCamera

@Suite struct TourCaseTests {
    @Test func flightsAndToursAreExactToABillionthOfADegree() throws {
        var (count, cameras) = (0, 0)
        for testCase in try cases("tour-cases") {
            let name = testCase["id"]?.string ?? "?"
            let tour = try Self.tour(of: testCase)
            let duration = try number(testCase["exact"]?["durationMs"])
            #expect(abs(tour.duration - duration) < 1e-9 * max(1, duration), "\(name) takes \(tour.duration) ms")
            let times = try #require(testCase["times"]?.array)
            let wanted = try #require(testCase["exact"]?["cameras"]?.array)
            #expect(times.count == wanted.count)
            for (time, camera) in zip(times, wanted) {
                let error = try Self.distance(tour.pose(at: try number(time)), try position(camera))
                #expect(error < 1e-9, "\(name) is off by \(error) at \(time.text) ms")
                cameras += 1
            }
            count += 1
        }
        #expect(count == 96 && cameras == 576)
    }

    private static func tour(of testCase: JSON) throws -> Tour {
        let camera = Camera(position: try position(testCase["camera"]), viewport: try viewport(testCase))
        let stops = try #require(testCase["stops"]?.array)
        return try #require(Tour(try stops.map(stop), of: camera))
    }

    private static func stop(_ json: JSON) throws -> Tour.Stop {
        let duration = json["durationMs"]?.number
        let easing: Easing =
            switch json["easing"]?.string {
            case "linear": .linear
            case "ease-in": .easeIn
            case "ease-out": .easeOut
            case "ease-in-out": .easeInOut
            default: .default
            }
        let path: Tour.Stop.Path
        switch json["path"]?.string {
        case "smooth": path = .smooth(duration: try #require(duration))
        case "straight": path = .straight(duration: try #require(duration), easing)
        default:
            let flight = Flight(
                curve: json["curve"]?.number ?? Flight.usualCurve, speed: json["speed"]?.number ?? Flight.usualSpeed,
                maxDurationMs: json["maxDurationMs"]?.number)
            path = .flight(flight, duration: duration, easing)
        }
        return Tour.Stop(
            try position(json), path, turns: Int(try number(json["turns"])), wait: try number(json["waitMs"]))
    }

    /// Returns the distance of a pose from a position: the largest difference of target, zoom and angles, in their
    /// units.
    private static func distance(_ pose: Pose, _ wanted: CameraPosition) throws -> Double {
        guard case .target(let target) = pose.anchor else { throw CocoaError(.featureUnsupported) }
        let place = GlobeVector(target).way(to: GlobeVector(wanted.target)).angle
        return max(
            place, abs(pose.view.zoom - wanted.zoom), abs(wrap180(pose.view.bearing - wanted.bearing)),
            abs(pose.view.viewingAngle - wanted.viewingAngle))
    }
}
