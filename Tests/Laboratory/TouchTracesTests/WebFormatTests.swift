// Touches of a web page in formats other than lines of events: arrays, messages to Chrome, and scripts.

import MapCamera
import TestSupport
import Testing
import TouchTraces

@Suite struct WebFormatTests {
    private let events = [
        #"{"viewport":{"width":400,"height":800}}"#,
        #"{"type":"touchstart","timeStamp":1000,"touches":[{"identifier":7,"clientX":10.5,"clientY":20}]}"#,
        #"{"type":"scroll","timeStamp":1005}"#,
        #"{"type":"touchmove","timeStamp":1010,"touches":[{"identifier":7,"clientX":1.1e1,"clientY":20}]}"#,
        #"{"type":"touchend","timeStamp":1020,"touches":[]}"#,
    ]

    @Test func anArrayOfEventsIsReadAsItsLinesAre() {
        let lines = Reading(events.joined(separator: "\n"))
        #expect(lines.told == ["1000: 1@10.5,20", "1010: 1@11,20", "1020:"])
        let spread = events.map { $0.replacing(",", with: ",\n  ").replacing("{", with: "{\n") }
        let (short, long) = (events.joined(separator: ","), events.joined(separator: ",\n  "))
        var shapes = ["[\(short)]", "\u{feff}\n[\n  \(long)\n]\n"]
        shapes += ["[\(spread.joined(separator: ","))]", spread.joined(separator: "\n"), spread.joined()]
        for text in shapes {
            let reading = Reading(text)
            #expect(reading.error == nil && reading.told == lines.told, "\(text)")
            #expect(reading.reader.format == .webTouches && reading.notes == lines.notes)
            #expect(reading.reader.surface?.viewport == Viewport(width: 400, height: 800))
        }
    }

    @Test func whatIsWrongInAnArrayIsNamedAndSkipped() {
        let wrong =
            "[\n" + events[..<2].joined(separator: ",\n") + ",\nrubbish {}\n{\"type\":\"touchmove\"},\n" + events[4]
            + "]"
        let reading = Reading(wrong)
        #expect(reading.told == ["1000: 1@10.5,20", "1020:"])
        #expect(reading.notes.damaged.map(\.line) == [4, 5])
        let cut = Reading("[" + events[..<4].joined(separator: ",\n") + ",\n{\"type\":\"touchend\",")
        #expect(cut.told == ["1000: 1@10.5,20", "1010: 1@11,20", "1010: x"] && cut.notes.damaged.map(\.line) == [5])
    }

    @Test func anObjectWithoutAnEndIsBounded() {
        let text = "[" + events[1] + ",{\"type\":\"" + String(repeating: "x", count: 6 << 20) + "\"}," + events[4] + "]"
        let reading = Reading(text)
        #expect(reading.told == ["1000: 1@10.5,20", "1020:"] && reading.notes.damagedCount == 1)
    }

    @Test func arraysOfOtherThingsAreRefused() {
        let other = "[" + String(repeating: "{\"a\":[1,2,{}]},\n", count: 200_000) + "{}]"
        guard case .unknown? = Reading(other).error else {
            Issue.record("\(String(describing: Reading(other).error))")
            return
        }
        #expect(Reading("[1,2]").error == .unknown(beginning: "[1,2]") && Reading("{}").error != nil)
    }

    // MARK: Chrome

    private func message(_ type: String, _ points: String, _ time: String = "") -> String {
        #"{"id":1,"method":"Input.dispatchTouchEvent","params":{"type":"\#(type)","touchPoints":[\#(points)]\#(time)}}"#
    }

