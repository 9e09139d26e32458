// Simulations of whole hub lifetimes. `GIMBAL_SEEDS` selects the seeds, one or a range as 1-4000; `GIMBAL_STEPS` sets
// the length. A failing seed is printed with its step, and can be run alone.

import Foundation
import TestSupport
import Testing

@Suite struct SimulationTests {
    private static func setting(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    private static let steps = setting("GIMBAL_STEPS").flatMap(Int.init) ?? 1500
    private static let seeds: ClosedRange<UInt64> = {
        let ends = setting("GIMBAL_SEEDS")?.split(separator: "-").compactMap { UInt64($0) } ?? [1, 40]
        guard let first = ends.first, let last = ends.last, first <= last else {
            preconditionFailure("GIMBAL_SEEDS is a number, or two as in 1-4000")
        }
        return first...last
    }()

    @Test(arguments: seeds)
    func everyPromiseIsKept(seed: UInt64) {
        var simulation = Simulation(seed: seed)
        simulation.run(steps: Self.steps)
        #expect(simulation.complaints == [], "GIMBAL_SEEDS=\(seed) GIMBAL_STEPS=\(Self.steps)")
    }

    @Test func seedGivesTheSameBytesAgain() throws {
        var total = 0
        var lines: [String] = []
        for seed in UInt64(1)...6 {
            var (first, second) = (Simulation(seed: seed, keepsLines: true), Simulation(seed: seed))
            first.run(steps: 1500)
            second.run(steps: 1500)
            #expect(first.checksum == second.checksum, "seed \(seed)")
            total += first.events
            lines += first.lines
        }
        for wanted in [
            #"{"type":"at-rest""#, #""code":"timeout""#, #""camera":"*""#, #""cut":true"#, #"{"type":"marker""#,
            #""state":"seeking""#, #""state":"paused""#, #""moving":""#,
            #"{"type":"lease""#, #"{"type":"lease-taken""#, #""reason":"time""#,
            #""code":"leased""#, #""reason":"home""#, #""reason":"attract""#,
        ] { #expect(lines.contains { $0.contains(wanted) }, "the simulation has no \(wanted)") }
        #expect(try Schema.complaints(lines, from: .server) == "")
        #expect(total > 3000)
    }
}
