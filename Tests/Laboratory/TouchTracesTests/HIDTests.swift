// Reports of HID devices as hid-recorder writes them, with descriptors as small as possible.

import MapCamera
import TestSupport
import Testing

@testable import TouchTraces

@Suite struct HIDTests {
    /// Tip, in range, confidence, 5 bits of padding; id; X from 0 to 1000 on 200 mm; Y from 0 to 500 on 100 mm.
    private static let finger = """
        05 0d 09 22 a1 02 09 42 15 00 25 01 75 01 95 01 81 02 09 32 81 02 09 47 81 02 95 05 81 03 \
        75 08 95 01 09 51 25 7f 81 02 05 01 75 10 55 0e 65 11 35 00 09 30 26 e8 03 46 d0 07 81 02 \
        09 31 26 f4 01 46 e8 03 81 02 c0
        """
    private static let scanTime = "05 0d 09 56 27 ff ff 00 00 75 10 81 02"
    private static let count = "05 0d 09 54 25 7f 75 08 81 02"
    private static let certification = "85 44 06 00 ff 09 c5 15 00 26 ff 00 75 08 96 00 01 b1 02"

    private static func touchscreen(_ parts: String...) -> String {
        "05 0d 09 04 a1 01 85 01 " + parts.joined(separator: " ") + " c0"
    }

    private static func counted(_ bytes: String) -> String { "\(bytes.split(separator: " ").count) \(bytes)" }

    /// Returns a recording of reports 10 ms apart.
    private static func recording(_ descriptor: String, _ reports: [String]) -> String {
        let events = reports.enumerated().map { "E: 000000.\($0 * 10000 + 100_000) \(counted($1))" }
        return (["R: \(counted(descriptor))", "N: A Touchscreen", "I: 3 04f3 000a"] + events).joined(separator: "\n")
    }

    private static func told(_ descriptor: String, _ reports: [String]) -> [String] {
        Reading(recording(descriptor, reports)).told
    }

    @Test func contactsOfOneReportAreAFrame() {
        let descriptor = Self.touchscreen(Self.finger, Self.finger, Self.scanTime, Self.count)
        let reading = Reading(
            Self.recording(
                descriptor,
                [
                    "01 07 05 e8 03 f4 01 00 00 00 00 00 00 10 00 01",
                    "01 07 05 e7 03 f4 01 07 06 0a 00 14 00 20 00 02",
                    "01 04 05 e7 03 f4 01 07 06 0b 00 14 00 30 00 02",
                    "01 00 06 0b 00 14 00 00 00 00 00 00 00 40 00 01",
                ]))
        #expect(reading.reader.format == .hidRecorder && reading.error == nil && reading.notes.damagedCount == 0)
        #expect(reading.told == ["100: 1@1000,500", "110: 1@999,500 2@10,20", "120: 2@11,20", "130:"])
        let device = reading.reader.device
        #expect(device?.name == "A Touchscreen" && device?.sizeMm ?? (0, 0) == (200, 100))
        #expect(device?.x == DeviceAxis(minimum: 0, maximum: 1000, resolution: 5))
        #expect(device?.y == DeviceAxis(minimum: 0, maximum: 500, resolution: 5))
        let viewport = reading.reader.surface?.viewport
        #expect(viewport == Viewport(width: 200 * 160 / 25.4, height: 100 * 160 / 25.4))
    }

