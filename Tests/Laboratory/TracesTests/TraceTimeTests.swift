// The times at both ends of a trace's sections, wherever it is cut.

import Testing
import Traces

@Suite struct TraceTimeTests {
    private func times(_ text: String) -> [Double?] {
        [TraceTime.first(in: Array(text.utf8)), TraceTime.last(in: Array(text.utf8))]
    }

    @Test func aPieceHasTheTimesOfItsFirstAndLastWholeLines() {
        let lines = [
            #"hase":"changed","timeMs":1}"#, #"{"type":"stop"}"#, #"{"type":"stop","timeMs":20}"#,
            #"[{"type":"stop","timeMs":30},{"type":"stop","timeMs":30.5},{"type":"stop"}]"#,
            #"{"type":"stop","timeMs":4"#,
        ]
        #expect(times(lines.joined(separator: "\n")) == [20, 30.5])
        #expect(times(lines[2]) == [20, 20])
    }

    @Test func aLabelThatReadsLikeATimeIsNone() {
        #expect(times(#"{"type":"marker","timeMs":7,"label":"\"timeMs\":9 "}"#) == [7, 7])
    }

    @Test(arguments: ["", "\n\n", #"{"type":"trace","version":1}"#, "no trace"])
    func wherePiecesHaveNoTimeThereIsNone(_ text: String) { #expect(times(text) == [nil, nil]) }
}
