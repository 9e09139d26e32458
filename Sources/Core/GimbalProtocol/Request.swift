// All requests of clients as values, and the switches that read and write them by their type. The contents of each are
// in the file of its family. A new request gets a case here; the compiler asks for the rest. The names of all members
// are here, too. A request borrows nothing: only its id is a place in its line.

import Gestures
import JSONLines
import MapCamera

/// One object of one line.
package struct Request: Sendable {
    /// The id as it is written in the line.
    package var id: ByteRange?
    /// The camera's name; `nil` if the line names none.
    package var camera: String?
    /// The line's own time in milliseconds.
    package var timeMs: Double?
    /// Whether it makes its camera if that is not there.
    package var creates = true
    package var body: Body

    /// What stands for all cameras where a camera's name would.
    package static let allCameras = "*"
    @usableFromInline static let longestCameraName = 64

    /// Whether a camera can have a name of these bytes.
    @inlinable
    package static func isCameraName(_ name: some Collection<UInt8>) -> Bool {
        1...longestCameraName ~= name.count
            && name.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    package enum Body: Sendable {
        case gesture(Gesture)
        /// The fingers on a surface, which are recognized here.
        case touch(Fingers)
        case command(Command)
        case query(Query)
        case subscribe(Subscribe)
        case unsubscribe
        /// To all cameras, also those that are made later; with where some of them have been read up to.
        case subscribeAll(Subscribe, since: [CameraResumePoint])
        case unsubscribeAll
        /// Answered when the camera rests; after so many milliseconds with an error, if there are any.
        case awaitIdle(timeoutMs: Double?)
        /// Steers the replay of another connection.
        case steerReplay(ReplaySteering)
        /// Names a time of the camera's clock.
        case marker(label: String)
        /// The version of the protocol that the client speaks.
        case hello(version: Int, about: String? = nil)
        /// Rare, and larger than all others.
        indirect case trace(TraceHeader)
        case traceEnd
    }

    package enum Command: Sendable {
        case move(CameraUpdate)
        case animate(CameraUpdate, durationMs: Double, easing: Easing)
        case stop
        case set(CameraSetup.Change)
        case removeCamera
    }

    package enum Query: Sendable {
        case getCamera
        case cameraForBounds(CoordinateBounds, insets: EdgeInsets)
        case project(LatLng)
        case unproject(ScreenPoint)
        case visibleRegion
        case cameras
        case stats
        /// Clients whose numbers are greater.
        case clients(after: Int)
        case ping
        case getReplay
    }
}

/// The `type` of a line that a client writes.
package enum RequestType: Hashable, Sendable {
    case gesture(GestureKind)
    case other(Word)

    package enum Word: String, CaseIterable, Sendable {
        case touch
        case move, animate, stop
        case setGestures = "set-gestures"
        case setZoomRange = "set-zoom-range"
        case setTargetBounds = "set-target-bounds"
        case setViewport = "set-viewport"
        case removeCamera = "remove-camera"
        case getCamera = "get-camera"
        case cameraForBounds = "camera-for-bounds"
        case project, unproject
        case visibleRegion = "visible-region"
        case cameras, stats, clients, ping
        case subscribe, unsubscribe, hello, trace
        case traceEnd = "trace-end"
        case pauseReplay = "pause-replay"
        case resumeReplay = "resume-replay"
        case stepReplay = "step-replay"
        case seekReplay = "seek-replay"
        case setReplaySpeed = "set-replay-speed"
        case endReplay = "end-replay"
        case getReplay = "get-replay"
        case marker
        case awaitIdle = "await-idle"
    }

    package static let all = GestureKind.allCases.map(Self.gesture) + Word.allCases.map(Self.other)

    package var word: String {
        switch self {
        case .gesture(let kind): kind.type
        case .other(let word): word.rawValue
        }
    }

    /// Whether it stands on a line of its own.
    var standsAlone: Bool {
        switch self {
        case .gesture: false
        case .other(let word): word.standsAlone
        }
    }

    /// What requests are for.
    package enum Family {
        case gesture, touch, command, question
        /// They belong to the connection that they come by, as subscriptions and traces do, or are about connections.
        case connection
    }

    package var family: Family {
        switch self {
        case .gesture: .gesture
        case .other(let word): word.family
        }
    }
}

extension RequestType.Word {
    fileprivate var family: RequestType.Family {
        switch self {
        case .touch: .touch
        case .move, .animate, .stop, .setGestures, .setZoomRange, .setTargetBounds, .setViewport, .removeCamera,
            .marker:
            .command
        case .getCamera, .cameraForBounds, .project, .unproject, .visibleRegion, .cameras, .stats, .ping, .hello,
            .awaitIdle, .getReplay:
            .question
        case .subscribe, .unsubscribe, .trace, .traceEnd, .pauseReplay, .resumeReplay, .stepReplay, .seekReplay,
            .setReplaySpeed, .endReplay, .clients:
            .connection
        }
    }

    fileprivate var standsAlone: Bool {
        switch self {
        case .removeCamera, .trace, .traceEnd, .pauseReplay, .resumeReplay, .stepReplay, .seekReplay, .setReplaySpeed,
            .endReplay:
            true
        case .touch, .move, .animate, .stop, .setGestures, .setZoomRange, .setTargetBounds, .setViewport, .getCamera,
            .cameraForBounds, .project, .unproject, .visibleRegion, .cameras, .stats, .clients, .ping, .subscribe,
            .unsubscribe, .hello, .getReplay, .marker, .awaitIdle:
            false
        }
    }
}

/// Every member name that some request knows; the case's name is the member's.
enum Field: UInt8, CaseIterable, Sendable {
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
    case paused, fromMs, untilMs, loop, idleTimeLimitMs, pauseOnMarkers
    case count, toMs, byMs, marker, label
    case touches, surface, cancelled, surfaceTimeMs
    case about

    var name: String { "\(self)" }

    static let names = WordTable(allCases.map(\.name))
}

extension Request.Body {
    package var type: RequestType {
        switch self {
        case .gesture(let gesture): .gesture(gesture.event.kind)
        case .touch: .other(.touch)
        case .command(let command): .other(command.word)
        case .query(let query): .other(query.word)
        case .subscribe, .subscribeAll: .other(.subscribe)
        case .unsubscribe, .unsubscribeAll: .other(.unsubscribe)
        case .awaitIdle: .other(.awaitIdle)
        case .steerReplay(let steering): .other(steering.word)
        case .marker: .other(.marker)
        case .hello: .other(.hello)
        case .trace: .other(.trace)
        case .traceEnd: .other(.traceEnd)
        }
    }

    /// Whether it is what a trace is made of, and has a time there.
    package var isOfTraces: Bool {
        switch self {
        case .gesture, .touch, .command, .marker: true
        case .query, .subscribe, .unsubscribe, .subscribeAll, .unsubscribeAll, .awaitIdle, .steerReplay, .hello, .trace,
            .traceEnd:
            false
        }
    }

    /// Why the protocol has no words for it; `nil` if it has.
    var problem: String? {
        switch self {
        case .gesture(let gesture): gesture.problem
        case .touch(let fingers): fingers.problem
        case .command(.move(let update)), .command(.animate(let update, _, _)):
            update.kind == nil ? "only gestures pan, rotate and tilt by differences" : nil
        case .command, .query, .subscribe, .unsubscribe, .subscribeAll, .unsubscribeAll, .awaitIdle, .steerReplay,
            .marker, .hello, .trace, .traceEnd:
            nil
        }
    }
}

extension Request.Command {
    fileprivate var word: RequestType.Word {
        switch self {
        case .move: .move
        case .animate: .animate
        case .stop: .stop
        case .set(.viewport): .setViewport
        case .set(.zoomRange): .setZoomRange
        case .set(.targetBounds): .setTargetBounds
        case .set(.gestures): .setGestures
        case .removeCamera: .removeCamera
        }
    }

    /// Whether it cancels every active gesture of its camera.
    package var cancelsGestures: Bool {
        switch self {
        case .move, .animate, .stop, .removeCamera: true
        case .set: false
        }
    }

    /// Whether it sets what `get-camera` tells beside the position.
    package var isSetting: Bool { if case .set = self { true } else { false } }
}

extension Request.Query {
    fileprivate var word: RequestType.Word {
        switch self {
        case .getCamera: .getCamera
        case .cameraForBounds: .cameraForBounds
        case .project: .project
        case .unproject: .unproject
        case .visibleRegion: .visibleRegion
        case .cameras: .cameras
        case .stats: .stats
        case .clients: .clients
        case .ping: .ping
        case .getReplay: .getReplay
        }
    }
}

// MARK: In

extension RequestDecoder {
    static let types = Words(RequestType.all, \.word)

    /// Reads what a request of a type is made of.
    func body(
        _ type: RequestType, _ object: Int, _ line: Span<UInt8>, _ time: Double?
    ) throws(WireError) -> Request.Body {
        switch type {
        case .gesture(let kind): try gesture(kind, object, line, time)
        case .other(let word): try body(word, object, line)
        }
    }

    @inline(never)
    private func body(_ word: RequestType.Word, _ object: Int, _ line: Span<UInt8>) throws(WireError) -> Request.Body {
        switch word {
        case .touch: .touch(try fingers(object, line))
        case .move: .command(.move(try update(object, line)))
        case .animate: .command(try animate(object, line))
        case .stop: .command(.stop)
        case .setGestures: .command(.set(.gestures(try gestureSwitches(object, nil))))
        case .setZoomRange: .command(.set(try zoomRange(object)))
        case .setTargetBounds: .command(.set(.targetBounds(try targetBounds(object))))
        case .setViewport: .command(.set(.viewport(try viewport(object, nil))))
        case .removeCamera: .command(.removeCamera)
        case .getCamera: .query(.getCamera)
        case .cameraForBounds:
            .query(
                .cameraForBounds(
                    try bounds(object, FieldPath(.bounds), .bounds),
                    insets: try insets(object, FieldPath(.insets), .insets) ?? EdgeInsets()))
        case .project: .query(.project(try latLng(object, FieldPath(.coordinate), .coordinate)))
        case .unproject: .query(.unproject(try requiredPoint(object, FieldPath(.point), .point)))
        case .visibleRegion: .query(.visibleRegion)
        case .cameras: .query(.cameras)
        case .stats: .query(.stats)
        case .clients: .query(.clients(after: try clients(object, line)))
        case .ping: .query(.ping)
        case .subscribe: .subscribe(try subscribe(object, line))
        case .unsubscribe: .unsubscribe
        case .hello: try hello(object, line)
        case .trace: .trace(try header(object, line))
        case .traceEnd: .traceEnd
        case .pauseReplay: .steerReplay(.pause)
        case .resumeReplay: .steerReplay(.resume)
        case .stepReplay: .steerReplay(try step(object, line))
        case .seekReplay: .steerReplay(try seek(object, line))
        case .setReplaySpeed: .steerReplay(try replaySpeed(object, line))
        case .endReplay: .steerReplay(.end)
        case .getReplay: .query(.getReplay)
        case .marker: .marker(label: try label(object, .label, line))
        case .awaitIdle: try awaitIdle(object)
        }
    }
}

// MARK: Out

extension LineWriter {
    /// Writes a request as the decoder reads it, without LF. Its numbers read back unharmed.
    ///
    /// - Parameter timeMs: milliseconds of the trace's clock.
    package mutating func request(
        _ body: Request.Body, camera: String? = nil, id: RequestID? = nil, timeMs: Double? = nil, creates: Bool = true
    ) {
        open(body.type)
        if let timeMs { member("timeMs", exact: timeMs) }
        switch body {
        case .subscribeAll, .unsubscribeAll: member("camera", Request.allCameras)
        default: if let camera { member("camera", camera) }
        }
        if let id { member("id", id) }
        if !creates { write(",\"create\":false") }
        switch body {
        case .gesture(let gesture): self.gesture(gesture, .exact)
        case .touch(let fingers): self.fingers(fingers)
        case .command(let command): self.command(command)
        case .query(let query): self.query(query)
        case .subscribe(let subscribe): self.subscribe(subscribe)
        case .subscribeAll(let subscribe, let since): subscribeAll(subscribe, since: since)
        case .awaitIdle(let timeoutMs): if let timeoutMs { member("timeoutMs", exact: timeoutMs) }
        case .hello(let version, let about):
            member("version", exact: Double(version))
            if let about { member("about", about) }
        case .steerReplay(let steering): self.steering(steering)
        case .marker(let label): member("label", label)
        case .trace(let header): self.header(header)
        case .unsubscribe, .unsubscribeAll, .traceEnd: break
        }
        write("}")
    }

    /// Writes requests of one frame: an object, or an array of several; without LF.
    mutating func requests(_ frame: [Request.Body], timeMs: Double) {
        if frame.count > 1 { write("[") }
        for (index, body) in frame.enumerated() {
            if index > 0 { write(",") }
            // A frame has one time, which its first object names.
            request(body, timeMs: index == 0 ? timeMs : nil)
        }
        if frame.count > 1 { write("]") }
    }

    mutating func open(_ type: RequestType.Word) { open(.other(type)) }

    private mutating func open(_ type: RequestType) {
        write("{\"type\":")
        write(string: type.word)
    }

    private mutating func command(_ command: Request.Command) {
        switch command {
        case .move(let update): self.update(update)
        case .animate(let update, let duration, let easing): animate(update, durationMs: duration, easing)
        case .set(.gestures(let switches)): self.switches(switches, isFirst: false)
        case .set(.zoomRange(let min, let max)): zoomRange(min: min, max: max)
        case .set(.targetBounds(let bounds)): targetBounds(bounds)
        case .set(.viewport(let viewport)): self.viewport(exact: viewport)
        case .stop, .removeCamera: break
        }
    }

    private mutating func query(_ query: Request.Query) {
        switch query {
        case .cameraForBounds(let bounds, let insets):
            self.bounds("bounds", exact: bounds)
            self.insets("insets", insets)
        case .project(let place): self.place("coordinate", exact: place)
        case .unproject(let point): self.point("point", point)
        case .clients(let number): if number != 0 { member("after", exact: Double(number)) }
        case .getCamera, .visibleRegion, .cameras, .stats, .ping, .getReplay: break
        }
    }
}
