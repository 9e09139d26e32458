// A line from the daemon in its original bytes, for passing it on; only lines that are shown to people or decide
// something are parsed beyond their type.

/// A line from the daemon.
package final class ReceivedLine {
    package let bytes: ArraySlice<UInt8>
    /// The message type; `nil` if this version does not know it, or the line is not a message.
    package let type: MessageType?

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        type = MessageType(of: bytes)
    }

    /// The parsed line, on first use; `nil` if it is not a message.
    package private(set) lazy var line: ServerLine? = try? ServerLine(line: bytes)

    /// The message; `nil` if it cannot be parsed.
    package var content: ServerMessage? { line?.message }

    /// The id of the answered request.
    package var id: RequestID? { line?.id }

    /// The event, including those about a subscription.
    package var event: CameraEvent? { if case .event(let event)? = content { event } else { nil } }

    /// The error, if the line is one.
    package var error: GimbalError? {
        guard type == .error, case .error(let error)? = content else { return nil }
        return error
    }

    /// The result of a replay, if the line is one.
    package var traceEnded: TraceEnded? { if case .traceEnded(let ended)? = content { ended } else { nil } }

    /// The line without the part that differs between runs of the same trace: the epoch of a `reset`.
    package var withoutEpoch: ArraySlice<UInt8> {
        guard type == .reset else { return bytes }
        // No string in a reset has quotes: camera names have none, and epochs are hexadecimal digits with a hyphen.
        let member = Array(",\"epoch\":\"".utf8)
        let starts = bytes.indices.dropLast(member.count - 1)
        guard let start = starts.first(where: { bytes[$0..<($0 + member.count)].elementsEqual(member) }),
            let end = bytes[(start + member.count)...].firstIndex(of: UInt8(ascii: "\""))
        else { return bytes }
        return bytes[..<start] + bytes[(end + 1)...]
    }

    /// Whether it is part of the event stream in golden files: identical for the same trace, steered or not.
    package var isOfStream: Bool {
        switch type {
        case .moveStarted, .cameraChanged, .idle, .gesture, .touch, .reset: true
        default: false
        }
    }
}
