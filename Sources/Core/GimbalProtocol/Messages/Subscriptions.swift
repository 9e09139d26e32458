// `subscribe` and `unsubscribe`, and the messages about the subscription itself: `subscribed`, `lagged` and `removed`
// (schema: client.subscribe, client.unsubscribe, server.subscribed, server.lagged, server.removed).

import JSONLines
import MapCamera

/// The kinds of events that a subscriber chooses from.
public enum EventKind: String, CaseIterable, Sendable, ProtocolWord {
    /// A movement begins.
    case moveStarted = "move-started"
    /// The camera is somewhere else.
    case cameraChanged = "camera-changed"
    /// The movement is over.
    case idle
    /// The camera is fed. A header says where that begins; the lines after it make the same camera. Every one of them is
    /// delivered, or missed: nothing is resent after ``CameraEvent/lagged(_:)``.
    case gesture
    /// Fingers on a surface that feeds the camera, for showing them. The ones already down come first, and again after
    /// ``CameraEvent/lagged(_:)``.
    case touch
    /// A replay on the camera pauses, goes on, seeks, changes its speed or ends.
    case replay
    /// A trace or a client sets a marker.
    case marker
    /// A client takes a lease of the camera, prolongs it, or it ends. The one that there is comes first.
    case lease
    /// Which time of the wall clock a camera's time is: at the beginning, and whenever that has changed by 1 ms.
    case clock
    /// Something begins to move a camera by itself, and all that its frames depend on, or nothing does so any more. What a replay
    /// moves is not told.
    case motion
    /// A client has told where a camera is to be at a time of the wall clock, or nothing of that waits any more.
    case present

    /// The kinds that tell what the camera does.
    public static let movements: Set<EventKind> = [.moveStarted, .cameraChanged, .idle]
}

extension EventKinds {
    /// These kinds, and what every subscriber gets.
    package init(_ kinds: Set<EventKind>) {
        self = .reset
        for kind in kinds { insert(Self(kind)) }
    }

    /// One bit for each kind, in their order; the fifth bit is that of ``reset``.
    init(_ kind: EventKind) {
        let index = EventKind.allCases.prefix { $0 != kind }.count
        self.init(rawValue: 1 << (index < 4 ? index : index + 1))
    }
}

/// The kinds of event that a subscription is for, in bits: the hub asks for each event and each subscriber.
@usableFromInline package struct EventKinds: OptionSet, Codable, Sendable {
    @usableFromInline package let rawValue: UInt16
    @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable package static var moveStarted: EventKinds { EventKinds(rawValue: 1) }
    @inlinable package static var cameraChanged: EventKinds { EventKinds(rawValue: 2) }
    @inlinable package static var idle: EventKinds { EventKinds(rawValue: 4) }
    /// The input of the camera: only for subscribers that name it.
    @inlinable package static var gesture: EventKinds { EventKinds(rawValue: 8) }
    /// Goes to every subscriber, whatever it chose.
    @inlinable package static var reset: EventKinds { EventKinds(rawValue: 16) }
    /// The state of a replay, markers, leases, clocks, motions and what is told ahead: only for subscribers that name them. They have no `seq`.
    @inlinable package static var replay: EventKinds { EventKinds(rawValue: 64) }
    @inlinable package static var marker: EventKinds { EventKinds(rawValue: 128) }
    @inlinable package static var lease: EventKinds { EventKinds(rawValue: 256) }
    @inlinable package static var clock: EventKinds { EventKinds(rawValue: 512) }
    @inlinable package static var motion: EventKinds { EventKinds(rawValue: 1024) }
    @inlinable package static var present: EventKinds { EventKinds(rawValue: 2048) }
    /// The kinds that have no `seq`, and stand in a camera's history only while a subscriber has asked for them.
    @inlinable package static var unnumbered: EventKinds { [.replay, .marker, .lease, .clock, .motion, .present] }
    /// The fingers that feed the camera: only for subscribers that name it.
    @inlinable package static var touch: EventKinds { EventKinds(rawValue: 32) }
    /// Kinds only for subscribers that name them, in a log of their own.
    @inlinable package static var inputs: EventKinds { [.gesture, .touch] }
    /// What a subscriber gets that names none.
    @inlinable package static var usual: EventKinds { [.moveStarted, .cameraChanged, .idle, .reset] }
}

