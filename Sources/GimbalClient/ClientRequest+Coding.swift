// Requests as the protocol writes them: the other end of the daemon's decoder. Ranges are not checked here, for the
// daemon does it; what has no words in the protocol is an `EncodingError`.

import Gestures
import MapCamera

extension ClientRequest {
    /// The request as a line, its LF included.
    ///
    /// - Parameters:
    ///   - camera: 1 to 64 of `A-Z a-z 0-9 . _ -`; "main" where it is left out.
    ///   - id: what its reply is to carry; without one it is answered only by an error, or by what it asks for.
    ///   - timeMs: milliseconds of the trace's clock, for a line of a trace. A gesture's own time goes before it.
    ///   - creates: whether a camera is made that is not there. If not, the answer is an error of the code
    ///     `unknownCamera`; a query that names no camera is answered as by a new one.
    /// - Throws: `EncodingError` for a number that is not finite, for an update that fingers make, and for a gesture
    ///   whose value is another kind's.
    public func line(
        camera: String? = nil, id: RequestID? = nil, timeMs: Double? = nil, creates: Bool = true
    ) throws -> [UInt8] {
        let envelope = Envelope(request: self, camera: camera, id: id, timeMs: timeMs, create: creates ? nil : false)
        return try JSONLine.encode(envelope) + [0x0a]
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
        let envelopes = frame.enumerated().map { index, request in
            Envelope(
                request: request, camera: camera, id: index < ids.count ? ids[index] : nil,
                timeMs: timeMs, create: nil)
        }
        return try JSONLine.encode(envelopes) + [0x0a]
    }

    /// The `type` of the request's line.
    public var type: String {
        switch self {
        case .gesture(let event, _): event.kind.type
        case .move: "move"
        case .animate: "animate"
        case .stop: "stop"
        case .setGestures: "set-gestures"
        case .setZoomRange: "set-zoom-range"
        case .setTargetBounds: "set-target-bounds"
        case .setViewport: "set-viewport"
        case .removeCamera: "remove-camera"
        case .getCamera: "get-camera"
        case .cameraForBounds: "camera-for-bounds"
        case .project: "project"
        case .unproject: "unproject"
        case .visibleRegion: "visible-region"
        case .cameras: "cameras"
        case .stats: "stats"
        case .clients: "clients"
        case .awaitIdle: "await-idle"
        case .ping: "ping"
        case .hello: "hello"
        case .subscribe, .subscribeAll: "subscribe"
        case .unsubscribe, .unsubscribeAll: "unsubscribe"
        case .trace: "trace"
        case .traceEnd: "trace-end"
        case .endReplay: "end-replay"
        }
    }

    /// Writes what the request has beside its type.
    fileprivate func encodeBody(to encoder: any Encoder) throws {
        var members = encoder.members()
        switch self {
        case .gesture(let event, let label):
            try event.encodeBody(to: encoder)
            switch label {
            case .none: break
            case .number(let number): try members.put("gesture", number)
            case .text(let text): try members.put("gesture", text)
            }
        case .move(let update):
            try members.put("update", update)
        case .animate(let update, let durationMs, let easing):
            try members.put("update", update)
            try members.put("durationMs", durationMs)
            try members.put("easing", easing)
        case .setGestures(let switches):
            try switches.encode(to: encoder)
        case .setZoomRange(let min, let max):
            try members.put("minZoom", min)
            try members.put("maxZoom", max)
        case .setTargetBounds(let bounds):
            // `null` removes them.
            try members.encode(bounds, forKey: "bounds")
        case .setViewport(let viewport):
            try viewport.encode(to: encoder)
        case .cameraForBounds(let bounds, let insets):
            try members.put("bounds", bounds)
            try members.put("insets", insets)
        case .project(let coordinate):
            try members.put("coordinate", coordinate)
        case .unproject(let point):
            try members.put("point", point)
        case .hello(let version):
            try members.put("version", version)
        case .subscribe(let kinds, let delivery, let since):
            try members.put("events", kinds.map { kinds in EventKind.allCases.filter(kinds.contains) })
            try members.put("delivery", delivery)
            try members.put("since", since?.seq)
            try members.put("epoch", since?.epoch)
        case .subscribeAll(let kinds, let delivery, let points):
            try members.put("events", kinds.map { kinds in EventKind.allCases.filter(kinds.contains) })
            try members.put("delivery", delivery)
            if !points.isEmpty {
                try members.put(
                    "since",
                    points.sorted { $0.key < $1.key }.map { ReadUpTo(camera: $0, seq: $1.seq, epoch: $1.epoch) })
            }
        case .clients(let number):
            try members.put("after", number)
        case .awaitIdle(let timeoutMs):
            try members.put("timeoutMs", timeoutMs)
        case .trace(let header):
            try header.encode(to: encoder)
        case .stop, .removeCamera, .getCamera, .visibleRegion, .cameras, .stats, .ping, .unsubscribe, .unsubscribeAll,
            .traceEnd, .endReplay:
            break
        }
    }

