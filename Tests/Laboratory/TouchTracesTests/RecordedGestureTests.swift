// The gestures in real recordings, in words and numbers, and where they move the camera.

import Foundation
import Gestures
import MapCamera
import TestSupport
import Testing
import TouchTraces
import Touches

@Suite struct RecordedGestureTests {
    private func convert(_ file: String) throws -> (trace: [UInt8], findings: Findings) {
        let converter = TraceConverter()
        return (try converter.trace(of: Recordings.bytes(file)), converter.findings)
    }

    /// Returns the camera after a trace.
    private func camera(after trace: [UInt8]) throws -> [Double] {
        let host = HubHost()
        let feed = host.connect()
        let lines = trace.split(separator: 0x0a, maxSplits: 1)
        // At the highest speed.
        let header = String(decoding: lines[0], as: UTF8.self).replacing(
            "\"version\":1", with: "\"version\":1,\"speed\":\"max\"")
        feed.send(Array(header.utf8) + [0x0a] + lines[1])
        feed.halfClose()
        var last = ""
        while let line = feed.receive() { last = line }
        let json = try JSON(last)
        #expect(json["rejected"]?.number == 0, "\(last)")
        let position = try #require(json["position"])
        return try [
            #require(position["target"]?["latitude"]?.number), #require(position["target"]?["longitude"]?.number),
            #require(position["zoom"]?.number), #require(position["bearing"]?.number),
            #require(position["viewingAngle"]?.number),
        ]
    }

    @Test(.needsRecordings, arguments: Recordings.facts)
    func aRecordingIsWhatAPersonSees(_ fact: Recordings.Fact) throws {
        let (trace, findings) = try convert(fact.path)
        let comment = Comment(rawValue: "\(fact.path): \(fact.words)")
        #expect(findings.gestures.map(\.kind) == fact.gestures, comment)
        for gesture in findings.gestures {
            if case .pinch(let scale) = gesture.value { #expect(fact.scale?.contains(scale) == true, comment) }
            if case .rotate(let degrees) = gesture.value { #expect(fact.turn?.contains(degrees) == true, comment) }
        }
        let camera = try camera(after: trace)
        for (found, known) in zip(camera, fact.camera) { #expect(abs(found - known) < 2e-6, comment) }
    }

    @Test(.needsRecordings) func noRecordingIsLeftOut() throws {
        let recordings = try #require(Files.recordings)
        let there = try ["autotest", "evemu-devices", "monkeyhelper"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: recordings.appendingPathComponent(folder).path)
                .map { "\(folder)/\($0)" }
        }
        #expect(Set(Recordings.facts.map(\.path)) == Set(there.filter { !$0.hasSuffix(".desc") }))
    }

    @Test(.needsRecordings) func thePlacesUnderTwoFingersAreUnderThemInTheEnd() throws {
        var worst = 0.0
        var pairs = 0
        for fact in Recordings.facts where fact.gestures == Recordings.twoFingers {
            let reading = Reading(try Recordings.bytes(fact.path))
            var hands = Hands(viewport: try #require(reading.reader.surface).viewport)
            for frame in reading.touches { hands.take(frame) }
            pairs += hands.pairs
            worst = max(worst, hands.worst)
        }
        print("places under two fingers: \(pairs) pairs in recordings, worst error \(worst) points")
        #expect(pairs >= 6 && worst < 1e-6)
    }
}

/// Recorded fingers on a camera: the distance of two fingers, when the first one lifts, from the places on which they
/// landed.
private struct Hands {
    private var recognizer = GestureRecognizer()
    private var tracker = GestureTracker()
    private var camera: Camera
    /// The two fingers that landed, and the places under them.
    private var landed: (ids: [Int], places: [LatLng?])?
    private var last: [Touch] = []
    private var isPinch = false
    private(set) var pairs = 0
    private(set) var worst = 0.0

    init(viewport: Viewport) {
        let position = CameraPosition(target: LatLng(latitude: 0, longitude: 0), zoom: 12)
        camera = Camera(position: position, viewport: viewport)
    }

    mutating func take(_ frame: TouchFrame) {
        let ids = frame.touches.map(\.id)
        if ids != landed?.ids { compare() }
        recognizer.handle(frame)
        for event in recognizer.events {
            let key = GestureKey(feed: 1, kind: event.kind)
            isPinch = isPinch || event.kind == .pinch
            let update = tracker.handle(event, of: key, at: frame.timeMs, viewport: camera.viewport)
            if let update { camera.apply(update) }
        }
        if ids.count == 2, ids != landed?.ids {
            isPinch = false
            landed = (ids, frame.touches.map { camera.projection.coordinate(for: $0.position) })
        }
        last = frame.touches
    }

    private mutating func compare() {
        defer { landed = nil }
        guard let landed, isPinch, last.map(\.id) == landed.ids else { return }
        pairs += 1
        for (place, touch) in zip(landed.places, last) {
            guard let place, let point = camera.projection.point(for: place) else { return worst = .infinity }
            worst = max(worst, hypot(point.x - touch.position.x, point.y - touch.position.y))
        }
    }
}
