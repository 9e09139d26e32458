// Quirks of real recordings, each in isolation, in recordings as short as possible.

import Foundation
import MapCamera
import TestSupport
import Testing

@testable import TouchTraces

/// Returns lines of evemu: times in milliseconds, then events by short names, then a report.
private func evemu(_ frames: [(Double, [String])]) -> String {
    let codes = [
        "slot": "0003 002f", "id": "0003 0039", "x": "0003 0035", "y": "0003 0036", "tool": "0003 0037",
        "size": "0003 0030", "ax": "0003 0000", "ay": "0003 0001", "touch": "0001 014a", "contact": "0000 0002",
        "dropped": "0000 0003", "pressure": "0003 0018", "other": "0004 0005", "above": "0003 003b",
        "below": "0003 002e",
    ]
    var lines = ""
    for (time, events) in frames {
        let stamp = String(format: "%.6f", time / 1000)
        for event in events {
            let parts = event.split(separator: " ")
            lines += "E: \(stamp) \(codes[String(parts[0]), default: "?"]) \(parts.count > 1 ? parts[1] : "0")\n"
        }
        lines += "E: \(stamp) 0000 0000 0\n"
    }
    return lines
}

private func told(_ frames: [(Double, [String])]) -> [String] { Reading(evemu(frames)).told }

@Suite struct QuirkTests {
    // MARK: Slots

    @Test func dataBeforeAnySlotIsOfSlot0() {
        let reading = Reading(
            evemu([(0, ["id 5", "x 1", "y 2"]), (10, ["slot 1", "id 6", "x 3", "y 4"]), (20, ["slot 0", "x 9"])]))
        #expect(reading.told == ["0: 1@1,2", "10: 1@1,2 2@3,4", "20: 1@9,2 2@3,4", "20: x"])
        #expect(reading.notes[.noSlotBeforeData] == 1 && reading.notes[.noHead] == 1)
        #expect(reading.notes[.leftDown] == 2)
        #expect(Reading(evemu([(0, ["slot 0", "id 5", "x 1", "y 2"])])).notes[.noSlotBeforeData] == 0)
    }

