// The markers of a trace, which become the ticks of a bar before the trace is played.

import Testing

@testable import gimbal

@Suite struct TraceMarkersTests {
    private let header = #"{"type":"trace","version":1}"#

    private func marker(_ label: String, at time: Int) -> String {
        #"{"type":"marker","timeMs":\#(time),"label":"\#(label)"}"#
    }

    private func times(_ lines: String...) -> [Double] {
        TraceMarkers.times(in: Array(lines.joined(separator: "\n").utf8))
    }

    @Test func markersOfTheFirstTraceAreFoundWithTheirTimes() {
        let end = #"{"type":"trace-end"}"#
        #expect(times(header, marker("a", at: 5), marker("b", at: 70), end, header, marker("c", at: 9)) == [5, 70])
        #expect(times(header) == [] && times() == [])
    }

    @Test func aLabelThatReadsTraceEndEndsNothing() {
        #expect(times(header, marker("a trace-end", at: 5), marker("marker", at: 70)) == [5, 70])
    }
}
