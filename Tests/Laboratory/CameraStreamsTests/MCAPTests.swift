// MCAP files read back record by record: their checksums, their indexes, and the messages of a camera.

import Foundation
import GimbalProtocol
import MapCamera
import TestSupport
import Testing

@testable import CameraStreams

/// A record of an MCAP file: its opcode, where it begins, and its content.
private struct Record {
    let opcode: UInt8
    let start: Int
    let content: [UInt8]

    func number(_ offset: Int, _ size: Int) -> Int {
        (0..<size).reversed().reduce(0) { $0 << 8 | Int(content[offset + $1]) }
    }

    /// Returns the records of a part of a file.
    static func all(_ bytes: ArraySlice<UInt8>) -> [Record] {
        var (records, position): ([Record], Int) = ([], bytes.startIndex)
        while position < bytes.endIndex {
            let size = (1...8).reversed().reduce(0) { $0 << 8 | Int(bytes[position + $1]) }
            let content = Array(bytes[position + 9..<position + 9 + size])
            records.append(Record(opcode: bytes[position], start: position, content: content))
            position += 9 + size
        }
        return records
    }
}

/// A decoded file.
private struct ReadFile {
    var topics: [Int: String] = [:]
    var messages: [(topic: String, timeNs: Int, json: JSON)] = []
    let records: [Record]

    init(_ bytes: [UInt8]) throws {
        let magic = Array("\u{89}MCAP0\r\n".unicodeScalars.map { UInt8($0.value) })
        #expect(bytes.starts(with: magic) && bytes.suffix(8) == magic[...])
        records = Record.all(bytes[8..<bytes.count - 8])
        for chunk in records where chunk.opcode == 6 {
            let inner = Array(chunk.content[40...])
            #expect(chunk.number(16, 8) == inner.count && chunk.number(32, 8) == inner.count)
            #expect(chunk.number(24, 4) == checksum(inner))
            for record in Record.all(inner[...]) {
                switch record.opcode {
                case 4:
                    topics[record.number(0, 2)] = String(
                        decoding: record.content[8..<8 + record.number(4, 4)], as: UTF8.self)
                case 5:
                    let json = try JSON(String(decoding: record.content[22...], as: UTF8.self))
                    messages.append((topics[record.number(0, 2)] ?? "", record.number(6, 8), json))
                default: #expect(record.opcode == 3)
                }
            }
        }
    }

    func json(_ topic: String) -> [JSON] { messages.filter { $0.topic == topic }.map(\.json) }
}

private func checksum(_ bytes: some Sequence<UInt8>) -> Int {
    var sum = CRC32()
    sum.add(bytes)
    return Int(sum.value)
}

@Suite struct MCAPTests {
    // MARK: The container

    private func file(messages: Int, size: Int) -> [UInt8] {
        var writer = MCAPWriter(library: "test")
        let schema = writer.addSchema("s", Array("{}".utf8))
        let channels = [writer.addChannel("/a", schema: schema), writer.addChannel("/b", schema: schema)]
        var bytes: [UInt8] = []
        for number in 0..<messages {
            let text = "{\"n\":\(number),\"t\":\"\(String(repeating: "x", count: size))\"}"
            writer.add(Array(text.utf8), to: channels[number % 2], at: UInt64(number) * 1000)
            if number % 7 == 0 { bytes += writer.take() }
        }
        writer.finish()
        return bytes + writer.take()
    }

