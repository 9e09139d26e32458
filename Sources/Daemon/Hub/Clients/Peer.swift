// A client as the hub sees it: what it has sent, what it is to be sent, and what it does here.

import GimbalProtocol

/// What the hub needs of a client's connection.
public protocol Outlet: AnyObject {
    /// Sends as many of the bytes as it takes now, in order, in one go; says how many. A negative answer is a client that
    /// reads no more.
    func send(_ pieces: [UnsafeRawBufferPointer]) -> Int
    /// The same for a single piece, as many clients are sent it.
    ///
    /// - Parameter isRepeated: whether the last piece that was sent so, to any client, was the same bytes.
    func send(_ piece: UnsafeRawBufferPointer, isRepeated: Bool) -> Int
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
    public func send(_ piece: UnsafeRawBufferPointer, isRepeated: Bool) -> Int { unsafe send([piece]) }
}

public final class Peer {
    /// Tells its gestures from those of others.
    let number: Int
    /// It refers to the peer, too, until it is closed.
    let outlet: any Outlet
    let role: Role
    let isWatchOnly: Bool
    /// The client's user and process, as far as the transport knows.
    public var identity: (user: UInt32, process: UInt32)?

    /// What the client tells others of itself.
    var about: String?

    var input: PeerInput
    var output = PeerOutput()
    var share = FairQueue.Share()

    var subscriptions = PeerSubscriptions()
    /// Its requests that wait for a camera's rest.
    var waits = PeerWaits()
    /// The trace that its lines belong to.
    var sentTrace = Replays.SentTrace()
    /// The replay that its lines move, from the header to the end that frees the camera.
    var replay: Replay? { if case .playing(let replay) = sentTrace.state { replay } else { nil } }
    /// The cameras whose lease it has a part in, or waits for.
    var leasedCameras: [HostedCamera] = []
    /// The cameras that it sent gestures to.
    var fedCameras = FedCameras()
    /// The camera that it named last.
    var lastCamera: HostedCamera?

    init(number: Int, outlet: any Outlet, role: Role, limits: Limits) {
        self.number = number
        self.outlet = outlet
        self.role = role
        isWatchOnly = role != .everything
        input = PeerInput(longestLine: limits.line)
    }

    /// Whether it is not connected any more.
    var isClosed: Bool { output.state == .closed }

    /// Whether its last sending was cut short: the connection says when it takes more.
    public var isBlocked: Bool { output.state == .blocked }

    /// Whether its lines belong to a trace, until its `trace-end` has been handled.
    public var sendsTrace: Bool { if case .none = sentTrace.state { false } else { true } }

    /// Whether its lines belong to a trace, lie behind the end of that, and move nothing.
    var sendsBehindTheEnd: Bool {
        switch sentTrace.state {
        case .none: false
        case .playing(let replay): replay.passesOver
        case .passedOver: true
        }
    }

    /// Whether there is more for it than it has been sent.
    public var hasUnsent: Bool { isBlocked || output.isQueued }

    /// Whether bytes of it wait: for the rest of a line, or for their turn.
    public var isWithinLine: Bool { !input.isEmpty }

    /// Bytes that the hub keeps for this peer alone.
    public var memory: Int { input.memory + output.replies.capacity }

    /// Events that this peer has subscribed to and not been sent.
    var backlog: UInt64 {
        output.pending.reduce(0) { $0 + ($1.delivery == .every ? $1.backlog : 0) }
    }
}

/// The cameras that a peer has sent gestures to, each in the slot that the registry gave it. A client that feeds many cameras
/// in turn finds the next one without a search; see `Prefetch` for the measurement that asks for it.
struct FedCameras {
    private(set) var slots: [HostedCamera?] = []

    /// Those that are still there.
    var cameras: some Sequence<HostedCamera> { slots.lazy.compactMap { $0 }.filter { !$0.isRemoved } }

    /// The camera in the slot behind another's, or in the first one behind the last, if that is its name. The memory of
    /// those that come next is asked for.
    func camera(_ name: Span<UInt8>, behind slot: Int) -> HostedCamera? {
        guard !slots.isEmpty else { return nil }
        let next = self.slot(behind: slot)
        guard let camera = slots[next], camera.isNamed(name), !camera.isRemoved else { return nil }
        prefetch(behind: next)
        return camera
    }

    private func slot(behind slot: Int) -> Int { slot + 1 < slots.count ? slot + 1 : 0 }

    /// Asks for the memory of the cameras behind a slot. Each step is taken one camera further on than the next step, which
    /// reads what it has asked for: so no step waits.
    private func prefetch(behind slot: Int) {
        unsafe slots.withUnsafeBytes { bytes in
            var slot = slot
            for step in HostedCamera.PrefetchStep.allCases.reversed() {
                slot = self.slot(behind: slot)
                // Sound: the slots hold it. A reference of its own would be counted in memory that is not there yet.
                let camera = unsafe bytes.load(
                    fromByteOffset: slot * MemoryLayout<HostedCamera?>.stride, as: Unmanaged<HostedCamera>?.self)
                unsafe camera?._withUnsafeGuaranteedRef { $0.prefetch(step) }
            }
        }
    }

    mutating func insert(_ camera: HostedCamera) {
        let slot = camera.registration.slot
        if slot < slots.count, slots[slot] === camera { return }
        insert(camera, slot)
    }

    @inline(never)
    private mutating func insert(_ camera: HostedCamera, _ slot: Int) {
        while slots.count <= slot { slots.append(nil) }
        slots[slot] = camera
    }

    mutating func removeAll() { slots = [] }
}
