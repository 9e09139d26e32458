// Small recordings in each format, as their tools write them, and how they are read.

import Gestures
import MapCamera
import TestSupport
import Testing

@testable import TouchTraces

@Suite struct FormatTests {
    @Test func evemuHasItsDeviceAndItsFramesInMilliseconds() {
        let reading = Reading(
            """
            # EVEMU 1.3
            # Kernel: 4.14.0
            N: A Touchscreen
            I: 0003 2575 0204 0111
            P: 0a 00 00 00 00 00 00 00
            P: 00 00 00 00 00 00 00 00
            B: 00 0b 00 00 00 00 00 00 00
            A: 00 0 10 0 0 1
            A: 2f 0 4 0 0 0
            A: 35 -10 990 0 0 10
            A: 36 0 500 0 0
            ################################
            #      Waiting for events      #
            ################################
            E: 0.000001 0003 0039 0013	# EV_ABS / ABS_MT_TRACKING_ID   13
            E: 0.000001 0003 0035 -001
            E: 0.000001 0003 0036 0042
            E: 0.000001 0001 014a 0001	# EV_KEY / BTN_TOUCH            1
            E: 0.000001 0003 0000 0100
            E: 0.000001 0000 0000 0000	# ------------ SYN_REPORT (0) ---------- +0ms
            E: 0.010000 0003 0036 0043
            E: 0.010000 0000 0000 0000
            E: 0.020000 0003 0039 -001
            E: 0.020000 0000 0000 0000
            """)
        #expect(reading.reader.format == .evemu && reading.error == nil)
        #expect(reading.told == ["0.001: 1@-1,42", "10: 1@-1,43", "20:"])
        let device = reading.reader.device
        #expect(device?.name == "A Touchscreen" && device?.isSemiMT == true)
        #expect(device?.x == DeviceAxis(minimum: -10, maximum: 990, resolution: 10))
        #expect(device?.y == DeviceAxis(minimum: 0, maximum: 500))
        #expect(reading.notes.contactProtocol == .slots && reading.notes.damagedCount == 0)
        #expect(reading.notes[.negative] == 2 && reading.notes[.noHead] == 0)
    }

    @Test func evemuWithoutAHeadIsScaledByTheDescriptionBesideIt() throws {
        let description = Array("N: beside\nA: 35 0 99 0 0\nA: 36 0 49 0 0\n".utf8)
        let device = try DeviceDescription(description.span)
        #expect(device.name == "beside" && device.x?.maximum == 99)
        let events = "E: 1.5 0003 0039 1\nE: 1.5 0003 0035 99\nE: 1.5 0003 0036 49\nE: 1.5 0000 0000 0\n"
        let reading = Reading(events, device: device, viewport: Viewport(width: 100, height: 200))
        #expect(reading.touches.first?.touches.first?.position == ScreenPoint(x: 100, y: 200))
        #expect(reading.touches.first?.timeMs == 1500)
        #expect(throws: RecordingError.noDevice) { try DeviceDescription(Array(events.utf8).span) }
        #expect(throws: RecordingError.self) { try DeviceDescription(Array("no device".utf8).span) }
    }

    /// Two devices, described at the top; only the second has contacts.
    @Test(arguments: [true, false])
    func geteventIsReadOfTheDeviceThatHasContacts(inWords: Bool) {
        let head =
            inWords
            ? """
                ABS (0003): ABS_MT_SLOT           : value 0, min 0, max 9, fuzz 0, flat 0, resolution 0
                                ABS_MT_POSITION_X     : value 0, min 0, max 1079, fuzz 0, flat 0, resolution 0
                                ABS_MT_POSITION_Y     : value 0, min 0, max 2399,\tfuzz 0, flat 0, resolution 0
            """
            : """
                ABS (0003): 002f  : value 0, min 0, max 9, fuzz 0, flat 0, resolution 0
                                0035  : value 0, min 0, max 1079, fuzz 0, flat 0, resolution 0
                                0036  : value 0, min 0, max 2399, fuzz 0, flat 0, resolution 0
            """
        let events =
            inWords
            ? """
            [    1411.100000] /dev/input/event1: EV_KEY       BTN_TOUCH            DOWN\u{20}
            [    1411.200000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   0000000c           \u{20}
            [    1411.200000] /dev/input/event2: EV_ABS       ABS_MT_POSITION_X    00000273
            [    1411.200000] /dev/input/event2: EV_ABS       ABS_MT_POSITION_Y    00000306
            [    1411.200000] /dev/input/event1: EV_REL       REL_X                ffffffff
            [    1411.200000] /dev/input/event2: EV_ABS       ABS_MT_TOOL_TYPE     MT_TOOL_FINGER
            [    1411.200000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000             rate 59
            [    1411.210000] /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   ffffffff
            [    1411.210000] /dev/input/event2: EV_KEY       BTN_TOUCH            UP
            [    1411.210000] /dev/input/event2: EV_SYN       SYN_REPORT           00000000
            """
            : """
            [    1411.100000] /dev/input/event1: 0001 014a 00000001
            [    1411.200000] /dev/input/event2: 0003 0039 0000000c
            [    1411.200000] /dev/input/event2: 0003 0035 00000273
            [    1411.200000] /dev/input/event2: 0003 0036 00000306
            [    1411.200000] /dev/input/event1: 0002 0000 ffffffff
            [    1411.200000] /dev/input/event2: 0003 0037 00000000
            [    1411.200000] /dev/input/event2: 0000 0000 00000000
            [    1411.210000] /dev/input/event2: 0003 0039 ffffffff
            [    1411.210000] /dev/input/event2: 0001 014a 00000000
            [    1411.210000] /dev/input/event2: 0000 0000 00000000
            """
        let reading = Reading(
            """
            add device 1: /dev/input/event1
              name:     "mouse"
              events:
                KEY (0001): 0110  0111
            could not get driver version for /dev/input/mice, Not a typewriter
            add device 2: /dev/input/event2
              name:     "sec_touchscreen"
              events:
                KEY (0001): 014a
            \(head)
              input props:
                INPUT_PROP_SEMI_MT
            \(events)
            """.replacing("\n", with: "\r\n"))
        #expect(reading.reader.format == .getevent && reading.notes.damaged == [])
        #expect(reading.told == ["1411200: 1@627,774", "1411210:"])
        #expect(reading.reader.device?.name == "sec_touchscreen" && reading.reader.device?.isSemiMT == true)
        #expect(reading.reader.device?.y?.maximum == 2399)
        #expect(reading.notes[.otherDevice] == 2)
    }

