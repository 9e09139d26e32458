// Scripts that touch an Android screen, and events printed by other programs.

import TestSupport
import Testing
import TouchTraces

@Suite struct ScriptTests {
    // MARK: sendevent

    private static let down = [
        "/dev/input/event2 3 57 12", "/dev/input/event2 3 53 100", "/dev/input/event2 3 54 200",
        "/dev/input/event2 0 0 0",
    ]
    private static let up = ["/dev/input/event2 3 57 4294967295", "/dev/input/event2 0 0 0"]

    @Test func sendeventIsReadByWhatTheScriptSleeps() {
        let lines = Self.down.map { "sendevent \($0)" } + ["sleep 0.25"] + Self.up.map { "sendevent \($0)" }
        let reading = Reading((["#!/system/bin/sh", "DEV=2"] + lines).joined(separator: "\n"))
        #expect(reading.reader.format == .sendevent && reading.error == nil && reading.notes.damagedCount == 0)
        #expect(reading.told == ["0: 1@100,200", "250:"])
        #expect(Reading(lines.map { "adb -s 12ab shell \($0)" }.joined(separator: "\r\n")).told == reading.told)
        let oneLine = "adb shell \"su -c '" + lines.joined(separator: "; ") + "'\""
        #expect(Reading(oneLine).told == reading.told)
        let hexadecimal = lines.map { $0.replacing(" 3 57 ", with: " 0x3 0x39 ").replacing("4294967295", with: "-1") }
        #expect(Reading(hexadecimal.joined(separator: "\n")).told == reading.told)
        let damaged = Reading((lines + ["sendevent /dev/input/event2 3 57"]).joined(separator: "\n"))
        #expect(damaged.told == reading.told && damaged.notes.damaged.map(\.line) == [8])
    }

    @Test func sendeventThatNeverSleepsNeedsARate() {
        let text = (Self.down + Self.up).map { "sendevent \($0)" }.joined(separator: "\n")
        #expect(Reading(text).error == .noTimes)
        #expect(Reading(text, rate: 100).told == ["0: 1@100,200", "10:"])
        let lift = "\nsendevent /dev/input/event2 3 57 42"
        let slow = text.replacing(lift, with: "\nsleep 1" + lift)
        #expect(Reading(slow, rate: 100).told == ["0: 1@100,200", "1010:"])
    }

    // MARK: input

