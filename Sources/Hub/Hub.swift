// The daemon's whole mind, without any I/O. Bytes and time come in by `receive` and `advance`; bytes go out at the end of
// a turn, through each peer's outlet; deadlines are told. So it is driven by a socket's loop and by a test's seed alike.
//
// The path of a line: receive → take (framer, decoder) → admit → apply (gesture → camera → constraints → event → log)
// → endTurn → flush to every subscriber. It never turns back. Times are milliseconds of one monotonic clock.

import Gestures
import MapCamera
import Wire

@safe public final class Hub {
    let limits: Limits
    package let server: String
    /// Where long histories lie, if the next process is to go on with them.
    let memory: (any HistoryMemory)?
    var started: Double
    /// Tells this run's epochs from another's.
    let epochSeed: UInt64
    var epochs: UInt64 = 0

    var cameras: [String: HostedCamera] = [:]
    var cameraNames = SortedNames()
    var heldCameras: [HostedCamera] = []
    /// Whether one of them may have no subscriber: then they are looked through, between frames.
    var mayHoldInVain = false
    /// Whether somebody saves what has changed.
    public var tracksChanges = false
    /// The names of cameras that have changed, or are not there any more, since they were saved. A name may be there twice.
    var unsaved: [String] = []
    var replays: [Replay] = []
    /// Live cameras that move by themselves.
    var watched: [HostedCamera] = []
    var lingering: [Peer] = []
    /// Cameras that may have come to rest, where recorders wait for that.
    var restingCameras: [HostedCamera] = []

    // Whose turn it is
    var queue = FairQueue()
    var work = WorkMeter()
    var turns: UInt64 = 1
    /// Events that have been emitted and not sent.
    var turnEvents = 0
    /// How often something was emitted.
    var emissions: UInt64 = 0

    // Requests that wait for a camera's rest
    var newWaits: [RestWait] = []
    var waitQueue = RestWaitQueue()
    var restAnswers: [RestAnswers] = []
    /// Clients that have subscribed to all cameras.
    var followers: [Peer] = []
    /// All clients, by their numbers.
    var peers: [Peer] = []

    // The end of the turn
    var news: [HostedCamera] = []
    var sendQueue: [Peer] = []
    /// Peers that have had as many bytes as one is sent in a turn, and more to read.
    var unfinished: [Peer] = []
    var isEnding = false

    // Kept from line to line, so that nothing is allocated
    // Sound: it knows nothing of the hub, so no two lines are decoded at a time.
    @exclusivity(unchecked) var decoder: RequestDecoder
    var roomForRequests: [Request] = []
    var line = LineWriter()
    var pieces: [UnsafeRawBufferPointer] = unsafe []
    var runs: [(subscription: Subscription, run: EventLog.Run)] = []

    /// Is told what a log may tell, and by whose outlet; `nil` where nobody logs it.
    package var observer: ((Note, any Outlet) -> Void)?

    var peerNumbers = 0
    var counters = Counters()

    struct Counters {
        var connections: UInt64 = 0
        var connectionsTotal: UInt64 = 0
        var subscriptions: UInt64 = 0
        var lines: UInt64 = 0
        var errors: UInt64 = 0
        var events: UInt64 = 0
        var bytesIn: UInt64 = 0
        var bytesOut: UInt64 = 0
    }

    /// A hub that has nothing yet.
    ///
    /// - Parameters:
    ///   - server: the name and version that `hello` tells.
    ///   - epochSeed: any number that differs from run to run.
    ///   - memory: where long histories lie, so that the next process can go on with them.
    public init(
        limits: Limits = Limits(), server: String, epochSeed: UInt64, memory: (any HistoryMemory)? = nil,
        at now: Double
    ) {
        (self.limits, self.memory) = (limits, memory)
        unsafe decoder = RequestDecoder(longestLine: limits.line, largestFrame: limits.frame)
        self.server = server
        self.epochSeed = epochSeed
        started = now
    }

    // MARK: Peers come and go

