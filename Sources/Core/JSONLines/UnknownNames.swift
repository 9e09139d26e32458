// The unknown names in the objects of one line, so that a duplicate is found without comparing it with all earlier
// names: a client that sends many names must not make the line slow to read.

/// Which unknown names the objects of a line have.
struct UnknownNames {
    /// A name of an object, by what it hashes to.
    struct Name: Hashable {
        /// The object's node.
        var object: Int
        var hash: Int
    }

    private var names: Set<Name> = []
    /// How many each object has.
    private var counts: [Int: Int] = [:]

    /// Adds a name; says whether the object had none with its hash.
    mutating func insert(_ name: Name) -> Bool {
        counts[name.object, default: 0] += 1
        return names.insert(name).inserted
    }

    func count(of object: Int) -> Int { counts[object] ?? 0 }

    mutating func removeAll() {
        if counts.isEmpty { return }
        names.removeAll(keepingCapacity: true)
        counts.removeAll(keepingCapacity: true)
    }
}
