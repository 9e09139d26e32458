// The library for tests, used in tests that must fail: their known issues tell where and by how much.

import Foundation
import GimbalTesting
import Testing

@Suite struct GimbalTestingTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private var examples: URL { root.appendingPathComponent("Protocols/examples") }

    private var golden: URL { examples.appendingPathComponent("testing/pinch.golden.ndjson") }

    /// Returns the issues that a body records.
    private func issues(_ body: () throws -> Void) rethrows -> [String] {
        nonisolated(unsafe) var found: [String] = []
        try withKnownIssue {
            try body()
        } matching: { issue in
            found.append(issue.comments.map(\.rawValue).joined())
            return true
        }
        return found
    }

    @Test func anotherCameraIsAnIssueWithItsPlace() throws {
        let other = try CameraRecord(playing: examples.appendingPathComponent("traces/pinch-and-rotate.ndjson"))
        let issues = try issues {
            let isSame = try expectCamera(other, matches: golden, within: CameraTolerance(points: 2))
            #expect(!isSame)
        }
        #expect(issues.count == 1 && issues[0].contains("first apart at") && issues[0].contains("points"))
    }

    @Test func aSmallDifferenceIsToleratedOrNot() throws {
        let lines = try String(contentsOf: golden, encoding: .utf8).split(separator: "\n")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gimbal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = folder.appendingPathComponent("log.ndjson")
        let changed = lines.map { $0.replacing("\"zoom\":14.9", with: "\"zoom\":14.905") }
        try Data(changed.joined(separator: "\n").utf8).write(to: log)
        let record = try CameraRecord(log: log)
        #expect(try expectCamera(record, matches: golden, within: CameraTolerance(zoom: 0.6)))
        let issues = try issues { try expectCamera(record, matches: golden, within: CameraTolerance(zoom: 1e-4)) }
        #expect(issues.count == 1 && issues[0].contains("zoom"))
    }

    @Test func aRecordingMakesTheCameraOfItsTrace() throws {
        let recording = root.appendingPathComponent("Tests/Fuzz/Recordings/pinch.evemu")
        let place = CameraPosition(target: LatLng(latitude: 48.8584, longitude: 2.2945), zoom: 14)
        let camera = try CameraRecord(playing: recording, from: place, viewport: Viewport(width: 390, height: 844))
        #expect(camera.moves == 1 && camera.end.zoom > 14.5 && abs(camera.end.target.latitude - 48.8584) < 0.01)
        let usual = try CameraRecord(playing: recording)
        #expect(abs(usual.end.target.latitude) < 0.1 && usual.end.zoom != camera.end.zoom)
    }

    @Test func whatIsNoCameraIsAnError() throws {
        #expect(throws: CameraFileError.self) { try CameraRecord(playing: golden) }
        #expect(throws: CameraFileError.self) { try CameraRecord("nothing", []) }
        #expect(throws: (any Error).self) { try CameraRecord(log: examples.appendingPathComponent("none")) }
    }
}
