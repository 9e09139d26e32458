// `stats` (schema: client.stats, server.stats): the daemon's counters.

/// Counters of the daemon, since its start unless noted otherwise.
public struct DaemonStats: Equatable, Sendable {
    /// Milliseconds that the daemon has been running.
    public package(set) var uptimeMs = 0.0
    /// Current connections.
    public package(set) var connections = 0
    /// Connections accepted.
    public package(set) var connectionsTotal = 0
    /// Current cameras.
    public package(set) var cameras = 0
    /// Current subscriptions.
    public package(set) var subscriptions = 0
    /// Replays currently running.
    public package(set) var replays = 0
    /// Lines received.
    public package(set) var lines = 0
    /// Errors sent.
    public package(set) var errors = 0
    /// Events emitted by cameras.
    public package(set) var events = 0
    /// Bytes received.
    public package(set) var bytesIn = 0
    /// Bytes sent.
    public package(set) var bytesOut = 0
}

extension DaemonStats: Described {
    package static let blank = DaemonStats()

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
