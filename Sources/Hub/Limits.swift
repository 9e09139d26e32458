// Everything that can grow, and how far.

/// The limits of a hub.
public struct Limits: Sendable {
    /// Cameras at one time.
    public var cameras = 256
    /// A camera's history holds at least this many events and at least this many bytes.
    public var historyEvents = 4096
    public var historyBytes = 1 << 20
    /// Bytes of answers that a peer may leave unread before its requests wait.
    public var unreadReplies = 256 << 10
    /// Bytes of a peer's lines that wait, for their time in a trace or for their turn, before no more are read from it.
    public var readAhead = 128 << 10
    /// Active gestures of one peer on one camera.
    public var gestures = 64
    /// Events emitted before a turn ends and subscribers are written to: a part of the history, so that nobody lags who reads.
    public var eventsPerTurn = 1024
    /// Milliseconds that a peer whose trace was refused has to read why.
    public var lingerMs = 2000.0

    public init() {}
}
