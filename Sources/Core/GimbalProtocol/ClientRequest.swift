// Requests as programs write them: every request of `Request` under one name, with the types that are easy to name where the
// hub wants those that are quick to use (kinds as a set, an easing by its name). It adds nothing: `body` says what each is.

import Gestures
import JSONLines
import MapCamera
import Touches

/// A request of the protocol: a gesture, touches, a command, a query, a subscription, or a part of a trace.
///
/// ``line(camera:id:timeMs:creates:)`` makes the line that the daemon reads; `RemoteCamera` sends it and waits for the
/// answer.
public enum ClientRequest: Sendable {
    /// A report of a gesture; the label tells apart two gestures of one kind on one connection.
    case gesture(GestureEvent, label: GestureKey.Label = .none)
    /// All fingers that are on a surface now, at most 256, for the daemon to recognize gestures; none where all have lifted.
    /// The time is the surface's own, in milliseconds; `nil` is when they arrive. The surface is one of several of the
    /// connection; a text has at most 64 bytes. Fingers that are cancelled are lost, and have not lifted.
    case touch([Touch], timeMs: Double? = nil, surface: GestureKey.Label = .none, isCancelled: Bool = false)

    /// Changes the camera at once.
    case move(CameraUpdate)
    /// Changes the camera over a time: 0 to 3,600,000 ms.
    case animate(CameraUpdate, durationMs: Double = CameraAnimation.usualDuration, easing: EasingName = .default)
    /// Ends animation, fling and active gestures where they are.
    case stop
    /// Changes one of the camera's settings.
    case set(CameraSetup.Change)
    /// Frees the camera's name.
    case removeCamera

    /// Asks for a ``CameraState``.
    case getCamera
    /// Asks for the ``BoundsFit`` of bounds inside of insets.
    case cameraForBounds(CoordinateBounds, insets: EdgeInsets = EdgeInsets())
    /// Asks for the point of the screen that shows a place.
    case project(LatLng)
    /// Asks for the place that a point of the screen shows.
    case unproject(ScreenPoint)
    /// Asks for the corners of what the screen shows.
    case visibleRegion
    /// Asks for the names of all cameras.
    case cameras
    /// Asks for the daemon's ``DaemonStats``.
    case stats
    /// Asks for the clients whose ``Client/number`` is greater: 64 of them at the most.
    case clients(after: Int = 0)
    /// Asks for a ``CameraRest`` when the camera rests; after 0 to 3,600,000 ms for an error, `nil` is never.
    case awaitIdle(timeoutMs: Double? = nil)
    /// Asks for a `pong`.
    case ping

    /// Says which version of the protocol this side speaks, and what it tells others of itself: ``Client/about``, at most
    /// 8,192 bytes. Each one takes the place of what the one before has told.
    case hello(version: Int = 1, about: String? = nil)
    /// Asks for a camera's events: those of ``EventKind/movements`` where no kinds are named, each of them where no
    /// delivery is.
    case subscribe(kinds: Set<EventKind>? = nil, delivery: EventDelivery? = nil, since: ResumePoint? = nil)
    /// Ends a subscription.
    case unsubscribe
    /// Asks for the events of all cameras, including future ones, replacing all subscriptions of the connection; with
    /// how far each camera's events have been read, by its name. It cannot ask for the cameras' input.
    case subscribeAll(
        kinds: Set<EventKind>? = nil, delivery: EventDelivery? = nil, since: [String: ResumePoint] = [:])
    /// Ends all subscriptions of the connection.
    case unsubscribeAll

    /// Begins a replay.
    case trace(TraceHeader)
    /// Ends a replay.
    case traceEnd
    /// Stops the clock of the replay that another connection plays into the camera.
    case pauseReplay
    /// Lets the replay go on.
    case resumeReplay
    /// Pauses the replay, then plays what it takes to send 1 to 1,000,000 more changes of the camera.
    case stepReplay(count: Int = 1)
    /// Goes to another place of the replay; it stays paused, or goes on playing, as it was.
    case seekReplay(ReplayTarget)
    /// Sets the speed of the replay: above 0, infinite is as fast as possible.
    case setReplaySpeed(Double)
    /// Ends the replay that another connection plays into the camera.
    case endReplay
    /// Asks for a ``ReplayStatus``.
    case getReplay
    /// Names the present of the camera, or a time of a trace; the label has 1 to 256 bytes.
    case marker(label: String)
}

/// What a request is known by in its reply: a number within ±(2^53−1), or a text of at most 256 bytes as JSON writes
/// it.
public enum RequestID: Hashable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// A number.
    case number(Int)
    /// A text.
    case text(String)

    /// An id that is a number.
    public init(integerLiteral number: Int) { self = .number(number) }
    /// An id that is a text.
    public init(stringLiteral text: String) { self = .text(text) }
}

extension ClientRequest {
    /// The request as a line, its LF included.
    ///
    /// - Parameters:
    ///   - camera: 1 to 64 of `A-Z a-z 0-9 . _ -`; "main" where it is left out.
    ///   - id: the id for its reply; without one, it gets only an error or the data that it asks for.
    ///   - timeMs: milliseconds of the trace's clock, for a line of a trace. The own time of a gesture, or of touches, goes
    ///     before it.
    ///   - creates: whether a camera is made that is not there. If not, the answer is an error of the code
    ///     `unknownCamera`; a query that names no camera is answered as by a new one.
    /// - Throws: `EncodingError` for a number that is not finite, for an update that fingers make, and for a gesture
    ///   whose value is another kind's.
    public func line(
        camera: String? = nil, id: RequestID? = nil, timeMs: Double? = nil, creates: Bool = true
    ) throws -> [UInt8] {
        var line = LineWriter()
        try write(to: &line, camera: camera, id: id, timeMs: timeMs, creates: creates)
        line.write("\n")
        return line.bytes
    }

