// `stats` (schema: client.stats, server.stats): the daemon's counters.

import JSONLines

/// Counters of the daemon, since its start unless noted otherwise.
public struct DaemonStats: Equatable, Sendable {
    /// Milliseconds that the daemon has been running.
    public package(set) var uptimeMs: Double
    /// Current connections.
    public package(set) var connections: Int
    /// Connections accepted.
    public package(set) var connectionsTotal: Int
    /// Current cameras.
    public package(set) var cameras: Int
    /// Current subscriptions.
    public package(set) var subscriptions: Int
    /// Replays currently running.
    public package(set) var replays: Int
    /// Lines received.
    public package(set) var lines: Int
    /// Errors sent.
    public package(set) var errors: Int
    /// Events emitted by cameras.
    public package(set) var events: Int
    /// Bytes received.
    public package(set) var bytesIn: Int
    /// Bytes sent.
    public package(set) var bytesOut: Int
}

extension DaemonStats: Described {
    package static let blank = DaemonStats(
        uptimeMs: 0, connections: 0, connectionsTotal: 0, cameras: 0, subscriptions: 0, replays: 0, lines: 0, errors: 0,
        events: 0, bytesIn: 0, bytesOut: 0)

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

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.uptimeMs, &uptimeMs, .number(places: 0))
        try visitor.member(.connections, &connections, .count)
        try visitor.member(.connectionsTotal, &connectionsTotal, .count)
        try visitor.member(.cameras, &cameras, .count)
        try visitor.member(.subscriptions, &subscriptions, .count)
        try visitor.member(.replays, &replays, .count)
        try visitor.member(.lines, &lines, .count)
        try visitor.member(.errors, &errors, .count)
        try visitor.member(.events, &events, .count)
        try visitor.member(.bytesIn, &bytesIn, .count)
        try visitor.member(.bytesOut, &bytesOut, .count)
    }
}
