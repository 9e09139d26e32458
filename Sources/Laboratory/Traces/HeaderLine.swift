// The first line of a trace: its content, and edits of its members. An invalid line is kept as it is, so that the
// player can report it.

import GimbalProtocol

/// Why bytes are not a usable trace: one line for people, to append to the file's name.
package struct TraceError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// The first line is not a header.
    package static let noHeader = TraceError(
        "is not a Gimbal trace: its first line must be a header, {\"type\":\"trace\",…}")
    /// There are only blank lines.
    package static let empty = TraceError("is not a Gimbal trace: it is empty")
}

/// The first line of a trace.
package struct HeaderLine: Sendable {
    /// The line without its line feed.
    package private(set) var bytes: [UInt8]
    /// The decoded header; `nil` if it is invalid.
    package private(set) var header: TraceHeader?
    /// The camera that the header names; `main` if it names none.
    package private(set) var camera = "main"

    /// - Throws: `TraceError.noHeader` if the line is not the beginning of a trace.
    package init(_ bytes: [UInt8]) throws(TraceError) {
        self.bytes = bytes
        do {
            let requests = try RequestDecoder.requests(of: bytes.span)
            guard requests.count == 1, case .trace(let header) = requests[0].body else { throw TraceError.noHeader }
            self.header = header
            if let camera = requests[0].camera { self.camera = camera }
        } catch let rejection as Rejection {
            guard rejection.isHeader else { throw TraceError.noHeader }
        } catch {
            throw TraceError.noHeader
        }
    }

    /// Whether the header is valid.
    package var isRight: Bool { header != nil }

    /// Sets members, and removes those that are `nil`. An invalid header stays as it is.
    ///
    /// - Throws: `TraceError` if the header cannot be rewritten, or would become invalid.
    package mutating func set(_ members: [(name: String, value: JSONValue?)]) throws(TraceError) {
        guard isRight, !members.isEmpty else { return }
        guard case .object(var object)? = try? JSONValue(bytes) else {
            throw TraceError("has a header that cannot be rewritten: play it without options")
        }
        for (name, value) in members { object[name] = value }
        let changed = try HeaderLine(JSONValue.object(object).bytes)
        guard changed.isRight else { throw TraceError("would no longer have a valid header") }
        self = changed
    }

    /// Returns the header for playing the same trace as fast as possible without control: it does not pause, and a
    /// trace that loops for ever is played once.
    ///
    /// - Parameter isOnce: whether any trace that loops is played once.
    /// - Throws: as ``set(_:)`` does.
    package func atHighestSpeed(isOnce: Bool = false) throws(TraceError) -> HeaderLine {
        var header = self
        try header.set([("speed", .string("max")), ("paused", nil), ("pauseOnMarkers", nil), ("pauseAtEnd", nil)])
        if isOnce || self.header?.playback.loop == .forever { try header.set([("loop", nil)]) }
        return header
    }

    /// Returns the header for playing the same trace as fast as possible, once and in full, whatever the header says.
    ///
    /// - Throws: as ``set(_:)`` does.
    package func asAWhole() throws(TraceError) -> HeaderLine {
        var header = self
        try header.set([("speed", .string("max"))] + Self.playback.map { ($0, nil) })
        return header
    }

    /// The members that determine how a trace is played, not what is played.
    private static let playback = [
        "paused", "fromMs", "untilMs", "loop", "idleTimeLimitMs", "pauseOnMarkers", "pauseAtEnd", "durationMs",
    ]
}