    /// What stands for all cameras where a camera's name would.
    static let allCameras = "*"

    private var namesAllCameras: Bool {
        switch self {
        case .subscribeAll, .unsubscribeAll: true
        default: false
        }
    }

    /// How far a camera has been read.
    private struct ReadUpTo: Encodable {
        let camera: String
        let seq: Int
        let epoch: String
    }

    /// A request and what any request may have.
    private struct Envelope: Encodable {
        let request: ClientRequest
        let camera: String?
        let id: RequestID?
        let timeMs: Double?
        /// Written where it is `false`.
        let create: Bool?

        func encode(to encoder: any Encoder) throws {
            var members = encoder.members()
            try members.put("type", request.type)
            try members.put("camera", request.namesAllCameras ? ClientRequest.allCameras : camera)
            try members.put("id", id)
            try members.put("timeMs", timeMs)
            try members.put("create", create)
            try request.encodeBody(to: encoder)
        }
    }
}

// MARK: Gestures

extension GestureKind {
    /// The `type` of the gesture's line.
    public var type: String {
        switch self {
        case .pan: "pan"
        case .pinch: "pinch"
        case .rotate: "rotate"
        case .tilt: "tilt"
        case .oneFingerZoom: "one-finger-zoom"
        case .doubleTap: "double-tap"
        case .twoFingerTap: "two-finger-tap"
        }
    }
}

extension GesturePhase {
    /// The phase as the protocol writes it.
    fileprivate var word: String {
        switch self {
        case .began: "began"
        case .changed: "changed"
        case .ended: "ended"
        case .cancelled: "cancelled"
        }
    }
}

extension GestureEvent {
    fileprivate func encodeBody(to encoder: any Encoder) throws {
        var members = encoder.members()
        try members.put("phase", phase.word)
        try members.put("focus", focus)
        try members.put("velocity", velocity)
        try members.put("timeMs", time)
        switch (kind, value) {
        case (.pan, .pan(let translation)): try members.put("translation", translation)
        case (.pinch, .pinch(let scale)): try members.put("scale", scale)
        case (.rotate, .rotate(let degrees)): try members.put("rotationDeg", degrees)
        case (.tilt, .tilt(let y)), (.oneFingerZoom, .oneFingerZoom(let y)): try members.put("translation", ["y": y])
        case (_, nil): break
        default: throw encoder.inexpressible(self, "the value is not one of the gesture \(kind.type)")
        }
    }
}

// MARK: Parts of requests

extension RequestID: Codable {
    /// Reads a number or a text.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else {
            self = .text(try value.decode(String.self))
        }
    }

    /// Writes the number or the text.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        }
    }
}

extension TraceHeader: Encodable {
    /// Writes the header's members, `version` among them.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.members()
        try members.put("version", 1)
        if speed == .infinity { try members.put("speed", "max") } else { try members.put("speed", speed) }
        try members.put("viewport", viewport)
        try members.put("position", position)
        try members.put("minZoom", zoomRange.min)
        try members.put("maxZoom", zoomRange.max)
        try members.put("targetBounds", targetBounds)
        try members.put("gestures", gestures)
    }
}
