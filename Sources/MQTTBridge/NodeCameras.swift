// What a node tells of its cameras: what each does, event by event, and how each stands, for the broker to keep. All of it
// comes by one connection to the daemon, which is read no further than the broker takes it.
// Invariant: what the broker keeps of a camera is, once it rests, how it rests.

import GimbalProtocol
import Service

final class NodeCameras: LinkReader {
    /// How a camera stands, and what the broker knows of it.
    private struct Shown {
        var standing: CameraStanding
        /// Whether the broker does not know yet.
        var isNew = true
        var lastSent = -Double.infinity
    }

    private unowned let outside: any Surroundings
    private let topics: NodeTopics
    private let outbox: BrokerOutbox
    private let wanted: Set<String>
    private let tellsEvents: Bool
    private let interval: Double
    private let claim: () -> (instance: String, generation: Int)
    private lazy var settings = NodeSettings(topics, outbox) { [unowned self] in stamp() }
    private var moves = MoveReader()

    private var link: (any DaemonLink)?
    private var backoff = Backoff(first: 100, longest: 5000)
    private var nextAttempt: Double? = -.infinity
    /// How far the cameras had been read when the connection was made, for what was missed since.
    private var points = ResumePoints()
    private var cameras: [String: Shown] = [:]
    /// Those whose newest state is told later: when it is time, or when there is room.
    private var late: Set<String> = []
    /// Whether the daemon has said how many cameras there are. What it says of all of them later is about new ones, which
    /// were not told while this side did not read.
    private var isListed = false
    /// What the daemon has not told of again since it came back, and how many cameras it has yet to tell of.
    private var untold: (names: Set<String>, count: Int)?
    /// Cameras that the broker keeps, as far as is known, and that may be there no more: it forgets them as there is room.
    private var kept: Set<String> = []
    /// Counts what is told of cameras, from 1.
    private var lastNumber = 0
    /// Why there is no daemon.
    private(set) var absence: String? = "not connected yet"
    /// Whether `$state` has changed.
    var hasNews = true

    init(
        _ outside: any Surroundings, _ topics: NodeTopics, _ outbox: BrokerOutbox, wanted: Set<String>,
        tellsEvents: Bool, interval: Double, claim: @escaping () -> (instance: String, generation: Int)
    ) {
        (self.outside, self.topics, self.outbox, self.wanted) = (outside, topics, outbox, wanted)
        (self.tellsEvents, self.interval, self.claim) = (tellsEvents, interval, claim)
    }

    var names: [String] { cameras.keys.sorted() }

    // MARK: The daemon

    private func connect(at now: Double) {
        nextAttempt = nil
        do {
            let link = try outside.connect(self)
            self.link = link
            (isListed, untold) = (false, nil)
            points = ResumePoints(cameras.mapValues { ResumePoint(seq: $0.standing.seq, epoch: $0.standing.epoch) })
            let request = ClientRequest.subscribeAll(
                delivery: tellsEvents ? .every : .latest, since: tellsEvents ? points.forAllCameras() : [:])
            link.send(try request.line())
            settings.begin(at: now)
            link.isReading = !outbox.isFull
        } catch {
            noteAbsence("\(error)", at: now)
        }
    }

    private func noteAbsence(_ reason: String, at now: Double) {
        if absence != reason { outside.say(.warning, "no daemon: \(reason)") }
        if absence == nil { hasNews = true }
        absence = reason
        link = nil
        settings.begin(at: nil)
        nextAttempt = now + backoff.next()
        tellRest(at: now)
    }

    /// What moves is not known to move any more.
    func tellRest(at now: Double) {
        for name in names where cameras[name]?.standing.isMoving == true {
            cameras[name]?.standing.isMoving = false
            tell(name, at: now)
        }
    }

    func ended(_ reason: String, at now: Double) { noteAbsence(reason, at: now) }

    /// Ends the connection; nothing is told any more.
    func close() {
        link?.close()
        link = nil
        nextAttempt = nil
    }

    /// Reads on as far as there is room.
    func readOn() {
        guard let link, link.isReading == outbox.isFull else { return }
        link.isReading = !outbox.isFull
    }

    func received(_ line: ArraySlice<UInt8>, at now: Double) {
        if let event = moves.read(line.span) { return handle(event, line, at: now) }
        guard let read = try? ServerLine(line: line) else { return }
        if case .event(let event) = read.message { return handle(event, line, at: now) }
        if settings.handle(read) { return readOn() }
        if case .error(let error) = read.message { refused(error, at: now) }
    }

    private func handle(_ event: CameraEvent, _ line: ArraySlice<UInt8>, at now: Double) {
        backoff.reset()
        if case .subscribedToAll(let count) = event { return begin(count, at: now) }
        guard wanted.isEmpty || wanted.contains(event.camera) else { return countTold(event) }
        let gap = points.note(event)
        note(event, at: now)
        if tellsEvents {
            outbox.send(Publication(topics.event(event.camera), Array(line)))
            if let gap { outbox.send(Publication(topics.event(gap.camera), gap.line)) }
        }
        countTold(event)
        readOn()
    }

    private func refused(_ error: GimbalError, at now: Double) {
        link?.close()
        noteAbsence("the daemon refuses: \(error)", at: now)
    }

