// The names of the cameras, kept in order from change to change, so that answering needs neither sorting nor writing
// them again.

/// Names, sorted by their bytes.
struct SortedNames {
    private(set) var names: [String] = [] {
        didSet { text = nil }
    }
    /// The names as an array of JSON, once that has been asked for.
    private var text: [UInt8]?

    init() {}

    init(_ names: some Sequence<String>) { self.names = names.sorted() }

    /// The names as an array of JSON: none has a character that is escaped there.
    mutating func json() -> [UInt8] {
        if let text { return text }
        let text = Array("[\(names.map { "\"\($0)\"" }.joined(separator: ","))]".utf8)
        self.text = text
        return text
    }

    mutating func insert(_ name: String) {
        let index = index(of: name)
        if index == names.count || names[index] != name { names.insert(name, at: index) }
    }

    mutating func remove(_ name: String) {
        let index = index(of: name)
        if index < names.count, names[index] == name { names.remove(at: index) }
    }

    /// Where a name stands, or would stand.
    private func index(of name: String) -> Int {
        var (low, high) = (0, names.count)
        while low < high {
            let middle = (low + high) / 2
            if names[middle] < name { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
