// Steps, thinned lines and numbers: the parts of a picture that have an answer of their own.

import CameraStreams
import Foundation
import TestSupport
import Testing

@testable import Plotting

@Suite struct ScaleTests {
    @Test(arguments: [(0.0, 0.00003), (-179.0, 180), (48.8, 48.9), (-3e-7, 3e-7)])
    func ticksAreMultiplesOfASensibleStep(_ low: Double, _ high: Double) {
        let ticks = Ticks(low...high, steps: Ticks.degrees, atMost: 6)
        #expect((1...7).contains(ticks.values.count))
        #expect(Ticks.degrees.contains(ticks.step))
        for value in ticks.values {
            #expect(value >= low - ticks.step * 1e-6 && value <= high + ticks.step * 1e-6)
            #expect(abs((value / ticks.step).rounded() - value / ticks.step) < 1e-6)
        }
        let labels = ticks.values.map { SVG.number($0, ticks.places) }
        #expect(Set(labels).count == labels.count, "\(labels)")
    }

    @Test(arguments: 1...20) func aThinnedLineStaysNearToEveryPoint(_ seed: UInt64) {
        var random = Seeded(seed)
        var points = [Spot(x: 0, y: 0)]
        for _ in 0..<400 {
            let last = points[points.count - 1]
            points.append(Spot(x: last.x + random.number(-1...2), y: last.y + random.number(-1...1)))
        }
        let thinned = Thinning.line(points, tolerance: 1)
        #expect(thinned.count < points.count)
        #expect(thinned.first == points.first && thinned.last == points.last)
        for point in points {
            let nearest = zip(thinned, thinned.dropFirst()).map { distance(point, $0, $1) }.min() ?? .infinity
            #expect(nearest <= 1 + 1e-6)
        }
    }

    private func distance(_ point: Spot, _ start: Spot, _ end: Spot) -> Double {
        let (way, length) = (hypot(end.x - start.x, end.y - start.y), hypot(point.x - start.x, point.y - start.y))
        guard way > 0 else { return length }
        let along = ((point.x - start.x) * (end.x - start.x) + (point.y - start.y) * (end.y - start.y)) / way
        if along < 0 { return length }
        if along > way { return hypot(point.x - end.x, point.y - end.y) }
        return max(length * length - along * along, 0).squareRoot()
    }

    @Test(arguments: 1...20) func aColumnKeepsItsHighestAndLowest(_ seed: UInt64) {
        var random = Seeded(seed)
        let points = (0..<1000).map { Spot(x: Double($0) / 100, y: random.number(0...1)) }
        let kept = Thinning.columns(points, width: 1)
        #expect(kept.count <= 4 * 10)
        for column in 0..<10 {
            func ends(_ points: [Spot]) -> [Double?] {
                let values = points.filter { Int($0.x) == column }.map(\.y)
                return [values.first, values.min(), values.max(), values.last]
            }
            #expect(ends(kept) == ends(points))
        }
    }

    @Test func numbersAreShortAndTextIsEscaped() {
        #expect([1, -0.001, 0.126, 1234.5].map { SVG.number($0) } == ["1", "0", "0.13", "1234.5"])
        #expect(escapedForXML("a<b>&\"\u{1}\n") == "a&lt;b&gt;&amp;&quot;  ")
    }
}
