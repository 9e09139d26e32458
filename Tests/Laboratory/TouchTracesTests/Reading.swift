// A recording read as a whole, for the tests.

import Foundation
import Gestures
import MapCamera
import TestSupport
import Testing
import TouchTraces
import Touches

/// All results of reading a recording.
struct Reading {
    var frames: [ContactFrame] = []
    var gestures: [GestureEvent] = []
    /// The times of all frames and gestures in the order of delivery, in milliseconds.
    var times: [Double] = []
    var trace: [UInt8] = []
    var reader: RecordingReader
    var error: RecordingError?

    /// Reads bytes in the pieces between the cuts.
    init(_ bytes: [UInt8], cutAt cuts: [Int] = [], _ options: TraceOptions = TraceOptions()) {
        reader = RecordingReader(options)
        var reader = reader
        do {
            for (start, end) in zip([0] + cuts, cuts + [bytes.count]) {
                try reader.read(bytes.span.extracting(start..<end)) { take($0) }
            }
            try reader.finish { take($0) }
        } catch {
            self.error = error as? RecordingError
        }
        self.reader = reader
    }

    private mutating func take(_ frame: RecordedFrame) {
        switch frame {
        case .touches(let frame):
            frames.append(frame)
            times.append(Double(frame.time) / 1000)
        case .gestures(let time, let events):
            gestures += events
            times.append(time)
        case .trace(let bytes): trace += bytes
        case .surface: break
        }
    }

    init(
        _ text: String, device: DeviceDescription? = nil, viewport: Viewport? = nil, rotation: Rotation = .none,
        rate: Double? = nil, deviceNumber: Int? = nil
    ) {
        var options = TraceOptions(viewport: viewport)
        (options.device, options.rotation) = (device, rotation)
        (options.rate, options.deviceNumber) = (rate, deviceNumber)
        self.init(Array(text.utf8), options)
    }

    var notes: RecordingNotes { reader.notes }
    var mostContacts: Int { frames.map(\.contacts.count).max() ?? 0 }
    /// Seconds from the first frame to the last.
    var duration: Double { Double((frames.last?.time ?? 0) - (frames.first?.time ?? 0)) / 1e6 }

    /// Each frame as `milliseconds: number@x,y …`, with an `x` for a cancelled one.
    var told: [String] {
        frames.map { frame in
            let contacts = frame.contacts.map { " \($0.id)@\(Self.text($0.x)),\(Self.text($0.y))" }
            return Self.text(Double(frame.time) / 1000) + ":" + contacts.joined() + (frame.isCancelled ? " x" : "")
        }
    }

    private static func text(_ number: Double) -> String {
        number == number.rounded() ? String(Int(number)) : String(number)
    }

    /// The frames as touches in points.
    var touches: [TouchFrame] {
        var touch = TouchFrame(timeMs: 0, touches: [])
        return frames.compactMap { frame in
            reader.surface?.map(frame, into: &touch)
            return touch
        }
    }

    /// Whether another reading had the same result.
    func isSame(as other: Reading) -> Bool {
        frames == other.frames && trace == other.trace && notes == other.notes && error == other.error
            && reader.format == other.reader.format && reader.surface == other.reader.surface
            && reader.device == other.reader.device
            && gestures.map { "\($0)" } == other.gestures.map { "\($0)" }
    }
}

extension Reading {
    /// Checks what must hold for every reading, whatever was read.
    func check(_ seed: UInt64) {
        var seen: Set<Int> = []
        var down: Set<Int> = []
        var time = Int.min
        for frame in frames {
            let now = Set(frame.contacts.map(\.id))
            #expect(now.count == frame.contacts.count && frame.time >= time, "seed \(seed)")
            #expect(now.subtracting(down).isDisjoint(with: seen), "seed \(seed): a number returned")
            #expect(!frame.isCancelled || now.isEmpty, "seed \(seed)")
            seen.formUnion(now)
            down = now
            time = frame.time
        }
        #expect(zip(times, times.dropFirst()).allSatisfy(<=), "seed \(seed): time went back")
        #expect(down.isEmpty || error != nil, "seed \(seed): fingers left down")
        #expect(notes.damaged.count == min(notes.damagedCount, RecordingNotes.mostDamaged))
        #expect(error != nil || reader.format != nil, "seed \(seed)")
        for touch in touches.flatMap(\.touches) {
            #expect(touch.position.x.isFinite && touch.position.y.isFinite, "seed \(seed)")
        }
    }
}

