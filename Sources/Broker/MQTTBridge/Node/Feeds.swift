// Lines in: what others publish for a node's cameras goes to the daemon, and its answers go back. Each publisher has
// its own connection to the daemon, so gestures of two publishers never mix, and those of a silent one are cancelled.
// Invariant: each accepted line is answered once, by the daemon or an error from here, and answers find their requests.

import GimbalProtocol

/// Who published a line. The broker can check a name in the topic; one in the line is unchecked, and never equal to it.
enum Publisher: Hashable {
    // As bytes: to a broker's access control, two spellings of an accent are two names.
    case topic([UInt8])
    case field([UInt8])
    case unnamed

    var name: String? {
        switch self {
        case .topic(let name), .field(let name): String(decoding: name, as: UTF8.self)
        case .unnamed: nil
        }
    }

    /// Whether the broker vouches for the name.
    var isChecked: Bool { if case .topic = self { true } else { false } }
}

/// A published line: one request, or a batch.
struct Submission {
    let camera: String
    let inlet: Inlet
    let responseTopic: String?
    let correlation: [UInt8]?
    private(set) var publisher: Publisher
    private(set) var isBatch = false
    private(set) var requests: [JSONObject] = []
    /// Which of the requests causes the refusal; the first one if the line as a whole does.
    private(set) var requestAtFault = 0
    /// The line's number, if its publisher counts its lines.
    var number: Int?

    /// - Parameter name: the publisher's name, if the topic ends with one.
    init(_ delivery: Publication, camera: String, inlet: Inlet, publisher name: String?) {
        (self.camera, self.inlet) = (camera, inlet)
        publisher = name.map { .topic(Array($0.utf8)) } ?? .unnamed
        responseTopic = delivery.responseTopic.flatMap { isResponseTopic($0) ? $0 : nil }
        correlation = delivery.correlation
    }

    /// Reads the payload.
    mutating func read(_ payload: [UInt8]) throws(GimbalError) {
        guard payload.count <= RequestDecoder.longestLine else {
            throw GimbalError(.lineTooLong, "a line may have at most \(RequestDecoder.longestLine) bytes")
        }
        let json: JSONValue
        do {
            json = try JSONValue(payload)
        } catch {
            throw GimbalError(error)
        }
        switch json {
        case .object(let request): requests = [request]
        case .array(let members):
            isBatch = true
            requests = members.compactMap(\.object)
            guard requests.count == members.count, !requests.isEmpty else {
                throw GimbalError(.invalidValue, "an array has 1 to \(RequestDecoder.largestBatch) objects")
            }
            guard requests.count <= RequestDecoder.largestBatch else {
                throw GimbalError(.limitReached, "an array may have at most \(RequestDecoder.largestBatch) objects")
            }
        default: throw GimbalError(.invalidValue, "a line is an object, or an array of objects")
        }
        if !publisher.isChecked, let name = requests[0]["feed"]?.string { publisher = .field(Array(name.utf8)) }
        number = requests[0]["number"]?.integer
        try checkIDs()
        if inlet == .since, isBatch { throw GimbalError(.invalidValue, "a line to this topic is one object") }
        guard inlet != .since else { return }
        for index in requests.indices {
            requestAtFault = index
            try address(&requests[index])
        }
        requestAtFault = 0
    }

    /// Checks that the daemon would accept the ids, and removes the others.
    private mutating func checkIDs() throws(GimbalError) {
        let wrong = requests.indices.filter { requests[$0]["id"]?.isRequestID == false }
        guard let first = wrong.first else { return }
        for index in wrong { requests[index]["id"] = nil }
        requestAtFault = first
        throw GimbalError(
            .invalidValue, field: "id",
            "id must be an integer, or a string of at most \(RequestDecoder.longestID) bytes")
    }