    @Test func theChecksumIsTheKnownOne() { #expect(checksum("123456789".utf8) == 0xcbf4_3926) }

    @Test(arguments: [(0, 0, 1), (1, 10, 1), (50, 100_000, 5)]) func aFileIsReadBack(
        _ count: Int, _ size: Int, _ chunks: Int
    ) throws {
        let bytes = file(messages: count, size: size)
        let read = try ReadFile(bytes)
        #expect(read.messages.map { $0.json["n"]?.number } == (0..<count).map { Double($0) })
        #expect(read.messages.map(\.timeNs) == (0..<count).map { $0 * 1000 })
        #expect(read.messages.map(\.topic) == (0..<count).map { $0 % 2 == 0 ? "/a" : "/b" })
        #expect(bytes == file(messages: count, size: size))

        // Checksums: of the data, and of the summary together with the footer's first fields.
        let end = try #require(read.records.first { $0.opcode == 15 })
        #expect(end.number(0, 4) == checksum(bytes[..<end.start]))
        let footer = try #require(read.records.last)
        #expect(footer.opcode == 2 && footer.number(0, 8) == end.start + 13)
        #expect(footer.number(16, 4) == checksum(bytes[(end.start + 13)..<(bytes.count - 12)]))

        // The offsets in the summary.
        let indexes = read.records.filter { $0.opcode == 8 }
        let starts = read.records.filter { $0.opcode == 6 }.map(\.start)
        #expect(indexes.map { $0.number(16, 8) } == starts && starts.count == chunks)
        for group in read.records.filter({ $0.opcode == 14 }) {
            let first = try #require(read.records.first { $0.start == group.number(1, 8) })
            #expect(first.opcode == group.content[0])
        }
        let statistics = try #require(read.records.first { $0.opcode == 11 })
        #expect(statistics.number(0, 8) == count && statistics.number(8, 2) == 1 && statistics.number(10, 4) == 2)
        #expect(statistics.number(22, 4) == chunks && statistics.number(34, 8) == max(count - 1, 0) * 1000)
    }

    @Test func eachIndexLeadsToItsMessages() throws {
        let read = try ReadFile(file(messages: 30, size: 100_000))
        var (found, chunk): (Int, [UInt8]) = (0, [])
        for record in read.records {
            if record.opcode == 6 { chunk = Array(record.content[40...]) }
            guard record.opcode == 7 else { continue }
            for entry in stride(from: 6, to: record.content.count, by: 16) {
                let message = Record.all(chunk[record.number(entry + 8, 8)...])[0]
                #expect(message.opcode == 5 && message.number(0, 2) == record.number(0, 2))
                #expect(message.number(6, 8) == record.number(entry, 8))
                found += 1
            }
        }
        #expect(found == 30)
    }

    // MARK: Messages of a camera

    private func event(_ type: String, _ timeMs: Double, zoom: Double = 3, longitude: Double = 20) -> ReceivedLine {
        let reason = type == "reset" ? "" : #""reason":"gesture","#
        let position =
            #"{"target":{"latitude":10,"longitude":\#(longitude)},"zoom":\#(zoom),"bearing":0,"viewingAngle":0}"#
        let line = #"{"type":"\#(type)","camera":"main","seq":1,"timeMs":\#(timeMs),\#(reason)"position":\#(position)}"#
        return ReceivedLine(Array(line.utf8)[...])
    }

    private func requests(_ line: String) throws -> [Request] {
        try RequestDecoder.requests(of: Array(line.utf8).span)
    }

    private func read(_ follow: (inout MCAPRecording) throws -> Void) throws -> ReadFile {
        var recording = MCAPRecording()
        try follow(&recording)
        recording.finish()
        return try ReadFile(recording.take())
    }

    @Test func theClockOfAFileStandsStillWhereItsNumbersEnd() throws {
        let file = try read { recording in
            recording.follow(try requests(#"{"type":"trace","version":1}"#), [event("reset", 0)]) { .standard }
            recording.follow(try requests(#"{"type":"stop","timeMs":5}"#), [event("idle", 1e14)]) { nil }
        }
        #expect(file.messages.last?.timeNs == 9_200_000_000_000_000_000)
    }

    @Test func eventsTargetsAndRegionsAreWritten() throws {
        let file = try read { recording in
            recording.follow(try requests(#"{"type":"trace","version":1}"#), [event("reset", 0)]) { .standard }
            recording.follow(
                try requests(#"{"type":"stop","timeMs":5000}"#),
                [event("move-started", 5), event("camera-changed", 1500.25, zoom: 4), event("idle", 1500.25, zoom: 4)]
            ) { nil }
        }
        #expect(
            file.messages.map(\.topic) == [
                "/main/events", "/main/target", "/main/visible_region", "/main/events", "/main/events", "/main/target",
                "/main/visible_region", "/main/events",
            ])
        #expect(file.messages.map(\.timeNs) == [0, 0, 0, 5_000_000] + Array(repeating: 1_500_250_000, count: 4))
        #expect(
            file.json("/main/events").map { $0["type"]?.string } == ["reset", "move-started", "camera-changed", "idle"])
        let target = try #require(file.json("/main/target").last)
        #expect(target["latitude"]?.number == 10 && target["longitude"]?.number == 20)
        #expect(target["timestamp"]?["sec"]?.number == 1 && target["timestamp"]?["nsec"]?.number == 500_250_000)
    }

    private func ring(_ message: JSON) throws -> [[Double]] {
        let feature = try JSON(try #require(message["geojson"]?.string))
        #expect(feature["properties"]?["name"]?.string == "main")
        return try #require(feature["geometry"]?["coordinates"]?.array?.first?.array).map {
            ($0.array ?? []).compactMap(\.number)
        }
    }

    @Test func aRegionIsOneRingThatTheAntimeridianDoesNotTear() throws {
        let file = try read { recording in
            recording.follow(try requests(#"{"type":"trace","version":1}"#), [event("reset", 0, longitude: 179)]) {
                Viewport(width: 512, height: 512)
            }
        }
        let ring = try ring(try #require(file.json("/main/visible_region").first))
        #expect(ring.count == 5 && ring.first == ring.last)
        // 512 of the 2,048 points of the world, on both sides of 179.
        #expect(ring.map { $0[0] } == [134, 224, 224, 134, 134])
        #expect(ring[0][1] < 10 && ring[2][1] > 10)
    }

    @Test func aNewViewportCountsFromItsLineOn() throws {
        let (narrow, wide) = (Viewport(width: 256, height: 256), Viewport(width: 512, height: 256))
        let file = try read { recording in
            recording.follow(try requests(#"{"type":"trace","version":1}"#), [event("reset", 0)]) { narrow }
            recording.follow(try requests(#"{"type":"stop","timeMs":100}"#), []) { nil }
            // A fling's frames before the line, which comes 50 ms after the first one.
            recording.follow(
                try requests(#"{"type":"set-viewport","timeMs":150,"width":512,"height":256}"#),
                [event("camera-changed", 40), event("idle", 45)]
            ) { wide }
            recording.follow(try requests(#"{"type":"stop","timeMs":200}"#), [event("camera-changed", 100)]) { nil }
        }
        let widths = try file.json("/main/visible_region").map { try ring($0)[1][0] - ring($0)[0][0] }
        #expect(widths == [45, 45, 90, 90])
        #expect(
            file.messages.filter { $0.topic == "/main/visible_region" }.map(\.timeNs)
                == [0, 40, 50, 100].map { $0 * 1_000_000 })
    }

    @Test func aTraceThatFollowsAnotherBeginsWhereThatHasEnded() throws {
        let header = try requests(#"{"type":"trace","version":1}"#)
        let at = #"{"target":{"latitude":10,"longitude":20},"zoom":3,"bearing":0,"viewingAngle":0}"#
        let file = try read { recording in
            for _ in 0..<2 {
                recording.follow(header, [event("reset", 0), event("idle", 30)]) { .standard }
            }
            // It ends later than its last event.
            let ended = #"{"type":"trace-ended","events":1,"rejected":0,"frames":0,"durationMs":200,"position":\#(at)}"#
            recording.follow(try requests(#"{"type":"trace-end"}"#), [ReceivedLine(Array(ended.utf8)[...])]) { nil }
            recording.follow(header, [event("reset", 0), event("idle", 30)]) { .standard }
        }
        #expect(
            file.messages.filter { $0.topic == "/main/events" }.map(\.timeNs)
                == [0, 30, 30, 60, 230, 260].map { $0 * 1_000_000 })
    }
}
