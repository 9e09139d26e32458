// Limits on everything that can grow.

import GimbalProtocol
import Touches

/// The limits of a hub and of the transports that bring clients to it.
public struct Limits: Sendable {
    /// Clients at one time, counted by the transport.
    public var connections = 1024
    /// Clients of one user at one time: half of all, unless set.
    public var connectionsPerUser: Int {
        get { ownConnectionsPerUser ?? (connections + 1) / 2 }
        set { ownConnectionsPerUser = newValue }
    }
    private var ownConnectionsPerUser: Int?
    /// Watch-only clients: the other connections are reserved for clients that feed cameras.
    public var watchingConnections: Int { (connections * 3 + 3) / 4 }
    /// Clients of all users except root and the daemon's own user, for which the other connections are reserved.
    public var untrustedConnections: Int { connections - connections / 16 }
    /// Cameras at one time; as many again may exist only to be watched.
    public var cameras = 256
    /// Subscriptions of one peer.
    public var subscriptions = 256
    /// Requests of one peer that wait until a camera rests.
    public var waits = 256
    /// Leases that one peer takes part in or waits for.
    public var leases: Int { 16 }
    /// Peers that have joined a lease: each line on its camera searches them for its sender.
    public var leaseMembers: Int { 64 }
    /// Active gestures of one peer on one camera.
    public var gestures = 64
    /// Active gestures of all peers on one camera.
    public var cameraGestures = 256
    /// Surfaces of one peer on one camera that have fingers on them.
    public var surfaces = 16
    /// Surfaces of all peers on one camera: those with fingers, and the most recently used of the others.
    public var cameraSurfaces = TouchSurfaces.usualLimit
    /// Fingers in all objects of a line.
    public var fingers: Int { RequestDecoder.mostFingers }
    /// Bytes of a line, without its LF and a CR before that.
    public var line = RequestDecoder.longestLine
    /// Objects in an array.
    public var batch = RequestDecoder.largestBatch
    /// A camera's history holds at least this many events and at least this many bytes.
    public var historyEvents = 4096
    public var historyBytes = 1 << 20
    /// The most bytes of a camera's history: clients can make motions and markers long. An event has fewer than 512.
    var mostHistoryBytes: Int { max(2 * historyBytes, historyEvents << 9) }
    /// Bytes of replies that a peer may leave unread before its requests wait.
    public var unreadReplies = 256 << 10
    /// Bytes of a peer's lines that wait for their time in a trace or for their turn, before reading from it stops.
    public var readAhead = 128 << 10
    /// Work for one peer before the others get their turn, counted in ordinary requests; some requests count as
    /// several. ``Turns`` says when it is up to four times as much.
    public var requestsPerTurn = 128
    /// Bytes sent to a peer before the others get their turn, as long as it reads that fast.
    public var bytesPerTurn = 64 << 10
    /// Events emitted before subscribers are written to: a fraction of the history, so that no client that reads lags.
    public var eventsPerTurn = 1024
    /// Bytes of the lines and checkpoints that are kept for seeking, for one replay and for all together.
    public var replayBytes = 128 << 20
    public var allReplayBytes = 256 << 20
    /// Markers of one replay.
    public var markers = 1024
    /// Milliseconds that a peer whose trace was refused or cut has to close its connection, once it has been sent all.
    public var lingerMs = 2000.0

    public init() {}

    /// Bytes of waiting input at which reading stops: always more than a line, so that longer lines are recognized.
    var inputLimit: Int { max(readAhead, line + 2) }
}