    /// Makes a request name the topic's camera, and checks that the topic may carry it.
    private func address(_ request: inout JSONObject) throws(GimbalError) {
        guard let word = request["type"]?.string else {
            throw GimbalError(.missingField, field: "type", "type is missing")
        }
        guard let right = ClientRequest.inlet(of: word) else {
            throw GimbalError(.unknownType, field: "type", "no topic accepts \"\(word)\"")
        }
        guard right == inlet else {
            throw GimbalError(.denied, field: "type", "\"\(word)\" must go to the topic .../\(right.rawValue)")
        }
        if let named = request["camera"], named != .string(camera) {
            throw GimbalError(
                .invalidValue, field: "camera", "camera must be \"\(camera)\", as in the topic, or omitted")
        }
        request["camera"] = .string(camera)
        // A publisher that may only ask must not create cameras, as on a socket.
        if inlet == .get { request["create"] = .bool(false) }
        // What a client says about itself would be said about the bridge, as queries share a connection.
        for member in ["feed", "number", "about"] { request[member] = nil }
    }

    /// Whether its answer waits until a camera rests.
    var waitsForRest: Bool { requests.contains { $0["type"] == .string(ClientRequest.awaitIdle().type) } }

    /// The ids by which the publisher knows its requests.
    var ids: [JSONValue?] { requests.map { $0["id"] } }

    /// Forgets all other members of the requests: an answer may take minutes.
    mutating func keep(_ members: [String]) {
        for index in requests.indices {
            let request = requests[index]
            requests[index] = JSONObject()
            for member in members { requests[index][member] = request[member] }
        }
    }

    /// Returns the line for the daemon, with requests numbered from `first` on, and keeps only their types and ids.
    mutating func takeLine(numbered first: Int) throws(GimbalError) -> [UInt8] {
        var values = requests
        for index in values.indices { values[index]["id"] = .number(Double(first + index)) }
        let json: JSONValue = isBatch ? .array(values.map { .object($0) }) : .object(values[0])
        let line = json.bytes
        guard line.count <= RequestDecoder.longestLine else {
            throw GimbalError(
                .lineTooLong,
                "with camera and ids, the line has \(line.count) bytes; it may have \(RequestDecoder.longestLine)")
        }
        keep(["type", "id"])
        return line + [UInt8(ascii: "\n")]
    }
}

extension JSONValue {
    /// Whether the daemon accepts it as the id of a request.
    fileprivate var isRequestID: Bool {
        switch self {
        case .string(let text): text.utf8.count <= RequestDecoder.longestID
        case .number(let number): number == number.rounded() && abs(number) <= 9_007_199_254_740_991
        default: false
        }
    }
}

/// Publishes the answers to lines.
struct Replies {
    let topics: NodeTopics
    let outbox: BrokerOutbox

    /// Publishes an answer of the daemon, with the id that the publisher gave its request.
    func send(_ answer: ReceivedLine, id: JSONValue?, to submission: Submission) {
        if let error = answer.error { return send(error, id: id, to: submission) }
        // Without a response topic, only errors are published.
        guard let topic = submission.responseTopic, var members = (try? JSONValue(answer.bytes))?.object else { return }
        members["id"] = id
        publish(JSONValue.object(members).bytes, topic, submission)
    }

    /// Publishes why a line is refused: for each request with an id, and always for the one at fault.
    func send(_ error: GimbalError, to submission: Submission) {
        guard !submission.requests.isEmpty else { return send(error, id: nil, to: submission) }
        for (index, id) in submission.ids.enumerated() {
            if index == submission.requestAtFault {
                send(error, id: id, to: submission)
            } else if id != nil {
                send(error.ofOtherRequest, id: id, to: submission)
            }
        }
    }

    func send(_ error: GimbalError, id: JSONValue?, to submission: Submission) {
        let id = id?.bytes ?? []
        var line = LineWriter()
        line.answer(.error(error.at(line: nil)), id.span)
        // Without the closing brace and LF.
        var text = line.bytes.dropLast(2)
        if submission.responseTopic == nil { text += whose(submission) }
        text.append(UInt8(ascii: "}"))
        publish(Array(text), submission.responseTopic ?? topics.error(submission.camera), submission)
    }

