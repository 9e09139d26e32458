// Who may publish as a node: one process at a time. Two that have the same name tell it from each other by their instances,
// whichever of them the broker's memory, or a network that comes back, shows first.
// Invariant: nothing but a claim is published before this process is the node's owner.

/// Who may publish as a node.
final class NodeClaim {
    /// What is to be done.
    enum Step: Equatable {
        case none
        /// Say that this process wants to be the node.
        case claim
        /// Say again what the node's state is.
        case tellState
        /// This process is the node from now on.
        case own
        /// Another is.
        case refuse
    }

    private enum State: Equatable {
        /// The broker cannot be reached.
        case away
        /// This process has said that it wants to be the node, and waits until that comes back: then others have heard it, too.
        case claiming(until: Double)
        /// Now an owner answers, if there is one.
        case heard(until: Double)
        case owner
        /// Another process is the node.
        case refused
    }

    /// How long an owner has to answer a claim, in milliseconds, once that has come back to this process.
    static let answerTime = 2000.0
    /// How long the claim has to come back from the broker, in milliseconds: a process that may not read it goes on without.
    static let longestEcho = 10_000.0

    let instance: String
    private(set) var generation = 0
    private var state = State.away

    init(instance: String) { self.instance = instance }

    var isOwner: Bool { state == .owner }

    /// When this process is the node, if no other process claims the name.
    var deadline: Double? {
        switch state {
        case .claiming(let end), .heard(let end): end
        case .away, .owner, .refused: nil
        }
    }

    /// The broker can be reached.
    func connected(at now: Double) -> Step {
        guard state != .refused else { return .none }
        state = .claiming(until: now + Self.longestEcho)
        return .claim
    }

    func disconnected() { if state != .refused { state = .away } }

    func advance(to now: Double) -> Step {
        guard let deadline, deadline <= now else { return .none }
        return own(generation + 1)
    }

    private func own(_ generation: Int) -> Step {
        state = .owner
        self.generation = generation
        return .own
    }

    private func refuse() -> Step {
        state = .refused
        return .refuse
    }

    /// The node's state, as the broker has kept it or as a process tells it now.
    func saw(_ told: NodeState, isRetained: Bool) -> Step {
        switch state {
        case .away, .refused: return .none
        case .claiming, .heard:
            // No other process has been the node since this one was.
            if told.instance == instance, generation > 0 { return own(generation) }
            generation = max(generation, told.generation)
            return told.instance != instance && !told.isOver && !isRetained ? refuse() : .none
        case .owner:
            // The will of an earlier connection of this process: a server that the network has lost says it late.
            guard told.instance != instance else { return told.word == .lost ? .tellState : .none }
            // The last word of an earlier owner, or what a member of a cluster has kept that could not be reached.
            if told.isOver || isRetained {
                generation = max(generation, told.generation + 1)
                return .tellState
            }
            return (generation, instance) < (told.generation, told.instance) ? refuse() : .tellState
        }
    }

    /// A generation of the node, as the broker has kept it with a camera: a will does not tell it.
    func saw(generation other: Int) { if deadline != nil { generation = max(generation, other) } }

    /// A process wants to be the node.
    func saw(claimOf other: String, at now: Double) -> Step {
        guard other != instance else {
            if case .claiming = state { state = .heard(until: now + Self.answerTime) }
            return .none
        }
        switch state {
        case .away, .refused: return .none
        case .owner: return .tellState
        // One of two that want it at one time. The other may not have heard this one's claim.
        case .claiming, .heard: return instance > other ? .claim : refuse()
        }
    }
}
