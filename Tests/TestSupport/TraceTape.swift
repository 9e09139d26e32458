// A file written by a subscriber to `gesture`: traces, one after another, as the camera is reset.

/// A recording of one camera.
public struct TraceTape: Sendable {
    /// One trace, and what the camera did during it.
    public struct Trace: Sendable {
        /// The lines, beginning with the header.
        public fileprivate(set) var lines: [String]
        /// The type, reason and position of each event of the camera.
        public fileprivate(set) var events: [String] = []
        /// Whether the camera rested when the trace began.
        public fileprivate(set) var beganAtRest = true
        /// Whether the camera was taken away, possibly in mid-movement.
        public fileprivate(set) var isCut = false
    }

    public private(set) var traces: [Trace] = []

    public init() {}

    /// Returns an event's contents without its time; `nil` for other messages.
    public static func event(_ message: JSON) -> String? {
        guard let type = message["type"]?.string, let reason = message["reason"]?.string else { return nil }
        return "\(type) \(reason) \(message["position"]?.text ?? "")"
    }

    /// Handles a line of the daemon; returns what is wrong with it.
    public mutating func take(_ text: String) throws -> String? {
        let message = try JSON(text)
        if let event = Self.event(message) {
            // Events between two traces belong to neither.
            if let last = traces.indices.last, !traces[last].isCut { traces[last].events.append(event) }
            return nil
        }
        switch message["type"]?.string {
        case "gesture":
            guard let line = message["line"], let start = text.range(of: "\"line\":") else { return "no line" }
            take(line, String(text[start.upperBound...].dropLast()))
        case "reset", "removed", "subscribed": if !traces.isEmpty { traces[traces.count - 1].isCut = true }
        case "lagged": return "it lagged"
        default: break
        }
        return nil
    }

    private mutating func take(_ line: JSON, _ text: String) {
        if line["type"]?.string == "trace" { return traces.append(Trace(lines: [text])) }
        guard let last = traces.indices.last else { return }
        // A gesture that changes without having begun was active before; for a position this is unknown.
        let first = line.array?.first ?? line
        let goesOn = first["phase"]?.string == "changed" || first["type"]?.string == "position"
        if traces[last].lines.count == 1, traces[last].events.isEmpty, goesOn {
            traces[last].beganAtRest = false
        }
        traces[last].lines.append(text)
    }
}

extension TraceTape {
    /// The tape of a recorder: everything that it has received since the last call of `lines()`.
    public init(of recorder: HubPeer) throws {
        self.init()
        for line in recorder.lines() {
            if let complaint = try take(line) { throw TestFailure(description: "\(complaint): \(line)") }
        }
    }

    /// Plays a trace into a new camera as fast as possible; returns the results. A trace that does not end is an error.
    public static func play(_ lines: [String]) throws -> (events: [String], errors: [String]) {
        let host = HubHost()
        let peer = host.connect()
        peer.send(#"{"type":"subscribe"}"#)
        peer.send(lines[0].replacing(#"{"type":"trace","#, with: #"{"type":"trace","speed":"max","#))
        for line in lines.dropFirst() { peer.send(line) }
        peer.send(#"{"type":"trace-end"}"#)
        host.pass(1)
        let messages = try peer.lines().map { (text: $0, json: try JSON($0)) }
        var errors = messages.filter { $0.json["type"]?.string == "error" }.map(\.text)
        if messages.last?.json["type"]?.string != "trace-ended" { errors.append("the trace has not ended") }
        return (messages.compactMap { event($0.json) }, errors)
    }
}
