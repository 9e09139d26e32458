// Findings in a recording or a trace: gestures are told apart, kept up to a limit, and counted beyond it.

import Gestures
import GimbalProtocol
import Testing
import TouchTraces

@Suite struct FindingsTests {
    @Test func gesturesBeyondThoseThatAreKeptAreCountedOnce() {
        var findings = Findings()
        func pan(_ phase: GesturePhase) -> GestureReport {
            GestureReport(GestureEvent(.pan, phase), of: GestureKey(feed: 0, kind: .pan))
        }
        for _ in 0..<Findings.mostGestures + 5 {
            findings.add(pan(.began), at: 0)
            for _ in 0..<3 { findings.add(pan(.changed), at: 1) }
            findings.add(pan(.ended), at: 2)
        }
        #expect(findings.gestureCount == Findings.mostGestures + 5)
        #expect(findings.gestures.count == Findings.mostGestures)
    }
}
