// What a node publishes of its cameras: every event, and each camera's retained state. All of it comes over one
// connection to the daemon, which the node reads no faster than the broker takes it.
// Invariant: the retained state of a resting camera is the one in which it rests.

import GimbalProtocol
import Service

final class NodeCameras: DaemonReader {
    /// A camera's state, and when it was last published.
    private struct Published {
        var status: CameraStatus
        /// How the camera's clock relates to the wall clock; `nil` while unknown.
        var clock: CameraClock?
        var lastSent = -Double.infinity
    }

    /// The state of the connection to the daemon.
    private enum Daemon {
        case away(reason: String, nextAttempt: Double)
        /// Connected; the number of cameras is not known yet. The absence says why there was no daemon before.
        case connected(any DaemonConnection, absence: String)
        /// The daemon is announcing its cameras, `remaining` more. The `unseen` were known, but not announced yet.
        case listing(any DaemonConnection, remaining: Int, unseen: Set<String>)
        /// All are known. Cameras announced from now on are new ones that were withheld while the node did not read.
        case listed(any DaemonConnection)
        /// Nothing is published any more.
        case closed

        var connection: (any DaemonConnection)? {
            switch self {
            case .connected(let connection, _), .listing(let connection, _, _), .listed(let connection): connection
            case .away, .closed: nil
            }
        }
    }

    private unowned let outside: any Surroundings
    private let topics: NodeTopics
    private let outbox: BrokerOutbox
    private let options: Node.Settings
    private let claim: NodeClaim
    private let settings: NodeSettings
    let leases: RetainedMessages<CameraLease>

    private static let aboutID = RequestID.text("screens")
    private var daemon = Daemon.away(reason: "not connected yet", nextAttempt: -.infinity)
    private var backoff = Backoff(first: 100, longest: 5000)
    /// How far the node had read each camera when it connected, to catch up on missed events.
    private var points = ResumePoints()
    private var cameras: [String: Published] = [:]
    /// What cameras should follow according to the mirrors of this process.
    private var follows: [String: [FollowedCamera]] = [:]
    /// The same from other processes' mirrors, as told to the daemon: the last full reading, and the one in progress.
    private var mirrored: (known: [String: [FollowedCamera]], read: [String: [FollowedCamera]]) = ([:], [:])
    /// The cameras of other nodes that follow this node's.
    var screens = Screens()
    /// When to ask the daemon for its clients again.
    private var nextClients: Double?
    /// Cameras whose newest state waits until it is due and there is room.
    private var late: Set<String> = []
    /// Cameras that the broker may still retain but that may be gone; their messages are cleared as there is room.
    private var stale: Set<String> = []
    /// Counts changes to the content of `$state`.
    private(set) var changes = 0

    init(
        _ outside: any Surroundings, _ topics: NodeTopics, _ outbox: BrokerOutbox, _ claim: NodeClaim,
        _ options: Node.Settings
    ) {
        (self.outside, self.topics, self.outbox) = (outside, topics, outbox)
        (self.claim, self.options) = (claim, options)
        settings = NodeSettings(RetainedMessages(of: topics.node, at: topics.settings, outbox, claim))
        leases = RetainedMessages(of: topics.node, at: topics.lease, outbox, claim)
    }

    var names: [String] { cameras.keys.sorted() }

    /// Why there is no daemon; `nil` while there is one.
    var absence: String? {
        switch daemon {
        case .away(let reason, _), .connected(_, let reason): reason
        case .listing, .listed: nil
        case .closed: "the bridge has ended"
        }
    }

    // MARK: The daemon