extension Seeded {
    /// Changes, removes, inserts and swaps a few bytes.
    mutating func damage(_ bytes: inout [UInt8]) {
        for _ in 0..<integer(1...6) {
            let index = integer(0...(bytes.count - 1))
            switch integer(0...3) {
            case 0: bytes[index] = UInt8(integer(0...255))
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(contentsOf: [[0x0a], [0x39, 0x39], [0x2d], [0x20]][integer(0...3)], at: index)
            default: bytes.swapAt(index, integer(0...(bytes.count - 1)))
            }
        }
    }
}

/// Real recordings beside the project.
enum Recordings {
    /// Returns the bytes of a recording, which must be present.
    static func bytes(_ path: String) throws -> [UInt8] {
        let folder = try #require(Files.recordings)
        return Array(try Data(contentsOf: folder.appendingPathComponent(path)))
    }

    static let twoFingers: [GestureKind] = [.pan, .pinch, .rotate]

    /// Each recording's path, format, frames, most contacts at once, seconds, and ranges of positions; and its gestures.
    static let facts: [Fact] = [
        Fact(
            "autotest/ScrollDirection__candy_touchpad_86.0_scroll-down", .evemu, 134, 2, 1.42, (1520, 2517), (0, 1193),
            words: "two fingers down a touchpad, side by side: a tilt and no pinch",
            gestures: [.tilt]),
        Fact(
            "autotest/ScrollDirection__gandof_touchpad_113.0_scroll-down",
            .evemu, 109, 2, 1.13, (1337, 1953), (0, 1902),
            words: "a tilt, though the hand turns by 23 degrees on its way down",
            gestures: [.tilt]),
        Fact(
            "autotest/TouchscreenScroll__samus_touchscreen_164.13_scroll-up",
            .evemu, 82, 1, 0.80, (1303, 1333), (713, 1132),
            words: "one finger pans up",
            gestures: [.pan],
            camera: [-0.091081196, -0.004999686, 12, 0, 0]),
        Fact(
            "autotest/TouchscreenZoom__samus_touchscreen_164.13_zoom-in", .evemu, 86, 2, 0.95, (785, 1063), (687, 1098),
            words: "a pinch out to about three times, hardly turned",
            gestures: twoFingers, scale: 2.95...3.05, turn: 3...6,
            camera: [-0.038374553, 0.068896355, 13.594601, 355.251183, 0]),
        Fact(
            "autotest/one_finger_swipe.evemu.dat", .evemu, 5, 1, 0.03, (713, 861), (259, 347),
            words: "a swipe of a thirtieth of a second that throws the map",
            gestures: [.pan],
            camera: [0.46302674, 0.778735266, 12, 0, 0]),
        Fact(
            "autotest/one_stationary_finger_2nd_finger_moving_gaps.dat", .evtest, 335, 2, 4.06, (359, 894), (171, 648),
            words: "one finger stays, the other sweeps a third of a turn around it",
            gestures: twoFingers, scale: 0.7...0.74, turn: 118...122,
            camera: [0.049191036, -0.067110647, 11.528505, 239.005685, 0]),
        Fact(
            "autotest/pinch_to_zoom.zoom_in.dat", .evtest, 169, 2, 1.15, (522, 1318), (254, 1232),
            words: "a pinch out to three and a half times on a touchpad",
            gestures: twoFingers, scale: 3.45...3.55, turn: 8...11,
            camera: [-0.022802026, 0.062188426, 13.805324, 350.593544, 0]),
        Fact(
            "autotest/two_finger_id_change.dat", .evtest, 52, 3, 0.65, (402, 931), (20, 607),
            words: "two fingers down, whose contacts split on the way: a tilt, then one of them pans",
            gestures: [.tilt, .pan],
            camera: [0.024438091, -0.008200097, 12, 0, 0]),
        Fact(
            "evemu-devices/tablets__Wacom_Bamboo_16FG_4x5_Finger_double-center-circle.events",
            .evemu, 419, 2, 4.44, (1032, 3582), (679, 3648),
            words: "two fingers circle for four seconds",
            gestures: twoFingers, scale: 0.94...0.97, turn: 13...16,
            camera: [-0.108233154, -0.013872464, 11.934567, 345.376868, 0]),
        Fact(
            "evemu-devices/tablets__Wacom_Bamboo_16FG_4x5_Finger_double-center-scroll.events",
            .evemu, 113, 2, 1.29, (1686, 2594), (188, 4051),
            words: "two fingers down a tablet: a tilt",
            gestures: [.tilt]),
        Fact(
            "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.2fg-double-tap.events",
            .evemu, 3, 2, 0.06, (1249, 1463), (716, 753),
            words: "two fingers tap: out by one",
            gestures: [.twoFingerTap],
            camera: [0.070906104, -0.12368959, 11, 0, 0]),
        Fact(
            "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.double-center-circle.events",
            .evemu, 129, 2, 1.48, (985, 1774), (409, 1054),
            words: "two fingers circle, and turn by a quarter of a right angle",
            gestures: twoFingers, scale: 0.87...0.89, turn: 24...27,
            camera: [-0.044871221, -0.042332181, 11.818855, 334.519848, 0]),
        Fact(
            "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.double-center-scroll.events",
            .evemu, 83, 2, 1.16, (1231, 1477), (229, 1437),
            words: "two fingers down a screen: a tilt",
            gestures: [.tilt]),
        Fact(
            "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.double-top-swipe.events",
            .evemu, 145, 2, 1.91, (116, 2619), (124, 381),
            words: "two fingers from edge to edge: a pan, hardly a pinch",
            gestures: twoFingers, scale: 1...1.05, turn: 0...4,
            camera: [-0.002978502, -0.272832394, 12.036292, 357.972383, 0]),
        Fact(
            "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.single-center-circle.events",
            .evemu, 84, 1, 0.88, (1134, 1641), (525, 901),
            words: "one finger draws a circle",
            gestures: [.pan],
            camera: [0.056006462, -0.08995995, 12, 0, 0]),
        Fact(
            "evemu-devices/tablets__dell_canvas_touch.evemu", .evemu, 450, 5, 13.87, (7759, 25013), (8172, 26884),
            words: "up to five fingers drag a desk of 27 inches, two of them first and for a moment",
            gestures: [.pan, .tilt, .pan, .pan, .pan],
            camera: [-0.278675234, -0.290521036, 12, 0, 37.5]),
        Fact(
            "evemu-devices/touchpads__SynPS2_Synaptics_TouchPad.two-finger-vert-scroll.events",
            .evemu, 82, 2, 2.01, (2648, 3673), (2211, 3252),
            words: "two fingers up and down a touchpad: a tilt",
            gestures: [.tilt],
            camera: [0, 0, 12, 0, 34.972366]),
        Fact(
            "evemu-devices/touchpads__bcm5974.three-finger-click.events",
            .evemu, 150, 3, 2.26, (-1601, 2387), (2960, 5103),
            words: "three fingers rest and click: nothing"),
        Fact(
            "evemu-devices/touchscreens__Atmel_maXTouch_Touchscreen.1-finger-drag-up-down.events",
            .evemu, 150, 1, 2.20, (359, 385), (89, 393),
            words: "one finger pans down and up again",
            gestures: [.pan],
            camera: [0.005077224, -0.007615835, 12, 0, 0]),
        Fact(
            "evemu-devices/touchscreens__Atmel_maXTouch_Touchscreen.2-fingers-touch-release.events",
            .evemu, 16, 2, 0.82, (222, 539), (167, 318),
            words: "a long press of two fingers: nothing"),
        Fact(
            "evemu-devices/touchscreens__Atmel_maXTouch_Touchscreen.4-finger-drag-down.events",
            .evemu, 31, 4, 0.57, (133, 647), (107, 418),
            words: "four fingers pan, and never zoom",
            gestures: [.pan],
            camera: [0.06089645, -0.002629277, 12, 0, 0]),
        Fact(
            "evemu-devices/touchscreens__EP0430M09.1-finger-drag-up-down.events",
            .evemu, 183, 1, 1.43, (605, 672), (126, 621),
            words: "one finger pans up, and down again",
            gestures: [.pan],
            camera: [-0.010776505, -0.000679666, 12, 0, 0]),
        Fact(
            "evemu-devices/touchscreens__EP0430M09.2-finger-scroll-down.events",
            .evemu, 98, 2, 0.75, (407, 930), (216, 582),
            words: "two fingers up a screen: a tilt as far as it goes",
            gestures: [.tilt],
            camera: [0, 0, 12, 0, 37.5]),
        Fact(
            "evemu-devices/touchscreens__EP0430M09.2-fingers-touch-release.events",
            .evemu, 14, 2, 0.53, (401, 934), (409, 418),
            words: "a long press of two fingers: nothing"),
        Fact(
            "evemu-devices/touchscreens__EP0430M09.4-finger-drag-down.events",
            .evemu, 104, 4, 1.17, (263, 1107), (270, 610),
            words: "four fingers pan, and never zoom",
            gestures: [.pan],
            camera: [-0.051484716, -0.001755805, 12, 0, 0]),
        Fact(
            "monkeyhelper/traces__Phone__phone-single-drag.txt", .getevent, 25, 1, 0.41, (627, 1019), (763, 774),
            words: "one finger drags and throws",
            gestures: [.pan],
            camera: [-0.006409155, -0.242716838, 12, 0, 0]),
        Fact(
            "monkeyhelper/traces__Phone__phone-two-finger-drag.txt", .getevent, 102, 2, 1.10, (4, 1014), (409, 608),
            words: "two fingers drag across a phone: a pan, hardly a pinch",
            gestures: twoFingers, scale: 0.94...0.97, turn: -3...0,
            camera: [0.000497784, -0.292074397, 11.934728, 1.172996, 0]),
    ]

