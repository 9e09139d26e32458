// Every conformance case of Protocols/, against the hub itself.

import Testing
import TestSupport

@Suite struct ConformanceTests {
    @Test(arguments: try ConformanceCase.all())
    func caseHolds(_ testCase: ConformanceCase) throws {
        let host = HubHost()
        try testCase.play({ host.connect() }, emitted: { _ in })
    }

    @Test func emittedLinesAreInTheSchema() throws {
        var emitted: [String] = []
        for testCase in try ConformanceCase.all() {
            let host = HubHost()
            try? testCase.play({ host.connect() }, emitted: { emitted.append($0) })
        }
        #expect(emitted.count > 1000)
        if let complaints = try Schema.complaints(emitted, from: .server) { #expect(complaints == "") }
    }
}