    /// Returns the members that tell whose line it was, as all clients may read the answer.
    private func whose(_ submission: Submission) -> [UInt8] {
        var line = LineWriter()
        line.write(",\"topic\":")
        line.write(string: submission.inlet.rawValue)
        if let name = submission.publisher.name {
            line.write(",\"feed\":")
            line.write(string: name)
        }
        return line.bytes
    }

    func publish(_ payload: [UInt8], _ topic: String, _ submission: Submission) {
        outbox.send(Publication(topic, payload, correlation: submission.correlation))
    }
}

/// A publisher's connection to the daemon.
private final class Feed: DaemonReader {
    /// A line that is not fully answered.
    private struct Pending {
        let submission: Submission
        var answers: [Int: [UInt8]] = [:]
        /// The number of requests that the daemon has not answered.
        var unanswered: Int
        /// Whether the publisher was told that the answers are too long; the daemon still answers.
        var isRefused = false

        var keptBytes: Int { answers.values.reduce(0) { $0 + $1.count } }
    }

    static let mostPending = 256
    /// The most pending queries of one publisher.
    static let mostPendingOfOne = 64
    /// The most pending waits for a camera to rest, which last as long as clients ask; other places stay free.
    static let mostWaitingForRest = 128
    /// The most bytes that may wait for the daemon.
    static let mostUnsent = 1 << 20
    /// The most bytes of answers that may wait for the others of their batch.
    static let mostKept = 8 << 20

    private let replies: Replies
    private let onEnd: () -> Void
    private var connection: (any DaemonConnection)?
    private var lastLine = 0
    private var pending: [Int: Pending] = [:]
    private var keptBytes = 0
    var lastHeard = 0.0
    /// The number of the last line, if lines are counted.
    var lastNumber: Int?

    init(_ replies: Replies, onEnd: @escaping () -> Void) { (self.replies, self.onEnd) = (replies, onEnd) }

    func connect(_ outside: any Surroundings) throws { connection = try outside.connect(self) }

    var isBusy: Bool { pending.count >= Self.mostPending || (connection?.unsentBytes ?? 0) > Self.mostUnsent }
    var isWaiting: Bool { !pending.isEmpty }

    /// Whether the publisher has as many pending queries as it may. Publishers whose names the broker does not check
    /// count as one, since a client can make up any number of names.
    func hasEnough(of submission: Submission) -> Bool {
        guard submission.inlet == .get, pending.count >= Self.mostPendingOfOne else { return false }
        if submission.waitsForRest,
            pending.values.count(where: \.submission.waitsForRest) >= Self.mostWaitingForRest
        {
            return true
        }
        func isSame(_ other: Publisher) -> Bool {
            submission.publisher.isChecked ? other == submission.publisher : !other.isChecked
        }
        return pending.values.count { isSame($0.submission.publisher) } >= Self.mostPendingOfOne
    }

    /// Returns the line of a submission as it goes to the daemon.
    func line(of submission: inout Submission) throws(GimbalError) -> [UInt8] {
        try submission.takeLine(numbered: (lastLine + 1) * RequestDecoder.largestBatch)
    }

    func send(_ line: [UInt8], of submission: Submission) {
        lastLine += 1
        pending[lastLine] = Pending(submission: submission, unanswered: submission.requests.count)
        connection?.send(line)
    }

    func received(_ line: ArraySlice<UInt8>, at now: Double) {
        let answer = ReceivedLine(line)
        guard let read = answer.line else { return }
        guard case .number(let id)? = read.id else {
            // The daemon could not parse the line up to its id, or refuses the connection.
            guard let error = answer.error else { return }
            if error.isOfConnection { return ended(error.message, at: now) }
            guard let waiting = remove(error.line) else { return }
            return replies.send(answer, id: nil, to: waiting.submission)
        }
        let (number, index) = id.quotientAndRemainder(dividingBy: RequestDecoder.largestBatch)
        guard let waiting = pending[number], index < waiting.submission.requests.count, waiting.answers[index] == nil
        else { return }
        pending[number]?.unanswered -= 1
        if !waiting.isRefused {
            pending[number]?.answers[index] = Array(line)
            keptBytes += line.count
        }
        if waiting.unanswered == 1 {
            remove(number).map(tell)
        } else if keptBytes > Self.mostKept, let most = pending.max(by: { $0.value.keptBytes < $1.value.keptBytes }) {
            refuse(most.key)
        }
    }

