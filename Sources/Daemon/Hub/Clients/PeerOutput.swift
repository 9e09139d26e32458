// What waits to be sent to a client: replies, the rest of a line that was cut, and, in its cameras' logs, events.

struct PeerOutput {
    enum State: Equatable {
        /// Its connection takes bytes, and it is not queued.
        case idle
        /// It is sent what there is at the end of the turn.
        case queued
        /// The last sending was cut short: the connection says when it takes more.
        case blocked
        /// The client reads no more, so nothing is kept for it. If queued, the hub checks it once more at the end of
        /// the turn.
        case broken(isQueued: Bool)
        /// The connection is closed.
        case closed
    }

    /// Whether a subscription is among the pending ones. It is kept in the subscription, and only its peer's output changes it.
    struct Membership {
        fileprivate var isPending = false
    }

    private(set) var state = State.idle
    private(set) var replies: [UInt8] = []
    /// How many bytes of the replies have been sent.
    private(set) var sentBytes = 0
    /// The subscriptions that may have something to send, in the order in which they began: of hundreds, only a few are
    /// checked at a time. Invariant: one that has something is among them.
    private(set) var pending: [Subscription] = []
    /// The emission that was the last one when the replies were last put behind all events; `nil` if events may go ahead.
    var lastEmission: UInt64?

    init() {}

    /// An output that goes on where another process left off.
    init(_ state: State, replies: [UInt8]) { (self.state, self.replies) = (state, replies) }

    /// Whether what is sent may be read.
    var isOpen: Bool {
        switch state {
        case .idle, .queued, .blocked: true
        case .broken, .closed: false
        }
    }

    var isBroken: Bool { if case .broken = state { true } else { false } }

    var isQueued: Bool { state == .queued || state == .broken(isQueued: true) }

    var unreadBytes: Int { replies.count - sentBytes }

    // MARK: States

    /// Puts it into the queue; `false` if it is there, or cannot be sent anything.
    mutating func enqueue() -> Bool {
        switch state {
        case .idle: state = .queued
        case .broken(isQueued: false): state = .broken(isQueued: true)
        case .queued, .blocked, .broken(isQueued: true), .closed: return false
        }
        return true
    }

    /// Takes it out of the queue; `false` if it was not there.
    mutating func dequeue() -> Bool {
        switch state {
        case .queued: state = .idle
        case .broken(isQueued: true): state = .broken(isQueued: false)
        case .idle, .blocked, .broken(isQueued: false), .closed: return false
        }
        return true
    }

    /// The connection took less than it was offered.
    mutating func block() { if isOpen { state = .blocked } }

    /// The connection takes bytes again.
    mutating func unblock() { if state == .blocked { state = .idle } }

    /// The client reads no more.
    mutating func breakOff() {
        guard isOpen else { return }
        state = .broken(isQueued: state == .queued)
        (replies, sentBytes) = ([], 0)
    }

    mutating func close() { state = .closed }

    // MARK: Events

    /// Notes that a subscription may have something to send.
    mutating func insert(_ subscription: Subscription) {
        guard !subscription.membership.isPending else { return }
        subscription.membership.isPending = true
        // Nearly always there is no other, or it began later than they.
        guard let last = pending.last, last.number > subscription.number else { return pending.append(subscription) }
        let behind = pending.lastIndex { $0.number < subscription.number }
        pending.insert(subscription, at: behind.map { $0 + 1 } ?? 0)
    }

    /// Forgets one that has ended.
    mutating func remove(_ subscription: Subscription) {
        guard subscription.membership.isPending else { return }
        subscription.membership.isPending = false
        pending.removeAll { $0 === subscription }
    }

    /// Forgets all: they have ended.
    mutating func removeAllSubscriptions() {
        for subscription in pending { subscription.membership.isPending = false }
        pending = []
    }

    /// Whether there is an event that has not been sent.
    var hasUnsentEvents: Bool { pending.contains { $0.hasUnsent } }

    /// Forgets subscriptions that have nothing left to send; the next line of their camera inserts them again. Call it after
    /// a sending whose cursors have been noted, when no camera counts as changed any more.
    ///
    /// - Parameter last: the one that was sent something last. It stays: the next event is nearly always of its camera.
    mutating func removeSent(butFor last: Subscription?) {
        guard pending.count > 1 else { return }
        pending.removeAll { subscription in
            if subscription !== last, !subscription.hasUnsent { subscription.membership.isPending = false }
            return !subscription.membership.isPending
        }
    }

    // MARK: Replies

    mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe replies.append(contentsOf: $0) }
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) { unsafe replies.append(contentsOf: bytes) }

    /// Makes room for much at once, and for no more.
    mutating func reserve(_ count: Int) { replies.reserveCapacity(replies.count + count) }

    /// Removes bytes that have been sent, replies first.
    ///
    /// - Returns: how many bytes were no replies; `nil` if there are unread replies left.
    mutating func removeSent(_ count: Int) -> Int? {
        let others = count - unreadBytes
        guard others < 0 else {
            replies.removeAll(keepingCapacity: replies.capacity <= 4096)
            sentBytes = 0
            return others
        }
        sentBytes += count
        // A reader that never quite catches up must not have all that it has read kept for it.
        if sentBytes > replies.count / 2 {
            replies.removeFirst(sentBytes)
            sentBytes = 0
        }
        return nil
    }
}
