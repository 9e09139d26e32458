// Words that stand for values, found by their bytes: the types of requests. The values come with their words from the type
// that they are of, so no number depends on the order of a list elsewhere.

import JSONLines

struct Words<Value: Sendable>: Sendable {
    let table: WordTable
    private let values: [Value]

    init(_ values: [Value], _ word: (Value) -> String) {
        table = WordTable(values.map(word))
        self.values = values
    }

    subscript(number: Int) -> Value { values[number] }
}
