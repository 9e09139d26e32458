// All cameras by name, which of them exist only to be watched, and which have changed since they were saved.
// `CameraRunner` handles what making or removing a camera means for clients.
// Invariants: no two cameras have the same name. `ephemeral` holds exactly the cameras with that lifetime; they are not
// saved, and are counted separately.

import GimbalProtocol

/// The camera that a request is about, as of when its line was read.
enum MeantCamera {
    case present(HostedCamera)
    /// The camera that the replay moves when the request is applied.
    case moved(by: Replay)
    /// No camera has that name.
    case absent(String)

    var camera: HostedCamera? {
        switch self {
        case .present(let camera): camera
        case .moved(let replay): replay.playbackCamera
        case .absent: nil
        }
    }

    var name: String {
        switch self {
        case .present(let camera): camera.name
        case .moved(let replay): replay.cameraName
        case .absent(let name): name
        }
    }
}

final class CameraRegistry {
    /// What the registry knows of a camera. It is stored in the camera, and only the registry changes it.
    struct Registration {
        fileprivate(set) var lifetime = HostedCamera.Lifetime.permanent
        /// A number that no other camera of the registry has, below the most cameras that there have been at a time.
        fileprivate(set) var slot = 0
        /// Whether it may have changed since it was saved.
        fileprivate var isUnsaved = false

        init(_ lifetime: HostedCamera.Lifetime = .permanent) { self.lifetime = lifetime }
    }

    private let limits: Limits
    private let environment: HostedCamera.Environment
    /// Distinguishes this run's epochs from another's.
    private let epochSeed: UInt64
    private var epochs: UInt64 = 0

    private var cameras = CameraTable()
    private var ephemeral: [HostedCamera] = []
    /// Whether an ephemeral camera may have lost its last subscriber that named it.
    private(set) var mayHaveUnwanted = false
    private var slotCount = 0
    private var freeSlots: [Int] = []

    /// The text in which changes are saved; `nil` if they are not.
    var savedText: SavedText?

    init(limits: Limits, memory: (any HistoryMemory)?, epochSeed: UInt64, _ clock: WallClock) {
        self.limits = limits
        self.epochSeed = epochSeed
        environment = HostedCamera.Environment(limits: limits, memory: memory, encoder: LineEncoder(), clock: clock)
    }

    // MARK: Lookup

    var count: Int { cameras.all.count }

    /// The number of cameras that are not ephemeral.
    var permanentCount: Int { count - ephemeral.count }

    var ephemeralCount: Int { ephemeral.count }

    /// All cameras, sorted by name.
    var sorted: [HostedCamera] { cameras.all }

    /// Returns the names of all cameras, sorted, as a JSON array.
    func namesAsJSON() -> [UInt8] { cameras.namesAsJSON() }

    func camera(named name: String) -> HostedCamera? { cameras[name] }

    /// Returns the camera that a peer's request is about. Only this function says which camera a request without a name
    /// means: that of its trace, or else `main`.
    func meant(by name: String?, of peer: Peer) -> MeantCamera {
        if let replay = peer.replay { return .moved(by: replay) }
        let name = name ?? peer.sentTrace.camera ?? HostedCamera.mainName
        if let camera = camera(name.utf8Span.span, of: peer) { return .present(camera) }
        return .absent(name)
    }

    /// Returns the camera that is meant, if it exists: an earlier object of the line may have made it.
    func camera(_ meant: MeantCamera) -> HostedCamera? {
        if let camera = meant.camera, !camera.isRemoved { return camera }
        return cameras[meant.name]
    }

    /// Returns the camera that a peer without a replay means by the bytes of a name, if it exists: nearly always the
    /// one that it named last.
    func camera(_ name: Span<UInt8>, of peer: Peer) -> HostedCamera? {
        if let last = peer.lastCamera, last.isNamed(name), !last.isRemoved { return last }
        let slot = peer.lastCamera?.registration.slot
        // A client that feeds many cameras nearly always names them in the order in which they were made.
        if let slot, let next = peer.fedCameras.camera(name, behind: slot) {
            peer.lastCamera = next
            return next
        }
        peer.lastCamera = cameras[name]
        return peer.lastCamera
    }

    /// Returns the camera that a peer without a replay means if it names none.
    func mainCamera(of peer: Peer) -> HostedCamera? {
        if let last = peer.lastCamera, last.isMain, !last.isRemoved { return last }
        return camera(HostedCamera.mainName.utf8Span.span, of: peer)
    }

    // MARK: Making and removing