    @Test func onlyChangesAreToldEvenFromOneFingerToTheNext() {
        #expect(
            told([(0, ["id 5", "x 1", "y 2"]), (10, ["id -1"]), (20, ["id 6", "y 3"]), (30, ["id -1"])])
                == ["0: 1@1,2", "10:", "20: 2@1,3", "30:"])
    }

    @Test func anIdReplacedInItsSlotIsALiftAndALanding() {
        let reading = Reading(
            evemu([(0, ["id 5", "x 1", "y 2"]), (10, ["id 6", "x 50"]), (20, ["id 6"]), (30, ["id -1"])]))
        #expect(reading.told == ["0: 1@1,2", "10: 2@50,2", "20: 2@50,2", "30:"])
        #expect(reading.notes[.idReplaced] == 1)
    }

    @Test func anIdThatReturnsIsAnotherContact() {
        #expect(
            told([(0, ["id 5", "x 1", "y 2"]), (10, ["id -1"]), (20, ["id 5"]), (30, ["id -1"])])
                == ["0: 1@1,2", "10:", "20: 2@1,2", "30:"])
    }

    @Test func aFingerThatWasThereBeforeTheRecordingIsFollowed() {
        let reading = Reading(
            evemu([
                (0, ["slot 1", "x 7"]), (10, ["y 8"]), (20, ["slot 0", "id 3", "x 1", "y 2"]),
                (30, ["slot 1", "id -1"]),
                (40, ["slot 0", "id -1"]),
            ]))
        #expect(reading.told == ["0:", "10: 1@7,8", "20: 2@1,2 1@7,8", "30: 2@1,2", "40:"])
        #expect(reading.notes[.downBefore] == 1)
    }

    @Test func aFingerWithoutAnIdLiftsWithTheLast() {
        #expect(
            told([
                (0, ["x 1", "y 2", "touch 1"]), (10, ["touch 0"]), (20, ["x 3", "y 4", "touch 1"]), (30, ["touch 0"]),
            ])
                == ["0: 1@1,2", "10:", "20: 2@3,4", "30:"])
    }

    @Test func palmsAreLeftOut() {
        let reading = Reading(
            evemu([
                (0, ["slot 0", "id 1", "x 1", "y 1"]), (10, ["slot 1", "id 2", "tool 2", "x 9", "y 9"]),
                (20, ["slot 0", "tool 2"]), (30, ["tool 0"]), (40, ["id -1", "slot 1", "id -1"]), (50, ["id 3"]),
            ]))
        #expect(reading.told == ["0: 1@1,1", "10: 1@1,1", "20: x", "30: 3@1,1", "40:", "50:"])
        #expect(reading.notes[.palm] == 3)
    }

    @Test func aFingerInTheSlotOfAPalmIsNone() {
        let reading = Reading(
            evemu([(0, ["id 1", "tool 2", "x 1", "y 1"]), (10, ["id -1"]), (20, ["id 2", "tool 0"]), (30, ["id -1"])]))
        #expect(reading.frames.map(\.contacts.count) == [0, 0, 1, 0] && reading.notes[.palm] == 1)
    }

    /// It and the others are cancelled; those land again.
    @Test func aFingerThatTurnsOutToBeAPalmIsCancelled() {
        #expect(
            told([
                (0, ["slot 0", "id 1", "x 1", "y 1", "slot 1", "id 2", "x 2", "y 2"]), (10, ["tool 2"]),
                (20, ["slot 0", "x 3"]), (30, ["slot 1", "id -1"]), (40, ["slot 0", "tool 2", "id -1"]),
            ]) == ["0: 1@1,1 2@2,2", "10: x", "20: 3@3,1", "30: 3@3,1", "40: x"])
        for (a, b) in [("id 0", "id 1"), ("size 1", "size 1")] {
            #expect(
                told([
                    (0, ["x 1", "y 1", a, "contact", "x 90", "y 1", b, "contact"]),
                    (10, ["x 1", "y 1", a, "contact", "x 90", "y 1", b, "tool 2", "contact"]),
                    (20, ["x 2", "y 1", a, "contact", "x 90", "y 1", b, "tool 2", "contact"]),
                    (30, ["x 90", "y 1", b, "tool 2", "contact"]), (40, ["x 90", "y 1", b, "contact"]),
                    (50, ["contact"]),
                ]) == ["0: 1@1,1 2@90,1", "10: x", "20: 3@2,1", "30:", "40: 4@90,1", "50:"])
        }
    }

    @Test func slotsThatCannotBeAreNotFollowed() {
        #expect(
            told([
                (0, ["slot 100000", "id 1", "x 1", "y 1"]), (10, ["slot -1", "id 2", "x 2", "y 2"]),
                (20, ["slot 255", "id 3", "x 3", "y 3"]), (30, ["id -1"]),
            ]) == ["0:", "10:", "20: 1@3,3", "30:"])
    }

    @Test func fingersThatLandOrLiftInOneFrameAreCounted() {
        let reading = Reading(
            evemu([
                (0, ["slot 0", "id 1", "x 1", "y 1", "slot 1", "id 2", "x 2", "y 2"]),
                (10, ["slot 0", "id -1", "slot 1", "id -1"]),
            ]))
        #expect(reading.notes[.landedTogether] == 1 && reading.notes[.liftedTogether] == 1)
    }

    // MARK: Whole frames

    @Test func fingersOfWholeFramesAreFollowedByTheirIds() {
        let reading = Reading(
            evemu([
                (0, ["x 1", "y 1", "id 0", "contact"]),
                (10, ["x 1", "y 1", "id 0", "contact", "x 50", "y 5", "id 1", "contact"]),
                (20, ["x 2", "y 1", "id 1", "contact"]), (30, ["contact"]), (40, ["x 1", "y 1", "id 0", "contact"]),
                (50, ["touch 0"]),
            ]))
        #expect(reading.told == ["0: 1@1,1", "10: 1@1,1 2@50,5", "20: 2@2,1", "30:", "40: 3@1,1", "50:"])
        #expect(reading.notes.contactProtocol == .wholeFrames && reading.notes[.noSlotBeforeData] == 0)
    }

    @Test func fingersOfWholeFramesWithoutIdsAreFollowedToTheNearest() {
        #expect(
            told([
                (0, ["x 0", "y 0", "contact", "x 100", "y 0", "contact"]),
                (10, ["x 99", "y 1", "contact", "x 1", "y 1", "contact"]),
                (20, ["x 60", "y 0", "contact"]), (30, ["x 60", "y 0", "contact", "x 5", "y 0", "contact"]),
                (40, ["contact"]),
            ]) == ["0: 1@0,0 2@100,0", "10: 2@99,1 1@1,1", "20: 2@60,0", "30: 2@60,0 3@5,0", "40:"])
    }

    @Test func theLastContactOfAWholeFrameCountsWithoutItsReport() {
        #expect(
            told([
                (0, ["x 0", "y 0", "contact", "x 9", "y 9", "touch 1"]), (10, ["other 1"]),
                (20, ["x 1", "y 0", "size 4", "contact", "x 9", "y 9", "size 0", "contact"]),
                (30, ["x 1", "y 0", "tool 2", "contact"]), (40, ["x 1", "y 0", "contact"]), (50, ["pressure 0"]),
            ]) == ["0: 1@0,0 2@9,9", "10: 1@0,0 2@9,9", "20: 1@1,0", "30: x", "40: 3@1,0", "50:"])
    }

    // MARK: One finger

    @Test func aDeviceOfOneFingerLandsAndLiftsByItsTouchKey() {
        let reading = Reading(
            evemu([
                (0, ["ax 5", "ay 6"]), (10, ["touch 1"]), (20, ["ax 7"]), (30, ["touch 0"]), (40, ["touch 1", "ay 1"]),
            ]))
        #expect(reading.told == ["0:", "10: 1@5,6", "20: 1@7,6", "30:", "40: 2@7,1", "40: x"])
        #expect(reading.notes.contactProtocol == .single)
    }

    /// Reports before the first touch do not count.
    @Test func everyReportOfTheOnlyDeviceFromItsFirstTouchOnIsAFrame() {
        let reading = Reading(
            evemu([(0, ["other 1"]), (10, []), (20, ["id 1", "x 1", "y 1"]), (30, ["id -1"]), (40, [])]))
        #expect(reading.told == ["20: 1@1,1", "30:", "40:"] && reading.notes[.otherDevice] == 0)
    }

    @Test func ofSeveralDevicesTheOneForContactsIsFollowed() {
        let reading = Reading(
            """
            [ 0.5] /dev/input/event3: 0001 0074 00000001
            [ 0.5] /dev/input/event3: 0000 0000 00000000
            [ 1.0] /dev/input/event1: 0003 0000 00000005
            [ 1.0] /dev/input/event1: 0003 0001 00000006
            [ 1.0] /dev/input/event1: 0001 014a 00000001
            [ 1.0] /dev/input/event1: 0000 0000 00000000
            [ 2.0] /dev/input/event2: 0003 0039 00000001
            [ 2.0] /dev/input/event2: 0003 0035 00000008
            [ 2.1] /dev/input/event1: 0003 0000 00000007
            [ 2.1] /dev/input/event1: 0000 0000 00000000
            [ 2.2] /dev/input/event2: 0003 0036 00000009
            [ 2.2] /dev/input/event2: 0000 0000 00000000
            [ 2.3] /dev/input/event2: 0003 0039 ffffffff
            [ 2.3] /dev/input/event2: 0000 0000 00000000
            """)
        #expect(reading.told == ["1000: 1@5,6", "2200: 2@8,9", "2300:"])
        #expect(reading.notes[.otherDevice] == 2 && reading.notes[.noSlotBeforeData] == 1)
    }

    private static let twoScreens = """
        [ 0.5] /dev/input/event3: 0001 0074 00000001
        [ 0.5] /dev/input/event3: 0000 0000 00000000
        [ 1.0] /dev/input/event2: 0003 0039 00000001
        [ 1.0] /dev/input/event2: 0003 0035 00000008
        [ 1.0] /dev/input/event2: 0003 0036 00000009
        [ 1.0] /dev/input/event2: 0000 0000 00000000
        [ 1.5] /dev/input/event4: 0003 0039 00000001
        [ 1.5] /dev/input/event4: 0003 0035 00000055
        [ 1.5] /dev/input/event4: 0003 0036 00000066
        [ 1.5] /dev/input/event4: 0000 0000 00000000
        """

    @Test func fingersOfAnotherScreenAreLeftOutAndTakenByItsNumber() {
        let first = Reading(Self.twoScreens)
        #expect(first.told == ["1000: 1@8,9", "1000: x"] && first.notes.devicesLeftOut == [3])
        let second = Reading(Self.twoScreens, deviceNumber: 3)
        #expect(second.told == ["1500: 1@85,102", "1500: x"] && second.notes.devicesLeftOut == [])
        #expect(Reading(Self.twoScreens, deviceNumber: 1).told.isEmpty)
        #expect(Reading(Self.twoScreens, deviceNumber: 4).error == .noSuchDevice(number: 4, count: 3))
        // Described devices count in their order, whether or not they send events.
        let described = "add device 1: /dev/input/event9\nadd device 2: /dev/input/event4\n" + Self.twoScreens
        #expect(Reading(described, deviceNumber: 2).told == second.told)
        #expect(Reading(#"{"type":"touchend","timeStamp":1,"touches":[]}"#, deviceNumber: 1).error == nil)
    }

    /// The multi-touch device is described, and would be followed otherwise.
    @Test func aDeviceOfOneFingerIsTakenByItsNumber() {
        let text = """
            add device 1: /dev/input/event1
                ABS (0003): 0000  : value 0, min 0, max 99, fuzz 0, flat 0, resolution 0
                            0001  : value 0, min 0, max 99, fuzz 0, flat 0, resolution 0
            add device 2: /dev/input/event2
                ABS (0003): 0035  : value 0, min 0, max 99, fuzz 0, flat 0, resolution 0
                            0036  : value 0, min 0, max 99, fuzz 0, flat 0, resolution 0
            [ 1.0] /dev/input/event1: 0003 0000 00000005
            [ 1.0] /dev/input/event1: 0003 0001 00000006
            [ 1.0] /dev/input/event1: 0001 014a 00000001
            [ 1.0] /dev/input/event1: 0000 0000 00000000
            """
        #expect(Reading(text).told.isEmpty)
        #expect(Reading(text, deviceNumber: 1).told == ["1000: 1@5,6", "1000: x"])
    }

    @Test func theOneFingerOfADeviceForSeveralIsNotFollowed() {
        let reading = Reading(
            evemu([(0, ["ax 1", "ay 1", "touch 1"]), (10, ["id 4", "x 8", "y 9", "ax 2"]), (20, ["ax 3", "id -1"])]))
        #expect(reading.told == ["0: 1@1,1", "10: 2@8,9", "20:"])
        #expect(reading.notes.contactProtocol == .slots)
    }

    // MARK: Loss and time

    @Test func afterLossFingersAreCancelledAndLandAnew() {
        let reading = Reading(
            evemu([
                (0, ["id 1", "x 1", "y 1"]), (10, ["x 2", "dropped", "x 3"]), (20, ["y 4"]), (30, ["x 5"]),
                (40, ["id -1"]),
                (50, ["dropped"]), (60, ["id 2"]), (70, ["id -1"]),
            ]))
        #expect(reading.told == ["0: 1@1,1", "10: x", "20:", "30: 2@5,4", "40:", "60:", "70:"])
        #expect(reading.notes[.dropped] == 2 && reading.notes[.downBefore] == 1)
    }

    @Test func theTimeOfTheReportCounts() {
        let reading = Reading(
            "E: 1.1 0003 0039 1\nE: 1.2 0003 0035 1\nE: 1.3 0003 0036 1\nE: 1.456789123 0000 0000 0\nE: 1.5 0000 0000 0\n"
        )
        #expect(reading.told == ["1456.789: 1@1,1", "1500: 1@1,1", "1500: x"] && reading.notes[.mixedTimes] == 1)
    }

    @Test func timeDoesNotGoBack() {
        let reading = Reading(
            evemu([(5000, ["id 1", "x 1", "y 1"]), (4999, ["x 2"]), (5010, ["x 3"]), (100, ["x 4"]), (110, ["id -1"])]))
        #expect(reading.told == ["5000: 1@1,1", "5000: 1@2,1", "5010: 1@3,1", "5010: x", "5010:", "5020:"])
        #expect(reading.notes[.timeWentBack] == 2 && reading.notes[.epochClock] == 0)
        #expect(reading.notes[.recordingFollows] == 1)
        #expect(Reading(evemu([(1_435_283_227_797, ["id 1"])])).notes[.epochClock] == 1)
    }

    // MARK: Several recordings

    /// The second begins before the first one's end and has the same ids: fingers are numbered as they land.
    @Test func aRecordingBehindAnotherOneBeginsWithoutFingers() {
        let one = evemu([(10_000, ["slot 1", "id 0", "x 1", "y 1"]), (10_010, ["x 2"])])
        let other = evemu([(3000, ["slot 1", "id 0", "x 7", "y 7"]), (3010, ["id -1"])])
        let reading = Reading(one + other)
        #expect(reading.told == ["10000: 1@1,1", "10010: 1@2,1", "10010: x", "10010: 2@7,7", "10020:"])
        #expect(reading.frames.map(\.isImplied) == [false, false, true, false, false])
        #expect(reading.notes[.recordingFollows] == 1 && reading.notes[.leftDown] == 1)
        // A header marks a new recording as well, even if time continues.
        let later = evemu([(20_000, ["id 0", "x 7", "y 7"]), (20_010, ["id -1"])])
        let headed = Reading("# EVEMU 1.3\n" + one + "# EVEMU 1.3\n" + later)
        #expect(headed.told == ["10000: 1@1,1", "10010: 1@2,1", "10010: x", "20000: 2@7,7", "20010:"])
        #expect(headed.notes[.recordingFollows] == 1)
        // Its clock goes on even if both are shorter than what a clock may go back.
        let short = "# EVEMU 1.3\n" + evemu([(0, ["id 0", "x 1", "y 1"]), (40, ["x 2"]), (90, ["id -1"])])
        #expect(Reading(short + short).frames.map(\.time) == [0, 40, 90, 90, 130, 180].map { $0 * 1000 })
    }

    @Test func aFingerThatAppearsAfterALaterOneIsCounted() throws {
        // The second coordinate of the first finger arrives only after the second finger.
        let text = evemu([
            (0, ["slot 0", "id 1", "x 1"]), (10, ["slot 1", "id 2", "x 2", "y 2"]), (20, ["slot 0", "y 1"]),
            (30, ["id -1", "slot 1", "id -1"]),
        ])
        let converter = TraceConverter()
        _ = try converter.trace(of: Array(text.utf8))
        #expect(converter.findings.landed == 2 && converter.findings.frames == 4)
    }

    /// Values that the slot held before the recording are not repeated.
    @Test func aFingerWhosePlaceIsNeverToldIsNotCounted() throws {
        let converter = TraceConverter()
        let text = evemu([(0, ["id 1", "x 1"]), (10, ["id -1"]), (20, ["id 2", "y 2"]), (30, ["id -1"])])
        _ = try converter.trace(of: Array(text.utf8))
        #expect(converter.findings.landed == 1 && converter.findings.mostFingers == 1)
        #expect(converter.reader.notes[.unplaced] == 1)
    }

    @Test func theFrameThatEndsARecordingIsNotCounted() throws {
        let converter = TraceConverter()
        _ = try converter.trace(of: Array(evemu([(0, ["id 1", "x 1", "y 1"]), (10, ["x 2"])]).utf8))
        #expect(converter.findings.frames == 2 && converter.reader.notes[.leftDown] == 1)
    }

    // MARK: Events without a touch

    @Test func aFingerAboveTheSurfaceDoesNotTouchIt() {
        let reading = Reading(
            evemu([
                (0, ["slot 0", "id 1", "above 5", "x 1", "y 1"]), (10, ["x 2"]), (20, ["above 0"]), (30, ["x 3"]),
                (40, ["above 3"]), (50, ["id -1"]), (60, ["id 2", "above 0"]), (70, ["id -1"]),
            ]))
        #expect(reading.told == ["0:", "10:", "20: 2@2,1", "30: 2@3,1", "40:", "50:", "60: 4@3,1", "70:"])
        #expect(reading.notes[.hovering] == 2)
        let whole = told([
            (0, ["x 1", "y 1", "above 1", "contact", "x 5", "y 5", "above 0", "contact"]), (10, ["contact"]),
        ])
        #expect(whole == ["0: 1@5,5", "10:"])
    }

    /// A gamepad has so many axes that they overlap with those of contacts.
    @Test(arguments: [true, false])
    func axesThatRunOnIntoThoseOfContactsAreNone(isTold: Bool) {
        let head = isTold ? "A: 2e 0 255 0 0\nA: 35 0 255 0 0\nA: 36 0 255 0 0\n" : ""
        let pad = evemu([
            (0, ["below 1", "id 7", "x 3", "y 4"]), (10, ["x 5", "below 2"]), (20, ["y 9", "ax 1", "ay 1"]),
        ])
        let reading = Reading(head + pad)
        #expect(reading.mostContacts == 0 && reading.notes.contactProtocol != .wholeFrames)
        // If only later events reveal it, its contacts are taken back.
        let late = Reading(evemu([(0, ["id 7", "x 3", "y 4"]), (10, ["below 1"]), (20, ["x 5"]), (30, ["x 6"])]))
        #expect(late.told == ["0: 1@3,4", "10: x", "20:", "30:"])
    }

    // MARK: Damage

    @Test func damagedLinesAreReportedAndSkipped() {
        let damage = [
            "E: 1.0 0003 0035", "E: 1.0 0003 0035 12x", "E: 1 0003 0035 12", "E: x.1 0003 0035 12",
            "E: 1.0 0g03 0035 12",
            "E: 1.0 000300350 0035 12", "E: -1.0 0003 0035 12", "E: 1.0 0003 0035 1234567890123456789", "garbage", "é",
            "E: 1234567890123.0 0003 0035 12", "A: 35 0", "\u{1}\u{7f}", String(repeating: "E", count: 70_000),
        ]
        let text = "E: 1.0 0003 0039 1\nE: 1.0 0003 0035 1\nE: 1.0 0003 0036 1\n" + damage.joined(separator: "\n")
        let reading = Reading(text + "\nE: 1.0 0000 0000 0\nE: 1.1 0003 0039 -1\nE: 1.1 0000 0000 0")
        #expect(reading.told == ["1000: 1@1,1", "1100:"])
        #expect(reading.notes.damaged.map(\.line) == Array(4...(3 + damage.count)))
        #expect(reading.notes.damaged[12].excerpt == "··")
    }

    @Test func findingsAreBoundedAndTheirCountIsNot() {
        let reading = Reading("E: 1.0 0000 0000 0\n" + String(repeating: "E: damaged\n", count: 5000))
        #expect(reading.notes.damagedCount == 5000)
        #expect(reading.notes.damaged.count == RecordingNotes.mostDamaged && reading.notes.damaged[0].line == 2)
    }
}