    /// Takes a client.
    ///
    /// - Parameter role: what it may do as long as it is connected.
    public func connect(_ outlet: any Outlet, role: Role = .everything) -> Peer {
        peerNumbers += 1
        counters.connections += 1
        counters.connectionsTotal += 1
        let peer = Peer(number: peerNumbers, outlet: outlet, role: role, limits: limits)
        peers.append(peer)
        return peer
    }

    /// The client's end of the connection is closed: it neither sends nor reads any more. Its replay stops.
    public func disconnect(_ peer: Peer, at now: Double) {
        guard !peer.isGone else { return }
        peer.isGone = true
        counters.connections -= 1
        forgetClient(peer)
        forgetFollower(peer)
        for subscription in peer.subscriptions { unsubscribe(subscription) }
        forgetWaits(of: peer)
        peer.input = []
        if let replay = peer.replay {
            replay.abandon()
            if !replay.isEnding { end(replay) }
            replay.wake = -.infinity
        }
        leave(peer, at: now)
    }

    /// The client is gone without a word, as who writes and closes is: what it sent is still taken, but its replay stops.
    public func hangUp(_ peer: Peer, at now: Double) {
        guard !peer.isGone else { return }
        if peer.replay != nil || peer.lingerEnd != nil { return close(peer, at: now) }
        goDeaf(peer)
        if peer.hasEnded { flushLater(peer) } else { endOfInput(peer, at: now) }
    }

    /// The client reads no more: what it would be told is thrown away.
    func goDeaf(_ peer: Peer) {
        forgetFollower(peer)
        for subscription in peer.subscriptions { unsubscribe(subscription) }
        forgetWaits(of: peer)
        peer.isDeaf = true
        peer.isBlocked = false
        peer.replies = []
        peer.repliesSent = 0
    }

    /// The client has sent its last byte. What it sent is still taken, and it may go on reading.
    public func endOfInput(_ peer: Peer, at now: Double) {
        guard !peer.isGone, !peer.hasEnded else { return }
        peer.hasEnded = true
        if peer.lingerEnd != nil { return close(peer, at: now) }
        attend(to: peer, at: now)
    }

    /// All that a peer sent has been taken: its gestures are cancelled, its replay ends.
    private func inputIsOver(_ peer: Peer, at now: Double) {
        peer.isInputOver = true
        leave(peer, at: now)
        if let replay = peer.replay, !replay.isEnding {
            end(replay)
            rest(replay, at: now)
        }
        flushLater(peer)
    }

    /// Cancels the gestures of a peer.
    func leave(_ peer: Peer, at now: Double) {
        for camera in peer.fedCameras where camera.replay == nil && !camera.isRemoved {
            catchUp(camera, at: now)
            camera.cancelGestures(of: peer.number)
            endFrame(camera, until: now - camera.clockStart)
        }
        peer.letGo()
    }

    func close(_ peer: Peer, at now: Double) {
        guard !peer.isGone else { return }
        disconnect(peer, at: now)
        peer.outlet.close()
    }

    // MARK: Bytes in

    /// Takes bytes that a peer sent.
    public func receive(_ bytes: Span<UInt8>, from peer: Peer, at now: Double) {
        counters.bytesIn += UInt64(bytes.count)
        guard !peer.isGone, !peer.hasEnded, peer.lingerEnd == nil else { return }
        guard peer.input.isEmpty, isServedAtOnce(peer) else {
            append(bytes, from: 0, to: peer)
            attend(to: peer, at: now)
            return updateReading(peer)
        }
        let start = begin(peer, grant: lightGrant)
        let taken = take(bytes, from: peer, at: now)
        if peer.lingerEnd == nil { append(bytes, from: taken, to: peer) }
        updateReading(peer)
        queue.charge(work.total - start, to: peer)
    }

    private func append(_ bytes: Span<UInt8>, from start: Int, to peer: Peer) {
        guard start < bytes.count else { return }
        work.add(bytes: bytes.count - start)
        unsafe bytes.extracting(start...).withUnsafeBufferPointer { unsafe peer.input.append(contentsOf: $0) }
    }

