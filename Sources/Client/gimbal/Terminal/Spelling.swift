// Finds the words that were probably meant.

enum Spelling {
    /// Returns the candidate that was probably meant by a mistyped word: one that begins with the word, or differs from
    /// it by few letters; `nil` if none is close.
    static func closest(to word: String, among candidates: some Sequence<String>) -> String? {
        let ranked = candidates.compactMap { candidate -> (candidate: String, distance: Int)? in
            let distance = distance(word.lowercased(), candidate.lowercased())
            let isBeginning = word.count > 1 && candidate.hasPrefix(word)
            let most = max(1, min(word.count, candidate.count) / 3)
            return isBeginning || distance <= most ? (candidate, isBeginning ? min(distance, 1) : distance) : nil
        }
        return ranked.min { $0.distance < $1.distance }?.candidate
    }

    /// Returns how many letters to add, omit, change or swap with a neighbour to turn one word into the other.
    static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first), Array(second))
        var rows = [Array(0...b.count)]
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, rows[i - 1][j - 1] + 1) }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
