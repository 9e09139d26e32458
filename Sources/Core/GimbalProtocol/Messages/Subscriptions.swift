// `subscribe` and `unsubscribe`, and the messages about a subscription: `subscribed`, `lagged` and `removed`
// (schema: client.subscribe, client.unsubscribe, server.subscribed, server.lagged, server.removed).

import MapCamera

/// The kinds of events from which a subscriber chooses.
public enum EventKind: String, CaseIterable, Sendable, ProtocolWord {
    /// A movement begins.
    case moveStarted = "move-started"
    /// The camera has moved.
    case cameraChanged = "camera-changed"
    /// The camera is at rest.
    case idle
    /// The camera's input: a header with its current state, then lines that make the same camera. Nothing is resent
    /// after ``CameraEvent/lagged(_:)``.
    case gesture
    /// Fingers on a surface that feeds the camera, for displaying them. Those already down are sent first, and again
    /// after ``CameraEvent/lagged(_:)``.
    case touch
    /// A replay on the camera pauses, resumes, seeks, changes its speed or ends.
    case replay
    /// A trace or a client sets a marker.
    case marker
    /// A client takes or prolongs a lease of the camera, or the lease ends. A current lease is sent first.
    case lease
    /// Relates the camera's clock to the wall clock: at the beginning, and whenever the relation has changed by 1 ms.
    case clock
    /// A motion begins, with everything that its frames depend on, or ends. Motions of replays are not reported.
    case motion
    /// A client has sent a position for a time of the wall clock, or all such positions are void.
    case present

    /// The kinds that report movements.
    public static let movements: Set<EventKind> = [.moveStarted, .cameraChanged, .idle]
}

extension EventKinds {
    /// Creates a set of these kinds and of the events that every subscriber gets.
    package init(_ kinds: Set<EventKind>) {
        self = .reset
        for kind in kinds { insert(Self(kind)) }
    }

    /// Creates a set of one kind. Kinds have a bit each, in their order, but for the fifth bit, which is ``reset``.
    init(_ kind: EventKind) {
        let index = EventKind.allCases.prefix { $0 != kind }.count
        self.init(rawValue: 1 << (index < 4 ? index : index + 1))
    }
}

/// The kinds of events of a subscription, as bits: the hub tests them for each event and each subscriber.
@usableFromInline package struct EventKinds: OptionSet, Codable, Sendable {
    @usableFromInline package let rawValue: UInt16
    @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable package static var moveStarted: EventKinds { EventKinds(rawValue: 1) }
    @inlinable package static var cameraChanged: EventKinds { EventKinds(rawValue: 2) }
    @inlinable package static var idle: EventKinds { EventKinds(rawValue: 4) }
    /// The camera's input: only for subscribers that name this kind.
    @inlinable package static var gesture: EventKinds { EventKinds(rawValue: 8) }
    /// Sent to every subscriber, whatever it chose.
    @inlinable package static var reset: EventKinds { EventKinds(rawValue: 16) }
    /// The fingers that feed the camera: only for subscribers that name this kind.
    @inlinable package static var touch: EventKinds { EventKinds(rawValue: 32) }
    /// Replays, markers, leases, clocks, motions and positions ahead of their time: only for subscribers that name the
    /// kind. They have no `seq`.
    @inlinable package static var replay: EventKinds { EventKinds(rawValue: 64) }
    @inlinable package static var marker: EventKinds { EventKinds(rawValue: 128) }
    @inlinable package static var lease: EventKinds { EventKinds(rawValue: 256) }
    @inlinable package static var clock: EventKinds { EventKinds(rawValue: 512) }
    @inlinable package static var motion: EventKinds { EventKinds(rawValue: 1024) }
    @inlinable package static var present: EventKinds { EventKinds(rawValue: 2048) }
    /// The kinds without a `seq`, which are in a camera's history only while a subscriber has asked for them.
    @inlinable package static var unnumbered: EventKinds {
        EventKinds(rawValue: .max).subtracting(usual).subtracting(inputs)
    }
    /// The kinds that have a log of their own.
    @inlinable package static var inputs: EventKinds { [.gesture, .touch] }
    /// The kinds for a subscriber that names none.
    @inlinable package static var usual: EventKinds { [.moveStarted, .cameraChanged, .idle, .reset] }
}

/// What a subscriber that reads slowly gets.
public enum EventDelivery: String, CaseIterable, Codable, Sendable, ProtocolWord {
    /// Every event, in order; a subscriber that falls behind the camera's history gets ``CameraEvent/lagged(_:)``.
    case every
    /// The newest position; older ones are skipped, which leaves gaps in `seq`.
    case latest
}

/// How far a camera's events have been read, so that a subscription can resume after it.
public struct ResumePoint: Equatable, Codable, Sendable {
    /// The `seq` of the last event that was read; 0 if none was.
    public var seq: Int
    /// The epoch of that `seq`.
    public var epoch: String

    /// Creates a point in an epoch, whose name has at most 64 bytes.
    public init(seq: Int, epoch: String) {
        self.seq = seq
        self.epoch = epoch
    }
}

/// The beginning of a subscription.
public struct Subscribed: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// The epoch of `seq`. It changes when the camera is created or reset.
    public package(set) var epoch: String
    /// The `seq` of the camera's last event; 0 before the first.
    public package(set) var seq: Int
    /// The camera's position.
    public package(set) var position: CameraPosition
}

