// What a subscriber to `gesture` writes into a file: traces, one after another, as the camera is reset.

/// A recording of one camera.
public struct TraceTape: Sendable {
    /// One trace, and what the camera did meanwhile.
    public struct Trace: Sendable {
        /// The lines from the header on.
        public fileprivate(set) var lines: [String]
        /// What the camera's events were: type, reason and position.
        public fileprivate(set) var events: [String] = []
        /// Whether the camera rested when the trace began.
        public fileprivate(set) var beganAtRest = true
        /// Whether the camera was taken away, perhaps in mid-movement.
        public fileprivate(set) var isCut = false
    }

    public private(set) var traces: [Trace] = []

    public init() {}

    /// What matters of an event beside its time; `nil` for other messages.
    public static func event(_ message: JSON) -> String? {
        guard let type = message["type"]?.string, let reason = message["reason"]?.string else { return nil }
        return "\(type) \(reason) \(message["position"]?.text ?? "")"
    }

    /// Takes a line of the daemon; says what is wrong with it.
    public mutating func take(_ text: String) throws -> String? {
        let message = try JSON(text)
        if let event = Self.event(message) {
            // What comes between two traces belongs to neither.
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
        // What changes without having begun was there before; of a position nobody can tell.
        let first = line.array?.first ?? line
        let goesOn = first["phase"]?.string == "changed" || first["type"]?.string == "position"
        if traces[last].lines.count == 1, traces[last].events.isEmpty, goesOn {
            traces[last].beganAtRest = false
        }
        traces[last].lines.append(text)
    }
}

extension TraceTape {
    /// Plays a trace into a camera of its own, as fast as possible; says what came of it. One that does not end is an error.
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
