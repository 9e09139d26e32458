// Finds a word in a fixed list by its bytes: names of members, types, phases. Allocates nothing.

/// A fixed list of words, found by their bytes.
@usableFromInline package struct WordTable: Sendable {
    /// A word of up to sixteen bytes, padded with zeros.
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var head: UInt64 = 0
        @usableFromInline var tail: UInt64 = 0
        @usableFromInline var count = 0
        /// The word's index; negative for an empty entry.
        @usableFromInline var index = -1
    }

    /// The hash table, with open addressing.
    @usableFromInline var entries = [Entry](repeating: Entry(), count: 256)
    /// Words longer than sixteen bytes.
    private var long: [(word: [UInt8], index: Int)] = []
    /// The number of words.
    package let count: Int

    /// Creates a table of at most 128 different words.
    package init(_ words: [String]) {
        precondition(words.count <= 128)
        count = words.count
        for (index, word) in words.map({ Array($0.utf8) }).enumerated() {
            guard word.count <= 16 else {
                long.append((word, index))
                continue
            }
            let (head, tail) = Self.ends(word.span, 0, word.count)
            var slot = Self.slot(head, tail)
            while entries[slot].index >= 0 { slot = (slot + 1) & 255 }
            entries[slot] = Entry(head: head, tail: tail, count: word.count, index: index)
        }
    }

    /// Returns the index of the word in `text` from `start` to before `end`.
    package func index(of text: Span<UInt8>, _ start: Int, _ end: Int) -> Int? {
        guard end - start > 16 else {
            let (head, tail) = Self.ends(text, start, end)
            return index(head, tail, end - start)
        }
        return long.first { isEqual($0.word, text, start, end) }?.index
    }

    /// Returns the index and the end of the quoted word of up to fifteen bytes at `start`; `nil` also for words that
    /// need the general path.
    @inlinable @inline(__always)
    package func quoted(in text: Span<UInt8>, at start: Int) -> (index: Int, end: Int)? {
        guard start >= 0, start < text.count, text[start] == UInt8(ascii: "\"") else { return nil }
        let first = EightBytes(text, at: start &+ 1)
        var (head, tail) = (first.bits, UInt64(0))
        var bits = first.bitsBeforeQuote
        if bits < 64 {
            head &= (1 &<< UInt64(bits)) &- 1
        } else {
            let second = EightBytes(text, at: start &+ 9)
            let more = second.bitsBeforeQuote
            guard more < 64 else { return nil }
            tail = second.bits & ((1 &<< UInt64(more)) &- 1)
            bits = 64 &+ more
        }
        let count = bits / 8
        return index(head, tail, count).map { ($0, start &+ count &+ 2) }
    }

    @inlinable @inline(__always)
    func index(_ head: UInt64, _ tail: UInt64, _ count: Int) -> Int? {
        var slot = Self.slot(head, tail)
        while entries[slot].index >= 0 {
            let entry = entries[slot]
            if entry.head == head && entry.tail == tail && entry.count == count { return entry.index }
            slot = (slot &+ 1) & 255
        }
        return nil
    }

    @inlinable @inline(__always)
    static func slot(_ head: UInt64, _ tail: UInt64) -> Int {
        Int(truncatingIfNeeded: ((head ^ tail &* 31) &* 0x9e37_79b9_7f4a_7c15) &>> 56)
    }

    private static func ends(_ text: Span<UInt8>, _ start: Int, _ end: Int) -> (UInt64, UInt64) {
        let count = end - start
        let head = EightBytes(text, at: start).bits
        if count <= 8 { return (head & mask(count), 0) }
        return (head, EightBytes(text, at: start + 8).bits & mask(count - 8))
    }

    private static func mask(_ count: Int) -> UInt64 { count == 8 ? .max : (1 << UInt64(count * 8)) - 1 }

    private func isEqual(_ word: [UInt8], _ text: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
        word.count == end - start && word.indices.allSatisfy { word[$0] == text[start + $0] }
    }
}
