// The unknown names in the objects of one line, for finding duplicates without comparing all earlier names: a client
// that sends many names must not make the line slow to parse.

/// The unknown names in the objects of a line.
struct UnknownNames {
    /// A name in an object, identified by its hash.
    struct Name: Hashable {
        /// The object's node.
        var object: Int
        var hash: Int
    }

    private var names: Set<Name> = []
    /// The number of unknown names per object.
    private var counts: [Int: Int] = [:]

    /// Adds a name; returns whether the object had none with the same hash.
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
