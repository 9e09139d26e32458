// A line of the daemon's as it came, which is how it is passed on; only what is shown to people or decides something is
// read further than its type.

import JSONLines

/// A line from the daemon.
package final class ReceivedLine {
    package let bytes: ArraySlice<UInt8>
    /// Its type; `nil` for one that this version does not know, and for what is no message.
    package let type: MessageType?

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        type = MessageType(of: bytes)
    }

    /// The line, read whole at first use; `nil` if it is no message.
    package private(set) lazy var line: ServerLine? = try? ServerLine(line: bytes)

    /// What it says; `nil` if that cannot be read.
    package var content: ServerMessage? { line?.message }

    /// The id of the request that it answers.
    package var id: RequestID? { line?.id }

    /// The event that it is, or that it tells of a subscription.
    package var event: CameraEvent? { if case .event(let event)? = content { event } else { nil } }

    /// The error that it is, if it is one.
    package var error: GimbalError? {
        guard type == .error, case .error(let error)? = content else { return nil }
        return error
    }

    /// How a replay went, if it tells that.
    package var traceEnded: TraceEnded? { if case .traceEnded(let ended)? = content { ended } else { nil } }

    /// The line without what differs from run to run of one trace: the epoch of a `reset`.
    package var withoutEpoch: ArraySlice<UInt8> {
        guard type == .reset else { return bytes }
        // No text of a reset has quotes in it: a camera's name is of letters, an epoch of digits.
        let member = Array(",\"epoch\":\"".utf8)
        let starts = bytes.indices.dropLast(member.count - 1)
        guard let start = starts.first(where: { bytes[$0..<($0 + member.count)].elementsEqual(member) }),
            let end = bytes[(start + member.count)...].firstIndex(of: UInt8(ascii: "\""))
        else { return bytes }
        return bytes[..<start] + bytes[(end + 1)...]
    }

    /// Whether it belongs to what a camera did, as golden files have it: the same for the same trace, steered or not.
    package var isOfStream: Bool {
        switch type {
        case .moveStarted, .cameraChanged, .idle, .gesture, .touch, .reset: true
        default: false
        }
    }
}