    /// Removes a line that is fully answered; returns it unless its publisher was told that it is refused.
    private func remove(_ number: Int) -> Pending? {
        guard let removed = pending.removeValue(forKey: number) else { return nil }
        keptBytes -= removed.keptBytes
        return removed.isRefused ? nil : removed
    }

    /// Drops the kept answers to a line. It still counts as pending, because the daemon works on it.
    private func refuse(_ number: Int) {
        guard var waiting = pending[number] else { return }
        keptBytes -= waiting.keptBytes
        (waiting.answers, waiting.isRefused) = ([:], true)
        pending[number] = waiting
        replies.send(GimbalError(.limitReached, "the answers to this batch are too long"), to: waiting.submission)
    }

    /// Publishes the answers to requests with ids and to queries, and always why a line was refused.
    private func tell(_ done: Pending) {
        let answers = done.answers.mapValues { ReceivedLine($0[...]) }
        let errors = answers.filter { $0.value.error != nil }.sorted { $0.key < $1.key }
        let atFault = errors.first { $0.value.error?.field != nil }?.key ?? errors.first?.key
        for (index, id) in done.submission.ids.enumerated() {
            guard let answer = answers[index] else { continue }
            let isBare = answer.type == .ok || answer.error != nil
            if id != nil || index == atFault || !isBare { replies.send(answer, id: id, to: done.submission) }
        }
    }

    func ended(_ reason: String, at now: Double) {
        close(because: reason)
        onEnd()
    }

    /// Ends the connection. Requests without an answer may have been applied or not.
    func close(because reason: String) {
        connection?.close()
        connection = nil
        for (_, waiting) in pending.sorted(by: { $0.key < $1.key }) where !waiting.isRefused {
            replies.send(GimbalError(.unavailable, "no answer: \(reason)"), to: waiting.submission)
        }
        (pending, keptBytes) = ([:], 0)
    }
}

final class Feeds {
    /// The purpose of a connection to the daemon: the lines of one publisher, or the queries of all.
    private enum Key: Hashable {
        case lines(Publisher), queries

        var isUnchecked: Bool { if case .lines(.field) = self { true } else { false } }
    }

    private unowned let outside: any Surroundings
    private let replies: Replies
    private let options: Node.Settings
    private var feeds: [Key: Feed] = [:]
    let missed: MissedEvents

    init(_ outside: any Surroundings, _ replies: Replies, _ options: Node.Settings) {
        (self.outside, self.replies, self.options) = (outside, replies, options)
        missed = MissedEvents(outside, replies)
    }

    var count: Int { feeds.count }

    func received(_ delivery: Publication, at now: Double) {
        // An empty payload only clears a retained line at the broker.
        guard let (camera, inlet, name) = replies.topics.incoming(delivery.topic), !delivery.payload.isEmpty
        else { return }
        var submission = Submission(delivery, camera: camera, inlet: inlet, publisher: name)
        do throws(GimbalError) {
            try check(camera: camera, feed: name)
            guard !delivery.isRetained else {
                throw GimbalError(
                    .invalidValue, "a line must not be retained: it would be applied whenever the bridge connects")
            }
            try submission.read(delivery.payload)
            try checkQueries(of: submission)
            if inlet == .since { return try missed.ask(submission) }
            let key: Key = inlet == .get ? .queries : .lines(submission.publisher)
            try pass(submission, to: try feed(key, at: now), at: now)
        } catch {
            // With an invalid name there is no camera whose error topic would be read.
            guard NodeTopics.isName(camera) || submission.responseTopic != nil else { return }
            replies.send(error, to: submission)
        }
    }