/// What a subscriber that reads slowly is to get.
public enum EventDelivery: String, CaseIterable, Codable, Sendable, ProtocolWord {
    /// Each event, in order; a reader that falls behind the camera's history gets ``CameraEvent/lagged(_:)``.
    case every
    /// The newest position; older ones are skipped, and `seq` shows it.
    case latest
}

/// How far a camera's events have been read: a subscription can go on after it.
public struct ResumePoint: Equatable, Codable, Sendable {
    /// The `seq` of the last event that was read, from 0.
    public var seq: Int
    /// The epoch that it counts in.
    public var epoch: String

    /// A place in an epoch, at most 64 bytes long.
    public init(seq: Int, epoch: String) {
        self.seq = seq
        self.epoch = epoch
    }
}

/// The beginning of a subscription.
public struct Subscribed: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// Changes when the camera is made or reset; `seq` counts within it.
    public package(set) var epoch: String
    /// The `seq` of the camera's last event; 0 before the first.
    public package(set) var seq: Int
    /// Where the camera is.
    public package(set) var position: CameraPosition
}

/// A gap in a subscription.
public struct Lagged: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// How many events were missed up to now.
    public package(set) var missed: Int
    /// Where the camera is now.
    public package(set) var position: CameraPosition
    /// The `seq` of the camera's last event; `nil` from an older daemon.
    public package(set) var seq: Int?
    /// What `seq` counts in; `nil` from an older daemon.
    public package(set) var epoch: String?

    package init(camera: String, missed: Int, position: CameraPosition, seq: Int?, epoch: String?) {
        (self.camera, self.missed, self.position) = (camera, missed, position)
        (self.seq, self.epoch) = (seq, epoch)
    }
}

// MARK: Requests

extension ClientRequest {
    /// The kinds that each subscriber reads in full, of one camera.
    private static let inputKinds: Set<EventKind> = [.gesture, .touch]
    private static var inputKindsListed: String {
        listed(EventKind.allCases.filter(inputKinds.contains).map { quoted($0.rawValue) }, "or")
    }

    /// Shows a visitor what a subscription is for, to one camera or to all.
    static func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ kinds: Set<EventKind>?, _ delivery: EventDelivery?, ofAll: Bool
    ) throws(V.Failure) -> (kinds: Set<EventKind>, delivery: EventDelivery) {
        var (kinds, delivery) = (kinds ?? EventKind.movements, delivery ?? .every)
        try visitor.member(.events, &kinds, WordsRule(), unless: EventKind.movements)
        try visitor.member(.delivery, &delivery, WordRule(list: .quoted), unless: .every)
        let hasInputs = !kinds.isDisjoint(with: inputKinds)
        try visitor.check(!hasInputs || delivery != .latest) { path in
            .wrong(path / .delivery, "must be \"every\" where events has \(inputKindsListed)")
        }
        try visitor.check(!hasInputs || !ofAll) { path in
            .wrong(path / .events, "must not have \(inputKindsListed) where camera is \"*\": name each camera")
        }
        return (kinds, delivery)
    }
}

extension ResumePoint {
    /// Shows a visitor the point from which a subscription to one camera goes on.
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

    /// Shows a visitor the points of a subscription to all cameras.
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
        let hint = "since counts within the epoch that \"subscribed\" told"
        try visitor.member(.epoch, &epoch, .text(bytes: 0...RequestDecoder.longestLabel), hint: hint)
    }

    private static let wanted = "must be an array of objects with camera, seq and epoch where camera is \"*\""

    /// The point of one of several cameras.
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

    /// The line of a gap that a reader has found itself, as the daemon would tell it, without LF.
    package var line: [UInt8] {
        var line = LineWriter(capacity: 512)
        line.answer(.event(.lagged(self)), Span())
        return line.bytes.dropLast()
    }
}
