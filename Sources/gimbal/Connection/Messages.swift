// What the daemon says, as far as the program looks into it. A line is passed on as it came; only what is shown to people
// or decides something is read further than its type.

import GimbalClient
import GimbalProtocol

/// A line from the daemon.
struct Message {
    let bytes: ArraySlice<UInt8>
    /// Its type; `nil` for one that this version does not know, and for what is no message.
    let type: MessageType?

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        type = MessageType(of: bytes)
    }

    /// A line from a daemon, which other programs may be taken for.
    ///
    /// - Throws: a `Failure` if it is no message.
    init(fromDaemon bytes: ArraySlice<UInt8>) throws(Failure) {
        self.init(bytes)
        if type == nil, line == nil { throw Failure(.unavailable, "\(GimbalConnectionError.unexpected(bytes))") }
    }

    private var line: ServerLine? { try? ServerLine(line: bytes) }

    /// What it says; `nil` if that cannot be read.
    var content: ServerMessage? { line?.message }

    /// The id of the request that it answers.
    var id: RequestID? { line?.id }

    /// The event that it is, or that it tells of a subscription.
    var event: CameraEvent? { if case .event(let event)? = content { event } else { nil } }

    /// The error that it is, if it is one.
    var error: GimbalError? {
        guard type == .error, case .error(let error)? = content else { return nil }
        return error
    }

    /// How a replay went, if it tells that.
    var traceEnded: TraceEnded? { if case .traceEnded(let ended)? = content { ended } else { nil } }

    /// The line without what differs from run to run of one trace: the epoch of a `reset`.
    var withoutEpoch: ArraySlice<UInt8> {
        guard type == .reset, case .object(var members)? = try? JSONValue(bytes) else { return bytes }
        members["epoch"] = nil
        return JSONValue.object(members).bytes[...]
    }

    /// Whether it tells a movement of a camera.
    var isEvent: Bool {
        switch type {
        case .moveStarted, .cameraChanged, .idle, .gesture, .reset: true
        default: false
        }
    }
}

// MARK: As people read it

extension Lagged {
    var text: String { "\(counted(missed, "event")) of camera \(camera) missed" }
}
