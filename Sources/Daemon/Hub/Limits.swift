// Everything that can grow, and how far.

import GimbalProtocol
import Touches

/// The limits of a hub and of the transports that bring clients to it.
public struct Limits: Sendable {
    /// Clients at one time. The transport counts them.
    public var connections = 1024
    /// Clients of one user at one time: half of all, unless it is set.
    public var connectionsPerUser: Int {
        get { ownConnectionsPerUser ?? (connections + 1) / 2 }
        set { ownConnectionsPerUser = newValue }
    }
    private var ownConnectionsPerUser: Int?
    /// Clients that may only watch: the others are kept for those that feed.
    public var watchingConnections: Int { (connections * 3 + 3) / 4 }
    /// Clients of all users but root and the daemon's own, since the others are kept for these.
    public var untrustedConnections: Int { connections - connections / 16 }
    /// Cameras at one time; as many again may be there only to be watched.
    public var cameras = 256
    /// Subscriptions of one peer.
    public var subscriptions = 256
    /// Requests of one peer that wait for a camera's rest.
    public var waits = 256
    /// Leases that one peer has a part in, or waits for.
    public var leases: Int { 16 }
    /// Peers that have joined a lease: each line on its camera looks for its own among them.
    public var leaseMembers: Int { 64 }
    /// Active gestures of one peer on one camera.
    public var gestures = 64
    /// Active gestures of all peers on one camera.
    public var cameraGestures = 256
    /// Surfaces of one peer on one camera that have fingers on them.
    public var surfaces = 16
    /// Surfaces of all peers on one camera that have fingers on them, or had them last.
    public var cameraSurfaces = TouchSurfaces.usualLimit
    /// Fingers in all objects of a line.
    public var fingers: Int { RequestDecoder.mostFingers }
    /// Bytes of a line, its LF and a CR before it not counted.
    public var line = RequestDecoder.longestLine
    /// Objects of an array.
    public var frame = RequestDecoder.largestFrame
    /// A camera's history holds at least this many events and at least this many bytes.
    public var historyEvents = 4096
    public var historyBytes = 1 << 20
    /// Bytes of answers that a peer may leave unread before its requests wait.
    public var unreadReplies = 256 << 10
    /// Bytes of a peer's lines that wait, for their time in a trace or for their turn, before no more are read from it.
    public var readAhead = 128 << 10
    /// What is done for one peer before others get their turn, counted in ordinary requests; some cost more than one.
    /// ``Turns`` says when it is up to four times as much.
    public var requestsPerTurn = 128
    /// Bytes that a peer is sent before others get their turn, as long as it reads that fast.
    public var bytesPerTurn = 64 << 10
    /// Events emitted before subscribers are written to: a part of the history, so that no client that reads lags.
    public var eventsPerTurn = 1024
    /// Bytes of the lines and checkpoints that are kept of a replay, and of all together, so that they can go elsewhere.
    public var replayBytes = 128 << 20
    public var allReplayBytes = 256 << 20
    /// Markers that a replay knows.
    public var markers = 1024
    /// Milliseconds that a peer whose trace was refused has to close, once it has been sent why.
    public var lingerMs = 2000.0

    public init() {}

    /// Bytes of a peer that are kept at least: of a longer line, it would otherwise never be known that it is one.
    var inputLimit: Int { max(readAhead, line + 2) }
}
