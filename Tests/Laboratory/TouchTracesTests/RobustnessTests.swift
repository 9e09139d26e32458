// Bytes in any form: split anywhere, damaged, or made up.

import Foundation
import GimbalProtocol
import TestSupport
import Testing
import TouchTraces

@Suite struct RobustnessTests {
    /// The small recordings of each format, and others with contents that those lack.
    static let samples = Files.list("Tests/Fuzz/Recordings").compactMap { try? Array(Data(contentsOf: $0)) } + others

    private static let others = [
        """
        # EVEMU 1.3
        N: ü
        A: 35 0 4095 0 0 40
        A: 36 0 2047 0 0 40
        E: 0.000001 0003 002f 1 # a slot
        E: 0.000001 0003 0039 5
        E: 0.000001 0003 0035 100
        E: 0.000001 0003 0036 -200
        E: 0.000001 0000 0000 0
        E: 0.000002 0000 0003 0
        E: 0.000003 0000 0000 0
        """,
        """
        E: 0.1 0003 0035 100\r
        E: 0.1 0003 0036 200\r
        E: 0.1 0000 0002 0\r
        rubbish\r
        E: 0.1 0000 0000 0\r
        E: 0.2 0000 0002 0\r
        E: 0.2 0000 0000 0\r
        """,
        """
        add device 2: /dev/input/event2
          name:     "fts"
            ABS (0003): ABS_MT_POSITION_X     : value 0, min 0, max 1079, fuzz 0, flat 0, resolution 0
                        0036  : value 0, min 0, max 2399, fuzz 0, flat 0, resolution 0
        [    1411.200000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   0000000c
        [    1411.200000] /dev/input/event2: 0003 0035 00000273
        [    1411.200000] /dev/input/event2: EV_ABS       ABS_MT_POSITION_Y    ffffffff
        [    1411.200000] /dev/input/event1: EV_REL       REL_X                ffffffff
        [    1411.200000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000             rate 59
        6183-583832: /dev/input/event2: 0000 0000 00000000
        """,
        """
        -event14  GESTURE_PINCH_BEGIN          +0.247s\t2
         event14  GESTURE_PINCH_UPDATE      2  +0.253s\t2  1.19/ 0.00 ( 1.32/ 0.00 unaccelerated)  1.07 @  0.41
         event14  GESTURE_SWIPE_UPDATE  +1.4s\t3 -1.47/-1.23 (-1.58/-1.31 unaccelerated)
         event14  GESTURE_HOLD_END  +1.5s\t3 cancelled
        """,
        """
        {"viewport":{"width":400,"height":800}}
        {"type":"touchstart","timeStamp":1000.5,"touches":[{"identifier":7,"clientX":10.5,"clientY":20,"a":["\\u00e9"]}]}
        {"type":"pointerdown","timeStamp":2000,"pointerId":2,"clientX":1e1,"clientY":-20}
        {"type":"touchcancel","timeStamp":3000,"touches":[]}
        """,
        """

        {"type":"trace","version":1}
        {"type":"pan","phase":"began","timeMs":0}
        """,
        """
        \u{feff}[{"type":"click"},
         {"type":"touchstart","timeStamp":1000.5,
          "touches":[{"identifier":7,"clientX":10.5,"clientY":20,"a":"]}\\""}]}, x
         {"type":"touchend","timeStamp":1001,"touches":[]}]
        """,
        """
        D: 1
        R: 77 05 0d 09 04 a1 01 85 01 09 22 a1 02 09 42 15 00 25 01 75 01 95 01 81 02 09 47 81 02 95 06 81 03 75 08 95 01 09 51 25 7f 81 02 05 01 75 10 65 11 09 30 26 e8 03 46 d0 07 81 02 09 31 26 f4 01 81 02 c0 05 0d 09 54 25 7f 75 08 81 02 c0
        E: 000000.100000 8 01 03 00 90 01 fa 00 02
        E: 000000.100000 8 01 03 01 91 01 fa 00 00
        E: 000000.110000 8 01 00 01 91 01 fa 00 01
        """,
        """
        [{"a":
        E: 0.1 0003 0035 1
        1},{"type":"touchstart","timeStamp":1,"touches":[{"identifier":7,"clientX":10.5,"clientY":20}]}]
        """,
        "no recording\nat all",
    ].map { Array($0.utf8) }

