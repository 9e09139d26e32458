// The messages of the daemon by their `type`: how a line of each begins, and how it is read back. A new message gets a
// case here and stands among the `blanks`; the compiler asks for the rest.

import MapCamera

/// The `type` of a line that the daemon writes.
package enum MessageType: String, CaseIterable, Sendable {
    case moveStarted = "move-started"
    case cameraChanged = "camera-changed"
    case idle, gesture, touch, reset, replay, marker
    case leaseTaken = "lease-taken"
    case leaseEnded = "lease-ended"
    case clock, motion, present
    case subscribed, lagged, removed
    case camera
    case cameraForBounds = "camera-for-bounds"
    case point, coordinate
    case visibleRegion = "visible-region"
    case cameras, stats, clients, traces
    case atRest = "at-rest"
    case traceEnded = "trace-ended"
    case lease
    case hello, pong, ok, error

    /// The kind of event, if subscribers can choose it.
    package var eventKind: EventKind? {
        switch self {
        case .leaseTaken, .leaseEnded: .lease
        // The answer to ``ClientRequest/takeLease(_:)``.
        case .lease: nil
        default: EventKind(rawValue: rawValue)
        }
    }
}

// MARK: Out

extension LineWriter {
    /// Writes an answer to a request or an event, including LF.
    ///
    /// - Parameter id: the request's id as it was written; empty for none.
    package mutating func answer(_ message: ServerMessage, _ id: Span<UInt8>) {
        guard let type = message.type else { preconditionFailure("an unknown message cannot be written") }
        var message = message
        isRounded = true
        open(type, id)
        message.describe(&self)
        close()
    }

    /// Opens a line with its type and the id of the request that it answers.
    mutating func open(_ type: MessageType, _ id: Span<UInt8>) {
        open(type.rawValue)
        guard !id.isEmpty else { return }
        member(.id)
        write(id)
    }

    mutating func close() { write("}\n") }
}

// MARK: In

/// A message from the daemon.
public enum ServerMessage: Equatable, Sendable {
    /// An event of a camera, or of a subscription.
    case event(CameraEvent)
    /// Answers ``ClientRequest/getCamera(at:)``.
    case camera(CameraState)
    /// Answers ``ClientRequest/cameraForBounds(_:insets:)``.
    case cameraForBounds(BoundsFit)
    /// Answers ``ClientRequest/project(_:)``.
    case point(ScreenPoint)
    /// Answers ``ClientRequest/unproject(_:)``.
    case coordinate(LatLng)
    /// Answers ``ClientRequest/visibleRegion``.
    case visibleRegion(VisibleRegion)
    /// Answers ``ClientRequest/cameras``: the names, sorted by their bytes.
    case cameras([String])
    /// Answers ``ClientRequest/stats``.
    case stats(DaemonStats)
    /// Answers ``ClientRequest/clients(after:)``.
    case clients(ClientPage)
    /// Answers ``ClientRequest/traces``: sorted by their names.
    case traces([StoredTraceInfo])
    /// Answers ``ClientRequest/awaitIdle(timeoutMs:)``, when the camera rests.
    case atRest(CameraRest)
    /// Answers ``ClientRequest/getReplay``, with the markers.
    case replay(ReplayStatus)
    /// Answers ``ClientRequest/trace(_:)``, when the replay is over.
    case traceEnded(TraceEnded)
    /// Answers ``ClientRequest/takeLease(_:)``, when the lease is granted, or ``ClientRequest/joinLease(_:)``.
    case lease(CameraLease)
    /// Answers ``ClientRequest/hello(version:about:)``.
    case hello(DaemonHello)
    /// Answers ``ClientRequest/ping``.
    case pong
    /// Answers a request with an id that has no other answer.
    case ok
    /// Rejects a request.
    case error(GimbalError)
    /// A message of a type that this version does not know.
    case unknown(type: String)
}

/// A line from the daemon: a message, and the id of the request that it answers.
public struct ServerLine: Equatable, Sendable {
    /// The id of the request, if the line answers one that has an id.
    public let id: RequestID?
    /// The message.
    public let message: ServerMessage
}

