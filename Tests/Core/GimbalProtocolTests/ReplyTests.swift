// The output for positions and errors, byte for byte.

import MapCamera
import TestSupport
import Testing

@testable import GimbalProtocol

@Suite struct WrittenReplyTests {
    @Test func whatRoundsToTheOpenEndIsTheOtherEnd() {
        let position = CameraPosition(
            target: LatLng(latitude: 0, longitude: 179.99999999999), zoom: 2, bearing: 359.9999999, viewingAngle: 0)
        let printed = PrintedPosition(position)
        let expected = #"{"target":{"latitude":0,"longitude":-180},"zoom":2,"bearing":0,"viewingAngle":0}"#
        #expect(written { $0.write(printed) } == expected)
    }

    @Test func aKeptViewTextIsThatOfTheView() {
        var random = Seeded(5)
        var kept = ViewText()
        var position = CameraPosition(target: LatLng(latitude: 0, longitude: 0), zoom: 2)
        for seq in 1...2_000 {
            position.target = LatLng(latitude: random.number(-85...85), longitude: random.number(-180...180))
            if random.chance(0.1) { position.zoom = random.number(2...21) }
            if random.chance(0.1) { position.bearing = random.number(0...360) }
            if random.chance(0.1) { position.viewingAngle = random.number(0...65) }
            let printed = PrintedPosition(position)
            let event = Event(kind: .cameraChanged, seq: UInt64(seq), timeMs: 1.5, reason: .gesture, position: printed)
            let name = Array("main".utf8)
            let line = written { $0.withRoom(512) { $0.event(event, camera: name.span, &kept) } }
            let expected = #"{"type":"camera-changed","camera":"main","seq":\#(seq),"timeMs":1.5,"reason":"gesture","#
            #expect(line == expected + #""position":"# + written { $0.write(printed) } + "}\n")
        }
    }

    @Test func anErrorIsWrittenInFull() throws {
        let message = "a\"b\\c\n\u{7f}\u{1}é🗺"
        let line = written {
            $0.answer(.error(GimbalError(.invalidValue, field: "x", message).at(line: 3)), Span())
        }
        #expect(try JSON(line)["message"]?.string == message)
        #expect(
            line
                == #"{"type":"error","line":3,"code":"invalid-value","field":"x","message":"a\"b\\c\u000a\u007f\u0001é🗺"}"#
                + "\n")
    }
}
