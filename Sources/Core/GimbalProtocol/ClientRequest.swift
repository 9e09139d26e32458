// All requests of clients as values, each described once: its case, type, blank and members. Larger ones describe their
// members in the file of their family. A new request gets a case here and an entry in `blanks`; the compiler asks for
// the rest.

import Gestures
import MapCamera
import Touches

/// A request of the protocol: a gesture, touches, a command, a query, a subscription, or a part of a trace.
///
/// ``line(camera:id:timeMs:creates:)`` makes the line that the daemon reads; `RemoteCamera` sends it and waits for the
/// answer.
public enum ClientRequest: Equatable, Sendable {
    /// A report of a gesture.
    case gesture(Gesture)
    /// The camera's position at a time of the wall clock; at most 256 such positions wait.
    case present(Presentation)
    /// All fingers that are on a surface now, for the daemon to recognize gestures.
    case touch(Fingers)

    /// Changes the camera immediately.
    case move(CameraUpdate)
    /// Animates the camera over 0 to 3,600,000 ms.
    case animate(CameraUpdate, durationMs: Double = CameraAnimation.usualDuration, easing: EasingName = .default)
    /// Flies the camera out, over and in: an `animate` whose path is `flight`. It takes 0 to 3,600,000 ms; without a
    /// duration, the speed of the flight decides.
    case fly(CameraUpdate, Flight = Flight(), durationMs: Double? = nil, easing: EasingName = .default)
    /// Takes the camera from its current position through 1 to 256 keyframes.
    case tour([TourKeyframe])
    /// Ends animation, fling and active gestures where they are.
    case stop
    /// Changes one of the camera's settings.
    case set(CameraSetup.Change)
    /// Removes the camera, so that its name is free.
    case removeCamera

    /// Asks for a ``CameraState``, now or at a time of the wall clock.
    case getCamera(at: WallTime? = nil)
    /// Asks for the ``BoundsFit`` of bounds within insets.
    case cameraForBounds(CoordinateBounds, insets: EdgeInsets = EdgeInsets())
    /// Asks for the point on the screen that shows a place.
    case project(LatLng)
    /// Asks for the place that a point on the screen shows.
    case unproject(ScreenPoint)
    /// Asks for the corners of the visible region.
    case visibleRegion
    /// Asks for the names of all cameras.
    case cameras
    /// Asks for the daemon's ``DaemonStats``.
    case stats
    /// Asks for the clients whose ``Client/number`` is greater, at most 64 of them.
    case clients(after: Int = 0)
    /// Asks for a ``StoredTraceInfo`` of each trace that the daemon can play by itself.
    case traces
    /// Asks for a ``CameraRest`` when the camera rests. After the timeout, 0 to 3,600,000 ms, the answer is an error;
    /// `nil` is no timeout.
    case awaitIdle(timeoutMs: Double? = nil)
    /// Asks for a `pong`.
    case ping

    /// Tells the version of the protocol that this client speaks, and what other clients see of it: ``Client/about``,
    /// at most 8,192 bytes. Each one replaces the one before.
    case hello(version: Int = 1, about: String? = nil)
    /// Subscribes to a camera: to ``EventKind/movements`` if no kinds are named, and to every event if no delivery is.
    case subscribe(kinds: Set<EventKind>? = nil, delivery: EventDelivery? = nil, since: ResumePoint? = nil)
    /// Ends a subscription.
    case unsubscribe
    /// Subscribes to all cameras, including future ones, and replaces all subscriptions of the connection; resumes
    /// after the points given by camera name. It cannot ask for the cameras' input or fingers.
    case subscribeAll(
        kinds: Set<EventKind>? = nil, delivery: EventDelivery? = nil, since: [String: ResumePoint] = [:])
    /// Ends all subscriptions of the connection.
    case unsubscribeAll

    /// Begins a replay.
    indirect case trace(TraceHeader)
    /// Ends the trace that this connection sends.
    case traceEnd
    /// Stops the clock of another connection's replay on the camera.
    case pauseReplay
    /// Resumes the replay.
    case resumeReplay
    /// Pauses the replay after 1 to 1,000,000 more changes of the camera.
    case stepReplay(count: Int = 1)
    /// Seeks to another place in the replay, which stays paused or playing.
    case seekReplay(ReplayTarget)
    /// Sets the speed of the replay, above 0; infinite means as fast as possible.
    case setReplaySpeed(Double)
    /// Ends another connection's replay on the camera.
    case endReplay
    /// Asks for a ``ReplayStatus``.
    case getReplay

