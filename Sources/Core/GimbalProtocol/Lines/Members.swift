// How a message is described: once. `describe` shows a visitor each member, in the order in which they are written, and the
// visitor decides what becomes of it: `LineWriter` writes it, `RequestDecoder` reads it from a client's line, with errors that
// say what would be right, `AnswerReader` reads it from the daemon's. Tests hold the members against those of the schema.

import JSONLines

/// A value that has members.
package protocol Described {
    /// What is read into: a member that is left out stays as it is here.
    static var blank: Self { get }

    /// Shows a visitor the members.
    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure)

    /// Whether it can be so: what the daemon says is not taken for granted.
    var isPossible: Bool { get }

    /// Whether it is what a camera is fed, told again: it is written with all its digits, and read as strictly as a request.
    static var isInput: Bool { get }

    /// Writes it with the daemon's rounding; `false` if that is no other than its members'.
    func writeRounded(to line: inout LineWriter) -> Bool
}

extension Described {
    package var isPossible: Bool { true }
    package static var isInput: Bool { false }
    package func writeRounded(to line: inout LineWriter) -> Bool { false }
}

/// Whether a member must be there.
package enum Presence {
    /// It must; the text is what an error says belongs there, if that is more than its kind.
    case required(String?)
    /// A value that is `nil` is left out.
    case optional
    /// As ``optional``, and `null` is read as `nil`.
    case optionalOrNull
    /// It must be there, and is `null` where the value is `nil`.
    case nullable
}

/// What an array of objects may be.
package struct ListRule {
    /// What an error says must be there.
    var wanted = "must be an array of objects"
    /// The most objects, and the error for more of them.
    var limit: (most: Int, error: WireError)?
    /// Whether an error within an object names the array, too.
    var isNamedWithin = true
}

/// What is shown the members of a value, one by one: it writes them, and leaves them as they are, or reads them.
package protocol MemberVisitor: ~Copyable {
    /// What ends it: nothing ends one that writes.
    associatedtype Failure: Error

    /// A member that is no object.
    mutating func scalar<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value?, _ rule: Rule, _ presence: Presence
    ) throws(Failure)

    /// A member that is an object.
    ///
    /// - Parameter blank: what is read into.
    mutating func object<Value: Described>(
        _ field: Field, _ value: inout Value?, blank: Value, _ presence: Presence
    ) throws(Failure)

    /// A member that is an array of objects.
    mutating func list<Value: Described>(
        _ field: Field, _ values: inout [Value]?, _ rule: ListRule, _ presence: Presence
    ) throws(Failure)

    /// What must hold of several members; one that writes does not ask.
    ///
    /// - Parameter error: the error, from where the value stands in its message.
    mutating func check(_ isRight: Bool, _ error: (FieldPath) -> WireError) throws(Failure)
}

extension MemberVisitor where Self: ~Copyable {
    /// A member that must be there.
    mutating func member<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value, _ rule: Rule, hint: String? = nil
    ) throws(Failure) {
        var member: Rule.Value? = value
        try scalar(field, &member, rule, .required(hint))
        if let member { value = member }
    }

    /// A member that may be left out.
    mutating func member<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value?, _ rule: Rule
    ) throws(Failure) { try scalar(field, &value, rule, .optional) }

    /// A member that is written always, and may be left out by others.
    mutating func member<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value, _ rule: Rule, default usual: Rule.Value
    ) throws(Failure) {
        var member: Rule.Value? = value
        try scalar(field, &member, rule, .optional)
        value = member ?? usual
    }

    /// A member that is left out where it is as usual.
    mutating func member<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value, _ rule: Rule, unless usual: Rule.Value
    ) throws(Failure) where Rule.Value: Equatable {
        var member: Rule.Value? = value == usual ? nil : value
        try scalar(field, &member, rule, .optional)
        value = member ?? usual
    }

    /// An object that must be there.
    mutating func object<Value: Described>(
        _ field: Field, _ value: inout Value, hint: String? = nil
    ) throws(Failure) {
        var member: Value? = value
        try object(field, &member, blank: .blank, .required(hint))
        if let member { value = member }
    }

    /// An object that may be left out.
    mutating func object<Value: Described>(
        _ field: Field, _ value: inout Value?, _ presence: Presence = .optional
    ) throws(Failure) { try object(field, &value, blank: .blank, presence) }

    /// An object that is written always, and may be left out by others.
    mutating func object<Value: Described>(
        _ field: Field, _ value: inout Value, default usual: Value
    ) throws(Failure) {
        var member: Value? = value
        try object(field, &member, blank: .blank, .optional)
        value = member ?? usual
    }

    /// A list that must be there.
    mutating func list<Value: Described>(_ field: Field, _ values: inout [Value]) throws(Failure) {
        var list: [Value]? = values
        try self.list(field, &list, ListRule(), .required(nil))
        if let list { values = list }
    }
}

