// Every conformance case of Protocols/, run against the hub itself.

import Hub
import TestSupport
import Testing

@Suite struct ConformanceTests {
    private static func role(_ isWatchOnly: Bool) -> Role {
        isWatchOnly ? .watchOnly(because: "the case says so") : .everything
    }

    @Test(arguments: try ConformanceCase.all())
    func everyConformanceCaseHoldsInTheHub(_ testCase: ConformanceCase) throws {
        let host = HubHost()
        try testCase.play({ host.connect(role: Self.role($0)) }, emitted: { _ in })
    }

    @Test func emittedLinesAreValidByTheSchema() throws {
        var emitted: [String] = []
        for testCase in try ConformanceCase.all() {
            let host = HubHost()
            try? testCase.play({ host.connect(role: Self.role($0)) }, emitted: { emitted.append($0) })
        }
        #expect(emitted.count > 1000)
        #expect(try Schema.complaints(emitted, from: .server) == "")
    }
}