@Suite struct SurfaceTests {
    private func surface(
        _ x: DeviceAxis, _ y: DeviceAxis, viewport: Viewport? = nil, rotation: Rotation = .none
    ) throws -> Surface {
        let reading = Reading(
            evemu([(0, ["id 1", "x 1", "y 1"])]), device: DeviceDescription(x: x, y: y), viewport: viewport,
            rotation: rotation)
        return try #require(reading.reader.surface)
    }

    private func axis(_ minimum: Double, _ maximum: Double, _ resolution: Double = 0) -> DeviceAxis {
        DeviceAxis(minimum: minimum, maximum: maximum, resolution: resolution)
    }

    @Test func aViewportScalesEachAxisByItself() throws {
        let surface = try surface(axis(-100, 900), axis(0, 500, 3), viewport: Viewport(width: 390, height: 844))
        #expect(surface.viewport == Viewport(width: 390, height: 844))
        #expect(surface.point(x: -100, y: 0) == ScreenPoint(x: 0, y: 0))
        #expect(surface.point(x: 400, y: 250) == ScreenPoint(x: 195, y: 422))
    }

    @Test func aBelievableSizeIsTheViewport() throws {
        let surface = try surface(axis(0, 32767, 55), axis(0, 32767, 98))
        #expect(abs(surface.viewport.width - 32767 / 55 / 25.4 * 160) < 1e-9)
        #expect(abs(surface.viewport.height - 32767 / 98 / 25.4 * 160) < 1e-9)
    }

