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
    init(
        _ bytes: [UInt8], cutAt cuts: [Int] = [], device: DeviceDescription? = nil,
        viewport: Viewport? = nil, rotation: Rotation = .none, rate: Double? = nil, deviceNumber: Int? = nil
    ) {
        var options = TraceOptions(viewport: viewport)
        (options.device, options.rotation) = (device, rotation)
        (options.rate, options.deviceNumber) = (rate, deviceNumber)
        var reader = RecordingReader(options)
        var frames: [ContactFrame] = []
        var gestures: [GestureEvent] = []
        var times: [Double] = []
        var trace: [UInt8] = []
        func take(_ frame: RecordedFrame) {
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
        do {
            for (start, end) in zip([0] + cuts, cuts + [bytes.count]) {
                try reader.read(bytes.span.extracting(start..<end), take)
            }
            try reader.finish(take)
        } catch {
            self.error = error as? RecordingError
        }
        self.reader = reader
        self.frames = frames
        self.gestures = gestures
        self.times = times
        self.trace = trace
    }

    init(
        _ text: String, device: DeviceDescription? = nil, viewport: Viewport? = nil, rotation: Rotation = .none,
        rate: Double? = nil, deviceNumber: Int? = nil
    ) {
        self.init(
            Array(text.utf8), device: device, viewport: viewport, rotation: rotation, rate: rate,
            deviceNumber: deviceNumber)
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

    /// Each recording's path, format, frames, most contacts at once, seconds, and ranges of positions.
    static let facts: [Fact] = [
        Fact(
            "autotest/ScrollDirection__candy_touchpad_86.0_scroll-down", .evemu, 134, 2, 1.42, (1520, 2517), (0, 1193)),
        Fact(
            "autotest/ScrollDirection__gandof_touchpad_113.0_scroll-down", .evemu, 109, 2, 1.13, (1337, 1953), (0, 1902)
        ),
        Fact(
            "autotest/TouchscreenScroll__samus_touchscreen_164.13_scroll-up", .evemu, 82, 1, 0.80, (1303, 1333),
            (713, 1132)),
        Fact(
            "autotest/TouchscreenZoom__samus_touchscreen_164.13_zoom-in", .evemu, 86, 2, 0.95, (785, 1063), (687, 1098)),
        Fact("autotest/one_finger_swipe.evemu.dat", .evemu, 5, 1, 0.03, (713, 861), (259, 347)),
        Fact(
            "autotest/one_stationary_finger_2nd_finger_moving_gaps.dat", .evtest, 335, 2, 4.06, (359, 894), (171, 648)),
        Fact("autotest/pinch_to_zoom.zoom_in.dat", .evtest, 169, 2, 1.15, (522, 1318), (254, 1232)),
        Fact("autotest/two_finger_id_change.dat", .evtest, 52, 3, 0.65, (402, 931), (20, 607)),
        Fact(
            "evemu-devices/tablets__Wacom_Bamboo_16FG_4x5_Finger_double-center-circle.events", .evemu, 419, 2, 4.44,
            (1032, 3582), (679, 3648)),
        Fact(
            "evemu-devices/tablets__Wacom_Bamboo_16FG_4x5_Finger_double-center-scroll.events", .evemu, 113, 2, 1.29,
            (1686, 2594), (188, 4051)),
        Fact(
            "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.2fg-double-tap.events", .evemu, 3, 2, 0.06, (1249, 1463),
            (716, 753)),
        Fact(
            "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.double-center-circle.events", .evemu, 129, 2, 1.48,
            (985, 1774), (409, 1054)),
        Fact(
            "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.double-center-scroll.events", .evemu, 83, 2, 1.16,
            (1231, 1477), (229, 1437)),
        Fact(
            "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.double-top-swipe.events", .evemu, 145, 2, 1.91, (116, 2619),
            (124, 381)),
        Fact(
            "evemu-devices/tablets__Wacom_ISDv4_E6_Finger.single-center-circle.events", .evemu, 84, 1, 0.88,
            (1134, 1641), (525, 901)),
        Fact("evemu-devices/tablets__dell_canvas_touch.evemu", .evemu, 450, 5, 13.87, (7759, 25013), (8172, 26884)),
        Fact(
            "evemu-devices/touchpads__SynPS2_Synaptics_TouchPad.two-finger-vert-scroll.events", .evemu, 82, 2, 2.01,
            (2648, 3673), (2211, 3252)),
        Fact(
            "evemu-devices/touchpads__bcm5974.three-finger-click.events", .evemu, 150, 3, 2.26, (-1601, 2387),
            (2960, 5103)),
        Fact(
            "evemu-devices/touchscreens__Atmel_maXTouch_Touchscreen.1-finger-drag-up-down.events", .evemu, 150, 1, 2.20,
            (359, 385), (89, 393)),
        Fact(
            "evemu-devices/touchscreens__Atmel_maXTouch_Touchscreen.2-fingers-touch-release.events", .evemu, 16, 2,
            0.82, (222, 539), (167, 318)),
        Fact(
            "evemu-devices/touchscreens__Atmel_maXTouch_Touchscreen.4-finger-drag-down.events", .evemu, 31, 4, 0.57,
            (133, 647), (107, 418)),
        Fact(
            "evemu-devices/touchscreens__EP0430M09.1-finger-drag-up-down.events", .evemu, 183, 1, 1.43, (605, 672),
            (126, 621)),
        Fact(
            "evemu-devices/touchscreens__EP0430M09.2-finger-scroll-down.events", .evemu, 98, 2, 0.75, (407, 930),
            (216, 582)),
        Fact(
            "evemu-devices/touchscreens__EP0430M09.2-fingers-touch-release.events", .evemu, 14, 2, 0.53, (401, 934),
            (409, 418)),
        Fact(
            "evemu-devices/touchscreens__EP0430M09.4-finger-drag-down.events", .evemu, 104, 4, 1.17, (263, 1107),
            (270, 610)),
        Fact("monkeyhelper/traces__Phone__phone-single-drag.txt", .getevent, 25, 1, 0.41, (627, 1019), (763, 774)),
        Fact("monkeyhelper/traces__Phone__phone-two-finger-drag.txt", .getevent, 102, 2, 1.10, (4, 1014), (409, 608)),
    ]

    struct Fact: CustomTestStringConvertible, Sendable {
        let path: String
        let format: RecordingFormat
        let frames: Int
        let contacts: Int
        let seconds: Double
        let x: ClosedRange<Double>
        let y: ClosedRange<Double>

        init(
            _ path: String, _ format: RecordingFormat, _ frames: Int, _ contacts: Int, _ seconds: Double,
            _ x: (Double, Double), _ y: (Double, Double)
        ) {
            self.path = path
            self.format = format
            self.frames = frames
            self.contacts = contacts
            self.seconds = seconds
            self.x = x.0...x.1
            self.y = y.0...y.1
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