    /// Takes what a peer sent before and could not be taken then, as far as a grant of work goes.
    private func process(_ peer: Peer, grant: UInt64, at now: Double) {
        let start = begin(peer, grant: grant)
        if let replay = peer.replay, replay.isEnding { rest(replay, at: now) }
        var input: [UInt8] = []
        swap(&input, &peer.input)
        let taken = take(input.span, from: peer, at: now)
        if !peer.isGone, peer.lingerEnd == nil {
            work.add(bytes: input.count)  // The rest moves up.
            input.removeFirst(taken)
            peer.input = input
        }
        if peer.hasEnded, peer.input.isEmpty {
            if isReady(peer) { inputIsOver(peer, at: now) } else if isEnding { queue.join(peer) }
        }
        updateReading(peer)
        queue.charge(work.total - start, to: peer)
    }

    private func updateReading(_ peer: Peer) {
        guard !peer.isGone, !isEnding else { return }
        let wanted = peer.lingerEnd != nil || peer.input.count < limits.leastInput
        guard wanted != peer.isReading else { return }
        peer.isReading = wanted
        peer.outlet.setReading(wanted)
    }

    // MARK: Whose turn it is

    /// Whether more bytes of a peer are to be read: not while those that it has sent wait for their turn.
    public func wantsBytes(of peer: Peer) -> Bool { !peer.isWaiting }

    /// Serves a peer now, or has it wait for its turn.
    private func attend(to peer: Peer, at now: Double) {
        if isServedAtOnce(peer) { process(peer, grant: lightGrant, at: now) } else { queue.join(peer) }
    }

    /// Whether a peer goes ahead of those that wait: it has had no more than they, and the turn is not long yet.
    private func isServedAtOnce(_ peer: Peer) -> Bool {
        !peer.isWaiting && queue.isLight(peer) && work.ofTurn < Self.lightWorkPerTurn
            && turnEvents < limits.eventsPerTurn
    }

    /// What all peers that are served as their bytes come may cost in a turn: some 0.1 ms.
    private static let lightWorkPerTurn: UInt64 = 256
    private var lightGrant: UInt64 { queue.isEmpty ? grant : min(2 * FairQueue.lightWork, grant) }
    private var grant: UInt64 { UInt64(limits.requestsPerTurn) }

    /// Begins to serve a peer; says where its work begins.
    private func begin(_ peer: Peer, grant: UInt64) -> UInt64 {
        peer.servedIn = turns
        work.grant(grant)
        return work.total
    }

    /// Whether a peer's lines have nothing to wait for but their turn.
    func isReady(_ peer: Peer) -> Bool {
        !peer.isGone && peer.lingerEnd == nil && peer.replay?.isEnding != true
            && peer.unreadReplies < limits.unreadReplies && !isEnding && !isBehind(peer)
    }

    private func mayTake(_ peer: Peer) -> Bool { mayGoOn(peer) && !isBehind(peer) }

    /// Whether a peer that may take lines may take one more in this turn, which is too short for it to fall behind.
    private func mayGoOn(_ peer: Peer) -> Bool {
        !hasUsedUpItsTurn && !peer.isGone && peer.lingerEnd == nil && peer.replay?.isEnding != true
            && peer.unreadReplies < limits.unreadReplies && !isEnding
    }

    /// Whether whoever is being served has had enough for now.
    var hasUsedUpItsTurn: Bool { work.isGrantUsedUp || turnEvents >= limits.eventsPerTurn }

    /// A peer that does not read what it has subscribed to has its own lines wait, before it lags.
    private func isBehind(_ peer: Peer) -> Bool {
        !peer.subscriptions.isEmpty
            && (peer.backlog > UInt64(limits.historyEvents / 2)
                || peer.subscriptions.contains { $0.isRecorder && $0.backlogBytes > limits.historyBytes / 2 })
    }

