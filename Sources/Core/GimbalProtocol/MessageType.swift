// What the daemon says, by its `type`: the list of its messages, how each line of them opens, and how one is read back. A
// message that is added gets a case here, and the compiler asks for the rest.

import JSONLines
import MapCamera

/// The `type` of a line that the daemon writes.
package enum MessageType: String, CaseIterable, Sendable {
    case moveStarted = "move-started"
    case cameraChanged = "camera-changed"
    case idle, gesture, touch, reset, replay, marker
    case subscribed, lagged, removed
    case camera
    case cameraForBounds = "camera-for-bounds"
    case point, coordinate
    case visibleRegion = "visible-region"
    case cameras, stats, clients
    case atRest = "at-rest"
    case traceEnded = "trace-ended"
    case hello, pong, ok, error
}

// MARK: Out

extension LineWriter {
    /// Opens a line that answers a request: its type, and the request's id as it was written; an empty one is none.
    mutating func open(_ type: MessageType, _ id: Span<UInt8>) {
        write("{\"type\":")
        write(string: type.rawValue)
        guard !id.isEmpty else { return }
        write(",\"id\":")
        write(id)
    }

    mutating func close() { write("}\n") }

    mutating func member(_ name: StaticString, _ position: PrintedPosition) {
        member(name)
        write(position)
    }

    mutating func member(_ name: StaticString, _ string: String) {
        member(name)
        write(string: string)
    }

    mutating func member(_ name: StaticString, _ count: UInt64) {
        member(name)
        write(count)
    }

    mutating func member(_ name: StaticString, _ value: Double, places: Int = 6) {
        member(name)
        write(FixedDecimal(value, places: places))
    }
}

// MARK: In

/// What the daemon says in one line.
public enum ServerMessage: Equatable, Sendable {
    /// Tells what a camera does, or of the subscription to it.
    case event(CameraEvent)
    /// Answers ``ClientRequest/getCamera``.
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
    /// Answers ``ClientRequest/awaitIdle(timeoutMs:)``, when the camera rests.
    case atRest(CameraRest)
    /// Answers ``ClientRequest/getReplay``, with the markers.
    case replay(ReplayStatus)
    /// Answers ``ClientRequest/trace(_:)``, when the replay is over.
    case traceEnded(TraceEnded)
    /// Answers ``ClientRequest/hello(version:about:)``.
    case hello(DaemonHello)
    /// Answers ``ClientRequest/ping``.
    case pong
    /// Answers what has no other answer, where it has an id.
    case ok
    /// A request was refused.
    case error(GimbalError)
    /// Nothing that this version knows, of this type.
    case unknown(type: String)
}

/// A line from the daemon: what it says, and the request that it answers.
public struct ServerLine: Equatable, Sendable {
    /// The id of the request, if the line answers one that has an id.
    public let id: RequestID?
    /// What the line says.
    public let message: ServerMessage
}

extension MessageType {
    /// The type of a line. Of one that opens with it, as every line of the daemon does, nothing else is read.
    ///
    /// - Returns: `nil` if it is not known, or the line is no message.
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
    /// - Throws: `DecodingError` for what is no message of the protocol.
    public init(line: some Collection<UInt8>) throws {
        let bytes = Array(line)
        let json: JSONValue
        do {
            json = try JSONValue(reading: bytes.span)
        } catch {
            throw DecodingError.wrong(error.message)
        }
        id = try json.members().get(ifPresent: "id")
        message = try ServerMessage(json, of: bytes)
    }
}

extension ServerMessage {
    fileprivate init(_ json: JSONValue, of line: [UInt8]) throws(DecodingError) {
        let members = try json.members()
        let word: String = try members.get("type")
        guard let type = MessageType(rawValue: word) else {
            self = .unknown(type: word)
            return
        }
        switch type {
        case .camera: self = .camera(try CameraState(json))
        case .cameraForBounds: self = .cameraForBounds(try BoundsFit(json))
        case .point: self = .point(try members.get("point"))
        case .coordinate: self = .coordinate(try members.get("coordinate"))
        case .visibleRegion: self = .visibleRegion(try VisibleRegion(json))
        case .cameras: self = .cameras(try members.get("cameras"))
        case .stats: self = .stats(try DaemonStats(json))
        case .clients: self = .clients(try ClientPage(json))
        case .atRest: self = .atRest(try CameraRest(json))
        case .traceEnded: self = .traceEnded(try TraceEnded(json))
        case .hello: self = .hello(try DaemonHello(json))
        case .pong: self = .pong
        case .ok: self = .ok
        case .error: self = .error(try GimbalError(json))
        case .replay where json["markers"] != nil: self = .replay(try ReplayStatus(json))
        case .moveStarted, .cameraChanged, .idle, .gesture, .touch, .reset, .replay, .marker, .subscribed, .lagged,
            .removed:
            guard let event = try CameraEvent(type, json, of: line) else { throw .wrong("\(word) is no event") }
            self = .event(event)
        }
    }
}
