// A request as the hub has it, and the types of requests. What each type is made of is told in `ClientRequest`.

import Gestures
import JSONLines

/// One object of one line. It borrows nothing: only its id is a place in its line.
package struct Request: Sendable {
    /// The id as it is written in the line.
    package var id: ByteRange?
    /// The camera's name; `nil` if the line names none.
    package var camera: String?
    /// The line's own time in milliseconds.
    package var timeMs: Double?
    /// Whether it makes its camera if that is not there.
    package var creates = true
    package var body: ClientRequest

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
        case .gesture(let kind): kind.word
        case .other(let word): word.rawValue
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
        case .other(.touch): .touch
        case .other(.move), .other(.animate), .other(.stop), .other(.setGestures), .other(.setZoomRange),
            .other(.setTargetBounds), .other(.setViewport), .other(.removeCamera), .other(.marker):
            .command
        case .other(.getCamera), .other(.cameraForBounds), .other(.project), .other(.unproject),
            .other(.visibleRegion), .other(.cameras), .other(.stats), .other(.ping), .other(.hello),
            .other(.awaitIdle), .other(.getReplay):
            .question
        case .other(.subscribe), .other(.unsubscribe), .other(.trace), .other(.traceEnd), .other(.pauseReplay),
            .other(.resumeReplay), .other(.stepReplay), .other(.seekReplay), .other(.setReplaySpeed),
            .other(.endReplay), .other(.clients):
            .connection
        }
    }

    /// Whether it stands on a line of its own: what begins, steers or ends a replay, and what removes a camera.
    var standsAlone: Bool {
        switch self {
        case .other(.removeCamera), .other(.trace), .other(.traceEnd), .other(.pauseReplay), .other(.resumeReplay),
            .other(.stepReplay), .other(.seekReplay), .other(.setReplaySpeed), .other(.endReplay):
            true
        case .gesture, .other: false
        }
    }
}
