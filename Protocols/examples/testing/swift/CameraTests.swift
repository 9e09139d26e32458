// Tests of a camera with Swift Testing: what a trace does to it, and what an app's own camera did.

import Foundation
import GimbalTesting
import Testing

@Suite struct CameraTests {
    private let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    private var trace: URL { folder.appendingPathComponent("pinch.trace.ndjson") }
    private var golden: URL { folder.appendingPathComponent("pinch.golden.ndjson") }

    @Test func theFingersDoWhatTheyDid() throws {
        let camera = try CameraRecord(playing: trace)
        #expect(camera.moves == 1 && abs(camera.end.zoom - 15) < 0.01)
        try expectCamera(camera, matches: golden, within: CameraTolerance(points: 0.5))
    }

    @Test func anAppsCameraFollowsTheFingers() throws {
        // An app would log its own camera; this test moves one of Gimbal's.
        var camera = Camera(position: CameraPosition(target: LatLng(latitude: 48.8584, longitude: 2.2945), zoom: 14))
        var log = [(timeMs: 0.0, position: camera.position)]
        camera.apply(.zoomIn)
        log.append((timeMs: 16, position: camera.position))
        #expect(try CameraRecord("the app's camera", log).end.zoom == 15)
    }
}