    private func connect(at now: Double) {
        do {
            let connection = try outside.connect(self)
            daemon = .connected(connection, absence: absence ?? "")
            points = ResumePoints(cameras.mapValues { ResumePoint(seq: $0.status.seq, epoch: $0.status.epoch) })
            let kinds = EventKind.movements.union(options.tellsMotions ? [.lease, .clock, .motion] : [.lease, .clock])
            let request = ClientRequest.subscribeAll(
                kinds: kinds, delivery: options.publishesEvents ? .every : .latest,
                since: options.publishesEvents ? points.forAllCameras() : [:])
            // The answer comes before any camera is announced.
            connection.send(try ClientRequest.clients().line() + request.line())
            settings.begin(at: now)
            if options.tellsSkew { tellScreens(isAnew: true, at: now) }
            connection.isReading = !outbox.isFull
        } catch {
            lost("\(error)", at: now)
        }
    }

    private func lost(_ reason: String, at now: Double) {
        let before = absence
        if before != reason { outside.say(.warning, "no daemon: \(reason)") }
        if before == nil { changes += 1 }
        daemon = .away(reason: reason, nextAttempt: now + backoff.next())
        settings.begin(at: nil)
        (mirrored.read, nextClients) = ([:], nil)
        tellRest(at: now)
    }

    /// Publishes all cameras as resting and without leases, as neither is known any more.
    func tellRest(at now: Double) {
        leases.end()
        for name in names where cameras[name]?.status.isOnItsWay == true {
            cameras[name]?.status.isMoving = false
            cameras[name]?.status.motion = nil
            tell(name, at: now)
        }
    }

    func ended(_ reason: String, at now: Double) { lost(reason, at: now) }

    /// Ends the connection; nothing is published any more.
    func close() {
        daemon.connection?.close()
        daemon = .closed
    }

    /// Resumes reading if there is room.
    func readOn() {
        guard let connection = daemon.connection, connection.isReading == outbox.isFull else { return }
        connection.isReading = !outbox.isFull
    }

    func received(_ line: ArraySlice<UInt8>, at now: Double) {
        guard let read = try? ServerLine(line: line) else { return }
        if case .event(let event) = read.message { return handle(event, line, at: now) }
        if settings.handle(read) { return readOn() }
        if case .clients(let page) = read.message { note(page, at: now) }
        // What is told of screens may be too long for this daemon; then its line has no id.
        if case .error(let error) = read.message, read.id != Self.aboutID, error.code != .lineTooLong {
            daemon.connection?.close()
            lost("the daemon refuses: \(error)", at: now)
        }
    }

    private func handle(_ event: CameraEvent, _ line: ArraySlice<UInt8>, at now: Double) {
        backoff.reset()
        if case .subscribedToAll(let count) = event { return begin(count) }
        guard options.wants(event.camera) else { return countListed(event) }
        defer { readOn() }
        switch event {
        case .leaseTaken(let lease): return leases.set(lease.camera, lease)
        case .leaseEnded(let end): return leases.set(end.camera, nil)
        case .clock(let clock):
            cameras[clock.camera]?.clock = clock
            return
        case .motion(let motion): return note(motion.motion, of: motion.camera, at: now)
        default: break
        }
        let gap = points.note(event)
        note(event, at: now)
        if options.publishesEvents {
            outbox.send(Publication(topics.event(event.camera), timed(line, cameras[event.camera]?.status.wallTime)))
            if let gap { outbox.send(Publication(topics.event(gap.camera), gap.line)) }
        }
        countListed(event)
    }

    /// Returns an event's line with a further member, its time on the wall clock if that is known.
    private func timed(_ line: ArraySlice<UInt8>, _ wallTime: WallTime?) -> [UInt8] {
        guard let wallTime, let end = line.lastIndex(of: UInt8(ascii: "}")) else { return Array(line) }
        let members = line[..<end]
        var event = LineWriter(capacity: line.count + 32)
        event.write(members.span)
        event.write(",\"wallTime\":")
        WallTimeRule.wallTime.write(wallTime, to: &event)
        event.write("}")
        return event.bytes
    }

