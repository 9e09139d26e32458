// A client as the hub sees it: bytes that are not yet lines, answers that are not yet sent, and what it does here.

import Wire

/// What the hub needs of a client's connection.
public protocol Outlet: AnyObject {
    /// Sends as many of the bytes as it takes now, in order, in one go; says how many. A negative answer is a client that
    /// reads no more.
    func send(_ pieces: [UnsafeRawBufferPointer]) -> Int
    /// As above, for what stands in one piece.
    func send(_ piece: UnsafeRawBufferPointer) -> Int
    /// From now on little is to wait between here and the client: it wants what is newest.
    func keepQueueShort()
    /// Stops or goes on reading.
    func setReading(_ isReading: Bool)
    /// Tells the client that nothing more will come.
    func finishSending()
    /// Ends the connection. The hub has forgotten the peer.
    func close()
}

extension Outlet {
    public func send(_ piece: UnsafeRawBufferPointer) -> Int { unsafe send([piece]) }
}

public final class Peer {
    /// Tells feeds apart.
    let number: Int
    /// It, too, holds the peer, until it is closed.
    let outlet: any Outlet
    let role: Role
    let isWatchOnly: Bool

    // Input
    var framer: LineFramer
    /// What has been read and not taken: the beginning of a line, or lines that wait.
    var input: [UInt8] = []
    /// The client sends no more.
    var hasEnded = false
    /// All that it sent has been taken.
    var isInputOver = false
    /// What still comes is thrown away; this is when the connection ends at the latest, once all replies are sent.
    var lingerEnd: Double?
    var isReading = true

    // Its turn, see `FairQueue`
    var isWaiting = false
    var time: UInt64 = 0
    /// The turn in which it was last served.
    var servedIn: UInt64 = 0

    // Output
    var replies: [UInt8] = []
    var repliesSent = 0
    /// The last sending was cut short: the connection says when it takes more.
    public internal(set) var isBlocked = false
    var isQueued = false
    /// The hub's emission that was the last one when its replies were last put behind all events.
    var caughtUpAt: UInt64 = .max
    var isGone = false
    /// The client reads no more.
    var isDeaf = false

    // What it does
    var subscriptions: [Subscription] = []
    /// Its subscription to all cameras; `subscriptions` has what comes of it.
    var all: AllCameras?
    /// Its requests that wait for a camera's rest.
    var waits = RestWaits()
    /// Who it is, as whoever brought it knows.
    public var identity: (user: UInt32, process: UInt32)?
    var replay: Replay?
    /// The cameras that it sent gestures to.
    var fedCameras: some Collection<HostedCamera> { camerasFed.values }
    private var camerasFed: [ObjectIdentifier: HostedCamera] = [:]
    /// How many there were when removed ones were last forgotten.
    private var camerasKept = 1
    /// The one among them that it sent the last one to.
    private var lastFed: ObjectIdentifier?
    /// The camera that it named last.
    var lastCamera: HostedCamera?

    init(number: Int, outlet: any Outlet, role: Role, limits: Limits) {
        self.number = number
        framer = LineFramer(longest: limits.line)
        self.outlet = outlet
        self.role = role
        isWatchOnly = role != .everything
    }

    func takeNote(ofFeeding camera: HostedCamera) {
        guard lastFed != ObjectIdentifier(camera) else { return }
        lastFed = ObjectIdentifier(camera)
        guard camerasFed.updateValue(camera, forKey: ObjectIdentifier(camera)) == nil else { return }
        // Those that have been removed since are forgotten, before they are more than the others.
        guard camerasFed.count >= 2 * camerasKept else { return }
        camerasFed = camerasFed.filter { !$0.value.isRemoved }
        camerasKept = max(camerasFed.count, 1)
    }

    /// Gives up the cameras that it fed.
    func letGo() {
        (camerasFed, camerasKept, lastFed) = ([:], 1, nil)
        lastCamera = nil
    }

    /// Takes note that it is queued for sending; `false` if it is already, or cannot be sent anything.
    func joinQueue() -> Bool {
        guard !isQueued, !isBlocked, !isGone else { return false }
        isQueued = true
        return true
    }

    /// Whether a trace that it sent is being played.
    public var isPlaying: Bool { replay != nil }

    /// Whether there is more for it than it has been sent.
    public var hasUnsent: Bool { isBlocked || isQueued }

    /// Bytes that the hub keeps for this peer alone.
    public var memory: Int { input.capacity + replies.capacity }

    var unreadReplies: Int { replies.count - repliesSent }

    /// Events that this peer has subscribed to and not been sent.
    var backlog: UInt64 {
        subscriptions.reduce(0) { $0 + ($1.delivery == .every ? $1.backlog : 0) }
    }
}
