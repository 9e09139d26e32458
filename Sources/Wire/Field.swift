// The names that lines are made of, and a table that finds a name's number from its bytes.

/// Every member name that some request knows; the case's name is the member's.
enum Field: UInt8, CaseIterable, Sendable {
    case type, id, camera, timeMs, version
    case phase, gesture, focus, translation, scale, rotationDeg, velocity, x, y
    case position, target, latitude, longitude, zoom, bearing, viewingAngle
    case update, kind, amount, padding, insets, bounds, durationMs, easing
    case southWest, northEast, top, left, bottom, right
    case minZoom, maxZoom, targetBounds, viewport, width, height
    case scroll, rotate, tilt, scrollDuringRotateOrZoom
    case events, delivery, since, epoch
    case coordinate, point, speed, gestures

    /// A member that no request knows. It is checked as JSON and otherwise ignored.
    static let unknown: UInt8 = 63

    var name: String { "\(self)" }
    var bit: UInt64 { 1 << UInt64(rawValue) }
}

/// Where a field stands in its request, for error messages.
struct FieldPath: CustomStringConvertible, Sendable {
    private var fields: (Field?, Field?, Field?, Field?)

    init(_ field: Field) { fields = (field, nil, nil, nil) }

    static func / (path: FieldPath, field: Field) -> FieldPath {
        var path = path
        if path.fields.1 == nil {
            path.fields.1 = field
        } else if path.fields.2 == nil {
            path.fields.2 = field
        } else {
            path.fields.3 = field
        }
        return path
    }

    var description: String {
        [fields.0, fields.1, fields.2, fields.3].compactMap { $0?.name }.joined(separator: ".")
    }
}

/// Finds a word's place in a fixed list from its bytes, without allocating.
struct WordTable: Sendable {
    private struct Entry {
        var start: Int
        var count: Int
    }

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    /// Open addressing; an empty slot is 255.
    private var slots = [UInt8](repeating: 255, count: 256)

    /// A table of at most 128 different words.
    init(_ words: [String]) {
        precondition(words.count <= 128)
        for (index, word) in words.enumerated() {
            let utf8 = Array(word.utf8)
            entries.append(Entry(start: bytes.count, count: utf8.count))
            bytes += utf8
            var slot = Self.hash(utf8.span, 0, utf8.count)
            while slots[slot] != 255 { slot = (slot + 1) & 255 }
            slots[slot] = UInt8(index)
        }
    }

    private static func hash(_ text: Span<UInt8>, _ start: Int, _ end: Int) -> Int {
        guard start < end else { return 0 }
        let (first, last, middle) = (text[start], text[end - 1], text[(start + end) / 2])
        return (Int(first) &* 61 &+ Int(last) &* 13 &+ Int(middle) &* 7 &+ (end - start) &* 29) & 255
    }

    /// The number of the word that stands in `text` from `start` to before `end`.
    func index(of text: Span<UInt8>, _ start: Int, _ end: Int) -> Int? {
        var slot = Self.hash(text, start, end)
        while slots[slot] != 255 {
            let index = Int(slots[slot])
            if entries[index].count == end - start, isEqual(entries[index].start, text, start, end) { return index }
            slot = (slot + 1) & 255
        }
        return nil
    }

    private func isEqual(_ own: Int, _ text: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
        for offset in 0..<(end - start) where bytes[own + offset] != text[start + offset] { return false }
        return true
    }
}
