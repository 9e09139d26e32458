// The names that lines are made of, and a table that finds a name's number from its bytes.

/// Every member name that some request knows; the case's name is the member's.
enum Field: UInt8, CaseIterable, Sendable {
    case type, id, camera, timeMs, version
    case phase, gesture, focus, translation, scale, rotationDeg, velocity, x, y
    case position, target, latitude, longitude, zoom, bearing, viewingAngle
    case update, kind, amount, padding, insets, bounds, durationMs, easing
    case southWest, northEast, top, left, bottom, right
    case minZoom, maxZoom, targetBounds, viewport, width, height
    case scroll, rotate, tilt, scrollDuringRotateOrZoom, fling, inertia
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
    /// A word by its first and its last eight bytes, which for up to sixteen bytes is all of it.
    private struct Entry {
        var head: UInt64
        var tail: UInt64
        var count: Int
        /// The word's number; below 0 the entry is empty.
        var index: Int

        static let empty = Entry(head: 0, tail: 0, count: 0, index: -1)
    }

    private let words: [[UInt8]]
    /// Open addressing.
    private var entries = [Entry](repeating: .empty, count: 256)

    /// A table of at most 128 different words.
    init(_ words: [String]) {
        precondition(words.count <= 128)
        self.words = words.map { Array($0.utf8) }
        for (index, word) in self.words.enumerated() {
            let (head, tail) = Self.ends(word.span, 0, word.count)
            var slot = Self.slot(head, tail)
            while entries[slot].index >= 0 { slot = (slot + 1) & 255 }
            entries[slot] = Entry(head: head, tail: tail, count: word.count, index: index)
        }
    }

    /// The number of the word that stands in `text` from `start` to before `end`.
    @inline(__always)
    func index(of text: Span<UInt8>, _ start: Int, _ end: Int) -> Int? {
        let (head, tail) = Self.ends(text, start, end)
        var slot = Self.slot(head, tail)
        while entries[slot].index >= 0 {
            let entry = entries[slot]
            let isSame = entry.head == head && entry.tail == tail && entry.count == end - start
            if isSame, entry.count <= 16 || isEqual(words[entry.index], text, start) { return entry.index }
            slot = (slot + 1) & 255
        }
        return nil
    }

    @inline(__always)
    private static func slot(_ head: UInt64, _ tail: UInt64) -> Int {
        Int(truncatingIfNeeded: ((head ^ tail &* 31) &* 0x9e37_79b9_7f4a_7c15) >> 56)
    }

    /// The first and the last eight bytes; there is no last where the first are all.
    @inline(__always)
    private static func ends(_ text: Span<UInt8>, _ start: Int, _ end: Int) -> (UInt64, UInt64) {
        let count = end - start
        if start + 8 <= text.count {
            // Sound: all eight bytes are the text's.
            let bytes = unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self)
            if count < 8 { return (bytes & ((1 << UInt64(count * 8)) &- 1), 0) }
            if count == 8 { return (bytes, 0) }
            return (bytes, unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: end - 8, as: UInt64.self))
        }
        return (load(text, start, count), 0)
    }

    /// Fewer than eight bytes, the first one lowest: at the end of the text.
    private static func load(_ text: Span<UInt8>, _ start: Int, _ count: Int) -> UInt64 {
        var bytes: UInt64 = 0
        for index in (0..<count).reversed() { bytes = bytes << 8 | UInt64(text[start + index]) }
        return bytes
    }

    private func isEqual(_ word: [UInt8], _ text: Span<UInt8>, _ start: Int) -> Bool {
        for offset in word.indices where word[offset] != text[start + offset] { return false }
        return true
    }
}
