// Events as rows of a table: the text of events without values for the columns.

import GimbalProtocol
import Testing

@testable import gimbal

@Suite struct EventTableTests {
    private func rows(_ line: String) -> [String] {
        var table = EventTable(cameras: ["main"])
        return table.lines(ReceivedLine(Array(line.utf8)[...])).map(\.description)
    }

    @Test func aPresentationSaysWhenAndWhereTheCameraIsToBe() {
        let position = #"{"target":{"latitude":51.5,"longitude":-0.125},"zoom":12.25,"bearing":0,"viewingAngle":0}"#
        let presentation = #"{"presentAt":1795701739146.25,"position":\#(position)}"#
        let row = rows(#"{"type":"present","camera":"main","presentation":\#(presentation)}"#)
        #expect(
            row.count == 1 && row[0].hasSuffix("at 1795701739146.250 ms: 51.500000, -0.125000, zoom 12.250"), "\(row)")
        let end = rows(#"{"type":"present","camera":"main"}"#)
        #expect(end.count == 1 && end[0].hasSuffix("no positions ahead of time"), "\(end)")
    }

    @Test func aClockSaysWhichTimeOfTheWallClockACamerasTimeIs() {
        let row = rows(#"{"type":"clock","camera":"main","timeMs":1500,"wallTime":1795701739146}"#)
        #expect(
            row.count == 1 && row[0].contains("0:01.500") && row[0].hasSuffix("wall clock 1795701739146.000 ms"),
            "\(row)")
    }
}