/// A gap in a subscription.
public struct Lagged: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// The number of events that were missed.
    public package(set) var missed: Int
    /// The camera's current position.
    public package(set) var position: CameraPosition
    /// The `seq` of the camera's last event; `nil` from an older daemon.
    public package(set) var seq: Int?
    /// The epoch of `seq`; `nil` from an older daemon.
    public package(set) var epoch: String?

    package init(camera: String, missed: Int, position: CameraPosition, seq: Int?, epoch: String?) {
        (self.camera, self.missed, self.position) = (camera, missed, position)
        (self.seq, self.epoch) = (seq, epoch)
    }
}

// MARK: Requests

extension ClientRequest {
    /// The kinds that cannot be skipped, or subscribed to for all cameras.
    private static let inputKinds: Set<EventKind> = [.gesture, .touch]
    private static var inputKindsListed: String {
        listed(EventKind.allCases.filter(inputKinds.contains).map { quoted($0.rawValue) }, "or")
    }

    /// Shows a visitor the kinds and the delivery of a subscription to one camera or all.
    static func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ kinds: Set<EventKind>?, _ delivery: EventDelivery?, ofAll: Bool
    ) throws(V.Failure) -> (kinds: Set<EventKind>, delivery: EventDelivery) {
        var (kinds, delivery) = (kinds ?? EventKind.movements, delivery ?? .every)
        try visitor.member(.events, &kinds, WordsRule(), unless: EventKind.movements)
        try visitor.member(.delivery, &delivery, WordRule(isQuoted: true), unless: .every)
        let hasInputs = !kinds.isDisjoint(with: inputKinds)
        try visitor.check(!hasInputs || delivery != .latest) { path in
            .wrong(path / .delivery, "must be \"every\" if events has \(inputKindsListed)")
        }
        try visitor.check(!hasInputs || !ofAll) { path in
            .wrong(path / .events, "must not have \(inputKindsListed) if camera is \"*\": name each camera")
        }
        return (kinds, delivery)
    }
}

extension ResumePoint {
    /// Shows a visitor the point after which a subscription to one camera resumes.
    static func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ point: inout ResumePoint?
    ) throws(V.Failure) {
        var (seq, epoch) = (point?.seq, point?.epoch ?? "")
        try visitor.member(.since, &seq, .seq)
        point = nil
        guard let seq else { return }
        try describeEpoch(&visitor, &epoch)
        point = ResumePoint(seq: seq, epoch: epoch)
    }

    /// Shows a visitor the resume points of a subscription to all cameras.
    static func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ points: inout [String: ResumePoint]
    ) throws(V.Failure) {
        var list: [OfCamera]? =
            points.isEmpty ? nil : points.sorted { $0.key < $1.key }.map { OfCamera(camera: $0, point: $1) }
        let rule = ListRule(wanted: wanted, isNamedWithin: false)
        try visitor.list(.since, &list, rule, .optional)
        points = Dictionary((list ?? []).map { ($0.camera, $0.point) }) { $1 }
    }

    fileprivate static func describeEpoch<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ epoch: inout String
    ) throws(V.Failure) {
        let hint = "it is the epoch in which since was read, as in \"subscribed\""
        try visitor.member(.epoch, &epoch, .text(bytes: 0...RequestDecoder.longestLabel), hint: hint)
    }

    private static let wanted = "must be an array of objects with camera, seq and epoch if camera is \"*\""

    /// The resume point of one of several cameras.
    private struct OfCamera: Described {
        var camera: String
        var point: ResumePoint

        static let blank = OfCamera(camera: "", point: ResumePoint(seq: 0, epoch: ""))

        mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
            var (name, seq): (String?, Int?) = (camera, point.seq)
            try visitor.member(.camera, &name, .cameraName)
            try visitor.member(.seq, &seq, .seq)
            try visitor.check(name != nil && seq != nil) { path in .wrong(path / .since, ResumePoint.wanted) }
            (camera, point.seq) = (name ?? camera, seq ?? point.seq)
            try ResumePoint.describeEpoch(&visitor, &point.epoch)
        }
    }
}

// MARK: Answers

extension Subscribed: Described {
    package static let blank = Subscribed(camera: "", epoch: "", seq: 0, position: .blank)

    package init(camera: String, epoch: String, seq: UInt64, position: CameraPosition) {
        (self.camera, self.epoch, self.seq, self.position) = (camera, epoch, Int(clamping: seq), position)
    }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.epoch, &epoch, .text())
        try visitor.member(.seq, &seq, .seq)
        try visitor.object(.position, &position)
    }
}

extension Lagged: Described {
    package static let blank = Lagged(camera: "", missed: 0, position: .blank, seq: nil, epoch: nil)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.missed, &missed, .count)
        try visitor.object(.position, &position)
        try visitor.member(.seq, &seq, .seq)
        try visitor.member(.epoch, &epoch, .text())
    }

    /// The line that the daemon would send for a gap that a client has found itself, without LF.
    package var line: [UInt8] {
        var line = LineWriter(capacity: 512)
        line.answer(.event(.lagged(self)), Span())
        return line.bytes.dropLast()
    }
}