    /// Requests as one line, which is applied as a whole or not at all; its LF included.
    ///
    /// - Parameters:
    ///   - frame: 1 to 64 requests; no trace's header nor end.
    ///   - camera: whose requests they are; "main" where it is left out.
    ///   - ids: the ids of the requests, in their order; those beyond have none.
    ///   - timeMs: as ``line(camera:id:timeMs:creates:)`` has it.
    /// - Throws: as ``line(camera:id:timeMs:creates:)`` does.
    public static func line(
        frame: [ClientRequest], camera: String? = nil, ids: [RequestID] = [], timeMs: Double? = nil
    ) throws -> [UInt8] {
        var line = LineWriter()
        line.write("[")
        for (index, request) in frame.enumerated() {
            if index > 0 { line.write(",") }
            let id = index < ids.count ? ids[index] : nil
            try request.write(to: &line, camera: camera, id: id, timeMs: timeMs, creates: true)
        }
        line.write("]\n")
        return line.bytes
    }

    private func write(
        to line: inout LineWriter, camera: String?, id: RequestID?, timeMs: Double?, creates: Bool
    ) throws {
        let body = body
        var time = timeMs
        if case .gesture(let gesture) = body { time = gesture.event.time ?? timeMs }
        if case .touch(_, let own, _, _) = self { time = own ?? timeMs }
        let problem = body.problem ?? id?.problem
        if problem == nil {
            line.request(body, camera: camera, id: id, timeMs: time, creates: creates)
        }
        guard let why = problem ?? (line.hasUnwritableNumber ? "a number is not finite" : nil) else { return }
        throw EncodingError.invalidValue(self, EncodingError.Context(codingPath: [], debugDescription: why))
    }

    /// The `type` of the request's line.
    public var type: String { body.type.word }

    /// The request as the hub has it.
    package var body: Request.Body {
        switch self {
        case .gesture(let event, let label): .gesture(Request.Gesture(event, label: label))
        case .touch(let touches, _, let surface, let isCancelled):
            .touch(Request.Fingers(touches, isCancelled: isCancelled, surface: surface))
        case .move(let update): .command(.move(update))
        case .animate(let update, let durationMs, let easing):
            .command(.animate(update, durationMs: durationMs, easing: easing.easing))
        case .stop: .command(.stop)
        case .set(let change): .command(.set(change))
        case .removeCamera: .command(.removeCamera)
        case .getCamera: .query(.getCamera)
        case .cameraForBounds(let bounds, let insets): .query(.cameraForBounds(bounds, insets: insets))
        case .project(let place): .query(.project(place))
        case .unproject(let point): .query(.unproject(point))
        case .visibleRegion: .query(.visibleRegion)
        case .cameras: .query(.cameras)
        case .stats: .query(.stats)
        case .clients(let number): .query(.clients(after: number))
        case .ping: .query(.ping)
        case .awaitIdle(let timeoutMs): .awaitIdle(timeoutMs: timeoutMs)
        case .hello(let version, let about): .hello(version: version, about: about)
        case .subscribe(let kinds, let delivery, let since):
            .subscribe(Subscribe(kinds.map { EventKinds($0) } ?? .usual, delivery ?? .every, since: since))
        case .unsubscribe: .unsubscribe
        case .subscribeAll(let kinds, let delivery, let points):
            .subscribeAll(
                Subscribe(kinds.map { EventKinds($0) } ?? .usual, delivery ?? .every),
                since: points.sorted { $0.key < $1.key }.map { CameraResumePoint(camera: $0, point: $1) })
        case .unsubscribeAll: .unsubscribeAll
        case .trace(let header): .trace(header)
        case .traceEnd: .traceEnd
        case .pauseReplay: .steerReplay(.pause)
        case .resumeReplay: .steerReplay(.resume)
        case .stepReplay(let count): .steerReplay(.step(count: count))
        case .seekReplay(let target): .steerReplay(.seek(target))
        case .setReplaySpeed(let speed): .steerReplay(.setSpeed(speed))
        case .endReplay: .steerReplay(.end)
        case .getReplay: .query(.getReplay)
        case .marker(let label): .marker(label: label)
        }
    }
}

extension RequestID {
    /// What JSON's numbers carry unharmed.
    static let numbers = -(1 << 53 - 1)...(1 << 53 - 1)

    /// Why the protocol has no words for it; `nil` if it has.
    var problem: String? {
        if case .number(let number) = self, !Self.numbers.contains(number) {
            return "an id is a number within ±(2^53−1), or a text"
        }
        return nil
    }
}

extension RequestID: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        if case .string(let text) = json { self = .text(text) } else { self = .number(try Int(json)) }
    }
}

extension LineWriter {
    mutating func member(_ name: StaticString, _ id: RequestID) {
        member(name)
        switch id {
        case .number(let number): write(exact: Double(number))
        case .text(let text): write(string: text)
        }
    }
}