    /// Takes or prolongs a lease, so that only this connection can move the camera for a time; the answer is a
    /// ``CameraLease``.
    case takeLease(LeaseRequest)
    /// Joins the lease of that number, so that this connection can move the camera as well; the answer is a
    /// ``CameraLease``.
    case joinLease(Int)
    /// Ends the lease if this connection has taken it; otherwise leaves it, or stops waiting for one. With a number,
    /// ends that lease, even another connection's.
    case endLease(Int? = nil)

    /// Sets a marker at the camera's present time, or at a time of a trace; the label has 1 to 256 bytes.
    case marker(label: String)
}

/// The id of a request, repeated in its answer: a number within ±(2^53−1), or a text of at most 256 bytes as JSON
/// writes it.
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
    /// Returns the request as a line, including LF.
    ///
    /// - Parameters:
    ///   - camera: 1 to 64 of `A-Z a-z 0-9 . _ -`; "main" by default.
    ///   - id: the id for its answer; without one, the only answers are errors and requested data.
    ///   - timeMs: milliseconds of the trace's clock, for a line of a trace. A time of the gesture or touches
    ///     themselves takes precedence.
    ///   - creates: whether to create a missing camera. If not, the answer is an error with the code `unknownCamera`; a
    ///     query that names no camera is answered as if for a new one.
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

    /// Returns requests as one line, including LF, which is applied as a whole or not at all.
    ///
    /// - Parameters:
    ///   - batch: 1 to 64 requests; no trace's header nor end.
    ///   - camera: the camera of all requests; "main" by default.
    ///   - ids: the ids of the requests in order; further requests have none.
    ///   - timeMs: as in ``line(camera:id:timeMs:creates:)``.
    /// - Throws: as ``line(camera:id:timeMs:creates:)``.
    public static func line(
        batch: [ClientRequest], camera: String? = nil, ids: [RequestID] = [], timeMs: Double? = nil
    ) throws -> [UInt8] {
        var line = LineWriter()
        line.write("[")
        for (index, request) in batch.enumerated() {
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
        let problem = self.problem ?? id?.problem
        if problem == nil {
            line.request(self, camera: camera, id: id, timeMs: self.timeMs ?? timeMs, creates: creates)
        }
        guard let why = problem ?? (line.hasUnwritableNumber ? "a number is not finite" : nil) else { return }
        throw EncodingError.invalidValue(self, EncodingError.Context(codingPath: [], debugDescription: why))
    }
}

// MARK: What it is

extension ClientRequest {
    /// The `type` of the request's line.
    public var type: String { facts.type }

    /// The purposes of requests.
    package enum Family {
        case gesture, touch, command, query
        /// Requests that steer the replay of another connection.
        case steering
        /// Requests that belong to their connection, such as subscriptions and traces, or are about connections.
        case connection
    }

    package var family: Family { facts.family }

    @inline(__always)
    private var facts: (type: String, family: Family) {
        switch self {
        case .gesture(let gesture): (gesture.event.kind.type, .gesture)
        case .present: ("present", .connection)
        case .touch: ("touch", .touch)
        case .move: ("move", .command)
        case .animate, .fly: ("animate", .command)
        case .tour: ("tour", .command)
        case .stop: ("stop", .command)
        case .set(let change): (change.type, .command)
        case .removeCamera: ("remove-camera", .command)
        case .getCamera: ("get-camera", .query)
        case .cameraForBounds: ("camera-for-bounds", .query)
        case .project: ("project", .query)
        case .unproject: ("unproject", .query)
        case .visibleRegion: ("visible-region", .query)
        case .cameras: ("cameras", .query)
        case .stats: ("stats", .query)
        case .clients: ("clients", .connection)
        case .traces: ("traces", .query)
        case .awaitIdle: ("await-idle", .query)
        case .ping: ("ping", .query)
        case .hello: ("hello", .query)
        case .subscribe, .subscribeAll: ("subscribe", .connection)
        case .unsubscribe, .unsubscribeAll: ("unsubscribe", .connection)
        case .trace: ("trace", .connection)
        case .traceEnd: ("trace-end", .connection)
        case .pauseReplay: ("pause-replay", .steering)
        case .resumeReplay: ("resume-replay", .steering)
        case .stepReplay: ("step-replay", .steering)
        case .seekReplay: ("seek-replay", .steering)
        case .setReplaySpeed: ("set-replay-speed", .steering)
        case .endReplay: ("end-replay", .steering)
        case .getReplay: ("get-replay", .query)
        case .marker: ("marker", .command)
        case .takeLease: ("take-lease", .connection)
        case .joinLease: ("join-lease", .connection)
        case .endLease: ("end-lease", .connection)
        }
    }