extension MessageType {
    /// Reads the type of a line. If the line begins with it, as all lines of the daemon do, nothing else is read.
    ///
    /// - Returns: `nil` if the type is unknown, or the line is not a message.
    package init?(of line: some Collection<UInt8>) {
        let opening = "{\"type\":\"".utf8
        let word: String?
        if line.starts(with: opening) {
            word = String(decoding: line.dropFirst(opening.count).prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        } else {
            word = (try? JSONValue(line))?["type"]?.string
        }
        guard let type = word.flatMap(Self.init(rawValue:)) else { return nil }
        self = type
    }
}

extension ServerLine {
    /// Reads a line without its LF.
    ///
    /// - Throws: `DecodingError` if the line is not a message of the protocol.
    public init(line: some Collection<UInt8>) throws {
        let bytes = Array(line)
        let json: JSONValue
        do {
            json = try JSONValue(reading: bytes.span)
        } catch {
            throw DecodingError.wrong(error.message)
        }
        var (reader, word) = (try AnswerReader(json), "")
        try reader.member(.type, &word, .text())
        var id: RequestID?
        try reader.member(.id, &id, RequestIDRule())
        self.id = id
        guard let type = MessageType(rawValue: word) else {
            message = .unknown(type: word)
            return
        }
        var message = ServerMessage(blank: type, json)
        try message.describe(&reader)
        if case .event(.input(var input)) = message {
            guard let text = json.object?.text(of: Field.line.name) else {
                throw DecodingError.wrong("line is missing")
            }
            input.line = String(decoding: bytes[text], as: UTF8.self)
            message = .event(.input(input))
        }
        self.message = message
    }
}

extension ServerMessage {
    /// The event, if the message is one.
    package var event: CameraEvent? { if case .event(let event) = self { event } else { nil } }

    /// The type; `nil` for an unknown one.
    package var type: MessageType? {
        switch self {
        case .event(let event): event.type
        case .camera: .camera
        case .cameraForBounds: .cameraForBounds
        case .point: .point
        case .coordinate: .coordinate
        case .visibleRegion: .visibleRegion
        case .cameras: .cameras
        case .stats: .stats
        case .clients: .clients
        case .traces: .traces
        case .atRest: .atRest
        case .replay: .replay
        case .traceEnded: .traceEnded
        case .lease: .lease
        case .hello: .hello
        case .pong: .pong
        case .ok: .ok
        case .error: .error
        case .unknown: nil
        }
    }

    /// One of each type, before its members are read.
    private static let blanks = Dictionary(
        uniqueKeysWithValues: (CameraEvent.blanks.map(Self.event) + [
            .camera(.blank), .cameraForBounds(.blank), .point(.blank), .coordinate(.blank), .visibleRegion(.blank),
            .cameras([]), .stats(.blank), .clients(.blank), .traces([]), .atRest(.blank), .traceEnded(.blank),
            .lease(.blank), .hello(.blank), .pong, .ok, .error(.blank),
        ]).compactMap { message in message.type.map { ($0, message) } })

    /// A message of a type, before its members are read.
    fileprivate init(blank type: MessageType, _ json: JSONValue) {
        switch type {
        // The answer has the markers, the event does not.
        case .replay where json[Field.markers.name] != nil: self = .replay(.blank)
        case .subscribed where json[Field.camera.name]?.string == Request.allCameras:
            self = .event(.subscribedToAll(cameras: 0))
        default: self = Self.blanks[type] ?? .unknown(type: type.rawValue)
        }
    }

    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        switch self {
        case .event(var event):
            try event.describe(&visitor)
            self = .event(event)
        case .camera(let value): self = .camera(try described(value, by: &visitor))
        case .cameraForBounds(let value): self = .cameraForBounds(try described(value, by: &visitor))
        case .point(var point):
            try visitor.object(.point, &point)
            self = .point(point)
        case .coordinate(var coordinate):
            try visitor.object(.coordinate, &coordinate)
            self = .coordinate(coordinate)
        case .visibleRegion(let value): self = .visibleRegion(try described(value, by: &visitor))
        case .cameras(var names):
            try visitor.member(.cameras, &names, TextsRule())
            self = .cameras(names)
        case .stats(let value): self = .stats(try described(value, by: &visitor))
        case .clients(let value): self = .clients(try described(value, by: &visitor))
        case .traces(var traces):
            try visitor.list(.traces, &traces)
            self = .traces(traces)
        case .atRest(let value): self = .atRest(try described(value, by: &visitor))
        case .replay(let value): self = .replay(try described(value, by: &visitor))
        case .traceEnded(let value): self = .traceEnded(try described(value, by: &visitor))
        case .lease(let value): self = .lease(try described(value, by: &visitor))
        case .hello(let value): self = .hello(try described(value, by: &visitor))
        case .error(let value): self = .error(try described(value, by: &visitor))
        case .pong, .ok, .unknown: break
        }
    }
}