    @Test func messagesToChromeAreReadInLinesAndInAnArray() {
        let messages = [
            message("touchStart", #"{"x":10,"y":20}"#, #","timestamp":5.25"#),
            #"{"id":2,"method":"Page.navigate","params":{"type":5,"touchPoints":"none"}}"#,
            message("touchMove", #"{"x":11,"y":20},{"x":50,"y":60,"radiusX":3}"#, #","timestamp":5.26"#),
            message("touchMove", #"{"x":50,"y":61,"id":1}"#, #","timestamp":5.27"#),
            message("touchEnd", "", #","timestamp":5.28"#),
            message("touchStart", #"{"x":1,"y":1}"#, #","timestamp":5.29"#),
            message("touchCancel", "", #","timestamp":5.3"#),
        ]
        let frames = ["5250: 1@10,20", "5260: 1@11,20 2@50,60", "5270: 2@50,61", "5280:", "5290: 3@1,1", "5300: x"]
        for text in [messages.joined(separator: "\n"), "[" + messages.joined(separator: ",\n") + "]"] {
            let reading = Reading(text)
            #expect(reading.reader.format == .devTools && reading.told == frames && reading.error == nil)
        }
    }

    /// A tool that sends separate messages for each finger means only that one.
    @Test func aMessageOfOneFingerLeavesTheOthersWhereTheyAre() {
        let text = [
            message("touchStart", #"{"x":1,"y":1,"id":1}"#), message("touchStart", #"{"x":9,"y":9,"id":2}"#),
            message("touchMove", #"{"x":2,"y":1,"id":1}"#), message("touchEnd", #"{"x":2,"y":1,"id":1}"#),
            message("touchEnd", #"{"x":9,"y":9,"id":2}"#),
        ].joined(separator: "\n")
        #expect(Reading(text).error == .noTimes)
        #expect(
            Reading(text, rate: 100).told == ["0: 1@1,1", "10: 1@1,1 2@9,9", "20: 1@2,1 2@9,9", "30: 2@9,9", "40:"])
    }

    @Test func messagesThatTheProtocolMonitorSavedAreReadByTheTimesOfTheirRequests() {
        let text = """
            [{"id":1,"method":"Input.dispatchTouchEvent","params":{"type":"touchStart","touchPoints":[{"x":1,"y":2}]},
              "requestTime":1000.5,"result":{}},
             {"id":2,"method":"Input.dispatchTouchEvent","params":{"type":"touchEnd","touchPoints":[]},"requestTime":1010}]
            """
        #expect(Reading(text).told == ["1000.5: 1@1,2", "1010:"])
    }

    @Test func aMessageToChromeTellsTheViewport() {
        let screen =
            #"{"method":"Emulation.setDeviceMetricsOverride","params":{"width":300,"height":500,"mobile":true}}"#
        let touch =
            #"{"method":"Input.dispatchTouchEvent","params":{"type":"touchStart","touchPoints":[{"x":1,"y":2}],"timestamp":1}}"#
        let reading = Reading(screen + "\n" + touch)
        #expect(reading.reader.format == .devTools && reading.notes.damagedCount == 0)
        #expect(reading.reader.surface?.viewport == Viewport(width: 300, height: 500))
        // Without a size it is damaged, and later ones have no effect.
        #expect(Reading(screen.replacing("300", with: "0") + "\n" + touch).notes.damagedCount == 1)
        #expect(
            Reading(screen + "\n" + touch + "\n" + screen.replacing("300", with: "400")).reader.surface
                == reading.reader.surface)
    }

    // MARK: Headers

    private let told =
        #"{"type":"trace","version":1,"viewport":{"width":358.4,"height":637},"position":{"target":{"latitude":1,"longitude":2},"zoom":9,"bearing":0,"viewingAngle":0},"maxZoom":10}"#

    /// Returns the first line of the trace made from touches that include this header.
    private func header(_ told: String, _ options: TraceOptions = TraceOptions()) throws -> JSON {
        let text = #"{"viewport":{"width":400,"height":700},"trace":\#(told)}"# + "\n"
        let touch = #"{"type":"touchstart","timeStamp":1,"touches":[{"identifier":0,"clientX":9,"clientY":9}]}"#
        let trace = try TraceConverter(options).trace(of: Array((text + touch).utf8))
        return try JSON(String(decoding: trace.prefix { $0 != 0x0a }, as: UTF8.self))
    }

    @Test func theHeaderThatARecordingTellsIsThatOfItsTrace() throws {
        #expect(try header(told) == JSON(told))
        var options = TraceOptions(viewport: Viewport(width: 100, height: 200))
        var found = try header(told, options)
        #expect(found["viewport"]?["width"]?.number == 100 && found["position"]?["zoom"]?.number == 9)
        options = TraceOptions(position: CameraPosition(target: LatLng(latitude: 3, longitude: 4), zoom: 5))
        found = try header(told, options)
        #expect(found["viewport"]?["width"]?.number == 358.4 && found["maxZoom"]?.number == 10)
        #expect(found["position"]?["zoom"]?.number == 5 && found["position"]?["target"]?["latitude"]?.number == 3)
    }

    @Test func aHeaderThatIsNotRightIsIgnored() throws {
        let wrong = [
            "1", "{}", #"{"type":"pan","phase":"began"}"#, told.replacing("\"version\":1", with: "\"version\":7"),
        ]
        for header in wrong {
            let found = try self.header(header)
            #expect(found["viewport"]?["width"]?.number == 400 && found["position"]?["zoom"]?.number == 12, "\(header)")
        }
        // Scripts may be longer than a line of a trace.
        let long = told.replacing("}", with: #","id":"\#(String(repeating: "x", count: 70_000))"}"#, maxReplacements: 1)
        let script = #"{"actions":[{"type":"pointer","id":"f","actions":[{"type":"pointerDown"}]}],"trace":\#(long)}"#
        #expect(Reading(script).reader.surface?.viewport == .standard && Reading(script).frames.count == 2)
    }

    // MARK: WebDriver

    private let finger = """
        {"type":"pointer","id":"finger1","parameters":{"pointerType":"touch"},"actions":[
          {"type":"pointerMove","duration":0,"x":100,"y":200},{"type":"pointerDown","button":0},
          {"type":"pause","duration":100},{"type":"pointerMove","duration":50,"origin":"viewport","x":160,"y":200},
          {"type":"pointerMove","duration":0,"origin":"pointer","x":-10,"y":5},{"type":"pointerUp","button":0}]}
        """
    private let other = """
        {"type":"pointer","id":"finger2","parameters":{"pointerType":"touch"},"actions":[
          {"type":"pointerMove","duration":0,"x":300,"y":200},{"type":"pointerDown","button":0},
          {"type":"pause","duration":20},{"type":"pause"},{"type":"pause"},{"type":"pointerUp","button":0}]}
        """

    @Test func aScriptOfWebDriverIsPlayed() {
        let frames = [
            "0: 1@100,200 2@300,200", "116.667: 1@120,200 2@300,200", "133.333: 1@140,200 2@300,200",
            "150: 1@160,200 2@300,200", "150: 1@150,205 2@300,200", "150:",
        ]
        let key = #"{"type":"key","id":"k","actions":[{"type":"keyDown","value":"a"}]}"#
        for text in ["{\"actions\":[\(finger),\(key),\(other)]}", "[\(finger),\(other),\(key)]"] {
            let reading = Reading(text)
            #expect(reading.reader.format == .webDriver && reading.error == nil)
            #expect(reading.told == frames)
            #expect(reading.reader.surface?.viewport == .standard)
        }
    }

    /// As a browser performs it: 20 ms become a frame of 33.3 ms, and a move arrives at its end.
    @Test func theTicksOfAScriptThatTellsItsViewportAreWholeFrames() {
        let actions =
            #"[{"type":"pointerMove","x":5,"y":6},{"type":"pointerDown"},{"type":"pause","duration":66},"#
            + #"{"type":"pointerMove","duration":20,"x":15,"y":6},{"type":"pointerUp"}]"#
        let script = #"{"actions":[{"type":"pointer","id":"f","actions":\#(actions)}]"#
        let reading = Reading(script + #","viewport":{"width":300,"height":500}}"#)
        #expect(reading.told == ["0: 1@5,6", "100: 1@15,6", "100:"])
        #expect(reading.reader.surface?.viewport == Viewport(width: 300, height: 500))
        // A script without a viewport may be for anything.
        #expect(Reading(script + "}").told.suffix(2) == ["86: 1@15,6", "86:"])
    }

    /// A script is one object, however long: it cannot be read before its end.
    @Test func aScriptOfMebibytesIsOneInAnyPieces() {
        let moves = (0..<60_000).map { #"{"type":"pointerMove","duration":20,"x":\#($0 % 300),"y":6}"# }
        let actions = #"[{"type":"pointerDown"},"# + moves.joined(separator: ",") + #",{"type":"pointerUp"}]"#
        let script = #"{"actions":[{"type":"pointer","id":"f","actions":\#(actions)}]}"#
        let bytes = Array(script.utf8)
        #expect(2 << 20..<4 << 20 ~= bytes.count)
        for size in [bytes.count, 65536] {
            let reading = Reading(bytes, cutAt: Array(stride(from: size, to: bytes.count, by: size)))
            #expect(reading.error == nil && reading.reader.format == .webDriver, "in pieces of \(size)")
            #expect(reading.frames.count > 60_000, "in pieces of \(size)")
        }
    }

    /// Fingers stay where they are from one script to the next, whether each is a line or not.
    @Test func scriptsFollowOneAnother() {
        let down =
            #"{"actions":[{"type":"pointer","id":"f","actions":[{"type":"pointerMove","x":5,"y":6},{"type":"pointerDown"},{"type":"pause","duration":10}]}]}"#
        let up =
            #"{"actions":[{"type":"pointer","id":"f","actions":[{"type":"pointerMove","x":1,"y":1,"origin":"pointer"},{"type":"pointerUp"}]}]}"#
        #expect(Reading(down + "\n" + up + "\n" + down).told == ["0: 1@5,6", "10: 1@6,7", "10:", "10: 2@5,6", "10: x"])
    }

    @Test func whatAScriptDoesNotTellIsNamed() {
        let element =
            #"{"actions":[{"type":"pointer","id":"f","actions":[{"type":"pointerDown"},{"type":"pointerMove","x":5,"y":6,"origin":{"element-6066-11e4-a52e-4f735466cecf":"e1"}}]}]}"#
        guard case .notUnderstood(let first, _)? = Reading(element).error else {
            Issue.record("no error")
            return
        }
        #expect(first.line == 1)
        let long =
            #"{"actions":[{"type":"pointer","id":"f","actions":[{"type":"pointerDown"},{"type":"pause","duration":1e12}]}]}"#
        #expect(Reading(long).error != nil && Reading(long).frames.isEmpty)
    }

    /// Each source rests while another acts: an hour each, one after the other.
    @Test func aScriptIsAsLongAsItsTicksAreTogether() {
        let hour = #"{"type":"pause","duration":3600000}"#
        let sources = (0..<3).map { number in
            let actions = (0..<3).map { $0 == number ? hour : #"{"type":"pause"}"# } + [#"{"type":"pointerDown"}"#]
            return #"{"type":"pointer","id":"f\#(number)","actions":[\#(actions.joined(separator: ","))]}"#
        }
        #expect(Reading("{\"actions\":[\(sources[0])]}").error == nil)
        let long = Reading("{\"actions\":[\(sources.joined(separator: ","))]}")
        #expect(long.error != nil && long.frames.isEmpty)
    }

    // MARK: rrweb

    private static func rrweb(_ time: Int, _ data: String) -> String {
        #"{"type":3,"data":{\#(data)},"timestamp":\#(time)}"#
    }
    private static func act(_ time: Int, _ type: Int, _ x: Int = 0, _ y: Int = 0) -> String {
        rrweb(time, #""source":2,"type":\#(type),"id":9,"x":\#(x),"y":\#(y)"#)
    }
    private static func moves(_ time: Int, _ source: Int, _ positions: (x: Int, y: Int, offset: Int)...) -> String {
        let all = positions.map { #"{"x":\#($0.x),"y":\#($0.y),"id":9,"timeOffset":\#($0.offset)}"# }
        return rrweb(time, #""source":\#(source),"positions":[\#(all.joined(separator: ","))]"#)
    }
    private static let meta = #"{"type":4,"data":{"href":"x","width":400,"height":800},"timestamp":900}"#

    @Test func aSessionOfRRWebHasItsFingerInTheOrderOfTimes() {
        let events = [
            #"{"type":0,"data":{},"timestamp":800}"#, Self.meta,
            #"{"type":2,"data":{"node":{"id":1}},"timestamp":950}"#,
            Self.act(1000, 7, 10, 20), Self.act(1200, 9, 30, 20),
            // The moves arrive after the end.
            Self.moves(1500, 6, (15, 20, -450), (30, 20, -350)), Self.act(1600, 1, 30, 20), Self.act(1610, 0, 30, 20),
            Self.act(9000, 7, 1, 1), Self.act(9100, 10),
        ]
        let array = Reading("[" + events.joined(separator: ",\n") + "]")
        #expect(array.reader.format == .rrweb && array.error == nil && array.notes.damagedCount == 0)
        #expect(array.told == ["1000: 1@10,20", "1050: 1@15,20", "1150: 1@30,20", "1200:", "9000: 2@1,1", "9100: x"])
        #expect(array.reader.surface?.viewport == Viewport(width: 400, height: 800) && array.notes[.oneFinger] == 1)
        let lines = Reading(events.joined(separator: "\n"))
        #expect(lines.told == array.told)
        #expect(Reading(#"{"events":["# + events.joined(separator: ",") + "]}").told == array.told)
    }

    @Test func whichOfTwoFingersMovedRRWebDoesNotTell() {
        let reading = Reading(
            [
                Self.act(1000, 7, 10, 20), Self.act(1100, 7, 50, 20), Self.moves(1300, 6, (60, 20, -50)),
                Self.act(1400, 9), Self.act(1500, 9), Self.act(2000, 7, 5, 5), Self.act(2100, 9),
            ].joined(separator: "\n"))
        #expect(reading.told == ["1000: 1@10,20", "1100: x", "2000: 2@5,5", "2100:"])
        #expect(reading.notes[.unknownFinger] == 1)
    }

    @Test func theMouseIsAFingerWhereNothingTouches() {
        let reading = Reading(
            [
                Self.moves(1000, 1, (1, 1, 0)), Self.act(1100, 1, 2, 2), Self.moves(1500, 1, (4, 4, -300)),
                Self.act(1600, 0),
                Self.act(1600, 2),
            ].joined(separator: "\n"))
        #expect(reading.told == ["1100: 1@2,2", "1200: 1@4,4", "1600:"] && reading.notes[.oneFinger] == 0)
    }

    @Test func damagedEventsOfRRWebAreNamed() {
        let reading = Reading(
            [Self.act(1000, 7, 10, 20), Self.rrweb(1100, #""source":6"#), #"{"type":3}"#, Self.act(1200, 9)]
                .joined(separator: "\n"))
        #expect(reading.told == ["1000: 1@10,20", "1200:"] && reading.notes.damaged.map(\.line) == [2, 3])
    }
}