    /// A blank of each type, into which members are decoded.
    package static let blanks: [ClientRequest] =
        GestureKind.allCases.map { .gesture(GestureEvent($0, .changed)) } + CameraSetup.Change.blanks.map { .set($0) }
        + [
            .present(.blank), .touch(.blank), .move(.blank), .animate(.blank), .tour([]), .stop, .removeCamera,
            .getCamera(), .cameraForBounds(.blank), .project(.blank), .unproject(.blank), .visibleRegion, .cameras,
            .stats,
            .clients(), .traces, .awaitIdle(), .ping,
            .hello(), .subscribe(), .unsubscribe, .trace(.blank), .traceEnd, .pauseReplay, .resumeReplay, .stepReplay(),
            .seekReplay(.time(0)), .setReplaySpeed(1), .endReplay, .getReplay, .marker(label: ""),
            .takeLease(.blank), .joinLease(0), .endLease(),
        ]

    /// Whether it needs a line of its own: requests that begin, steer or end a replay, remove a camera, or are about
    /// leases.
    var standsAlone: Bool {
        switch self {
        case .removeCamera, .trace, .traceEnd, .takeLease, .joinLease, .endLease: true
        default: steersReplay
        }
    }

    /// Its own time for its line; most requests have none.
    fileprivate var timeMs: Double? {
        switch self {
        case .gesture(let gesture): gesture.event.time
        case .touch(let fingers): fingers.timeMs
        default: nil
        }
    }

    /// Shows a visitor the members that are specific to the request.
    ///
    /// - Parameter timeMs: the time of its line, which becomes that of gestures and fingers.
    mutating func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, at timeMs: Double? = nil
    ) throws(V.Failure) {
        switch self {
        case .gesture(var gesture):
            try gesture.describe(&visitor)
            gesture.event.time = timeMs
            self = .gesture(gesture)
        case .present(let value): self = .present(try described(value, by: &visitor))
        case .touch(var fingers):
            try fingers.describe(&visitor)
            fingers.timeMs = timeMs
            self = .touch(fingers)
        case .move(var update):
            try visitor.object(.update, &update)
            self = .move(update)
        case .animate(let update, let durationMs, let easing):
            self = try Self.describe(&visitor, update, durationMs, easing, nil)
        case .fly(let update, let flight, let durationMs, let easing):
            self = try Self.describe(&visitor, update, durationMs, easing, flight)
        case .tour(var keyframes):
            try TourKeyframe.describe(&visitor, &keyframes)
            self = .tour(keyframes)
        case .set(var change):
            try change.describe(&visitor)
            self = .set(change)
        case .getCamera(var time):
            try visitor.member(.atWallTime, &time, .wallTime)
            self = .getCamera(at: time)
        case .cameraForBounds(var bounds, var insets):
            try visitor.object(.bounds, &bounds)
            try visitor.object(.insets, &insets, default: EdgeInsets())
            self = .cameraForBounds(bounds, insets: insets)
        case .project(var place):
            try visitor.object(.coordinate, &place)
            self = .project(place)
        case .unproject(var point):
            try visitor.object(.point, &point, hint: "it must be an object with x and y")
            self = .unproject(point)
        case .clients(var number):
            let rule = IntegerRule(wanted: "must be a client number: a non-negative integer")
            try visitor.member(.after, &number, rule, unless: 0)
            self = .clients(after: number)
        case .awaitIdle(var timeoutMs):
            try visitor.member(.timeoutMs, &timeoutMs, .number(in: .durations))
            self = .awaitIdle(timeoutMs: timeoutMs)
        case .hello(var version, var about):
            try visitor.version(&version)
            try visitor.member(.about, &about, .text(bytes: 0...RequestDecoder.longestAbout))
            self = .hello(version: version, about: about)
        case .subscribe(let kinds, let delivery, var since):
            let (kinds, delivery) = try Self.describe(&visitor, kinds, delivery, ofAll: false)
            try ResumePoint.describe(&visitor, &since)
            self = .subscribe(kinds: kinds, delivery: delivery, since: since)
        case .subscribeAll(let kinds, let delivery, var points):
            let (kinds, delivery) = try Self.describe(&visitor, kinds, delivery, ofAll: true)
            try ResumePoint.describe(&visitor, &points)
            self = .subscribeAll(kinds: kinds, delivery: delivery, since: points)
        case .trace(let header): self = .trace(try described(header, by: &visitor))
        case .stepReplay(var count):
            let rule = IntegerRule.integer(1...1_000_000, "must be an integer from 1 to 1000000")
            try visitor.member(.count, &count, rule, unless: 1)
            self = .stepReplay(count: count)
        case .seekReplay(var target):
            try target.describe(&visitor)
            self = .seekReplay(target)
        case .setReplaySpeed(var speed):
            try visitor.member(.speed, &speed, SpeedRule())
            self = .setReplaySpeed(speed)
        case .marker(var label):
            try visitor.member(.label, &label, .markerLabel, hint: "it describes the marker")
            self = .marker(label: label)
        case .takeLease(let lease): self = .takeLease(try described(lease, by: &visitor))
        case .joinLease(var number):
            try visitor.member(.lease, &number, .lease)
            self = .joinLease(number)
        case .endLease(var number):
            try visitor.member(.lease, &number, .lease)
            self = .endLease(number)
        case .stop, .removeCamera, .visibleRegion, .cameras, .stats, .traces, .ping, .unsubscribe,
            .unsubscribeAll, .traceEnd, .pauseReplay, .resumeReplay, .endReplay, .getReplay:
            break
        }
    }

    /// Whether it can be in a trace, with a time.
    package var isOfTraces: Bool {
        switch family {
        case .gesture, .touch, .command: true
        case .query, .steering, .connection: false
        }
    }

    /// Whether it steers the replay of another connection.
    package var steersReplay: Bool { family == .steering }

    /// Whether it cancels every active gesture of its camera.
    package var cancelsGestures: Bool {
        switch self {
        case .move, .animate, .fly, .tour, .stop, .removeCamera: true
        default: false
        }
    }

    /// Whether it moves or removes its camera without fingers, or changes the camera's setup.
    package var isCommand: Bool { cancelsGestures || isSetting }

    /// Whether it changes the camera's setup.
    package var isSetting: Bool { if case .set = self { true } else { false } }

    /// The reason why the protocol cannot express it; `nil` if it can.
    var problem: String? {
        switch self {
        case .gesture(let gesture): gesture.problem
        case .touch(let fingers): fingers.problem
        case .move(let update), .animate(let update, _, _), .fly(let update, _, _, _):
            update.kind == nil ? "only gestures can pan, rotate or tilt by a difference" : nil
        default: nil
        }
    }
}

