// What a node tells of its cameras: what each does, event by event, and how each stands, for the broker to keep. All of it
// comes by one connection to the daemon, which is read no further than the broker takes it.
// Invariant: what the broker keeps of a camera is, once it rests, how it rests.

import GimbalProtocol

final class NodeCameras: LinkReader {
    /// How a camera stands.
    private struct Shown {
        var epoch: String
        var seq: Int
        /// What the last event says of time and reason, and the position, as the daemon has written them.
        var timeMs: ArraySlice<UInt8>?
        var reason: ArraySlice<UInt8>?
        var position: ArraySlice<UInt8>
        var isMoving = false
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
    private lazy var settings = NodeSettings(topics, outbox) { [unowned self] in stamp(&$0) }

    private var link: (any DaemonLink)?
    private var backoff = Backoff(first: 100, longest: 5000)
    private var nextAttempt: Double? = -.infinity
    /// How far the cameras had been read when the connection was made, for what was missed since.
    private var points = ResumePoints()
    private var cameras: [String: Shown] = [:]
    /// Those whose newest state is told later: when it is time, or when there is room.
    private var late: Set<String> = []
    /// What the daemon has not told of again since it came back, and how many cameras it has yet to tell of.
    private var untold: (names: Set<String>, count: Int)?
    /// Cameras that the broker has kept of an older run.
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
            points = ResumePoints(cameras.mapValues { ResumePoint(seq: $0.seq, epoch: $0.epoch) })
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
        for name in names where cameras[name]?.isMoving == true {
            cameras[name]?.isMoving = false
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
        let bytes = Array(line)
        guard let move = MoveLine(bytes) else { return receive(other: line, at: now) }
        guard wanted.isEmpty || wanted.contains(move.camera) else { return }
        guard cameras[move.camera] != nil else { return receive(other: line, at: now) }
        note(move, at: now)
        if tellsEvents { outbox.send(Publication(topics.event(move.camera), bytes)) }
        readOn()
    }

    /// A line that tells no step of a camera that is known.
    private func receive(other line: ArraySlice<UInt8>, at now: Double) {
        let message = Message(line)
        guard let event = message.event else {
            if settings.handle(message, line) { return readOn() }
            if let error = message.error { refused(error, at: now) }
            return
        }
        backoff.reset()
        if case .subscribedToAll(let count) = event { return begin(count, at: now) }
        guard wanted.isEmpty || wanted.contains(event.camera) else { return countTold(event) }
        let gap = points.note(event)
        note(event, line, at: now)
        if tellsEvents {
            outbox.send(Publication(topics.event(event.camera), Array(line)))
            if let gap { outbox.send(Publication(topics.event(gap.camera), Self.line(gap))) }
        }
        countTold(event)
        readOn()
    }

    private func refused(_ error: GimbalError, at now: Double) {
        link?.close()
        noteAbsence("the daemon refuses: \(error)", at: now)
    }

    private static func line(_ gap: Lagged) -> [UInt8] {
        var line = LineWriter(capacity: 512)
        line.lagged(gap)
        return line.bytes.dropLast()
    }

