// Each message is described once: `describe` shows a visitor each member in the order of writing. `LineWriter` writes
// them; `RequestDecoder` reads them from a client's line, with errors that say what would be right; `AnswerReader`
// reads them from the daemon's. Tests compare the members with those of the schema.

/// A value with members.
package protocol Described {
    /// The value to decode into; a missing member keeps its value from here.
    static var blank: Self { get }

    /// Shows a visitor the members in order.
    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure)

    /// Whether the value is valid; answers from the daemon are checked, too.
    var isPossible: Bool { get }

    /// Whether the value repeats camera input: it is written with all its digits, and read as strictly as a request.
    static var isInput: Bool { get }

    /// Writes the value with the daemon's rounding; `false` if its members' rounding suffices.
    func writeRounded(to line: inout LineWriter) -> Bool
}

extension Described {
    package var isPossible: Bool { true }
    package static var isInput: Bool { false }
    package func writeRounded(to line: inout LineWriter) -> Bool { false }
}

/// Whether a member must be there.
package enum Presence {
    /// Required; the text is what an error says belongs there, in place of the rule's own hint.
    case required(String?)
    /// Optional; `nil` is omitted.
    case optional
    /// Optional; `nil` is omitted, and `null` is read as `nil`.
    case optionalOrNull
    /// Required; `nil` is written as `null`.
    case nullable
}

/// The rule for an array of objects.
package struct ListRule {
    /// What an error says belongs there.
    var wanted = "must be an array of objects"
    /// The maximum number of objects, and the error for exceeding it.
    var limit: (most: Int, error: GimbalError)?
    /// Whether the path of an error within an object includes the array.
    var isNamedWithin = true

    /// The rule for any array of objects.
    package static var objects: ListRule { ListRule() }
}

/// Visits the members of a value one by one: writes them without changing them, or reads them.
package protocol MemberVisitor: ~Copyable {
    /// The error that stops a visit; `Never` for a writer.
    associatedtype Failure: Error

    /// Visits a member that is not an object.
    mutating func scalar<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value?, _ rule: Rule, _ presence: Presence
    ) throws(Failure)

    /// Visits a member that is an object.
    ///
    /// - Parameter blank: the value to decode into.
    mutating func object<Value: Described>(
        _ field: Field, _ value: inout Value?, blank: Value, _ presence: Presence
    ) throws(Failure)

    /// Visits a member that is an array of objects.
    mutating func list<Value: Described>(
        _ field: Field, _ values: inout [Value]?, _ rule: ListRule, _ presence: Presence
    ) throws(Failure)

    /// Checks a condition on several members; a writer does nothing.
    ///
    /// - Parameter error: makes the error from the path of the value in its message.
    mutating func check(_ isRight: Bool, _ error: (FieldPath) -> GimbalError) throws(Failure)
}

extension MemberVisitor where Self: ~Copyable {
    /// Visits a required member.
    package mutating func member<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value, _ rule: Rule, hint: String? = nil
    ) throws(Failure) {
        var member: Rule.Value? = value
        try scalar(field, &member, rule, .required(hint))
        if let member { value = member }
    }

    /// Visits an optional member.
    package mutating func member<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value?, _ rule: Rule
    ) throws(Failure) { try scalar(field, &value, rule, .optional) }

    /// Visits a member that is always written but optional when read.
    package mutating func member<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value, _ rule: Rule, default usual: Rule.Value
    ) throws(Failure) {
        var member: Rule.Value? = value
        try scalar(field, &member, rule, .optional)
        value = member ?? usual
    }

    /// Visits a member that is omitted if it has its default value.
    package mutating func member<Rule: MemberRule>(
        _ field: Field, _ value: inout Rule.Value, _ rule: Rule, unless usual: Rule.Value
    ) throws(Failure) where Rule.Value: Equatable {
        var member: Rule.Value? = value == usual ? nil : value
        try scalar(field, &member, rule, .optional)
        value = member ?? usual
    }

    /// Visits a required object.
    package mutating func object<Value: Described>(
        _ field: Field, _ value: inout Value, hint: String? = nil
    ) throws(Failure) {
        var member: Value? = value
        try object(field, &member, blank: .blank, .required(hint))
        if let member { value = member }
    }

    /// Visits an optional object.
    package mutating func object<Value: Described>(
        _ field: Field, _ value: inout Value?, _ presence: Presence = .optional
    ) throws(Failure) { try object(field, &value, blank: .blank, presence) }

    /// Visits an object that is always written but optional when read.
    package mutating func object<Value: Described>(
        _ field: Field, _ value: inout Value, default usual: Value
    ) throws(Failure) {
        var member: Value? = value
        try object(field, &member, blank: .blank, .optional)
        value = member ?? usual
    }

    /// Visits a required list.
    package mutating func list<Value: Described>(_ field: Field, _ values: inout [Value]) throws(Failure) {
        var list: [Value]? = values
        try self.list(field, &list, ListRule(), .required(nil))
        if let list { values = list }
    }
}

/// The path of a field in its request, for error messages; its first fields are dropped if it has more than eight.
package struct FieldPath: CustomStringConvertible, Sendable {
    /// A byte for each field, the last one lowest: its raw value plus 1. So a path takes no allocation.
    private var bytes: UInt64 = 0

    init() {}

    init(_ field: Field) { self = FieldPath() / field }

    static func / (path: FieldPath, field: Field) -> FieldPath {
        var path = path
        path.bytes = path.bytes << 8 | UInt64(field.rawValue + 1)
        return path
    }

    package var description: String {
        let fields = (0..<8).reversed().map { Field(rawValue: UInt8(truncatingIfNeeded: bytes >> (8 * $0)) &- 1) }
        return fields.compactMap { $0?.name }.joined(separator: ".")
    }
}

/// All member names of the messages; the case names are the names, except for one that is a Swift keyword.
package enum Field: UInt8, CaseIterable, Sendable {
    // The fields of requests come first: the decoder knows only these, up to `atWallTime`. A new one goes before it.
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
    // The fields only found in answers.
    case reason, number, missed, fits, nearLeft, nearRight, farLeft, farRight
    case cameras, clients, more, user, process, role, replay, subscriptionCount, subscriptions, waits, unreadBytes
    case behind, all, isSelf
    case uptimeMs, connections, connectionsTotal, replays, lines, errors, bytesIn, bytesOut
    case rejected, frames, cut, server, line, code, field, message, state, round, markers
    case traces, wallTime, motion, request, glide, anchor, presentation
    // The fields only found at a broker.
    case follows, node, instance, generation, screens, leadMs, late, silentMs, synchronized, errorMs

    private static let names = allCases.map { $0 == .isSelf ? "self" : "\($0)" }
    package var name: String { Self.names[Int(rawValue)] }

    /// The names that the decoder knows.
    static let ofRequests = WordTable(allCases.prefix { $0.rawValue <= Self.atWallTime.rawValue }.map(\.name))

    /// The names as written at the start of a member.
    private static let openings = allCases.map { Array("\"\($0.name)\":".utf8) }
    var opening: [UInt8] { Self.openings[Int(rawValue)] }
}
