// `subscribe` and `unsubscribe`, and the messages about the subscription itself: `subscribed`, `lagged` and `removed`
// (schema: client.subscribe, client.unsubscribe, server.subscribed, server.lagged, server.removed).

import JSONLines
import MapCamera

// MARK: Types

/// The kinds of events that a subscriber chooses from.
public enum EventKind: String, CaseIterable, Sendable {
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

    /// The kinds that tell what the camera does.
    public static let movements: Set<EventKind> = [.moveStarted, .cameraChanged, .idle]
}

extension EventKinds {
    /// These kinds, and what every subscriber gets.
    package init(_ kinds: Set<EventKind>) {
        self = .reset
        for kind in kinds { insert(Self(kind)) }
    }

    init(_ kind: EventKind) {
        self =
            switch kind {
            case .moveStarted: .moveStarted
            case .cameraChanged: .cameraChanged
            case .idle: .idle
            case .gesture: .gesture
            case .replay: .replay
            case .marker: .marker
            case .touch: .touch
            }
    }
}

/// The kinds of event that a subscription is for, in bits: the hub asks for each event and each subscriber.
@usableFromInline package struct EventKinds: OptionSet, Codable, Sendable {
    @usableFromInline package let rawValue: UInt8
    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable package static var moveStarted: EventKinds { EventKinds(rawValue: 1) }
    @inlinable package static var cameraChanged: EventKinds { EventKinds(rawValue: 2) }
    @inlinable package static var idle: EventKinds { EventKinds(rawValue: 4) }
    /// The input of the camera: only for subscribers that name it.
    @inlinable package static var gesture: EventKinds { EventKinds(rawValue: 8) }
    /// Goes to every subscriber, whatever it chose.
    @inlinable package static var reset: EventKinds { EventKinds(rawValue: 16) }
    /// The state of a replay, and markers: only for subscribers that name them. They have no `seq`.
    @inlinable package static var replay: EventKinds { EventKinds(rawValue: 64) }
    @inlinable package static var marker: EventKinds { EventKinds(rawValue: 128) }
    /// The kinds that have no `seq`, and stand in a camera's history only while a subscriber has asked for them.
    @inlinable package static var unnumbered: EventKinds { [.replay, .marker] }
    /// The fingers that feed the camera: only for subscribers that name it.
    @inlinable package static var touch: EventKinds { EventKinds(rawValue: 32) }
    /// Kinds only for subscribers that name them, in a log of their own.
    @inlinable package static var inputs: EventKinds { [.gesture, .touch] }
    /// What a subscriber gets that names none.
    @inlinable package static var usual: EventKinds { [.moveStarted, .cameraChanged, .idle, .reset] }
}

/// What a subscriber that reads slowly is to get.
public enum EventDelivery: String, CaseIterable, Codable, Sendable {
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

package struct Subscribe: Codable, Sendable {
    package typealias Delivery = EventDelivery

    package var events: EventKinds = .usual
    package var delivery = EventDelivery.every
    /// Resend what came after this event of this epoch.
    package var since: ResumePoint?

    package init(_ events: EventKinds = .usual, _ delivery: EventDelivery = .every, since: ResumePoint? = nil) {
        (self.events, self.delivery, self.since) = (events, delivery, since)
    }
}

/// The beginning of a subscription.
public struct Subscribed: Equatable, Sendable {
    /// The camera's name.
    public let camera: String
    /// Changes when the camera is made or reset; `seq` counts within it.
    public let epoch: String
    /// The `seq` of the camera's last event; 0 before the first.
    public let seq: Int
    /// Where the camera is.
    public let position: CameraPosition
}

/// A gap in a subscription.
public struct Lagged: Equatable, Sendable {
    /// The camera's name.
    public let camera: String
    /// How many events were missed up to now.
    public let missed: Int
    /// Where the camera is now.
    public let position: CameraPosition
    /// The `seq` of the camera's last event; `nil` from an older daemon.
    public let seq: Int?
    /// What `seq` counts in; `nil` from an older daemon.
    public let epoch: String?
}

// MARK: Requests in

extension RequestDecoder {
    static let eventKinds = Words(EventKind.allCases, \.rawValue)
    static let deliveries = Words(EventDelivery.allCases, inQuotes: true, \.rawValue)

    /// The kinds that each subscriber reads in full, of one camera.
    private static var inputKinds: String {
        let kinds = EventKind.allCases.filter { EventKinds.inputs.contains(EventKinds($0)) }
        return listed(kinds.map { quoted($0.rawValue) }, "or")
    }

