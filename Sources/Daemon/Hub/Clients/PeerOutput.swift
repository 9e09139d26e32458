// What waits to be sent to a client: replies, the rest of a line that was cut, and events in its cameras' logs.

struct PeerOutput {
    enum State: Equatable {
        /// Its connection takes bytes, and it is not queued.
        case idle
        /// Whatever waits is sent at the end of the turn.
        case queued
        /// The last write was incomplete: the connection reports when it takes more.
        case blocked
        /// The client reads no more, so nothing is kept for it. If queued, the hub checks it once more at the end of
        /// the turn.
        case broken(isQueued: Bool)
        /// The connection is closed.
        case closed
    }

    /// Whether a subscription is among the pending ones; stored in the subscription, changed only by its peer's output.
    struct Membership {
        fileprivate var isPending = false
    }

    private(set) var state = State.idle
    private var sent: UInt32 = 0
    private(set) var replies: [UInt8] = []
    /// The subscriptions that may have something to send, in the order in which they began: of hundreds, only a few are
    /// checked at a time. Invariant: each one that has something is among them.
    private(set) var pending: [Subscription] = []
    /// The last emission whose events precede the replies; 0 if waiting events are to be put first again.
    var lastEmission: UInt64 = 0

    init() {}

    /// Creates an output that continues where another process left off.
    init(_ state: State, replies: [UInt8]) { (self.state, self.replies) = (state, replies) }

    /// Whether the client may read what is sent.
    var isOpen: Bool { !isBroken && state != .closed }

    var isBroken: Bool { if case .broken = state { true } else { false } }

    var isQueued: Bool { state == .queued || state == .broken(isQueued: true) }

    /// How many bytes of the replies have been sent. The limit of unread replies keeps it far below four GiB.
    private(set) var sentBytes: Int {
        get { Int(sent) }
        set { sent = UInt32(newValue) }
    }

    var unreadBytes: Int { replies.count - sentBytes }

    // MARK: States

    /// Marks it as queued; returns `false` if it is queued already, or nothing can be sent.
    mutating func enqueue() -> Bool {
        switch state {
        case .idle: state = .queued
        case .broken(isQueued: false): state = .broken(isQueued: true)
        case .queued, .blocked, .broken(isQueued: true), .closed: return false
        }
        return true
    }

    /// Marks it as not queued; returns `false` if it was not queued.
    mutating func dequeue() -> Bool {
        switch state {
        case .queued: state = .idle
        case .broken(isQueued: true): state = .broken(isQueued: false)
        case .idle, .blocked, .broken(isQueued: false), .closed: return false
        }
        return true
    }

    /// Notes that the connection took less than it was offered.
    mutating func block() { if isOpen { state = .blocked } }

    /// Notes that the connection takes bytes again.
    mutating func unblock() { if state == .blocked { state = .idle } }

    /// Notes that the client reads no more, and drops its replies.
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
        // Nearly always there is no other, or this one began last.
        guard let last = pending.last, last.number > subscription.number else { return pending.append(subscription) }
        let behind = pending.lastIndex { $0.number < subscription.number }
        pending.insert(subscription, at: behind.map { $0 + 1 } ?? 0)
    }

    /// Forgets a subscription that has ended.
    mutating func remove(_ subscription: Subscription) {
        guard subscription.membership.isPending else { return }
        subscription.membership.isPending = false
        pending.removeAll { $0 === subscription }
    }

    /// Forgets all subscriptions: they have ended.
    mutating func removeAllSubscriptions() {
        for subscription in pending { subscription.membership.isPending = false }
        pending = []
    }

    /// Whether there is an event that has not been sent.
    var hasUnsentEvents: Bool { pending.contains { $0.hasUnsent } }

    /// Forgets subscriptions that have nothing left to send; the next line of their camera inserts them again. Call
    /// this after a write whose cursors have been noted, when no camera counts as changed any more.
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

    /// Reserves memory for many bytes at once, and for no more.
    mutating func reserve(_ count: Int) { replies.reserveCapacity(replies.count + count) }

    /// Removes bytes that have been sent, replies first.
    ///
    /// - Returns: how many of the bytes were not replies; `nil` if unread replies are left.
    mutating func removeSent(_ count: Int) -> Int? {
        let others = count - unreadBytes
        guard others < 0 else {
            replies.removeAll(keepingCapacity: replies.capacity <= 4096)
            sentBytes = 0
            return others
        }
        sentBytes += count
        // For a reader that never quite catches up, what it has read must not be kept.
        if sentBytes > replies.count / 2 {
            replies.removeFirst(sentBytes)
            sentBytes = 0
        }
        return nil
    }
}