    /// Begins the list of cameras, which the daemon announces next.
    private func begin(_ count: Int) {
        guard case .connected(let connection, _) = daemon else { return }
        changes += 1
        list(connection, remaining: count, unseen: Set(cameras.keys))
    }

    private func countListed(_ event: CameraEvent) {
        guard case .subscribed(let now) = event else { return }
        guard case .listing(let connection, let remaining, var unseen) = daemon else { return }
        // Avoids a copy of the set.
        daemon = .listed(connection)
        unseen.remove(now.camera)
        list(connection, remaining: remaining - 1, unseen: unseen)
    }

    /// Once all are announced, removes the cameras that the daemon no longer has, and those that an earlier run left
    /// retained.
    private func list(_ connection: any DaemonConnection, remaining: Int, unseen: Set<String>) {
        guard remaining <= 0 else { return daemon = .listing(connection, remaining: remaining, unseen: unseen) }
        daemon = .listed(connection)
        for name in unseen.sorted() { remove(name) }
        clearStale()
    }

    // MARK: Camera states

    private func note(_ event: CameraEvent, at now: Double) {
        let name = event.camera
        if case .removed = event { return remove(name) }
        guard let seq = event.seq, let position = event.position else { return }
        if cameras[name] == nil { changes += 1 }
        var published =
            cameras[name]
            ?? Published(
                status: CameraStatus(camera: name, epoch: "", seq: seq, isMoving: false, position: position))
        (published.status.seq, published.status.position) = (seq, position)
        (published.status.timeMs, published.status.reason) = (event.timeMs, event.move?.reason)
        // The camera's clock may change here; the matching wall-clock time comes next.
        if event.move == nil { (published.clock, published.status.motion) = (nil, nil) }
        published.status.wallTime = event.timeMs.flatMap { published.clock?.wallTime(of: $0) }
        if let isMoving = event.isMoving { published.status.isMoving = isMoving }
        if event.isMoving == false { published.status.motion = nil }
        switch event {
        case .subscribed(let present):
            (published.status.epoch, published.status.isMoving) = (present.epoch, false)
            // If the camera has a lease, that comes next.
            leases.set(name, nil)
            if let connection = daemon.connection { settings.ask(name, by: connection) }
        case .lagged(let lagged):
            published.status.epoch = lagged.epoch ?? published.status.epoch
            published.status.isMoving = false
            leases.set(name, nil)
        case .reset(let reset): published.status.epoch = reset.epoch ?? published.status.epoch
        case .moveStarted:
            // The change that it announces comes next, and is published instead.
            cameras[name] = published
            return
        case .cameraChanged, .idle: break
        default: return
        }
        cameras[name] = published
        // The motion determines the positions.
        guard published.status.motion == nil else { return }
        if isDue(published, at: now) { tell(name, at: now) } else { late.insert(name) }
    }

    /// Notes a motion that begins to move a camera, or its end.
    private func note(_ motion: MotionStart?, of name: String, at now: Double) {
        guard cameras[name] != nil, cameras[name]?.status.motion != motion else { return }
        cameras[name]?.status.motion = motion
        tell(name, at: now)
    }

    /// Whether to publish now: a resting camera at once, a moving one at the given rate.
    private func isDue(_ camera: Published, at now: Double) -> Bool {
        !camera.status.isMoving || now >= camera.lastSent + options.cameraInterval
    }

    private func remove(_ name: String) {
        leases.set(name, nil)
        guard cameras.removeValue(forKey: name) != nil else { return }
        late.remove(name)
        changes += 1
        stale.insert(name)
        clearStale()
    }

