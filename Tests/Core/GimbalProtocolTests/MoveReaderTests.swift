// The quick reader of movements against the general one: on what a daemon writes both read the same, and on anything else the
// quick one reads the same or leaves it.

import GimbalProtocol
import MapCamera
import TestSupport
import Testing

@Suite struct MoveReaderTests {
    private static func line(_ random: inout Seeded) -> [UInt8] {
        let kinds: [(Event.Kind, MoveReason)] = [
            (.moveStarted, .gesture), (.cameraChanged, .animation), (.idle, .command), (.cameraChanged, .gesture),
        ]
        let (kind, reason) = kinds[random.integer(0...3)]
        let position = CameraPosition(
            target: LatLng(latitude: random.number(-85...85), longitude: random.number(-180...179.999)),
            zoom: random.number(2...21), bearing: random.number(0...359.999),
            viewingAngle: random.chance(0.5) ? 0 : random.number(0...90))
        let event = Event(
            kind: kind, seq: UInt64(random.integer(1...1 << 40)), timeMs: random.number(-1e6...1e9), reason: reason,
            position: PrintedPosition(position))
        var line = LineWriter()
        let name = Array(["main", "left.2", "a-b_C"][random.integer(0...2)].utf8)
        var view = ViewText()
        line.withRoom(Event.longest + name.count) { $0.event(event, camera: name.span, &view) }
        return line.bytes.dropLast()
    }

    private static func general(_ line: [UInt8]) -> CameraEvent? {
        guard case .event(let event)? = (try? ServerLine(line: line))?.message, event.move != nil else { return nil }
        return event
    }

    @Test func aMovementThatTheDaemonWritesIsReadAsTheGeneralReaderReadsIt() {
        var random = Seeded(7)
        var reader = MoveReader()
        for _ in 0..<3000 {
            let line = Self.line(&random)
            let read = reader.read(line.span)
            #expect(read != nil && read == Self.general(line), "\(String(decoding: line, as: UTF8.self))")
        }
    }

    /// Bytes are changed, left out, doubled and cut off; words, numbers and members are exchanged.
    private static func mutated(_ line: [UInt8], _ random: inout Seeded) -> [UInt8] {
        var line = line
        let words = [
            "\"idle\"", "\"reset\"", "null", "1e999", "-0", "1.5", "9007199254740993", "\"\\u0061\"", "[]", "{}", " ",
            "\"seq\":1", ",\"seq\":2", "\"bearing\":null", "\"x\":1,", "true",
        ]
        for _ in 0..<random.integer(1...3) {
            let start = random.integer(0...line.count - 1)
            let word = Array(words[random.integer(0...words.count - 1)].utf8)
            // From one punctuation mark to the next is a name or a value.
            let isMark: (UInt8) -> Bool = {
                $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}")
            }
            let first = line[..<start].lastIndex(where: isMark).map { $0 + 1 } ?? 0
            let last = line[start...].firstIndex(where: isMark) ?? line.count
            switch random.integer(0...5) {
            case 0: line[start] = UInt8(random.integer(0...255))
            case 1: line.remove(at: start)
            case 2: line.insert(line[start], at: start)
            case 3: line.removeSubrange(start...)
            case 4: if first <= last { line.replaceSubrange(first..<last, with: word) }
            default: line.insert(contentsOf: word, at: first)
            }
            if line.isEmpty { break }
        }
        return line
    }

    @Test func whatIsReadOfALineThatSomethingHasChangedIsWhatTheGeneralReaderReads() {
        var random = Seeded(11)
        var reader = MoveReader()
        var counts = (read: 0, left: 0, wrong: 0)
        for _ in 0..<60_000 {
            let line = Self.mutated(Self.line(&random), &random)
            let (read, expected) = (reader.read(line.span), Self.general(line))
            if read != nil { counts.read += 1 } else if expected != nil { counts.left += 1 } else { counts.wrong += 1 }
            #expect(read == nil || read == expected, "\(String(decoding: line, as: UTF8.self))")
        }
        // Of each there are many, so none of the three is passed over here.
        #expect(counts.read > 1000 && counts.left > 100 && counts.wrong > 1000, "\(counts)")
    }
}
