// Real recordings of real devices, which are kept beside the project.

import TestSupport
import Testing

@testable import TouchTraces

@Suite struct RecordingTests {
    @Test(.needsRecordings, arguments: Recordings.facts)
    func factsAreThoseKnown(_ fact: Recordings.Fact) throws {
        let bytes = try Recordings.bytes(fact.path)
        let reading = Reading(bytes)
        #expect(reading.error == nil)
        #expect(reading.reader.format == fact.format)
        let frames = reading.frames.filter { !$0.isCancelled }
        #expect(frames.count == fact.frames)
        #expect(reading.mostContacts == fact.contacts)
        #expect(abs(reading.duration - fact.seconds) <= 0.006, "\(reading.duration)")
        let contacts = frames.flatMap(\.contacts)
        #expect(contacts.map(\.x).min() == fact.x.lowerBound && contacts.map(\.x).max() == fact.x.upperBound)
        #expect(contacts.map(\.y).min() == fact.y.lowerBound && contacts.map(\.y).max() == fact.y.upperBound)
        #expect(reading.notes.damagedCount == 0, "\(reading.notes.damaged)")
    }

    @Test(.needsRecordings, arguments: Recordings.facts)
    func framesDoNotDependOnHowBytesAreCut(_ fact: Recordings.Fact) throws {
        let bytes = try Recordings.bytes(fact.path)
        let whole = Reading(bytes)
        var random = Seeded(1)
        for pieces in [2, 7, 100] {
            let cuts = (0..<pieces).map { _ in random.integer(0...bytes.count) }.sorted()
            #expect(Reading(bytes, cutAt: cuts).isSame(as: whole))
        }
    }

    @Test(.needsRecordings, arguments: Recordings.facts)
    func damageDoesNoHarm(_ fact: Recordings.Fact) throws {
        let bytes = try Recordings.bytes(fact.path)
        for (seed, var random) in Seeded.each(0...4) {
            var damaged = bytes
            for _ in 0..<20 { random.damage(&damaged) }
            let reading = Reading(damaged)
            reading.check(seed)
            #expect(reading.frames.count >= fact.frames - 40, "seed \(seed)")
        }
    }

    @Test(
        .needsRecordings,
        arguments: [
            ("Wacom_Bamboo_16FG_4x5_Finger", "_double-center-circle.events", 4096.0, 4096.0),
            ("Wacom_ISDv4_E6_Finger", ".double-center-circle.events", 2776, 1569),
        ])
    func descriptionsAreReadByThemselves(_ name: String, _ recording: String, _ x: Double, _ y: Double) throws {
        let path = "evemu-devices/tablets__\(name)"
        let (description, bytes) = try (Recordings.bytes(path + ".desc"), Recordings.bytes(path + recording))
        let device = try DeviceDescription(description.span)
        #expect(device.name == name.replacing("_", with: " "))
        #expect(device.x == DeviceAxis(minimum: 0, maximum: x) && device.y == DeviceAxis(minimum: 0, maximum: y))
        let reading = Reading(String(decoding: bytes, as: UTF8.self), device: device)
        #expect(reading.notes[.noHead] == 0 && reading.reader.device == device)
        #expect(Reading(description).frames.isEmpty && Reading(description).error == nil)
    }

    /// The notes that count the known quirks of real recordings.
    @Test(.needsRecordings) func quirksAreCounted() throws {
        func notes(_ path: String) throws -> RecordingNotes { Reading(try Recordings.bytes(path)).notes }
        let tablets = "evemu-devices/tablets__"
        let circle = try notes(tablets + "Wacom_Bamboo_16FG_4x5_Finger_double-center-circle.events")
        let click = try notes("evemu-devices/touchpads__bcm5974.three-finger-click.events")
        let phone = try notes("monkeyhelper/traces__Phone__phone-two-finger-drag.txt")
        let canvas = try notes(tablets + "dell_canvas_touch.evemu")
        #expect(circle[.noHead] == 1 && circle[.epochClock] == 1 && circle[.noSlotBeforeData] == 1)
        #expect(circle[.mixedTimes] == 419 && circle[.landedTogether] == 1 && circle.contactProtocol == .slots)
        #expect(click.contactProtocol == .wholeFrames && click[.negative] > 100 && click[.noHead] == 0)
        #expect(phone.contactProtocol == .wholeFrames && phone[.noHead] == 1 && phone[.epochClock] == 0)
        #expect(canvas[.mixedTimes] == 0 && canvas[.epochClock] == 0 && canvas[.leftDown] == 0)
    }

    @Test(.needsRecordings) func aScreenThatTellsItsSizeHasIt() throws {
        let path = "evemu-devices/tablets__dell_canvas_touch.evemu"
        let reading = Reading(try Recordings.bytes(path))
        // 27 inches of 16:9 at 160 points per inch.
        let viewport = try #require(reading.reader.surface?.viewport)
        #expect(abs(viewport.width - 3753) < 1 && abs(viewport.height - 2106) < 1)
    }

    @Test(.needsRecordings) func gimbalsOwnTracesAreHandedOn() throws {
        for (name, bytes) in try Files.recordedTraces() {
            let reading = Reading(bytes, cutAt: [10, 100, 5000])
            #expect(reading.reader.format == .trace && reading.trace == bytes, "\(name)")
        }
    }
}
