// The gestures in real recordings, in words and numbers, and where they move the camera.

import Foundation
import Gestures
import MapCamera
import TestSupport
import Testing
import TouchTraces
import Touches

/// The facts about a recording.
private struct Fact {
    let file: String
    /// What a person sees in it.
    let words: String
    let gestures: [GestureKind]
    /// The ratio of two fingers' final to initial distance.
    var scale: ClosedRange<Double>?
    /// The clockwise turn of two fingers, in degrees.
    var turn: ClosedRange<Double>?
    /// The final camera: latitude, longitude, zoom, bearing, viewing angle.
    let camera: [Double]
}

private let twoFingers: [GestureKind] = [.pan, .pinch, .rotate]

private let facts: [Fact] = [
    Fact(
        file: "autotest/ScrollDirection__candy_touchpad_86.0_scroll-down",
        words: "two fingers down a touchpad, side by side: a tilt and no pinch",
        gestures: [.tilt],
        camera: [0, 0, 12, 0, 0]),
    Fact(
        file: "autotest/ScrollDirection__gandof_touchpad_113.0_scroll-down",
        words: "a tilt, though the hand turns by 23 degrees on its way down",
        gestures: [.tilt],
        camera: [0, 0, 12, 0, 0]),
    Fact(
        file: "autotest/TouchscreenScroll__samus_touchscreen_164.13_scroll-up",
        words: "one finger pans up",
        gestures: [.pan],
        camera: [-0.091081196, -0.004999686, 12, 0, 0]),
    Fact(
        file: "autotest/TouchscreenZoom__samus_touchscreen_164.13_zoom-in",
        words: "a pinch out to about three times, hardly turned",
        gestures: twoFingers, scale: 2.95...3.05, turn: 3...6,
        camera: [-0.038374553, 0.068896355, 13.594601, 355.251183, 0]),
    Fact(
        file: "autotest/one_finger_swipe.evemu.dat",
        words: "a swipe of a thirtieth of a second that throws the map",
        gestures: [.pan],
        camera: [0.46302674, 0.778735266, 12, 0, 0]),
    Fact(
        file: "autotest/one_stationary_finger_2nd_finger_moving_gaps.dat",
        words: "one finger stays, the other sweeps a third of a turn around it",
        gestures: twoFingers, scale: 0.7...0.74, turn: 118...122,
        camera: [0.049191036, -0.067110647, 11.528505, 239.005685, 0]),
    Fact(
        file: "autotest/pinch_to_zoom.zoom_in.dat",
        words: "a pinch out to three and a half times on a touchpad",
        gestures: twoFingers, scale: 3.45...3.55, turn: 8...11,
        camera: [-0.022802026, 0.062188426, 13.805324, 350.593544, 0]),
    Fact(
        file: "autotest/two_finger_id_change.dat",
        words: "two fingers down, whose contacts split on the way: a tilt, then one of them pans",
        gestures: [.tilt, .pan],
        camera: [0.024438091, -0.008200097, 12, 0, 0]),
    Fact(
        file: "evemu-devices/tablets__Wacom_Bamboo_16FG_4x5_Finger_double-center-circle.events",
        words: "two fingers circle for four seconds",
        gestures: twoFingers, scale: 0.94...0.97, turn: 13...16,
        camera: [-0.108233154, -0.013872464, 11.934567, 345.376868, 0]),
    Fact(
        file: "evemu-devices/tablets__Wacom_Bamboo_16FG_4x5_Finger_double-center-scroll.events",
        words: "two fingers down a tablet: a tilt",
        gestures: [.tilt],
        camera: [0, 0, 12, 0, 0]),
    Fact(
        file: "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.2fg-double-tap.events",
        words: "two fingers tap: out by one",
        gestures: [.twoFingerTap],
        camera: [0.070906104, -0.12368959, 11, 0, 0]),
    Fact(
        file: "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.double-center-circle.events",
        words: "two fingers circle, and turn by a quarter of a right angle",
        gestures: twoFingers, scale: 0.87...0.89, turn: 24...27,
        camera: [-0.044871221, -0.042332181, 11.818855, 334.519848, 0]),
    Fact(
        file: "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.double-center-scroll.events",
        words: "two fingers down a screen: a tilt",
        gestures: [.tilt],
        camera: [0, 0, 12, 0, 0]),
    Fact(
        file: "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.double-top-swipe.events",
        words: "two fingers from edge to edge: a pan, hardly a pinch",
        gestures: twoFingers, scale: 1...1.05, turn: 0...4,
        camera: [-0.002978502, -0.272832394, 12.036292, 357.972383, 0]),
    Fact(
        file: "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.single-center-circle.events",
        words: "one finger draws a circle",
        gestures: [.pan],
        camera: [0.056006462, -0.08995995, 12, 0, 0]),
    Fact(
        file: "evemu-devices/tablets__dell_canvas_touch.evemu",
        words: "up to five fingers drag a desk of 27 inches, two of them first and for a moment",
        gestures: [.pan, .tilt, .pan, .pan, .pan],
        camera: [-0.278675234, -0.290521036, 12, 0, 37.5]),
    Fact(
        file: "evemu-devices/touchpads__SynPS2_Synaptics_TouchPad.two-finger-vert-scroll.events",
        words: "two fingers up and down a touchpad: a tilt",
        gestures: [.tilt],
        camera: [0, 0, 12, 0, 34.972366]),
    Fact(
        file: "evemu-devices/touchpads__bcm5974.three-finger-click.events",
        words: "three fingers rest and click: nothing",
        gestures: [],
        camera: [0, 0, 12, 0, 0]),
    Fact(
        file: "evemu-devices/touchscreens__Atmel_maXTouch_Touchscreen.1-finger-drag-up-down.events",
        words: "one finger pans down and up again",
        gestures: [.pan],
        camera: [0.005077224, -0.007615835, 12, 0, 0]),
    Fact(
        file: "evemu-devices/touchscreens__Atmel_maXTouch_Touchscreen.2-fingers-touch-release.events",
        words: "a long press of two fingers: nothing",
        gestures: [],
        camera: [0, 0, 12, 0, 0]),
    Fact(
        file: "evemu-devices/touchscreens__Atmel_maXTouch_Touchscreen.4-finger-drag-down.events",
        words: "four fingers pan, and never zoom",
        gestures: [.pan],
        camera: [0.06089645, -0.002629277, 12, 0, 0]),
    Fact(
        file: "evemu-devices/touchscreens__EP0430M09.1-finger-drag-up-down.events",
        words: "one finger pans up, and down again",
        gestures: [.pan],
        camera: [-0.010776505, -0.000679666, 12, 0, 0]),
    Fact(
        file: "evemu-devices/touchscreens__EP0430M09.2-finger-scroll-down.events",
        words: "two fingers up a screen: a tilt as far as it goes",
        gestures: [.tilt],
        camera: [0, 0, 12, 0, 37.5]),
    Fact(
        file: "evemu-devices/touchscreens__EP0430M09.2-fingers-touch-release.events",
        words: "a long press of two fingers: nothing",
        gestures: [],
        camera: [0, 0, 12, 0, 0]),
    Fact(
        file: "evemu-devices/touchscreens__EP0430M09.4-finger-drag-down.events",
        words: "four fingers pan, and never zoom",
        gestures: [.pan],
        camera: [-0.051484716, -0.001755805, 12, 0, 0]),
    Fact(
        file: "monkeyhelper/traces__Phone__phone-single-drag.txt",
        words: "one finger drags and throws",
        gestures: [.pan],
        camera: [-0.006409155, -0.242716838, 12, 0, 0]),
    Fact(
        file: "monkeyhelper/traces__Phone__phone-two-finger-drag.txt",
        words: "two fingers drag across a phone: a pan, hardly a pinch",
        gestures: twoFingers, scale: 0.94...0.97, turn: -3...0,
        camera: [0.000497784, -0.292074397, 11.934728, 1.172996, 0]),
]

