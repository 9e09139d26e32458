// `stats` (schema: client.stats, server.stats): the daemon's counters.

import JSONLines

/// Counters of the daemon, since it started where nothing else is said.
public struct DaemonStats: Equatable, Sendable {
    /// Milliseconds that it has been running.
    public let uptimeMs: Double
    /// Connections now.
    public let connections: Int
    /// Connections that there were.
    public let connectionsTotal: Int
    /// Cameras now.
    public let cameras: Int
    /// Subscriptions now.
    public let subscriptions: Int
    /// Replays that run now.
    public let replays: Int
    /// Lines that came in.
    public let lines: Int
    /// Errors that were answered.
    public let errors: Int
    /// Events that cameras emitted.
    public let events: Int
    /// Bytes that came in.
    public let bytesIn: Int
    /// Bytes that went out.
    public let bytesOut: Int
}

extension LineWriter {
    /// Writes counters in the order given.
    package mutating func stats(_ counters: [(name: StaticString, count: UInt64)], _ id: Span<UInt8>) {
        open(.stats, id)
        for (name, count) in counters { member(name, count) }
        close()
    }
}

extension DaemonStats: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        uptimeMs = try members.get("uptimeMs")
        connections = try members.get("connections")
        connectionsTotal = try members.get("connectionsTotal")
        cameras = try members.get("cameras")
        subscriptions = try members.get("subscriptions")
        replays = try members.get("replays")
        lines = try members.get("lines")
        errors = try members.get("errors")
        events = try members.get("events")
        bytesIn = try members.get("bytesIn")
        bytesOut = try members.get("bytesOut")
    }
}