/// Where a field stands in its request, for error messages.
package struct FieldPath: CustomStringConvertible, Sendable {
    private var fields: (Field?, Field?, Field?, Field?, Field?)

    init() {}

    init(_ field: Field) { fields = (field, nil, nil, nil, nil) }

    static func / (path: FieldPath, field: Field) -> FieldPath {
        var path = path
        if path.fields.0 == nil {
            path.fields.0 = field
        } else if path.fields.1 == nil {
            path.fields.1 = field
        } else if path.fields.2 == nil {
            path.fields.2 = field
        } else if path.fields.3 == nil {
            path.fields.3 = field
        } else {
            path.fields.4 = field
        }
        return path
    }

    package var description: String {
        [fields.0, fields.1, fields.2, fields.3, fields.4].compactMap { $0?.name }.joined(separator: ".")
    }
}

/// Every member name that some message knows; the case's name is the member's, but for one that is a word of Swift.
package enum Field: UInt8, CaseIterable, Sendable {
    // What requests have stands first: the decoder knows these alone.
    case type, id, camera, timeMs, version
    case phase, gesture, focus, translation, scale, rotationDeg, velocity, x, y
    case position, target, latitude, longitude, zoom, bearing, viewingAngle
    case update, kind, amount, padding, insets, bounds, durationMs, easing
    case southWest, northEast, top, left, bottom, right
    case minZoom, maxZoom, targetBounds, viewport, width, height
    case scroll, rotate, tilt, scrollDuringRotateOrZoom, fling, inertia
    case events, delivery, since, epoch, seq, timeoutMs, after
    case coordinate, point, speed, gestures
    case create
    case paused, fromMs, untilMs, loop, idleTimeLimitMs, pauseOnMarkers, pauseAtEnd
    case count, toMs, byMs, marker, label
    case touches, surface, cancelled, surfaceTimeMs
    case path, curve, maxDurationMs, keyframes, waitMs, turns
    case about
    case forMs, wait, lease
    case idleAction, afterMs, action, trace
    case presentAt, moving, atWallTime
    // What only answers have.
    case reason, number, missed, fits, nearLeft, nearRight, farLeft, farRight
    case cameras, clients, more, user, process, role, replay, subscriptionCount, subscriptions, waits, unreadBytes
    case behind, all, isSelf
    case uptimeMs, connections, connectionsTotal, replays, lines, errors, bytesIn, bytesOut
    case rejected, frames, cut, server, line, code, field, message, state, round, markers
    case traces, wallTime, motion, request, glide, anchor, presentation

    package var name: String { self == .isSelf ? "self" : "\(self)" }

    /// The names that the decoder knows.
    static let ofRequests = WordTable(allCases.prefix(through: .atWallTime).map(\.name))

    /// The names as they open a member.
    private static let openings = allCases.map { Array("\"\($0.name)\":".utf8) }
    var opening: [UInt8] { Self.openings[Int(rawValue)] }
}

extension [Field] {
    fileprivate func prefix(through last: Field) -> ArraySlice<Field> { prefix { $0.rawValue <= last.rawValue } }
}
