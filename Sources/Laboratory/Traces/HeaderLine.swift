// The first line of a trace: its content, and the same line with other members. An invalid one is kept as it is, for
// the player to report.

import GimbalProtocol

/// Why bytes are no trace that can be worked with: one line for people, behind the file's name.
package struct TraceError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// The first line is no header.
    package static let noHeader = TraceError(
        "is no Gimbal trace: its first line must be a header, {\"type\":\"trace\",…}")
    /// There is nothing but blank lines.
    package static let empty = TraceError("is no Gimbal trace: it is empty")
}

/// The first line of a trace.
package struct HeaderLine: Sendable {
    /// The line without its line feed.
    package private(set) var bytes: [UInt8]
    /// What it says; `nil` if it is not right.
    package private(set) var header: TraceHeader?
    /// The camera that it names, or that no name means.
    package private(set) var camera = "main"

    /// - Throws: `TraceError.noHeader` when the line begins something else than a trace.
    package init(_ bytes: [UInt8]) throws(TraceError) {
        self.bytes = bytes
        var decoder = RequestDecoder()
        do {
            let requests = try decoder.decode(bytes.span)
            guard requests.count == 1, case .trace(let header) = requests[0].body else { throw TraceError.noHeader }
            self.header = header
            if let camera = requests[0].camera { self.camera = camera }
        } catch let rejection as Rejection {
            guard rejection.isHeader else { throw TraceError.noHeader }
        } catch {
            throw TraceError.noHeader
        }
    }

    /// Whether it is right.
    package var isRight: Bool { header != nil }

    /// Sets members anew, or removes those that are `nil`. A header that is not right stays as it is.
    ///
    /// - Throws: `TraceError` if what comes of it is not right.
    package mutating func set(_ members: [(name: String, value: JSONValue?)]) throws(TraceError) {
        guard isRight, !members.isEmpty else { return }
        guard case .object(var object)? = try? JSONValue(bytes) else {
            throw TraceError("has a header with what cannot be written anew: play it without options")
        }
        for (name, value) in members { object[name] = value }
        let changed = try HeaderLine(JSONValue.object(object).bytes)
        guard changed.isRight else { throw TraceError("has a header that would not be right any more") }
        self = changed
    }

    /// The header of the same trace, to be played as fast as possible without being steered: it does not pause, and one that
    /// would be played for ever is played once.
    ///
    /// - Parameter isOnce: whether that holds for any that is played several times.
    /// - Throws: as ``set(_:)`` does.
    package func atHighestSpeed(isOnce: Bool = false) throws(TraceError) -> HeaderLine {
        var header = self
        try header.set([("speed", .string("max")), ("paused", nil), ("pauseOnMarkers", nil), ("pauseAtEnd", nil)])
        if isOnce || self.header?.playback.loop == .forever { try header.set([("loop", nil)]) }
        return header
    }

    /// The header of the same trace, to be played as fast as possible, once, and as a whole, whatever it says of that.
    ///
    /// - Throws: as ``set(_:)`` does.
    package func asAWhole() throws(TraceError) -> HeaderLine {
        var header = self
        try header.set([("speed", .string("max"))] + Self.playback.map { ($0, nil) })
        return header
    }

    /// Members that say how a trace is played, and not what.
    private static let playback = [
        "paused", "fromMs", "untilMs", "loop", "idleTimeLimitMs", "pauseOnMarkers", "pauseAtEnd", "durationMs",
    ]
}
