// Places the map's numbers beside what they label, where they hide as little as possible.

/// Texts beside spots of the map.
struct Labels {
    private struct Box {
        let x: ClosedRange<Double>
        let y: ClosedRange<Double>

        func overlaps(_ other: Box) -> Bool { x.overlaps(other.x) && y.overlaps(other.y) }
        func contains(_ spot: Spot) -> Bool { x.contains(spot.x) && y.contains(spot.y) }
    }

    private let frame: MapFrame
    /// Spots of lines and dots, close enough to each other that no label fits between.
    private let busy: [Spot]
    private var taken: [Box] = []

    /// The mean width of a letter, and the height of a line.
    private static let (letter, height) = (8.0, 13.0)

    static func width(of text: String) -> Double { letter * Double(text.count) }

    /// - Parameter lines: the lines that should stay visible.
    init(on frame: MapFrame, besides lines: [[Spot]]) {
        self.frame = frame
        busy = lines.flatMap { line in
            zip(line, line.dropFirst()).flatMap { start, end in
                let length = max(abs(end.x - start.x), abs(end.y - start.y))
                let count = max(Int(length / 5), 1)
                return (0...count).map { step in
                    let share = Double(step) / Double(count)
                    return Spot(x: start.x + share * (end.x - start.x), y: start.y + share * (end.y - start.y))
                }
            } + line.prefix(1)
        }
    }

    /// Keeps a rectangle free.
    mutating func keepFree(_ x: ClosedRange<Double>, _ y: ClosedRange<Double>) { taken.append(Box(x: x, y: y)) }

    /// Keeps a corner at the bottom free: the right one, unless the left one hides less.
    ///
    /// - Returns: the corner's left edge.
    mutating func keepCornerFree(_ width: Double, _ height: Double) -> Double {
        let corners = [frame.right - width, frame.left].map { left in
            (left: left, box: Box(x: left...left + width, y: frame.bottom - height...frame.bottom))
        }
        let hidden = corners.map { corner in busy.count(where: corner.box.contains) }
        let best = corners[hidden[1] < hidden[0] ? 1 : 0]
        taken.append(best.box)
        return best.left
    }

    /// Places a text beside a spot: to its upper right, unless it hides less elsewhere. Returns where the text begins.
    mutating func place(_ text: String, beside spot: Spot) -> Spot {
        let width = Self.width(of: text)
        let (right, left, over, under) = (spot.x + 7, spot.x - 7 - width, spot.y - 6, spot.y + 6 + Self.height - 3)
        let places = [
            (right, over), (left, over), (right, under), (left, under), (right, spot.y + 4.5), (left, spot.y + 4.5),
            (spot.x - width / 2, over - 3), (spot.x - width / 2, under + 2),
        ].map { Spot(x: $0.0, y: $0.1) }
        func box(_ place: Spot) -> Box {
            Box(x: place.x...place.x + width, y: place.y - Self.height + 2...place.y + 2)
        }
        func hidden(_ place: Spot) -> Int {
            let box = box(place)
            let isInside =
                box.x.lowerBound >= frame.left && box.x.upperBound <= frame.right
                && box.y.lowerBound >= frame.top && box.y.upperBound <= frame.bottom
            return busy.count(where: box.contains) + 100 * taken.count(where: box.overlaps) + (isInside ? 0 : 1000)
        }
        let best = places.map { ($0, hidden($0)) }.min { $0.1 < $1.1 }?.0 ?? spot
        taken.append(box(best))
        return best
    }
}
