// Which cameras there are, by their names; which of them are there only to be watched; and which have changed since they
// were saved. What follows for clients when a camera comes or goes is the business of `CameraRunner`.
// Invariants: no two cameras have one name. `ephemeral` are those of `cameras` whose lifetime is that; they are not saved, and
// count apart from the others.

import GimbalProtocol

/// The camera that a request is about, as things stood when its line was read.
enum MeantCamera {
    case present(HostedCamera)
    /// The one that the replay moves when the request is applied.
    case moved(by: Replay)
    /// There is no camera of that name.
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
    /// What the registry knows of a camera. It is kept in the camera, and only the registry changes it.
    struct Registration {
        fileprivate(set) var lifetime = HostedCamera.Lifetime.permanent
        /// A number that no other camera of the registry has, and as low as can be.
        fileprivate(set) var slot = 0
        /// Whether it may have changed since it was saved.
        fileprivate var isUnsaved = false

        init(_ lifetime: HostedCamera.Lifetime = .permanent) { self.lifetime = lifetime }
    }

    private let limits: Limits
    private let environment: HostedCamera.Environment
    /// Tells this run's epochs from another's.
    private let epochSeed: UInt64
    private var epochs: UInt64 = 0

    private var cameras = CameraTable()
    private var ephemeral: [HostedCamera] = []
    /// Whether one of those may have no subscriber any more.
    private(set) var mayHaveUnwanted = false
    private var slotCount = 0
    private var freeSlots: [Int] = []

    /// Whether changes are saved.
    var tracksChanges = false
    /// The names of cameras that have changed or gone since they were saved.
    private var unsaved: Set<String> = []
    /// The names of cameras in the saved text. A camera that comes and goes between two saves leaves no trace.
    private var inText: Set<String> = []

    init(limits: Limits, memory: (any HistoryMemory)?, epochSeed: UInt64, _ clock: WallClock) {
        self.limits = limits
        self.epochSeed = epochSeed
        environment = HostedCamera.Environment(limits: limits, memory: memory, encoder: LineEncoder(), clock: clock)
    }

    // MARK: Which there are

    var count: Int { cameras.all.count }

    /// How many are there for all clients.
    var permanentCount: Int { count - ephemeral.count }

    var ephemeralCount: Int { ephemeral.count }

    /// All cameras, by their names.
    var sorted: [HostedCamera] { cameras.all }

    /// The names of all, sorted, as an array of JSON.
    func namesAsJSON() -> [UInt8] { cameras.namesAsJSON() }

    func camera(named name: String) -> HostedCamera? { cameras[name] }

    /// The camera that a peer's request is about. This is the only place that says which one a request without a name means:
    /// that of its trace, or else `main`.
    func meant(by name: String?, of peer: Peer) -> MeantCamera {
        if let replay = peer.replay { return .moved(by: replay) }
        let name = name ?? peer.sentTrace.camera ?? HostedCamera.mainName
        if let camera = camera(name.utf8Span.span, of: peer) { return .present(camera) }
        return .absent(name)
    }

    /// The camera that is meant, if it is there: an earlier object of the line may have made it.
    func camera(_ meant: MeantCamera) -> HostedCamera? {
        if let camera = meant.camera, !camera.isRemoved { return camera }
        return cameras[meant.name]
    }

    /// The camera that a peer without a replay means by the bytes of a name, if it is there: nearly always that which it
    /// named last.
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

    /// The camera that a peer without a replay means if it names none.
    func mainCamera(of peer: Peer) -> HostedCamera? {
        if let last = peer.lastCamera, last.isMain, !last.isRemoved { return last }
        return camera(HostedCamera.mainName.utf8Span.span, of: peer)
    }

    // MARK: They come and go

    /// Makes a camera that is not there yet.
    func make(_ name: String, _ lifetime: HostedCamera.Lifetime, at now: Double) -> HostedCamera {
        let camera = HostedCamera(name: name, epoch: newEpoch(), at: now, environment)
        camera.registration = Registration(lifetime)
        insert(camera)
        return camera
    }

