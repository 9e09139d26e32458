// A client as the hub sees it: its input, its output, and what it takes part in.
//
// Thousands of clients may be idle, so a peer is small: its properties leave no gaps between them, and what few clients
// have is kept by the part that needs it. `PeerSizeTests` guards this.

import GimbalProtocol

/// What the hub needs from a client's connection.
public protocol Outlet: AnyObject {
    /// The client's user and process, as far as the transport knows.
    var identity: (user: UInt32, process: UInt32)? { get }
    /// Sends as many of the bytes as the connection takes now, in order and in one go; returns how many. A negative
    /// result means that the client reads no more.
    func send(_ pieces: [UnsafeRawBufferPointer]) -> Int
    /// Sends a single piece in the same way; many clients may be sent the same one.
    ///
    /// - Parameter isRepeated: whether the last piece sent by this function, to any client, had the same bytes.
    func send(_ piece: UnsafeRawBufferPointer, isRepeated: Bool) -> Int
    /// Keeps the queue between here and the client short from now on: the client wants the newest state.
    func keepQueueShort()
    /// Stops or resumes reading.
    func setReading(_ isReading: Bool)
    /// Tells the client that nothing more will come.
    func finishSending()
    /// Ends the connection. The hub has already forgotten the peer.
    func close()
}

extension Outlet {
    public var identity: (user: UInt32, process: UInt32)? { nil }

    public func send(_ piece: UnsafeRawBufferPointer, isRepeated: Bool) -> Int { unsafe send([piece]) }
}

public final class Peer {
    /// A number that distinguishes its gestures from others'.
    let number: Int
    /// The connection; it refers to the peer, too, until it is closed.
    let outlet: any Outlet
    let role: Role

    var input = PeerInput()
    var output = PeerOutput()
    var share = FairQueue.Share()

    var subscriptions = PeerSubscriptions()
    /// Its requests that wait until a camera rests.
    var waits: [RestWait] = []
    /// The trace that its lines belong to.
    var sentTrace = Replays.SentTrace()
    /// The replay that its lines belong to, from the header to the end that frees the camera.
    var replay: Replay? { if case .playing(let replay) = sentTrace.state { replay } else { nil } }
    /// The cameras that it has fed.
    var fedCameras = FedCameras()
    /// The camera that it named last.
    var lastCamera: HostedCamera?

    init(number: Int, outlet: any Outlet, role: Role) {
        self.number = number
        self.outlet = outlet
        self.role = role
    }

    var isWatchOnly: Bool { if case .watchOnly = role { true } else { false } }

    /// Whether it is no longer connected.
    var isClosed: Bool { output.state == .closed }

    /// Whether its last write was incomplete: the connection reports when it takes more.
    public var isBlocked: Bool { output.state == .blocked }

    /// Whether its lines belong to a trace, until its `trace-end` has been handled.
    var sendsTrace: Bool { if case .none = sentTrace.state { false } else { true } }

    /// Whether its trace is being played.
    public var isPlaying: Bool { replay != nil }

    /// Whether its lines belong to a trace but come after its end, and so move nothing.
    var sendsBehindTheEnd: Bool {
        switch sentTrace.state {
        case .none: false
        case .playing(let replay): replay.passesOver
        case .passedOver: true
        }
    }

    /// Whether something for it has not been sent yet.
    public var hasUnsent: Bool { isBlocked || output.isQueued }

    /// Whether bytes from it wait, for the rest of a line or for their turn.
    public var hasWaitingInput: Bool { !input.isEmpty }

    /// Bytes that the hub keeps for this peer alone.
    public var memory: Int { input.memory + output.replies.capacity }

    /// The number of events that this peer has subscribed to and not been sent.
    var backlog: UInt64 {
        output.pending.reduce(0) { $0 + ($1.delivery == .every ? $1.backlog : 0) }
    }
}

/// The cameras that a peer has fed, each in the slot that the registry gave it. A client that feeds many cameras in
/// turn finds the next one without a search; `Prefetch` names the measurement that requires this.
struct FedCameras {
    private(set) var slots: [HostedCamera?] = []

    /// The cameras that still exist.
    var cameras: some Sequence<HostedCamera> { slots.lazy.compactMap { $0 }.filter { !$0.isRemoved } }

    /// Returns the camera in the slot after another's, or in the first one after the last, if it has that name.
    /// Prefetches the memory of those that come next.
    func camera(_ name: Span<UInt8>, behind slot: Int) -> HostedCamera? {
        guard !slots.isEmpty else { return nil }
        let next = self.slot(behind: slot)
        guard let camera = slots[next], camera.isNamed(name), !camera.isRemoved else { return nil }
        prefetch(behind: next)
        return camera
    }

    private func slot(behind slot: Int) -> Int { slot + 1 < slots.count ? slot + 1 : 0 }

    /// Prefetches the memory of the cameras after a slot. Each step is one camera further ahead than the next step,
    /// which reads what it has prefetched, so no step waits.
    private func prefetch(behind slot: Int) {
        unsafe slots.withUnsafeBytes { bytes in
            var slot = slot
            for step in HostedCamera.PrefetchStep.allCases.reversed() {
                slot = self.slot(behind: slot)
                // Sound: the slots hold it. Counting another reference would access memory that has not arrived yet.
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
