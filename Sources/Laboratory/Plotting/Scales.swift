// Axis ticks at round steps, and lines with no more points than can be seen.

/// A point of the picture, in its own units.
struct Spot: Equatable {
    var x: Double
    var y: Double
}

/// The labelled values between two ends, at round steps.
struct Ticks {
    let step: Double
    let values: [Double]

    /// Chooses the finest of the steps that makes at most `count` ticks.
    init(_ range: ClosedRange<Double>, steps: [Double], atMost count: Int) {
        let span = range.upperBound - range.lowerBound
        step = steps.first { span / $0 <= Double(count) } ?? steps.last ?? 1
        let first = Int((range.lowerBound / step - 1e-9).rounded(.up))
        let last = Int((range.upperBound / step + 1e-9).rounded(.down))
        let step = step
        values = first <= last ? (first...last).map { Double($0) * step } : []
    }

    /// Returns 1, 2 and 5, multiplied by each of the powers of ten.
    static func decimal(_ powers: ClosedRange<Int>) -> [Double] {
        powers.flatMap { power -> [Double] in
            let unit = (0..<abs(power)).reduce(1.0) { unit, _ in unit * 10 }
            return [1.0, 2, 5].map { power < 0 ? $0 / unit : $0 * unit }
        }
    }

    /// Degrees of latitude and longitude, of at most seven decimals.
    static let degrees = decimal(-7...0) + [10, 15, 30, 45, 90]
    /// Degrees of a bearing.
    static let bearings = [1.0, 2, 5, 10, 15, 30, 45, 90, 180, 360, 720, 3600, 36000]
    /// Milliseconds.
    static let times =
        decimal(0...3) + [10_000, 15_000, 30_000]
        + [1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1440, 14400].map { $0 * 60_000 }
}

/// Thins lines so that they still look the same.
enum Thinning {
    /// Keeps the first, the last, the highest and the lowest of the points in each column of a width.
    static func columns(_ points: [Spot], width: Double) -> [Spot] {
        var kept: [Spot] = []
        var start = 0
        while start < points.count {
            let column = (points[start].x / width).rounded(.down)
            var end = start
            var (lowest, highest) = (start, start)
            while end < points.count, (points[end].x / width).rounded(.down) == column {
                if points[end].y < points[lowest].y { lowest = end }
                if points[end].y > points[highest].y { highest = end }
                end += 1
            }
            var last = -1
            for index in [start, min(lowest, highest), max(lowest, highest), end - 1] where index > last {
                kept.append(points[index])
                last = index
            }
            start = end
        }
        return kept
    }

    /// Drops points closer than a tolerance to the line without them. (Ramer 1972; Douglas and Peucker 1973.)
    static func line(_ points: [Spot], tolerance: Double) -> [Spot] {
        guard points.count > 2 else { return points }
        var isKept = [Bool](repeating: false, count: points.count)
        isKept[0] = true
        isKept[points.count - 1] = true
        var open = [(0, points.count - 1)]
        while let (start, end) = open.popLast() {
            var (farthest, greatest) = (start, tolerance)
            for index in start + 1..<max(end, start + 1) {
                let way = distance(points[index], points[start], points[end])
                if way > greatest { (farthest, greatest) = (index, way) }
            }
            guard farthest > start else { continue }
            isKept[farthest] = true
            open.append((start, farthest))
            open.append((farthest, end))
        }
        return points.indices.filter { isKept[$0] }.map { points[$0] }
    }

    /// Thins lines to at most `count` points in total, if a tolerance below 40 is enough for that.
    static func lines(_ lines: [[Spot]], tolerance: Double, atMost count: Int) -> [[Spot]] {
        var (lines, tolerance) = (lines, tolerance)
        repeat {
            lines = lines.map { line($0, tolerance: tolerance) }
            tolerance *= 2
        } while tolerance < 40 && lines.reduce(0) { $0 + $1.count } > count
        return lines
    }

    /// Returns the distance from a point to the nearest point of a segment.
    private static func distance(_ point: Spot, _ start: Spot, _ end: Spot) -> Double {
        let (dx, dy) = (end.x - start.x, end.y - start.y)
        let length = dx * dx + dy * dy
        let share = length > 0 ? ((point.x - start.x) * dx + (point.y - start.y) * dy) / length : 0
        let inside = min(max(share, 0), 1)
        let (x, y) = (point.x - start.x - inside * dx, point.y - start.y - inside * dy)
        return (x * x + y * y).squareRoot()
    }

    /// Merges ranges with the ones before them where the gap is too small to be seen. The ranges must be in order.
    static func joined(_ ranges: [ClosedRange<Double>], gap: Double) -> [ClosedRange<Double>] {
        ranges.reduce(into: []) { joined, range in
            if let last = joined.last, range.lowerBound - last.upperBound < gap {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
    }
}