// MARK: Out

extension LineWriter {
    /// Writes a request as the decoder reads it, without LF. Its numbers survive the round trip, unless rounded.
    ///
    /// - Parameter timeMs: milliseconds of the trace's clock.
    package mutating func request(
        _ request: ClientRequest, camera: String? = nil, id: RequestID? = nil, timeMs: Double? = nil,
        creates: Bool = true, isRounded: Bool = false
    ) {
        self.isRounded = isRounded
        var (camera, id, timeMs, creates, request) = (camera, id, timeMs, creates, request)
        switch request {
        case .subscribeAll, .unsubscribeAll: camera = Request.allCameras
        default: break
        }
        open(request.type)
        member(.timeMs, &timeMs, .time)
        member(.camera, &camera, .cameraName)
        member(.id, &id, RequestIDRule())
        member(.create, &creates, .flag, unless: true)
        request.describe(&self)
        write("}")
    }

    /// Writes a request as an object, or a batch of several as an array; without LF.
    mutating func requests(_ batch: [ClientRequest], timeMs: Double, camera: String? = nil, isRounded: Bool = false) {
        if batch.count > 1 { write("[") }
        for (index, body) in batch.enumerated() {
            if index > 0 { write(",") }
            // All objects of a batch share the time of the first.
            request(body, camera: camera, timeMs: index == 0 ? timeMs : nil, isRounded: isRounded)
        }
        if batch.count > 1 { write("]") }
    }

    /// Begins a line of a type.
    mutating func open(_ type: String) {
        write("{\"type\":")
        write(string: type)
    }
}

extension RequestID {
    /// The reason why the protocol cannot express it; `nil` if it can.
    var problem: String? {
        if case .number(let number) = self, !IntegerRule.exact.contains(number) {
            return "an id must be a string or a number within ±(2^53−1)"
        }
        return nil
    }
}

struct RequestIDRule: MemberRule {
    func read(_ json: JSONValue) -> RequestID? {
        switch json {
        case .string(let text): .text(text)
        case .number(let number): Int(exactly: number).map { .number($0) }
        default: nil
        }
    }
    func write(_ value: RequestID, to line: inout LineWriter) {
        switch value {
        case .number(let number): line.write(exact: Double(number))
        case .text(let text): line.write(string: text)
        }
    }
    var wanted: String { "must be an integer or a string" }
}