    /// Makes a camera that does not exist yet.
    func make(_ name: String, _ lifetime: HostedCamera.Lifetime, at now: Double) -> HostedCamera {
        let camera = HostedCamera(name: name, epoch: newEpoch(), at: now, environment)
        camera.registration = Registration(lifetime)
        insert(camera)
        return camera
    }

    /// Returns a camera without subscribers and history, for a replay to seek on, or to answer questions about one that
    /// does not exist.
    func scratchCamera(_ name: String, from moment: HostedCamera.Moment? = nil, at now: Double = 0) -> HostedCamera {
        var limits = limits
        (limits.historyEvents, limits.historyBytes) = (0, 0)
        let environment = HostedCamera.Environment(
            limits: limits, memory: nil, encoder: environment.encoder, clock: environment.clock)
        return HostedCamera(
            name: name, epoch: "", moment ?? HostedCamera.Moment(limits: limits), clockStart: now, environment)
    }

    private func insert(_ camera: HostedCamera) {
        let slot = freeSlots.popLast() ?? slotCount
        camera.registration.slot = slot
        slotCount = max(slotCount, slot + 1)
        cameras.insert(camera)
        if camera.isEphemeral {
            ephemeral.append(camera)
            mayHaveUnwanted = true
        }
        markUnsaved(camera)
    }

    func remove(_ camera: HostedCamera) {
        makePermanent(camera)
        camera.registration.lifetime = .removed
        // Peers that used it may refer to it for long.
        camera.freeMemory()
        camera.registration.isUnsaved = false
        markUnsaved(camera)
        freeSlots.append(camera.registration.slot)
        cameras.remove(camera)
    }

    /// Makes a camera permanent that existed only to be watched.
    func makePermanent(_ camera: HostedCamera) {
        guard camera.isEphemeral else { return }
        camera.registration.lifetime = .permanent
        markUnsaved(camera)
        ephemeral.removeAll { $0 === camera }
    }

    /// Notes that a subscription to a camera has ended.
    func noteUnsubscribed(_ camera: HostedCamera) {
        if camera.isEphemeral, camera.readers.namedNone { mayHaveUnwanted = true }
    }

    /// Returns the ephemeral cameras without a subscriber that named them, for the caller to remove.
    @inline(never)
    func takeUnwanted() -> [HostedCamera] {
        mayHaveUnwanted = false
        return ephemeral.filter(\.readers.namedNone)
    }

    /// Returns a new name for an unbroken stream of a camera's events.
    func newEpoch() -> String {
        epochs += 1
        return "\(String(epochSeed, radix: 16))-\(epochs)"
    }

    // MARK: Handover

    /// Returns a camera as another process left it, not registered yet.
    func camera(_ record: HostedCamera.Record) throws(StateDecoder.Damage) -> HostedCamera {
        try HostedCamera(record, environment)
    }

    /// Registers the cameras of another process; the registry must be empty.
    func restore(_ cameras: some Collection<HostedCamera>) {
        for camera in cameras.sorted(by: { $0.name < $1.name }) { insert(camera) }
    }

    /// Registers saved cameras; the registry must be empty.
    ///
    /// - Parameter keepsEpochs: whether it is certain that nothing was emitted after they were saved.
    func restore(_ saved: [SavedCamera], keepsEpochs: Bool, at now: Double) {
        for camera in saved {
            var camera = camera
            if !keepsEpochs { camera.epoch = newEpoch() }
            insert(HostedCamera(camera, at: now, environment))
        }
    }

    // MARK: Saving

    /// Marks a camera that may have changed since it was saved.
    func markUnsaved(_ camera: HostedCamera) {
        // A camera that plays a stored trace by itself would be saved over and over.
        guard !camera.registration.isUnsaved, camera.replay?.isAttract != true else { return }
        camera.registration.isUnsaved = true
        savedText?.note(camera.name, isRemoved: camera.isRemoved)
    }

    /// The cameras in the form in which they are saved.
    var saved: [SavedCamera] { sorted.filter { !$0.isEphemeral }.map(saved) }

    /// Returns a camera as it is saved: at rest. If it moves, a new epoch tells a subscriber that has read part of the
    /// movement that its end will not follow.
    private func saved(_ camera: HostedCamera) -> SavedCamera {
        var saved = camera.saved
        if camera.isMoving { saved.epoch = newEpoch() }
        return saved
    }

    /// Updates the text of at most `count` cameras; returns whether none are left.
    func continueSaving(atMost count: Int) -> Bool {
        guard let savedText else { return true }
        return savedText.update(atMost: count) { name in
            let camera = cameras[name]
            camera?.registration.isUnsaved = false
            return camera.flatMap { $0.isEphemeral ? nil : saved($0).lines }
        }
    }
}
