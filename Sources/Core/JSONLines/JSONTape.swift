// Strict JSON (RFC 8259) of one line, parsed into a flat list of nodes that is reused for each line: only unusual names
// allocate. Stricter than most parsers: duplicate keys, lone surrogates and bad UTF-8 are errors. It knows no messages:
// its creator lists the member names that get numbers.

/// The values of one line.
@usableFromInline @safe package struct JSONTape: ~Copyable {
    @usableFromInline package enum Kind: UInt8, Sendable {
        case null, `false`, `true`, number, string, object, array
    }

    @usableFromInline package struct Node: Sendable {
        @usableFromInline package var kind: Kind
        /// The number of a known name, or ``JSONTape/unknownName``.
        @usableFromInline package var field: UInt8
        /// Whether a string's text has escapes.
        @usableFromInline package var isEscaped = false
        /// The value as written; a string without its quotes.
        @usableFromInline package var text: ByteRange
        /// The node after this one and its contents. While an object or an array is open, its container.
        @usableFromInline package var next: Int32
        /// A number's value, or the bits of the known names in an object.
        @usableFromInline package var payload: UInt64 = 0

        @inlinable package var number: Double { Double(bitPattern: payload) }
    }

    package static let deepest = 32
    package static let mostMembers = 4096
    static let mostUnknown = 256

    /// The number that stands for any unknown name. Members with one are checked as JSON and otherwise ignored.
    package static let unknownName: UInt8 = 127
    /// Names below this number have a bit each; the others share this one.
    @inlinable static var sharedBit: UInt8 { 63 }

    // Sound: `base` has room for `mostMembers` nodes and the one being read, of which the first `count` are initialized
    // (nodes are trivial), and is freed only here. Access to nodes from outside is checked; the links between nodes
    // stay below `count`.
    @usableFromInline let base = UnsafeMutablePointer<Node>.allocate(capacity: Self.mostMembers + 1)
    @usableFromInline var count = 0
    private let names: WordTable

    /// The unknown names in each object of the line, without escapes, to find duplicates: a client that sends many must
    /// not make the line slow to parse.
    private var unknownNames: [Int: Set<[UInt8]>] = [:]

    /// Creates a tape that numbers members with these names: at most 127, the first 63 with the fastest lookup.
    package init(names: WordTable) {
        precondition(names.count <= Int(Self.unknownName), "too many names for a member's number")
        self.names = names
    }

    deinit { unsafe base.deallocate() }

    /// A node. The contents of an object or an array follow it.
    @inlinable @inline(__always)
    package internal(set) subscript(index: Int) -> Node {
        get {
            precondition(index >= 0 && index < count)
            return unsafe base[index]
        }
        @inline(__always)
        set {
            precondition(index >= 0 && index < count)
            unsafe base[index] = newValue
        }
    }

    /// Returns the node of an object's member, by the number of its name.
    @inlinable @inline(__always)
    package func child(of object: Int, name: UInt8) -> Int? {
        // Other nodes use the payload for something else.
        guard self[object].kind == .object, self[object].payload & Self.bit(name) != 0 else { return nil }
        return name < Self.sharedBit ? member(of: object, name: name) : rareMember(of: object, name: name)
    }

    @inlinable @inline(__always)
    static func bit(_ name: UInt8) -> UInt64 { 1 &<< UInt64(min(name, sharedBit)) }

    @usableFromInline
    func member(of object: Int, name: UInt8) -> Int {
        // Sound: the name's bit says that a member before `count` has the name.
        var member = unsafe base + object + 1
        while unsafe member.pointee.field != name { unsafe member = base + Int(member.pointee.next) }
        return unsafe member - base
    }

    /// Returns the node of a member whose name shares its bit. While the object is open, its members end with the tape.
    @usableFromInline
    func rareMember(of object: Int, name: UInt8) -> Int? {
        let end = Int(self[object].next) > object ? Int(self[object].next) : count
        var member = object + 1
        while member < end {
            if self[member].field == name { return member }
            member = Int(self[member].next)
        }
        return nil
    }

    /// Returns the number of values in an object or an array.
    package func count(of node: Int) -> Int {
        var (count, inner) = (0, node + 1)
        while inner < Int(self[node].next) {
            count += 1
            inner = Int(self[inner].next)
        }
        return count
    }

    /// Parses a line; its value is then node 0.
    package mutating func read(_ line: Span<UInt8>) throws(JSONError) {
        count = 0
        if !unknownNames.isEmpty { unknownNames.removeAll(keepingCapacity: true) }
        var position = JSONText.skipSpace(line, 0)
        // The innermost open object or array.
        var (open, isObject, depth) = (-1, false, 0)
        values: while true {
            if isObject { position = try name(of: open, line, position) } else { setName(Self.unknownName) }
            guard position < line.count else { throw JSONText.broken("a value is missing", at: position) }
            let byte = line[position]
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                isObject = byte == UInt8(ascii: "{")
                open = try begin(isObject ? .object : .array, in: open, depth, at: position)
                depth += 1
                position = JSONText.skipSpace(line, position &+ 1)
                let isEmpty =
                    position < line.count && line[position] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
                guard isEmpty else { continue }
            } else {
                position = try scalar(in: open, line, position)
            }
            while open >= 0 {
                position = JSONText.skipSpace(line, position)
                guard position < line.count else {
                    throw JSONText.broken(isObject ? "'}' is missing" : "']' is missing", at: position)
                }
                switch line[position] {
                case UInt8(ascii: ","):
                    position = JSONText.skipSpace(line, position &+ 1)
                    continue values
                case isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"):
                    position &+= 1
                    open = end(open, at: position)
                    isObject = open >= 0 && self[open].kind == .object
                    depth -= 1
                default:
                    throw JSONText.broken(
                        isObject ? "',' or '}' was expected" : "',' or ']' was expected", at: position)
                }
            }
            break
        }
        position = JSONText.skipSpace(line, position)
        if position < line.count { throw JSONText.broken("nothing may follow the value", at: position) }
    }

    // MARK: Values

    /// Stores the node being read.
    @inline(__always)
    private mutating func append(
        _ kind: Kind, _ text: ByteRange, isEscaped: Bool = false, next: Int, payload: UInt64 = 0
    ) throws(JSONError) {
        guard count < Self.mostMembers else {
            throw JSONError(
                .limitReached,
                "a line may have at most \(Self.mostMembers) values: members of objects and elements of arrays")
        }
        let node = unsafe base + count
        unsafe node.pointee.kind = kind
        unsafe node.pointee.isEscaped = isEscaped
        unsafe node.pointee.text = text
        unsafe node.pointee.next = Int32(truncatingIfNeeded: next)
        unsafe node.pointee.payload = payload
        count &+= 1
    }

    /// Opens an object or an array; returns its node.
    @inline(__always)
    private mutating func begin(
        _ kind: Kind, in open: Int, _ depth: Int, at position: Int
    ) throws(JSONError) -> Int {
        guard depth < Self.deepest else {
            throw JSONError(.limitReached, "values may be nested at most \(Self.deepest) levels deep")
        }
        try append(kind, ByteRange(position, position), next: open)
        return count - 1
    }

    /// Closes an object or an array; returns its container.
    @inline(__always)
    private mutating func end(_ index: Int, at position: Int) -> Int {
        let outer = Int(self[index].next)
        self[index].text.end = Int32(truncatingIfNeeded: position)
        self[index].next = Int32(truncatingIfNeeded: count)
        return outer
    }

    /// Reads a scalar; returns its end.
    @inline(__always)
    private mutating func scalar(in open: Int, _ line: Span<UInt8>, _ start: Int) throws(JSONError) -> Int {
        let (kind, end): (Kind, Int)
        var (text, isEscaped, payload) = (ByteRange(0, 0), false, UInt64(0))
        switch line[start] {
        case UInt8(ascii: "\""):
            kind = .string
            (text, isEscaped, end) = try JSONText.string(line, start)
        case UInt8(ascii: "t"): (kind, end) = (.true, try JSONText.literal(line, start, "true"))
        case UInt8(ascii: "f"): (kind, end) = (.false, try JSONText.literal(line, start, "false"))
        case UInt8(ascii: "n"): (kind, end) = (.null, try JSONText.literal(line, start, "null"))
        default:
            kind = .number
            let value: Double
            (value, end) = try JSONText.number(line, start)
            payload = value.bitPattern
        }
        if kind != .string { text = ByteRange(start, end) }
        if keepsScalars(open) { try append(kind, text, isEscaped: isEscaped, next: count &+ 1, payload: payload) }
        return end
    }

    /// Whether to store scalars; in ignored arrays they are only checked.
    private func keepsScalars(_ open: Int) -> Bool {
        open <= 0 || self[open].kind == .object || self[open].field != Self.unknownName
    }

    // MARK: Names

    /// Names the node being read.
    @inline(__always)
    private mutating func setName(_ field: UInt8) { unsafe (base + count).pointee.field = field }

    /// Reads a member's name and colon; returns the start of the value.
    @inline(__always)
    private mutating func name(of object: Int, _ line: Span<UInt8>, _ start: Int) throws(JSONError) -> Int {
        var end: Int
        if let known = names.quoted(in: line, at: start) {
            try note(known.index, of: object, line, at: start)
            setName(UInt8(truncatingIfNeeded: known.index))
            end = known.end
        } else {
            end = try unusualName(of: object, line, start)
        }
        end = JSONText.skipSpace(line, end)
        guard end < line.count, line[end] == UInt8(ascii: ":") else {
            throw JSONText.broken("':' was expected after a member's name", at: end)
        }
        return JSONText.skipSpace(line, end &+ 1)
    }

    /// Records that an object has a field.
    @inline(__always)
    private mutating func note(
        _ field: Int, of object: Int, _ line: Span<UInt8>, at start: Int
    ) throws(JSONError) {
        let name = UInt8(truncatingIfNeeded: field)
        let bit = Self.bit(name)
        if self[object].payload & bit != 0, name < Self.sharedBit || rareMember(of: object, name: name) != nil {
            throw duplicate(line, at: start)
        }
        self[object].payload |= bit
    }

    /// Reads a name that is unknown, long, escaped or missing.
    @inline(never)
    private mutating func unusualName(of object: Int, _ line: Span<UInt8>, _ start: Int) throws(JSONError) -> Int {
        guard start < line.count, line[start] == UInt8(ascii: "\"") else {
            throw JSONText.broken("a member's name in double quotes was expected", at: start)
        }
        let (slice, _, end) = try JSONText.string(line, start)
        let name = JSONText.unescape(line, slice)
        if let known = names.index(of: name.span, 0, name.count) {
            try note(known, of: object, line, at: start)
            setName(UInt8(truncatingIfNeeded: known))
        } else {
            let isNew = unknownNames[object, default: []].insert(name).inserted
            guard isNew else { throw duplicate(line, at: start) }
            guard unknownNames[object, default: []].count <= Self.mostUnknown else {
                throw JSONError(.limitReached, "an object may have at most \(Self.mostUnknown) unknown members")
            }
            setName(Self.unknownName)
        }
        return end
    }

    @inline(never)
    private func duplicate(_ line: Span<UInt8>, at start: Int) -> JSONError {
        let name = (try? JSONText.string(line, start)).map { JSONText.text(line, $0.text) } ?? ""
        return JSONText.broken("the name \"\(name)\" appears twice in one object", at: start)
    }
}