    struct Fact: CustomTestStringConvertible, Sendable {
        let path: String
        let format: RecordingFormat
        let frames: Int
        let contacts: Int
        let seconds: Double
        let x: ClosedRange<Double>
        let y: ClosedRange<Double>
        /// What a person sees in it.
        let words: String
        let gestures: [GestureKind]
        /// The ratio of two fingers' final to initial distance.
        let scale: ClosedRange<Double>?
        /// The clockwise turn of two fingers, in degrees.
        let turn: ClosedRange<Double>?
        /// The final camera: latitude, longitude, zoom, bearing, viewing angle; by default the initial one.
        let camera: [Double]

        init(
            _ path: String, _ format: RecordingFormat, _ frames: Int, _ contacts: Int, _ seconds: Double,
            _ x: (Double, Double), _ y: (Double, Double), words: String, gestures: [GestureKind] = [],
            scale: ClosedRange<Double>? = nil, turn: ClosedRange<Double>? = nil, camera: [Double] = [0, 0, 12, 0, 0]
        ) {
            (self.path, self.format, self.words) = (path, format, words)
            (self.frames, self.contacts, self.seconds) = (frames, contacts, seconds)
            (self.x, self.y) = (x.0...x.1, y.0...y.1)
            (self.gestures, self.scale, self.turn, self.camera) = (gestures, scale, turn, camera)
        }

        var testDescription: String { path }
    }
}

extension RecordedFrame {
    /// Whether it is a frame of contacts.
    var isTouches: Bool {
        if case .touches = self { true } else { false }
    }
}