    @Test func resolutionsThatNoScreenHasAreIgnored() throws {
        // 1,000 by 500 units: the longer side is a phone's, and the units are square.
        for (x, y) in [(0.0, 0.0), (0, 1), (1, 0), (100, 1), (0.1, 0.1), (1, 100)] {
            #expect(try surface(axis(0, 1000, x), axis(0, 500, y)).viewport == Viewport(width: 844, height: 422))
        }
        #expect(try surface(axis(0, 500), axis(0, 1000)).viewport == Viewport(width: 422, height: 844))
        // A range that fits any screen.
        #expect(try surface(axis(0, 32767), axis(0, 32767)).viewport == Viewport(width: 844, height: 474.75))
        #expect(try surface(axis(0, 4095), axis(0, 4095)).viewport == Viewport(width: 844, height: 474.75))
        #expect(try surface(axis(0, 4094), axis(0, 4094)).viewport == Viewport(width: 844, height: 844))
    }

    @Test func surfaceAndViewportTurnClockwise() throws {
        let viewport = Viewport(width: 100, height: 200)
        func place(_ rotation: Rotation) throws -> (Surface, ScreenPoint) {
            let surface = try surface(axis(0, 100), axis(0, 200), viewport: viewport, rotation: rotation)
            return (surface, surface.point(x: 10, y: 30))
        }
        let (quarter, atQuarter) = try place(.quarter)
        #expect(quarter.viewport == Viewport(width: 200, height: 100) && atQuarter == ScreenPoint(x: 170, y: 10))
        let (half, atHalf) = try place(.half)
        #expect(half.viewport == viewport && atHalf == ScreenPoint(x: 90, y: 170))
        let (last, atLast) = try place(.threeQuarters)
        #expect(last.viewport == Viewport(width: 200, height: 100) && atLast == ScreenPoint(x: 30, y: 90))
        #expect(try place(.none).1 == ScreenPoint(x: 10, y: 30))
    }