    @Test func contactsOfSeveralReportsAreAFrame() {
        let descriptor = Self.touchscreen(Self.finger, Self.finger, Self.scanTime, Self.count)
        let three = [
            "01 07 01 01 00 01 00 07 02 02 00 02 00 10 00 03", "01 07 03 03 00 03 00 00 00 00 00 00 00 10 00 00",
        ]
        #expect(Self.told(descriptor, three).first == "110: 1@1,1 2@2,2 3@3,3")
        // Some devices repeat the count in each report.
        let again = [three[0], String(three[1].dropLast(2)) + "03"]
        #expect(Self.told(descriptor, again).first == "110: 1@1,1 2@2,2 3@3,3")
        // The second report was lost, as the scan time shows.
        let next = three[0].replacing("10 00 03", with: "20 00 02")
        #expect(
            Self.told(descriptor, [three[0], next, three[0]]).prefix(2) == ["100: 1@1,1 2@2,2", "110: 1@1,1 2@2,2"])
    }

    @Test func aContactThatIsInNoneOfSeveralPlacesHasLifted() {
        let descriptor = Self.touchscreen(Self.finger, Self.finger, Self.count)
        #expect(
            Self.told(
                descriptor,
                [
                    "01 07 01 01 00 01 00 07 02 02 00 02 00 02", "01 07 02 03 00 02 00 07 01 09 00 09 00 01",
                    "01 00 02 03 00 02 00 00 00 00 00 00 00 00",
                ]) == ["100: 1@1,1 2@2,2", "110: 2@3,2", "120:"])
    }

    @Test func contactsThatComeOneByOneAreFollowed() {
        let one = ["01 07 01 01 00 01 00", "01 07 02 02 00 02 00", "01 07 01 03 00 03 00", "01 00 02 02 00 02 00"]
        #expect(
            Self.told(Self.touchscreen(Self.finger), one) == [
                "100: 1@1,1", "110: 1@1,1 2@2,2", "120: 1@3,3 2@2,2", "130: 1@3,3", "130: x",
            ])
        // As many as in the frame; or one in each report, where the others are not mentioned.
        let descriptor = Self.touchscreen(Self.finger, Self.count)
        #expect(Self.told(descriptor, [one[0] + " 02", one[1] + " 00"]).first == "110: 1@1,1 2@2,2")
        #expect(Self.told(descriptor, one.map { $0 + " 01" }).dropFirst().first == "110: 1@1,1 2@2,2")
    }

    @Test func aLandingInTheIdOfAnotherIsAnotherFinger() {
        let descriptor = Self.touchscreen(Self.finger, Self.count)
        #expect(
            Self.told(descriptor, ["01 07 00 01 00 01 00 01", "01 00 00 01 00 01 00 01", "01 07 00 09 00 01 00 01"])
                == ["100: 1@1,1", "110:", "120: 2@9,1", "120: x"])
    }

    @Test func confidenceTellsPalmsWhereWindowsIsPromised() {
        let reports = ["01 03 01 01 00 01 00 01", "01 07 01 02 00 01 00 01", "01 00 01 02 00 01 00 01"]
        let fingers = Self.touchscreen(Self.finger, Self.count)
        #expect(Self.told(fingers, reports) == ["100: 1@1,1", "110: 1@2,1", "120:"])
        let certified = Reading(Self.recording(Self.touchscreen(Self.finger, Self.count, Self.certification), reports))
        #expect(certified.told == ["100:", "110: 2@2,1", "120:"] && certified.notes[.palm] == 1)
    }

    @Test func aFingerAboveTheSurfaceIsLeftOut() {
        let reading = Reading(
            Self.recording(
                Self.touchscreen(Self.finger, Self.count),
                [
                    "01 06 01 01 00 01 00 01", "01 07 01 02 00 01 00 01", "01 06 01 03 00 01 00 01",
                    "01 00 01 00 00 00 00 01",
                ]))
        #expect(reading.told == ["110: 1@2,1", "120:", "130:"])
    }

    @Test func aPenIsNoFinger() {
        // Report 2: tip, in range, 6 bits of padding, X and Y of 8 bits.
        let pen = """
            05 0d 09 02 a1 01 85 02 09 20 a1 00 09 42 09 32 15 00 25 01 75 01 95 02 81 02 95 06 81 03 \
            05 01 09 30 09 31 26 ff 00 75 08 95 02 81 02 c0 c0
            """
        let reading = Reading(
            Self.recording(
                pen + " " + Self.touchscreen(Self.finger), ["02 03 05 05", "02 00 05 05", "01 07 01 07 00 08 00"]))
        #expect(reading.told == ["120: 1@7,8", "120: x"] && reading.notes[.pen] == 1)
        #expect(reading.reader.device?.x?.maximum == 1000)
        let alone = Reading(Self.recording(pen, ["02 03 05 05"]))
        #expect(alone.error == nil && alone.frames.isEmpty && alone.notes[.pen] == 1)
        // A touchscreen's stylus counts as a finger, unless it serves to distinguish contacts.
        let stylus = Self.touchscreen(Self.finger.replacing("09 22", with: "09 20"))
        #expect(Self.told(stylus, ["01 07 01 07 00 08 00"]).count == 2)
    }

    @Test func whatTouchesIsToldFromItsMiddle() {
        // Two values of X and two of Y for each contact: the touched point and the middle of the contact.
        let both = Self.finger.replacing("81 02 09 31", with: "95 02 81 02 09 31")
        #expect(
            Self.told(
                Self.touchscreen(both, both),
                [
                    "01 07 01 0a 00 0b 00 14 00 15 00 07 02 1e 00 1f 00 28 00 29 00"
                ]
            ).first == "100: 1@10,20 2@30,40")
    }

    @Test func whatADescriptorMaySayIsUnderstood() {
        // No report numbers; usages of four bytes and a range of them; bits not aligned to a byte; a page that is
        // pushed and popped; a minimum position below 0; inches.
        let descriptor = """
            05 0d 09 05 a1 01 09 22 a1 02 15 00 25 01 75 01 95 01 0b 42 00 0d 00 81 02 \
            a4 05 09 75 03 81 03 b4 75 04 19 51 29 51 25 0f 81 02 \
            05 01 16 18 fc 26 e7 03 36 00 00 46 08 00 55 00 65 13 75 0c 95 02 19 30 29 31 81 02 c0 c0
            """
        // Tip and id 9; X is -1 of twelve bits, Y 0x123.
        let reading = Reading(Self.recording(descriptor, ["91 ff 3f 12"]))
        #expect(reading.told == ["100: 1@-1,291", "100: x"])
        #expect(reading.reader.device?.x == DeviceAxis(minimum: -1000, maximum: 999, resolution: 1999 / 203.2))
        // An unsigned maximum, and an exponent of eight bits.
        let wide = Self.touchscreen(
            Self.finger.replacing("26 e8 03", with: "26 ff ff").replacing("55 0e", with: "55 fe"))
        let device = Reading(Self.recording(wide, ["01 07 01 ff ff 00 00"])).reader.device
        #expect(device?.x?.maximum == 65535 && device?.sizeMm ?? (0, 0) == (200, 100))
        // A unit that is not a length is ignored.
        let cubic = Self.touchscreen(Self.finger.replacing("65 11", with: "65 33"))
        #expect(Reading(Self.recording(cubic, ["01 07 01 ff ff 00 00"])).reader.device?.x?.resolution == 0)
    }

    @Test func collectionsAndNumbersAreThoseOfTheirReports() {
        // An application within another one; only a report that is not an input has a number.
        let nested = """
            05 01 09 02 a1 01 05 0d 09 04 a1 01 09 22 a1 02 09 42 15 00 25 01 75 08 95 01 81 02 09 51 81 02 \
            05 01 09 30 09 31 26 ff 00 95 02 81 02 c0 c0 85 09 05 0d 09 55 95 01 b1 02 c0
            """
        #expect(Self.told(nested, ["01 03 05 06", "00 03 05 06"]) == ["100: 1@5,6", "110:"])
    }

    @Test func aSingleFingerIsFollowedWithoutAnId() {
        let single = """
            05 0d 09 04 a1 01 09 22 a1 02 09 42 15 00 25 01 75 01 95 01 81 02 95 07 81 03 \
            05 01 09 30 09 31 26 ff 00 75 08 95 02 81 02 c0 c0
            """
        #expect(Self.told(single, ["01 05 06", "01 07 06", "00 07 06"]) == ["100: 1@5,6", "110: 1@7,6", "120:"])
        // It is not followed if other reports distinguish contacts.
        let both = single.replacing("a1 01 09 22", with: "a1 01 85 07 09 22") + " " + Self.touchscreen(Self.finger)
        #expect(Self.told(both, ["07 01 05 06", "01 07 01 07 00 08 00"]) == ["110: 1@7,8", "110: x"])
    }

    @Test func devicesOfOneRecordingAreToldApart() {
        let mouse = "05 01 09 02 a1 01 05 01 09 30 09 31 15 81 25 7f 75 08 95 02 81 06 c0"
        let screen = Self.touchscreen(Self.finger)
        let reading = Reading(
            """
            # hid-recorder
            D: 0
            R: \(Self.counted(mouse))
            N: A Mouse
            D: 1
            R: \(Self.counted(screen))
            N: A Touchscreen
            P: usb-0000:00:14.0-1/input0
            D: 0
            E: 000000.000000 2 01 ff
            D: 1
            # ReportID: 1 / Tip Switch: 1
               - a remark
            E: 000000.010000 7 01 07 01 07 00 08 00
            E: 000000.020000 7 01 00 01 07 00 08 00
            """)
        #expect(reading.told == ["10: 1@7,8", "20:"] && reading.notes.damagedCount == 0)
        #expect(reading.reader.device?.name == "A Touchscreen")
    }

    @Test func devicesMayBeNumberedBehindTheirDescriptions() {
        let screen = Self.touchscreen(Self.finger)
        let report = "7 01 07 01 07 00 08 00"
        let one = Reading("R: \(Self.counted(screen))\nN: x\nI: 18 1 2\nD: 0\nE: 0.000000 \(report)")
        #expect(one.told == ["0: 1@7,8", "0: x"] && one.notes.damagedCount == 0)
        let described = "R: \(Self.counted(screen))\nN: left\nR: \(Self.counted(screen))\nN: right\n"
        let two = Reading(
            described + "D:1\nE: 0.000000 \(report)\nD:0\nE: 0.100000 \(report.replacing("08", with: "09"))")
        #expect(two.told == ["0: 1@7,8", "0: x"] && two.reader.device?.name == "right")
        #expect(two.notes.devicesLeftOut == [1])
    }

    @Test func aCountOfNoneLiftsAll() {
        let descriptor = Self.touchscreen(Self.finger, Self.finger, Self.scanTime, Self.count)
        let none = "01 00 00 00 00 00 00 00 00 00 00 00 00"
        let down = "01 07 05 01 00 01 00 07 06 02 00 02 00"
        #expect(Self.told(descriptor, [down + " 10 00 02", none + " 20 00 00"]) == ["100: 1@1,1 2@2,2", "110:"])
        // Without a scan time it may follow a complete frame; the same scan does.
        let timeless = Self.touchscreen(Self.finger, Self.finger, Self.count)
        #expect(Self.told(timeless, [down + " 02", none + " 00"]).prefix(2).last == "110: 1@1,1 2@2,2")
        #expect(
            Self.told(descriptor, [down + " 10 00 02", "01 07 07 03 00 03 00 00 00 00 00 00 00 10 00 00"]).prefix(2)
                == ["100: 1@1,1 2@2,2", "110: 1@1,1 2@2,2 3@3,3"])
    }

    @Test func whoIsNotCountedInReportsOfOneContactHasLiftedWhereWindowsIsPromised() {
        let reports = ["01 07 01 01 00 01 00 02", "01 07 02 02 00 02 00 00", "01 07 02 03 00 02 00 01"]
        let fingers = Self.touchscreen(Self.finger, Self.count)
        #expect(Self.told(fingers, reports).prefix(2) == ["110: 1@1,1 2@2,2", "120: 1@1,1 2@3,2"])
        let certified = Self.touchscreen(Self.finger, Self.count, Self.certification)
        #expect(Self.told(certified, reports).prefix(2) == ["110: 1@1,1 2@2,2", "120: 2@3,2"])
    }

    @Test func aMouseHasNoFingersThoughALineIsDamaged() {
        let mouse = "05 01 09 02 a1 01 05 01 09 30 09 31 15 81 25 7f 75 08 95 02 81 06 c0"
        let reading = Reading(Self.recording(mouse, ["01 ff", "02 ff"]) + "\nE: 0.2 3 01")
        #expect(reading.error == nil && reading.frames.isEmpty && reading.notes.damagedCount == 1)
    }

    @Test func anotherRecordingInTheFileBeginsAnew() {
        let first = Self.recording(Self.touchscreen(Self.finger), ["01 07 01 07 00 08 00"])
        let reading = Reading(first + "\n" + first)
        #expect(reading.told == ["100: 1@7,8", "100: x", "100: 2@7,8", "100: x"])
        #expect(reading.notes[.recordingFollows] == 1 && reading.notes[.leftDown] == 2)
    }

    @Test(arguments: [
        "E: 000000.200000 8 01 07 01 07 00 08 00", "E: 0.2 7 01 07 01 07 00 08 0", "E: 0.2 0", "E: 0.2 7 01-07",
        "E: x", "R: 3 05 0d", "D: x",
    ])
    func damagedLinesAreNamed(_ line: String) {
        let recording = Self.recording(Self.touchscreen(Self.finger), ["01 07 01 07 00 08 00", "01 00 01 07 00 08 00"])
        let reading = Reading(recording + "\n" + line)
        #expect(reading.told == ["100: 1@7,8", "110:"])
        #expect(reading.notes.damaged.map(\.excerpt) == [line])
    }

    @Test func aRecordingIsKnownByItsDescriptorOrItsReports() {
        for head in ["R: 2 05 0d", "# 0x05, 0x0d,                    // Usage Page (Digitizers)        0"] {
            #expect(Reading(head).reader.format == .hidRecorder)
        }
        #expect(Reading("E: 0.100000 3 01 02 03").reader.format == .hidRecorder)
        // Evemu's events have differently formatted numbers.
        #expect(Reading("E: 0.100000 0003 0035 977").reader.format == .evemu)
        #expect(Reading("E: 0.100000 3 35 977").reader.format == .evemu)
    }

    /// Random descriptors and reports do no harm, and take time proportional to their length.
    @Test func madeUpDescriptorsDoNoHarm() {
        let whole = Self.touchscreen(Self.finger, Self.finger, Self.scanTime, Self.count).split(separator: " ")
        for (seed, var random) in Seeded.each(0...399) {
            var descriptor = whole.map { UInt8($0, radix: 16) ?? 0 }
            random.damage(&descriptor)
            if random.chance(0.2) { descriptor = (0..<200).map { _ in UInt8(random.integer(0...255)) } }
            let reports = (0..<20).map { _ in
                (0..<random.integer(1...17)).map { _ in
                    let byte = String(random.chance(0.7) ? random.integer(0...7) : random.integer(0...255), radix: 16)
                    return byte.count == 1 ? "0" + byte : byte
                }.joined(separator: " ")
            }
            let bytes = descriptor.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
            Reading(Self.recording(bytes, reports)).check(seed)
        }
        // The maximum number of usages.
        let usages = Array(repeating: "1a 00 00 2a ff ff 81 02", count: 500).joined(separator: " ")
        let greedy = "05 0d 09 04 a1 01 75 01 96 00 30 " + usages
        #expect(Self.told(greedy, ["01"]).isEmpty)
    }
}