    @Test(arguments: samples)
    func framesDoNotDependOnHowBytesAreCut(_ bytes: [UInt8]) {
        let whole = Reading(bytes)
        #expect(Reading(bytes, cutAt: Array(1..<bytes.count)).isSame(as: whole))
        for cut in 0...bytes.count { #expect(Reading(bytes, cutAt: [cut]).isSame(as: whole), "cut at \(cut)") }
        var random = Seeded(UInt64(bytes.count))
        for _ in 0..<50 {
            let cuts = (0..<random.integer(2...12)).map { _ in random.integer(0...bytes.count) }.sorted()
            #expect(Reading(bytes, cutAt: cuts).isSame(as: whole), "cut at \(cuts)")
        }
    }

    @Test(arguments: samples.indices)
    func mutationsDoNoHarm(_ sample: Int) {
        for seed in 0..<400 as Range<UInt64> {
            var random = Seeded(seed &* 31 &+ UInt64(sample))
            var bytes = Self.samples[sample] + Self.samples[sample]
            random.damage(&bytes)
            Reading(bytes, cutAt: [random.integer(0...bytes.count)]).check(seed)
        }
    }

    /// Events of all meaningful kinds with any values, of both protocols and of two devices.
    @Test func madeUpEventsDoNoHarm() {
        for (seed, var random) in Seeded.each(0...299) {
            let codes = [
                "0003 002f", "0003 0039", "0003 0035", "0003 0036", "0003 0037", "0003 0030", "0003 0000", "0003 0001",
                "0003 0018", "0001 014a", "0000 0002", "0000 0003", "0000 0000", "0000 0000", "0000 0000",
            ]
            let most = random.chance(0.5) ? 11 : codes.count - 1
            var text = ""
            for _ in 0..<200 {
                let code = random.chance(0.3) ? "0000 0000" : codes[random.integer(0...most)]
                let value = random.chance(0.1) ? random.integer(-1...0xffff_ffff) : random.integer(-1...3)
                let bits = String(UInt32(truncatingIfNeeded: value), radix: 16)
                let device = random.chance(0.05) ? 1 : 2
                text +=
                    "[ \(random.integer(1...9)).\(random.integer(0...999_999))] /dev/input/event\(device): \(code) \(bits)\n"
            }
            Reading(text).check(seed)
        }
    }

    @Test func madeUpLinesDoNoHarm() {
        let words = [
            "E:", "[", "]", "1.5", "0003", "0035", "-1", "ffffffff", "Event: time", ", type 3", ", code 53",
            ", value 7",
            "/dev/input/event1:", "EV_ABS", "ABS_MT_SLOT", "- [", "0,", "- evdev:", "event1", "GESTURE_PINCH_UPDATE",
            "+1.0s",
            "2", "1.0/2.0", "( unaccelerated)", "@", "{", "}", "\"type\":", "\"touchmove\"", "\"touches\":[", "é",
            "\u{0}", "A:",
            "add device 1: /dev/input/event1", "min 0, max 5", "Min", "absinfo:", "53: [0, 1, 2, 3, 4]", "#", "\r",
            "input tap", "swipe",
            "sendevent", "sleep", ";", "UserWait(9)", "Drag(", ",", ")", "R: 2 05 0d", "E: 0.1 2 01", "event at",
        ]
        for (seed, var random) in Seeded.each(0...299) {
            var bytes = seed % 2 == 0 ? Self.samples[random.integer(0...(Self.samples.count - 1))] : []
            for _ in 0..<40 {
                let line = (0..<random.integer(0...8)).map { _ in words[random.integer(0...(words.count - 1))] }
                bytes += Array((line.joined(separator: random.chance(0.9) ? " " : "") + "\n").utf8)
            }
            Reading(bytes).check(seed)
        }
    }

    @Test func aClockThatJumpsForEverIsNoEnd() {
        let lines = (0..<2000).map { "E: \($0 % 2 == 0 ? "9999999999" : "0").000000 0000 0000 0" }
        let wild = ["E: 999999999999.000000 0000 0000 0", "E: 0.000000 0003 0035 99999999999999999"]
        let reading = Reading((lines + wild).joined(separator: "\n") + "\n")
        #expect(reading.frames.allSatisfy(\.contacts.isEmpty) && reading.notes.damagedCount == 2)
    }

    @Test func whatIsHeldUntilTheRangeIsKnownIsBounded() throws {
        // All slots are down, followed by frames without changes.
        var text = ""
        for slot in 0..<256 {
            text += "E: 0.0 0003 002f \(slot)\nE: 0.0 0003 0039 \(slot)\nE: 0.0 0003 0035 1\nE: 0.0 0003 0036 1\n"
        }
        text += String(repeating: "E: 0.0 0 0 0\n", count: 1500)
        var frames = 0
        var reader = RecordingReader()
        let bytes = Array(text.utf8)
        try reader.read(bytes.span) { frames += $0.isTouches ? 1 : 0 }
        #expect(frames > 400)
    }

    @Test func whatADeviceSaysThatCannotBeIsStillATrace() throws {
        let head = "A:35 0 7 0 0\nA:36 0 2 0 1\n"
        let wild = "E:0.0 3 35 0\nE:0.0 3 36 1\nE:0.0 0 0 0\nE:0.1 3 35 214743647\nE:0.0 0 0 0\nE:0.1 0 0 0\n"
        for line in try TraceConverter().trace(of: Array((head + wild).utf8)).split(separator: 0x0a) {
            #expect(throws: Never.self) { try RequestDecoder.requests(of: line.span) }
        }
    }
}