    /// A new camera that no client ever sees, to answer questions about one that does not exist.
    func unregistered(_ name: String, at now: Double) -> HostedCamera {
        HostedCamera(name: name, epoch: "", at: now, privateEnvironment(limits))
    }

    /// What a camera needs whose history stays in this process.
    private func privateEnvironment(_ limits: Limits) -> HostedCamera.Environment {
        HostedCamera.Environment(
            limits: limits, memory: nil, encoder: environment.encoder, clock: environment.clock)
    }

    /// A camera without subscribers, on which a replay seeks.
    func scratchCamera(for camera: HostedCamera, from moment: HostedCamera.Moment) -> HostedCamera {
        var limits = limits
        (limits.historyEvents, limits.historyBytes) = (0, 0)
        let scratch = HostedCamera(name: camera.name, epoch: "", at: 0, privateEnvironment(limits))
        scratch.restore(from: moment)
        return scratch
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
        // Peers that sent something to it may refer to it for long.
        camera.log.freeMemory()
        camera.registration.isUnsaved = false
        markUnsaved(camera)
        freeSlots.append(camera.registration.slot)
        cameras.remove(camera)
    }

    /// Notes that a camera is not only there to be watched any more.
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

    /// The cameras that existed to be watched and have no subscriber any more. Each is returned once.
    @inline(never)
    func takeUnwanted() -> [HostedCamera] {
        mayHaveUnwanted = false
        return ephemeral.filter(\.readers.namedNone)
    }

    /// What an unbroken stream of a camera's events is called.
    func newEpoch() -> String {
        epochs += 1
        return "\(String(epochSeed, radix: 16))-\(epochs)"
    }

    // MARK: From process to process

    /// A camera as another process left it, not registered yet.
    func camera(_ record: HostedCamera.Record) throws(StateDecoder.Damage) -> HostedCamera {
        try HostedCamera(record, environment)
    }

    /// Registers cameras as another process left them, in place of none.
    func restore(_ cameras: some Collection<HostedCamera>) {
        for camera in cameras.sorted(by: { $0.name < $1.name }) { insert(camera) }
    }

    /// Registers cameras as they were saved, in place of none.
    ///
    /// - Parameter keepsEpochs: whether it is sure that nothing was emitted after they were saved.
    func restore(_ saved: [SavedCamera], keepsEpochs: Bool, at now: Double) {
        for camera in saved {
            var camera = camera
            if !keepsEpochs { camera.epoch = newEpoch() }
            insert(HostedCamera(camera, at: now, environment))
        }
    }

    // MARK: Saving

    /// Marks a camera as one that may have changed since it was saved.
    func markUnsaved(_ camera: HostedCamera) {
        // One that plays by itself would be saved over and over.
        guard !camera.registration.isUnsaved, camera.replay?.isAttract != true else { return }
        camera.registration.isUnsaved = true
        guard tracksChanges else { return }
        if camera.isRemoved, !inText.contains(camera.name) {
            unsaved.remove(camera.name)
        } else {
            unsaved.insert(camera.name)
        }
    }

    var hasUnsaved: Bool { !unsaved.isEmpty }

    /// What is saved of the cameras.
    var saved: [SavedCamera] { sorted.filter { !$0.isEphemeral }.map(saved) }

    /// What is saved of a camera, for a run in which it is at rest. A new epoch tells a subscriber that read of a
    /// movement that it will not read of its end.
    private func saved(_ camera: HostedCamera) -> SavedCamera {
        var saved = camera.saved
        if camera.isMoving { saved.epoch = newEpoch() }
        return saved
    }

    func beginSaving(_ text: inout SavedText) {
        text.begin(unsaved.sorted())
        unsaved = []
    }

    /// Brings the text of so many cameras up to date, at most.
    ///
    /// - Returns: whether all is up to date.
    func continueSaving(_ text: inout SavedText, atMost count: Int) -> Bool {
        text.update(atMost: count) { name in
            let camera = cameras[name]
            camera?.registration.isUnsaved = false
            guard let camera, !camera.isEphemeral else {
                inText.remove(name)
                return nil
            }
            inText.insert(name)
            return saved(camera).lines
        }
    }
}
