// `stats` (schema: client.stats, server.stats): the daemon's counters.

import JSONLines

/// Counters of the daemon, since its start unless noted otherwise.
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

extension DaemonStats {
    package init(
        uptimeMs: Double, connections: Int, connectionsTotal: UInt64, cameras: Int, subscriptions: Int, replays: Int,
        lines: UInt64, errors: UInt64, events: UInt64, bytesIn: UInt64, bytesOut: UInt64
    ) {
        self.uptimeMs = uptimeMs.rounded(.down)
        (self.connections, self.connectionsTotal) = (connections, Int(connectionsTotal))
        (self.cameras, self.subscriptions, self.replays) = (cameras, subscriptions, replays)
        (self.lines, self.errors, self.events) = (Int(lines), Int(errors), Int(events))
        (self.bytesIn, self.bytesOut) = (Int(bytesIn), Int(bytesOut))
    }
}

extension LineWriter {
    package mutating func stats(_ stats: DaemonStats, _ id: Span<UInt8>) {
        open(.stats, id)
        member("uptimeMs", UInt64(stats.uptimeMs))
        member("connections", UInt64(stats.connections))
        member("connectionsTotal", UInt64(stats.connectionsTotal))
        member("cameras", UInt64(stats.cameras))
        member("subscriptions", UInt64(stats.subscriptions))
        member("replays", UInt64(stats.replays))
        member("lines", UInt64(stats.lines))
        member("errors", UInt64(stats.errors))
        member("events", UInt64(stats.events))
        member("bytesIn", UInt64(stats.bytesIn))
        member("bytesOut", UInt64(stats.bytesOut))
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