    /// All cameras are told of next.
    private func begin(_ count: Int, at now: Double) {
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

    private func note(_ event: CameraEvent, _ line: ArraySlice<UInt8>, at now: Double) {
        let name = event.camera
        if case .removed = event { return remove(name) }
        guard let seq = event.seq, let position = Self.position(in: line) else { return }
        let before = cameras[name]
        var shown = before ?? Shown(epoch: "", seq: 0, position: [])
        if before == nil { hasNews = true }
        (shown.seq, shown.position, shown.isNew) = (seq, position, true)
        shown.timeMs = event.timeMs.map { ArraySlice(FixedDecimal($0, places: 3).text.utf8) }
        shown.reason = event.move.map { ArraySlice($0.reason.rawValue.utf8) }
        switch event {
        case .subscribed(let present):
            (shown.epoch, shown.isMoving) = (present.epoch, false)
            link.map { settings.ask(name, by: $0) }
        case .lagged(let lagged): (shown.epoch, shown.isMoving) = (lagged.epoch ?? shown.epoch, false)
        case .reset(let reset): (shown.epoch, shown.isMoving) = (reset.epoch ?? shown.epoch, reset.moving != nil)
        case .moveStarted:
            // The change that it announces comes right behind it, and is what is told.
            shown.isMoving = true
            cameras[name] = shown
            return
        case .cameraChanged: shown.isMoving = true
        case .idle: shown.isMoving = false
        case .input, .touch, .replay, .marker, .removed, .subscribedToAll: return
        }
        cameras[name] = shown
        if !shown.isMoving || now >= shown.lastSent + interval { tell(name, at: now) } else { late.insert(name) }
    }

    private func note(_ move: MoveLine, at now: Double) {
        guard var shown = cameras[move.camera] else { return }
        (shown.seq, shown.timeMs, shown.reason) = (move.seq, move.timeMs, move.reason)
        (shown.position, shown.isMoving, shown.isNew) = (move.position, move.kind != .idle, true)
        cameras[move.camera] = shown
        // The change that `move-started` announces comes right behind it, and is what is told.
        guard move.kind != .moveStarted else { return }
        if !shown.isMoving || now >= shown.lastSent + interval {
            tell(move.camera, at: now)
        } else {
            late.insert(move.camera)
        }
    }

    /// The position's text: no digit of it is another than the daemon's.
    private static func position(in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let name = Array("\"position\":{".utf8)
        guard let start = line.indices.first(where: { line[$0...].starts(with: name) }) else { return nil }
        var depth = 0
        for index in start + name.count - 1..<line.endIndex {
            if line[index] == UInt8(ascii: "{") { depth += 1 }
            if line[index] == UInt8(ascii: "}") { depth -= 1 }
            if depth == 0 { return ArraySlice(Array(line[(start + name.count - 1)...index])) }
        }
        return nil
    }

    private func remove(_ name: String) {
        guard cameras.removeValue(forKey: name) != nil else { return }
        late.remove(name)
        hasNews = true
        outbox.send(Publication(topics.camera(name), [], isRetained: true))
        settings.remove(name)
    }

    /// Tells how a camera stands, for the broker to keep.
    private func tell(_ name: String, at now: Double) {
        guard let shown = cameras[name], outbox.isOpen else { return }
        guard !shown.isMoving || outbox.hasRoom else {
            late.insert(name)
            return
        }
        let payload = payload(name, shown)
        // What rests is known to be there; what moves is soon told again.
        let publication = Publication(
            topics.camera(name), payload, isRetained: true, isAcknowledged: !shown.isMoving)
        let isSent = outbox.send(publication)
        cameras[name]?.isNew = !isSent
        if isSent {
            cameras[name]?.lastSent = now
            late.remove(name)
        } else {
            late.insert(name)
        }
    }

    private func payload(_ name: String, _ shown: Shown) -> [UInt8] {
        var line = LineWriter(capacity: 512)
        line.write("{\"type\":\"camera-state\",\"camera\":")
        line.write(string: name)
        line.write(",\"epoch\":")
        line.write(string: shown.epoch)
        line.write(",\"seq\":")
        line.write(UInt64(max(shown.seq, 0)))
        if let timeMs = shown.timeMs {
            line.write(",\"timeMs\":")
            line.write(timeMs.span)
        }
        line.write(",\"moving\":")
        line.write(shown.isMoving)
        if let reason = shown.reason {
            line.write(",\"reason\":\"")
            line.write(reason.span)
            line.write("\"")
        }
        line.write(",\"position\":")
        line.write(shown.position.span)
        stamp(&line)
        return line.bytes
    }

    /// Ends a payload with who tells it, and the next number.
    private func stamp(_ line: inout LineWriter) {
        let (instance, generation) = claim()
        lastNumber += 1
        line.write(",\"node\":")
        line.write(string: topics.node)
        line.write(",\"instance\":")
        line.write(string: instance)
        line.write(",\"generation\":")
        line.write(UInt64(generation))
        line.write(",\"number\":")
        line.write(UInt64(lastNumber))
        line.write("}")
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

    /// Where it is known which cameras there are, has the broker forget the others.
    func clearKept() {
        guard absence == nil, untold == nil, outbox.isOpen else { return }
        for name in kept.sorted() where cameras[name] == nil {
            outbox.send(Publication(topics.camera(name), [], isRetained: true))
            settings.remove(name)
        }
        kept = []
    }

    // MARK: Time

    var deadline: Double? {
        let due = late.compactMap { cameras[$0] }.filter(\.isMoving).map { $0.lastSent + interval }.min()
        // Where there is no room, the loop turns when there is some.
        return .earliest(outbox.hasRoom ? due : nil, nextAttempt, settings.deadline)
    }

    func advance(to now: Double) {
        if let attempt = nextAttempt, attempt <= now { connect(at: now) }
        if let link { settings.advance(to: now, by: link) { names } }
        guard outbox.isOpen else { return }
        for name in late.sorted() {
            guard let shown = cameras[name], shown.isNew else { continue }
            if !shown.isMoving || now >= shown.lastSent + interval { tell(name, at: now) }
        }
    }
}
