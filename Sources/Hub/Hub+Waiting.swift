// `await-idle`: a request that is answered when its camera rests, in the moment in which it comes to rest, so that nothing
// can come between. Answers count as events of a turn: who waits in great numbers delays nobody.

import Wire

extension Hub {
    // MARK: A request waits

    /// Takes note of a request; whether it has to wait is seen at the end of its line, for an array acts as a whole.
    func awaitRest(
        of camera: HostedCamera, _ timeoutMs: Double?, _ id: Span<UInt8>, _ peer: Peer, at now: Double
    ) {
        guard !peer.isDeaf else { return }
        let wait = RestWait(timeoutMs, for: camera, of: peer, id: (0..<id.count).map { id[$0] }, at: now)
        peer.waits.insert(wait)
        newWaits.append(wait)
    }

    /// Answers those requests of a line at once whose camera rests.
    func startWaiting(at now: Double) {
        guard !newWaits.isEmpty else { return }
        var waits: [RestWait] = []
        swap(&waits, &newWaits)
        for wait in waits where !wait.isOver {
            let camera = wait.camera
            catchUp(camera, at: now)
            if camera.isRemoved {
                restAnswers.append(RestAnswers(.removed, [wait], for: camera.name))
            } else if camera.isAtRest {
                restAnswers.append(RestAnswers(camera.rest, [wait], for: camera.name))
            } else {
                camera.waits.append(wait)
                if wait.deadline < .infinity { waitQueue.insert(wait) }
            }
        }
        answerWaits()
        endWaits(at: now)
    }

    // MARK: The waiting ends

    /// The camera may have come to rest. To be called after each frame of a camera for which somebody waits.
    @inline(never)
    func noteRest(of camera: HostedCamera) {
        if camera.isAtRest { endWaiting(for: camera, camera.rest) }
    }

    /// Nobody waits for the camera any more: it rests, or it is gone.
    func endWaiting(for camera: HostedCamera, _ outcome: RestAnswers.Outcome) {
        guard !camera.waits.isEmpty else { return }
        restAnswers.append(RestAnswers(outcome, camera.waits, for: camera.name))
        camera.waits = []
        answerWaits()
    }

    /// Answers those whose waiting has come to its end, as many as the turn has place for.
    func answerWaits() {
        while turnEvents < limits.eventsPerTurn, let answers = restAnswers.first {
            guard let wait = answers.next() else {
                restAnswers.removeFirst()
                continue
            }
            answer(wait, answers)
        }
    }

    /// Answers all of them, before nothing is answered any more.
    func answerAllWaits() {
        for answers in restAnswers {
            while let wait = answers.next() { answer(wait, answers) }
        }
        restAnswers = []
    }

    private func answer(_ wait: RestWait, _ answers: RestAnswers) {
        switch answers.outcome {
        case .rest(let epoch, let seq, let position):
            let id = wait.id
            prepareReply(to: wait.peer)
            line.atRest(camera: answers.camera, epoch: epoch, seq: seq, position: position, id.span)
        case .removed:
            refuse(
                wait,
                WireError(.removed, field: "camera", "camera \(answers.camera) was removed before it came to rest"))
        }
        finish(wait)
    }

    /// Ends the waiting of those that wanted to wait no longer.
    func endWaits(at now: Double) {
        while turnEvents < limits.eventsPerTurn, let wait = waitQueue.first, wait.deadline <= now {
            let limit = RequestDecoder.plain(wait.timeoutMs)
            refuse(
                wait,
                WireError(.timeout, field: "timeoutMs", "camera \(wait.camera.name) still moves after \(limit) ms"))
            finish(wait)
            wait.camera.noteWaitOver()
        }
    }

    private func refuse(_ wait: RestWait, _ error: WireError) {
        let id = wait.id
        counters.errors += 1
        prepareReply(to: wait.peer)
        line.error(error, line: wait.line, id.span)
    }

    private func finish(_ wait: RestWait) {
        turnEvents += 1
        work.add(1)
        forget(wait)
        wait.peer.waits.remove(wait)
        sendReply(to: wait.peer)
    }

    private func forget(_ wait: RestWait) {
        wait.isOver = true
        waitQueue.remove(wait)
    }

    /// The peer reads no answers any more.
    func forgetWaits(of peer: Peer) {
        for wait in peer.waits.all {
            forget(wait)
            wait.camera.noteWaitOver()
        }
        peer.waits.removeAll()
    }

    /// When somebody's waiting ends at the latest.
    var waitDeadline: Double { restAnswers.isEmpty ? waitQueue.first?.deadline ?? .infinity : -.infinity }

    // MARK: Admission

    /// Whether one connection waits for no more than it may, once the object of a line is taken.
    func admitWait(_ member: Int, of requests: [Request], _ peer: Peer) throws(Refusal) {
        let waits = peer.waits.all.count
        // So many are there neither now nor after this object, whatever stands before it.
        guard waits + member >= limits.waits else { return }
        let before = requests[..<member].count { if case .awaitIdle = $0.body { true } else { false } }
        guard waits + before >= limits.waits else { return }
        throw Refusal(member, .limitReached, "type", "one connection has at most \(limits.waits) requests that wait")
    }
}

extension HostedCamera {
    /// What is told to who waits for its rest.
    fileprivate var rest: RestAnswers.Outcome { .rest(epoch: epoch, seq: seq, printed) }
}