    /// With one device on its command line, getevent no longer names it.
    @Test func geteventOfOneDeviceIsReadByItsOwnTimesAndTheLastDescription() {
        let reading = Reading(
            """
            add device 1: /dev/input/event1
              name:     "gpio-keys"
            add device 2: /dev/input/event2
              name:     "fts"
                ABS (0003): 0035  : value 0, min 0, max 99, fuzz 0, flat 0, resolution 0
                            0036  : value 0, min 0, max 199, fuzz 0, flat 0, resolution 0
            6183-583832: 0003 0039 00000001
            6183-583832: 0003 0035 00000010
            6183-583832: 0003 0036 00000020
            6183-583832: 0000 0000 00000000
            6184-32: 0003 0039 ffffffff
            6184-32: 0000 0000 00000000
            """)
        #expect(reading.told == ["6183583.832: 1@16,32", "6184000.032:"])
        #expect(reading.reader.device?.name == "fts")
    }

    @Test func evtestHasItsDeviceAndFramesAtTheTimesOfTheirReports() {
        let reading = Reading(
            """
            Input driver version is 1.0.1
            Input device ID: bus 0x18 vendor 0x0 product 0x0 version 0x1
            Input device name: "cyapa"
            Supported events:
              Event type 3 (EV_ABS)
                Event code 53 (ABS_MT_POSITION_X)
                  Value      0
                  Min       -5
                  Max     1280
                  Resolution      12
                Event code 54 (ABS_MT_POSITION_Y)
                  Value      7
                  Min        0
                  Max      680
            Properties:
              Property type 3 (INPUT_PROP_SEMI_MT)
            Testing ... (interrupt to exit)
            Event: time 13.179359, type 3 (EV_ABS), code 57 (ABS_MT_TRACKING_ID), value 969
            Event: time 13.179362, type 3 (EV_ABS), code 53 (ABS_MT_POSITION_X), value 406
            Event: time 13.179363, type 3 (EV_ABS), code 54 (?), value 20
            Event: time 13.179364, type 4 (EV_MSC), code 4 (MSC_SCAN), value c00e9
            Event: time 13.179404, -------------- SYN_REPORT ------------
            Event: time 13.181000, type 3 (Absolute), code 57 (ABS_MT_TRACKING_ID), value -1
            Event: time 13.182000, -------------- Report Sync ------------
            """)
        #expect(reading.reader.format == .evtest && reading.notes.damaged == [])
        #expect(reading.told == ["13179.404: 1@406,20", "13182:"])
        #expect(reading.reader.device?.name == "cyapa" && reading.reader.device?.isSemiMT == true)
        #expect(reading.reader.device?.x == DeviceAxis(minimum: -5, maximum: 1280, resolution: 12))
        #expect(reading.reader.device?.y == DeviceAxis(minimum: 0, maximum: 680))
        #expect(reading.notes[.mixedTimes] == 2)
    }

    /// Version 1.32 names the codes of EV_SYN as if they were types.
    @Test(arguments: [
        ["++++++++++++++ SYN_MT_REPORT ++++++++++++", "SYN_REPORT", ">>>>>>>>>>>>>> SYN_DROPPED <<<<<<<<<<<<"],
        ["++++++++++++++ EV_REL ++++++++++++", "EV_SYN", "-------------- EV_ABS ------------"],
    ])
    func evtestWithReportsOfContactsIsReadAsWholeFramesAndADropCancels(_ marks: [String]) {
        let reading = Reading(
            """
            Event: time 1.000000, type 3 (EV_ABS), code 53 (ABS_MT_POSITION_X), value 1
            Event: time 1.000000, type 3 (EV_ABS), code 54 (ABS_MT_POSITION_Y), value 2
            Event: time 1.000000, \(marks[0])
            Event: time 1.000000, -------------- \(marks[1]) ------------
            Event: time 1.010000, \(marks[2])
            Event: time 1.020000, -------------- \(marks[1]) ------------
            """)
        #expect(reading.told == ["1000: 1@1,2", "1020: x"] && reading.error == nil)
        #expect(reading.notes[.dropped] == 1 && reading.notes.contactProtocol == .wholeFrames)
    }

    /// Up to version 1.26 all that is not SYN_REPORT is "Config Sync".
    @Test func evtestOfVersion126IsReadThoughItNamesTheEndOfAContactConfigSync() {
        let reading = Reading(
            """
            Event: time 1.000000, type 3 (Absolute), code 53 (?), value 1
            Event: time 1.000000, type 3 (Absolute), code 54 (?), value 2
            Event: time 1.000000, -------------- Config Sync ------------
            Event: time 1.000000, type 3 (Absolute), code 53 (?), value 9
            Event: time 1.000000, type 3 (Absolute), code 54 (?), value 9
            Event: time 1.000000, -------------- Config Sync ------------
            Event: time 1.000000, -------------- Report Sync ------------
            Event: time 1.010000, -------------- Config Sync ------------
            Event: time 1.010000, -------------- Report Sync ------------
            """)
        #expect(reading.told == ["1000: 1@1,2 2@9,9", "1010:"] && reading.notes.damagedCount == 0)
    }

