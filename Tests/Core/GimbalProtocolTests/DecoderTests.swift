// The decoder is as strict as documented, and agrees with Foundation on random and mutated lines.

import Foundation
import Gestures
import MapCamera
import TestSupport
import Testing

@testable import GimbalProtocol

private func rejection(_ line: String) -> Rejection? {
    do throws(Rejection) {
        _ = try decode(line)
        return nil
    } catch {
        return error
    }
}

private func error(_ line: String) -> GimbalError? { rejection(line)?.error }

/// Whether the bytes are JSON according to the tape.
private func isJSON(_ bytes: [UInt8]) -> Bool {
    var tape = JSONTape(names: Field.ofRequests)
    do throws(JSONError) {
        try tape.read(bytes.span)
        return true
    } catch {
        return error.kind != .malformed
    }
}

@Suite struct DecoderTests {
    @Test(arguments: [
        "", "x", "{", "}", "[", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{'a':1}", "[1 2]", "[1,]", "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":.5}", "{\"a\":+1}", "{\"a\":1e}", "{\"a\":-}", "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":-Infinity}",
        "{\"a\":0x1}", "{\"a\":tru}", "{\"a\":nul}", "{\"a\":\"\u{1}\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\"}", "{\"a\":\"\\ud800\\u0041\"}", "{\"a\":\"\\ud800\\ud800\"}",
        "{\"a\":\"b",
        "{\"a\":1}{}", "{\"a\":1} x", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}",
        "{\"\\u0061\":1,\"b\":0,\"a\":2}", "{\"\\u0061b\":1,\"a\\u0062\":2}",
        "{\"type\":\"ping\",\"t\\u0079pe\":1}",
        "{\"a\":{\"b\":1,\"b\":1}}", "{\"a\":[{\"b\":1,\"b\":1}]}", "{\"b\":{\"c\":1},\"x\":0,\"b\":1}",
        "{\"x\":{\"a\":1,\"b\":{\"a\":1},\"a\":2}}", "\u{feff}{}", "{\"a\":1}\u{0}",
    ])
    func whatIsNoJSONIsRejected(_ line: String) {
        #expect(!isJSON(Array(line.utf8)), "\(line)")
        #expect(error(line)?.code == .invalidJSON)
    }

    @Test func mutatedLinesAreTakenExactlyWhereFoundationTakesThem() {
        let seeds = [
            #"{"type":"pan","phase":"changed","timeMs":1234.5,"focus":{"x":195,"y":420},"translation":{"x":-12.5,"y":3e-2}}"#,
            #"[{"type":"pinch","phase":"began","scale":1.0},{"type":"rotate","phase":"ended","rotationDeg":-0.5}]"#,
            #"{"type":"subscribe","id":"\u00e9\ud83d\uddfa\n","events":["idle","move-started"],"since":0,"x":[null,true]}"#,
        ].map { Array($0.utf8) }
        let alphabet = Array("{}[]:,\"\\ \t0123456789eE+-.utfnalsrd\u{0}\u{1f}é".utf8)
        var random = Seeded(1)
        var accepted = 0
        for _ in 0..<20_000 {
            var line = seeds.randomElement(using: &random)!
            for _ in 0..<random.integer(1...3) {
                let place = random.integer(0...(line.count - 1))
                switch random.integer(0...3) {
                case 0: line[place] = alphabet.randomElement(using: &random)!
                case 1: line.insert(alphabet.randomElement(using: &random)!, at: place)
                case 2: line.remove(at: place)
                default: line.insert(line[random.integer(0...(line.count - 1))], at: place)
                }
            }
            let own = isJSON(line)
            let foundation = (try? JSON(Data(line))) != nil
            accepted += own ? 1 : 0
            if own != foundation, !isKnownDifference(line, own: own) {
                Issue.record("own \(own), Foundation \(foundation): \(String(decoding: line, as: UTF8.self))")
            }
        }
        #expect(accepted > 2000)
    }

    /// Foundation takes duplicate keys and a comma before a closing bracket, and refuses numbers that no double holds.
    private func isKnownDifference(_ line: [UInt8], own: Bool) -> Bool {
        if own { return (try? JSONSerialization.jsonObject(with: Data(line), options: .fragmentsAllowed)) == nil }
        var tape = JSONTape(names: Field.ofRequests)
        do throws(JSONError) {
            try tape.read(line.span)
            return false
        } catch {
            let isTrailingComma = String(decoding: line, as: UTF8.self).contains(/,\s*[}\]]/)
            return error.message.contains("appears twice") || isTrailingComma
        }
    }

    @Test func aGestureLineIsReadWhole() throws {
        let line =
            #"{"gesture":7,"type":"pan","camera":"left","phase":"ended","id":"a","timeMs":-1.5,"focus":{"x":1,"y":2},"#
            + #""translation":{"y":3},"velocity":{"x":4,"y":5},"extra":[{"x":{"y":null}}]}"#
        let request = try decode(line)[0]
        guard case .gesture(let gesture) = request.body else { return #expect(Bool(false), "no gesture") }
        let (event, label) = (gesture.event, gesture.label)
        #expect(request.camera == "left" && request.timeMs == -1.5 && label == .number(7))
        #expect(event.kind == .pan && event.phase == .ended && event.focus == ScreenPoint(x: 1, y: 2))
        #expect(event.velocity == ScreenPoint(x: 4, y: 5))
        guard case .pan(ScreenPoint(x: 0, y: 3)) = event.value else { return #expect(Bool(false), "\(event)") }
    }

    @Test(
        arguments: [
            (#"{}"#, ErrorCode.missingField, "type"),
            (#"{"type":7}"#, .invalidValue, "type"),
            (#"{"type":"fly"}"#, .unknownType, "type"),
            (#"{"type":"pan"}"#, .missingField, "phase"),
            (#"{"type":"pan","phase":"over"}"#, .invalidValue, "phase"),
            (#"{"type":"pan","phase":"began","focus":{"x":1}}"#, .missingField, "focus.y"),
            (#"{"type":"pan","phase":"began","focus":null}"#, .invalidValue, "focus"),
            (#"{"type":"pan","phase":"changed","translation":{"x":1e999}}"#, .invalidValue, "translation.x"),
            (#"{"type":"pinch","phase":"changed","scale":0}"#, .invalidValue, "scale"),
            (#"{"type":"pinch","phase":"changed","scale":-1}"#, .invalidValue, "scale"),
            (#"{"type":"pinch","phase":"changed","scale":"2"}"#, .invalidValue, "scale"),
            (#"{"type":"ping","camera":""}"#, .invalidValue, "camera"),
            (#"{"type":"ping","camera":"a b"}"#, .invalidValue, "camera"),
            (#"{"type":"ping","id":1.5}"#, .invalidValue, "id"),
            (#"{"type":"ping","id":null}"#, .invalidValue, "id"),
            (#"{"type":"hello"}"#, .missingField, "version"),
            (#"{"type":"hello","version":2}"#, .unsupportedVersion, "version"),
            (#"{"type":"hello","version":"1"}"#, .invalidValue, "version"),
            (#"{"type":"trace","version":null}"#, .invalidValue, "version"),
            (#"{"type":"move"}"#, .missingField, "update"),
            (
                #"{"type":"move","update":{"kind":"set-camera","position":{"target":{"latitude":1,"longitude":2}}}}"#,
                .missingField,
                "update.position.zoom"
            ),
            (
                #"{"type":"move","update":{"kind":"set-target","target":{"latitude":1}}}"#, .missingField,
                "update.target.longitude"
            ),
            (#"{"type":"set-zoom-range","minZoom":9,"maxZoom":8}"#, .invalidValue, "minZoom"),
            (#"{"type":"set-zoom-range","minZoom":1}"#, .invalidValue, "minZoom"),
            (#"{"type":"set-gestures","tilt":1}"#, .invalidValue, "tilt"),
            (#"{"type":"subscribe","events":["camera-change"]}"#, .invalidValue, "events"),
            (#"{"type":"subscribe","since":4}"#, .missingField, "epoch"),
            (#"{"type":"subscribe","camera":"*","since":[{"seq":1,"epoch":"e"}]}"#, .invalidValue, "since"),
            (#"{"type":"subscribe","camera":"*","since":[{"camera":"a","epoch":"e"}]}"#, .invalidValue, "since"),
            (#"{"type":"trace","version":1,"speed":0}"#, .invalidValue, "speed"),
            (#"{"type":"trace","version":1,"speed":1e999}"#, .invalidValue, "speed"),
            (#"{"type":"set-replay-speed","speed":1e999}"#, .invalidValue, "speed"),
            (#"{"type":"trace","version":1,"gestures":{"zoom":0}}"#, .invalidValue, "gestures.zoom"),
            (#"7"#, .invalidValue, nil), (#"[]"#, .invalidValue, nil), (#"[7]"#, .invalidValue, nil),
            (#"[{"type":"trace","version":1}]"#, .invalidValue, "type"),
        ] as [(String, ErrorCode, String?)])
    func errorsNameTheField(line: String, code: ErrorCode, field: String?) {
        let error = error(line)
        #expect(error?.code == code && error?.field == field, "\(String(describing: error))")
        #expect(!(error?.message.isEmpty ?? true))
    }

    @Test func whatGrowsHasALimit() {
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        #expect(error("{\"type\":\"ping\",\"x\":\(deep)}")?.code == .limitReached)
        let many = (0..<300).map { "\"k\($0)\":0" }.joined(separator: ",")
        #expect(error("{\"type\":\"ping\",\(many)}")?.code == .limitReached)
        let objects = Array(repeating: "{}", count: 5000).joined(separator: ",")
        #expect(error("{\"type\":\"ping\",\"x\":[\(objects)]}")?.code == .limitReached)
        let batch = Array(repeating: #"{"type":"ping"}"#, count: 65).joined(separator: ",")
        #expect(error("[\(batch)]")?.code == .limitReached)
    }

    @Test(arguments: [
        #"{"type":"trace","version":1,"speed":"#, #"{"version":NaN,"type":"trace"}"#,
        #"{"version":1,"version":1,"type" :\#t"trace"}"#, #"{"version":1,"id":tru,"type":"trace"}"#,
        "\u{feff}{\"type\":\"trace\",\"version\":1}", #"{"type":"tr","x":""type":"trace"}"#,
    ])
    func aBrokenHeaderIsKnownAsOne(_ line: String) {
        let rejection = rejection(line)
        #expect(rejection?.isHeader == true && rejection?.error.code == .invalidJSON)
    }

    @Test func whatIsNoObjectHasNoMembers() {
        var random = Seeded(3)
        for _ in 0..<3000 {
            let scalars = (0..<random.integer(1...3)).map { _ in
                [
                    "\(Double(bitPattern: random.next() & 0x7fef_ffff_ffff_ffff))", "0.3", "\"x\"", "null", "true",
                    "[{}]",
                ][
                    random.integer(0...5)]
            }
            #expect(error("[\(scalars.joined(separator: ","))]")?.code == .invalidValue, "\(scalars)")
        }
        #expect(error("[0.3]")?.code == .invalidValue)
        #expect(error("0.3")?.code == .invalidValue)
    }

    @Test func aHeaderInAnArrayIsSeenWhateverElseIsWrong() {
        for line in [#"[{"type":"pan"},{"type":"trace","version":1}]"#, #"[0.3,{"type":"trace"}]"#] {
            #expect(rejection(line)?.isHeader == true, "\(line)")
        }
    }

    @Test(arguments: [
        (#"{"type":"pan","phase":"x"}"#, "phase must be began, changed, ended or cancelled"),
        (#"{"type":"pan"}"#, "phase is missing: it is began, changed, ended or cancelled"),
        (
            #"{"type":"animate","update":{"kind":"zoom-in"},"easing":1}"#,
            "easing must be default, linear, ease-in, ease-out or ease-in-out"
        ),
        (
            #"{"type":"tour"}"#,
            "keyframes is missing: it must be an array of 1 to 256 keyframes: objects with a position"
        ),
        (#"{"type":"set-target-bounds"}"#, "bounds is missing: it must be an object or null"),
        (#"{"type":"set-idle-action","action":1}"#, "action must be an object or null"),
        (#"{"type":"subscribe","delivery":"x"}"#, #"delivery must be "every" or "latest""#),
        (
            #"[{"type":"subscribe","camera":"*"}]"#,
            #"camera must not be "*" in an array: subscribe to all cameras on a line of its own"#
        ),
        (
            #"{"type":"subscribe","delivery":"latest","events":["touch"]}"#,
            #"delivery must be "every" if events has "gesture" or "touch""#
        ),
        (
            #"{"type":"subscribe","camera":"*","events":["gesture"]}"#,
            #"events must not have "gesture" or "touch" if camera is "*": name each camera"#
        ),
        (
            #"{"type":"subscribe","events":["x"]}"#,
            #"events must be an array with any of "move-started", "camera-changed", "idle", "gesture", "touch", "replay", "marker", "lease", "clock", "motion" and "present""#
        ),
    ])
    func anErrorListsTheWordsThatWouldBeRight(_ line: String, _ message: String) {
        #expect(error(line)?.message == message)
    }
}
