// `await-idle`: requests that are answered at the moment when their camera comes to rest, so that nothing can come in
// between. Answers count as events of a turn: many waiting requests delay no other client.

import GimbalProtocol

final class RestWaits {
    private let limits: Limits
    private let sender: Sender
    private let turns: Turns
    private let counters: Counters
    /// Requests of the line being applied.
    private var new: [RestWait] = []
    private var deadlines = RestWaitQueue()
    /// Waits that have ended, to be answered as turns have room.
    private var answers: [RestAnswers] = []

    init(limits: Limits, _ sender: Sender, _ turns: Turns, _ counters: Counters) {
        (self.limits, self.sender, self.turns, self.counters) = (limits, sender, turns, counters)
    }

    // MARK: Waiting

    /// Notes a request; the end of its line decides whether it has to wait, since a batch acts as a whole.
    func add(_ timeoutMs: Double?, for camera: HostedCamera, _ id: Span<UInt8>, of peer: Peer, at now: Double) {
        guard peer.output.isOpen else { return }
        let wait = RestWait(timeoutMs, for: camera, of: peer, id: (0..<id.count).map { id[$0] }, at: now)
        peer.waits.insert(wait)
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
        let camera = wait.camera
        if camera.isRemoved {
            answers.append(RestAnswers(.removed, [wait], for: camera.name))
        } else if camera.isAtRest {
            answers.append(RestAnswers(camera.rest, [wait], for: camera.name))
        } else {
            add(wait)
        }
    }

    private func add(_ wait: RestWait) {
        wait.camera.addWait(wait)
        if wait.deadline < .infinity { deadlines.insert(wait) }
    }

    /// Resumes a request that waited in another process.
    func restore(_ wait: RestWait) {
        add(wait)
        endIfAtRest(wait.camera)
    }

    // MARK: Answering

    /// Ends the waits for a camera that has come to rest. Must be called after each batch and each frame.
    func endIfAtRest(_ camera: HostedCamera) {
        if camera.isAtRest { end(for: camera, camera.rest) }
    }

    /// Ends the waits for a camera that rests or was removed.
    func end(for camera: HostedCamera, _ outcome: RestAnswers.Outcome) {
        guard !camera.waits.isEmpty else { return }
        answers.append(RestAnswers(outcome, camera.takeWaits(), for: camera.name))
        answer()
    }

    /// When the first wait times out, in the hub's time; infinite if none does, and in the past if answers are due.
    var deadline: Double { answers.isEmpty ? deadlines.first?.deadline ?? .infinity : -.infinity }

    /// Answers waits that have ended or timed out, as many as the turn has room for.
    func advance(to now: Double) {
        guard !answers.isEmpty || deadlines.first != nil else { return }
        answer()
        endOverdue(at: now)
    }

    private func answer() {
        while turns.hasRoomForEvents, let next = answers.first {
            guard let wait = next.next() else {
                answers.removeFirst()
                continue
            }
            answer(wait, next)
        }
    }

    /// Answers all ended waits, before the hub stops answering.
    func answerAll() {
        for answers in answers {
            while let wait = answers.next() { answer(wait, answers) }
        }
        answers = []
    }

    private func answer(_ wait: RestWait, _ answers: RestAnswers) {
        switch answers.outcome {
        case .rest(let epoch, let seq, let position):
            let rest = CameraRest(
                camera: answers.camera, epoch: epoch.isEmpty ? nil : epoch, seq: seq, position: position)
            finish(wait, .atRest(rest))
        case .removed:
            refuse(
                wait,
                WireError(.removed, field: "camera", "camera \(answers.camera) was removed before it came to rest"))
        }
    }

    /// Ends the waits that have timed out.
    private func endOverdue(at now: Double) {
        while turns.hasRoomForEvents, let wait = deadlines.first, wait.deadline <= now {
            let limit = plain(wait.timeoutMs)
            refuse(
                wait,
                WireError(.timeout, field: "timeoutMs", "camera \(wait.camera.name) is still moving after \(limit) ms"))
            wait.camera.noteWaitOver()
        }
    }

    private func refuse(_ wait: RestWait, _ error: WireError) {
        counters.errors += 1
        finish(wait, .error(GimbalError(error, line: wait.line)))
    }

    /// Ends a wait with its answer.
    private func finish(_ wait: RestWait, _ answer: ServerMessage) {
        turns.add(events: 1)
        turns.add(work: 1)
        sender.putEventsFirst(for: wait.peer)
        forget(wait)
        wait.peer.waits.remove(wait)
        let id = wait.id
        sender.append(to: wait.peer) { $0.answer(answer, id.span) }
    }

    private func forget(_ wait: RestWait) {
        wait.isOver = true
        deadlines.remove(wait)
    }

    /// Forgets the waits of a peer that reads no answers any more.
    func forget(_ peer: Peer) {
        for wait in peer.waits.all {
            forget(wait)
            wait.camera.noteWaitOver()
        }
        peer.waits.removeAll()
    }
}

extension HostedCamera {
    /// The answer to requests that wait for the camera to rest.
    fileprivate var rest: RestAnswers.Outcome { .rest(epoch: epoch, seq: seq, published) }
}