    /// All cameras are told of next.
    private func begin(_ count: Int, at now: Double) {
        guard !isListed else { return }
        isListed = true
        if absence != nil { (absence, hasNews) = (nil, true) }
        untold = (Set(cameras.keys), count)
        forgetUntold()
    }

    private func countTold(_ event: CameraEvent) {
        guard case .subscribed(let now) = event, var left = untold else { return }
        left.names.remove(now.camera)
        left.count -= 1
        untold = left
        forgetUntold()
    }

    /// Cameras that the daemon has no more since it came back, or that another run of this node has left with the broker.
    private func forgetUntold() {
        guard let left = untold, left.count <= 0 else { return }
        for name in left.names.sorted() { remove(name) }
        untold = nil
        clearKept()
    }

    // MARK: How each stands

    private func note(_ event: CameraEvent, at now: Double) {
        let name = event.camera
        if case .removed = event { return remove(name) }
        guard let seq = event.seq, let position = event.position else { return }
        let before = cameras[name]
        if before == nil { hasNews = true }
        var shown =
            before
            ?? Shown(standing: CameraStanding(camera: name, epoch: "", seq: seq, isMoving: false, position: position))
        shown.isNew = true
        (shown.standing.seq, shown.standing.position) = (seq, position)
        (shown.standing.timeMs, shown.standing.reason) = (event.timeMs, event.move?.reason)
        switch event {
        case .subscribed(let present):
            (shown.standing.epoch, shown.standing.isMoving) = (present.epoch, false)
            link.map { settings.ask(name, by: $0) }
        case .lagged(let lagged):
            (shown.standing.epoch, shown.standing.isMoving) = (lagged.epoch ?? shown.standing.epoch, false)
        case .reset(let reset):
            (shown.standing.epoch, shown.standing.isMoving) =
                (reset.epoch ?? shown.standing.epoch, reset.moving != nil)
        case .moveStarted:
            // The change that it announces comes right behind it, and is what is told.
            shown.standing.isMoving = true
            cameras[name] = shown
            return
        case .cameraChanged: shown.standing.isMoving = true
        case .idle: shown.standing.isMoving = false
        case .input, .touch, .replay, .marker, .removed, .subscribedToAll: return
        }
        cameras[name] = shown
        if isDue(shown, at: now) { tell(name, at: now) } else { late.insert(name) }
    }

    /// Whether the broker is told now: what rests at once, what moves so many times a second.
    private func isDue(_ shown: Shown, at now: Double) -> Bool {
        !shown.standing.isMoving || now >= shown.lastSent + interval
    }

    private func remove(_ name: String) {
        guard cameras.removeValue(forKey: name) != nil else { return }
        late.remove(name)
        hasNews = true
        kept.insert(name)
        clearKept()
    }

    /// Tells how a camera stands, for the broker to keep.
    private func tell(_ name: String, at now: Double) {
        guard let shown = cameras[name], outbox.isOpen else { return }
        guard !shown.standing.isMoving || outbox.hasRoom else {
            late.insert(name)
            return
        }
        // What rests is known to be there; what moves is soon told again.
        let publication = Publication(
            topics.camera(name), shown.standing.payload(stamp()), isRetained: true,
            isAcknowledged: !shown.standing.isMoving)
        let isSent = outbox.send(publication)
        cameras[name]?.isNew = !isSent
        if isSent {
            cameras[name]?.lastSent = now
            late.remove(name)
        } else {
            late.insert(name)
        }
    }

    /// Who tells a payload, and the next number.
    private func stamp() -> Stamp {
        let (instance, generation) = claim()
        lastNumber += 1
        return Stamp(node: topics.node, instance: instance, generation: generation, number: lastNumber)
    }

    /// The broker is there, and this process is the node: all is told anew.
    func opened(at now: Double) {
        for name in names { tell(name, at: now) }
        settings.opened()
        readOn()
    }

    // MARK: What an older run has left

    /// The broker has kept this camera.
    func sawKept(_ name: String) {
        guard cameras[name] == nil else { return }
        kept.insert(name)
        clearKept()
    }

    /// Where it is known which cameras there are, has the broker forget the others, as far as there is room.
    func clearKept() {
        guard absence == nil, untold == nil, !kept.isEmpty, !outbox.isFull else { return }
        for name in kept.sorted() {
            guard !outbox.isFull else { return }
            kept.remove(name)
            guard cameras[name] == nil else { continue }
            outbox.send(Publication(topics.camera(name), [], isRetained: true))
            settings.remove(name)
        }
    }

    // MARK: Time

    var deadline: Double? {
        let due = late.compactMap { cameras[$0] }.filter(\.standing.isMoving).map { $0.lastSent + interval }.min()
        // Where there is no room, the loop turns when there is some.
        return .earliest(outbox.hasRoom ? due : nil, nextAttempt, settings.deadline)
    }

    func advance(to now: Double) {
        if let attempt = nextAttempt, attempt <= now { connect(at: now) }
        if let link { settings.advance(to: now, by: link) { names } }
        guard outbox.isOpen else { return }
        clearKept()
        for name in late.sorted() {
            guard let shown = cameras[name], shown.isNew else { continue }
            if isDue(shown, at: now) { tell(name, at: now) }
        }
    }
}
