// Sends a client the events that it has missed: `CAMERA/since`. Each request has its own connection to the daemon until
// all of them are sent. Invariant: nothing is read faster than the broker takes it.

import GimbalProtocol

private final class MissedEventsRequest: DaemonReader {
    private let submission: Submission
    private let replies: Replies
    private let onEnd: (MissedEventsRequest) -> Void
    private var connection: (any DaemonConnection)?
    /// The `seq` of the last event at the time of the request.
    private var end: Int?

    init(_ submission: Submission, _ replies: Replies, onEnd: @escaping (MissedEventsRequest) -> Void) {
        (self.submission, self.replies, self.onEnd) = (submission, replies, onEnd)
    }

    func begin(_ outside: any Surroundings, since: ResumePoint) throws {
        let connection = try outside.connect(self)
        self.connection = connection
        connection.send(try ClientRequest.subscribe(since: since).line(camera: submission.camera, creates: false))
        readOn()
    }

    func received(_ line: ArraySlice<UInt8>, at now: Double) {
        switch (try? ServerLine(line: line))?.message {
        case .error(let error)?:
            replies.send(error, to: submission)
            finish()
        case .event(let event)?: tell(event, line)
        default: break
        }
    }

    private func tell(_ event: CameraEvent, _ line: ArraySlice<UInt8>) {
        // The subscription itself is published, too: it shows where the missed events end.
        let topic = submission.responseTopic ?? replies.topics.missed(submission.camera)
        replies.publish(Array(line), topic, submission)
        if case .subscribed(let now) = event { end = now.seq }
        switch event {
        // No missed events follow.
        case .lagged, .reset, .removed: return finish()
        default: break
        }
        if let seq = event.seq, let end, seq >= end, isLast(event) { return finish() }
        readOn()
    }

    /// Whether no more events follow: `subscribed` has the last `seq`, whose event may still come.
    private func isLast(_ event: CameraEvent) -> Bool {
        guard case .subscribed(let now) = event else { return true }
        guard let since = submission.requests.first?["since"]?.integer else { return true }
        return since == now.seq && submission.requests.first?["epoch"] == .string(now.epoch) || now.seq == 0
    }

    func readOn() { connection?.isReading = !replies.outbox.isFull }

    func ended(_ reason: String, at now: Double) {
        connection = nil
        replies.send(GimbalError(.unavailable, "no answer: \(reason)"), to: submission)
        onEnd(self)
    }

    private func finish() {
        close()
        onEnd(self)
    }

    func close() {
        connection?.close()
        connection = nil
    }
}

final class MissedEvents {
    /// The most requests at one time.
    static let most = 16

    private unowned let outside: any Surroundings
    private let replies: Replies
    private var asking: [MissedEventsRequest] = []

    init(_ outside: any Surroundings, _ replies: Replies) { (self.outside, self.replies) = (outside, replies) }

    func ask(_ submission: Submission) throws(GimbalError) {
        let request = submission.requests[0]
        guard let since = request["since"] else {
            throw GimbalError(
                .missingField, field: "since", "since is missing: the seq of the last event that was read")
        }
        guard let seq = since.integer else {
            throw GimbalError(.invalidValue, field: "since", "since must be the seq of an event: an integer, 0 or more")
        }
        guard let epoch = request["epoch"]?.string else {
            throw GimbalError(.missingField, field: "epoch", "epoch is missing: the epoch of since")
        }
        guard asking.count < Self.most else {
            throw GimbalError(.limitReached, "at most \(Self.most) may ask for missed events at a time")
        }
        var submission = submission
        submission.keep(["id", "since", "epoch"])
        let new = MissedEventsRequest(submission, replies) { [weak self] done in
            self?.asking.removeAll { $0 === done }
        }
        do {
            try new.begin(outside, since: ResumePoint(seq: seq, epoch: epoch))
        } catch {
            throw GimbalError(.unavailable, "no daemon: \(error)")
        }
        asking.append(new)
    }

    /// Resumes reading if there is room.
    func readOn() { for one in asking { one.readOn() } }

    func close() {
        for one in asking { one.close() }
        asking = []
    }
}