@Suite struct RecordedGestureTests {
    private func convert(_ file: String) throws -> (trace: [UInt8], findings: Findings) {
        let bytes = try Recordings.bytes(file)
        let converter = TraceConverter()
        var trace: [UInt8] = []
        func take(_ bytes: Span<UInt8>) { for index in 0..<bytes.count { trace.append(bytes[index]) } }
        try converter.read(bytes.span, take)
        try converter.finish(take)
        return (trace, converter.findings)
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

    @Test(.needsRecordings, arguments: facts.map(\.file))
    func aRecordingIsWhatAPersonSees(file: String) throws {
        let fact = try #require(facts.first { $0.file == file })
        let (trace, findings) = try convert(file)
        let comment = Comment(rawValue: "\(file): \(fact.words)")
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
        #expect(Set(facts.map(\.file)) == Set(there.filter { !$0.hasSuffix(".desc") }))
    }

    @Test(.needsRecordings) func thePlacesUnderTwoFingersAreUnderThemInTheEnd() throws {
        var worst = 0.0
        var pairs = 0
        for fact in facts where fact.gestures == twoFingers {
            let bytes = try Recordings.bytes(fact.file)
            var hands = Hands()
            var reader = RecordingReader()
            try reader.read(bytes.span) { hands.take($0) }
            try reader.finish { hands.take($0) }
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
    private var camera = Camera()
    private var surface: Surface?
    private var frame = TouchFrame(timeMs: 0, touches: [])
    /// The two fingers that landed, and the places under them.
    private var landed: (ids: [Int], places: [LatLng?])?
    private var last: [Touch] = []
    private var isPinch = false
    private(set) var pairs = 0
    private(set) var worst = 0.0

    mutating func take(_ recorded: RecordedFrame) {
        switch recorded {
        case .surface(let surface, _):
            self.surface = surface
            let position = CameraPosition(target: LatLng(latitude: 0, longitude: 0), zoom: 12)
            camera = Camera(position: position, viewport: surface.viewport)
        case .touches(let contacts):
            surface?.map(contacts, into: &frame)
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
        default: break
        }
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