    /// Publishes a camera's retained state; later, if there is no room.
    private func tell(_ name: String, at now: Double) {
        guard var status = cameras[name]?.status, outbox.isOpen else { return }
        let mustArrive = !status.isMoving || status.motion != nil
        guard mustArrive || outbox.hasRoom else {
            late.insert(name)
            return
        }
        status.follows = follows[name] ?? mirrored.known[name] ?? []
        // A resting state or a motion must arrive; a position in between is soon replaced.
        let publication = Publication(
            topics.camera(name), status.payload(claim.nextStamp(topics.node)), isRetained: true,
            qos: mustArrive ? .atLeastOnce : .atMostOnce)
        if outbox.send(publication) {
            cameras[name]?.lastSent = now
            late.remove(name)
        } else {
            late.insert(name)
        }
    }

    /// Notes what a camera should follow according to a mirror of this process.
    func tell(_ name: String, follows chain: [FollowedCamera], at now: Double) {
        follows[name] = chain
        tell(name, at: now)
    }

    /// Notes the mirrors of other processes among the daemon's clients.
    private func note(_ page: ClientPage, at now: Double) {
        // A client that may only watch mirrors nothing, whatever it says.
        for client in page.clients where client.role == .everything {
            guard let camera = client.about.flatMap(MirroredCamera.init) else { continue }
            mirrored.read[camera.name] = camera.follows
        }
        if page.hasMore, let last = page.clients.last { return askForClients(after: last.number) }
        let before = mirrored.known
        mirrored = (mirrored.read, [:])
        nextClients = now + NodeSettings.interval
        for name in names where before[name] != mirrored.known[name] { tell(name, at: now) }
    }

    private func askForClients(after number: Int) {
        nextClients = nil
        if let line = try? ClientRequest.clients(after: number).line() { daemon.connection?.send(line) }
    }

    /// Tells the daemon's other clients how well the cameras that follow this node's keep in step.
    private func tellScreens(isAnew: Bool = false, at now: Double) {
        // One that does not read is not told more and more.
        guard let connection = daemon.connection, let about = screens.takeAbout(at: now, isAnew: isAnew),
            connection.unsentBytes == 0 || isAnew,
            let line = try? ClientRequest.hello(about: about).line(id: Self.aboutID)
        else { return }
        connection.send(line)
    }

    /// Publishes everything again: the broker is there, and this process is the node.
    func opened(at now: Double) {
        for name in names { tell(name, at: now) }
        settings.retained.opened()
        leases.opened()
        readOn()
    }

    // MARK: Leftovers of earlier runs

    /// Notes that the broker retains this camera.
    func sawRetained(_ name: String) {
        guard cameras[name] == nil else { return }
        stale.insert(name)
        clearStale()
    }

    /// Once all cameras are known, clears the retained messages of the others, as far as there is room.
    func clearStale() {
        guard case .listed = daemon, !stale.isEmpty, !outbox.isFull else { return }
        for name in stale.sorted() {
            guard !outbox.isFull else { return }
            stale.remove(name)
            guard cameras[name] == nil else { continue }
            outbox.send(Publication(topics.camera(name), [], isRetained: true))
            settings.retained.remove(name)
        }
    }

    // MARK: Time

    var deadline: Double? {
        let oldest = late.compactMap { cameras[$0] }.filter(\.status.isMoving).map(\.lastSent).min()
        let due = oldest.map { $0 + options.cameraInterval }
        var attempt: Double?
        if case .away(_, let next) = daemon { attempt = next }
        // Without room, the loop turns as soon as there is some.
        return .earliest(
            outbox.hasRoom ? due : nil, attempt, settings.deadline, nextClients,
            daemon.connection == nil ? nil : screens.deadline)
    }

    func advance(to now: Double) {
        if case .away(_, let attempt) = daemon, attempt <= now { connect(at: now) }
        if let connection = daemon.connection { settings.advance(to: now, by: connection) { names } }
        if let time = nextClients, time <= now { askForClients(after: 0) }
        tellScreens(at: now)
        guard outbox.isOpen else { return }
        clearStale()
        settings.retained.tellOn()
        leases.tellOn()
        for name in late.filter({ cameras[$0].map { isDue($0, at: now) } ?? false }).sorted() { tell(name, at: now) }
    }
}