    @Test func libinputRecordIsReadOfTheDeviceThatHasContacts() {
        let reading = Reading(
            """
            # libinput record
            version: 1
            ndevices: 2
            libinput:
              version: "1.23.0"
            devices:
            - node: /dev/input/event4
              evdev:
                # Name: a keyboard
                name: "a keyboard"
                id: [3, 1, 2, 3]
              events:
              # Current time is 12:18:55
              - evdev:
                - [  0,      0,   1,  30,       1] # EV_KEY / KEY_A                     1
                - [  0,      0,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
            - node: /dev/input/event9
              evdev:
                # Name: Synaptics TM3276-022
                # Size in mm: 97x51
                name: "Synaptics TM3276-022"
                codes:
                  0: [0, 1, 2] # EV_SYN
                  3: [0, 1, 47, 53, 54, 57] # EV_ABS
                absinfo:
                  0: [0, 1, 0, 0, 20]
                  # a remark
                  53: [0, 1940, 0, 0, 20]
                  54: [-3, 1062, 0, 0, 21]
                properties: [0, 3]
              udev:
                properties:
                - ID_INPUT=1
              quirks:
              - ModelLenovoT450Touchpad=1
              events:
              - evdev:
                - [  1, 200010,   3,  57,       7] # EV_ABS / ABS_MT_TRACKING_ID         7
                - [  1, 200010,   3,  53,    1000] # EV_ABS / ABS_MT_POSITION_X       1000
                - [  1, 200010,   3,  54,     500] # EV_ABS / ABS_MT_POSITION_Y        500
                - [  1, 200010,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
              - evdev:
                - [  1, 210010,   3,  57,      -1]
                - [  1, 210010,   0,   0,       0]
            """)
        #expect(reading.reader.format == .libinputRecord && reading.notes.damaged == [])
        #expect(reading.told == ["1200.01: 1@1000,500", "1210.01:"])
        #expect(reading.reader.device?.name == "Synaptics TM3276-022" && reading.reader.device?.isSemiMT == true)
        #expect(reading.reader.device?.x == DeviceAxis(minimum: 0, maximum: 1940, resolution: 20))
        #expect(reading.reader.device?.y == DeviceAxis(minimum: -3, maximum: 1062, resolution: 21))
    }

    /// The file has one device after the other, each from the beginning of the recording on.
    @Test func libinputRecordOfSeveralDevicesIsOneRecording() {
        func device(_ number: Int, _ id: Int) -> String {
            """
            - node: /dev/input/event\(number)
              events:
              - evdev:
                - [  \(id), 0, 3,  57, 7]
                - [  \(id), 0, 3,  53, \(id)]
                - [  \(id), 0, 3,  54, \(id)]
                - [  \(id), 0, 0,   0, 0]

            """
        }
        let reading = Reading("# libinput record\n" + device(1, 9) + device(2, 3) + device(3, 5))
        #expect(reading.told == ["9000: 1@9,9", "9000: x"] && reading.notes[.recordingFollows] == 0)
    }

    // MARK: Gestures

    private func told(_ reading: Reading) -> [String] {
        reading.gestures.map { event in
            let value =
                switch event.value {
                case .pan(let by): "\((by.x * 100).rounded() / 100),\((by.y * 100).rounded() / 100)"
                case .pinch(let scale): "\(scale)"
                case .rotate(let degrees): "\((degrees * 100).rounded() / 100)"
                default: "?"
                }
            return "\(Int(event.time ?? -1)) \(event.kind) \(event.phase) \(value)"
        }
    }

