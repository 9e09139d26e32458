// A node: the cameras of one daemon at a broker. It publishes its own state and its cameras' events and states, and
// accepts lines for them. Its parts are `NodeClaim`, `NodeCameras` and `Feeds`; output goes through the `BrokerOutbox`.
// Invariant: a process that is not the node's owner publishes nothing and accepts no line.

import GimbalProtocol
import Service

package final class Node {
    package struct Settings: Sendable {
        package var name: String
        /// The cameras that are published and accept lines; empty means all.
        package var cameras: Set<String> = []
        /// Whether every event is published, not only the cameras' states.
        package var publishesEvents = false
        /// Whether lines are accepted.
        package var acceptsLines = true
        /// Whether a motion is published when it begins, instead of its positions.
        package var tellsMotions = false
        /// Whether the daemon's clients are told how well the cameras that follow this node keep in step.
        package var tellsSkew = false
        /// The most states of a moving camera per second.
        package var rate = 30.0
        /// After how long a silent publisher's gestures are cancelled, in milliseconds.
        package var feedTimeout = 10_000.0
        /// The most publishers of lines at one time.
        package var mostFeeds = 64
        /// How often the node's state is published again, in milliseconds: a dying broker takes its wills with it.
        package var interval = NodeState.usualInterval
        /// The program's version in `$state`.
        package var version = ""
        /// Distinguishes this process from others with the same name.
        package var instance: String

        package init(_ name: String, instance: String) { (self.name, self.instance) = (name, instance) }

        /// Whether a camera is published and accepts lines.
        func wants(_ camera: String) -> Bool { cameras.isEmpty || cameras.contains(camera) }

        /// The shortest time between two states of a moving camera, in milliseconds.
        var cameraInterval: Double { 1000 / rate }
    }

    private unowned let outside: any Surroundings
    private let settings: Settings
    package let topics: NodeTopics
    private let outbox: BrokerOutbox
    private let claim: NodeClaim
    private let cameras: NodeCameras
    private let feeds: Feeds
    /// When to end the subscription to the retained messages of the node's cameras.
    private var endOfRetained: Double?
    /// When to publish the node's state again.
    private var nextState: Double?
    /// The cameras' change count when the state was last published; `nil` to publish it again.
    private var toldChanges: Int?
    /// Whether the clock was synchronized in the last published state, if known, and when to check again.
    private var toldSynchronized: Bool?
    private var nextLookAtClock = -Double.infinity
    /// When to publish all retained messages again because the broker refused some.
    private var nextRetelling: Double?
    private var refusals = Backoff(first: 1000, longest: 60_000)
    /// How many dropped replies have been logged, and when the next ones may be.
    private var lastDropped = 0
    private var nextComplaint = -Double.infinity
    private var isEnding = false
    /// Whether there was no room for the last state, and so perhaps none for the cameras at rest.
    package private(set) var lacksLastState = false

    package init(_ settings: Settings, _ outside: any Surroundings) {
        (self.settings, self.outside) = (settings, outside)
        topics = NodeTopics(settings.name)
        outbox = BrokerOutbox(outside)
        claim = NodeClaim(instance: settings.instance)
        feeds = Feeds(outside, Replies(topics: topics, outbox: outbox), settings)
        cameras = NodeCameras(outside, topics, outbox, claim, settings)
    }

    /// Whether this process is the node.
    package var isOwner: Bool { claim.isOwner }
    /// Whether the broker has not acknowledged everything.
    package var hasUnacknowledged: Bool { outbox.count > 0 }
    /// How many publishers have a connection to the daemon.
    package var feedCount: Int { feeds.count }

    /// Returns what the broker publishes when this process dies or is cut off. It has QoS 0: a cluster that is electing
    /// leaders passes it on at once, but could lose a message that it has to store first.
    package static func will(_ settings: Settings) -> Publication {
        let state = NodeState(
            .lost, node: settings.name, instance: settings.instance, generation: 0, version: settings.version)
        return Publication(
            NodeTopics(settings.name).state, state.payload, isRetained: true, qos: .atMostOnce)
    }

    private func state(_ word: NodeState.Word, reason: String? = nil) -> NodeState {
        NodeState(
            word, node: settings.name, instance: settings.instance, generation: claim.generation,
            version: settings.version, cameras: cameras.names.filter(settings.wants), interval: settings.interval,
            clock: outside.clockQuality, reason: reason)
    }

    /// Publishes what a camera of the node should follow.
    func tell(_ camera: String, follows chain: [FollowedCamera], at now: Double) {
        if !isEnding { cameras.tell(camera, follows: chain, at: now) }
    }

    /// Publishes how well a camera of the node keeps in step with another node's.
    func tell(_ camera: String, _ lateness: Lateness, following source: FollowedCamera) {
        guard !isEnding, settings.wants(camera) else { return }
        let screen = Screen(
            node: topics.node, camera: camera, lateness: (lateness.lead, lateness.late), clock: outside.clockQuality)
        outbox.send(Publication(topics.screen(camera), screen.payload(following: source), qos: .atMostOnce))
    }

    // MARK: The broker

    package func connected(at now: Double) {
        guard !isEnding else { return }
        refusals.reset()
        outside.subscribe(topics.state)
        outside.subscribe(topics.claim)
        for filter in topics.retainedFilters { outside.subscribe(filter) }
        if settings.tellsSkew { outside.subscribe(NodeTopics.screens) }
        act(on: claim.connected(at: now), at: now)
    }

    package func disconnected(at now: Double) {
        claim.disconnected()
        outbox.close()
        (endOfRetained, nextState, nextRetelling) = (nil, nil, nil)
        readOn()
    }

    package func acknowledged(_ token: Int) {
        outbox.acknowledged(token)
        readOn()
    }

    /// Handles a message that the broker refused. A retained one is published again later: a right or quota may return.
    package func refused(_ token: Int, at now: Double) {
        if outbox.acknowledged(token)?.isRetained == true { nextRetelling = nextRetelling ?? now + refusals.next() }
        readOn()
    }

    private func readOn() {
        cameras.readOn()
        feeds.missed.readOn()
    }

    package func received(_ delivery: Publication, at now: Double) {
        // The node answers nothing after its last state.
        guard !isEnding else { return }
        if delivery.topic == topics.state {
            guard let state = NodeState(delivery.payload) else { return }
            act(on: claim.saw(state, isRetained: delivery.isRetained), at: now)
        } else if delivery.topic == topics.claim {
            // The sender of a retained claim is gone.
            guard !delivery.isRetained, let other = NodeClaim.instance(in: delivery.payload) else { return }
            act(on: claim.saw(claimOf: other, at: now), at: now)
        } else if let name = topics.camera(ofRetained: delivery.topic) {
            guard delivery.isRetained, !delivery.payload.isEmpty else { return }
            if delivery.topic == topics.lease(name) { return cameras.leases.sawRetained(name) }
            cameras.sawRetained(name)
            if let (_, stamp) = CameraStatus.read(delivery.payload) { claim.saw(generation: stamp.generation) }
        } else if settings.tellsSkew, delivery.topic.hasSuffix(Screen.topicEnd),
            let (screen, source) = Screen.read(delivery)
        {
            if source.node == topics.node { cameras.screens.note(screen, at: now) }
        } else if claim.isOwner, settings.acceptsLines {
            feeds.received(delivery, at: now)
        }
    }

    /// Logs dropped replies, but only now and then: a client that floods the node must not flood the log.
    private func tellDropped(at now: Double) {
        guard outbox.dropped > lastDropped, nextComplaint <= now else { return }
        let count = counted(outbox.dropped - lastDropped, "message")
        outside.say(.warning, "dropped \(count): there was no room, or the broker ended connections over them")
        (lastDropped, nextComplaint) = (outbox.dropped, now + 10_000)
    }

    private func act(on step: NodeClaim.Step, at now: Double) {
        switch step {
        case .none: break
        case .claim:
            outside.say(.info, "claiming the name \"\(settings.name)\"")
            outside.publish(Publication(topics.claim, NodeClaim.payload(of: settings.instance)), token: nil)
        case .tellState: tellState(at: now)
        case .own: begin(at: now)
        case .refuse:
            close()
            outside.refuse("another bridge is already node \"\(settings.name)\": each needs its own name")
        }
    }

    private func begin(at now: Double) {
        outside.say(.info, "this is node \"\(settings.name)\"")
        outbox.open()
        tellState(at: now)
        endOfRetained = now + NodeClaim.answerTime
        if settings.acceptsLines { for filter in topics.inlets { outside.subscribe(filter) } }
        cameras.opened(at: now)
        cameras.clearStale()
        feeds.missed.readOn()
    }

    private func tellState(at now: Double) {
        // Otherwise changes would put it off for ever while one is unacknowledged.
        if nextState ?? now <= now { nextState = now + settings.interval }
        // A state may have megabytes, so only one is unacknowledged at a time.
        guard outbox.isOpen, !outbox.holds(topics.state) else { return }
        let absence = cameras.absence.map { "no daemon: \($0)" }
        let state = state(absence == nil ? .ready : .disconnected, reason: absence)
        // If there is no room, a later turn publishes it.
        let isSent = outbox.send(Publication(topics.state, state.payload, isRetained: true))
        if isSent { nextState = now + settings.interval }
        toldChanges = isSent ? cameras.changes : nil
        toldSynchronized = state.clock?.isSynchronized
    }

    /// Has the state published again when the clock's synchronization has changed. Checks at most once a second, when
    /// the node is active anyway: no timer wakes the process for it.
    private func lookAtClock(at now: Double) {
        guard isOwner, nextLookAtClock <= now else { return }
        nextLookAtClock = now + 1000
        if outside.clockQuality?.isSynchronized != toldSynchronized { toldChanges = nil }
    }

    // MARK: Time

    package var deadline: Double? {
        if isEnding { return nil }
        return .earliest(claim.deadline, cameras.deadline, feeds.deadline, endOfRetained, nextState, nextRetelling)
    }

    /// Does what is due, and publishes changes. Call it at the end of every turn.
    package func advance(to now: Double) {
        guard !isEnding else { return }
        act(on: claim.advance(to: now), at: now)
        if let end = endOfRetained, end <= now {
            endOfRetained = nil
            for filter in topics.retainedFilters { outside.unsubscribe(filter) }
        }
        if let due = nextRetelling, due <= now {
            nextRetelling = nil
            tellState(at: now)
            cameras.opened(at: now)
        }
        cameras.advance(to: now)
        feeds.advance(to: now)
        tellDropped(at: now)
        lookAtClock(at: now)
        let isDue = nextState.map { $0 <= now } == true
        if isDue { outbox.endCare() }
        if isDue || toldChanges != cameras.changes { tellState(at: now) }
    }

    // MARK: The end

    /// Publishes that the node has ended, and closes its connections to the daemon.
    package func end(at now: Double) {
        if claim.isOwner {
            cameras.tellRest(at: now)
            var state = state(.disconnected, reason: "the bridge has ended")
            (state.interval, state.clock) = (nil, nil)
            lacksLastState = !outbox.send(Publication(topics.state, state.payload, isRetained: true))
        }
        close()
    }

    private func close() {
        isEnding = true
        feeds.close()
        cameras.close()
    }
}
