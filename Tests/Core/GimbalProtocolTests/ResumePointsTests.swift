// A reader of many cameras that reconnects: what it asks for, and what it learns it missed.

@testable import GimbalProtocol
import MapCamera
import Testing

@Suite struct ResumePointsTests {
    private static func subscribed(_ camera: String, seq: Int, epoch: String = "5f0c9a3e-1") -> CameraEvent {
        .subscribed(Subscribed(camera: camera, epoch: epoch, seq: seq, position: .initial))
    }

    private static let names = (0..<3000).map { "camera-\($0)" }

    private static func reader() -> ResumePoints {
        var points = ResumePoints()
        for name in names { _ = points.note(subscribed(name, seq: 7)) }
        return points
    }

    @Test func pointsAreAskedForAsFarAsALineHasRoom() throws {
        var points = Self.reader()
        let asked = points.forAllCameras()
        #expect(asked.count > 500 && asked.count < Self.names.count)
        let line = try ClientRequest.subscribeAll(since: asked).line()
        #expect(line.count <= RequestDecoder.longestLine)
    }

    @Test func whatWasNotAskedForIsToldAsMissed() {
        var points = Self.reader()
        let asked = points.forAllCameras()
        var told: [String: Int] = [:]
        for name in Self.names {
            if let gap = points.note(Self.subscribed(name, seq: 10)) { told[name] = gap.missed }
        }
        #expect(Set(told.keys) == Set(Self.names).subtracting(asked.keys) && told.values.allSatisfy { $0 == 3 })
        // Cameras that were asked for resume; the others continue from now.
        #expect(Self.names.allSatisfy { points.points[$0]?.seq == (told[$0] == nil ? 7 : 10) })
    }

    @Test func inAnotherEpochEverythingOfItWasMissed() {
        var points = Self.reader()
        let asked = points.forAllCameras()
        let missing = Self.names.filter { asked[$0] == nil }
        #expect(points.note(Self.subscribed(missing[0], seq: 4, epoch: "5f0c9a3e-2"))?.missed == 4)
        #expect(points.note(Self.subscribed(missing[1], seq: 0, epoch: "5f0c9a3e-2")) == nil)
        #expect(points.points[missing[0]] == ResumePoint(seq: 4, epoch: "5f0c9a3e-2"))
    }

    @Test func aDaemonThatNamesCamerasWithoutEndFillsNoMemory() {
        var points = ResumePoints()
        for number in 0..<70_000 { _ = points.note(Self.subscribed("\(number)", seq: 1)) }
        _ = points.note(Self.subscribed("0", seq: 1, epoch: String(repeating: "e", count: 65)))
        #expect(points.points.count == 65_535 && points.points["0"] == nil && points.points["1"] != nil)
    }
}