    @Test func libinputDebugEventsAreCumulativeGestures() {
        let reading = Reading(
            """
            -event9   DEVICE_ADDED                Synaptics TM3276-022              seat0 default group1  cap:pg
            -event14  GESTURE_HOLD_BEGIN           +0.190s\t2
             event14  GESTURE_HOLD_END             +0.240s\t2 cancelled
             event14  POINTER_MOTION               +0.241s\t  1.19/ 0.00 ( +1.32/ +0.00)
            event14  GESTURE_PINCH_BEGIN          +0.247s\t2
             event14  GESTURE_PINCH_UPDATE         +0.253s\t2  1.19/ 0.00 ( 1.32/ 0.00 unaccelerated)  1.07 @  0.41
             event14  GESTURE_PINCH_UPDATE      2  +0.26s\t2  1.76/-0.50 ( 1.76/ 0.00 unaccelerated)  1.10 @ -0.24
             event14  GESTURE_PINCH_END    +0.3s\t2
             event14  GESTURE_SWIPE_BEGIN  +1.39s\t3
             event14  GESTURE_SWIPE_UPDATE  +1.4s\t3 -1.47/-1.23 (-1.58/-1.31 unaccelerated)
             event14  GESTURE_SWIPE_UPDATE  +1.5s\t3 x/-1.23 (-1.58/-1.31 unaccelerated)
            """)
        #expect(reading.reader.format == .libinputDebugEvents)
        #expect(
            told(reading) == [
                "190 pan began 0.0,0.0", "240 pan cancelled 0.0,0.0",
                "247 pan began 0.0,0.0", "247 pinch began 1.0", "247 rotate began 0.0",
                "253 pan changed 1.19,0.0", "253 pinch changed 1.07", "253 rotate changed 0.41",
                "260 pan changed 2.95,-0.5", "260 pinch changed 1.1", "260 rotate changed 0.17",
                "300 pan ended 2.95,-0.5", "300 pinch ended 1.1", "300 rotate ended 0.17",
                "1390 pan began 0.0,0.0", "1400 pan changed -1.47,-1.23", "1400 pan cancelled -1.47,-1.23",
            ])
        #expect(reading.gestures.allSatisfy { $0.focus == nil && $0.velocity == nil })
        #expect(reading.notes.damaged.map(\.line) == [11] && reading.notes[.leftDown] == 1)
        #expect(reading.reader.surface?.viewport == .standard)
    }

    @Test func aGestureThatGoesOnWithoutABeginningBeginsThere() {
        let reading = Reading(
            """
            event16  POINTER_SCROLL_FINGER     2 +110.015s vert 0.00/0.0* horiz 0.00/0.0* (finger)
            event16  GESTURE_SWIPE_END         +110.016s 3
            event16  GESTURE_PINCH_UPDATE      6 +110.059s 2 -1.31/ 0.26 (-1.31/ 0.26 unaccelerated)  1.25 @  0.54
            event16  GESTURE_SWIPE_UPDATE      6 +110.060s 3 2.00/ 1.00 (-1.31/ 0.26 unaccelerated)
            event16  GESTURE_SWIPE_END         +110.070s 3
            """, rotation: .quarter)
        #expect(
            told(reading) == [
                "110059 pan changed -0.26,-1.31", "110059 pinch changed 1.25", "110059 rotate changed 0.54",
                "110060 pan cancelled -0.26,-1.31", "110060 pinch cancelled 1.25", "110060 rotate cancelled 0.54",
                "110060 pan changed -1.0,2.0", "110070 pan ended -1.0,2.0",
            ])
        #expect(reading.notes[.noBegin] == 2 && reading.notes.damagedCount == 0)
    }

    @Test func libinputDebugEventsOfATouchscreenAreTouchesOnItsWholeSize() throws {
        let reading = Reading(
            """
            -event7   DEVICE_ADDED     ELAN Touchscreen                  seat0 default group3  cap:t  size 316x176mm
            -event7   TOUCH_DOWN       +8.144s\t0 (0) 50.00/25.00 (158.00/44.00mm)
             event7   TOUCH_FRAME      +8.144s\t
             event7   TOUCH_DOWN     3 +8.152s\t1 (1)  5.00/51.21 ( 15.80/90.13mm)
             event7   TOUCH_MOTION     +8.152s\t0 (0) 50.78/25.00 (160.46/44.00mm)
             event7   TOUCH_FRAME      +8.152s\t
             event7   TOUCH_UP         +8.160s\t0 (0)
             event7   TOUCH_FRAME      +8.160s
             event7   TOUCH_CANCEL     +8.170s\t1 (1)
             event7   TOUCH_FRAME      +8.170s
             event7   TOUCH_DOWN       +8.180s\t0 (0) x/25.00 (158.00/44.00mm)
            """)
        #expect(reading.error == nil && reading.reader.format == .libinputDebugEvents)
        #expect(reading.told == ["8144: 1@5000,2500", "8152: 1@5078,2500 2@500,5121", "8160: 2@500,5121", "8170: x"])
        #expect(reading.notes.damaged.map(\.line) == [11] && reading.notes[.noHead] == 0)
        let viewport = try #require(reading.reader.surface?.viewport)
        #expect(abs(viewport.width - 316 / 25.4 * 160) < 1e-6 && abs(viewport.height - 176 / 25.4 * 160) < 1e-6)
        #expect(abs((reading.touches[0].touches[0].position.x) - viewport.width / 2) < 1e-6)
    }

    /// The first position is too near to a corner to give it.
    @Test func libinputTouchesAreOnTheSizeThatTheirDeviceTells() throws {
        let reading = Reading(
            """
            -event7   DEVICE_ADDED     A large size 9 pad                seat0 default group3  cap:t  size 316x176mm
            -event8   DEVICE_ADDED     Another one                       seat0 default group4  cap:t  size 31x17mm
            -event7   TOUCH_DOWN       +1.000s\t0 (0)  0.02/ 0.00 ( 0.05/ 0.00mm)
            """)
        let viewport = try #require(reading.reader.surface?.viewport)
        #expect(abs(viewport.width - 316 / 25.4 * 160) < 1e-6 && abs(viewport.height - 176 / 25.4 * 160) < 1e-6)
    }

    @Test func libinputTouchesBeforeADamagedLineAreAFrameWithoutALineThatEndsIt() {
        let reading = Reading(
            """
            -event7   TOUCH_DOWN       +1.000s\t0 (0) 50.00/25.00 (158.00/44.00mm)
             event7   TOUCH_MOTION     +1.100s\t0 (0) 51.00/25.00 (158.00/44.00mm)
             event7   TOUCH_MOTION     +1.200s\t0 (0) 99999999.5/20.00 (158.00/44.00mm)
             event7   TOUCH_UP         +1.300s\t0 (0)
            """)
        #expect(reading.told.prefix(2) == ["1000: 1@5000,2500", "1100: 1@5100,2500"], "\(reading.told)")
        #expect(reading.notes.damaged.map(\.line) == [3])
    }

    /// People omit the lines that end frames, and a device may not know its size.
    @Test func libinputTouchesWithoutFramesAreOneForEachTimeAndWithoutASizeFillTheStandardLength() {
        let reading = Reading(
            """
             event7   TOUCH_DOWN       +1.000s\t0 (0) 50.00/50.00 ( 0.00/ 0.00mm)
             event7   TOUCH_DOWN       +1.000s\t1 (1) 60.00/50.00 ( 0.00/ 0.00mm)
             event7   TOUCH_MOTION     +1.010s\t1 (1) 61.00/50.00 ( 0.00/ 0.00mm)
             event7   TOUCH_UP         +1.020s\t1 (1)
            """)
        #expect(
            reading.told == [
                "1000: 1@5000,5000 2@6000,5000", "1010: 1@5000,5000 2@6100,5000", "1020: 1@5000,5000", "1020: x",
            ])
        #expect(reading.reader.surface?.viewport == Viewport(width: 844, height: 474.75))
    }

    /// The map follows two fingers that scroll on a touchpad, but not a wheel.
    @Test func libinputTouchesAndScrollsAreInTheOrderOfTheirTimes() {
        let reading = Reading(
            """
            -event7   TOUCH_DOWN       +1.000s\t0 (0) 50.00/50.00 (158.00/88.00mm)
            -event9   POINTER_SCROLL_FINGER   +1.500s\tvert 0.00/0.0 horiz 7.57/0.0* (finger)
            -event7   TOUCH_MOTION     +1.600s\t0 (0) 51.00/50.00 (161.16/88.00mm)
            -event9   POINTER_SCROLL_FINGER   +1.700s\tvert 0.00/0.0 horiz 2.00/0.0* (finger)
            """)
        // At the end the finger and the scroll are cancelled.
        #expect(reading.times == [1000, 1500, 1600, 1700, 1700, 1700] && reading.notes[.timeWentBack] == 0)
        #expect(reading.told == ["1000: 1@5000,5000", "1600: 1@5100,5000", "1700: x"])
        #expect(reading.gestures.map(\.phase) == [.began, .changed, .cancelled])
    }

    @Test func scrollingFingersArePans() {
        let reading = Reading(
            """
            -event19  POINTER_SCROLL_FINGER   +0.083s\tvert 0.00/0.0 horiz 7.57/0.0* (finger)
             event19  POINTER_SCROLL_FINGER 2 +0.090s\tvert -1.50/0.0* horiz 8.00/0.0* (finger)
             event19  POINTER_SCROLL_FINGER   +0.100s\tvert 0.00/0.0* horiz 0.00/0.0* (finger)
             event5   POINTER_AXIS     +24.40s\tvert 3.98* horiz 0.00 (finger)
             event5   POINTER_AXIS     +24.43s\tvert -2/0* horiz 0.00/0 (finger)
             event5   POINTER_AXIS     +24.50s\tvert 15.00/1* horiz 0.00/0 (wheel)
             event5   POINTER_AXIS     +24.60s\tvert 0.00* horiz 0.00* (finger)
             event5   POINTER_SCROLL_WHEEL  +25.0s\tvert 15.00/120.0* horiz 0.00/0.0 (wheel)
            """)
        #expect(
            told(reading) == [
                "83 pan began 7.57,0.0", "90 pan changed 15.57,-1.5", "100 pan ended 15.57,-1.5",
                "24400 pan began 0.0,3.98", "24430 pan changed 0.0,1.98", "24600 pan ended 0.0,1.98",
            ])
        #expect(reading.notes[.noBegin] == 0 && reading.notes.damagedCount == 0)
    }

    // MARK: Without times

    @Test(arguments: [
        """
        /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   00000001
        /dev/input/event2: EV_ABS       ABS_MT_POSITION_X    0000000a
        /dev/input/event2: EV_ABS       ABS_MT_POSITION_Y    00000014
        /dev/input/event2: EV_SYN       SYN_REPORT           00000000
        /dev/input/event2: EV_ABS       ABS_MT_POSITION_X    0000000b
        /dev/input/event2: EV_SYN       SYN_REPORT           00000000
        /dev/input/event2: EV_ABS       ABS_MT_TRACKING_ID   ffffffff
        /dev/input/event2: EV_SYN       SYN_REPORT           00000000
        """,
        """
        0003 0039 00000001
        0003 0035 0000000a
        0003 0036 00000014
        0000 0000 00000000
        0003 0035 0000000b
        0000 0000 00000000
        0003 0039 ffffffff
        0000 0000 00000000
        """,
    ])
    func geteventWithoutTimesIsReadAtARate(_ text: String) {
        #expect(Reading(text).error == .noTimes)
        for ending in ["\n", "\r\n", "\r\r\n"] {
            let reading = Reading(text.replacing("\n", with: ending), rate: 80)
            #expect(reading.told == ["0: 1@10,20", "12.5: 1@11,20", "25:"] && reading.notes.damagedCount == 0)
        }
    }

    // MARK: Android's own events

    @Test func motionEventsAreFoundAmongOtherLinesOfALog() {
        func event(_ action: String, _ pointers: [(Int, String, String)], _ time: Int) -> String {
            let told = pointers.enumerated().map { index, pointer in
                "id[\(index)]=\(pointer.0), x[\(index)]=\(pointer.1), y[\(index)]=\(pointer.2), "
                    + "toolType[\(index)]=TOOL_TYPE_FINGER, "
            }
            return "03-23 11:00:14.798 26679-26679/app D/Map: event = MotionEvent { action=\(action), actionButton=0, "
                + told.joined()
                + "buttonState=0, metaState=0, flags=0x0, edgeFlags=0x0, pointerCount=\(pointers.count), "
                + "historySize=0, eventTime=\(time), downTime=1000, deviceId=2, source=0x1002 }\n"
        }
        let reading = Reading(
            "--------- beginning of main\n" + event("ACTION_DOWN", [(0, "568.0", "777.5")], 1000)
                + event("ACTION_DOWN", [(0, "68.0", "77.5")], 1000) + "03-23 11:00:14.8 D/Other: hello {}\n"
                + event("ACTION_POINTER_DOWN(1)", [(0, "568.0", "777.5"), (1, "1.0E-1", "3.0")], 1020)
                + event("ACTION_MOVE", [(0, "570.0", "777.5"), (1, "2.0", "-3.0")], 1030)
                + event("ACTION_POINTER_UP(0)", [(0, "570.0", "777.5"), (1, "2.0", "-3.0")], 1040)
                + event("ACTION_MOVE", [(1, "9.0", "-3.0")], 1050) + event("ACTION_UP", [(1, "9.0", "-3.0")], 1060)
                + event("ACTION_HOVER_MOVE", [(0, "1.0", "1.0")], 1065)
                + event("ACTION_DOWN", [(0, "5.0", "5.0")], 1070) + event("ACTION_CANCEL", [(0, "5.0", "5.0")], 1080)
                + "MotionEvent { action=ACTION_DOWN }\n")
        #expect(reading.reader.format == .motionEvents && reading.error == nil)
        #expect(
            reading.told == [
                "1000: 1@568,777.5", "1020: 1@568,777.5 2@0.1,3", "1030: 1@570,777.5 2@2,-3", "1040: 2@2,-3",
                "1050: 2@9,-3", "1060:", "1070: 3@5,5", "1080: x",
            ])
        #expect(reading.notes.damaged.map(\.line) == [13])
    }

    private func motion(_ action: String, _ pointers: String, _ time: Int) -> String {
        "MotionEvent { action=ACTION_\(action), \(pointers), eventTime=\(time) }\n"
    }

    @Test func fingersOfOneMillisecondAreNoRepetition() {
        let pointers = (0...2).map { "id[\($0)]=\($0), x[\($0)]=\($0), y[\($0)]=5" }
        let reading = Reading(
            motion("DOWN", pointers[0], 10)
                + (1...2).map { motion("POINTER_DOWN(\($0))", pointers[...$0].joined(separator: ", "), 20) }.joined()
                + (1...2).map { motion("POINTER_DOWN(\($0))", pointers[...$0].joined(separator: ", "), 20) }[1])
        #expect(reading.frames.map(\.contacts.count) == [1, 2, 3, 0])
        // A view inside logs its share of a move.
        let all = pointers.joined(separator: ", ")
        let shared = Reading(motion("DOWN", all, 10) + motion("MOVE", all, 20) + motion("MOVE", pointers[0], 20))
        #expect(shared.frames.map(\.contacts.count) == [3, 3, 0])
    }

    @Test func aMotionEventIsFoundBehindATagOfItsName() {
        let line = "01-01 00:00:00.000  1  1 D MotionEvent: " + motion("DOWN", "x[0]=1, y[0]=2", 10)
        #expect(Reading(line).told == ["10: 1@1,2", "10: x"])
        #expect(Reading(motion("DOWN", "x[0]=1, y[0]=2", 10) + line.replacing("=10", with: "=20")).frames.count == 3)
    }

    @Test func aFingerThatTurnsOutToBeAPalmIsCancelled() {
        let two = "id[0]=0, x[0]=1, y[0]=1, id[1]=1, x[1]=2, y[1]=2"
        let reading = Reading(
            motion("DOWN", "x[0]=1, y[0]=1", 10) + motion("POINTER_DOWN(1)", two, 20)
                + motion("MOVE", two + ", toolType[1]=TOOL_TYPE_PALM", 30) + motion("MOVE", two, 40)
                + motion("UP", "x[0]=1, y[0]=1, toolType[0]=TOOL_TYPE_PALM", 50))
        #expect(reading.told == ["10: 1@1,1", "20: 1@1,1 2@2,2", "30: x", "40: 3@1,1 4@2,2", "50: x"])
    }

    /// Newer versions omit zeros, and the time as well.
    @Test func motionEventsWithoutTimesAreReadAtARate() {
        let text =
            "MotionEvent { action=ACTION_DOWN, x[0]=810.0, y[0]=1140.0 }\nMotionEvent { action=ACTION_UP, x[0]=810.0, y[0]=1140.0 }\n"
        #expect(Reading(text).error == .noTimes)
        #expect(Reading(text, rate: 50).told == ["0: 1@810,1140", "20:"])
    }

    @Test(arguments: [
        "MotionEvent { action=ACTION_MOVE, id[0]=7, x[0]=1.0, y[0]=2.0, id[1]=ID, x[1]=3.0, y[1]=4.0, eventTime=TIME }",
        """
        {"type":"touchmove","timeStamp":TIME,"touches":[{"identifier":7,"clientX":1,"clientY":2},\
        {"identifier":ID,"clientX":3,"clientY":4}]}
        """,
    ])
    func aLineInWhichTwoFingersHaveOneNumberIsDamaged(template: String) {
        func line(_ id: Int, at time: Int) -> String {
            template.replacing("ID", with: "\(id)").replacing("TIME", with: "\(time)") + "\n"
        }
        let reading = Reading(line(7, at: 1000) + line(8, at: 1010))
        #expect(reading.notes.damaged.map(\.line) == [1])
        #expect(reading.frames.map(\.contacts.count) == [2, 0])
    }

    // MARK: The kernel's own events

    @Test(arguments: [true, false])
    func inputEventsOfTheKernelAreReadOnBothWordSizesHoweverTheyAreCut(isLong: Bool) {
        func bytes(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        func event(_ microseconds: Int, _ type: Int, _ code: Int, _ value: Int) -> [UInt8] {
            let size = isLong ? 8 : 4
            return bytes(1_700_000_000, size) + bytes(microseconds, size) + bytes(type, 2) + bytes(code, 2)
                + bytes(value, 4)
        }
        let recording =
            event(10, 3, 0x39, 7) + event(10, 3, 0x35, 100) + event(10, 3, 0x36, -5) + event(10, 0, 0, 0)
            + event(8010, 3, 0x35, 101) + event(8010, 0, 0, 0) + event(16_010, 3, 0x39, -1) + event(16_010, 0, 0, 0)
        let whole = Reading(recording)
        #expect(whole.reader.format == .inputEvents && whole.error == nil)
        #expect(whole.frames.map { $0.time - 1_700_000_000_000_000 } == [10, 8010, 16_010])
        #expect(whole.frames.map { $0.contacts.map(\.x) } == [[100], [101], []])
        #expect(whole.frames[0].contacts[0].y == -5)
        for cut in 0...recording.count { #expect(Reading(recording, cutAt: [cut]).isSame(as: whole)) }
        #expect(Reading(Array(recording.dropLast(3))).notes.damagedCount == 1)
    }

    // MARK: Almost unreadable input

    @Test(arguments: [
        "Event: time 1.0, type 3 (EV_ABS), code 53 (ABS_MT_POSITION_X), value 1\nEvent: time 1.0, ===== SYN =====\n",
        "E: 1.0 0003 0035 1\nE: 1.0 0000 0000 0\nE: 1 x\n",
        "event7   TOUCH_DOWN  +1.0s 0 (0) 1.0/1.0 (1.0/1.0mm)\n" + String(repeating: "event7 TOUCH_X\n", count: 100),
        #"{"type":"touchstart","timeStamp":1,"touches":[]}"# + "\n" + #"{"type":"touchmove","timeStamp":1}"#,
    ])
    func whatIsHardlyUnderstoodIsAnError(_ text: String) throws {
        guard case .notUnderstood(let first, let count)? = Reading(text).error else {
            Issue.record("no error: \(Reading(text).told)")
            return
        }
        let lines = text.split(separator: "\n").count
        #expect(first.line >= 2 && first.line <= lines && count == Reading(text).notes.damagedCount)
        #expect(try #require(Reading(text).error).description.contains("line \(first.line)"))
    }

    @Test func aRecordingWithoutAFingerIsNoError() {
        #expect(Reading("Event: time 1.0, type 1 (EV_KEY), code 30 (KEY_A), value 1\n").error == nil)
        #expect(Reading("E: 1.0 0000 0000 0\n").error == nil)
        // Nor is one of a keyboard, although a line is damaged.
        let keys = "[ 1.0] EV_KEY KEY_A DOWN\n[ 1.0] EV_SYN SYN_REPORT 00000000\n[ 1.1] EV_KEY KEY_A\n"
        let keyboard = Reading(keys)
        #expect(keyboard.error == nil && keyboard.notes.damagedCount == 1)
        #expect(Reading("[ 1.0] EV_KEY KEY_A DOWN\n[ 1.1] EV_KEY KEY_A\n").error != nil)
    }

    // MARK: UTF-16

    private static func utf16(_ text: String, isBigEndian: Bool = false) -> [UInt8] {
        ("\u{feff}" + text).utf16.flatMap { unit in
            let bytes = [UInt8(unit & 0xff), UInt8(unit >> 8)]
            return isBigEndian ? bytes.reversed() : bytes
        }
    }

    @Test(arguments: [
        "[ 1.0] 0003 0039 1\r\n[ 1.0] 0003 0035 2\r\n[ 1.0] 0003 0036 3\r\n[ 1.0] 0000 0000 0\r\n",
        "# EVEMU 1.3\nN: \u{e9}\u{1f600}\u{7d4c}\nE: 1.0 0003 0039 1\nE: 1.0 0003 0035 2\nE: 1.0 0003 0036 3\nE: 1.0 0000 0000 0",
        #"[{"type":"touchstart","timeStamp":1000,"touches":[{"identifier":1,"clientX":2,"clientY":3}]}]"#,
    ])
    func textOfUTF16IsReadAsThatOfUTF8(_ text: String) {
        let whole = Reading(text)
        #expect(whole.told == ["1000: 1@2,3", "1000: x"])
        for isBigEndian in [false, true] {
            let bytes = Self.utf16(text, isBigEndian: isBigEndian)
            #expect(Reading(bytes).isSame(as: whole))
            for cut in 0...bytes.count { #expect(Reading(bytes, cutAt: [cut]).isSame(as: whole)) }
        }
    }

    @Test func aTraceOfUTF16IsHandedOnAsUTF8() {
        let trace = "{\"type\":\"trace\",\"version\":1,\"camera\":\"\u{e9}\u{1f600}\"}\n{\"type\":\"trace-end\"}\n"
        #expect(String(decoding: Reading(Self.utf16(trace)).trace, as: UTF8.self) == trace)
        // Unpaired surrogates are not characters.
        let broken = Reading([0xff, 0xfe] + [0x00, 0xd8, 0x41, 0x00, 0x00, 0xdc, 0x00])
        #expect(broken.error == .unknown(beginning: "\u{fffd}A\u{fffd}"))
    }

    // MARK: Streams

    /// Without a range the beginning is held back until the caller says that no more comes soon.
    @Test(arguments: [
        (500, 900, 1080.0, 2400.0), (1200, 900, 1440, 3200), (1000, 3500, 4095, 4095), (9, 65_535, 9, 65_535),
    ])
    func aRangeIsAssumedForAStreamThatGoesOn(_ x: Int, _ y: Int, _ width: Double, _ height: Double) throws {
        var reader = RecordingReader()
        var frames = 0
        func take(_ frame: RecordedFrame) { frames += frame.isTouches ? 1 : 0 }
        let text =
            "[ 1.0] 0003 0039 0001\n[ 1.0] 0003 0035 \(String(x, radix: 16))\n[ 1.0] 0003 0036 \(String(y, radix: 16))\n"
        try reader.read(Array((text + "[ 1.0] 0000 0000 0\n").utf8).span, take)
        #expect(reader.isHolding && frames == 0)
        try reader.assumeRange(take)
        #expect(!reader.isHolding && frames == 1)
        try reader.read(Array("[ 1.1] 0003 0035 20\n[ 1.1] 0000 0000 0\n".utf8).span, take)
        #expect(frames == 2 && reader.notes[.noHead] == 1)
        let surface = try #require(reader.surface)
        let longer = max(width, height)
        #expect(abs(surface.point(x: longer, y: longer).x - 844) < 1e-9)
    }

    // MARK: The web

    @Test func touchesOfAWebPageAreReadAndDamageCancelsTheOnesItNames() {
        let reading = Reading(
            """
            {"viewport":{"width":400,"height":800}}
            {"type":"touchstart","timeStamp":1000.5,"touches":[{"identifier":7,"clientX":10.5,"clientY":20,"force":1}]}
            {"type":"touchstart","timeStamp":1010,"touches":[{"identifier":7,"clientX":11,"clientY":20},{"identifier":8,"clientX":100,"clientY":20}]}

            {"type":"click","timeStamp":1015,"clientX":3}
            {"type":"touchend","timeStamp":1020,"touches":[{"identifier":8,"clientX":100,"clientY":21}]}
            {"type":"touchend","timeStamp":1030,"touches":[]}
            {"type":"touchstart","timeStamp":1040,"touches":[{"identifier":7,"clientX":1,"clientY":2}]}
            {"type":"touchcancel","timeStamp":1050,"touches":[]}
            {"type":"touchmove","timeStamp":1050,"touches":[{"identifier":7}]}
            {"type":"touchstart","timeStamp":1060,"touches":[{"identifier":7,"clientX":-1,"clientY":2}]}
            """)
        #expect(reading.reader.format == .webTouches && reading.notes.damaged.map(\.line) == [10])
        #expect(
            reading.told == [
                "1000.5: 1@10.5,20", "1010: 1@11,20 2@100,20", "1020: 2@100,21", "1030:", "1040: 3@1,2", "1050: x",
                "1060: 4@-1,2", "1060: x",
            ])
        #expect(reading.reader.surface?.viewport == Viewport(width: 400, height: 800))
        #expect(reading.touches.first?.touches.first?.position == ScreenPoint(x: 10.5, y: 20))
    }

    @Test func pointersOfAWebPageAreFingersButForTheMouse() {
        let reading = Reading(
            """
            {"type":"pointermove","timeStamp":1,"pointerId":1,"clientX":5,"clientY":5,"pointerType":"mouse"}
            {"type":"pointerdown","timeStamp":2,"pointerId":2,"clientX":10,"clientY":20}
            {"type":"pointerdown","timeStamp":2,"pointerId":3,"clientX":30,"clientY":40}
            {"type":"pointermove","timeStamp":3,"pointerId":3,"clientX":31,"clientY":900}
            {"type":"pointerup","timeStamp":4,"pointerId":2,"clientX":10,"clientY":20}
            {"type":"pointercancel","timeStamp":5,"pointerId":3,"clientX":10,"clientY":20}
            """)
        #expect(reading.told == ["2: 1@10,20", "2: 1@10,20 2@30,40", "3: 1@10,20 2@31,900", "4: 2@31,900", "5: x"])
        // Without a viewport, points are points, and the standard viewport grows to hold them.
        #expect(reading.reader.surface?.viewport == Viewport(width: 390, height: 900))
        #expect(reading.touches[0].touches[0].position == ScreenPoint(x: 10, y: 20))
    }

    @Test func pointsFarAwayMakeNoViewportThatATraceMayNotHave() {
        let reading = Reading(
            """
            {"type":"pointerdown","timeStamp":1,"pointerId":1,"clientX":1e6,"clientY":20}
            {"type":"pointerup","timeStamp":2,"pointerId":1,"clientX":1e6,"clientY":20}
            """)
        #expect(reading.reader.surface?.viewport == Viewport(width: 100_000, height: 844))
        #expect(reading.touches[0].touches[0].position == ScreenPoint(x: 1e6, y: 20))
    }

    // MARK: Traces

    @Test func aTraceIsHandedOnAsItIs() {
        let trace =
            "\r\n  {\"type\":\"trace\",\"version\":1}\r\n{\"type\":\"pan\",\"phase\":\"began\",\"timeMs\":0}\nrubbish"
        for text in [trace, trace + "\n", "{\"type\":\"trace\",\"version\":2}", "{\"type\":\"trace\",\"version\":1}\n"]
        {
            let reading = Reading(text)
            #expect(reading.reader.format == .trace && reading.error == nil)
            #expect(String(decoding: reading.trace, as: UTF8.self) == text)
            #expect(String(decoding: Reading("\u{feff}" + text).trace, as: UTF8.self) == text)
        }
    }

    /// Recordings are often pasted into reports, where they are indented.
    @Test(arguments: [
        "E: 1.0 0003 0039 1\nE: 1.0 0003 0035 2\nE: 1.0 0003 0036 3\n# remark\nE: 1.0 0000 0000 0",
        "[ 1.0] 0003 0039 1\n[ 1.0] 0003 0035 2\n[ 1.0] 0003 0036 3\n\n[ 1.0] 0000 0000 0",
        """
        Event: time 1.0, type 3 (EV_ABS), code 57 (ABS_MT_TRACKING_ID), value 9
        Event: time 1.0, type 3 (EV_ABS), code 53 (ABS_MT_POSITION_X), value 2
        Event: time 1.0, type 3 (EV_ABS), code 54 (ABS_MT_POSITION_Y), value 3
        Event: time 1.0, -------------- SYN_REPORT ------------
        """,
    ])
    func indentedLinesAreRead(_ text: String) {
        let reading = Reading("  \t" + text.replacing("\n", with: "\n  \t") + "\n   ")
        #expect(reading.told == ["1000: 1@2,3", "1000: x"] && reading.notes.damagedCount == 0)
    }

    // MARK: Unreadable input

    @Test(arguments: [
        ("", RecordingError.empty), (" \r\n\n", .empty), ("\u{0}", .unknown(beginning: "·")),
        ("hello\nworld", .unknown(beginning: "hello")), ("B: fade\nN: no", .unknown(beginning: "B: fade")),
        (#"{"type":"pan","phase":"began"}"#, .noHeader),
        (#"{"type":"subscribed","camera":"main"}"#, .stream),
        ("junk\n{\"type\":\"trace\",\"version\":1}", .unknown(beginning: "junk")),
        (String(repeating: "x", count: 200_000), .unknown(beginning: String(repeating: "x", count: 60) + "…")),
        ("1.5 /tuio/2Dcur alive 3", .notRead("a TUIO log")),
        ("[debug] [Appium] x\nE: 1", .notRead("an Appium log")),
        (#"{"title":"x","steps":[{"type":"setViewport"}]}"#, .notRead("a user flow of Chrome's Recorder")),
    ])
    func whatIsNoRecordingIsRefusedByWhatItIs(_ text: String, _ error: RecordingError) {
        let reading = Reading(text)
        #expect(reading.error == error && reading.reader.format == nil)
        #expect(reading.frames.isEmpty && reading.trace.isEmpty)
    }

    @Test(arguments: [
        "/dev/input/event2: 0003 0035 00000273", "EV_ABS       ABS_MT_POSITION_X    00000378            ",
        "add device 1: /dev/input/event2\n  name: \"fts\"\n/dev/input/event2: EV_KEY       BTN_TOUCH            DOWN",
    ])
    func eventsWithoutTimesAreRefused(_ text: String) { #expect(Reading(text + "\n").error == .noTimes) }

    @Test func whatIsRefusedSaysWhatIsKnown() {
        for format in RecordingFormat.allCases {
            #expect(RecordingError.unknown(beginning: "x").description.contains(format.rawValue))
        }
    }

    @Test func whatStandsInFrontIsDamage() {
        let reading = Reading("\u{feff}$ adb shell getevent -lt\n* daemon started\n[ 1.0] EV_SYN SYN_REPORT 00000000\n")
        #expect(reading.reader.format == .getevent)
        #expect(reading.notes.damaged.map(\.line) == [1, 2] && reading.notes.damaged[0].excerpt.hasPrefix("$ adb"))
    }

    @Test func aPointerThatIsLostTakesOnlyItsOwnAway() {
        func line(_ type: String, _ id: Int, _ x: Int, _ time: Int) -> String {
            #"{"type":"\#(type)","timeStamp":\#(time),"pointerId":\#(id),"clientX":\#(x),"clientY":1}"# + "\n"
        }
        let stranger = Reading(
            line("pointerdown", 1, 5, 0) + line("pointercancel", 99, 0, 10) + line("pointermove", 1, 9, 20)
                + line("pointerup", 1, 9, 30))
        #expect(stranger.frames.map(\.isCancelled) == [false, false, false])
        let own = Reading(
            line("pointerdown", 1, 5, 0) + line("pointerdown", 2, 50, 5) + line("pointercancel", 2, 0, 10)
                + line("pointermove", 1, 9, 20) + line("pointerup", 1, 9, 30))
        #expect(own.frames.map(\.isCancelled) == [false, false, true, false, false])
        #expect(own.frames.map(\.contacts.count) == [1, 2, 0, 1, 0])
    }
}