    /// Serves those that wait, the least served first, until a turn is used up.
    func serveWaiting(at now: Double) {
        guard !isEnding else { return }
        let end = work.total + grant
        while work.total < end, turnEvents < limits.eventsPerTurn, let peer = queue.next(in: turns) {
            process(peer, grant: end - work.total, at: now)
        }
    }

    /// Takes lines as long as it may; says how many bytes that were.
    private func take(_ bytes: Span<UInt8>, from peer: Peer, at now: Double) -> Int {
        var position = 0
        while position == 0 ? mayTake(peer) : mayGoOn(peer) {
            var (framer, end) = (peer.framer, position)
            let next = framer.next(in: bytes, at: &end)
            guard let next = next ?? (peer.hasEnded ? framer.last(in: bytes, at: &end) : nil) else {
                work.add(bytes: bytes.count - position)
                peer.framer = framer
                waitForLines(peer)
                return end
            }
            let before = peer.framer
            peer.framer = framer
            switch next {
            case .tooLong(let range):
                reject(unsafe decoder.rejectTooLong(bytes.extracting(range)), bytes, peer, at: now)
            case .line(let range):
                work.add(bytes: range.count)
                guard take(line: bytes.extracting(range), from: peer, at: now) else {
                    peer.framer = before
                    return position
                }
            }
            position = end
        }
        waitForLines(peer)
        if position < bytes.count, isReady(peer) || isEnding { queue.join(peer) }
        return position
    }

    /// A replay that is not over has nothing to wait for but its next line.
    private func waitForLines(_ peer: Peer) {
        if let replay = peer.replay, !replay.isEnding { replay.wake = nil }
    }

    // MARK: Time

    /// When `advance` is to be called next, at the latest; `nil` if nothing is due. To be asked at the end of a turn.
    public var deadline: Double? {
        if !queue.isEmpty && !isEnding || !unfinished.isEmpty { return -.infinity }
        var earliest = Double.infinity
        for camera in watched {
            if let frame = camera.nextFrame { earliest = min(earliest, camera.clockStart + frame) }
        }
        for replay in replays { earliest = min(earliest, replay.wake ?? .infinity) }
        earliest = min(earliest, waitDeadline)
        for peer in lingering { earliest = min(earliest, peer.lingerEnd ?? .infinity) }
        return earliest == .infinity ? nil : earliest
    }

    /// Does what is due.
    public func advance(to now: Double) {
        for camera in watched { catchUp(camera, at: now) }
        watched.removeAll { camera in
            let isStill = camera.nextFrame == nil || camera.replay != nil || camera.isRemoved
            if isStill { camera.isWatched = false }
            return isStill
        }
        playReplays(at: now)
        answerWaits()
        endWaits(at: now)
        for peer in lingering where (peer.lingerEnd ?? now) <= now { close(peer, at: now) }
        lingering.removeAll { $0.isGone }
    }

    /// Goes on with every replay whose time has come; nobody waits for one whose client is gone.
    private func playReplays(at now: Double) {
        for replay in replays {
            guard let wake = replay.wake, wake <= now else { continue }
            if let peer = replay.peer {
                attend(to: peer, at: now)
            } else {
                work.grant(max(grant / UInt64(replays.count), 1))
                rest(replay, at: now)
            }
        }
    }

    // MARK: Counters

    /// How many cameras there are.
    public var cameraCount: Int { cameras.count }

    /// What `stats` tells.
    func stats(at now: Double) -> [(name: StaticString, count: UInt64)] {
        [
            ("uptimeMs", UInt64(max(now - started, 0))), ("connections", counters.connections),
            ("connectionsTotal", counters.connectionsTotal), ("cameras", UInt64(cameras.count)),
            ("subscriptions", counters.subscriptions), ("replays", UInt64(replays.count)), ("lines", counters.lines),
            ("errors", counters.errors), ("events", counters.events), ("bytesIn", counters.bytesIn),
            ("bytesOut", counters.bytesOut),
        ]
    }
}
