// Words that stand for values, found by their bytes: types, phases, kinds, easings. The values come with their words from
// the type that they are of, so no number depends on the order of a list elsewhere.

import JSONLines

struct Words<Value: Sendable>: Sendable {
    let table: WordTable
    private let values: [Value]
    /// All of them, as an error says what would be right.
    let alternatives: String

    /// - Parameter inQuotes: whether an error has them in quotes.
    init(_ values: [Value], inQuotes: Bool = false, _ word: (Value) -> String) {
        let words = values.map(word)
        table = WordTable(words)
        self.values = values
        alternatives = listed(inQuotes ? words.map(quoted) : words, "or")
    }

    subscript(number: Int) -> Value { values[number] }
}

/// Words as a sentence lists them: a, b and c.
package func listed(_ words: [String], _ conjunction: String) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return "\(words.dropLast().joined(separator: ", ")) \(conjunction) \(last)"
}

func quoted(_ word: String) -> String { "\"\(word)\"" }