    @Test func withoutAHeadWhatIsObservedDecides() {
        let events = evemu([(0, ["id 1", "x 500", "y -20"]), (10, ["x 1000", "y 480"])])
        let reading = Reading(events)
        #expect(reading.reader.surface?.viewport == Viewport(width: 844, height: 422))
        #expect(reading.touches[1].touches[0].position == ScreenPoint(x: 844, y: 422))
        #expect(reading.touches[0].touches[0].position.y == 0)
        let fitted = Reading(events, viewport: Viewport(width: 100, height: 100))
        #expect(fitted.touches[1].touches[0].position == ScreenPoint(x: 100, y: 50))
        #expect(Reading(evemu([(0, ["id 1", "x 0", "y 0"])])).reader.surface?.viewport.width == 844)
    }

    /// Data after the first mebibyte is not considered, and nothing is held back any more.
    @Test func theFirstMebibyteIsObserved() throws {
        let begin = evemu([(0, ["id 1", "x 1000", "y 500"])])
        let line = "E: 0.000001 0000 0000 0\n"
        let long = begin + String(repeating: line, count: (1 << 20) / line.utf8.count)
        let bytes = Array((long + evemu([(10, ["x 5000"])])).utf8)
        var reader = RecordingReader()
        var counts: [Int] = []
        var frames = 0
        for start in stride(from: 0, to: bytes.count, by: 65536) {
            let piece = bytes.span.extracting(start..<min(start + 65536, bytes.count))
            try reader.read(piece) { frames += $0.isTouches ? 1 : 0 }
            counts.append(frames)
        }
        try reader.finish { frames += $0.isTouches ? 1 : 0 }
        #expect(counts[14] == 0 && counts[16] > 40_000 && frames == long.split(separator: "\n").count - 3 + 2)
        #expect(reader.surface?.viewport == Viewport(width: 844, height: 422))
    }
}
