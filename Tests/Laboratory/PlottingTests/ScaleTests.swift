// Steps, thinned lines and numbers: the parts of a picture that can be checked by themselves.

import CameraStreams
import Foundation
import MapCamera
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
        let labels = ticks.values.map { SVG.number($0, 7) }
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

    @Test(arguments: 1...50) func labelsHideNeitherEachOtherNorMoreOfALineThanTheyMust(_ seed: UInt64) {
        var random = Seeded(seed)
        let way = Extent([MercatorPoint(x: 0, y: 0), MercatorPoint(x: 1, y: 1)]) ?? .nowhere
        let frame = MapFrame(way: way, others: [], left: 0, top: 0, width: 400)
        // A line through the middle, and spots on it.
        let line = [Spot(x: frame.left, y: frame.bottom), Spot(x: frame.right, y: frame.top)]
        var labels = Labels(on: frame, besides: [line])
        var boxes: [(x: ClosedRange<Double>, y: ClosedRange<Double>)] = []
        for index in 0..<5 {
            let share = (Double(index) + random.number(0.3...0.7)) / 5
            let spot = Spot(x: share * 400, y: frame.bottom - share * frame.height)
            let place = labels.place("\(index + 1)", beside: spot)
            let box = (x: place.x...place.x + Labels.width(of: "1"), y: place.y - 9...place.y)
            #expect(!boxes.contains { $0.x.overlaps(box.x) && $0.y.overlaps(box.y) })
            #expect(box.x.lowerBound >= 0 && box.x.upperBound <= 400 && box.y.lowerBound >= 0)
            for step in 0...400 {
                let point = Spot(x: Double(step), y: frame.bottom - Double(step) / 400 * frame.height)
                #expect(!(box.x.contains(point.x) && box.y.contains(point.y)), "seed \(seed): \(index)")
            }
            boxes.append(box)
        }
    }

    @Test func theScaleStandsInTheCornerThatIsFree() {
        let frame = MapFrame(way: .nowhere, others: [], left: 10, top: 0, width: 400)
        func corner(_ x: Double) -> Double {
            var labels = Labels(on: frame, besides: [[Spot(x: x, y: frame.bottom - 20), Spot(x: x, y: frame.bottom)]])
            return labels.keepCornerFree(100, 34)
        }
        #expect(corner(200) == frame.right - 100 && corner(50) == frame.right - 100)
        #expect(corner(frame.right - 20) == frame.left)
    }

    @Test func numbersAreShortAndTextIsEscaped() {
        #expect([1, -0.001, 0.126, 1234.5].map { SVG.number($0) } == ["1", "0", "0.13", "1234.5"])
        #expect(escapedForXML("a<b>&\"\u{1}\n") == "a&lt;b&gt;&amp;&quot;  ")
    }
}