    /// Checks that a topic names a camera that lines are accepted for.
    private func check(camera: String, feed: String?) throws(GimbalError) {
        guard NodeTopics.isName(camera) else {
            throw GimbalError(
                .invalidValue, field: "camera", "the topic's camera name must be 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        guard options.wants(camera) else {
            throw GimbalError(.unknownCamera, field: "camera", "this node has no camera \"\(camera)\"")
        }
        guard feed?.utf8.contains(UInt8(ascii: "/")) != true else {
            throw GimbalError(.invalidValue, field: "feed", "the topic must end with one name: CAMERA/gesture/FEED")
        }
    }

    /// Checks that a node with selected cameras is not asked to list all of them.
    private func checkQueries(of submission: Submission) throws(GimbalError) {
        let word = ClientRequest.cameras.type
        guard !options.cameras.isEmpty, submission.requests.contains(where: { $0["type"]?.string == word })
        else { return }
        throw GimbalError(.denied, field: "type", "this node publishes only some cameras: its $state names them")
    }

    private func feed(_ key: Key, at now: Double) throws(GimbalError) -> Feed {
        if let feed = feeds[key] { return feed }
        try checkRoom(for: key)
        let feed = Feed(replies) { [weak self] in self?.feeds[key] = nil }
        do {
            try feed.connect(outside)
        } catch {
            throw GimbalError(.unavailable, "no daemon: \(error)")
        }
        feed.lastHeard = now
        feeds[key] = feed
        return feed
    }

    /// Checks that there is room for another publisher. Those with unchecked names get at most half of it, and
    /// queries always have room.
    private func checkRoom(for key: Key) throws(GimbalError) {
        guard key != .queries else { return }
        let (most, publishers) = (options.mostFeeds, feeds.keys.count { $0 != .queries })
        if publishers >= most || key.isUnchecked && 2 * feeds.keys.count(where: \.isUnchecked) >= most {
            throw GimbalError(.limitReached, "at most \(most) may publish to a node at a time")
        }
    }

    private func pass(_ submission: Submission, to feed: Feed, at now: Double) throws(GimbalError) {
        var missing = 0
        // Queries share one connection, so numbers do not apply to them.
        if let number = submission.number, submission.inlet != .get {
            let expected = (feed.lastNumber ?? number - 1) + 1
            // A duplicate or late line is dropped without an answer, since a later line says more. It does not extend
            // the timeout; after that, a publisher may start counting again.
            guard number >= expected else { return }
            missing = number - expected
        }
        feed.lastHeard = now
        guard !feed.isBusy else {
            throw GimbalError(.limitReached, "the daemon has not answered earlier lines; this one was not accepted")
        }
        guard !feed.hasEnough(of: submission) else {
            throw GimbalError(
                .limitReached, "too many of these queries are waiting for an answer; this one was not accepted")
        }
        var submission = submission
        let line = try feed.line(of: &submission)
        // A line that was not accepted may come again with its number.
        if let number = submission.number, submission.inlet != .get { feed.lastNumber = number }
        if missing > 0, let number = submission.number {
            // Without the id, which is for the answer to this line, as it is accepted.
            replies.send(
                GimbalError(.missedLines, field: "number", "\(missing) lines before number \(number) did not arrive"),
                id: nil, to: submission)
        }
        feed.send(line, of: submission)
    }

    // MARK: Time

    var deadline: Double? { feeds.values.map { $0.lastHeard + options.feedTimeout }.min() }

    func advance(to now: Double) {
        for (key, feed) in feeds where feed.lastHeard + options.feedTimeout <= now {
            if feed.isWaiting, key == .queries {
                feed.lastHeard = now
                continue
            }
            feed.close(because: "nothing was received for \(Int(options.feedTimeout)) ms")
            feeds[key] = nil
        }
    }

    func close() {
        for feed in feeds.values { feed.close(because: "the bridge has ended") }
        feeds = [:]
        missed.close()
    }
}

extension ErrorCode {
    /// Some numbered lines did not arrive.
    static let missedLines = ErrorCode(rawValue: "missed-lines")
}