    func subscribe(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Subscribe {
        var subscribe = try wanted(object, line)
        if let node = child(object, .since) {
            subscribe.since = ResumePoint(seq: try seq(node, line, .since), epoch: try epoch(object, line))
        }
        return subscribe
    }

    /// The wanted kinds and delivery, of whatever cameras.
    private func wanted(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Subscribe {
        var subscribe = Subscribe()
        if let node = child(object, .events) { subscribe.events = try events(node, line) }
        subscribe.delivery = try word(object, .delivery, Self.deliveries, line) ?? .every
        if subscribe.delivery == .latest, !subscribe.events.isDisjoint(with: .inputs) {
            throw .wrong(FieldPath(.delivery), "must be \"every\" where events has \(Self.inputKinds)")
        }
        return subscribe
    }

    private func seq(_ node: Int, _ line: Span<UInt8>, _ field: Field) throws(WireError) -> Int {
        guard let seq = integer(node, line), seq >= 0 else {
            throw .wrong(FieldPath(field), "must be a seq: an integer from 0 to 2^53 - 1")
        }
        return Int(seq)
    }

    /// A subscription to all cameras.
    mutating func subscribeAll(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Request.Body {
        let subscribe = try wanted(object, line)
        if !subscribe.events.isDisjoint(with: .inputs) {
            throw .wrong(
                FieldPath(.events), "must not have \(Self.inputKinds) where camera is \"*\": name each camera")
        }
        var points: [CameraResumePoint] = []
        if let array = child(object, .since) {
            func wrong() -> WireError {
                .wrong(
                    FieldPath(.since), "must be an array of objects with camera, seq and epoch where camera is \"*\"")
            }
            guard tape[array].kind == .array else { throw wrong() }
            var index = array + 1
            while index < Int(tape[array].next) {
                guard tape[index].kind == .object, let name = try cameraName(index, line),
                    let node = child(index, .seq)
                else { throw wrong() }
                let point = ResumePoint(seq: try seq(node, line, .seq), epoch: try epoch(index, line))
                points.append(CameraResumePoint(camera: name, point: point))
                index = Int(tape[index].next)
            }
        }
        return .subscribeAll(subscribe, since: points)
    }

    private func epoch(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> String {
        guard let node = child(object, .epoch) else {
            throw .missing(FieldPath(.epoch), "since counts within the epoch that \"subscribed\" told")
        }
        guard tape[node].kind == .string, tape[node].text.count <= Self.longestLabel else {
            throw .wrong(FieldPath(.epoch), "must be a string of at most \(Self.longestLabel) bytes")
        }
        return text(node, line)
    }

    private func events(_ array: Int, _ line: Span<UInt8>) throws(WireError) -> EventKinds {
        func wrong() -> WireError {
            let kinds = listed(EventKind.allCases.map { quoted($0.rawValue) }, "and")
            return .wrong(FieldPath(.events), "must be an array of \(kinds)")
        }
        guard tape[array].kind == .array else { throw wrong() }
        var kinds: EventKinds = .reset
        var index = array + 1
        while index < Int(tape[array].next) {
            guard tape[index].kind == .string, let kind = word(index, Self.eventKinds, line) else { throw wrong() }
            kinds.insert(EventKinds(kind))
            index = Int(tape[index].next)
        }
        return kinds
    }
}

/// How far the events of one of several cameras have been read.
package struct CameraResumePoint: Sendable {
    package var camera: String
    package var point: ResumePoint
}

// MARK: Requests out

extension LineWriter {
    mutating func subscribe(_ subscribe: Subscribe) {
        wanted(subscribe)
        if let since = subscribe.since {
            member("since", UInt64(clamping: since.seq))
            member("epoch", since.epoch)
        }
    }

    mutating func subscribeAll(_ subscribe: Subscribe, since points: [CameraResumePoint]) {
        wanted(subscribe)
        guard !points.isEmpty else { return }
        member("since")
        for (index, point) in points.enumerated() {
            write(index == 0 ? "[{\"camera\":" : ",{\"camera\":")
            write(string: point.camera)
            member("seq", UInt64(clamping: point.point.seq))
            member("epoch", point.point.epoch)
            write("}")
        }
        write("]")
    }

    private mutating func wanted(_ subscribe: Subscribe) {
        if subscribe.events != .usual {
            member("events")
            write("[")
            var isFirst = true
            for kind in EventKind.allCases where subscribe.events.contains(EventKinds(kind)) {
                if !isFirst { write(",") }
                write(string: kind.rawValue)
                isFirst = false
            }
            write("]")
        }
        if subscribe.delivery != .every { member("delivery", subscribe.delivery.rawValue) }
    }
}

// MARK: Answers

extension LineWriter {
    package mutating func subscribed(
        camera: String, epoch: String, seq: UInt64, position: PrintedPosition, _ id: Span<UInt8>
    ) {
        open(.subscribed, id)
        member("camera", camera)
        member("epoch", epoch)
        member("seq", seq)
        member("position", position)
        close()
    }

    /// Writes that the subscription to all cameras has begun, and how many cameras follow.
    package mutating func subscribedAll(cameras: Int, _ id: Span<UInt8>) {
        open(.subscribed, id)
        member("camera", Request.allCameras)
        member("cameras", UInt64(cameras))
        close()
    }

    package mutating func lagged(
        camera: String, missed: UInt64, position: PrintedPosition, seq: UInt64, epoch: String
    ) {
        open(.lagged, Span())
        member("camera", camera)
        member("missed", missed)
        member("position", position)
        member("seq", seq)
        member("epoch", epoch)
        close()
    }

    package mutating func removed(camera: String) {
        open(.removed, Span())
        member("camera", camera)
        close()
    }
}

extension Lagged {
    /// The line of a gap that a reader has found itself, as the daemon would tell it, without LF. The gap has both `seq` and
    /// `epoch`: it is known where it ends.
    package var line: [UInt8] {
        var line = LineWriter(capacity: 512)
        line.lagged(
            camera: camera, missed: UInt64(clamping: missed), position: PrintedPosition(position),
            seq: UInt64(clamping: seq ?? 0), epoch: epoch ?? "")
        return line.bytes.dropLast()
    }
}

extension EventKind: MessageReadable {}

extension EventDelivery: MessageReadable {}

extension Subscribed: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        camera = try members.get("camera")
        epoch = try members.get("epoch")
        seq = try members.get("seq")
        position = try members.get("position")
    }
}

extension Lagged: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        camera = try members.get("camera")
        missed = try members.get("missed")
        position = try members.get("position")
        seq = try members.get(ifPresent: "seq")
        epoch = try members.get(ifPresent: "epoch")
    }
}
