// `await-idle`: requests that are answered at the moment when their camera comes to rest, so that nothing can come in
// between. Answers count as events of a turn: many waiting requests delay no other client.
// Invariant: until it is over, a wait is among its peer's, and among the deadlines if it has one.

import GimbalProtocol
import MapCamera

/// A request that waits for a camera to rest.
final class RestWait {
    /// The request, as it is handed over to the next process.
    struct Record: Codable {
        /// The camera's name.
        let camera: String
        /// The request's id as it was written.
        let id: [UInt8]
        /// The number of its line on the connection.
        let line: UInt64
        let timeoutMs: Double
        /// When it is over at the latest, in the hub's time; infinite if it waits forever.
        let deadline: Double
    }

    let record: Record
    // It and its peer refer to each other until it is over.
    let peer: Peer
    let camera: HostedCamera
    var isOver = false
    /// Whether its answer waits for those of peers that have not fallen behind.
    fileprivate(set) var isLate = false
    /// Its index among its peer's waits, which are in no particular order.
    fileprivate(set) var index = 0

    init(_ record: Record, for camera: HostedCamera, of peer: Peer) {
        (self.record, self.camera, self.peer) = (record, camera, peer)
    }

    var deadline: Double { record.deadline }
}

final class RestWaits {
    private let sender: Sender
    private let turns: Turns
    /// Requests of the line being applied.
    private var new: [RestWait] = []
    /// Those with a deadline, the earliest last; of two with the same deadline, the one that came first. Adding or
    /// removing one moves at most eight bytes for each that is due before it.
    private var deadlines: [RestWait] = []
    /// Waits that have ended together, and how, to be answered as turns have room.
    private var ended: [(waits: ArraySlice<RestWait>, outcome: Result<CameraRest, GimbalError>)] = []
    /// Those of peers that have fallen behind, whose events are copied first: they delay no others.
    private var late: ArraySlice<(wait: RestWait, outcome: Result<CameraRest, GimbalError>)> = []

    init(_ sender: Sender, _ turns: Turns) { (self.sender, self.turns) = (sender, turns) }

    // MARK: Waiting

    /// Notes a request; the end of its line decides whether it has to wait, since a batch acts as a whole.
    func add(_ timeoutMs: Double?, for camera: HostedCamera, _ id: Span<UInt8>, of peer: Peer, at now: Double) {
        guard peer.output.isOpen else { return }
        let timeoutMs = timeoutMs ?? .infinity
        let record = RestWait.Record(
            camera: camera.name, id: (0..<id.count).map { id[$0] }, line: peer.input.lineNumber,
            timeoutMs: timeoutMs, deadline: now + timeoutMs)
        let wait = RestWait(record, for: camera, of: peer)
        peer.add(wait)
        new.append(wait)
    }

    var hasNew: Bool { !new.isEmpty }

    /// Takes the requests of the line that has been applied.
    func takeNew() -> [RestWait] {
        defer { new = [] }
        return new
    }

    /// Makes a request wait, unless its camera rests. The camera must have been brought to the present.
    func start(_ wait: RestWait) {
        if let outcome = wait.camera.waitOutcome { ended.append(([wait], outcome)) } else { add(wait) }
    }

    private func add(_ wait: RestWait) {
        wait.camera.addWait(wait)
        if wait.deadline < .infinity { deadlines.insert(wait, at: index(of: wait.deadline)) }
    }

    /// Returns the index of the first wait with a deadline that is not due after a time.
    private func index(of deadline: Double) -> Int { deadlines.partitioningIndex { $0.deadline <= deadline } }

    /// Resumes a request that waited in another process.
    func restore(_ wait: RestWait) {
        add(wait)
        end(for: wait.camera)
    }

    // MARK: Answering

    /// Ends the waits for a camera, if it rests or was removed. Must be called after each batch and each frame.
    func end(for camera: HostedCamera) {
        guard !camera.waits.isEmpty, let outcome = camera.waitOutcome else { return }
        ended.append((camera.takeWaits()[...], outcome))
        // The late ones leave room for frames of other cameras.
        while turns.hasRoomForEvents, !ended.isEmpty { answerNext() }
    }

    /// When the first wait times out, in the hub's time; infinite if none does, and in the past if answers are due.
    var deadline: Double {
        ended.isEmpty && late.isEmpty ? deadlines.last?.deadline ?? .infinity : -.infinity
    }

    /// Answers waits that have ended or timed out, as many as the turn has room for.
    func advance(to now: Double) {
        while turns.hasRoomForEvents, answerNext() {}
        while turns.hasRoomForEvents, let wait = deadlines.last, wait.deadline <= now {
            let text = "camera \(wait.camera.name) is still moving after \(plain(wait.record.timeoutMs)) ms"
            finish(wait, .failure(GimbalError(.timeout, field: "timeoutMs", text)))
            wait.camera.noteWaitOver()
        }
    }

    /// Answers all ended waits, before the hub stops answering.
    func answerAll() { while answerNext() {} }

    /// Answers the next wait that has ended, or makes it wait if its peer has fallen behind; returns `false` if there is
    /// none.
    @discardableResult
    private func answerNext() -> Bool {
        guard !ended.isEmpty else {
            guard let (wait, outcome) = late.popFirst() else { return false }
            if !wait.isOver { finish(wait, outcome) }
            return true
        }
        guard let wait = ended[0].waits.popFirst() else {
            ended.removeFirst()
            return true
        }
        if wait.isOver { return true }
        if isLate(wait.peer) {
            wait.isLate = true
            late.append((wait, ended[0].outcome))
            turns.add(events: 1)
        } else {
            finish(wait, ended[0].outcome)
        }
        return true
    }

    /// Whether a peer has fallen behind, or an earlier answer to it waits.
    private func isLate(_ peer: Peer) -> Bool {
        sender.isLate(peer) || !late.isEmpty && peer.waits.contains(where: \.isLate)
    }

    /// Ends a wait with its answer.
    private func finish(_ wait: RestWait, _ outcome: Result<CameraRest, GimbalError>) {
        turns.add(events: 1)
        turns.add(work: 1)
        forget(wait)
        let last = wait.peer.waits.removeLast()
        if last !== wait { (wait.peer.waits[wait.index], last.index) = (last, wait.index) }
        let id = wait.record.id
        switch outcome {
        case .success(let rest): sender.reply(.atRest(rest), id.span, to: wait.peer)
        case .failure(let error): sender.refuse(error, id.span, ofLine: wait.record.line, to: wait.peer)
        }
    }

    private func forget(_ wait: RestWait) {
        wait.isOver = true
        let others = deadlines[index(of: wait.deadline)...].prefix { $0.deadline == wait.deadline }
        if let index = others.firstIndex(where: { $0 === wait }) { deadlines.remove(at: index) }
    }

    /// Forgets the waits of a peer that reads no answers any more.
    func forget(_ peer: Peer) {
        for wait in peer.waits {
            forget(wait)
            wait.camera.noteWaitOver()
        }
        peer.waits = []
    }
}

extension Peer {
    func add(_ wait: RestWait) {
        wait.index = waits.count
        waits.append(wait)
    }
}

extension HostedCamera {
    /// The answer to requests that wait for the camera to rest; `nil` while they have to wait.
    fileprivate var waitOutcome: Result<CameraRest, GimbalError>? {
        if isRemoved {
            return .failure(
                GimbalError(.removed, field: "camera", "camera \(name) was removed before it came to rest"))
        }
        guard isAtRest else { return nil }
        return .success(CameraRest(camera: name, epoch: epoch.isEmpty ? nil : epoch, seq: seq, position: published))
    }
}