    @Test func inputCommandsTouchAtTheirTimes() {
        let reading = Reading(
            """
            adb shell input tap 10 20.5
            adb shell sleep 1
            adb -s x shell input touchscreen -d 0 swipe 0 0 100 50 50 && sleep 0.5
            adb shell input keyevent 4; adb shell input mouse tap 1 1
            input motionevent DOWN 7 8
            sleep 100ms
            usleep 100000
            input motionevent MOVE 9 8
            input motionevent UP 9 8
            input text 'tap 1 2'
            """)
        #expect(reading.reader.format == .androidInput && reading.error == nil)
        #expect(
            reading.told == [
                "0: 1@10,20.5", "0:", "1000: 2@0,0", "1016.667: 2@\(100.0 / 3),\(50.0 / 3)",
                "1033.333: 2@\(200.0 / 3),\(100.0 / 3)", "1050: 2@100,50", "1050:", "1550: 3@7,8", "1650: 3@9,8",
                "1650:",
            ])
        #expect(reading.notes.damagedCount == 0)
    }

    @Test func aDragRestsAndThenMovesAsAndroidDoes() {
        let short = Reading("input draganddrop 0 0 100 50")
        #expect(short.told == ["0: 1@0,0", "400: 1@100,50", "400:"])
        let long = Reading("input draganddrop 0 0 100 50 500").told
        #expect(long.count == 8 && long[1].hasPrefix("416.667: 1@83.3") && long.suffix(2) == ["500: 1@100,50", "500:"])
    }

    @Test(arguments: [
        "input tap 1", "input swipe 1 2 3", "input tap 1 x", "input motionevent OVER 1 2", "input tap inf 1",
    ])
    func commandsThatCannotBeAreDamaged(_ line: String) {
        let reading = Reading("input tap 1 2\n\(line)")
        #expect(reading.told.count == 2 && reading.notes.damaged.map(\.excerpt) == [line])
    }

    @Test func aScriptThatGlidesForeverIsNotPlayed() {
        let reading = Reading("input tap 1 2\n" + String(repeating: "input swipe 1 2 3 4 1800000\n", count: 5))
        #expect(reading.notes.damagedCount == 3 && reading.frames.count < 300_000)
    }

    @Test func otherCommandsAreNoTouches() {
        for text in ["input keyevent 3", "echo input tap", "the input tap", "adb devices", "input mouse tap 1 2"] {
            #expect(Reading(text).reader.format == nil)
        }
    }

    // MARK: monkey

    @Test func aMonkeyScriptIsPlayed() {
        let reading = Reading(
            """
            type= raw events
            count= 10
            speed= 2.0
            start data >>
            LaunchActivity(com.example, com.example.Main)
            UserWait(500)
            captureDispatchPointer(5109520,5109520,0,230.5,458.25,0.20,0.06,0,0.0,0.0,65539,0)
            captureDispatchPointer(5109520,5109540,2,231.5,458.25,0.20,0.06,0,0.0,0.0,65539,0)
            captureDispatchPointer(5109520,5109560,1,231.5,458.25,0.20,0.06,0,0.0,0.0,65539,0)
            UserWait(100)
            Tap(5, 6, 40)
            DispatchPress(KEYCODE_HOME)
            """)
        #expect(reading.reader.format == .monkey && reading.error == nil && reading.notes.damagedCount == 0)
        #expect(reading.told == ["500: 1@230.5,458.25", "510: 1@231.5,458.25", "520:", "620: 2@5,6", "660:"])
    }

    @Test func severalPointersOfMonkeyAreFollowed() {
        func line(_ time: Int, _ action: Int, _ x: Int, _ pointer: Int) -> String {
            "DispatchPointer(0,\(time),\(action),\(x),9,0,0,0,0,0,0,0,\(pointer))"
        }
        let reading = Reading(
            [line(0, 0, 1, 0), line(10, 5, 50, 1), line(20, 2, 60, 1), line(30, 6, 60, 1), line(40, 1, 1, 0)]
                .joined(separator: "\n"))
        #expect(reading.told == ["0: 1@1,9", "10: 1@1,9 2@50,9", "20: 1@1,9 2@60,9", "30: 1@1,9", "40:"])
        let pinch = Reading("PinchZoom(0,0,10,0, 100,0,90,0, 2)", rate: 50)
        #expect(
            pinch.told == [
                "0: 1@0,0", "0: 1@0,0 2@100,0", "20: 1@5,0 2@95,0", "40: 1@10,0 2@90,0", "40:",
            ])
        #expect(Reading("UserWait(10)\nDrag(0,0,10,20,2)").told.first == "10: 1@0,0")
        #expect(Reading("UserWait(10)\nDrag(0,0,10,20,1e9)").notes.damagedCount == 1)
    }

    // MARK: python-evdev

    @Test(arguments: [
        """
        Device name: x
        time 1337197425.477827 type 3 (EV_ABS), code 57   (ABS_MT_TRACKING_ID), value 7
        time 1337197425.477827 type 3 (EV_ABS), code 53   (ABS_MT_POSITION_X), value 977
        time 1337197425.477827 type 3 (EV_ABS), code 54   (ABS_MT_POSITION_Y), value 5
        time 1337197425.5      ------------- SYN_REPORT ------------
        """,
        """
        event at 1337197425.477827, code 57, type 03, val 07
        event at 1337197425.477827, code 53, type 03, val 977
        event at 1337197425.477827, code 54, type 03, val 5
        event at 1337197425.500000, code 00, type 00, val 00
        """,
        """
        1337197425.477827 - EV_ABS ABS_MT_TRACKING_ID 7
        1337197425.477827 - EV_ABS: ABS_MT_POSITION_X (53) = 977
        1337197425.477827 - EV_ABS / ABS_MT_POSITION_Y / 5
        1337197425.500000 - EV_SYN SYN_REPORT
        """,
    ])
    func pythonEvdevIsReadAsItPrints(_ text: String) {
        let reading = Reading(text)
        #expect(reading.reader.format == .pythonEvdev && reading.notes.damagedCount == 0)
        #expect(reading.told == ["1337197425500: 1@977,5", "1337197425500: x"])
    }
}
